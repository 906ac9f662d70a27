/*
 * norm.cu - layer normalisation, as op/norm.c: a warp for each row. Mean and 1/deviation are kept for the way back.
 */
#include "cuda/kernels.cuh"

enum { WARPS = 4 };

static __global__ void norm(struct rows rows, int d, float eps, const float *x, const float *gain, const float *bias,
                            const float *z, struct moments m, float *y)
{
    uint32_t r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows.run->rows) return;
    size_t at = (size_t)r * d;
    float sum = 0, square = 0;
    for (int k = lane; k < d; k += 32) sum += x[at + k];
    float mean = warp_sum(sum) / d;
    for (int k = lane; k < d; k += 32) square += (x[at + k] - mean) * (x[at + k] - mean);
    float inverse = 1 / sqrtf(warp_sum(square) / d + eps);
    if (lane == 0) m.mean[r] = mean, m.inverse[r] = inverse;
    for (int k = lane; k < d; k += 32)
        y[at + k] = gain[k] * (x[at + k] - mean) * inverse + bias[k] + (z ? z[at + k] : 0);
}

void smurf_cuda_norm(cudaStream_t s, int cap, struct rows rows, int d, float eps, const float *x, const float *gain,
                     const float *bias, const float *z, struct moments m, float *y)
{
    norm<<<(cap + WARPS - 1) / WARPS, WARPS * 32, 0, s>>>(rows, d, eps, x, gain, bias, z, m, y);
}

/* With xh the normalised row and g = gain dy:  ds = inverse (g - mean(g) - xh mean(g xh)). A lane has columns 2l, 2l+1
   of every 64, which one draw of the mask covers. */
static __global__ void norm_back(struct rows rows, int d, uint64_t place, const float *x, const float *gain,
                                 struct moments m, const float *dy, float *ds, float *dropped)
{
    uint32_t r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows.run->rows) return;
    size_t at = (size_t)r * d;
    float mean = m.mean[r], inverse = m.inverse[r], sum = 0, moment = 0;
    for (int k = lane; k < d; k += 32) {
        float g = gain[k] * dy[at + k];
        sum += g;
        moment += g * (x[at + k] - mean);
    }
    sum = warp_sum(sum) / d;
    moment = warp_sum(moment) * inverse * inverse / d;
    for (int k = 2 * lane; k < d; k += 64) {
        float v[2];
        for (int i = 0; i < 2; i++) {
            bool is = k + i < d;
            v[i] = is ? inverse * (gain[k + i] * dy[at + k + i] - sum - (x[at + k + i] - mean) * moment) : 0;
            if (is) ds[at + k + i] = v[i];
        }
        drop(rows, place, r, k, d, v);
        for (int i = 0; i < 2; i++)
            if (k + i < d) dropped[at + k + i] = v[i];
    }
}

void smurf_cuda_norm_back(cudaStream_t s, int cap, struct rows rows, int d, uint64_t place, const float *x,
                          const float *gain, struct moments m, const float *dy, float *ds, float *dropped)
{
    norm_back<<<(cap + WARPS - 1) / WARPS, WARPS * 32, 0, s>>>(rows, d, place, x, gain, m, dy, ds, dropped);
}
