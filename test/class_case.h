/*
 * class_case.h - every class of models on a small model with random parameters and random sequences, for tests; include
 * cmocka first. Everything is in double until it runs.
 */
#ifndef SMURF_TEST_CLASS_CASE_H
#define SMURF_TEST_CLASS_CASE_H

#include "model_case.h"

/* model_case_init for a class, with an objective for those that take one. */
static inline void class_case_init(struct model_case *c, const struct model_class *class,
                                   const struct encoder_shape *shape, const size_t *length, size_t sequences,
                                   uint64_t seed)
{
    model_case_init(c, shape, PARAM_INTENSITY, length, sequences, seed);
    free(c->slab);
    model_init(&c->model, class, shape, PARAM_INTENSITY);
    model_case_start(c, seed);
    c->config.points = 7;
    c->config.objective.class = &OP(objective_mle);
}

static inline real *class_case_reals(const double *x, size_t n)
{
    real *out = model_case_room(n, sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = (real)x[i];
    return out;
}

/* grad: (params.total), overwritten; NULL: the loss alone. */
static inline struct loss class_case_loss(const struct model_case *c, const struct op_run *run, double *grad)
{
    const struct model_class *class = c->model.class;
    size_t total = c->model.params.total;
    struct batch batch = model_case_batch(c);
    struct op_run own = model_case_run(c, run);
    real *slab = class_case_reals(c->slab, total), *gap = class_case_reals(c->gap, c->n);
    real *slopes = model_case_room(total, sizeof *slopes);
    real *memory = model_case_workspace(class->loss_memory(&c->model, &c->config, c->n, run->threads), sizeof *memory);
    batch.input.gap = gap;
    struct loss out = class->loss(&own, &c->model, &c->config, slab, &batch, memory, grad ? slopes : NULL);
    for (size_t i = 0; grad && i < total; i++) grad[i] = (double)slopes[i];
    free(slab), free(gap), free(slopes), free(memory);
    return out;
}

/* Coefficients (n x coefficients), freed by the caller. */
static inline real *class_case_encode(const struct model_case *c, const struct op_run *run)
{
    const struct model_class *class = c->model.class;
    struct batch batch = model_case_batch(c);
    struct op_run own = model_case_run(c, run);
    real *slab = class_case_reals(c->slab, c->model.params.total), *gap = class_case_reals(c->gap, c->n);
    real *memory = model_case_workspace(class->encode_memory(&c->model, c->n, run->threads), sizeof *memory);
    real *out = model_case_workspace(c->n * class->coefficients(&c->model), sizeof *out);
    batch.input.gap = gap;
    class->encode(&own, &c->model, slab, &batch.input, memory, out);
    free(slab), free(gap), free(memory);
    return out;
}

#endif
