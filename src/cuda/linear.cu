/*
 * linear.cu - products of matrices, with what follows them: y = x w^T + bias, dx = dy w, dw = dy^T x.
 *
 * A block computes a tile of the result. It reads STEP columns of both factors at a time into shared memory,
 * transposed, while it multiplies those before. A thread holds TM x TN results in registers. In float; every sum is in
 * the order of its index, so results do not depend on the launch.
 */
#include "cuda/kernels.cuh"

#define STEP 16

/* A factor: element (d, k) is at[d*ld + k] if k is contiguous, else at[k*ld + d]. d < dn, k < kn; 0 beyond. */
struct factor {
    const float *at;
    int ld, dn, kn;
};

/* The four elements of this thread of the part at (d0, k0). */
template <int D, bool BY_K> static __device__ __forceinline__ float4 fetch(const struct factor &f, int d0, int k0)
{
    int i = threadIdx.x, d = d0 + (BY_K ? i / (STEP / 4) : i % (D / 4) * 4);
    int k = k0 + (BY_K ? i % (STEP / 4) * 4 : i / (D / 4));
    float4 out = make_float4(0, 0, 0, 0);
    if (d >= f.dn || k >= f.kn) return out;
    const float *at = f.at + (BY_K ? (size_t)d * f.ld + k : (size_t)k * f.ld + d);
    if (f.ld % 4 == 0 && (BY_K ? f.kn : f.dn) % 4 == 0) return *(const float4 *)at;
    int left = BY_K ? f.kn - k : f.dn - d;
    out.x = at[0];
    if (left > 1) out.y = at[1];
    if (left > 2) out.z = at[2];
    if (left > 3) out.w = at[3];
    return out;
}

template <int D, bool BY_K> static __device__ __forceinline__ void keep(float (*room)[D + 4], float4 v)
{
    int i = threadIdx.x;
    if (BY_K) {
        int d = i / (STEP / 4), k = i % (STEP / 4) * 4;
        room[k][d] = v.x;
        room[k + 1][d] = v.y;
        room[k + 2][d] = v.z;
        room[k + 3][d] = v.w;
    } else {
        *(float4 *)&room[i / (D / 4)][i % (D / 4) * 4] = v;
    }
}

template <int M, int N, int TM, int TN> struct tile {
    float a[2][STEP][M + 4], b[2][STEP][N + 4];

    /* sum += a b^T for k from `from` to `to`. */
    template <bool A_BY_K, bool B_BY_K>
    __device__ __forceinline__ void multiply(struct factor fa, struct factor fb, int m0, int n0, int from, int to,
                                             float (&sum)[TM][TN])
    {
        static_assert(M * STEP / 4 == (M / TM) * (N / TN) && N == M, "each thread loads four elements of a factor");
        int ty = threadIdx.x / (N / TN), tx = threadIdx.x % (N / TN), at = 0;
        fa.kn = fb.kn = to;
        __syncthreads(); /* the last product may still be read */
        keep<M, A_BY_K>(a[0], fetch<M, A_BY_K>(fa, m0, from));
        keep<N, B_BY_K>(b[0], fetch<N, B_BY_K>(fb, n0, from));
        __syncthreads();
        for (int k = from; k < to; k += STEP, at ^= 1) {
            float4 na, nb;
            bool more = k + STEP < to;
            if (more) {
                na = fetch<M, A_BY_K>(fa, m0, k + STEP);
                nb = fetch<N, B_BY_K>(fb, n0, k + STEP);
            }
#pragma unroll
            for (int j = 0; j < STEP; j++) {
                float x[TM], y[TN];
#pragma unroll
                for (int i = 0; i < TM; i++) x[i] = a[at][j][ty * TM + i];
#pragma unroll
                for (int i = 0; i < TN; i++) y[i] = b[at][j][tx * TN + i];
#pragma unroll
                for (int i = 0; i < TM; i++)
#pragma unroll
                    for (int l = 0; l < TN; l++) sum[i][l] = fmaf(x[i], y[l], sum[i][l]);
            }
            if (more) {
                keep<M, A_BY_K>(a[at ^ 1], na);
                keep<N, B_BY_K>(b[at ^ 1], nb);
            }
            __syncthreads();
        }
    }
};

/* ---- What follows -------------------------------------------------------------------------------- */

/* Results of row r, columns c .. of a map of `out` columns. */
template <int TN>
static __device__ __forceinline__ void finish(const struct rows &rows, enum after after, const struct product &p,
                                              const float *bias, float *y, int tanh, int out, uint32_t r, int c,
                                              float (&v)[TN])
{
    size_t at = (size_t)r * out + c;
    float w[TN];
#pragma unroll
    for (int i = 0; i < TN; i++)
        if (bias && c + i < out) v[i] += bias[c + i];
    switch (after) {
    case AFTER_RESIDUAL: drop(rows, p.place, r, c, out, v); break;
    case AFTER_ACTIVATION:
#pragma unroll
        for (int i = 0; i < TN; i++) w[i] = activated(p.relu, v[i]);
        drop(rows, p.place, r, c, out, w);
        break;
    case AFTER_UNACTIVATE:
#pragma unroll
        for (int i = 0; i < TN; i++) w[i] = c + i < out ? slope(p.relu, p.other[at + i]) * v[i] : 0;
        drop(rows, p.place, r, c, out, w);
        break;
    default: break;
    }
#pragma unroll
    for (int i = 0; i < TN; i++) {
        if (c + i >= out) continue;
        switch (after) {
        case AFTER_MAPS: y[at + i] = tanh ? tanhf(v[i]) : v[i]; break;
        case AFTER_ADD: y[at + i] += v[i]; break;
        case AFTER_RESIDUAL: y[at + i] = v[i] + p.other[at + i]; break;
        case AFTER_ACTIVATION:
            y[at + i] = v[i];
            p.y2[at + i] = w[i];
            break;
        case AFTER_BACK: y[at + i] = v[i] + (p.other ? p.other[at + i] : 0); break;
        case AFTER_UNACTIVATE: y[at + i] = w[i]; break;
        case AFTER_UNITS: {
            float h = p.other[at + i], a = p.other2[at + i], db = v[i] * (1 - h * h);
            y[at + i] = db;
            p.y2[at + i] = db * (float)rows.target_gap[r] * (1 - a * a);
            break;
        }
        }
    }
}

template <int M, int N, int TM, int TN>
static __device__ __forceinline__ void finish_tile(const struct rows &rows, enum after after, const struct product &p,
                                                   const float *bias, float *y, int tanh, int out, int m0, int n0,
                                                   float (&sum)[TM][TN])
{
    int ty = threadIdx.x / (N / TN), tx = threadIdx.x % (N / TN), c = n0 + tx * TN;
    if (c >= out) return;
#pragma unroll
    for (int i = 0; i < TM; i++) {
        uint32_t r = (uint32_t)(m0 + ty * TM + i);
        if (r < rows.run->rows) finish<TN>(rows, after, p, bias, y, tanh, out, r, c, sum[i]);
    }
}

/* ---- Kernels --------------------------------------------------------------------------------------- */

template <int M, int N, int TM, int TN>
static __global__ void __launch_bounds__((M / TM) * (N / TN))
    forward(struct rows rows, enum after after, const float *x, struct maps maps, struct product p)
{
    __shared__ struct tile<M, N, TM, TN> tile;
    int m0 = blockIdx.x * M, t = blockIdx.y, j = 0, n = (int)rows.run->rows;
    if (m0 >= n) return;
    for (; t >= (maps.map[j].out + N - 1) / N; j++) t -= (maps.map[j].out + N - 1) / N;
    float sum[TM][TN] = {};
    tile.template multiply<true, true>({x, p.in, n, p.in}, {maps.map[j].w, p.in, maps.map[j].out, p.in}, m0, t * N, 0,
                                       p.in, sum);
    finish_tile<M, N, TM, TN>(rows, after, p, maps.map[j].bias, maps.map[j].y, maps.map[j].tanh, maps.map[j].out, m0,
                              t * N, sum);
}

template <int M, int N, int TM, int TN>
static __global__ void __launch_bounds__((M / TM) * (N / TN))
    backward(struct rows rows, enum after after, struct pairs pairs, struct product p)
{
    __shared__ struct tile<M, N, TM, TN> tile;
    int m0 = blockIdx.x * M, n0 = blockIdx.y * N, n = (int)rows.run->rows;
    if (m0 >= n) return;
    float sum[TM][TN] = {};
    for (int j = 0; j < pairs.count; j++) {
        int k = pairs.pair[j].k;
        tile.template multiply<true, false>({pairs.pair[j].dy, k, n, k}, {pairs.pair[j].w, p.out, p.out, k}, m0, n0, 0,
                                            k, sum);
    }
    finish_tile<M, N, TM, TN>(rows, after, p, NULL, p.y, 0, p.out, m0, n0, sum);
}

/* Small tiles where large ones would leave most of the card idle. */
static bool is_large(int cap, int column_tiles)
{
    return (cap + 63) / 64 * column_tiles >= 200;
}

void smurf_cuda_forward(cudaStream_t s, int cap, struct rows rows, enum after after, const float *x,
                        const struct maps &maps, const struct product &p)
{
    int large = 0, small = 0;
    for (int j = 0; j < maps.count; j++) {
        large += (maps.map[j].out + 63) / 64;
        small += (maps.map[j].out + 31) / 32;
    }
    if (is_large(cap, large))
        forward<64, 64, 4, 4><<<dim3((cap + 63) / 64, large), 256, 0, s>>>(rows, after, x, maps, p);
    else
        forward<32, 32, 4, 2><<<dim3((cap + 31) / 32, small), 128, 0, s>>>(rows, after, x, maps, p);
}

void smurf_cuda_backward(cudaStream_t s, int cap, struct rows rows, enum after after, const struct pairs &pairs,
                         const struct product &p)
{
    if (is_large(cap, (p.out + 63) / 64))
        backward<64, 64, 4, 4><<<dim3((cap + 63) / 64, (p.out + 63) / 64), 256, 0, s>>>(rows, after, pairs, p);
    else
        backward<32, 32, 4, 2><<<dim3((cap + 31) / 32, (p.out + 31) / 32), 128, 0, s>>>(rows, after, pairs, p);
}

/* ---- Gradients of maps ------------------------------------------------------------------------------ */

enum { G = 64 };

int smurf_cuda_gradient_tiles(int out, int in)
{
    return (out + G - 1) / G * ((in + G - 1) / G);
}

static __global__ void __launch_bounds__(256)
    gradients(struct rows rows, const struct gradient_task *task, int tasks, struct splits splits)
{
    __shared__ struct tile<G, G, 4, 4> tile;
    int low = 0, high = tasks, t = blockIdx.x;
    while (high - low > 1) { /* the last task that begins at or before t */
        int middle = (low + high) / 2;
        if (task[middle].tile <= t)
            low = middle;
        else
            high = middle;
    }
    const struct gradient_task w = task[low];
    int across = (w.in + G - 1) / G, m0 = (t - w.tile) / across * G, n0 = (t - w.tile) % across * G;
    uint32_t from = blockIdx.y * splits.each, to = from + splits.each;
    if (to > rows.run->rows) to = rows.run->rows;
    float sum[4][4] = {};
    if (from < to)
        tile.multiply<false, false>({w.dy, w.out, w.out, 0}, {w.x, w.in, w.in, 0}, m0, n0, (int)from, (int)to, sum);
    float *dw = splits.slab + blockIdx.y * splits.total + w.to;
    int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (m0 + ty * 4 + i < w.out && n0 + tx * 4 + j < w.in)
                dw[(size_t)(m0 + ty * 4 + i) * w.in + n0 + tx * 4 + j] = sum[i][j];
}

void smurf_cuda_gradients(cudaStream_t s, struct rows rows, const struct gradient_task *task, int tasks, int tiles,
                          struct splits splits)
{
    gradients<<<dim3(tiles, splits.count), 256, 0, s>>>(rows, task, tasks, splits);
}

/* ---- Sums of columns --------------------------------------------------------------------------------- */

int smurf_cuda_column_tiles(int n)
{
    return (n + 31) / 32;
}

/* 32 columns; 8 threads share the rows of each. */
static __global__ void __launch_bounds__(256)
    columns(struct rows rows, const struct column_task *task, int tasks, struct splits splits)
{
    __shared__ float room[2][8][33];
    int low = 0, high = tasks, t = blockIdx.x, lane = threadIdx.x % 32, part = threadIdx.x / 32;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (task[middle].tile <= t)
            low = middle;
        else
            high = middle;
    }
    const struct column_task w = task[low];
    int c = (t - w.tile) * 32 + lane;
    uint32_t n = w.rows ? w.rows : rows.run->rows;
    uint32_t each = w.rows ? (w.rows + splits.count - 1) / splits.count : splits.each;
    uint32_t from = blockIdx.y * each, to = from + each < n ? from + each : n;
    float sum = 0, gain = 0;
    if (c < w.n)
        for (uint32_t r = from + part; r < to; r += 8) {
            size_t at = (size_t)r * w.ld + c;
            if (w.mean) {
                float dy = w.dy[at];
                sum += dy;
                gain += dy * (w.x[at] - w.mean[r]) * w.inverse[r];
            } else {
                sum += w.x[at];
            }
        }
    room[0][part][lane] = sum;
    room[1][part][lane] = gain;
    __syncthreads();
    if (part >= 2 || c >= w.n || (part == 1 && !w.mean)) return;
    float all = 0;
    for (int i = 0; i < 8; i++) all += room[part][i][lane];
    splits.slab[blockIdx.y * splits.total + (part ? w.gain : w.to) + c] = all;
}

void smurf_cuda_columns(cudaStream_t s, struct rows rows, const struct column_task *task, int tasks, int tiles,
                        struct splits splits)
{
    columns<<<dim3(tiles, splits.count), 256, 0, s>>>(rows, task, tasks, splits);
}
