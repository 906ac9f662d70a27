/*
 * blend.h - weights of laws of the next type that follow what came: fixed share (Herbster and Warmuth 1998).
 *
 *     P(k) = sum_e w_e P_e(k),    and after type k:    v_e = w_e P_e(k) / P(k),    w_e <- (1 - a) v_e + a / E
 *
 * for E laws, whose weights are equal at first. Whatever comes, the log loss of P over T events, -sum ln P(k), exceeds
 * that of any sequence of these laws that changes S times by at most
 *
 *     ln E + S ln(E / a) - (T - 1 - S) ln(1 - a + a / E)
 *
 * where no P_e(k) is below BLEND_LEAST, which stands in for smaller ones.
 */
#ifndef SMURF_LAW_BLEND_H
#define SMURF_LAW_BLEND_H

#include <stdbool.h>
#include <stdint.h>

enum { BLEND_LAWS = 3 };
#define BLEND_LEAST 1e-6

struct blend {
    double rate;    /* a, at least 0; 0: the first law alone */
    uint64_t there; /* bit e: law e is one of them */
    double weight[BLEND_LAWS];
};

/* there: at least the first. */
void smurf_blend_init(struct blend *blend, double rate, uint64_t there);
/* Takes in the probabilities that the laws gave to the type that came; those of laws that are not there are not read.
   NaN of the first: the type is unknown to it, and nothing changes. */
void smurf_blend_see(struct blend *blend, const double share[BLEND_LAWS]);
/* Sets the weights, as stored; false if they cannot be. */
bool smurf_blend_set(struct blend *blend, const double weight[BLEND_LAWS]);

#endif
