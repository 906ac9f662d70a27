/* walk.c - see walk.h. Compiled with -ffast-math for libmvec's vector log, sin and cos. Infinities and NaN do not occur
   here: tables are finite, and places are kept within WALK_FAR. */
#include "law/walk.h"

#include "base/clones.h"

#include <math.h>

/* The rounds of Philox4x32-10, on many lanes. */
OP_CLONES static void philox(uint64_t seed, size_t lanes, uint32_t *restrict x, uint32_t *restrict y,
                             uint32_t *restrict z, uint32_t *restrict w)
{
    for (size_t l = 0; l < lanes; l++) {
        uint32_t x0 = x[l], y0 = y[l], z0 = z[l], w0 = w[l];
        uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
        for (int round = 0; round < 10; round++, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
            uint64_t a = (uint64_t)x0 * 0xd2511f53u, b = (uint64_t)z0 * 0xcd9e8d57u;
            x0 = (uint32_t)(b >> 32) ^ y0 ^ key0;
            z0 = (uint32_t)(a >> 32) ^ w0 ^ key1;
            y0 = (uint32_t)b;
            w0 = (uint32_t)a;
        }
        x[l] = x0, y[l] = y0, z[l] = z0, w[l] = w0;
    }
}

/* Converts one pair of words to a pair of normals. Three loops: in a single loop gcc merges sine and cosine into
   sincos, which libmvec lacks. */
OP_CLONES static void box_muller(size_t lanes, const uint32_t *restrict radius, const uint32_t *restrict angle,
                                 float *restrict first, float *restrict second)
{
    const float turn = (float)(3.14159265358979323846 * 0x1p-31);
    float size[WALK_LANES];
    for (size_t l = 0; l < lanes; l++) {
        float u = ((float)(int32_t)(radius[l] >> 9) + 0.5f) * 0x1p-23f; /* exact: never 0 or 1 */
        size[l] = sqrtf(-2 * logf(u));
    }
    for (size_t l = 0; l < lanes; l++) first[l] = size[l] * cosf((float)(int32_t)angle[l] * turn);
    for (size_t l = 0; l < lanes; l++) second[l] = size[l] * sinf((float)(int32_t)angle[l] * turn);
}

void smurf_walk_normals(uint64_t seed, uint64_t stream, uint32_t first, uint32_t block, size_t lanes,
                        float z[WALK_BLOCK][WALK_LANES])
{
    uint32_t word[4][WALK_LANES];
    for (size_t l = 0; l < lanes; l++) {
        word[0][l] = block + 1;
        word[1][l] = first + (uint32_t)l;
        word[2][l] = (uint32_t)stream;
        word[3][l] = (uint32_t)(stream >> 32);
    }
    philox(seed, lanes, word[0], word[1], word[2], word[3]);
    box_muller(lanes, word[0], word[1], z[0], z[1]);
    box_muller(lanes, word[2], word[3], z[2], z[3]);
}

OP_CLONES static int32_t step_lanes(const float *restrict c, float last, struct walk_step step, size_t lanes,
                                    const float *restrict z, float *restrict u, int32_t *restrict direct)
{
    int32_t any = 0;
    for (size_t l = 0; l < lanes; l++) {
        float at = u[l] < 0 ? 0 : u[l];
        at = at > last ? last : at;
        int32_t k = (int32_t)at;
        float f = at - (float)k, c0 = c[4 * k];
        float score = c0 + f * (c[4 * k + 1] + f * (c[4 * k + 2] + f * c[4 * k + 3]));
        float to = u[l] + step.drift * score + step.noise * z[l];
        to = to < -WALK_FAR ? -WALK_FAR : to;
        to = to > WALK_FAR ? WALK_FAR : to;
        int32_t ask = c0 >= SCORE_TABLE_DIRECT;
        direct[l] = ask;
        any |= ask;
        bool stay = (ask != 0) | (to <= step.floor);
        u[l] = stay ? u[l] : to;
    }
    return any;
}

bool smurf_walk_step(const struct score_table *table, const struct walk_step *step, size_t lanes, const float *z,
                     float *u, int32_t *direct)
{
    return step_lanes(table->coefficient, (float)table->cells + 1.5f, *step, lanes, z, u, direct) != 0;
}
