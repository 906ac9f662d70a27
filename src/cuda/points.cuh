/*
 * points.cuh - where an objective looks: the points of a target, as `place` of model/objective_*.c.
 */
#ifndef SMURF_CUDA_POINTS_CUH
#define SMURF_CUDA_POINTS_CUH

#include "cuda/kernels.cuh"

/* Standard normal number i of an item: noise_normal of op/noise.c. */
static __device__ __forceinline__ float noise(const struct run *run, uint64_t item, int i)
{
    uint64_t stream = run->step * 0x9E3779B97F4A7C15u ^ 0xD6E8FEB86659FD93u;
    struct words k = philox(run->seed, stream, item << 8 | (uint64_t)(i / 4));
    bool second = i / 2 % 2;
    float u = ((float)((second ? k.z : k.x) >> 9) + 0.5f) * 0x1p-23f, sine, cosine;
    sincospif((float)(int32_t)(second ? k.w : k.y) * 0x1p-31f, &sine, &cosine);
    return sqrtf(-2 * logf(u)) * (i % 2 ? sine : cosine);
}

/* A tie has no logarithm, so multiplicative noise uses a minimum gap. */
static __device__ __forceinline__ double noisy_gap(const struct cuda_model *m, double gap)
{
    return m->multiplicative && gap < 1e-6 ? 1e-6 : gap;
}

/* Point i of the target of a row. */
static __device__ __forceinline__ float point_at(const struct cuda_model *m, const struct rows &rows, uint32_t row,
                                                 int i)
{
    double gap = rows.target_gap[row];
    if (m->objective == CUDA_DSM) {
        double eps = noise(rows.run, rows.target_id[row], i), sigma = m->sigma[i % m->sigmas];
        gap = noisy_gap(m, gap);
        return (float)(m->multiplicative ? gap * exp(sigma * eps) : gap + sigma * eps);
    }
    if (m->objective == CUDA_MLE && i < (int)m->points)
        return (float)(m->low + (gap > m->low ? gap - m->low : 0) * m->node[i]);
    return (float)gap;
}

#endif
