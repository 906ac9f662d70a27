/*
 * silence.c - the law of a gap known to be longer than e.
 *
 *     F(x | x > e) = (F(x) - F(e)) / (1 - F(e))
 *
 * Where F has almost no mass left, it carries no information: the gap is then e + Exp(mean e).
 */
#include "law/wrap.h"

#include <math.h>

/* With less remaining mass than this, F loses precision. */
static const double least_mass = 1e-9;
/* Between knots of the exponential, in means: 37 means leave 1e-16. */
static const double tail_step = 2;
enum { TAIL_KNOTS = 19 };

static int is_spent(const struct silent *s)
{
    return !(1 - s->level > least_mass);
}

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct silent *s = self;
    if (is_spent(s)) {
        for (size_t i = 0; i < n; i++) out[i] = in[i] <= s->since ? 0 : -expm1(1 - in[i] / s->since);
        return;
    }
    /* in and out may be the same array, so gaps within the silence are recognised by their level */
    s->inner.class->cdf(s->inner.self, in, out, n);
    for (size_t i = 0; i < n; i++) out[i] = out[i] < s->level ? 0 : (out[i] - s->level) / (1 - s->level);
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct silent *s = self;
    for (size_t i = 0; i < n; i++) {
        double x = in[i];
        if (!(x >= s->since))
            out[i] = isnan(x) ? NAN : 0;
        else if (is_spent(s))
            out[i] = exp(1 - x / s->since) / s->since;
        else
            out[i] = smurf_dist_density(&s->inner, x) / (1 - s->level);
    }
}

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct silent *s = self;
    if (is_spent(s)) {
        for (size_t i = 0; i < n; i++) out[i] = in[i] >= 0 ? s->since * (1 - log1p(-in[i])) : NAN;
        return;
    }
    for (size_t i = 0; i < n; i++) out[i] = in[i] >= 0 && in[i] <= 1 ? s->level + in[i] * (1 - s->level) : NAN;
    s->inner.class->quantile(s->inner.self, out, out, n);
    for (size_t i = 0; i < n; i++)
        if (out[i] < s->since) out[i] = s->since;
}

static size_t knots(const void *self, double *out)
{
    const struct silent *s = self;
    if (is_spent(s)) {
        for (int i = 0; i <= TAIL_KNOTS; i++) out[i] = s->since * (1 + tail_step * i);
        return TAIL_KNOTS + 1;
    }
    double own[DIST_KNOTS_MOST];
    size_t n = s->inner.class->knots(s->inner.self, own), made = 0;
    out[made++] = s->since;
    for (size_t i = 0; i < n; i++)
        if (own[i] > s->since && made < DIST_KNOTS_MOST) out[made++] = own[i];
    if (made == 1) out[made++] = s->since + fmax(fabs(s->since), 1); /* unreachable: no mass is left beyond all knots */
    return made;
}

/* Without a mean of its own, that of dist.c. */
static const struct dist_class finite_class = {
    .name = "silent", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots};

/* Infinite where the whole gap's is: what never arrives does not arrive after a silence either. */
static double mean(const void *self)
{
    const struct silent *s = self;
    const struct dist own = {&finite_class, s};
    if (!is_spent(s) && s->inner.class->mean && s->inner.class->mean(s->inner.self) == INFINITY) return INFINITY;
    return smurf_dist_mean(&own);
}

static const struct dist_class silent_class = {
    .name = "silent", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots, .mean = mean};

struct dist smurf_silent(struct silent *out, struct dist inner, double since)
{
    if (!(since > 0)) return inner;
    *out = (struct silent){inner, since, smurf_dist_cdf(&inner, since)};
    return (struct dist){&silent_class, out};
}
