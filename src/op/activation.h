/*
 * activation.h - gelu(x) = x Phi(x), exact (erf), and relu.
 */
#ifndef SMURF_OP_ACTIVATION_H
#define SMURF_OP_ACTIVATION_H

#include "op/op.h"

enum activation { ACTIVATION_GELU, ACTIVATION_RELU };

/* x, y: (n); y may be x. */
void OP(activation_forward)(enum activation kind, size_t n, const real *x, real *y);
/* dx = dy f'(x); dx may be dy. */
void OP(activation_backward)(enum activation kind, size_t n, const real *x, const real *dy, real *dx);

#endif
