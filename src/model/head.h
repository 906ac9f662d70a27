/*
 * head.h - from the encoder's vectors to the coefficients of the laws: a, b of the gap head and of the type head.
 *
 *     a = tanh(h Wa^T + ca)    b = h Wb^T + cb          each (n x width) for gaps, (n x width/2) for types
 */
#ifndef SMURF_MODEL_HEAD_H
#define SMURF_MODEL_HEAD_H

#include "model/params.h"
#include "op/op.h"

/* Names as calls use them. */
#define head_forward  OP(head_forward)
#define head_backward OP(head_backward)
#define head_gradient OP(head_gradient)

/* What u(tau) of the gap head stands for. */
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

/* Rows i0 .. i0+n-1 of everything. */
void head_forward(const struct head_params *at, const real *slab, size_t width, size_t i0, size_t n, const real *h,
                  const struct head_coefficients *out);
/* d: gradients of the coefficients; those of a become those before the tanh. dh rows are overwritten. */
void head_backward(const struct head_params *at, const real *slab, size_t width, size_t i0, size_t n,
                   const struct head_coefficients *c, const struct head_coefficients *d, real *dh);
/* Gradients of the four maps, added to grad; `which` of 0..3 is one of them, to run side by side. */
void head_gradient(const struct head_params *at, size_t width, size_t n, int which, const real *h,
                   const struct head_coefficients *d, real *grad);

#endif
