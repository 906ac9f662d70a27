/*
 * wrap.h - distributions made of distributions: Tweedie's map, the time scale, recalibration, silence.
 *
 * Each is a small struct that the caller keeps, set up by a function that gives the wrapped distribution. The order is
 *
 *     exact  ->  tweedie  ->  scaled  ->  recalibrated  ->  silent
 *
 * where any but `scaled` may be missing.
 */
#ifndef SMURF_LAW_WRAP_H
#define SMURF_LAW_WRAP_H

#include "law/exact.h"

/* ---- tweedie.c: a law of gaps with noise becomes one of gaps without --------------------------- */

/* On quantiles: q0 = q + 1/2 sigma^2 psi(q), multiplicative noise q0 = q exp(1/2 sigma^2 (q psi(q) + 1)); made monotone
   by pooling neighbours. Moves the nodes of the table, once; psi is that of the law the table was made of, which is
   evaluated only where the table does not know it (it was made from a compensator). */
void smurf_tweedie_apply(struct exact *exact, const struct law *law, double sigma, int multiplicative);

/* ---- scaled.c: from the law's axis to the user's unit ------------------------------------------- */

struct scaled {
    struct dist inner;
    const smurf_scale *scale;
    double hi;             /* where the table ends, on the law's axis */
    double end, end_level; /* the gap at which it ends, and F there */
    double rest;           /* 1 - F there */
    double rate;           /* of the exponential tail beyond; 0: there is none */
};
/* F(gap) = inner(scale(gap)). Nothing comes before 0: mass left of it is an atom at 0. Beyond the end of the table the
   survival falls exponentially, at the hazard of the end but never slower than once in as long again (1/end): so means
   and CRPS are finite. */
struct dist smurf_scaled(struct scaled *out, const struct exact *exact, const smurf_scale *scale);

/* ---- recalibrate.c: a map of levels ------------------------------------------------------------- */

enum { RECALIBRATION_KNOTS = 33 };

/* R: [0, 1] -> [0, 1], increasing, with a continuous derivative: a monotone cubic through (k / (KNOTS-1), level[k]),
   level[0] = 0, level[KNOTS-1] = 1, the derivative at the knots in slope. The recalibrated law is R(F(x)). */
struct recalibration {
    double level[RECALIBRATION_KNOTS];
    double slope[RECALIBRATION_KNOTS];
};
void smurf_recalibration_identity(struct recalibration *map);
/* The map that makes levels (n values of the PIT in [0, 1], any order; weight each 1) uniform: their smoothed
   distribution function, shrunk towards the identity where n is small. The array is sorted. */
void smurf_recalibration_fit(struct recalibration *map, double *pit, size_t n);
/* From levels at the knots, as a checkpoint keeps them; 0 where they are no map (not increasing, ends wrong, not
 * finite). */
int smurf_recalibration_set(struct recalibration *map, const double level[RECALIBRATION_KNOTS]);
double smurf_recalibration_map(const struct recalibration *map, double level);
double smurf_recalibration_slope(const struct recalibration *map, double level);
double smurf_recalibration_inverse(const struct recalibration *map, double level);

struct recalibrated {
    struct dist inner;
    const struct recalibration *map;
};
struct dist smurf_recalibrated(struct recalibrated *out, struct dist inner, const struct recalibration *map);

/* ---- silence.c: nothing has come for a time ------------------------------------------------------ */

struct silent {
    struct dist inner;
    double since; /* the time that has passed */
    double level; /* F(since) */
};
/* F(x | x > e) = (F(x) - F(e)) / (1 - F(e)), of the whole gap since the last event. Where no mass is left (the silence
   is longer than anything the law knows) the gap is exponential from e on, with mean e. No silence (since <= 0) changes
   nothing: the law is `inner`. */
struct dist smurf_silent(struct silent *out, struct dist inner, double since);

/* ---- empirical.c: draws as a distribution --------------------------------------------------------- */

/* The steps 1/n at sorted draws; quantiles interpolate linearly between order statistics at (i / (n-1)), as the paper's
   program does, and the CDF is the inverse of that. CRPS by the paper's sample formula:
   mean |x - gap| - 1/(2 n^2) sum |x - x'|, in O(n) once sorted. At least one draw. */
struct empirical {
    const double *x; /* (n), sorted, kept by the caller */
    size_t n;
};
struct dist smurf_empirical(struct empirical *out, const double *sorted, size_t n);

#endif
