/*
 * grad_nhp.c - the loss of nhp against its formulas written down once more, plainly, and its gradient against finite
 * differences, parameter by parameter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "difference.h"
#include "model_case.h"
#include "model/model_class.h"

enum { WIDTH = 6, TYPES = 3, SEQUENCES = 4, POINTS = 7 };
static const size_t lengths[SEQUENCES] = {6, 1, 0, 9};

struct subject {
    struct model_case c;
    struct loss_config config;
    double *memory, *grad;
};

static struct loss run(struct subject *s, double *grad)
{
    struct op_run once = {1, 5, 9, 0.3, NULL}; /* it has no dropout */
    struct batch batch = model_case_batch(&s->c);
    return OP(model_nhp).loss(&once, &s->c.model, &s->config, s->c.slab, &batch, s->memory, grad);
}

static double value(void *context)
{
    return ((struct subject *)context)->config.alpha * run(context, NULL).time;
}

static void subject_init(struct subject *s, const double *u)
{
    struct encoder_shape shape = {.types = TYPES, .width = WIDTH, .heads = 1, .head_width = 1, .layers = 1, .inner = 1};
    *s = (struct subject){.config = {.points = POINTS, .alpha = 1.7, .u = u}};
    model_case_init(&s->c, &shape, PARAM_INTENSITY, lengths, SEQUENCES, 3);
    free(s->c.slab);
    model_init(&s->c.model, model_class_named("nhp"), &shape, PARAM_INTENSITY);
    model_case_start(&s->c, 3);
    s->memory = model_case_workspace(OP(model_nhp).loss_memory(&s->c.model, &s->config, s->c.n, 1), sizeof *s->memory);
    s->grad = model_case_room(s->c.model.params.total, sizeof *s->grad);
}

static void subject_release(struct subject *s)
{
    free(s->memory), free(s->grad);
    model_case_release(&s->c);
}

/* ---- The formulas ---------------------------------------------------------------------------- */

struct plain {
    double o[WIDTH], c[WIDTH], cbar[WIDTH], delta[WIDTH];
};

static const double *tensor(const struct subject *s, const char *name)
{
    for (size_t i = 0; i < s->c.model.params.count; i++)
        if (strcmp(s->c.model.params.entry[i].name, name) == 0) return s->c.slab + s->c.model.params.entry[i].at;
    fail_msg("there is no %s", name);
    return NULL;
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double plain_c(const struct plain *m, size_t k, double tau)
{
    return m->cbar[k] + (m->c[k] - m->cbar[k]) * exp(-m->delta[k] * tau);
}

static double plain_intensity(const struct subject *s, const struct plain *m, size_t type, double tau)
{
    double sum = 0, scale = exp(tensor(s, "intensity.log_scale")[type]);
    for (size_t k = 0; k < WIDTH; k++)
        sum += tensor(s, "intensity.weight")[type * WIDTH + k] * m->o[k] * tanh(plain_c(m, k, tau));
    return scale * log1p(exp(sum / scale));
}

static double plain_gate(const struct subject *s, size_t gate, size_t k, const double *in)
{
    size_t row = gate * WIDTH + k;
    double sum = tensor(s, "gates.bias")[row];
    for (size_t j = 0; j < 2 * WIDTH; j++) sum += tensor(s, "gates.weight")[row * 2 * WIDTH + j] * in[j];
    return sum;
}

/* Gates in the order i, f, ibar, fbar, o, z, delta. */
static struct plain plain_event(const struct subject *s, const struct plain *last, double tau, uint32_t type)
{
    double in[2 * WIDTH];
    struct plain out;
    for (size_t k = 0; k < WIDTH; k++) {
        in[k] = tensor(s, "embedding")[type * WIDTH + k];
        in[WIDTH + k] = last->o[k] * tanh(plain_c(last, k, tau));
    }
    for (size_t k = 0; k < WIDTH; k++) {
        double z = tanh(plain_gate(s, 5, k, in));
        out.c[k] = logistic(plain_gate(s, 1, k, in)) * plain_c(last, k, tau) + logistic(plain_gate(s, 0, k, in)) * z;
        out.cbar[k] = logistic(plain_gate(s, 3, k, in)) * last->cbar[k] + logistic(plain_gate(s, 2, k, in)) * z;
        out.o[k] = logistic(plain_gate(s, 4, k, in));
        out.delta[k] = log1p(exp(plain_gate(s, 6, k, in)));
    }
    return out;
}

/* With draws u, or by the midpoint rule at many points. */
static double plain_integral(const struct subject *s, const struct plain *m, const struct target *t, const double *u)
{
    size_t n = u ? POINTS : 20000;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < TYPES; k++)
            sum += plain_intensity(s, m, k, t->gap * (u ? u[i] : ((double)i + 0.5) / (double)n));
    return t->gap * sum / (double)n;
}

/* There is one target a row, in the order of rows. */
static struct loss plain_loss(const struct subject *s)
{
    struct loss out = {0};
    for (size_t q = 0; q < SEQUENCES; q++) {
        struct plain m = {{0}, {0}, {0}, {0}};
        for (size_t i = s->c.offset[q]; i < s->c.offset[q + 1]; i++) {
            const struct target *t = &s->c.target[i];
            size_t best = 0;
            m = plain_event(s, &m, i > s->c.offset[q] ? s->c.time[i] - s->c.time[i - 1] : 0, s->c.type[i]);
            out.time += plain_integral(s, &m, t, s->config.u ? s->config.u + i * POINTS : NULL);
            out.gaps++;
            if (t->censored) continue;
            out.time -= log(plain_intensity(s, &m, t->type, t->gap));
            for (size_t k = 1; k < TYPES; k++)
                if (plain_intensity(s, &m, k, t->gap) > plain_intensity(s, &m, best, t->gap)) best = k;
            out.right += best == t->type;
            out.typed++;
        }
    }
    return out;
}

static void check_formulas(const double *u, double tolerance)
{
    struct subject s;
    subject_init(&s, u);
    struct loss got = run(&s, NULL), want = plain_loss(&s);
    check_values("loss", &got.time, &want.time, 1, tolerance);
    assert_true(got.right == want.right && got.right > 0 && got.right < (double)got.typed);
    assert_int_equal(got.gaps, want.gaps);
    assert_int_equal(got.typed, want.typed);
    assert_true(got.typed > 0 && got.typed < got.gaps && got.type == 0);
    subject_release(&s);
}

static const double *draws(void)
{
    static double u[16 * POINTS];
    struct random random;
    smurf_random_init(&random, 8, 8);
    for (size_t i = 0; i < sizeof u / sizeof *u; i++) u[i] = smurf_random_uniform(&random);
    return u;
}

static void test_formulas_with_draws(void **state)
{
    (void)state;
    check_formulas(draws(), 1e-13);
}

/* The error is that of seven nodes. */
static void test_formulas_with_nodes(void **state)
{
    (void)state;
    check_formulas(NULL, 1e-6);
}

/* ---- Differences ----------------------------------------------------------------------------- */

static void check_differences(const double *u)
{
    struct subject s;
    subject_init(&s, u);
    struct loss with = run(&s, s.grad), without = run(&s, NULL);
    assert_true(with.time == without.time);
    for (size_t i = 0; i < s.c.model.params.count; i++) {
        const struct param *p = &s.c.model.params.entry[i];
        check_gradient(p->name, value, &s, s.c.slab + p->at, p->size, s.grad + p->at, 1e-6);
    }
    subject_release(&s);
}

static void test_gradient_with_draws(void **state)
{
    (void)state;
    check_differences(draws());
}

static void test_gradient_with_nodes(void **state)
{
    (void)state;
    check_differences(NULL);
}

/* What was in the gradient stays. */
static void test_gradient_is_added(void **state)
{
    (void)state;
    struct subject s;
    subject_init(&s, NULL);
    size_t n = s.c.model.params.total;
    double *twice = model_case_room(n, sizeof *twice);
    run(&s, s.grad);
    run(&s, twice), run(&s, twice);
    for (size_t i = 0; i < n; i++) s.grad[i] *= 2;
    check_values("gradient added", twice, s.grad, n, 1e-13);
    free(twice);
    subject_release(&s);
}

/* Where softplus underflows, ln lambda and its gradient go on: scales of 1/1000 make u/s some -1000. */
static void test_gradient_far_left(void **state)
{
    (void)state;
    struct subject s;
    subject_init(&s, NULL);
    const struct model *model = &s.c.model;
    for (size_t i = 0; i < model->params.count; i++) {
        const struct param *p = &model->params.entry[i];
        for (size_t k = 0; k < p->size && strcmp(p->name, "intensity.log_scale") == 0; k++) s.c.slab[p->at + k] = -7;
    }
    struct loss with = run(&s, s.grad);
    assert_true(isfinite(with.time) && with.time > 100);
    for (size_t i = 0; i < model->params.count; i++) {
        const struct param *p = &model->params.entry[i];
        double size = largest(s.grad + p->at, p->size);
        for (size_t k = 0; k < p->size; k += p->size / 3) {
            double want = difference(value, &s, s.c.slab + p->at + k, 1e-5);
            if (!(fabs(want - s.grad[p->at + k]) <= 1e-5 * size))
                fail_msg("%s[%zu]: %g, by differences %g", p->name, k, s.grad[p->at + k], want);
        }
    }
    subject_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas_with_draws), cmocka_unit_test(test_formulas_with_nodes),
        cmocka_unit_test(test_gradient_with_draws), cmocka_unit_test(test_gradient_with_nodes),
        cmocka_unit_test(test_gradient_is_added),   cmocka_unit_test(test_gradient_far_left),
    };
    return cmocka_run_group_tests_name("gradients of nhp", tests, NULL, NULL);
}
