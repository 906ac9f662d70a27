/*
 * objective_at_gap.h - points of objectives that use the observed gap alone, and need psi' there.
 */
#ifndef SMURF_MODEL_OBJECTIVE_AT_GAP_H
#define SMURF_MODEL_OBJECTIVE_AT_GAP_H

#include "model/objective.h"

static int order(const struct objective_config *config)
{
    return config->param == PARAM_INTENSITY ? 2 : 1;
}

static size_t count(const struct objective_config *config, const struct target *target)
{
    (void)config, (void)target;
    return 1;
}

static void place(const struct objective_config *config, const struct op_run *run, const struct target *target,
                  size_t n, real *tau)
{
    (void)config, (void)run, (void)n;
    tau[0] = (real)target->gap;
}

static void prepare(const smurf_settings *settings, struct objective_config *out)
{
    (void)settings;
    out->points = 1;
}

#endif
