/*
 * embed.h - input of the encoder for one event: its type, its time, and the gap before it.
 */
#ifndef SMURF_OP_EMBED_H
#define SMURF_OP_EMBED_H

#include "op/op.h"

/* Short names; see op.h. */
#define temporal_forward     OP(temporal_forward)
#define temporal_period      OP(temporal_period)
#define embed_forward        OP(embed_forward)
#define embed_gradient       OP(embed_gradient)
#define gap_feature_forward  OP(gap_feature_forward)
#define gap_feature_gradient OP(gap_feature_gradient)

/* z (n x d): even i sin(t / p_i), odd i cos(t / p_i), p_i = 10000^{2 floor(i/2) / d}; phases in double. */
void temporal_forward(size_t n, size_t d, const double *time, real *z);

/* p_i of entries 2*pair and 2*pair + 1. Not in temporal.c: -ffast-math would lose digits that large times need. */
double temporal_period(size_t pair, size_t d);

/* x (n x d) = rows of table (rows x d); 0 for types beyond it, which the model does not know. */
void embed_forward(size_t n, size_t d, size_t rows, const uint32_t *type, const real *table, real *x);
/* dtable += rows of dx, in row order. Types are below the number of rows of the table. */
void embed_gradient(size_t n, size_t d, const uint32_t *type, const real *dx, real *dtable);

/* The gap feature: x += G tanh(v g + c), g the standardised logarithm of the gap before the event; rows whose g is NaN
   (no gap before) are unchanged. v, c: (m); G: (d x m). h (n x m) stores tanh for the backward pass. */
void gap_feature_forward(size_t n, size_t d, size_t m, const real *g, const real *v, const real *c, const real *table,
                         real *h, real *x);
/* dv, dc, dtable are added to; dh (m) is scratch. */
void gap_feature_gradient(size_t n, size_t d, size_t m, const real *g, const real *table, const real *h, const real *dx,
                          real *dv, real *dc, real *dtable, real *dh);

#endif
