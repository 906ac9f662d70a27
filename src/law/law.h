/*
 * law.h - the interface of a law of the next gap.
 *
 * Given the history, a law is a function of one number, the gap tau since the last event. Models produce laws and
 * consumers use them; neither knows the other. A law is evaluated on arrays of gaps, from a few cached coefficients
 * behind `self`.
 *
 *     intensity    lambda(tau)           all types together
 *     slope        lambda'(tau)
 *     compensator  Lambda(tau) = integral of lambda from lo to tau
 *     cdf          F(tau) = 1 - exp(-Lambda(tau))
 *     score        psi(tau) = d/dtau ln p(tau) = lambda'/lambda - lambda
 *     types        lambda_k(tau), (n x types) row by row; laws known by their score alone: shares of the types
 *
 * `struct law` is small, is passed by pointer and owns nothing: what `self` points to must outlive it.
 */
#ifndef SMURF_LAW_LAW_H
#define SMURF_LAW_LAW_H

#include "smurf_lab.h"

typedef void law_function(const void *self, const double *gap, double *out, size_t n);

/* The functions of a kind of law. intensity is required, except for laws known by their score alone, which have score
   and log_density. If slope or score is NULL, it is derived from the other. NULL types mean a single type. Without a
   compensator, functions that need one must not be called (exact.h integrates the intensity). All arrays have n
   elements; gap and out may be the same array except for `types`. Gaps lie in [lo, hi] or are NaN; only the compensator
   must map NaN to NaN itself. */
struct law_class {
    const char *name;
    law_function *intensity;
    law_function *slope;
    law_function *compensator;
    law_function *score;
    law_function *types;
    law_function *log_density; /* ln p up to a constant; NULL if there is an intensity */
    /* Where a panel of quadrature that begins at x must end, above x; NULL: the law is smooth on its axis. */
    double (*edge)(const void *self, double x);
};

struct law {
    const struct law_class *class;
    const void *self;
    uint32_t types;
    double lo, hi; /* support on the law's own axis; hi may be infinite */
};

/* Evaluate a law at any gaps. No event occurs outside [lo, hi]: intensity, slope and types are 0 there, the
   compensator and the CDF keep the value of the nearer end, the score is NaN. NaN gives NaN. gap and out may be the
   same array, except for types. */
void smurf_law_eval_intensity(const struct law *law, const double *gap, double *out, size_t n);
void smurf_law_eval_slope(const struct law *law, const double *gap, double *out, size_t n);
void smurf_law_eval_compensator(const struct law *law, const double *gap, double *out, size_t n);
void smurf_law_eval_cdf(const struct law *law, const double *gap, double *out, size_t n);
void smurf_law_eval_score(const struct law *law, const double *gap, double *out, size_t n);
void smurf_law_eval_types(const struct law *law, const double *gap, double *out, size_t n);

/* The public handle: a law that owns its state and can be advanced by the event that ends its gap. */
struct smurf_law {
    struct law law;
    void *state; /* what law.self points to */
    /* gap is finite and non-negative, type is less than law.types. */
    void (*advance)(void *state, double gap, uint32_t type);
    void (*destroy)(void *state);
};

#endif
