/*
 * tile.h - the three products of attention on one tile of weights, rows of queries by columns of keys.
 *
 * Row r sees only columns c < seen + r; the rest is not computed. Narrow heads use our own loops, which skip the unseen
 * half of diagonal tiles and need little setup: a fifth to a third faster than gemm.h at 73 rows of width 16. Wide heads
 * use gemm.h, which is as fast there.
 */
#ifndef SMURF_OP_TILE_H
#define SMURF_OP_TILE_H

#include "op/op.h"

/* Short names; see op.h. */
#define tile_scores  OP(tile_scores)
#define tile_rows    OP(tile_rows)
#define tile_columns OP(tile_columns)

enum {
    TILE_ROWS = 48,     /* most queries of a tile */
    TILE_COLUMNS = 240, /* most keys of a tile: a multiple of TILE_ROWS; also its row length */
    /* Elements of the longest vectors; divides TILE_COLUMNS. */
    TILE_VECTOR = 64 / (int)sizeof(real),
    TILE_NARROW = 32, /* widest head handled by our own loops */
    TILE_SCRATCH = TILE_COLUMNS * TILE_NARROW,
};

/* width: that of the head. seen: 1 or more. */
struct tile {
    size_t rows, columns, seen, width;
};

/* Number of columns that row r sees. */
static inline size_t tile_visible(const struct tile *tile, size_t r)
{
    return tile->seen + r < tile->columns ? tile->seen + r : tile->columns;
}

/* n rounded up to whole vectors: rows of a tile have that much room. */
static inline size_t tile_padded(size_t n)
{
    return (n + TILE_VECTOR - 1) / TILE_VECTOR * TILE_VECTOR;
}

/* scratch, here and below: TILE_SCRATCH reals.

   s_rc = scale a_r . b_c for visible c; others are undefined. Rows of a (rows x width) and b (columns x width) are ld
   apart, those of s TILE_COLUMNS. */
void tile_scores(const struct tile *tile, real scale, const real *a, const real *b, size_t ld, real *s, real *scratch);

/* out_r += scale sum_c s_rc b_c. Unseen s must be 0. */
void tile_rows(const struct tile *tile, real scale, const real *s, const real *b, real *out, size_t ld, real *scratch);

/* out_c += scale sum_r s_rc a_r. Unseen s must be 0. */
void tile_columns(const struct tile *tile, real scale, const real *s, const real *a, real *out, size_t ld,
                  real *scratch);

#endif
