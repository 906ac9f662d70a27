/*
 * recall.h - attention of one query to keys and values that were stored one by one.
 *
 *     out = sum_{j < n} p_j v_j,   p_j = exp(q . k_j / sqrt(width)) / sum_{i < n} exp(q . k_i / sqrt(width))
 *
 * Slots are kept in blocks of RECALL_BLOCK, so that a store grows at its end. One head's part of a block is its keys,
 * transposed (width x RECALL_BLOCK), so that many scores are made at once; then its values (RECALL_BLOCK x width). What
 * is not yet stored is never used.
 */
#ifndef SMURF_OP_RECALL_H
#define SMURF_OP_RECALL_H

#include "op/op.h"

/* Names as calls use them. */
#define recall_store  OP(recall_store)
#define recall_attend OP(recall_attend)

enum {
    RECALL_BLOCK = 32,
    RECALL_PAD = 64 / (int)sizeof(real), /* reals behind a store that are read in vain */
};

/* Reals of one head's part of a block. */
static inline size_t recall_size(size_t width)
{
    return 2 * width * RECALL_BLOCK;
}

/* Slots in whole blocks. */
static inline size_t recall_padded(size_t n)
{
    return (n + RECALL_BLOCK - 1) / RECALL_BLOCK * RECALL_BLOCK;
}

/* k, v (width) go to a slot below RECALL_BLOCK of `part`, one head's part of a block. */
void recall_store(size_t width, real *part, size_t slot, const real *k, const real *v);

/* q, out: (width). n: 1 or more; part: of the first block; those of the next ones follow at a distance of stride. score
   (recall_padded(n)) is scratch. */
void recall_attend(size_t n, size_t width, const real *part, size_t stride, const real *q, real *out, real *score);

#endif
