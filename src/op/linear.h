/*
 * linear.h - y = x W^T + b.   x: (n x in), W: (out x in), b: (out) or NULL, y: (n x out).
 *
 * Each function runs on one thread, on the rows (or outputs) it is given: callers divide the work.
 */
#ifndef SMURF_OP_LINEAR_H
#define SMURF_OP_LINEAR_H

#include "op/op.h"

/* Short names; see op.h. */
#define linear_forward  OP(linear_forward)
#define linear_row      OP(linear_row)
#define linear_backward OP(linear_backward)
#define linear_gradient OP(linear_gradient)

void linear_forward(size_t n, size_t in, size_t out, const real *x, const real *w, const real *b, real *y);
/* Same for one row, faster; b, y and x must not overlap. */
void linear_row(size_t in, size_t out, const real *x, const real *w, const real *b, real *y);
/* dx = dy W, or dx += dy W if `add`. */
void linear_backward(size_t n, size_t in, size_t out, const real *dy, const real *w, int add, real *dx);
/* dW += dy^T x and db += sum of dy over rows, for outputs from .. to-1 only: blocks of outputs may run in parallel. */
void linear_gradient(size_t n, size_t in, size_t out, const real *x, const real *dy, size_t from, size_t to, real *dw,
                     real *db);

#endif
