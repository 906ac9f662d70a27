/* Compiled twice, for float and for double: see op/op.h. */
/*
 * recall.c - see recall.h. Built with -ffast-math for the vector exp of libmvec. No infinity or NaN is produced here:
 * scores of unused slots are a large negative number, and arguments of exp are clamped where weights become negligible.
 */
#include "op/recall.h"

#include "base/clones.h"
#include "op/real.h"

#include <string.h>

enum { VECTOR = RECALL_PAD, VECTORS = RECALL_BLOCK / VECTOR };
typedef real vector __attribute__((vector_size(64)));
typedef real loose __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));

#define INLINE static inline __attribute__((always_inline))

#if SMURF_REAL == 64
static const real lowest = -1e300, floor_of_exp = -700;
#else
static const real lowest = -1e30f, floor_of_exp = -80;
#endif

void recall_store(size_t width, real *part, size_t slot, const real *k, const real *v)
{
    for (size_t d = 0; d < width; d++) part[d * RECALL_BLOCK + slot] = k[d];
    memcpy(part + (RECALL_BLOCK + slot) * width, v, width * sizeof *v);
}

/* score_j = scale q . k_j for all slots of the blocks. */
INLINE void make_scores(size_t n, size_t width, const real *part, size_t stride, const real *q, real scale, real *score)
{
    for (size_t j = 0; j < n; j += RECALL_BLOCK, part += stride) {
        vector sum[VECTORS] = {0};
        for (size_t d = 0; d < width; d++)
            for (int i = 0; i < VECTORS; i++) sum[i] += q[d] * *(const loose *)(part + d * RECALL_BLOCK + i * VECTOR);
        for (int i = 0; i < VECTORS; i++) *(loose *)(score + j + i * VECTOR) = sum[i] * scale;
    }
}

/* Turns scores into weights, the largest of them 1. Returns their sum. */
INLINE real weigh(size_t n, real *restrict score)
{
    size_t whole = recall_padded(n);
    real most = lowest, sum = 0;
    for (size_t j = n; j < whole; j++) score[j] = lowest;
    for (size_t j = 0; j < whole; j++) most = score[j] > most ? score[j] : most;
    for (size_t j = 0; j < whole; j++) {
        real x = score[j] - most;
        sum += score[j] = exp_real(x > floor_of_exp ? x : floor_of_exp);
    }
    return sum;
}

/* sum_j weight_j v_j, for one vector of columns; v points at that column in the first slot. Columns beyond the width
   are ignored, and lie behind the values of the last slot. */
INLINE void sum_values(size_t n, size_t width, const real *v, size_t stride, const real *weight, vector *out)
{
    vector sum[4] = {0};
    for (size_t j = 0; j < n; j += RECALL_BLOCK, v += stride) {
        size_t count = n - j < RECALL_BLOCK ? n - j : RECALL_BLOCK, c = 0;
        for (; c + 4 <= count; c += 4)
            for (size_t i = 0; i < 4; i++) sum[i] += weight[j + c + i] * *(const loose *)(v + (c + i) * width);
        for (; c < count; c++) sum[0] += weight[j + c] * *(const loose *)(v + c * width);
    }
    *out = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

OP_CLONES static void attend(size_t n, size_t width, const real *part, size_t stride, const real *q, real scale,
                             real *out, real *score)
{
    make_scores(n, width, part, stride, q, scale, score);
    real total = weigh(n, score);
    for (size_t d = 0; d < width; d += VECTOR) {
        vector sum;
        sum_values(n, width, part + RECALL_BLOCK * width + d, stride, score, &sum);
        sum /= total;
        memcpy(out + d, &sum, (width - d < VECTOR ? width - d : VECTOR) * sizeof *out);
    }
}

void recall_attend(size_t n, size_t width, const real *part, size_t stride, const real *q, real *out, real *score)
{
    attend(n, width, part, stride, q, (real)(1 / sqrt((double)width)), out, score);
}
