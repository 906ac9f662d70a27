/*
 * exact.c - an integrated law: the table and its distribution.
 *
 * Between nodes, in t = (x - x0) / d,
 *
 *     F = f0 + t (d s0 + t (3 D - 2 d s0 - d s1 + t (d s0 + d s1 - 2 D))),   D = f1 - f0
 *
 * which is monotone if the slopes s0, s1 lie in [0, 3 D / d] (Fritsch and Carlson). exact_integrate.c and
 * exact_bisect.c fill the table.
 */
#include "law/exact.h"

#include "base/error.h"
#include "law/exact_table.h"
#include "law/sampler.h"

#include <math.h>
#include <stdlib.h>

smurf_status smurf_exact_init(struct exact *exact, smurf_error *err)
{
    *exact = (struct exact){0};
    exact->x = malloc(3 * EXACT_NODES_MOST * sizeof *exact->x);
    exact->knot = malloc(EXACT_NODES_MOST * sizeof *exact->knot);
    exact->work = malloc(sizeof *exact->work);
    if (!exact->x || !exact->knot || !exact->work) {
        smurf_exact_release(exact);
        return smurf_fail(err, SMURF_ERROR_MEMORY, "out of memory for the table of a law");
    }
    exact->f = exact->x + EXACT_NODES_MOST;
    exact->slope = exact->f + EXACT_NODES_MOST;
    smurf_panel_rules(&exact->work->rules);
    return SMURF_OK;
}

void smurf_exact_release(struct exact *exact)
{
    free(exact->x);
    free(exact->knot);
    free(exact->work);
    *exact = (struct exact){0};
}

/* ---- The table -------------------------------------------------------------------------------------- */

void smurf_exact_start(struct exact *exact)
{
    exact->n = exact->knots = exact->evaluations = 0;
    exact->rest = exact->hazard = 0;
    exact->psi = NULL;
}

void smurf_exact_add(struct exact *exact, double x, double f, double slope, bool knot)
{
    if (exact->n == EXACT_NODES_MOST) {
        exact->n--;
        if (exact->knots > 0 && exact->knot[exact->knots - 1] == exact->n) exact->knots--;
    }
    exact->x[exact->n] = x;
    exact->f[exact->n] = f;
    exact->slope[exact->n] = slope;
    if (knot) exact->knot[exact->knots++] = exact->n;
    exact->n++;
}

/* Clamps every slope to between 0 and three times the adjacent secants. */
static void limit_slopes(struct exact *exact)
{
    double before = INFINITY;
    for (size_t i = 0; i < exact->n; i++) {
        double after = INFINITY;
        if (i + 1 < exact->n) after = 3 * (exact->f[i + 1] - exact->f[i]) / (exact->x[i + 1] - exact->x[i]);
        double most = fmin(before, after), slope = exact->slope[i];
        exact->slope[i] = slope > 0 ? fmin(slope, most) : 0;
        before = after;
    }
}

void smurf_exact_finish(struct exact *exact)
{
    double most = 0;
    for (size_t i = 0; i < exact->n; i++) {
        if (exact->f[i] > most) most = fmin(exact->f[i], 1);
        exact->f[i] = most;
    }
    limit_slopes(exact);
}

static void uniform(struct exact *exact, const struct law *law, double mass)
{
    double slope = mass / (law->hi - law->lo);
    exact->n = exact->knots = 0;
    smurf_exact_add(exact, law->lo, 0, slope, true);
    smurf_exact_add(exact, law->hi, mass, slope, true);
}

void smurf_exact_build(struct exact *exact, const struct law *law, enum exact_mass mass)
{
    struct law cut = *law;
    if (!isfinite(cut.lo)) cut.lo = isfinite(cut.hi) ? cut.hi - 1 : 0;
    if (!isfinite(cut.hi) || !(cut.hi > cut.lo)) cut.hi = cut.lo + fmax(1, fabs(cut.lo));
    smurf_exact_start(exact);
    if (cut.class->compensator)
        smurf_exact_bisect(exact, &cut, mass);
    else
        smurf_exact_integrate(exact, &cut, mass);
    bool whole = mass == EXACT_ONE || !cut.class->intensity;
    if (exact->n == 0) uniform(exact, &cut, whole ? 1 : 0);
    smurf_exact_finish(exact);
    if (!whole) return;
    exact->rest = exact->hazard = 0;
    exact->f[exact->n - 1] = 1;
}

/* ---- The distribution ------------------------------------------------------------------------------- */

/* The cell i of sorted v (n) that contains the key: v[i] <= key < v[i+1], or with `upper` v[i] < key <= v[i+1].
   The hint is the cell of the previous key. v[0] <= key <= v[n-1]. */
static size_t locate(const double *v, size_t n, double key, bool upper, size_t hint)
{
    size_t low = 0, high = n - 1;
    if (upper ? v[hint] < key : v[hint] <= key) {
        low = hint;
        for (size_t step = 1; low + step < high; step *= 2) {
            if (upper ? v[low + step] < key : v[low + step] <= key) {
                low += step;
            } else {
                high = low + step;
                break;
            }
        }
    } else {
        high = hint;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (upper ? v[middle] < key : v[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct cubic {
    double a, b, c; /* F - f0 = t (a + t (b + t c)) */
};

static struct cubic cubic(const struct exact *e, size_t i)
{
    double d = e->x[i + 1] - e->x[i], mass = e->f[i + 1] - e->f[i], s0 = d * e->slope[i], s1 = d * e->slope[i + 1];
    return (struct cubic){s0, 3 * mass - 2 * s0 - s1, s0 + s1 - 2 * mass};
}

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct exact *e = self;
    size_t cell = 0, last = e->n - 1;
    for (size_t i = 0; i < n; i++) {
        double x = in[i];
        if (!(x > e->x[0])) {
            out[i] = isnan(x) ? NAN : x == e->x[0] ? e->f[0] : 0;
        } else if (x >= e->x[last]) {
            out[i] = e->f[last];
        } else {
            cell = locate(e->x, e->n, x, false, cell);
            struct cubic p = cubic(e, cell);
            double t = (x - e->x[cell]) / (e->x[cell + 1] - e->x[cell]);
            double f = e->f[cell] + t * (p.a + t * (p.b + t * p.c));
            out[i] = fmin(fmax(f, e->f[cell]), e->f[cell + 1]);
        }
    }
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct exact *e = self;
    size_t cell = 0, last = e->n - 1;
    for (size_t i = 0; i < n; i++) {
        double x = in[i];
        if (!(x >= e->x[0] && x <= e->x[last])) {
            out[i] = isnan(x) ? NAN : 0;
        } else if (x == e->x[last]) {
            out[i] = e->slope[last];
        } else {
            cell = locate(e->x, e->n, x, false, cell);
            struct cubic p = cubic(e, cell);
            double d = e->x[cell + 1] - e->x[cell], t = (x - e->x[cell]) / d;
            out[i] = fmax((p.a + t * (2 * p.b + 3 * t * p.c)) / d, 0);
        }
    }
}

/* Solves t (a + t (b + t c)) = mass for t in [0, 1], by bracketed Newton iteration. */
static double solve(struct cubic p, double mass, double t)
{
    double low = 0, high = 1;
    for (int step = 0; step < 100; step++) {
        double miss = t * (p.a + t * (p.b + t * p.c)) - mass;
        if (miss > 0)
            high = t;
        else
            low = t;
        double next = t - miss / (p.a + t * (2 * p.b + 3 * t * p.c));
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        if (fabs(next - t) <= 1e-15 * next) return next;
        t = next;
    }
    return t;
}

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct exact *e = self;
    size_t cell = 0, last = e->n - 1;
    for (size_t i = 0; i < n; i++) {
        double level = in[i];
        if (!(level > e->f[0])) {
            out[i] = level >= 0 ? e->x[0] : NAN;
        } else if (level > e->f[last]) {
            out[i] = level <= 1 ? INFINITY : NAN;
        } else {
            cell = locate(e->f, e->n, level, true, cell);
            double mass = level - e->f[cell], all = e->f[cell + 1] - e->f[cell], d = e->x[cell + 1] - e->x[cell];
            out[i] = fmin(e->x[cell] + d * solve(cubic(e, cell), mass, mass / all), e->x[cell + 1]);
        }
    }
}

static size_t knots(const void *self, double *out)
{
    const struct exact *e = self;
    for (size_t i = 0; i < e->knots; i++) out[i] = e->x[e->knot[i]];
    return e->knots;
}

static const struct dist_class exact_class = {
    .name = "exact", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots};

struct dist smurf_exact_dist(const struct exact *exact)
{
    return (struct dist){&exact_class, exact};
}

const struct sampler_class smurf_sampler_exact = {"exact", "by inverting the integrated law", NULL, NULL};
