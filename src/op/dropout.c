/* Compiled twice, for float and for double: see op/op.h. */
/*
 * dropout.c - see dropout.h.
 *
 * Block b of a tensor, elements 8b .. 8b+7, is smurf_philox(seed, stream, b) with stream = mix(mix(step) + place): mix
 * is a bijection, so two places of a step, and two steps of a place, never share a stream. Element 8b + 2w + h takes
 * the low (h = 0) or high (h = 1) half of word w; it is dropped if that is below threshold = round(65536 rate). The
 * factor of kept elements is 1/(1 - threshold/65536), so that the mean is exactly 1.
 *
 * LANES blocks are computed together, each step a loop over lanes, so that compilers vectorise it.
 */
#include "op/dropout.h"

#include "base/clones.h"

#include <math.h>
#include <string.h>

enum { LANES = 32 };

/* The finalizer of splitmix64. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Shared by all blocks of a mask. */
struct mask {
    uint64_t seed, stream;
    uint32_t threshold; /* 0 .. 65535 */
    real keep;          /* factor of kept elements */
};

static struct mask mask_of(const struct op_run *run, struct op_dropout dropout)
{
    double threshold = fmin(round(dropout.rate * 65536), 65535);
    return (struct mask){.seed = run->seed,
                         .stream = mix(mix(run->step) + dropout.place),
                         .threshold = (uint32_t)threshold,
                         .keep = (real)(1 / (1 - threshold / 65536))};
}

/* bits[l]: bit e is set when element e of block[l] is kept. x, y, z, w are the words of Philox4x32-10. */
OP_CLONES static void kept_lanes(uint32_t *restrict bits, const uint64_t *restrict block, const struct mask *mask)
{
    uint32_t x[LANES], y[LANES], z[LANES], w[LANES], lift = 65536 - mask->threshold;
    uint32_t key0 = (uint32_t)mask->seed, key1 = (uint32_t)(mask->seed >> 32);
    for (int l = 0; l < LANES; l++) {
        x[l] = (uint32_t)block[l];
        y[l] = (uint32_t)(block[l] >> 32);
        z[l] = (uint32_t)mask->stream;
        w[l] = (uint32_t)(mask->stream >> 32);
    }
    for (int round = 0; round < 10; round++, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u)
        for (int l = 0; l < LANES; l++) {
            uint32_t a = x[l] * 0xd2511f53u, a_high = (uint32_t)((uint64_t)x[l] * 0xd2511f53u >> 32);
            uint32_t b = z[l] * 0xcd9e8d57u, b_high = (uint32_t)((uint64_t)z[l] * 0xcd9e8d57u >> 32);
            x[l] = b_high ^ y[l] ^ key0;
            z[l] = a_high ^ w[l] ^ key1;
            y[l] = b;
            w[l] = a;
        }
    for (int l = 0; l < LANES; l++) /* bit 16 of half + 65536 - threshold */
        bits[l] = ((x[l] & 0xffff) + lift) >> 16 | ((x[l] >> 16) + lift) >> 16 << 1 |
                  ((y[l] & 0xffff) + lift) >> 16 << 2 | ((y[l] >> 16) + lift) >> 16 << 3 |
                  ((z[l] & 0xffff) + lift) >> 16 << 4 | ((z[l] >> 16) + lift) >> 16 << 5 |
                  ((w[l] & 0xffff) + lift) >> 16 << 6 | ((w[l] >> 16) + lift) >> 16 << 7;
}

/* Factors of one block. Explicit vector types, because compilers do not vectorise a loop of eight. */
typedef real factors __attribute__((vector_size(8 * sizeof(real))));
#if SMURF_REAL == 64
typedef int64_t flags __attribute__((vector_size(64)));
#else
typedef int32_t flags __attribute__((vector_size(32)));
#endif

static inline __attribute__((always_inline)) void expand(real *out, uint32_t bits, real keep, size_t n)
{
    const flags bit = {1, 2, 4, 8, 16, 32, 64, 128}, none = {0};
    factors kept = {keep, keep, keep, keep, keep, keep, keep, keep};
    kept = (factors)((flags)kept & (((none + (int)bits) & bit) != none));
    if (n >= 8)
        memcpy(out, &kept, sizeof kept);
    else
        memcpy(out, &kept, n * sizeof *out);
}

/* See dropout_tile. Lanes run over the blocks of all rows, so that short rows fill them too. */
OP_CLONES static void make_tile(const struct mask *mask, uint64_t first, uint64_t stride, size_t rows, size_t columns,
                                real *out, size_t ld)
{
    size_t per_row = (columns + 7) / 8, total = rows * per_row, row = 0, column = 0;
    for (size_t done = 0; done < total;) {
        uint64_t block[LANES];
        uint32_t bits[LANES];
        size_t lanes = total - done < LANES ? total - done : LANES, from_row = row, from = column;
        for (size_t l = 0; l < LANES; l++) {
            block[l] = (first + row * stride) / 8 + column;
            if (++column == per_row) row++, column = 0;
        }
        kept_lanes(bits, block, mask);
        for (size_t l = 0; l < lanes; l++) {
            expand(out + from_row * ld + 8 * from, bits[l], mask->keep, columns - 8 * from);
            if (++from == per_row) from_row++, from = 0;
        }
        done += lanes;
    }
}

void dropout_tile(const struct op_run *run, struct op_dropout dropout, uint64_t first, uint64_t stride, size_t rows,
                  size_t columns, real *out, size_t ld)
{
    struct mask mask = mask_of(run, dropout);
    make_tile(&mask, first, stride, rows, columns, out, ld);
}

void dropout_factors(const struct op_run *run, struct op_dropout dropout, uint64_t first, real *out, size_t n)
{
    dropout_tile(run, dropout, first, 0, 1, n, out, n);
}
