/*
 * type_head.h - probabilities of the type of the next event, given its time.
 *
 *     logits(tau) = W tanh(a tau + b) + c          W: (types x width), a, b: (width) per event
 *
 * and their cross-entropy with the true type at n points of one event. With label smoothing e the target is 1 - e for
 * the true type and e/types for each other one.
 */
#ifndef SMURF_OP_TYPE_HEAD_H
#define SMURF_OP_TYPE_HEAD_H

#include "op/op.h"

/* Short names; see op.h. */
#define type_head_forward  OP(type_head_forward)
#define type_head_units    OP(type_head_units)
#define type_head_loss     OP(type_head_loss)
#define type_head_backward OP(type_head_backward)

/* From this many types on, the type map no longer fits in the first-level cache, and one point of one event fills
   vectors. */
enum { TYPES_MANY = 256 };

/* h: (width x n) activations, logits: (types x n), both kept for the backward pass. */
void type_head_forward(size_t types, size_t width, const real *a, const real *b, const real *w, const real *c,
                       const real *tau, size_t n, real *h, real *logits);

/* h (width) = tanh(a tau + b): activations of one event at one point, for callers that batch the products of several
   events. */
void type_head_units(size_t width, const real *a, const real *b, real tau, real *h);

/* Cross-entropy averaged over the first n of `all` points. Replaces logits (types x all) by its gradient times `scale`,
   0 at the other points. *right gets the share of points at which the true type has the largest logit. */
double type_head_loss(size_t types, size_t all, size_t n, uint32_t target, double smoothing, real scale, real *logits,
                      double *right);

/* g: (types x n) gradient with respect to the logits. da, db: (width) overwritten; dw (types x width) and dc (types)
   are added to. dh: (width x n) is scratch. */
void type_head_backward(size_t types, size_t width, const real *a, const real *w, const real *tau, size_t n,
                        const real *h, const real *g, real *dh, real *da, real *db, real *dw, real *dc);

#endif
