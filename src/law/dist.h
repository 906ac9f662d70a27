/*
 * dist.h - the distribution of the next gap: what users ask a law for.
 *
 * A distribution answers on one axis, and is made of others by wrapping: an integrated law (exact.h) is a distribution
 * on the law's axis; Tweedie's map, the time scale, recalibration and silence take a distribution and give one
 * (wrap.h). The outermost is in the user's unit of time. Every answer here comes from its three functions alone, so
 * that all of them agree:
 *
 *     cdf       F(x) = P(gap <= x), non-decreasing, 0 left of all mass, 1 at infinity
 *     density   its derivative, finite
 *     quantile  the least x with F(x) >= p: F(quantile(p)) = p wherever F is continuous and increasing
 *
 * `struct dist` is small and owns nothing: what `self` points to must outlive it. All functions may run on many
 * threads.
 */
#ifndef SMURF_LAW_DIST_H
#define SMURF_LAW_DIST_H

#include "smurf_lab.h"

/* in and out (n) may be the same array. NaN gives NaN. Sorted input is the fast case. */
typedef void dist_function(const void *self, const double *in, double *out, size_t n);

enum { DIST_KNOTS_MOST = 4096 };

struct dist_class {
    const char *name;
    dist_function *cdf;
    dist_function *density;
    dist_function *quantile; /* of levels in [0, 1]; may be infinite at 1 */
    /* Points, increasing, between which the CDF is smooth enough for a few Gauss nodes; outside of them there is less
       than 1e-12 of mass on either side. Writes at most DIST_KNOTS_MOST and returns how many, 2 at least. */
    size_t (*knots)(const void *self, double *out);
    /* Where there are better ways than quadrature; else NULL. */
    double (*mean)(const void *self);
    double (*crps)(const void *self, double gap);
};

struct dist {
    const struct dist_class *class;
    const void *self;
};

double smurf_dist_cdf(const struct dist *dist, double x);
double smurf_dist_density(const struct dist *dist, double x);
double smurf_dist_quantile(const struct dist *dist, double level);
/* E gap = integral of 1 - F over x > 0, less that of F over x < 0. */
double smurf_dist_mean(const struct dist *dist);
/* integral of (F(x) - 1[x >= gap])^2 dx: 0 is best; in the unit of the axis. */
double smurf_dist_crps(const struct dist *dist, double gap);
/* E |X - X'| / 2: the CRPS that the distribution expects of itself; small where it is sharp. */
double smurf_dist_spread(const struct dist *dist);
/* The probability integral transform of an observed gap. A clock that ticks saw it within half a tick: then the level
   is F(gap - tick/2) + v (F(gap + tick/2) - F(gap - tick/2)), with 0 <= v <= 1 drawn by the caller; a tie lies in [0,
   tick/2]. tick 0: F(gap), and v spreads an atom likewise. */
double smurf_dist_pit(const struct dist *dist, double gap, double tick, double v);
/* n draws: quantiles of the levels u (n) in (0, 1), which may be the same array. */
void smurf_dist_draw(const struct dist *dist, const double *u, double *out, size_t n);

#endif
