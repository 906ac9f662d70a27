/*
 * dist_case.h - laws to make distributions of, a reference to check them against, and what is true of every
 * distribution.
 */
#ifndef SMURF_TEST_DIST_CASE_H
#define SMURF_TEST_DIST_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/sort.h"
#include "law/exact_table.h"
#include "law/special.h"
#include "law/wrap.h"
#include "process_cases.h"

static inline void assert_close(double got, double want, double tolerance, const char *what, double at)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s at %.17g: %.17g instead of %.17g, off by %.3g", what, at, got, want, got - want);
}

static inline struct exact *new_exact(void)
{
    struct exact *exact = malloc(sizeof *exact);
    assert_int_equal(smurf_exact_init(exact, NULL), SMURF_OK);
    return exact;
}

static inline void free_exact(struct exact *exact)
{
    smurf_exact_release(exact);
    free(exact);
}

static inline double normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

/* ---- Laws ------------------------------------------------------------------------------------------ */

/* u = sum w tanh(a x + b) + c; lambda = softplus(u), or as a score psi = u. */
enum { UNITS_MOST = 64 };
struct learned {
    int units;
    double a[UNITS_MOST], b[UNITS_MOST], w[UNITS_MOST], c;
};

static inline double learned_u(const struct learned *l, double x)
{
    double u = l->c;
    for (int k = 0; k < l->units; k++) u += l->w[k] * tanh(l->a[k] * x + l->b[k]);
    return u;
}

static inline double learned_u_slope(const struct learned *l, double x)
{
    double slope = 0;
    for (int k = 0; k < l->units; k++) slope += l->w[k] * l->a[k] / pow(cosh(l->a[k] * x + l->b[k]), 2);
    return slope;
}

static inline void learned_intensity(const void *self, const double *x, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double u = learned_u(self, x[i]);
        out[i] = u > 30 ? u : log1p(exp(u));
    }
}

static inline void learned_slope(const void *self, const double *x, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = learned_u_slope(self, x[i]) / (1 + exp(-learned_u(self, x[i])));
}

static inline double log_cosh(double x)
{
    return fabs(x) + log1p(exp(-2 * fabs(x)));
}

static inline void learned_log_density(const void *self, const double *x, double *out, size_t n)
{
    const struct learned *l = self;
    for (size_t i = 0; i < n; i++) {
        out[i] = l->c * x[i];
        for (int k = 0; k < l->units; k++) out[i] += l->w[k] / l->a[k] * log_cosh(l->a[k] * x[i] + l->b[k]);
    }
}

static const struct law_class learned_class = {
    .name = "learned", .intensity = learned_intensity, .slope = learned_slope};
static const struct law_class scored_class = {.name = "scored", .log_density = learned_log_density};

static inline struct learned random_law(struct random *random, int units, double w, double b, double c)
{
    struct learned l = {.units = units, .c = c};
    for (int k = 0; k < units; k++) {
        l.a[k] = tanh(smurf_random_normal(random));
        l.b[k] = b * smurf_random_normal(random);
        l.w[k] = w * smurf_random_normal(random);
    }
    return l;
}

/* Laws of one number each: the intensity is a function of x. */
typedef double function(double x);
static inline void plain_intensity(const void *self, const double *x, double *out, size_t n)
{
    function *const *f = self;
    for (size_t i = 0; i < n; i++) out[i] = (*f)(x[i]);
}
static const struct law_class plain_class = {.name = "plain", .intensity = plain_intensity};
static const struct law_class plain_scored_class = {.name = "plain scored", .log_density = plain_intensity};

static inline double one(double x)
{
    return x * 0 + 1;
}

static inline double tiny(double x)
{
    return 1e-8 + 0 * x;
}

static inline double zero(double x)
{
    return 0 * x;
}

static inline double crps_exponential(double x)
{
    return x + 2 * exp(-x / 2) * 2 - 3; /* mean 2 */
}

/* ---- A reference ------------------------------------------------------------------------------------- */

enum { GAUSS = 16 };

static inline void gauss(double node[GAUSS], double weight[GAUSS])
{
    for (int i = 0; i < GAUSS; i++) {
        double x = -cos(acos(-1) * (i + 0.75) / (GAUSS + 0.5)), slope = 1;
        for (int step = 0; step < 50; step++) {
            double before = 1, value = x;
            for (int k = 2; k <= GAUSS; k++) {
                double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
                before = value;
                value = next;
            }
            slope = GAUSS * (x * value - before) / (x * x - 1);
            x -= value / slope;
        }
        node[i] = 0.5 * (1 + x);
        weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
}

/* The integral of f from lo to the end of each panel: out (panels). */
static inline void integrals(law_function *f, const void *self, double lo, double hi, double *out, size_t panels)
{
    double node[GAUSS], weight[GAUSS], x[GAUSS], sum = 0, width = (hi - lo) / (double)panels;
    gauss(node, weight);
    for (size_t i = 0; i < panels; i++) {
        for (int j = 0; j < GAUSS; j++) x[j] = lo + width * ((double)i + node[j]);
        f(self, x, x, GAUSS);
        for (int j = 0; j < GAUSS; j++) sum += width * weight[j] * x[j];
        out[i] = sum;
    }
}

/* The largest miss of the CDF of a law with an intensity, at the ends of panels. */
static inline double worst_miss(const struct exact *exact, const struct law *law, enum exact_mass mass, size_t panels)
{
    struct dist dist = smurf_exact_dist(exact);
    double *sum = malloc(panels * sizeof *sum), worst = 0;
    integrals(law->class->intensity, law->self, law->lo, law->hi, sum, panels);
    double total = mass == EXACT_ONE ? -expm1(-sum[panels - 1]) : 1;
    for (size_t i = 0; i < panels; i++) {
        double x = law->lo + (law->hi - law->lo) * ((double)(i + 1) / (double)panels);
        worst = fmax(worst, fabs(smurf_dist_cdf(&dist, x) + expm1(-sum[i]) / total));
    }
    if (mass == EXACT_REST && sum[panels - 1] < 30)
        assert_close(log(exact->rest), -sum[panels - 1], 2e-6, "ln rest", law->hi);
    free(sum);
    return worst;
}

/* ---- What is true of every distribution -------------------------------------------------------------- */

static inline void check_table(const struct exact *e)
{
    assert_true(e->n >= 2 && e->n <= EXACT_NODES_MOST && e->knots >= 2);
    assert_true(e->knot[0] == 0 && e->knot[e->knots - 1] == e->n - 1);
    for (size_t i = 0; i < e->n; i++) {
        assert_true(isfinite(e->x[i]) && e->f[i] >= 0 && e->f[i] <= 1 && e->slope[i] >= 0 && isfinite(e->slope[i]));
        if (i > 0) assert_true(e->x[i] > e->x[i - 1] && e->f[i] >= e->f[i - 1]);
    }
    assert_true(e->rest >= 0 && e->rest <= 1);
}

/* Monotone; sorted and single calls agree; quantile and CDF are inverse to `slack`; in place works; NaN stays. */
static inline void check_shape_within(const struct dist *dist, double lo, double hi, double slack)
{
    enum { N = 3000 };
    double x[N], f[N], q[N];
    for (size_t i = 0; i < N; i++) x[i] = lo + (hi - lo) * ((double)i / (N - 1));
    dist->class->cdf(dist->self, x, f, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(f[i] >= 0 && f[i] <= 1 && (i == 0 || f[i] >= f[i - 1]));
        assert_true(smurf_dist_cdf(dist, x[i]) == f[i] && smurf_dist_density(dist, x[i]) >= 0);
    }
    dist->class->cdf(dist->self, x, x, N);
    assert_memory_equal(x, f, sizeof x);
    double most = f[N - 1];
    for (size_t i = 0; i < N; i++) x[i] = most * ((double)i + 0.5) / N;
    dist->class->quantile(dist->self, x, q, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(i == 0 || q[i] >= q[i - 1]);
        double step = 1e-12 * (fabs(q[i]) + 1e-3); /* F may jump, or nearly */
        assert_true(smurf_dist_cdf(dist, q[i] + step) >= x[i] - slack);
        assert_true(smurf_dist_cdf(dist, q[i] - step) <= x[i] + slack);
        assert_true(smurf_dist_quantile(dist, x[i]) == q[i]);
    }
    assert_true(isnan(smurf_dist_cdf(dist, NAN)) && isnan(smurf_dist_density(dist, NAN)));
    assert_true(isnan(smurf_dist_quantile(dist, NAN)) && isnan(smurf_dist_quantile(dist, -0.1)) &&
                isnan(smurf_dist_quantile(dist, 1.1)));
}

static inline void check_shape(const struct dist *dist, double lo, double hi)
{
    check_shape_within(dist, lo, hi, 1e-13);
}

/* The density is the derivative of the CDF. */
static inline void check_density(const struct dist *dist, double tolerance)
{
    for (double level = 0.03; level < 1; level += 0.0173) {
        double x = smurf_dist_quantile(dist, level), h = 1e-5 * x;
        if (x == 0) continue; /* an atom */
        double slope = (smurf_dist_cdf(dist, x + h) - smurf_dist_cdf(dist, x - h)) / (2 * h);
        assert_close(smurf_dist_density(dist, x), slope, tolerance * (slope + 1), "density", x);
    }
}

/* Mean, spread and CRPS against those of many quantiles, finer spaced where the tail is. */
static inline void check_integrals(const struct dist *dist, double tolerance)
{
    enum { N = 100000 };
    double *q = malloc(N * sizeof *q), *weight = malloc(N * sizeof *weight), sum = 0, spread = 0;
    for (size_t i = 0; i < N; i++) {
        double left = pow(1 - (double)i / N, 4), right = pow(1 - (double)(i + 1) / N, 4);
        weight[i] = left - right;
        q[i] = 1 - 0.5 * (left + right);
    }
    double *level = malloc(N * sizeof *level);
    memcpy(level, q, N * sizeof *level);
    smurf_dist_draw(dist, q, q, N);
    for (size_t i = 0; i < N; i++) {
        if (level[i] > 1 - 1e-15 && isinf(q[i])) q[i] = q[i - 1]; /* rounded to 1 */
        sum += weight[i] * q[i];
        spread += weight[i] * q[i] * (2 * level[i] - 1);
    }
    assert_true(isfinite(sum));
    assert_close(smurf_dist_mean(dist), sum, tolerance * sum, dist->class->name, -1);
    assert_close(smurf_dist_spread(dist), spread, tolerance * sum, dist->class->name, -2);
    for (double at = 0.001; at < 1; at += 0.0997) {
        double gap = smurf_dist_quantile(dist, at), miss = 0;
        for (size_t i = 0; i < N; i++) miss += weight[i] * fabs(q[i] - gap);
        assert_close(smurf_dist_crps(dist, gap), miss - spread, tolerance * sum, "crps", gap);
    }
    free(q);
    free(weight);
    free(level);
}

#endif
