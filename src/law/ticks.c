/*
 * ticks.c - what users see of a law whose clock ticks: gaps are whole ticks, and intervals are closed at both ends.
 *
 * With a tick d, the rounded gap is k d with probability F((k + 1/2) d) - F((k - 1/2) d), and 0 with probability
 * F(d / 2). So
 *
 *     low end    the largest k d with F((k - 1/2) d) <= alpha
 *     high end   the smallest k d with F((k + 1/2) d) >= 1 - alpha
 *     P(gap <= x) = F((floor(x / d) + 1/2) d)
 *
 * The low end is 0 where a tie is likelier than alpha. Without a tick these are quantiles and F itself.
 */
#include "law/wrap.h"

#include <math.h>

/* Ticks beyond this number are not told apart by doubles. */
static const double ticks_most = 0x1p50;

/* F((k + 1/2) tick), for k of -1 and above; no gap is below 0. */
static double upto(const struct dist *dist, double k, double tick)
{
    return k < 0 ? 0 : smurf_dist_cdf(dist, (k + 0.5) * tick);
}

/* Whether `level` is reached at k: by more than it for the low end, at least for the high one. */
static bool reached(const struct dist *dist, double k, double tick, double level, bool above)
{
    double f = upto(dist, k, tick);
    return above ? f > level : f >= level;
}

/* The smallest k >= 0 at which `level` is reached: found from `guess` by steps that double, then by halving. INFINITY
   if there is none. */
static double first_reached(const struct dist *dist, double guess, double tick, double level, bool above)
{
    double low = guess, high = guess;
    if (reached(dist, guess, tick, level, above)) {
        for (double step = 1; low >= 0 && reached(dist, low, tick, level, above); step *= 2) {
            high = low;
            low = fmax(low - step, -1);
        }
    } else {
        for (double step = 1; !reached(dist, high, tick, level, above); step *= 2) {
            if (!(high < ticks_most)) return INFINITY;
            low = high;
            high += step;
        }
    }
    while (high - low > 1) {
        double middle = floor(0.5 * (low + high));
        if (reached(dist, middle, tick, level, above))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Whether gaps around x are told apart by ticks. */
static bool ticks_matter(double x, double tick)
{
    return tick > 0 && isfinite(x) && fabs(x) < ticks_most / 2 * tick;
}

/* The largest k with F((k - 1/2) d) <= alpha is the smallest with F((k + 1/2) d) > alpha. */
static double end_of(const struct dist *dist, double tick, double level, bool above)
{
    double x = smurf_dist_quantile(dist, level);
    if (!ticks_matter(x, tick)) return x;
    double k = first_reached(dist, fmax(rint(x / tick), 0), tick, level, above);
    return isfinite(k) ? k * tick : x;
}

double smurf_ticks_low(const struct dist *dist, double tick, double level)
{
    return end_of(dist, tick, level, true);
}

double smurf_ticks_high(const struct dist *dist, double tick, double level)
{
    return end_of(dist, tick, level, false);
}

double smurf_ticks_round(double gap, double tick)
{
    return ticks_matter(gap, tick) ? rint(gap / tick) * tick : gap;
}

double smurf_ticks_outward(double gap, double tick, bool up)
{
    if (!ticks_matter(gap, tick)) return gap;
    return (up ? ceil(gap / tick) : floor(gap / tick)) * tick;
}

double smurf_ticks_cdf(const struct dist *dist, double tick, double gap)
{
    /* a gap on a tick, but for rounding, belongs to it */
    const double slack = 1e-9;
    if (!ticks_matter(gap, tick) || gap < 0) return smurf_dist_cdf(dist, gap);
    return upto(dist, floor(gap / tick + slack), tick);
}

/* P(X < x): excludes an atom at x. */
static double cdf_before(const struct dist *dist, double x)
{
    return smurf_dist_cdf(dist, nextafter(x, -INFINITY));
}

void smurf_ticks_mass(const struct dist *dist, double gap, double tick, double mass[2])
{
    double half = tick > 0 ? 0.5 * tick : 0, from = gap - half;
    mass[0] = half > 0 && from > 0 ? smurf_dist_cdf(dist, from) : cdf_before(dist, half > 0 ? fmin(gap, 0) : gap);
    mass[1] = smurf_dist_cdf(dist, gap + half);
}
