/*
 * recall.h - attention of one query to keys and values stored one at a time.
 *
 *     out = sum_{j < n} p_j v_j,   p_j = exp(q . k_j / sqrt(width)) / sum_{i < n} exp(q . k_i / sqrt(width))
 *
 * Slots are kept in blocks of RECALL_BLOCK, so that a store grows at its end. One head's part of a block is its keys,
 * transposed (width x RECALL_BLOCK) so that many scores are computed at once, then its values (RECALL_BLOCK x width).
 * Empty slots are never used.
 */
#ifndef SMURF_OP_RECALL_H
#define SMURF_OP_RECALL_H

#include "op/op.h"

/* Short names; see op.h. */
#define recall_store  OP(recall_store)
#define recall_attend OP(recall_attend)

enum {
    RECALL_BLOCK = 32,
    RECALL_PAD = 64 / (int)sizeof(real), /* reals past the end of a store that may be read */
};

/* Size of one head's part of a block, in reals. */
static inline size_t recall_size(size_t width)
{
    return 2 * width * RECALL_BLOCK;
}

/* n rounded up to whole blocks. */
static inline size_t recall_padded(size_t n)
{
    return (n + RECALL_BLOCK - 1) / RECALL_BLOCK * RECALL_BLOCK;
}

/* Stores k, v (width) in a slot below RECALL_BLOCK of `part`, one head's part of a block. */
void recall_store(size_t width, real *part, size_t slot, const real *k, const real *v);

/* q, out: (width). n: 1 or more. part: that of the first block; those of later blocks follow, stride apart. score
   (recall_padded(n)) is scratch. */
void recall_attend(size_t n, size_t width, const real *part, size_t stride, const real *q, real *out, real *score);

#endif
