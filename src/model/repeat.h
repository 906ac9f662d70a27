/*
 * repeat.h - types that repeat: what occurred lately has a larger probability, by weights shared by all types.
 *
 *     logit_k += ln K mean_m v_m ln(1 + S_{m,k}),  v = V h + v0             S: the counts of counts.h, K: types
 *
 * S is that after the last event: what is added does not depend on the gap. ln K is what sets one type apart from K
 * others, so v is of the same size for any number of types. Only types in the slots of the counts have one.
 * So a model of thousands of types can name one that was just there without having learned anything about it.
 */
#ifndef SMURF_MODEL_REPEAT_H
#define SMURF_MODEL_REPEAT_H

#include "model/encoder.h"

/* Short names; see op.h. */
#define repeat_terms OP(repeat_terms)
#define repeat_add   OP(repeat_add)
#define repeat_back  OP(repeat_back)

/* Offsets in the slab. */
struct repeat_params {
    size_t v, v_bias; /* (COUNT_SCALES x width), (COUNT_SCALES) */
};

/* Adds the entries to a table, if the shape has counts. */
void smurf_repeat_params(const struct encoder_shape *shape, struct params *params, struct repeat_params *out);

/* Coefficients of one event: what is added for the slots, and their types unless each has a slot of its own. */
static inline size_t repeat_coefficients(const struct encoder_shape *shape)
{
    return shape->counts ? counts_slots(shape->types) * (counts_have_all(shape->types) ? 1 : 2) : 0;
}
/* The type in a slot, from the coefficients. They may come from a damaged file, but the type exists. */
static inline size_t repeat_type(const struct encoder_shape *shape, const real *c, size_t slot)
{
    if (counts_have_all(shape->types)) return slot;
    real type = c[counts_slots(shape->types) + slot];
    return type > 0 && type < (real)shape->types ? (size_t)type : 0;
}

/* out (repeat_coefficients) of row i. */
void repeat_terms(const struct count_rows *rows, size_t i, const real *v, real *out);
/* Adds those of row i to the logits (types x n). */
void repeat_add(const struct count_rows *rows, size_t i, const real *v, size_t n, real *logits);
/* dv (COUNT_SCALES), overwritten, from the gradient g of the logits (types x n). */
void repeat_back(const struct count_rows *rows, size_t i, size_t n, const real *g, real *dv);

#endif
