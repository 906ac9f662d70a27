/*
 * grad_objective.c - every objective: points, loss against its formula, gradient by (u, u', u'') against
 * finite differences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/gauss_legendre.h"
#include "difference.h"
#include "model/objective.h"
#include "op/intensity.h"
#include "op/noise.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
static const double TOLERANCE = 1e-8, EXACT = 1e-12;
static const struct op_run run = {1, 7, 3, 0, NULL};

enum { N = 9 };
struct objective_case {
    const struct objective_class *objective;
    struct objective_config config;
    struct target target;
    size_t n;
    int order;
    double tau[N], u[3][N], g[3][N];
};

static double value(void *context)
{
    struct objective_case *c = context;
    double unused[3][N];
    return c->objective->loss(&c->config, &c->target, c->n, c->tau, c->u[0], c->u[1], c->u[2], unused[0], unused[1],
                              unused[2]);
}

/* Points, random u, u', u'' as far as the order goes and NaN above it, loss and gradient. */
static double start(struct objective_case *c)
{
    c->n = c->objective->count(&c->config, &c->target);
    c->order = c->objective->order(&c->config);
    assert_in_range(c->n, 1, N);
    c->objective->place(&c->config, &run, &c->target, c->n, c->tau);
    for (int k = 0; k < 3; k++) {
        fill_normal(c->u[k], N, 40 + (uint64_t)k);
        if (k > c->order) fill_value(c->u[k], N, NAN);
        fill_value(c->g[k], N, NAN);
    }
    return c->objective->loss(&c->config, &c->target, c->n, c->tau, c->u[0], c->u[1], c->u[2], c->g[0], c->g[1],
                              c->g[2]);
}

static void check_case(struct objective_case *c, double loss, double want)
{
    check_values("loss", &loss, &want, 1, EXACT);
    for (int k = 0; k <= c->order; k++) {
        char what[64];
        snprintf(what, sizeof what, "%s by derivative %d of u", c->objective->name, k);
        check_gradient(what, value, c, c->u[k], c->n, c->g[k], TOLERANCE);
    }
}

/* psi and psi' from u by another way than op/score.h's: logistic functions and quotients of lambda's
   derivatives. */
static void plain_score(const struct objective_case *c, size_t i, double *psi, double *slope)
{
    double u = c->u[0][i], u1 = c->u[1][i], u2 = c->u[2][i];
    *psi = u, *slope = u1;
    if (c->config.param == PARAM_SCORE) return;
    double l = log1p(exp(u)), q = 1 / (1 + exp(-u)), l1 = q * u1, l2 = q * u2 + q * (1 - q) * u1 * u1;
    l += 1e-10;
    *psi = l1 / l - (l - 1e-10);
    *slope = l2 / l - l1 * l1 / (l * l) - l1;
}

static const enum parametrisation params[] = {PARAM_INTENSITY, PARAM_SCORE};

/* ---- Denoising score matching ---------------------------------------------------------------- */

static void start_dsm(struct objective_case *c, enum parametrisation param, bool multiplicative, size_t sigmas)
{
    *c = (struct objective_case){.objective = &OP(objective_dsm),
                                 .config = {.param = param,
                                            .points = 7,
                                            .sigma = {0.3, 0.1, 0.7},
                                            .sigmas = sigmas,
                                            .multiplicative = multiplicative},
                                 .target = {.gap = 1.4, .limit = NAN, .id = 11}};
}

/* The mean of 1/2 sigma^2 (psi - target)^2, or with t^2 and the target of multiplicative noise. */
static double plain_dsm(const struct objective_case *c, const double *psi)
{
    double eps[N], sum = 0;
    noise_normal(&run, 0, c->target.id, c->n, eps);
    for (size_t i = 0; i < c->n; i++) {
        double sigma = c->config.sigma[i % c->config.sigmas], tau, miss, weight = sigma * sigma;
        if (c->config.multiplicative) {
            tau = c->target.gap * exp(sigma * eps[i]);
            miss = psi[i] + (1 + eps[i] / sigma) / tau;
            weight *= tau * tau;
        } else {
            tau = c->target.gap + sigma * eps[i];
            miss = psi[i] + eps[i] / sigma;
        }
        assert_true(fabs(c->tau[i] - tau) < EXACT);
        sum += 0.5 * weight * miss * miss;
    }
    return sum / (double)c->n;
}

static void test_dsm(void **state)
{
    (void)state;
    for (size_t p = 0; p < LENGTH(params); p++)
        for (int multiplicative = 0; multiplicative < 2; multiplicative++)
            for (size_t sigmas = 1; sigmas <= 3; sigmas += 2) {
                struct objective_case c;
                double psi[N], slope;
                start_dsm(&c, params[p], multiplicative, sigmas);
                double loss = start(&c);
                for (size_t i = 0; i < c.n; i++) plain_score(&c, i, &psi[i], &slope);
                check_case(&c, loss, plain_dsm(&c, psi));
            }
}

/* `stop`: the loss as it is, its gradient that of the same loss with lambda'/lambda held at what it is. */
struct stop_case {
    struct objective_case c;
    double ratio[N];
};

static double frozen_value(void *context)
{
    struct stop_case *s = context;
    double psi[N];
    for (size_t i = 0; i < s->c.n; i++) psi[i] = s->ratio[i] - log1p(exp(s->c.u[0][i]));
    return plain_dsm(&s->c, psi);
}

static void test_dsm_stop(void **state)
{
    (void)state;
    for (int multiplicative = 0; multiplicative < 2; multiplicative++) {
        struct stop_case s;
        start_dsm(&s.c, PARAM_INTENSITY, multiplicative, 3);
        s.c.config.stop = true;
        double loss = start(&s.c), want;
        for (size_t i = 0; i < s.c.n; i++) {
            struct intensity l = intensity_at(s.c.u[0][i]);
            s.ratio[i] = l.r * s.c.u[1][i];
            assert_true(s.c.g[1][i] == 0);
        }
        want = frozen_value(&s);
        check_values("loss", &loss, &want, 1, EXACT);
        check_gradient("stop", frozen_value, &s, s.c.u[0], s.c.n, s.c.g[0], TOLERANCE);
        s.c.config.stop = false;
        double full = value(&s.c);
        check_values("the same loss", &full, &want, 1, EXACT);
    }
}

/* Noise depends on the target's id and on the step, on nothing else. */
static void test_dsm_points(void **state)
{
    (void)state;
    struct objective_case c;
    double other[N];
    start_dsm(&c, PARAM_INTENSITY, false, 1);
    start(&c);
    struct target same = c.target;
    same.row = 5, same.type = 2, same.limit = 9;
    struct op_run threads = run;
    threads.threads = 4;
    c.objective->place(&c.config, &threads, &same, c.n, other);
    assert_memory_equal(other, c.tau, c.n * sizeof *other);
    same.id++;
    c.objective->place(&c.config, &run, &same, c.n, other);
    for (size_t i = 0; i < c.n; i++) assert_true(other[i] != c.tau[i]);
    struct op_run later = run;
    later.step++;
    c.objective->place(&c.config, &later, &c.target, c.n, other);
    for (size_t i = 0; i < c.n; i++) assert_true(other[i] != c.tau[i]);
}

/* ---- Score matching, weighted or not --------------------------------------------------------- */

static void test_sm(void **state)
{
    (void)state;
    for (size_t p = 0; p < LENGTH(params); p++) {
        struct objective_case c = {
            .objective = &OP(objective_sm), .config = {.param = params[p]}, .target = {.gap = 0.8, .limit = NAN}};
        double psi, slope, loss = start(&c);
        plain_score(&c, 0, &psi, &slope);
        assert_true(c.tau[0] == 0.8);
        check_case(&c, loss, 0.5 * psi * psi + slope);
    }
}

static void test_wsm(void **state)
{
    (void)state;
    static const struct {
        bool log_axis;
        double gap, limit, h, slope;
    } cases[] = {
        {false, 0.8, NAN, 0.8, 1},  /* no end known */
        {false, 0.8, 5, 0.8, 1},    /* in the first half */
        {false, 0.8, 1.6, 0.8, 1},  /* at half */
        {false, 0.8, 1.1, 0.3, -1}, /* in the second */
        {true, -0.4, NAN, 1, 0},    {true, -0.4, 0.9, 1, 0}, {true, -0.4, 0.3, 0.7, -1}, {true, 2.5, 2.75, 0.25, -1},
    };
    for (size_t p = 0; p < LENGTH(params); p++)
        for (size_t i = 0; i < LENGTH(cases); i++) {
            struct objective_case c = {.objective = &OP(objective_wsm),
                                       .config = {.param = params[p], .log_axis = cases[i].log_axis},
                                       .target = {.gap = cases[i].gap, .limit = cases[i].limit}};
            double psi, slope, loss = start(&c), h = cases[i].h;
            plain_score(&c, 0, &psi, &slope);
            assert_true(c.tau[0] == cases[i].gap);
            check_case(&c, loss, 0.5 * h * psi * psi + h * slope + cases[i].slope * psi);
        }
}

/* ---- Likelihood ------------------------------------------------------------------------------ */

static void start_mle(struct objective_case *c, bool censored)
{
    *c = (struct objective_case){.objective = &OP(objective_mle),
                                 .config = {.points = 6, .low = -0.2},
                                 .target = {.gap = 1.4, .limit = NAN, .censored = censored}};
    smurf_gauss_legendre(6, c->config.node, c->config.weight);
}

static void test_mle(void **state)
{
    (void)state;
    for (int censored = 0; censored < 2; censored++) {
        struct objective_case c;
        start_mle(&c, censored);
        double loss = start(&c), want = 0;
        for (size_t i = 0; i < 6; i++) {
            assert_true(fabs(c.tau[i] - (-0.2 + 1.6 * c.config.node[i])) < EXACT);
            want += 1.6 * c.config.weight[i] * log1p(exp(c.u[0][i]));
        }
        if (!censored) want -= log(log1p(exp(c.u[0][6])));
        assert_int_equal(c.n, censored ? 6 : 7);
        assert_true(censored || c.tau[6] == 1.4);
        check_case(&c, loss, want);
    }
}

/* u(tau) = tau: Lambda(1.4) - Lambda(-0.2) by another quadrature (Simpson's), so that nodes and weights are
   right together. */
static void test_mle_integral(void **state)
{
    (void)state;
    enum { STEPS = 2000 };
    struct objective_case c;
    double sum = 0, h = 1.6 / STEPS;
    start_mle(&c, true);
    start(&c);
    memcpy(c.u[0], c.tau, sizeof c.tau);
    for (int i = 0; i <= STEPS; i++) {
        double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * h / 3 * log1p(exp(-0.2 + h * i));
    }
    double loss = value(&c);
    check_values("Lambda", &loss, &sum, 1, 1e-11);
}

/* Far to the left ln lambda = u and d ln lambda/du = 1, also where lambda is not a number any more. */
static void test_mle_left(void **state)
{
    (void)state;
    const double levels[] = {-14, -15.5, -36, -39.9, -40.1, -500, -800};
    for (size_t i = 0; i < LENGTH(levels); i++) {
        struct objective_case c;
        start_mle(&c, false);
        start(&c);
        fill_value(c.u[0], N, levels[i]);
        double e = exp(levels[i]),
               loss = c.objective->loss(&c.config, &c.target, c.n, c.tau, c.u[0], NULL, NULL, c.g[0], NULL, NULL);
        double want = 1.6 * log1p(e) - (levels[i] - e / 2 + 5 * e * e / 24), slope = -(1 - e / 2);
        check_values("loss", &loss, &want, 1, 1e-14);
        check_values("slope", &c.g[0][6], &slope, 1, 1e-11);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static void test_extremes(void **state)
{
    (void)state;
    const double levels[] = {-800, -110, -40, 40, 110, 800};
    for (size_t o = 0; objective_at(o); o++)
        for (size_t i = 0; i < LENGTH(levels); i++) {
            struct objective_case c;
            start_dsm(&c, PARAM_INTENSITY, false, 1);
            c.objective = objective_at(o);
            smurf_gauss_legendre(c.config.points, c.config.node, c.config.weight);
            start(&c);
            fill_value(c.u[0], N, levels[i]);
            assert_true(isfinite(
                c.objective->loss(&c.config, &c.target, c.n, c.tau, c.u[0], c.u[1], c.u[2], c.g[0], c.g[1], c.g[2])));
            for (int k = 0; k <= c.order; k++)
                for (size_t j = 0; j < c.n; j++) assert_true(isfinite(c.g[k][j]));
        }
}

static void test_table(void **state)
{
    (void)state;
    size_t count = 0;
    for (; objective_at(count); count++)
        assert_ptr_equal(objective_named(objective_at(count)->name), objective_at(count));
    assert_int_equal(count, 4);
    assert_null(objective_at(count + 1));
    assert_null(objective_named("none such"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dsm),          cmocka_unit_test(test_dsm_stop), cmocka_unit_test(test_dsm_points),
        cmocka_unit_test(test_sm),           cmocka_unit_test(test_wsm),      cmocka_unit_test(test_mle),
        cmocka_unit_test(test_mle_integral), cmocka_unit_test(test_mle_left), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests_name("gradients of the objectives", tests, NULL, NULL);
}
