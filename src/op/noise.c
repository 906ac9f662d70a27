/* Compiled twice, for float and for double: see op/op.h. */
/* noise.c - see noise.h. Compiled with -ffast-math for the vector log, sin and cos of libmvec. */
#include "op/noise.h"

#include "base/random.h"
#include "base/clones.h"
#include "op/real.h"

/* Pairs of words to pairs of normals, out[i] and out[half + i]: radius from the first word, angle from the second.
   Three loops: in one, gcc would merge sine and cosine into sincos, which libmvec lacks. half must be a multiple of
   VECTOR. */
OP_CLONES
static void box_muller(size_t half, const uint32_t *restrict radius, const uint32_t *restrict angle, real *restrict out)
{
    const real turn = (real)(3.14159265358979323846 * 0x1p-31);
    real size[NOISE_MOST / 2];
    for (size_t i = 0; i < half; i++) {
        real u = ((real)(radius[i] >> 9) + (real)0.5) * (real)0x1p-23; /* exact: never 0 or 1 */
        size[i] = sqrt_real(-2 * log_real(u));
    }
    for (size_t i = 0; i < half; i++) out[i] = size[i] * cos_real((real)(int32_t)angle[i] * turn);
    for (size_t i = 0; i < half; i++) out[half + i] = size[i] * sin_real((real)(int32_t)angle[i] * turn);
}

/* Pairs are computed in whole vectors: a scalar remainder loop would use other functions, and the last bits would
   depend on n. */
enum { VECTOR = 16 };

void noise_normal(const struct op_run *run, uint64_t place, uint64_t item, size_t n, real *out)
{
    uint32_t radius[NOISE_MOST / 2], angle[NOISE_MOST / 2];
    real both[NOISE_MOST];
    if (n == 0 || n > NOISE_MOST) return;
    size_t half = ((n + 1) / 2 + VECTOR - 1) / VECTOR * VECTOR;
    uint64_t stream = run->step * 0x9E3779B97F4A7C15u ^ (place + 1) * 0xD6E8FEB86659FD93u;
    for (size_t b = 0; b < half / 2; b++) {
        uint32_t word[4];
        smurf_philox(word, run->seed, stream, item << 8 | b);
        radius[2 * b] = word[0], angle[2 * b] = word[1];
        radius[2 * b + 1] = word[2], angle[2 * b + 1] = word[3];
    }
    box_muller(half, radius, angle, both);
    for (size_t i = 0; i < n; i++) out[i] = both[(i & 1 ? half : 0) + i / 2];
}
