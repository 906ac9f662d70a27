/*
 * recalibrate.c - a map of levels R that makes the observed levels (PIT values) uniform: the law becomes R(F(x)).
 *
 * R is a cubic between knots k/32, with slopes at the knots that are harmonic means of the adjacent secants (Fritsch
 * and Butland): increasing, with a continuous, positive derivative. Its values at the knots are the shares of the PIT
 * values below them, with chance variation removed: the deviations d_k = share_k - k/32 are sums of waves,
 *
 *     d_k = sum_j c_j sin(pi j k / 32),   Var c_j = 1 / (2 32^2 n sin^2(pi j / 64)) =: v_j   under a calibrated law
 *
 * (independent for a Brownian bridge), and each wave is shrunk according to its own significance,
 *
 *     level_k = k/32 + sum_j max(0, 1 - (2 + j/2) v_j / c_j^2) c_j sin(pi j k / 32).
 *
 * Finer waves must be more significant, since wave j appears in the density j times as strongly.
 *
 * A law whose levels look calibrated is left unchanged, one that is far off is corrected in full, and more values make
 * smaller and finer deviations count. The density stays smooth because fine waves are the noisiest.
 */
#include "law/wrap.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS = RECALIBRATION_KNOTS - 1 };

/* Share of the identity kept in every map, so that it can be inverted. */
static const double least_slope = 1e-3;

void smurf_recalibration_identity(struct recalibration *map)
{
    for (size_t k = 0; k <= CELLS; k++) {
        map->level[k] = (double)k / CELLS;
        map->slope[k] = 1;
    }
}

static double secant(const double *level, size_t k)
{
    return (level[k + 1] - level[k]) * CELLS;
}

/* The end slope of the parabola through the last three knots, limited to between half and twice the secant. */
static double end_slope(double beside, double next)
{
    return fmin(fmax(1.5 * beside - 0.5 * next, 0.5 * beside), 2 * beside);
}

int smurf_recalibration_set(struct recalibration *map, const double level[RECALIBRATION_KNOTS])
{
    if (level[0] != 0 || level[CELLS] != 1) return 0;
    for (size_t k = 0; k < CELLS; k++)
        if (!(level[k + 1] > level[k])) return 0; /* also if NaN */
    for (size_t k = 0; k <= CELLS; k++) map->level[k] = level[k];
    map->slope[0] = end_slope(secant(level, 0), secant(level, 1));
    map->slope[CELLS] = end_slope(secant(level, CELLS - 1), secant(level, CELLS - 2));
    for (size_t k = 1; k < CELLS; k++) {
        double left = secant(level, k - 1), right = secant(level, k);
        map->slope[k] = 2 * left * right / (left + right);
    }
    return 1;
}

/* ---- Fitting ----------------------------------------------------------------------------------------- */

/* Increasing, NaN last. */
/* level_k from sorted values; a value on a knot counts half. */
static void shares(double *level, const double *pit, size_t n)
{
    size_t below = 0, upto = 0;
    for (size_t k = 0; k <= CELLS; k++) {
        double at = (double)k / CELLS;
        while (below < n && pit[below] < at) below++;
        while (upto < n && pit[upto] <= at) upto++;
        double share = 0.5 * ((double)below + (double)upto);
        level[k] = n ? share / (double)n : at;
    }
    level[0] = 0;
    level[CELLS] = 1;
}

/* Removes the waves of the deviations from the identity that chance explains. */
static void shrink(double *level, size_t n)
{
    double miss[CELLS + 1], kept[CELLS + 1] = {0};
    for (size_t k = 0; k <= CELLS; k++) miss[k] = level[k] - (double)k / CELLS;
    for (size_t j = 1; j < CELLS; j++) {
        double c = 0, wave = M_PI * (double)j / CELLS, fine = sin(wave / 2);
        for (size_t k = 1; k < CELLS; k++) c += 2.0 / CELLS * miss[k] * sin(wave * (double)k);
        double chance = 1 / (2.0 * CELLS * CELLS * (double)n * fine * fine);
        double least = (2 + 0.5 * (double)j) * chance;
        double keep = c * c > least ? 1 - least / (c * c) : 0;
        for (size_t k = 1; k < CELLS; k++) kept[k] += keep * c * sin(wave * (double)k);
    }
    for (size_t k = 1; k < CELLS; k++) level[k] = (double)k / CELLS + kept[k];
}

/* Makes the map strictly increasing: increments are at least that of least_slope, and still sum to 1. */
static void raise_all(double *level)
{
    double sum = 0, before = 0;
    for (size_t k = 1; k <= CELLS; k++) {
        double rise = level[k] - before;
        before = level[k];
        sum += rise > least_slope / CELLS ? rise : least_slope / CELLS;
        level[k] = sum;
    }
    for (size_t k = 1; k < CELLS; k++) level[k] /= sum;
    level[CELLS] = 1;
}

void smurf_recalibration_fit(struct recalibration *map, double *pit, size_t n)
{
    double level[RECALIBRATION_KNOTS];
    smurf_sort(pit, n);
    while (n > 0 && isnan(pit[n - 1])) n--;
    shares(level, pit, n);
    if (n > 0) shrink(level, n);
    raise_all(level);
    if (!smurf_recalibration_set(map, level)) smurf_recalibration_identity(map);
}

/* ---- The map ----------------------------------------------------------------------------------------- */

/* Within a cell: level0 + t (a + t (b + t c)), t from 0 to 1. */
struct cubic {
    double a, b, c;
};

static struct cubic cubic(const struct recalibration *map, size_t k)
{
    double rise = map->level[k + 1] - map->level[k], s0 = map->slope[k] / CELLS, s1 = map->slope[k + 1] / CELLS;
    return (struct cubic){s0, 3 * rise - 2 * s0 - s1, s0 + s1 - 2 * rise};
}

static size_t cell(double level)
{
    return level < 1 ? (size_t)(level * CELLS) : CELLS - 1;
}

double smurf_recalibration_map(const struct recalibration *map, double level)
{
    if (!(level > 0 && level < 1)) return isnan(level) ? NAN : level > 0;
    size_t k = cell(level);
    struct cubic p = cubic(map, k);
    double t = level * CELLS - (double)k, out = map->level[k] + t * (p.a + t * (p.b + t * p.c));
    return fmin(fmax(out, map->level[k]), map->level[k + 1]);
}

double smurf_recalibration_slope(const struct recalibration *map, double level)
{
    if (isnan(level)) return NAN;
    level = fmin(fmax(level, 0), 1);
    size_t k = cell(level);
    struct cubic p = cubic(map, k);
    double t = level * CELLS - (double)k;
    return (p.a + t * (2 * p.b + 3 * t * p.c)) * CELLS;
}

/* By bracketed Newton iteration. */
double smurf_recalibration_inverse(const struct recalibration *map, double level)
{
    if (!(level > 0 && level < 1)) return isnan(level) ? NAN : level > 0;
    size_t k = 0, past = CELLS;
    while (past - k > 1) {
        size_t middle = (k + past) / 2;
        if (map->level[middle] <= level)
            k = middle;
        else
            past = middle;
    }
    struct cubic p = cubic(map, k);
    double rise = level - map->level[k], low = 0, high = 1, t = rise / (map->level[k + 1] - map->level[k]);
    for (int step = 0; step < 60; step++) {
        double miss = t * (p.a + t * (p.b + t * p.c)) - rise;
        if (miss > 0)
            high = t;
        else
            low = t;
        double next = t - miss / (p.a + t * (2 * p.b + 3 * t * p.c));
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        double step_size = fabs(next - t);
        t = next;
        if (step_size < 1e-15) break;
    }
    return ((double)k + t) / CELLS;
}

/* ---- The distribution -------------------------------------------------------------------------------- */

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct recalibrated *r = self;
    r->inner.class->cdf(r->inner.self, in, out, n);
    for (size_t i = 0; i < n; i++) out[i] = smurf_recalibration_map(r->map, out[i]);
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct recalibrated *r = self;
    for (size_t i = 0; i < n; i++) {
        double x = in[i], f = smurf_dist_cdf(&r->inner, x);
        out[i] = smurf_dist_density(&r->inner, x) * smurf_recalibration_slope(r->map, f);
    }
}

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct recalibrated *r = self;
    for (size_t i = 0; i < n; i++) out[i] = in[i] >= 0 && in[i] <= 1 ? smurf_recalibration_inverse(r->map, in[i]) : NAN;
    r->inner.class->quantile(r->inner.self, out, out, n);
}

/* The knots of the law and those of the map. */
static size_t knots(const void *self, double *out)
{
    const struct recalibrated *r = self;
    double own[DIST_KNOTS_MOST], level[CELLS - 1];
    size_t n = r->inner.class->knots(r->inner.self, own), made = 0, j = 0;
    for (size_t k = 1; k < CELLS; k++) level[k - 1] = (double)k / CELLS;
    r->inner.class->quantile(r->inner.self, level, level, CELLS - 1);
    for (size_t i = 0; i < n; i++) {
        for (; j < CELLS - 1 && level[j] < own[i]; j++)
            if (i > 0 && level[j] > out[made - 1] && made + (n - i) < DIST_KNOTS_MOST) out[made++] = level[j];
        out[made++] = own[i];
    }
    return made;
}

static const struct dist_class recalibrated_class = {
    .name = "recalibrated", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots};

struct dist smurf_recalibrated(struct recalibrated *out, struct dist inner, const struct recalibration *map)
{
    *out = (struct recalibrated){inner, map};
    return (struct dist){&recalibrated_class, out};
}
