/*
 * norm.h - layer normalisation of each row: y = gain (x - mean) / sqrt(variance + eps) + bias.
 *
 * x, y: (n x d); gain, bias: (d). The backward pass recomputes mean and variance from x.
 */
#ifndef SMURF_OP_NORM_H
#define SMURF_OP_NORM_H

#include "op/op.h"

/* Short names; see op.h. */
#define norm_forward  OP(norm_forward)
#define norm_backward OP(norm_backward)
#define norm_gradient OP(norm_gradient)

void norm_forward(size_t n, size_t d, double eps, const real *x, const real *gain, const real *bias, real *y);
/* dx may be dy. */
void norm_backward(size_t n, size_t d, double eps, const real *x, const real *gain, const real *dy, real *dx);
/* dgain, dbias are added to. */
void norm_gradient(size_t n, size_t d, double eps, const real *x, const real *dy, real *dgain, real *dbias);

#endif
