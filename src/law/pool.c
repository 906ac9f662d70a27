/*
 * pool.c - a linear pool of two distributions, F = (1 - w) A + w B.
 *
 * Its quantile lies between those of A and B, and is found there by Newton steps within a bracket.
 */
#include "law/wrap.h"

#include <math.h>

enum { PIECE = 128, STEPS_OF_NEWTON = 200 };

static double mix(const struct pooled *p, double a, double b)
{
    return (1 - p->weight) * a + p->weight * b;
}

/* ---- Values ------------------------------------------------------------------------------------------ */

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct pooled *p = self;
    double other[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        p->b.class->cdf(p->b.self, in + from, other, m);
        p->a.class->cdf(p->a.self, in + from, out + from, m);
        for (size_t i = 0; i < m; i++) out[from + i] = mix(p, out[from + i], other[i]);
    }
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct pooled *p = self;
    for (size_t i = 0; i < n; i++) out[i] = mix(p, smurf_dist_density(&p->a, in[i]), smurf_dist_density(&p->b, in[i]));
}

static double at(const struct pooled *p, double x)
{
    return mix(p, smurf_dist_cdf(&p->a, x), smurf_dist_cdf(&p->b, x));
}

/* Halves on the log scale if the ends are decades apart. */
static double between(double low, double high)
{
    return low > 0 && high > 4 * low ? sqrt(low) * sqrt(high) : low + (high - low) / 2;
}

/* F(low) < level <= F(high). x: where to begin. A step of Newton that is shorter than `close` leaves an error of about
   its square. */
static double invert(const struct pooled *p, double level, double low, double high, double x)
{
    const double close = 1e-8;
    if (!(x > low && x < high)) x = between(low, high);
    for (int step = 0; step < STEPS_OF_NEWTON; step++) {
        double miss = at(p, x) - level;
        if (miss >= 0)
            high = x;
        else
            low = x;
        if (!(high - low > 1e-15 * fabs(high))) break;
        double slope;
        density(p, &x, &slope, 1);
        double next = x - miss / slope;
        bool inside = next > low && next < high, last = inside && fabs(next - x) <= close * fabs(x);
        if (!inside) next = between(low, high);
        if (!(next > low && next < high)) break;
        x = next;
        if (last) break;
    }
    return x;
}

static double one_quantile(const struct pooled *p, double level, double a, double b)
{
    double low = fmin(a, b), high = fmax(a, b);
    if (isnan(a) || isnan(b)) return NAN;
    if (!(low < high) || at(p, low) >= level) return low;
    if (isinf(high)) {
        if (level >= 1) return high;
        for (high = low > 0 ? 2 * low : 1; at(p, high) < level && isfinite(high); high *= 2) low = high;
        if (isinf(high)) return high;
    }
    return invert(p, level, low, high, mix(p, a, b));
}

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct pooled *p = self;
    double a[PIECE], b[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        p->a.class->quantile(p->a.self, in + from, a, m);
        p->b.class->quantile(p->b.self, in + from, b, m);
        for (size_t i = 0; i < m; i++) out[from + i] = one_quantile(p, in[from + i], a[i], b[i]);
    }
}

/* Those of A, and those of B for which there is room. */
static size_t knots(const void *self, double *out)
{
    const struct pooled *p = self;
    double a[DIST_KNOTS_MOST], b[DIST_KNOTS_MOST];
    size_t n = p->a.class->knots(p->a.self, a), m = p->b.class->knots(p->b.self, b), made = 0, j = 0;
    for (size_t i = 0; i < n; i++) {
        for (; j < m && b[j] < a[i]; j++)
            if ((made == 0 || b[j] > out[made - 1]) && made + (n - i) < DIST_KNOTS_MOST) out[made++] = b[j];
        if (made == 0 || a[i] > out[made - 1]) out[made++] = a[i];
    }
    for (; j < m; j++)
        if (b[j] > out[made - 1] && made < DIST_KNOTS_MOST) out[made++] = b[j];
    return made;
}

static double mean(const void *self)
{
    const struct pooled *p = self;
    return mix(p, smurf_dist_mean(&p->a), smurf_dist_mean(&p->b));
}

static const struct dist_class pooled_class = {
    .name = "pooled", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots, .mean = mean};

struct dist smurf_pooled(struct pooled *out, struct dist a, struct dist b, double weight)
{
    if (!(weight > 0)) return a;
    *out = (struct pooled){a, b, weight};
    return (struct dist){&pooled_class, out};
}
