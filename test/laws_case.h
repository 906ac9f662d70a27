/*
 * laws_case.h - laws of gap heads with random coefficients, and what the processor's code says about them: for tests of
 * the kernels' formulas, on the host (unit_laws_lanes.c) and on a GPU (gpu/laws.c).
 */
#ifndef SMURF_TEST_LAWS_CASE_H
#define SMURF_TEST_LAWS_CASE_H

#include "base/random.h"
#include "cuda/laws_gpu.h"
#include "law/score_table.h"
#include "model/gap_law.h"
#include "model/smurf_class.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_LEVELS = 19 };

struct laws_case {
    const char *name;
    size_t width;
    double size, steepness, c; /* of w and a; mean of c */
    double lo, hi;
    enum exact_mass mass;
    double sigma;
    bool multiplicative;
    smurf_scale scale;
    double tail, tick;
    bool mapped, is_score;
};

static const struct laws_case laws_cases[] = {
    {.name = "log time",
     .width = 64,
     .size = 0.5,
     .steepness = 0.7,
     .lo = -5,
     .hi = 4.5,
     .scale = {SMURF_SCALE_LOG, 3, -1, 1.5}},
    {.name = "log time, a bound, a map, ticks",
     .width = 64,
     .size = 0.7,
     .steepness = 1,
     .lo = -6,
     .hi = 5,
     .scale = {SMURF_SCALE_LOG, 3, -1, 2},
     .tail = 200,
     .tick = 0.01,
     .mapped = true},
    {.name = "plain time",
     .width = 64,
     .size = 0.3,
     .steepness = 0.5,
     .c = -1,
     .lo = 0,
     .hi = 60,
     .scale = {SMURF_SCALE_NONE, 1, 0, 1}},
    {.name = "a long axis",
     .width = 32,
     .size = 0.3,
     .steepness = 0.1,
     .c = -4,
     .lo = 0,
     .hi = 4000,
     .scale = {SMURF_SCALE_NONE, 1, 0, 1},
     .tail = 1000,
     .tick = 1},
    {.name = "noise",
     .width = 64,
     .size = 0.6,
     .steepness = 1,
     .lo = -0.3,
     .hi = 30,
     .mass = EXACT_ONE,
     .sigma = 0.1,
     .scale = {SMURF_SCALE_MEAN, 2.5, 0, 1}},
    {.name = "factors of noise",
     .width = 128,
     .size = 0.4,
     .steepness = 1,
     .lo = 0,
     .hi = 20,
     .mass = EXACT_ONE,
     .sigma = 0.5,
     .multiplicative = true,
     .scale = {SMURF_SCALE_MEAN, 2.5, 0, 1},
     .tick = 0.1,
     .mapped = true},
    {.name = "steep", .width = 64, .size = 2, .steepness = 25, .lo = -3, .hi = 9, .scale = {SMURF_SCALE_NONE, 1, 0, 1}},
    {.name = "steep, with noise",
     .width = 16,
     .size = 5,
     .steepness = 8,
     .lo = 0,
     .hi = 9,
     .mass = EXACT_ONE,
     .sigma = 0.4,
     .scale = {SMURF_SCALE_MEAN, 1, 0, 1},
     .mapped = true},
    {.name = "next to no mass",
     .width = 16,
     .size = 0.1,
     .steepness = 1,
     .c = -45,
     .lo = 0,
     .hi = 9,
     .scale = {SMURF_SCALE_MEAN, 2, 0, 1}},
    {.name = "no mass",
     .width = 16,
     .size = 0.1,
     .steepness = 1,
     .c = -900,
     .lo = 0,
     .hi = 9,
     .mass = EXACT_ONE,
     .scale = {SMURF_SCALE_MEAN, 2, 0, 1}},
    {.name = "all at once",
     .width = 16,
     .size = 0.1,
     .steepness = 1,
     .c = 600,
     .lo = -4,
     .hi = 9,
     .scale = {SMURF_SCALE_LOG, 2, 0, 1}},
    {.name = "a score",
     .width = 64,
     .size = 0.2,
     .steepness = 0.6,
     .lo = 0,
     .hi = 9,
     .is_score = true,
     .scale = {SMURF_SCALE_NONE, 1, 0, 1}},
};
enum { LAWS_CASES = sizeof laws_cases / sizeof *laws_cases };

struct laws {
    const struct laws_case *is;
    struct model model;
    float *slab, *row;
    double *memory;
    struct laws_rows rows;
    struct laws_wrapping wrapping;
    struct recalibration map;
    double *gap;
    uint64_t *stream;
    double level[CASE_LEVELS];
};

static inline void *laws_room(size_t n)
{
    void *out = calloc(n ? n : 1, 1);
    if (!out) abort();
    return out;
}

/* `count` laws of the case; of 16, one has a unit without a slope. */
static inline void laws_make(struct laws *l, const struct laws_case *is, size_t count, uint64_t seed)
{
    struct encoder_shape shape = {.types = 2, .width = is->width, .heads = 1, .head_width = 2, .layers = 1, .inner = 2};
    struct random random;
    size_t d = is->width, stride = 3 * d;
    smurf_random_init(&random, seed, 0);
    *l = (struct laws){.is = is};
    smurf_model_init_f32(&l->model, &smurf_model_smurf_f32, &shape, is->is_score ? PARAM_SCORE : PARAM_INTENSITY);
    l->slab = laws_room(l->model.params.total * sizeof *l->slab);
    l->row = laws_room(count * stride * sizeof *l->row);
    l->gap = laws_room(count * sizeof *l->gap);
    l->stream = laws_room(count * sizeof *l->stream);
    l->memory = laws_room(smurf_gap_law_memory(&l->model));
    const struct head_params *at = &smurf_offsets(&l->model)->head;
    for (size_t k = 0; k < d; k++) l->slab[at->w + k] = (float)(is->size * smurf_random_normal(&random));
    l->slab[at->c] = (float)(is->c + 0.3);
    for (size_t i = 0; i < count; i++) {
        float *a = l->row + i * stride, *b = a + d;
        for (size_t k = 0; k < d; k++) {
            a[k] = (float)(is->steepness * tanh(smurf_random_normal(&random)));
            b[k] = (float)(is->steepness * smurf_random_normal(&random));
        }
        if (i % 16 == 3) a[2] = 0;
        double y = is->lo + (is->hi - is->lo) * smurf_random_uniform(&random), late = smurf_random_uniform(&random);
        l->gap[i] = smurf_scale_backward(&is->scale, y) * (late > 0.95 ? 3 : 1);
        if (is->tick > 0) l->gap[i] = rint(l->gap[i] / is->tick) * is->tick;
        l->stream[i] = (uint64_t)2 << 56 | i;
    }
    for (size_t k = 0; k < RECALIBRATION_KNOTS; k++) {
        double p = (double)k / (RECALIBRATION_KNOTS - 1);
        l->map.level[k] = p + 0.1 * p * (1 - p) + 0.02 * sin(12 * p) * p * (1 - p);
    }
    if (!smurf_recalibration_set(&l->map, l->map.level)) abort();
    for (int k = 0; k < CASE_LEVELS; k++) l->level[k] = 0.05 * (k + 1);
    l->rows = (struct laws_rows){.width = d,
                                 .stride = stride,
                                 .count = count,
                                 .row = l->row,
                                 .w = l->slab + at->w,
                                 .c = l->slab[at->c],
                                 .is_score = is->is_score,
                                 .lo = is->lo,
                                 .hi = is->hi};
    l->wrapping = (struct laws_wrapping){.mass = is->mass,
                                         .sigma = is->sigma,
                                         .multiplicative = is->multiplicative,
                                         .scale = &is->scale,
                                         .tail = {is->tail, 0.01, is->tail / 3},
                                         .map = is->mapped ? &l->map : NULL};
}

static inline void laws_release(struct laws *l)
{
    free(l->slab), free(l->row), free(l->gap), free(l->stream), free(l->memory);
}

static inline struct law laws_at(struct laws *l, size_t i)
{
    return smurf_gap_law(&l->model, l->slab, l->row + i * l->rows.stride, l->is->lo, l->is->hi, l->memory);
}

/* One answer: mass (2), density, crps, spread, quantiles. */
enum { ANSWER_VALUES = 5 + CASE_LEVELS };

/* The processor's, into out (ANSWER_VALUES). */
static inline void laws_reference(struct laws *l, struct exact *exact, size_t i, double *out)
{
    struct law law = laws_at(l, i);
    struct scaled scaled;
    struct recalibrated recalibrated;
    double gap = l->gap[i], tick = l->is->tick, width = 0;
    smurf_exact_build(exact, &law, l->is->mass);
    if (l->is->sigma > 0) smurf_tweedie_apply(exact, &law, l->is->sigma, l->is->multiplicative);
    struct dist dist = smurf_scaled(&scaled, exact, &l->is->scale, &l->wrapping.tail);
    if (l->is->mapped) dist = smurf_recalibrated(&recalibrated, dist, &l->map);
    smurf_ticks_mass(&dist, gap, tick, out);
    double low = fmax(gap - tick / 2, 0), inside = out[1] - (low > 0 ? out[0] : 0);
    width = gap + tick / 2 - low;
    out[2] = tick > 0 && inside >= 1e-6 ? inside / width : smurf_dist_density(&dist, gap);
    out[3] = smurf_dist_crps(&dist, gap);
    out[4] = smurf_dist_spread(&dist);
    dist.class->quantile(dist.self, l->level, out + 5, CASE_LEVELS);
}

/* The share of draws that may differ by more than rounding: steep scores throw neighbours apart, and a step that is
   just rejected is just not. */
static inline double laws_apart(const struct laws_case *is, const struct sampler_class *sampler)
{
    return is->steepness > 4 ? 0.2 : sampler == &smurf_sampler_reject ? 0.02 : 0.005;
}

/* The difference of two answers relative to what their kind allows: 1 is the limit. Levels and masses may differ by
   1e-6; gaps by 1e-5 of themselves or of the median, for the tables are accurate to about 1e-7 in the level; spreads by
   1e-4, for the cell of the observed gap is cut there, which it is not in the processor's. */
static inline double laws_difference(const struct laws *l, const double *got, const double *want, int *worst)
{
    double most = 0, unit = fabs(want[5 + CASE_LEVELS / 2]);
    if (!(unit > 1e-3 * l->is->scale.mean)) unit = 1e-3 * l->is->scale.mean;
    *worst = 0;
    for (int k = 0; k < ANSWER_VALUES; k++) {
        double limit = k < 2    ? 1e-6
                       : k == 2 ? 2e-4 * fabs(want[2]) + 1e-6 / unit
                                : (k == 4 ? 1e-4 : 1e-5) * (fabs(want[k]) + unit);
        double miss = fabs(got[k] - want[k]) / limit;
        if (got[k] == want[k] || (isnan(got[k]) && isnan(want[k]))) miss = 0;
        if (isnan(miss)) miss = INFINITY;
        if (miss > most) most = miss, *worst = k;
    }
    return most;
}

#endif
