/*
 * objective_at_gap.h - the points of objectives that look at the observed gap alone, and need psi' there.
 */
#ifndef SMURF_TRAIN_OBJECTIVE_AT_GAP_H
#define SMURF_TRAIN_OBJECTIVE_AT_GAP_H

#include "train/objective.h"

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

#endif
