/* both_reals.c - see both_reals.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "both_reals.h"
#include "op/dropout.h"
#include "op/noise.h"

static real *narrow(const double *x, size_t n)
{
    real *out = model_case_room(n, sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = (real)x[i];
    return out;
}

static void widen(const real *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) out[i] = (double)x[i];
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* An objective that writes down what it was asked. Targets write to places of their own. */
static struct {
    const struct objective_class *objective;
    const struct target *first;
    double *term;
} record;

static double recorded_loss(const struct objective_config *config, const struct target *target, size_t n,
                            const real *tau, const real *u, const real *u1, const real *u2, real *g0, real *g1,
                            real *g2)
{
    double out = record.objective->loss(config, target, n, tau, u, u1, u2, g0, g1, g2);
    record.term[target - record.first] = out;
    return out;
}

static struct loss loss(const struct model_case *c, const struct op_run *run, double *term, double *grad)
{
    size_t total = c->model.params.total;
    struct batch batch = model_case_batch(c);
    real *slab = narrow(c->slab, total), *gap = narrow(c->gap, c->n), *slopes = model_case_room(total, sizeof *slopes);
    real *memory = model_case_workspace(smurf_loss_memory(&c->model, &c->config, c->n, run->threads), sizeof *memory);
    struct op_run own = model_case_run(c, run);
    struct loss_config config = c->config;
    const struct objective_class *objective = objective_named(c->objective);
    assert_non_null(objective);
    struct objective_class recorder = *objective;
    recorder.loss = recorded_loss;
    record.objective = objective, record.first = batch.target, record.term = term;
    batch.input.gap = gap;
    config.objective.class = term ? &recorder : objective;
    struct loss out = smurf_loss(&own, &c->model, &config, slab, &batch, memory, grad ? slopes : NULL);
    if (grad) widen(slopes, total, grad);
    free(slab), free(gap), free(slopes), free(memory);
    return out;
}

static void coefficients(const struct model_case *c, const struct op_run *run, double *a, double *b, double *type_a,
                         double *type_b)
{
    size_t d = c->model.shape.width, half = d / 2;
    struct batch batch = model_case_batch(c);
    real *slab = narrow(c->slab, c->model.params.total), *gap = narrow(c->gap, c->n);
    real *memory = model_case_workspace(encoder_memory(&c->model.shape, c->n, run->threads), sizeof *memory);
    real *out = model_case_room(c->n * 3 * d, sizeof *out);
    struct head_coefficients to = {out, out + c->n * d, out + 2 * c->n * d, out + c->n * (2 * d + half)};
    batch.input.gap = gap;
    const struct smurf_offsets *at = smurf_offsets(&c->model);
    struct op_run own = model_case_run(c, run);
    const real *h = encoder_forward(&own, &c->model.shape, &at->encoder, slab, &batch.input, memory);
    head_forward(&at->head, slab, d, 0, c->n, h, &to);
    widen(to.a, c->n * d, a), widen(to.b, c->n * d, b);
    widen(to.type_a, c->n * half, type_a), widen(to.type_b, c->n * half, type_b);
    free(slab), free(gap), free(memory), free(out);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void noise(const struct op_run *run, uint64_t place, uint64_t item, size_t n, double *out)
{
    real x[NOISE_MOST];
    noise_normal(run, place, item, n, x);
    widen(x, n, out);
}

static void dropout(const struct op_run *run, struct op_dropout what, size_t n, double *out)
{
    real *x = model_case_room(n, sizeof *x);
    dropout_factors(run, what, 0, x, n);
    widen(x, n, out);
    free(x);
}

static double objective(const char *name, const struct objective_config *config, const struct target *target,
                        const double u[3], double *slopes)
{
    const struct objective_class *o = objective_named(name);
    const struct op_run run = {1, 1, 1, 0, NULL};
    real x[3][POINTS_MOST + 1], g[3][POINTS_MOST + 1], tau[POINTS_MOST + 1];
    size_t n = o->count(config, target);
    o->place(config, &run, target, n, tau);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) x[k][i] = (real)u[k];
    double out = o->loss(config, target, n, tau, x[0], x[1], x[2], g[0], g[1], g[2]);
    *slopes = 0;
    for (int k = 0; k <= o->order(config); k++)
        for (size_t i = 0; i < n; i++) *slopes += fabs((double)g[k][i]);
    return out;
}

const struct number_type OP(number_type) = {sizeof(real) == 8 ? "double" : "float",
                                            sizeof(real) == 8 ? 1e-12 : 1e-5,
                                            loss,
                                            coefficients,
                                            noise,
                                            dropout,
                                            objective};
