/*
 * wrap.h - distributions built from distributions: Tweedie's map, the time scale, pools, recalibration, the end of a
 * case, silence; and what is shown of them on a clock that ticks.
 *
 * Each is a small struct owned by the caller, set up by a function that returns the wrapped distribution. The order is
 *
 *     exact  ->  tweedie  ->  scaled  ->  pooled  ->  recalibrated  ->  ending  ->  silent
 *
 * where any but `scaled` may be missing.
 */
#ifndef SMURF_LAW_WRAP_H
#define SMURF_LAW_WRAP_H

#include "law/exact.h"

#include <stdbool.h>

/* ---- tweedie.c: from noisy to noise-free gaps --------------------------------------------------- */

/* On quantiles: q0 = q + 1/2 sigma^2 psi(q), multiplicative noise q0 = q exp(1/2 sigma^2 (q psi(q) + 1)); made monotone
   by pooling neighbours. Moves the table's nodes; call it once. psi is that of the law the table was made from, which
   is evaluated only if the table lacks psi (it was made from a compensator). */
void smurf_tweedie_apply(struct exact *exact, const struct law *law, double sigma, int multiplicative);

/* ---- scaled.c: from the law's axis to the user's unit ------------------------------------------- */

/* What a law may claim beyond the longest gap it was trained on. */
struct tail {
    double from;  /* that gap; 0: no bound */
    double share; /* most mass beyond it */
    double mean;  /* mean of what exceeds it */
};

struct scaled {
    struct dist inner;
    const smurf_scale *scale;
    double hi;             /* end of what is used of the table, on the law's axis */
    double end, end_level; /* the gap at that end, and F there */
    double keep;           /* factor of the table's F */
    double rest;           /* 1 - F at the end */
    double rate;           /* of the exponential tail beyond; 0: none */
    double taken;          /* what the bound took from the law's own tail */
};
/* F(gap) = inner(scale(gap)). Mass left of 0 is an atom at 0. Beyond the end of the table the survival function decays
   exponentially, at the hazard of the end but at least at rate 1/end, so means and CRPS are finite.
   tail: the table ends at tail->from, at most tail->share is left there, and the excess is exponential with mean
   tail->mean; what is taken from the law's own tail is spread over the rest of the law. NULL: no bound. */
struct dist smurf_scaled(struct scaled *out, const struct exact *exact, const smurf_scale *scale,
                         const struct tail *tail);

/* ---- pool.c: two distributions in fixed shares --------------------------------------------------- */

struct pooled {
    struct dist a, b;
    double weight;
};
/* F(x) = (1 - weight) a(x) + weight b(x). With weight 0 the result is `a`. */
struct dist smurf_pooled(struct pooled *out, struct dist a, struct dist b, double weight);

/* ---- steps.c: equally likely gaps ------------------------------------------------------------------ */

/* At least the edges of a law of PAST_LAW gaps (naive/past.h). */
enum { STEPS_MOST = 128 };

/* F is linear between (x, f). */
struct steps {
    size_t n;
    double x[STEPS_MOST], f[STEPS_MOST];
};
/* A histogram of n sorted gaps, at least one. tick: of their clock; 0: none. */
struct dist smurf_steps(struct steps *out, const double *sorted, size_t n, double tick);

/* The same, once it is made. */
struct dist smurf_steps_dist(const struct steps *steps);

/* ---- recalibrate.c: a map of levels ------------------------------------------------------------- */

enum { RECALIBRATION_KNOTS = 33 };

/* R: [0, 1] -> [0, 1], increasing, with a continuous derivative: a monotone cubic through (k / (KNOTS-1), level[k]),
   level[0] = 0, level[KNOTS-1] = 1, the derivative at the knots in slope. The recalibrated law is R(F(x)). */
struct recalibration {
    double level[RECALIBRATION_KNOTS];
    double slope[RECALIBRATION_KNOTS];
};
void smurf_recalibration_identity(struct recalibration *map);
/* Fits the map that makes levels (n PIT values in [0, 1], any order, each of weight 1) uniform: their smoothed
   distribution function, shrunk towards the identity if n is small. Sorts the array. */
void smurf_recalibration_fit(struct recalibration *map, double *pit, size_t n);
/* From levels at the knots, as stored in a checkpoint; 0 if they are not a valid map (not increasing, wrong ends, not
   finite). */
int smurf_recalibration_set(struct recalibration *map, const double level[RECALIBRATION_KNOTS]);
double smurf_recalibration_map(const struct recalibration *map, double level);
double smurf_recalibration_slope(const struct recalibration *map, double level);
double smurf_recalibration_inverse(const struct recalibration *map, double level);

struct recalibrated {
    struct dist inner;
    const struct recalibration *map;
};
struct dist smurf_recalibrated(struct recalibrated *out, struct dist inner, const struct recalibration *map);

/* ---- ending.c: a gap that may never end ----------------------------------------------------------- */

struct ending {
    struct dist inner;
    double never; /* pi: the probability that no further event comes */
};
/* F(x) = (1 - pi) F0(x): 1 - pi at infinity; quantiles of higher levels, the mean and the CRPS are infinite. With
   pi = 0 the result is `inner`. */
struct dist smurf_may_end(struct ending *out, struct dist inner, double never);

/* ---- silence.c: no event for some time ----------------------------------------------------------- */

struct silent {
    struct dist inner;
    double since; /* the time elapsed */
    double level; /* F(since) */
};
/* F(x | x > e) = (F(x) - F(e)) / (1 - F(e)), of the whole gap since the last event. If no mass is left (the silence is
   longer than the law supports), the gap is exponential from e on, with mean e. Without silence (since <= 0) the
   result is `inner`. */
struct dist smurf_silent(struct silent *out, struct dist inner, double since);

/* ---- ticks.c: what is shown of a law whose clock ticks ---------------------------------------------- */

/* Ends of a closed interval on ticks: the largest k tick with F((k - 1/2) tick) <= level, and the smallest with
   F((k + 1/2) tick) >= level. tick 0: the quantile. */
double smurf_ticks_low(const struct dist *dist, double tick, double level);
double smurf_ticks_high(const struct dist *dist, double tick, double level);
/* The probability that the rounded gap is at most `gap`. */
double smurf_ticks_cdf(const struct dist *dist, double tick, double gap);
/* The nearest tick; the next one above, or below. */
double smurf_ticks_round(double gap, double tick);
double smurf_ticks_outward(double gap, double tick, bool up);
/* F just below and just above the tick of an observed gap: between them lies its PIT (smurf_dist_pit), and the gap is in
   the closed interval of levels a to b if mass[1] > a and mass[0] < b. */
void smurf_ticks_mass(const struct dist *dist, double gap, double tick, double mass[2]);

/* ---- empirical.c: draws as a distribution --------------------------------------------------------- */

/* Steps of 1/n at sorted draws. Quantiles interpolate linearly between order statistics at (i / (n-1)), as the paper's
   program does, and the CDF is their inverse. CRPS by the paper's sample formula:
   mean |x - gap| - 1/(2 n^2) sum |x - x'|, in O(n) once sorted. At least one draw. */
struct empirical {
    const double *x; /* (n), sorted, owned by the caller */
    size_t n;
};
struct dist smurf_empirical(struct empirical *out, const double *sorted, size_t n);

#endif
