/*
 * gap_head.h - the scalar function that learned laws are built from, and its derivatives.
 *
 *     u(tau) = w . tanh(a tau + b) + c
 *
 * a and b (d wide) come from the encoder, one pair per event; w and c are shared. With z = tanh(a tau + b) and s = 1 -
 * z^2:
 *
 *     u'  = sum w a s          u'' = -2 sum w a^2 z s
 *
 * The caller decides what u means: lambda = softplus(u) (intensity.h), or the score itself. One call handles one event
 * at n points.
 */
#ifndef SMURF_OP_GAP_HEAD_H
#define SMURF_OP_GAP_HEAD_H

#include "op/op.h"

/* Short names; see op.h. */
#define gap_head_forward  OP(gap_head_forward)
#define gap_head_backward OP(gap_head_backward)

/* a, b, w: (d); tau: (n). u: (n); u1, u2: (n), written if order is at least 1, 2. z: (d x n) is kept for the backward
   pass. */
void gap_head_forward(int order, size_t d, const real *a, const real *b, const real *w, real c, const real *tau,
                      size_t n, real *z, real *u, real *u1, real *u2);

/* g0, g1, g2: (n) gradients with respect to u, u', u'' (up to the order). da, db: (d) overwritten; dw: (d) and dc are
   added to. */
void gap_head_backward(int order, size_t d, const real *a, const real *b, const real *w, const real *tau, size_t n,
                       const real *z, const real *g0, const real *g1, const real *g2, real *da, real *db, real *dw,
                       real *dc);

#endif
