/*
 * grad_clock.c - the factor e^beta of a law with a clock: its derivatives by the gap, and their gradients by the
 * weights, against finite differences; the phases of an event; the nodes of the likelihood.
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

static const double day = 86400;

static struct clock clock_of(smurf_scale_kind kind)
{
    return (struct clock){.on = true,
                          .shape = {true, true},
                          .cut = 5 * day,
                          .unit = 1,
                          .scale = {.kind = kind, .mean = 0.3 * day, .mu = 0.2, .sd = 1.3}};
}

/* ---- Phases ------------------------------------------------------------------------------------ */

/* B against its definition; and after a turn, b(s0 + tau) is the sum over B(tau). */
static void test_phases(void **state)
{
    (void)state;
    const double periods[] = {1, 7, 365.2425};
    const size_t harmonics[] = {CLOCK_DAY, CLOCK_WEEK, CLOCK_YEAR};
    for (int which = 0; which < 3; which++) {
        struct clock_shape shape = {which > 0, which > 1};
        size_t inputs = clock_inputs(shape), at = 0;
        double s0 = 1.7e9 + 12345.678, row[CLOCK_MOST], c[CLOCK_MOST], r[CLOCK_MOST], back[CLOCK_MOST],
               want[CLOCK_MOST];
        clock_row(shape, s0, row);
        for (int p = 0; p <= which; p++)
            for (size_t k = 1; k <= harmonics[p]; k++) {
                double x = 2 * acos(-1) * fmod((double)k * s0 / (periods[p] * day), 1);
                want[at++] = sin(x);
                want[at++] = cos(x);
            }
        assert_int_equal(at, inputs);
        check_values("harmonics", row, want, inputs, 1e-9);
        fill_normal(c, inputs, 3);
        clock_turn(inputs, row, c, r);
        for (double tau = 0; tau < 9e6; tau = 2 * tau + 777) {
            double there[CLOCK_MOST], from[CLOCK_MOST];
            clock_row(shape, s0 + tau, there);
            clock_row(shape, tau, from);
            assert_true(fabs(dot(c, there, inputs) - dot(r, from, inputs)) < 1e-8);
        }
        clock_turn_back(inputs, row, r, back); /* a turn and its transpose: the identity */
        check_values("back", back, c, inputs, 1e-12);
    }
}

/* ---- The factor -------------------------------------------------------------------------------- */

enum { POINTS = 40 };

struct factor_case {
    struct clock clock;
    double coefficient[CLOCK_MOST + 2], y[POINTS], weight[3][POINTS];
    double room[64 * POINTS];
    struct clock_points p;
};

/* Points from below an hour to beyond the cut; clocks are set forward after two days. */
static void make(struct factor_case *f, smurf_scale_kind kind, double until)
{
    f->clock = clock_of(kind);
    fill_normal(f->coefficient, CLOCK_MOST, 5);
    f->coefficient[CLOCK_MOST] = until;
    f->coefficient[CLOCK_MOST + 1] = 3600;
    for (int i = 0; i < POINTS; i++) f->y[i] = smurf_scale_forward(&f->clock.scale, 1000 * pow(1.18, i));
    for (int k = 0; k < 3; k++) fill_normal(f->weight[k], POINTS, (uint64_t)k);
    struct workspace w = {NULL, 0};
    clock_points_take(&w, &f->clock, POINTS);
    assert_true(w.used <= sizeof f->room - WORKSPACE_ALIGN);
    w = (struct workspace){(void *)(((uintptr_t)f->room + WORKSPACE_ALIGN - 1) & ~(uintptr_t)(WORKSPACE_ALIGN - 1)), 0};
    f->p = clock_points_take(&w, &f->clock, POINTS);
}

/* A weighted sum of beta and its derivatives. */
static double total(void *context)
{
    struct factor_case *f = context;
    clock_factor(&f->clock, 2, f->coefficient, POINTS, f->y, &f->p);
    return dot(f->p.b, f->weight[0], POINTS) + dot(f->p.b1, f->weight[1], POINTS) + dot(f->p.b2, f->weight[2], POINTS);
}

static void test_factor(void **state)
{
    (void)state;
    const smurf_scale_kind kinds[] = {SMURF_SCALE_NONE, SMURF_SCALE_MEAN, SMURF_SCALE_LOG};
    for (int k = 0; k < 6; k++) {
        static struct factor_case f;
        double gradient[CLOCK_MOST] = {0}, b[POINTS], b1[POINTS], b2[POINTS];
        make(&f, kinds[k % 3], k < 3 ? 2 * day : 1e30);
        for (size_t p = 0; k % 3 == 0 && p < POINTS; p++) { /* derivatives by seconds are tiny */
            f.weight[1][p] *= 1e4;
            f.weight[2][p] *= 1e8;
        }
        total(&f);
        memcpy(b, f.p.b, sizeof b), memcpy(b1, f.p.b1, sizeof b1), memcpy(b2, f.p.b2, sizeof b2);
        for (int i = 0; i < POINTS; i++) {
            f.p.g0[i] = f.weight[0][i];
            f.p.g1[i] = f.weight[1][i];
            f.p.g2[i] = f.weight[2][i];
        }
        clock_factor_back(&f.clock, 2, POINTS, &f.p, gradient);
        check_gradient("weights", total, &f, f.coefficient, CLOCK_MOST, gradient, 1e-6);
        double step = k % 3 == 0 ? 10 : 1e-4, y[POINTS];
        memcpy(y, f.y, sizeof y);
        for (int i = 0; i < POINTS; i++) {
            double up[2], down[2];
            f.y[i] = y[i] + step;
            total(&f);
            up[0] = f.p.b[i], up[1] = f.p.b1[i];
            f.y[i] = y[i] - step;
            total(&f);
            down[0] = f.p.b[i], down[1] = f.p.b1[i];
            f.y[i] = y[i];
            assert_true(fabs((up[0] - down[0]) / (2 * step) - b1[i]) < 1e-5 * (1 + fabs(b2[i])));
            assert_true(fabs((up[1] - down[1]) / (2 * step) - b2[i]) < 1e-4 * (1 + fabs(b2[i])));
        }
        total(&f);
        double gap = smurf_clock_gap(&f.clock, y[POINTS - 1]).gap; /* beyond the cut: the mean of a week */
        assert_true(gap > f.clock.cut && f.p.b1[POINTS - 1] == 0 && f.p.b[POINTS - 1] == f.p.b[POINTS - 2]);
        double sum = 0, row[CLOCK_MOST], from = f.clock.cut + (k < 3 ? 3600 : 0);
        for (int m = 0; m < 7 * 24 * 60; m++) {
            clock_row(f.clock.shape, from + 60.0 * m, row);
            sum += exp(dot(row, f.coefficient, CLOCK_MOST));
        }
        assert_true(fabs(f.p.b[POINTS - 1] - log(sum / (7 * 24 * 60))) < 0.01);
    }
}

/* ---- The likelihood ------------------------------------------------------------------------------ */

/* Lambda by the nodes of the likelihood, where lambda0 = softplus(u) with a constant u: gaps of all lengths, against a
   rule of a minute. */
static void test_nodes(void **state)
{
    (void)state;
    static struct factor_case f;
    struct objective_config config = {.points = 24, .low = -6, .clock = &f.clock};
    enum { MOST = 24 + CLOCK_NODES_MOST + 1 };
    static double tau[MOST], u[MOST], g0[MOST], room[64 * (MOST + 8)];
    make(&f, SMURF_SCALE_LOG, 1e30);
    f.clock.cut = 28 * day;
    smurf_gauss_legendre(config.points, config.node, config.weight);
    for (int i = 0; i < CLOCK_MOST; i++) f.coefficient[i] *= 0.3;
    for (double gap = 100; gap < 60 * day; gap *= 1.7) {
        const struct target target = {.gap = smurf_scale_forward(&f.clock.scale, gap), .censored = true};
        const struct objective_class *mle = &OP(objective_mle);
        struct workspace w = {(void *)(((uintptr_t)room + WORKSPACE_ALIGN - 1) & ~(uintptr_t)(WORKSPACE_ALIGN - 1)), 0};
        struct clock_points p = clock_points_take(&w, &f.clock, MOST);
        size_t n = mle->count(&config, &target);
        assert_true(n <= config.points + CLOCK_NODES_MOST);
        mle->place(&config, NULL, &target, n, tau);
        for (size_t i = 0; i < n; i++) u[i] = 0.4;
        clock_factor(&f.clock, 0, f.coefficient, n, tau, &p);
        double got = mle->clocked(&config, &target, n, tau, u, NULL, NULL, g0, NULL, NULL, &p), want = 0;
        double step = fmin(60, gap / 100), row[CLOCK_MOST], mean = 0;
        for (int k = 0; k < 168; k++) {
            clock_row(f.clock.shape, f.clock.cut + 3600.0 * k, row);
            mean += exp(dot(row, f.coefficient, CLOCK_MOST)) / 168;
        }
        double first = smurf_scale_backward(&f.clock.scale, config.low);
        for (double t = first; t < gap; t += step) {
            double to = fmin(t + step, gap), middle = 0.5 * (t + to);
            clock_row(f.clock.shape, middle, row);
            double dy = smurf_scale_forward(&f.clock.scale, to) - smurf_scale_forward(&f.clock.scale, t);
            want += dy * log1p(exp(0.4)) * (middle < f.clock.cut ? exp(dot(row, f.coefficient, CLOCK_MOST)) : mean);
        }
        if (!(fabs(got - want) < 2e-3 * want)) fail_msg("gap %g: %.9g instead of %.9g", gap, got, want);
    }
}

/* ---- Denoising score matching --------------------------------------------------------------------- */

enum { NOISY = 7, ALL = NOISY + 1 };

struct noisy_case {
    struct objective_config config;
    struct target target;
    double tau[ALL], u[ALL], u1[ALL], u2[ALL], g0[ALL], g1[ALL], g2[ALL], beta[6][ALL];
    struct clock_points p;
};

static double noisy_loss(void *context)
{
    struct noisy_case *c = context;
    return OP(objective_dsm)
        .clocked(&c->config, &c->target, ALL, c->tau, c->u, c->u1, c->u2, c->g0, c->g1, c->g2, &c->p);
}

/* With beta held, the gradient by u and u' is that of the loss, which does not see the gap itself; beta has the
   gradient of weighted score matching at the gap, and that alone. */
static void test_dsm(void **state)
{
    (void)state;
    static struct clock clock = {.on = true};
    static struct noisy_case c;
    c.config =
        (struct objective_config){.points = NOISY, .sigma = {0.3}, .sigmas = 1, .log_axis = true, .clock = &clock};
    c.target = (struct target){.gap = 0.4, .limit = NAN, .id = 3};
    const struct op_run run = {.threads = 1, .seed = 2, .step = 5};
    assert_int_equal(OP(objective_dsm).order(&c.config), 2);
    assert_int_equal(OP(objective_dsm).count(&c.config, &c.target), ALL);
    OP(objective_dsm).place(&c.config, &run, &c.target, ALL, c.tau);
    assert_true(c.tau[NOISY] == 0.4);
    double *x[] = {c.u, c.u1, c.u2, c.beta[0], c.beta[1], c.beta[2]};
    for (int k = 0; k < 6; k++) fill_normal(x[k], ALL, (uint64_t)k);
    c.p = (struct clock_points){
        .b = c.beta[0], .b1 = c.beta[1], .b2 = c.beta[2], .g0 = c.beta[3], .g1 = c.beta[4], .g2 = c.beta[5]};
    double got[4][ALL], g0, g1, g2;
    noisy_loss(&c);
    memcpy(got[0], c.g0, sizeof got[0]), memcpy(got[1], c.g1, sizeof got[1]), memcpy(got[2], c.g2, sizeof got[2]);
    for (int i = 0; i < ALL; i++) {
        assert_true(got[2][i] == 0 && (i == NOISY) == (got[0][i] == 0));
        assert_true((i == NOISY) == (c.p.g0[i] != 0) && (i == NOISY) == (c.p.g2[i] != 0));
    }
    double clock_gradient[3] = {c.p.g0[NOISY], c.p.g1[NOISY], c.p.g2[NOISY]};
    check_gradient("u", noisy_loss, &c, c.u, NOISY, got[0], 1e-6);
    check_gradient("u'", noisy_loss, &c, c.u1, NOISY, got[1], 1e-6);
    struct clock_points at = {.b = c.beta[0] + NOISY,
                              .b1 = c.beta[1] + NOISY,
                              .b2 = c.beta[2] + NOISY,
                              .g0 = c.beta[3],
                              .g1 = c.beta[4],
                              .g2 = c.beta[5]};
    OP(objective_wsm)
        .clocked(&c.config, &c.target, 1, c.tau + NOISY, c.u + NOISY, c.u1 + NOISY, c.u2 + NOISY, &g0, &g1, &g2, &at);
    const double want[3] = {0.09 * at.g0[0], 0.09 * at.g1[0], 0.09 * at.g2[0]};
    check_values("beta", clock_gradient, want, 3, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_dsm),
    };
    return cmocka_run_group_tests_name("the clock in the law", tests, NULL, NULL);
}
