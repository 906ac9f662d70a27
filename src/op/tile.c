/* Compiled twice, for float and for double: see op/op.h. */
/*
 * tile.c - see tile.h. Four rows (or columns) of the result are computed together, one vector of each: four chains of
 * multiply-adds in registers. Built with -ffp-contract=fast, so that these are fused.
 */
#include "op/tile.h"

#include "op/gemm.h"
#include "base/clones.h"

#include <string.h>

typedef real vector __attribute__((vector_size(64)));
typedef real loose __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* Rows of whole vectors, ld apart. */
struct rows {
    const real *at;
    size_t ld;
};

/* The n rows of x if they are whole vectors, else a zero-padded copy in `room`. */
static struct rows whole_rows(const real *x, size_t ld, size_t n, size_t width, real *room)
{
    size_t whole = tile_padded(width);
    if (whole == width) return (struct rows){x, ld};
    for (size_t r = 0; r < n; r++)
        for (size_t d = 0; d < whole; d++) room[r * whole + d] = d < width ? x[r * ld + d] : 0;
    return (struct rows){room, whole};
}

/* to (width x TILE_COLUMNS) = transpose of x (n x width), zero-padded to whole vectors. */
OP_CLONES static void pack_across(real *restrict to, const real *restrict x, size_t ld, size_t n, size_t width)
{
    for (size_t c = 0; c < n; c++)
        for (size_t d = 0; d < width; d++) to[d * TILE_COLUMNS + c] = x[c * ld + d];
    for (size_t c = n; c < tile_padded(n); c++)
        for (size_t d = 0; d < width; d++) to[d * TILE_COLUMNS + c] = 0;
}

/* sum[i] = sum_{e < n} x[i*step + e*next] y[e*ld ..], for i < COUNT. */
#define SUMS(COUNT)                                                                                                    \
    INLINE void sums_##COUNT(vector *sum, const real *x, size_t step, size_t next, const real *y, size_t ld, size_t n) \
    {                                                                                                                  \
        vector t[COUNT] = {0};                                                                                         \
        for (size_t e = 0; e < n; e++) {                                                                               \
            vector f = *(const loose *)(y + e * ld);                                                                   \
            for (int i = 0; i < COUNT; i++) t[i] += x[(size_t)i * step + e * next] * f;                                \
        }                                                                                                              \
        for (int i = 0; i < COUNT; i++) sum[i] = t[i];                                                                 \
    }
SUMS(4)
SUMS(1)

/* across: b transposed by pack_across. */
OP_CLONES static void narrow_scores(const struct tile *tile, real scale, const real *a, size_t ld, const real *across,
                                    real *s)
{
    vector sum[4];
    for (size_t r = 0; r < tile->rows; r += 4) {
        size_t count = tile->rows - r < 4 ? tile->rows - r : 4, end = tile_visible(tile, r + count - 1);
        for (size_t c = 0; c < end; c += TILE_VECTOR) {
            if (count == 4)
                sums_4(sum, a + r * ld, ld, 1, across + c, TILE_COLUMNS, tile->width);
            else
                for (size_t i = 0; i < count; i++)
                    sums_1(sum + i, a + (r + i) * ld, ld, 1, across + c, TILE_COLUMNS, tile->width);
            for (size_t i = 0; i < count; i++) *(loose *)(s + (r + i) * TILE_COLUMNS + c) = sum[i] * scale;
        }
    }
}

void tile_scores(const struct tile *tile, real scale, const real *a, const real *b, size_t ld, real *s, real *scratch)
{
    if (tile->width > TILE_NARROW) {
        gemm(0, 1, tile->rows, tile->columns, tile->width, scale, a, ld, b, ld, 0, s, TILE_COLUMNS);
    } else {
        pack_across(scratch, b, ld, tile->columns, tile->width);
        narrow_scores(tile, scale, a, ld, scratch, s);
    }
}

/* The first n elements of out += scale * sum; n is at most one vector. */
INLINE void add(real *out, const vector *sum, real scale, size_t n)
{
    if (n >= TILE_VECTOR) {
        *(loose *)out += *sum * scale;
    } else {
        real t[TILE_VECTOR];
        memcpy(t, sum, sizeof t);
        for (size_t d = 0; d < n; d++) out[d] += scale * t[d];
    }
}

OP_CLONES static void narrow_rows(const struct tile *tile, real scale, const real *s, struct rows y, real *out,
                                  size_t ld)
{
    vector sum[4];
    for (size_t r = 0; r < tile->rows; r += 4) {
        size_t count = tile->rows - r < 4 ? tile->rows - r : 4, n = tile_visible(tile, r + count - 1);
        for (size_t d = 0; d < tile->width; d += TILE_VECTOR) {
            if (count == 4)
                sums_4(sum, s + r * TILE_COLUMNS, TILE_COLUMNS, 1, y.at + d, y.ld, n);
            else
                for (size_t i = 0; i < count; i++) sums_1(sum + i, s + (r + i) * TILE_COLUMNS, 0, 1, y.at + d, y.ld, n);
            for (size_t i = 0; i < count; i++) add(out + (r + i) * ld + d, sum + i, scale, tile->width - d);
        }
    }
}

void tile_rows(const struct tile *tile, real scale, const real *s, const real *b, real *out, size_t ld, real *scratch)
{
    if (tile->width > TILE_NARROW) {
        gemm(0, 0, tile->rows, tile->width, tile->columns, scale, s, TILE_COLUMNS, b, ld, 1, out, ld);
    } else {
        struct rows whole = whole_rows(b, ld, tile->columns, tile->width, scratch);
        narrow_rows(tile, scale, s, whole, out, ld);
    }
}

OP_CLONES static void narrow_columns(const struct tile *tile, real scale, const real *s, struct rows y, real *out,
                                     size_t ld)
{
    vector sum[4];
    for (size_t c = 0; c < tile->columns; c += 4) {
        size_t count = tile->columns - c < 4 ? tile->columns - c : 4;
        size_t from = c < tile->seen ? 0 : c - tile->seen + 1; /* first row that sees column c */
        for (size_t d = 0; d < tile->width; d += TILE_VECTOR) {
            const real *x = s + from * TILE_COLUMNS + c, *z = y.at + from * y.ld + d;
            if (count == 4)
                sums_4(sum, x, 1, TILE_COLUMNS, z, y.ld, tile->rows - from);
            else
                for (size_t i = 0; i < count; i++) sums_1(sum + i, x + i, 1, TILE_COLUMNS, z, y.ld, tile->rows - from);
            for (size_t i = 0; i < count; i++) add(out + (c + i) * ld + d, sum + i, scale, tile->width - d);
        }
    }
}

void tile_columns(const struct tile *tile, real scale, const real *s, const real *a, real *out, size_t ld,
                  real *scratch)
{
    if (tile->width > TILE_NARROW) {
        gemm(1, 0, tile->columns, tile->width, tile->rows, scale, s, TILE_COLUMNS, a, ld, 1, out, ld);
    } else {
        struct rows whole = whole_rows(a, ld, tile->rows, tile->width, scratch);
        narrow_columns(tile, scale, s, whole, out, ld);
    }
}
