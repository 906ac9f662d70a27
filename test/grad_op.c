/*
 * grad_op.c - every op but attention: values against plain formulas, gradients against finite differences.
 *
 * The scalar that is differentiated is r . y with random r, so that dy = r. Gradients that an op adds into
 * start at BEFORE, those it overwrites at NaN.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "difference.h"
#include "model/head.h"
#include "op/activation.h"
#include "op/embed.h"
#include "op/gap_head.h"
#include "op/linear.h"
#include "op/norm.h"
#include "op/score.h"
#include "op/type_head.h"

#define LENGTH(array)       (sizeof(array) / sizeof *(array))
#define FILL(array, stream) fill_normal(array, LENGTH(array), stream)
#define ADDED(array)        fill_value(array, LENGTH(array), BEFORE)
#define WRITTEN(array)      fill_value(array, LENGTH(array), NAN)

static const double BEFORE = 0.25, TOLERANCE = 1e-9, EXACT = 1e-13;

static const double *less_before(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] -= BEFORE;
    return x;
}
#define GAIN(array) less_before(array, LENGTH(array))

/* ---- Linear ---------------------------------------------------------------------------------- */

enum { LN = 5, LIN = 4, LOUT = 7 };
struct linear_case {
    double x[LN * LIN], w[LOUT * LIN], b[LOUT], r[LN * LOUT];
    bool bias;
};

static double linear_value(void *context)
{
    struct linear_case *c = context;
    double y[LN * LOUT];
    WRITTEN(y);
    linear_forward(LN, LIN, LOUT, c->x, c->w, c->bias ? c->b : NULL, y);
    return dot(c->r, y, LENGTH(y));
}

static void linear_start(struct linear_case *c)
{
    c->bias = true;
    FILL(c->x, 1), FILL(c->w, 2), FILL(c->b, 3), FILL(c->r, 4);
}

static void test_linear_forward(void **state)
{
    (void)state;
    struct linear_case c;
    double y[LN * LOUT], want[LN * LOUT];
    linear_start(&c);
    for (int bias = 0; bias < 2; bias++) {
        for (size_t i = 0; i < LN; i++)
            for (size_t k = 0; k < LOUT; k++)
                want[i * LOUT + k] = (bias ? c.b[k] : 0) + dot(c.x + i * LIN, c.w + k * LIN, LIN);
        WRITTEN(y);
        linear_forward(LN, LIN, LOUT, c.x, c.w, bias ? c.b : NULL, y);
        check_values("linear_forward", y, want, LENGTH(y), EXACT);
    }
}

static void test_linear_backward(void **state)
{
    (void)state;
    struct linear_case c;
    double dx[LN * LIN];
    linear_start(&c);
    WRITTEN(dx);
    linear_backward(LN, LIN, LOUT, c.r, c.w, 0, dx);
    check_gradient("dx", linear_value, &c, c.x, LENGTH(dx), dx, TOLERANCE);
    ADDED(dx);
    linear_backward(LN, LIN, LOUT, c.r, c.w, 1, dx);
    check_gradient("dx, added", linear_value, &c, c.x, LENGTH(dx), GAIN(dx), TOLERANCE);
}

static void test_linear_gradient(void **state)
{
    (void)state;
    struct linear_case c;
    double dw[LOUT * LIN], db[LOUT];
    linear_start(&c);
    ADDED(dw), ADDED(db);
    linear_gradient(LN, LIN, LOUT, c.x, c.r, 3, LOUT, dw, db);
    for (size_t k = 0; k < 3; k++) assert_true(db[k] == BEFORE && dw[k * LIN] == BEFORE && dw[k * LIN + 3] == BEFORE);
    linear_gradient(LN, LIN, LOUT, c.x, c.r, 0, 3, dw, db);
    check_gradient("dw", linear_value, &c, c.w, LENGTH(dw), GAIN(dw), TOLERANCE);
    check_gradient("db", linear_value, &c, c.b, LENGTH(db), GAIN(db), TOLERANCE);
    c.bias = false;
    ADDED(dw);
    linear_gradient(LN, LIN, LOUT, c.x, c.r, 0, LOUT, dw, NULL);
    check_gradient("dw without bias", linear_value, &c, c.w, LENGTH(dw), GAIN(dw), TOLERANCE);
}

/* ---- Norm ------------------------------------------------------------------------------------ */

enum { NN = 4, ND = 37 };
struct norm_case {
    double x[NN * ND], gain[ND], bias[ND], r[NN * ND], eps;
};

static double norm_value(void *context)
{
    struct norm_case *c = context;
    double y[NN * ND];
    norm_forward(NN, ND, c->eps, c->x, c->gain, c->bias, y);
    return dot(c->r, y, LENGTH(y));
}

static void test_norm_forward(void **state)
{
    (void)state;
    struct norm_case c = {.eps = 1e-6};
    double y[NN * ND], want[NN * ND];
    FILL(c.x, 1), FILL(c.gain, 2), FILL(c.bias, 3);
    norm_forward(NN, ND, c.eps, c.x, c.gain, c.bias, y);
    for (size_t i = 0; i < NN; i++) {
        double mean = 0, square = 0;
        for (size_t k = 0; k < ND; k++) mean += c.x[i * ND + k] / ND;
        for (size_t k = 0; k < ND; k++) square += (c.x[i * ND + k] - mean) * (c.x[i * ND + k] - mean) / ND;
        for (size_t k = 0; k < ND; k++)
            want[i * ND + k] = c.gain[k] * (c.x[i * ND + k] - mean) / sqrt(square + c.eps) + c.bias[k];
    }
    check_values("norm_forward", y, want, LENGTH(y), EXACT);
}

static void test_norm_gradients(void **state)
{
    (void)state;
    const double eps[] = {1e-6, 0.5};
    for (size_t e = 0; e < LENGTH(eps); e++) {
        struct norm_case c = {.eps = eps[e]};
        double dx[NN * ND], dgain[ND], dbias[ND];
        FILL(c.x, 1), FILL(c.gain, 2), FILL(c.bias, 3), FILL(c.r, 4);
        WRITTEN(dx);
        norm_backward(NN, ND, c.eps, c.x, c.gain, c.r, dx);
        check_gradient("dx", norm_value, &c, c.x, LENGTH(dx), dx, TOLERANCE);
        memcpy(dx, c.r, sizeof dx);
        norm_backward(NN, ND, c.eps, c.x, c.gain, dx, dx);
        check_gradient("dx in place of dy", norm_value, &c, c.x, LENGTH(dx), dx, TOLERANCE);
        ADDED(dgain), ADDED(dbias);
        norm_gradient(NN, ND, c.eps, c.x, c.r, dgain, dbias);
        check_gradient("dgain", norm_value, &c, c.gain, ND, GAIN(dgain), TOLERANCE);
        check_gradient("dbias", norm_value, &c, c.bias, ND, GAIN(dbias), TOLERANCE);
    }
}

/* ---- Activation ------------------------------------------------------------------------------ */

enum { AN = 43 };
struct activation_case {
    enum activation kind;
    double x[AN], r[AN];
};

static double activation_value(void *context)
{
    struct activation_case *c = context;
    double y[AN];
    memcpy(y, c->x, sizeof y);
    activation_forward(c->kind, AN, y, y);
    return dot(c->r, y, AN);
}

static void test_activation_forward(void **state)
{
    (void)state;
    double x[AN], y[AN], want[AN];
    FILL(x, 1);
    x[0] = 0;
    activation_forward(ACTIVATION_GELU, AN, x, y);
    for (size_t i = 0; i < AN; i++) want[i] = x[i] * 0.5 * erfc(-x[i] * M_SQRT1_2);
    check_values("gelu", y, want, AN, EXACT);
    activation_forward(ACTIVATION_RELU, AN, x, y);
    for (size_t i = 0; i < AN; i++) want[i] = fmax(x[i], 0);
    check_values("relu", y, want, AN, 0);
}

/* relu is asked away from its corner only. */
static void test_activation_backward(void **state)
{
    (void)state;
    const enum activation kinds[] = {ACTIVATION_GELU, ACTIVATION_RELU};
    for (size_t k = 0; k < LENGTH(kinds); k++) {
        struct activation_case c = {.kind = kinds[k]};
        double dx[AN], y[AN], want[AN];
        FILL(c.x, 1), FILL(c.r, 2);
        for (size_t i = 0; i < AN; i++) c.x[i] += copysign(0.1, c.x[i]);
        memcpy(dx, c.r, sizeof dx);
        WRITTEN(y);
        activation_backward(c.kind, AN, c.x, dx, y);
        check_gradient("dx", activation_value, &c, c.x, AN, dx, TOLERANCE);
        activation_forward(c.kind, AN, c.x, want);
        check_values("y again", y, want, AN, EXACT);
    }
}

static void test_activation_extremes(void **state)
{
    (void)state;
    const double x[] = {-1e6, -40, 40, 1e6}, slope[] = {0, 0, 1, 1};
    double y[4];
    for (int kind = 0; kind < 2; kind++) {
        activation_forward(kind ? ACTIVATION_RELU : ACTIVATION_GELU, 4, x, y);
        double dx[] = {1, 1, 1, 1}, again[4];
        activation_backward(kind ? ACTIVATION_RELU : ACTIVATION_GELU, 4, x, dx, again);
        for (int i = 0; i < 4; i++) assert_true(y[i] == fmax(x[i], 0) && dx[i] == slope[i]);
    }
}

/* ---- What an event looks like ---------------------------------------------------------------- */

enum { EN = 6, ED = 5, ETYPES = 4, EM = 3 };
static const uint32_t event_type[EN] = {2, 0, 2, 2, 3, 0}; /* 1 is never seen */

static void test_temporal(void **state)
{
    (void)state;
    const double time[EN] = {0, 0.5, 1, 7, 1e4, 1e9 + 0.125};
    double z[EN * ED], want[EN * ED];
    temporal_forward(EN, ED, time, z);
    for (size_t i = 0; i < EN; i++)
        for (size_t k = 0; k < ED; k++) {
            double phase = time[i] / pow(10000, 2.0 * (double)(k / 2) / ED);
            want[i * ED + k] = k % 2 == 0 ? sin(phase) : cos(phase);
        }
    check_values("temporal", z, want, EN * ED, EXACT);
}

struct embed_case {
    double table[ETYPES * ED], r[EN * ED];
};

static double embed_value(void *context)
{
    struct embed_case *c = context;
    double x[EN * ED];
    embed_forward(EN, ED, ETYPES, event_type, c->table, x);
    return dot(c->r, x, EN * ED);
}

static void test_embed(void **state)
{
    (void)state;
    struct embed_case c;
    double dtable[ETYPES * ED], x[EN * ED];
    FILL(c.table, 1), FILL(c.r, 2);
    embed_forward(EN, ED, ETYPES, event_type, c.table, x);
    for (size_t i = 0; i < EN * ED; i++) assert_true(x[i] == c.table[event_type[i / ED] * ED + i % ED]);
    embed_forward(EN, ED, 1, event_type, c.table, x); /* types beyond the table have no embedding */
    for (size_t i = 0; i < EN * ED; i++) assert_true(x[i] == (event_type[i / ED] < 1 ? c.table[i % ED] : 0));
    ADDED(dtable);
    embed_gradient(EN, ED, event_type, c.r, dtable);
    for (size_t k = 0; k < ED; k++) assert_true(dtable[ED + k] == BEFORE);
    check_gradient("dtable", embed_value, &c, c.table, LENGTH(dtable), GAIN(dtable), TOLERANCE);
}

struct gap_feature_case {
    double g[EN], v[EM], c[EM], table[ED * EM], x[EN * ED], r[EN * ED];
};

static double gap_feature_value(void *context)
{
    struct gap_feature_case *c = context;
    double x[EN * ED], h[EN * EM];
    memcpy(x, c->x, sizeof x);
    gap_feature_forward(EN, ED, EM, c->g, c->v, c->c, c->table, h, x);
    return dot(c->r, x, EN * ED);
}

static void test_gap_feature(void **state)
{
    (void)state;
    struct gap_feature_case c;
    double x[EN * ED], want[EN * ED], h[EN * EM], dv[EM], dc[EM], dtable[ED * EM], dh[EM];
    FILL(c.g, 1), FILL(c.v, 2), FILL(c.c, 3), FILL(c.table, 4), FILL(c.x, 5), FILL(c.r, 6);
    c.g[0] = c.g[3] = NAN;
    memcpy(x, c.x, sizeof x);
    memcpy(want, c.x, sizeof want);
    WRITTEN(h);
    gap_feature_forward(EN, ED, EM, c.g, c.v, c.c, c.table, h, x);
    for (size_t i = 0; i < EN; i++)
        for (size_t k = 0; !isnan(c.g[i]) && k < ED; k++)
            for (size_t j = 0; j < EM; j++) want[i * ED + k] += c.table[k * EM + j] * tanh(c.v[j] * c.g[i] + c.c[j]);
    check_values("gap_feature_forward", x, want, EN * ED, EXACT);
    ADDED(dv), ADDED(dc), ADDED(dtable);
    gap_feature_gradient(EN, ED, EM, c.g, c.table, h, c.r, dv, dc, dtable, dh);
    check_gradient("dv", gap_feature_value, &c, c.v, EM, GAIN(dv), TOLERANCE);
    check_gradient("dc", gap_feature_value, &c, c.c, EM, GAIN(dc), TOLERANCE);
    check_gradient("dtable", gap_feature_value, &c, c.table, LENGTH(dtable), GAIN(dtable), TOLERANCE);
}

/* ---- Gap head -------------------------------------------------------------------------------- */

enum { GD = 5, GN = 21 };
struct gap_head_case {
    int order;
    double a[GD], b[GD], w[GD], c, tau[GN], g[3][GN];
};

static void gap_head_start(struct gap_head_case *c)
{
    FILL(c->a, 1), FILL(c->b, 2), FILL(c->w, 3), FILL(c->tau, 4);
    c->c = 0.3;
    for (uint64_t k = 0; k < 3; k++) fill_normal(c->g[k], GN, 5 + k);
}

static double gap_head_value(void *context)
{
    struct gap_head_case *c = context;
    double z[GD * GN], u[3][GN], sum = 0;
    gap_head_forward(c->order, GD, c->a, c->b, c->w, c->c, c->tau, GN, z, u[0], u[1], u[2]);
    for (int k = 0; k <= c->order; k++) sum += dot(c->g[k], u[k], GN);
    return sum;
}

/* Derivatives above the order are not touched. */
static void test_gap_head_forward(void **state)
{
    (void)state;
    struct gap_head_case c;
    double z[GD * GN], want[3][GN];
    gap_head_start(&c);
    for (size_t i = 0; i < GN; i++) {
        want[0][i] = c.c, want[1][i] = want[2][i] = 0;
        for (size_t k = 0; k < GD; k++) {
            double y = tanh(c.a[k] * c.tau[i] + c.b[k]), s = 1 - y * y;
            want[0][i] += c.w[k] * y;
            want[1][i] += c.w[k] * c.a[k] * s;
            want[2][i] += -2 * c.w[k] * c.a[k] * c.a[k] * y * s;
        }
    }
    for (int order = 0; order <= 2; order++) {
        double u[3][GN];
        for (int k = 0; k < 3; k++) fill_value(u[k], GN, BEFORE);
        gap_head_forward(order, GD, c.a, c.b, c.w, c.c, c.tau, GN, z, u[0], u[1], u[2]);
        for (int k = 0; k <= order; k++) check_values("u, u', u''", u[k], want[k], GN, EXACT);
        for (int k = order + 1; k < 3; k++) assert_true(u[k][0] == BEFORE && u[k][GN - 1] == BEFORE);
    }
}

/* u' is the derivative of u by tau, u'' that of u'. */
static void test_gap_head_derivatives(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct gap_head_case c;
        double z[GD * GN], u[3][GN], by_tau[GN];
        gap_head_start(&c);
        c.order = k;
        if (k == 1) fill_value(c.g[0], GN, 0);
        gap_head_forward(2, GD, c.a, c.b, c.w, c.c, c.tau, GN, z, u[0], u[1], u[2]);
        for (size_t i = 0; i < GN; i++) by_tau[i] = c.g[k][i] * u[k + 1][i];
        check_gradient(k ? "u''" : "u'", gap_head_value, &c, c.tau, GN, by_tau, TOLERANCE);
    }
}

static void test_gap_head_backward(void **state)
{
    (void)state;
    for (int order = 0; order <= 2; order++) {
        struct gap_head_case c;
        double z[GD * GN], u[3][GN], da[GD], db[GD], dw[GD], dc[1];
        gap_head_start(&c);
        c.order = order;
        gap_head_forward(order, GD, c.a, c.b, c.w, c.c, c.tau, GN, z, u[0], u[1], u[2]);
        WRITTEN(da), WRITTEN(db), ADDED(dw), ADDED(dc);
        gap_head_backward(order, GD, c.a, c.b, c.w, c.tau, GN, z, c.g[0], c.g[1], c.g[2], da, db, dw, dc);
        check_gradient("da", gap_head_value, &c, c.a, GD, da, TOLERANCE);
        check_gradient("db", gap_head_value, &c, c.b, GD, db, TOLERANCE);
        check_gradient("dw", gap_head_value, &c, c.w, GD, GAIN(dw), TOLERANCE);
        check_gradient("dc", gap_head_value, &c, &c.c, 1, GAIN(dc), TOLERANCE);
    }
}

/* ---- Type head ------------------------------------------------------------------------------- */

enum { TTYPES = 4, TW = 3, TN = 131 }; /* points: more than one run of type_head.c */
struct type_head_case {
    size_t n;
    double a[TW], b[TW], w[TTYPES * TW], c[TTYPES], tau[TN];
    double logits[TTYPES * TN]; /* for the loss alone */
    double smoothing, scale;
    uint32_t target;
};

static void type_head_start(struct type_head_case *c)
{
    *c = (struct type_head_case){.n = TN, .target = 2, .scale = 1};
    FILL(c->a, 1), FILL(c->b, 2), FILL(c->w, 3), FILL(c->c, 4), FILL(c->tau, 5), FILL(c->logits, 6);
}

static double type_logits_value(void *context)
{
    struct type_head_case *c = context;
    double logits[TTYPES * TN], right;
    memcpy(logits, c->logits, sizeof logits);
    return c->scale * type_head_loss(TTYPES, c->n, c->n, c->target, c->smoothing, 1, logits, &right);
}

static double type_head_value(void *context)
{
    struct type_head_case *c = context;
    double h[TW * TN], logits[TTYPES * TN], right;
    type_head_forward(TTYPES, TW, c->a, c->b, c->w, c->c, c->tau, c->n, h, logits);
    return type_head_loss(TTYPES, c->n, c->n, c->target, c->smoothing, 1, logits, &right);
}

static void test_type_head_forward(void **state)
{
    (void)state;
    struct type_head_case c;
    double h[TW * TN], logits[TTYPES * TN], want[TTYPES * TN];
    type_head_start(&c);
    type_head_forward(TTYPES, TW, c.a, c.b, c.w, c.c, c.tau, TN, h, logits);
    for (size_t k = 0; k < TTYPES; k++)
        for (size_t i = 0; i < TN; i++) {
            want[k * TN + i] = c.c[k];
            for (size_t j = 0; j < TW; j++) want[k * TN + i] += c.w[k * TW + j] * tanh(c.a[j] * c.tau[i] + c.b[j]);
        }
    check_values("type_head_forward", logits, want, LENGTH(want), EXACT);
}

/* -sum_k target_k ln softmax_k, averaged. */
static double cross_entropy(const struct type_head_case *c, double *right)
{
    double sum = 0;
    *right = 0;
    for (size_t i = 0; i < c->n; i++) {
        double all = 0, best = 0;
        for (size_t k = 0; k < TTYPES; k++) {
            all += exp(c->logits[k * c->n + i]);
            if (c->logits[k * c->n + i] > c->logits[(size_t)best * c->n + i]) best = (double)k;
        }
        *right += (uint32_t)best == c->target;
        for (size_t k = 0; k < TTYPES; k++) {
            double target = k == c->target ? 1 - c->smoothing : c->smoothing / TTYPES;
            sum -= target * (c->logits[k * c->n + i] - log(all));
        }
    }
    *right /= (double)c->n;
    return sum / (double)c->n;
}

static void test_type_head_loss(void **state)
{
    (void)state;
    const size_t points[] = {1, 5, 128, TN};
    const double smoothings[] = {0, 0.1};
    for (size_t i = 0; i < LENGTH(points); i++)
        for (size_t s = 0; s < LENGTH(smoothings); s++) {
            struct type_head_case c;
            double logits[TTYPES * TN], right, share;
            type_head_start(&c);
            c.n = points[i], c.smoothing = smoothings[s], c.scale = 1.5;
            memcpy(logits, c.logits, sizeof logits);
            double loss = type_head_loss(TTYPES, c.n, c.n, c.target, c.smoothing, c.scale, logits, &right);
            double want = cross_entropy(&c, &share);
            check_values("cross-entropy", &loss, &want, 1, EXACT);
            assert_true(fabs(right - share) < EXACT);
            check_gradient("by logits", type_logits_value, &c, c.logits, TTYPES * c.n, logits, 1e-7);
        }
}

static void test_type_head_backward(void **state)
{
    (void)state;
    const double smoothings[] = {0, 0.1};
    for (size_t s = 0; s < LENGTH(smoothings); s++) {
        struct type_head_case c;
        double h[TW * TN], g[TTYPES * TN], dh[TW * TN], da[TW], db[TW], dw[TTYPES * TW], dc[TTYPES], right;
        type_head_start(&c);
        c.smoothing = smoothings[s];
        type_head_forward(TTYPES, TW, c.a, c.b, c.w, c.c, c.tau, TN, h, g);
        type_head_loss(TTYPES, TN, TN, c.target, c.smoothing, 1, g, &right);
        WRITTEN(da), WRITTEN(db), ADDED(dw), ADDED(dc);
        type_head_backward(TTYPES, TW, c.a, c.w, c.tau, TN, h, g, dh, da, db, dw, dc);
        check_gradient("da", type_head_value, &c, c.a, TW, da, TOLERANCE);
        check_gradient("db", type_head_value, &c, c.b, TW, db, TOLERANCE);
        check_gradient("dw", type_head_value, &c, c.w, LENGTH(dw), GAIN(dw), TOLERANCE);
        check_gradient("dc", type_head_value, &c, c.c, TTYPES, GAIN(dc), TOLERANCE);
    }
}

/* Logits far apart: the loss is their difference, the gradient 0 and 1. */
static void test_type_head_extremes(void **state)
{
    (void)state;
    double logits[2] = {-500, 500}, right;
    double loss = type_head_loss(2, 1, 1, 0, 0, 1, logits, &right);
    assert_true(loss == 1000 && right == 0 && logits[0] == -1 && logits[1] == 1);
}

/* ---- Score ----------------------------------------------------------------------------------- */

/* A curve u(tau) with all three derivatives, through the level `at` at 0. */
struct curve {
    double at, tau;
    bool intensity;
};

static double curve_u(const struct curve *c)
{
    return c->at + sin(1.3 * c->tau) + 0.4 * c->tau * c->tau;
}
static double curve_u1(const struct curve *c)
{
    return 1.3 * cos(1.3 * c->tau) + 0.8 * c->tau;
}
static double curve_u2(const struct curve *c)
{
    return 0.8 - 1.69 * sin(1.3 * c->tau);
}

/* ln lambda - Lambda has the derivative ln' lambda - lambda; 1e-10 as in intensity.h. */
static double log_lambda(void *context)
{
    const struct curve *c = context;
    return log(log1p(exp(curve_u(c))) + 1e-10);
}

static double psi_of_tau(void *context)
{
    const struct curve *c = context;
    return score_at(c->intensity, curve_u(c), curve_u1(c), curve_u2(c)).psi;
}

static void test_score_of_law(void **state)
{
    (void)state;
    for (double at = -22; at <= 22; at += 2) {
        struct curve c = {.at = at, .tau = 0.37, .intensity = true};
        double u = curve_u(&c), lambda = log1p(exp(u));
        struct score s = score_at(true, u, curve_u1(&c), curve_u2(&c));
        struct intensity l = intensity_at(u);
        assert_true(fabs(l.lambda - lambda) <= EXACT * lambda);
        assert_true(fabs(l.q - 1 / (1 + exp(-u))) <= EXACT * l.q);
        double without = s.psi + lambda;
        check_gradient("psi", log_lambda, &c, &c.tau, 1, &without, 1e-8);
        check_gradient("psi'", psi_of_tau, &c, &c.tau, 1, &s.slope, TOLERANCE);
    }
    struct curve c = {.tau = 0.37, .intensity = false};
    struct score s = score_at(false, curve_u(&c), curve_u1(&c), curve_u2(&c));
    assert_true(s.psi == curve_u(&c));
    check_gradient("psi' of a score head", psi_of_tau, &c, &c.tau, 1, &s.slope, TOLERANCE);
}

struct score_case {
    bool intensity;
    double u[3], by[2];
};

static double score_value(void *context)
{
    struct score_case *c = context;
    struct score s = score_at(c->intensity, c->u[0], c->u[1], c->u[2]);
    return c->by[0] * s.psi + c->by[1] * s.slope;
}

static void test_score_gradient(void **state)
{
    (void)state;
    const double levels[] = {-24, -20, -8, -3, -0.5, 0, 0.7, 4, 9, 24};
    for (size_t i = 0; i < LENGTH(levels); i++)
        for (int k = 0; k < 2; k++) {
            struct score_case c = {k == 0, {levels[i], 1.7, -0.6}, {0.8, -1.1}};
            double g[3] = {NAN, NAN, NAN};
            struct score s = score_at(c.intensity, c.u[0], c.u[1], c.u[2]);
            score_gradient(&s, c.by[0], c.by[1], &g[0], &g[1], &g[2]);
            assert_true(k == 0 || isnan(g[2]));
            check_gradient("by u, u', u''", score_value, &c, c.u, k == 0 ? 3 : 2, g, 1e-8);
        }
}

static void test_score_extremes(void **state)
{
    (void)state;
    const double levels[] = {-1e4, -800, -40, 40, 800, 1e4};
    for (size_t i = 0; i < LENGTH(levels); i++) {
        double g[3];
        struct score s = score_at(true, levels[i], 2, -3);
        score_gradient(&s, 1, 1, &g[0], &g[1], &g[2]);
        assert_true(isfinite(s.psi) && isfinite(s.slope) && isfinite(g[0]) && isfinite(g[1]) && isfinite(g[2]));
        struct intensity l = intensity_at(levels[i]);
        assert_true(l.lambda == (levels[i] > 0 ? levels[i] : exp(levels[i])));
    }
}

/* ---- Coefficients of the laws ---------------------------------------------------------------- */

enum { HN = 5, HW = 6, HT = HW / 2 };
struct head_case {
    struct params params;
    struct head_params at;
    double slab[512], h[HN * HW];
    double r[4][HN * HW]; /* gradients by a, b, type_a, type_b */
};

static void head_start(struct head_case *c)
{
    c->params.count = c->params.total = 0;
    smurf_head_params(3, HW, &c->params, &c->at);
    assert_true(c->params.total <= LENGTH(c->slab));
    FILL(c->slab, 1), FILL(c->h, 2);
    for (size_t i = 0; i < LENGTH(c->slab); i++) c->slab[i] *= 0.4;
    for (uint64_t k = 0; k < 4; k++) fill_normal(c->r[k], HN * HW, 3 + k);
}

static double head_value(void *context)
{
    struct head_case *c = context;
    double out[4][HN * HW];
    struct head_coefficients to = {out[0], out[1], out[2], out[3]};
    head_forward(&c->at, c->slab, HW, 0, 2, c->h, &to);
    head_forward(&c->at, c->slab, HW, 2, HN - 2, c->h, &to);
    return dot(c->r[0], out[0], HN * HW) + dot(c->r[1], out[1], HN * HW) + dot(c->r[2], out[2], HN * HT) +
           dot(c->r[3], out[3], HN * HT);
}

static void test_head(void **state)
{
    (void)state;
    static struct head_case c;
    double out[4][HN * HW], d[4][HN * HW], dh[HN * HW], grad[LENGTH(c.slab)];
    head_start(&c);
    struct head_coefficients coefficients = {out[0], out[1], out[2], out[3]}, by = {d[0], d[1], d[2], d[3]};
    memcpy(d, c.r, sizeof d);
    WRITTEN(dh), ADDED(grad);
    head_forward(&c.at, c.slab, HW, 0, HN, c.h, &coefficients);
    head_backward(&c.at, c.slab, HW, 3, HN - 3, &coefficients, &by, dh);
    head_backward(&c.at, c.slab, HW, 0, 3, &coefficients, &by, dh);
    check_gradient("dh", head_value, &c, c.h, HN * HW, dh, TOLERANCE);
    for (int which = 3; which >= 0; which--) head_gradient(&c.at, HW, HN, which, c.h, &by, grad);
    for (size_t i = 0; i < c.params.count; i++) {
        const struct param *p = &c.params.entry[i];
        const char *last = strrchr(p->name, '.');
        if (strcmp(p->name, "gap.w") == 0 || strcmp(p->name, "gap.c") == 0 || last == strchr(p->name, '.')) {
            for (size_t k = 0; k < p->size; k++) assert_true(grad[p->at + k] == BEFORE);
            continue;
        }
        check_gradient(p->name, head_value, &c, c.slab + p->at, p->size, less_before(grad + p->at, p->size), TOLERANCE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_forward),
        cmocka_unit_test(test_linear_backward),
        cmocka_unit_test(test_linear_gradient),
        cmocka_unit_test(test_norm_forward),
        cmocka_unit_test(test_norm_gradients),
        cmocka_unit_test(test_activation_forward),
        cmocka_unit_test(test_activation_backward),
        cmocka_unit_test(test_activation_extremes),
        cmocka_unit_test(test_temporal),
        cmocka_unit_test(test_embed),
        cmocka_unit_test(test_gap_feature),
        cmocka_unit_test(test_gap_head_forward),
        cmocka_unit_test(test_gap_head_derivatives),
        cmocka_unit_test(test_gap_head_backward),
        cmocka_unit_test(test_type_head_forward),
        cmocka_unit_test(test_type_head_loss),
        cmocka_unit_test(test_type_head_backward),
        cmocka_unit_test(test_type_head_extremes),
        cmocka_unit_test(test_score_of_law),
        cmocka_unit_test(test_score_gradient),
        cmocka_unit_test(test_score_extremes),
        cmocka_unit_test(test_head),
    };
    return cmocka_run_group_tests_name("gradients of the ops", tests, NULL, NULL);
}
