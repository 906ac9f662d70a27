/*
 * head.h - coefficients of the laws from the encoder's vectors: a, b of the gap head and of the type head.
 *
 *     a = tanh(h Wa^T + ca)    b = h Wb^T + cb          each (n x width) for gaps, (n x width/2) for types
 */
#ifndef SMURF_MODEL_HEAD_H
#define SMURF_MODEL_HEAD_H

#include "model/params.h"
#include "op/op.h"

/* Short names; see op.h. */
#define head_forward  OP(head_forward)
#define head_backward OP(head_backward)
#define head_gradient OP(head_gradient)

/* Meaning of u(tau) of the gap head. */
enum parametrisation { PARAM_INTENSITY, PARAM_SCORE };

/* Offsets in the slab. */
struct head_params {
    size_t a, a_bias, b, b_bias;                     /* (width x width), (width) */
    size_t w, c;                                     /* (width), (1) */
    size_t type_a, type_a_bias, type_b, type_b_bias; /* (type_width x width), (type_width) */
    size_t type_w, type_c;                           /* (types x type_width), (types) */
};

void smurf_head_params(size_t types, size_t width, struct params *params, struct head_params *out);

/* Coefficients of n laws, or their gradients. */
struct head_coefficients {
    void *a, *b;           /* real (n x width) */
    void *type_a, *type_b; /* real (n x width/2) */
};

/* Computes rows i0 .. i0+n-1. */
void head_forward(const struct head_params *at, const real *slab, size_t width, size_t i0, size_t n, const real *h,
                  const struct head_coefficients *out);
/* d: gradients of the coefficients; those of a are replaced by those before the tanh. dh rows are overwritten. */
void head_backward(const struct head_params *at, const real *slab, size_t width, size_t i0, size_t n,
                   const struct head_coefficients *c, const struct head_coefficients *d, real *dh);
/* Adds the gradient of one of the four maps, `which` of 0..3, to grad; the four may run in parallel. */
void head_gradient(const struct head_params *at, size_t width, size_t n, int which, const real *h,
                   const struct head_coefficients *d, real *grad);

#endif
