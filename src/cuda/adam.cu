/*
 * adam.cu - sums of the splits, the loss, and Adam, as train/adam.c.
 */
#include "cuda/kernels.cuh"

/* gradient = sum of the splits, in order; square: sum of the squares of each block's share. */
static __global__ void reduce(struct splits splits, float *gradient, double *square)
{
    __shared__ double room[32];
    double mine = 0;
    for (size_t i = blockIdx.x * (size_t)REDUCE_BLOCK + threadIdx.x;
         i < splits.total && i < (blockIdx.x + 1) * (size_t)REDUCE_BLOCK; i += blockDim.x) {
        float sum = 0;
        for (int s = 0; s < splits.count; s++) sum += splits.slab[s * splits.total + i];
        gradient[i] = sum;
        mine += (double)sum * (double)sum;
    }
    mine = block_sum(mine, room);
    if (threadIdx.x == 0) square[blockIdx.x] = mine;
}

void smurf_cuda_reduce(cudaStream_t s, struct splits splits, float *gradient, double *square)
{
    reduce<<<(unsigned)((splits.total + REDUCE_BLOCK - 1) / REDUCE_BLOCK), 256, 0, s>>>(splits, gradient, square);
}

/* One block. */
static __global__ void result(struct rows rows, int censored, struct coefficients c, const double *square,
                              size_t squares, struct cuda_loss *loss)
{
    __shared__ double room[32];
    double time = 0, type = 0, right = 0, gaps = 0, typed = 0, norm = 0;
    for (uint32_t r = threadIdx.x; r < rows.run->rows; r += blockDim.x) {
        uint32_t kind = rows.target[r];
        if (kind == CUDA_NONE) continue;
        time += c.time[r];
        gaps += kind == CUDA_EVENT || censored;
        if (kind != CUDA_EVENT) continue;
        typed += 1;
        type += c.type_loss[r];
        right += c.right[r];
    }
    for (size_t i = threadIdx.x; i < squares; i += blockDim.x) norm += square[i];
    time = block_sum(time, room);
    type = block_sum(type, room);
    right = block_sum(right, room);
    gaps = block_sum(gaps, room);
    typed = block_sum(typed, room);
    norm = block_sum(norm, room);
    if (threadIdx.x == 0) *loss = {time, type, right, gaps, typed, norm};
}

void smurf_cuda_result(cudaStream_t s, struct rows rows, int censored, const struct coefficients &c,
                       const double *square, size_t squares, struct cuda_loss *loss)
{
    result<<<1, 1024, 0, s>>>(rows, censored, c, square, squares, loss);
}

static __global__ void move(size_t n, const float *g, float factor, float rate, float inverse, float decay, float *m,
                            float *v, float *w, float *average)
{
    const float b1 = 0.9f, b2 = 0.999f, eps = 1e-5f;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = g[i] * factor, first = b1 * m[i] + (1 - b1) * x, second = b2 * v[i] + (1 - b2) * x * x;
    m[i] = first;
    v[i] = second;
    x = w[i] - rate * first / (sqrtf(second * inverse) + eps);
    w[i] = x;
    if (average) average[i] = decay * average[i] + (1 - decay) * x;
}

void smurf_cuda_adam(cudaStream_t s, size_t n, const float *g, float factor, float rate, float inverse, float decay,
                     float *m, float *v, float *w, float *average)
{
    move<<<(unsigned)((n + 255) / 256), 256, 0, s>>>(n, g, factor, rate, inverse, decay, m, v, w, average);
}
