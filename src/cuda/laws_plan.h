/*
 * laws_plan.h - what kernels are told of a call, from what callers say; also for tests of their formulas on the host.
 */
#ifndef SMURF_CUDA_LAWS_PLAN_H
#define SMURF_CUDA_LAWS_PLAN_H

#include "cuda/answers_lanes.h"
#include "cuda/laws_gpu.h"
#include "cuda/walk_lanes.h"

/* Without the pointer to the maps of panels. */
static inline void laws_answers_plan(struct answers_plan *out, struct answers_tables *tables,
                                     const struct laws_rows *rows, const struct laws_wrapping *wrapping, double tick,
                                     const double *level, size_t levels)
{
    const smurf_scale *scale = wrapping->scale;
    const struct recalibration *map = wrapping->map;
    *out = (struct answers_plan){.w = rows->w,
                                 .c = rows->c,
                                 .width = (int)rows->width,
                                 .lo = rows->lo,
                                 .hi = rows->hi,
                                 .whole = wrapping->mass == EXACT_ONE,
                                 .multiplicative = wrapping->multiplicative,
                                 .sigma = wrapping->sigma,
                                 .axis = scale->kind == SMURF_SCALE_LOG    ? AXIS_LOG
                                         : scale->kind == SMURF_SCALE_MEAN ? AXIS_MEAN
                                                                           : AXIS_NONE,
                                 .mean = scale->mean,
                                 .mu = scale->mu,
                                 .sd = scale->sd,
                                 .tail_from = wrapping->tail.from,
                                 .tail_share = wrapping->tail.share,
                                 .tail_mean = wrapping->tail.mean,
                                 .tick = tick,
                                 .mapped = map != NULL,
                                 .levels = (int)levels,
                                 .tables = tables};
    *tables = (struct answers_tables){.level = {0}};
    /* As smurf_exact_build cuts supports. */
    if (!isfinite(out->lo)) out->lo = isfinite(out->hi) ? out->hi - 1 : 0;
    if (!isfinite(out->hi) || !(out->hi > out->lo)) out->hi = out->lo + fmax(1, fabs(out->lo));
    for (size_t k = 0; map && k < RECALIBRATION_KNOTS; k++) {
        tables->level[k] = map->level[k];
        tables->slope[k] = map->slope[k];
    }
    for (size_t i = 0; i < levels; i++)
        tables->quantile[i] =
            map && level[i] >= 0 && level[i] <= 1 ? smurf_recalibration_inverse(map, level[i]) : level[i];
}

/* As mirror.c and reject.c set up their walks. */
static inline void laws_walk_plan(struct walk_plan *plan, struct cells_range *range,
                                  const struct sampler_config *config, bool mirror, bool reject)
{
    *plan = (struct walk_plan){.seed = config->seed,
                               .steps = config->steps,
                               .every = config->every ? config->every : config->steps,
                               .step = config->step,
                               .start = {config->start[0], config->start[1]},
                               .floor = mirror   ? 0
                                        : reject ? config->floor
                                                 : -INFINITY,
                               .denoise = config->denoise};
    double least = fmax(1e-6 * fmax(config->start[0], config->start[1]), DBL_MIN);
    for (int i = 0; i < 2; i++) {
        if (mirror) plan->start[i] = fmax(plan->start[i], least);
        range->start[i] = walk_into(mirror, plan->start[i]);
    }
    range->floor = walk_into(mirror, plan->floor);
    range->step = config->step;
    range->time = config->step * (double)config->steps;
}

#endif
