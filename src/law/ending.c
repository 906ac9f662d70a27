/*
 * ending.c - the law of a gap that may never end: with probability pi no further event comes.
 *
 *     S(x) = pi + (1 - pi) S0(x)      F(x) = (1 - pi) F0(x)
 *
 * So F is 1 - pi at infinity, and quantiles of levels above that are infinite. Silence raises pi by itself: given no
 * event until e, 1 - F(infinity) = pi / (pi + (1 - pi) S0(e)) (silence.c).
 */
#include "law/wrap.h"

#include <math.h>

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct ending *e = self;
    e->inner.class->cdf(e->inner.self, in, out, n);
    for (size_t i = 0; i < n; i++) out[i] *= 1 - e->never;
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct ending *e = self;
    e->inner.class->density(e->inner.self, in, out, n);
    for (size_t i = 0; i < n; i++) out[i] *= 1 - e->never;
}

enum { PIECE = 128 };

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct ending *e = self;
    const double comes = 1 - e->never;
    double level[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        for (size_t i = 0; i < m; i++) level[i] = in[from + i];
        for (size_t i = 0; i < m; i++) out[from + i] = level[i] < comes ? level[i] / comes : level[i] <= 1 ? 1 : NAN;
        e->inner.class->quantile(e->inner.self, out + from, out + from, m);
        for (size_t i = 0; i < m; i++)
            if (level[i] > comes && level[i] <= 1) out[from + i] = INFINITY;
    }
}

static size_t knots(const void *self, double *out)
{
    const struct ending *e = self;
    return e->inner.class->knots(e->inner.self, out);
}

static double mean(const void *self)
{
    (void)self;
    return INFINITY;
}

static double crps(const void *self, double gap)
{
    (void)self;
    return isnan(gap) ? NAN : INFINITY;
}

static const struct dist_class ending_class = {
    .name = "ending", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots, .mean = mean, .crps = crps};

struct dist smurf_may_end(struct ending *out, struct dist inner, double never)
{
    if (!(never > 0)) return inner;
    *out = (struct ending){inner, never};
    return (struct dist){&ending_class, out};
}
