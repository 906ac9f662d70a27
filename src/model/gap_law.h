/*
 * gap_law.h - the law that the gap head gives for one event, as a struct law.
 *
 *     u(y) = w . tanh(a y + b) + c          lambda = softplus(u), or u is the score itself
 *
 * in double from the float coefficients, for arrays of points; the types from the type head (type_head.h):
 * lambda_k = lambda softmax_k(W tanh(a_g y + b_g) + c_g). Defined on the whole axis, also outside [lo, hi].
 */
#ifndef SMURF_MODEL_GAP_LAW_H
#define SMURF_MODEL_GAP_LAW_H

#include "law/law.h"
#include "model/model.h"

/* The coefficients of one event. Memory is the caller's: smurf_gap_law_memory doubles. */
struct gap_law {
    const struct model *model;
    const float *slab;
    size_t width;
    double *two_a, *two_b, *w;    /* (width): 2a, 2b, w */
    double c;                     /* c + sum of w */
    const float *type_a, *type_b; /* (width/2) */
};

size_t smurf_gap_law_memory(const struct model *model);

/* Sets up the law of row i of the coefficients. */
struct law smurf_gap_law(struct gap_law *out, const struct model *model, const float *slab,
                         const struct head_coefficients *c, size_t i, double lo, double hi, double *memory);

/* Probabilities of the types, out (n x types), given that the event comes at y[i]. scratch:
   smurf_gap_law_type_scratch floats for n points. */
size_t smurf_gap_law_type_scratch(const struct model *model, size_t n);
void smurf_gap_law_types(const struct gap_law *law, const double *y, double *out, size_t n, float *scratch);

#endif
