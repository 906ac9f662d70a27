/*
 * attention.h - causal softmax attention over packed sequences, streamed: memory is linear in the length.
 *
 *     out_i = sum_{j <= i} m_ij p_ij v_j,   p_ij = exp(q_i . k_j / sqrt(width) - lse_i)
 *
 * i, j run over the rows of one sequence; m is the dropout mask of the weights. Head h uses columns h*width ..
 * (h+1)*width - 1 of q, k, v and out, which are all (rows x heads*width).
 */
#ifndef SMURF_OP_ATTENTION_H
#define SMURF_OP_ATTENTION_H

#include "op/op.h"

/* Short names; see op.h. */
#define attention_scratch  OP(attention_scratch)
#define attention_forward  OP(attention_forward)
#define attention_backward OP(attention_backward)

/* Scratch needed by the functions below for `threads` threads, in reals. */
size_t attention_scratch(size_t heads, size_t width, int threads);

/* out as above; lse (rows x heads) is kept for the backward pass. */
void attention_forward(const struct op_run *run, const struct op_rows *rows, size_t heads, size_t width,
                       struct op_dropout dropout, const real *q, const real *k, const real *v, real *out, real *lse,
                       real *scratch);

/* dq, dk, dv are overwritten. delta (rows x heads) is scratch: sum over columns of dout * out. */
void attention_backward(const struct op_run *run, const struct op_rows *rows, size_t heads, size_t width,
                        struct op_dropout dropout, const real *q, const real *k, const real *v, const real *out,
                        const real *lse, const real *dout, real *dq, real *dk, real *dv, real *delta, real *scratch);

#endif
