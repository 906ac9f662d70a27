/*
 * activation.h - gelu(x) = x Phi(x), exact (erf), and relu.
 */
#ifndef SMURF_OP_ACTIVATION_H
#define SMURF_OP_ACTIVATION_H

#include "op/op.h"

/* Short names; see op.h. */
#define activation_forward  OP(activation_forward)
#define activation_backward OP(activation_backward)

enum activation { ACTIVATION_GELU, ACTIVATION_RELU };

/* x, y: (n); y may be x. */
void activation_forward(enum activation kind, size_t n, const real *x, real *y);
/* d, the gradient with respect to y, becomes the gradient with respect to x: d f'(x). Also recomputes y = f(x). */
void activation_backward(enum activation kind, size_t n, const real *x, real *d, real *y);

#endif
