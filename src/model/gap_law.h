/*
 * gap_law.h - the law given by the gap head for one event, as a struct law.
 *
 *     u(y) = w . tanh(a y + b) + c          lambda = softplus(u), or u is the score itself
 *
 * computed in double from the float coefficients, for arrays of points. Types come from the type head (type_head.h):
 * lambda_k = lambda softmax_k(W tanh(a_g y + b_g) + c_g + repeat_k), the last as in repeat.h. Defined on the whole
 * axis, even outside [lo, hi].
 */
#ifndef SMURF_MODEL_GAP_LAW_H
#define SMURF_MODEL_GAP_LAW_H

#include "law/law.h"
#include "model/model.h"

/* State of the law of one event, at the start of its memory. */
struct gap_law {
    const struct model *model;
    const float *slab;
    size_t width;
    double *two_a, *two_b, *w;    /* (width): 2a, 2b, w */
    double c;                     /* c + sum of w */
    const float *type_a, *type_b; /* (width/2) */
    const float *repeat;          /* coefficients of repeat.h */
    float *scratch;               /* for types at TYPE_POINTS points */
};

/* The functions of an intensity, whose self is a struct gap_law; and u alone. */
extern const struct law_class smurf_gap_law_class;
void smurf_gap_law_heights(const struct gap_law *law, const double *y, double *u, size_t n);

/* As in struct model_class. With a clock, it is that of clock_law.h. */
size_t smurf_gap_law_memory(const struct model *model);
struct law smurf_gap_law(const struct model *model, const float *slab, const float *c, double low, double high,
                         void *memory);
/* Types from the type head. */
void smurf_gap_law_types(const struct law *law, const double *y, double *out, size_t n);

#endif
