/*
 * ending.h - the probability pi that no further event comes, from the encoder's vector h:
 *
 *     s = w . h + b        pi = 1 / (1 + e^-s)
 *
 * With S0 = e^-Lambda, the survival function of a gap that comes, that of any gap is S = pi + (1 - pi) S0. So the loss
 * gains
 *
 *     an event                    -ln(1 - pi) = softplus(s)
 *     none until c, the gap's end  -ln S(c)    = softplus(s) - ln(e^s + e^-Lambda(c))
 *
 * Likelihoods learn Lambda with pi. Score matching does not know Lambda(c) well enough to learn it from the mixture: S0
 * is held constant there, and normalised to the law's support, as its laws are.
 */
#ifndef SMURF_MODEL_ENDING_H
#define SMURF_MODEL_ENDING_H

#include "model/objective.h"
#include "model/params.h"

/* Short names; see op.h. */
#define ending_forward     OP(ending_forward)
#define ending_backward    OP(ending_backward)
#define ending_event       OP(ending_event)
#define ending_none        OP(ending_none)
#define ending_compensator OP(ending_compensator)
#define ending_normalised  OP(ending_normalised)

/* Offsets in the slab. */
struct ending_params {
    size_t w, b; /* (width), (1) */
};

void smurf_ending_params(size_t width, struct params *params, struct ending_params *out);

/* s (n) of vectors h (n x width). */
void ending_forward(const struct ending_params *at, const real *slab, size_t width, size_t n, const real *h, real *s);
/* From the gradient ds (n): adds to dh (n x width), and to grad. */
void ending_backward(const struct ending_params *at, const real *slab, size_t width, size_t n, const real *h,
                     const real *ds, real *dh, real *grad);

/* The losses above and their derivatives by s, and by Lambda. */
double ending_event(double s, double *by_s);
double ending_none(double s, double compensator, double *by_s, double *by_compensator);

/* -ln S0 at a gap of a law that is normalised to its support, from Lambda there and at its upper end. */
double ending_normalised(double here, double all);

/* The gap head of one event. */
struct ending_head {
    size_t width;
    const real *a, *b, *w; /* (width) */
    real c;
};
/* -ln S0 of a law that is normalised to [low, high]. likelihood: the config of objective mle for these laws; tau, u
   (its points, filled) and z (width x points) are scratch. */
double ending_compensator(const struct objective_config *likelihood, const struct ending_head *head, double high,
                          double gap, real *tau, real *u, real *z);

#endif
