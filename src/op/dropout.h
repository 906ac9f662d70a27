/*
 * dropout.h - dropout masks as a function of (seed, step, place, element), recomputed where needed, never stored.
 */
#ifndef SMURF_OP_DROPOUT_H
#define SMURF_OP_DROPOUT_H

#include "op/op.h"

#include <stdbool.h>

/* Short names; see op.h. */
#define dropout_factors OP(dropout_factors)
#define dropout_tile    OP(dropout_tile)

/* Writes n factors, 0 or 1/(1 - rate), for elements first .. first+n-1 of a tensor. first must be a multiple of 8. Each
   element takes 16 bits of Philox4x32-10 with key = seed, counter = (element / 8, place and step mixed). */
void dropout_factors(const struct op_run *run, struct op_dropout dropout, uint64_t first, real *out, size_t n);

/* Same for a tile: row r of out (`columns` long, rows ld apart) holds elements first + r*stride on. first and stride
   must be multiples of 8. Much faster than one call per row when rows are short. */
void dropout_tile(const struct op_run *run, struct op_dropout dropout, uint64_t first, uint64_t stride, size_t rows,
                  size_t columns, real *out, size_t ld);

#endif
