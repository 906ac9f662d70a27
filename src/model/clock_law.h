/*
 * clock_law.h - the law of an event of a model with a clock: that of gap_law.h times the factor of clock.h.
 *
 *     lambda = lambda0 e^beta     lambda' = (lambda0' + lambda0 beta') e^beta     psi = psi0 + lambda0 + beta' - lambda
 */
#ifndef SMURF_MODEL_CLOCK_LAW_H
#define SMURF_MODEL_CLOCK_LAW_H

#include "model/gap_law.h"

enum { CLOCK_PIECES = 48, CLOCK_PIECE_NODES = 10 };

struct clock_law {
    struct gap_law plain; /* without the clock; first, so that types find it */
    const struct clock *clock;
    double weight[CLOCK_MOST]; /* of the event, turned */
    double until, shift;
    double mean; /* ln of the mean of e^b over the week after the cut */
    /* u as polynomials of degree CLOCK_PIECE_NODES - 1 on equal pieces of the support; none if it is too long. */
    size_t pieces;
    double low, width, polynomial[CLOCK_PIECES][CLOCK_PIECE_NODES];
};

/* Completes a law whose plain part is there. c: its coefficients of clock.h. */
struct law smurf_clock_law(struct clock_law *law, const struct model *model, const float *c, double low, double high);

#endif
