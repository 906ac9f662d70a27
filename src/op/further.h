/*
 * further.h - further columns of an event as an input of the encoder: numbers and words.
 *
 *     x += sum over columns of   v T[first]       a number v, standardised
 *                                T[first + 1]     a number that is missing
 *                                T[first + k]     word number k; unknown and missing ones have numbers too
 *
 * T (rows x d) is the table of all columns, `first` a column's first row in it.
 */
#ifndef SMURF_OP_FURTHER_H
#define SMURF_OP_FURTHER_H

#include "op/op.h"

/* Short names; see op.h. */
#define further_forward  OP(further_forward)
#define further_gradient OP(further_gradient)

enum { FURTHER_MOST = 32 };

/* The columns of a model; {0}: there are none. */
struct further_layout {
    size_t columns, rows;
    uint32_t first[FURTHER_MOST]; /* row of the table */
    bool is_word[FURTHER_MOST];
};

/* value (n x columns): of a number, v or NaN; of a word, k. */
void further_forward(const struct further_layout *layout, size_t n, size_t d, const real *value, const real *table,
                     real *x);
/* Adds to dtable, in row order. */
void further_gradient(const struct further_layout *layout, size_t n, size_t d, const real *value, const real *dx,
                      real *dtable);

#endif
