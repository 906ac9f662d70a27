/*
 * empirical.c - sorted draws x_0 .. x_{n-1} as a distribution.
 *
 *     quantile(p)  linear between x_i and x_{i+1}, i = p (n - 1)
 *     F            its inverse; equal draws form an atom
 *     mean         of the draws
 *     CRPS         mean |x - gap| - 1 / (2 n^2) sum |x - x'|,  sum |x - x'| = 2 sum_i (2 i + 1 - n) x_i
 *
 * Mean and CRPS are those of the step function with equal steps at the draws. They differ from those of the linear
 * interpolation by 1/n of the spread.
 */
#include "law/wrap.h"

#include <math.h>

/* The number of draws <= x. */
static size_t count(const struct empirical *e, double x)
{
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->x[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct empirical *e = self;
    for (size_t i = 0; i < n; i++) {
        double x = in[i];
        size_t k = count(e, x);
        if (isnan(x) || k == 0 || k == e->n)
            out[i] = isnan(x) ? NAN : k > 0;
        else
            out[i] = ((double)(k - 1) + (x - e->x[k - 1]) / (e->x[k] - e->x[k - 1])) / (double)(e->n - 1);
    }
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct empirical *e = self;
    for (size_t i = 0; i < n; i++) {
        double x = in[i];
        size_t k = count(e, x);
        if (isnan(x) || k == 0 || k == e->n)
            out[i] = isnan(x) ? NAN : 0;
        else
            out[i] = 1 / ((e->x[k] - e->x[k - 1]) * (double)(e->n - 1));
    }
}

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct empirical *e = self;
    for (size_t i = 0; i < n; i++) {
        double at = in[i] * (double)(e->n - 1);
        if (!(in[i] >= 0 && in[i] <= 1)) {
            out[i] = NAN;
        } else if (at >= (double)(e->n - 1)) {
            out[i] = e->x[e->n - 1];
        } else {
            size_t k = (size_t)at;
            double part = at - (double)k; /* of a step that is there: draws may be infinite */
            out[i] = part > 0 && e->x[k + 1] > e->x[k] ? e->x[k] + (e->x[k + 1] - e->x[k]) * part : e->x[k];
        }
    }
}

/* The distinct draws, or a subset if there are many. */
static size_t knots(const void *self, double *out)
{
    const struct empirical *e = self;
    size_t every = e->n / (DIST_KNOTS_MOST - 2) + 1, made = 0;
    for (size_t i = 0; i < e->n; i += every)
        if (made == 0 || e->x[i] > out[made - 1]) out[made++] = e->x[i];
    if (e->x[e->n - 1] > out[made - 1]) out[made++] = e->x[e->n - 1];
    if (made == 1) out[made++] = nextafter(e->x[0], INFINITY);
    return made;
}

static double mean(const void *self)
{
    const struct empirical *e = self;
    double sum = 0;
    for (size_t i = 0; i < e->n; i++) sum += e->x[i];
    return sum / (double)e->n;
}

static double crps(const void *self, double gap)
{
    const struct empirical *e = self;
    double n = (double)e->n, miss = 0, pairs = 0;
    if (isinf(e->x[e->n - 1])) return INFINITY;
    for (size_t i = 0; i < e->n; i++) {
        miss += fabs(e->x[i] - gap);
        pairs += (2 * (double)i + 1 - n) * e->x[i];
    }
    return miss / n - pairs / (n * n);
}

static const struct dist_class empirical_class = {.name = "empirical",
                                                  .cdf = cdf,
                                                  .density = density,
                                                  .quantile = quantile,
                                                  .knots = knots,
                                                  .mean = mean,
                                                  .crps = crps};

struct dist smurf_empirical(struct empirical *out, const double *sorted, size_t n)
{
    *out = (struct empirical){sorted, n};
    return (struct dist){&empirical_class, out};
}
