/*
 * dist.h - the distribution of the next gap, as users query it.
 *
 * A distribution lives on one axis. Distributions are built by wrapping: an integrated law (exact.h) is a distribution
 * on the law's axis; Tweedie's map, the time scale, recalibration and silence each turn one distribution into another
 * (wrap.h). The outermost is in the user's unit of time. All queries are computed from three functions, so they agree
 * with each other:
 *
 *     cdf       F(x) = P(gap <= x), non-decreasing, 0 left of all mass, 1 at infinity
 *     density   its derivative, finite
 *     quantile  the least x with F(x) >= p: F(quantile(p)) = p wherever F is continuous and increasing
 *
 * Only in forecasts can F be below 1 at infinity, where no further event may come (ending.c); all else is about gaps that
 * end.
 *
 * `struct dist` is small and owns nothing: what `self` points to must outlive it. All functions are thread-safe.
 */
#ifndef SMURF_LAW_DIST_H
#define SMURF_LAW_DIST_H

#include "smurf_lab.h"

/* in and out (n) may be the same array. NaN gives NaN. Sorted input is fastest. */
typedef void dist_function(const void *self, const double *in, double *out, size_t n);

enum { DIST_KNOTS_MOST = 4096 };

struct dist_class {
    const char *name;
    dist_function *cdf;
    dist_function *density;
    dist_function *quantile; /* of levels in [0, 1]; infinite above F(infinity), and may be at it */
    /* Increasing points between which the CDF is smooth enough for a few Gauss nodes; less than 1e-12 of the mass lies
       beyond either end, but for what never comes. Writes at most DIST_KNOTS_MOST and returns the count, at least 2. */
    size_t (*knots)(const void *self, double *out);
    /* Faster or more precise than quadrature; NULL: use quadrature. */
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
/* E gap = integral of 1 - F over x > 0 minus integral of F over x < 0. */
double smurf_dist_mean(const struct dist *dist);
/* integral of (F(x) - 1[x >= gap])^2 dx: 0 is best; in the unit of the axis. */
double smurf_dist_crps(const struct dist *dist, double gap);
/* E |X - X'| / 2: the distribution's own expected CRPS; small for a sharp distribution. */
double smurf_dist_spread(const struct dist *dist);
/* The probability integral transform of an observed gap. A clock with a tick locates the gap to within half a tick:
   the level is then F(gap - tick/2) + v (F(gap + tick/2) - F(gap - tick/2)), with 0 <= v <= 1 drawn by the caller; a
   tie lies in [0, tick/2]. With tick 0 it is F(gap), and v spreads an atom in the same way. */
double smurf_dist_pit(const struct dist *dist, double gap, double tick, double v);
/* n draws: the quantiles at the levels u (n) in (0, 1). u and out may be the same array. */
void smurf_dist_draw(const struct dist *dist, const double *u, double *out, size_t n);

#endif
