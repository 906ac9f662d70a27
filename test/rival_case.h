/*
 * rival_case.h - every rival on a small model with random parameters and random sequences, for tests; include cmocka
 * first. Everything is in double until it runs.
 */
#ifndef SMURF_TEST_RIVAL_CASE_H
#define SMURF_TEST_RIVAL_CASE_H

#include "model_case.h"

/* model_case_init for a rival. The case's loss config is not used. */
static inline void rival_case_init(struct model_case *c, const struct rival_class *rival,
                                   const struct encoder_shape *shape, const size_t *length, size_t sequences,
                                   uint64_t seed)
{
    model_case_init(c, shape, PARAM_INTENSITY, length, sequences, seed);
    free(c->slab);
    OP(rival_init)(&c->model, shape, rival);
    model_case_start(c, seed);
}

static const struct rival_config rival_case_config = {.points = 7, .alpha = 1.7, .smoothing = 0.1, .offset = 1};

static inline real *rival_case_reals(const double *x, size_t n)
{
    real *out = model_case_room(n, sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = (real)x[i];
    return out;
}

/* grad: (params.total), overwritten; NULL: the loss alone. */
static inline struct loss rival_case_loss(const struct model_case *c, const struct op_run *run, double *grad)
{
    const struct rival_config *config = &rival_case_config;
    size_t total = c->model.params.total;
    struct batch batch = model_case_batch(c);
    real *slab = rival_case_reals(c->slab, total), *gap = rival_case_reals(c->gap, c->n);
    real *slopes = model_case_room(total, sizeof *slopes);
    real *memory = model_case_workspace(c->model.rival->memory(&c->model, config, c->n, run->threads), sizeof *memory);
    batch.input.gap = gap;
    struct loss out = c->model.rival->loss(run, &c->model, config, slab, &batch, memory, grad ? slopes : NULL);
    for (size_t i = 0; grad && i < total; i++) grad[i] = (double)slopes[i];
    free(slab), free(gap), free(slopes), free(memory);
    return out;
}

/* Coefficients (n x coefficients), freed by the caller. */
static inline real *rival_case_encode(const struct model_case *c, const struct op_run *run)
{
    const struct rival_config *config = &rival_case_config;
    struct batch batch = model_case_batch(c);
    real *slab = rival_case_reals(c->slab, c->model.params.total), *gap = rival_case_reals(c->gap, c->n);
    real *memory = model_case_workspace(c->model.rival->memory(&c->model, config, c->n, run->threads), sizeof *memory);
    real *out = model_case_workspace(c->n * c->model.rival->coefficients(&c->model), sizeof *out);
    batch.input.gap = gap;
    c->model.rival->encode(run, &c->model, config, slab, &batch.input, memory, out);
    free(slab), free(gap), free(memory);
    return out;
}

#endif
