/*
 * layer.cu - what a layer does row by row, as one kernel forward and one backward, for models of width 64: launches and
 * the way of activations through memory cost more than the arithmetic of small batches. The same results, with the same
 * order of sums but within products, as linear.cu and norm.cu give one by one.
 *
 *     forward    from attention's output: out map, dropout, residual, norm; inner map, activation, dropout, outer map,
 *                dropout, residual, norm; then the next layer's queries, keys and values
 *     backward   from the gradients of the layer above's queries, keys and values, or from that of the output, to that
 *                of attention's output
 *
 * A block has R = 4 TR rows and four groups of 64 threads. A product of few columns is divided between groups by its
 * sum, one of many by columns. A thread of a group has TR rows and 4 columns of 64. Between products, a thread has 4
 * columns of row tid/16, tid/16 + 16, ..: 16 threads have a row.
 */
#include "cuda/kernels.cuh"

#include <stddef.h>

enum { D = 64, LD = D + 4, STEP = 16, GROUPS = 4, THREADS = 256, INNER_MOST = 512 };

template <int TR> struct room {
    float a[4 * TR][LD], p[GROUPS][4 * TR][LD], w[GROUPS][2][STEP][LD];
    float g[1]; /* (R x ld) */
};

/* ---- Products ------------------------------------------------------------------------------------------ */

/* Four groups wait for their own threads only. */
static __device__ __forceinline__ void group_sync(int group)
{
    asm volatile("bar.sync %0, 64;" ::"r"(group + 1) : "memory");
}

/* The 16 x 64 part of a map at sum index k0 and column n0: element (k, n) is w[n*ld + k] if BY_K, else w[k*ld + n]; 0
   from column `most` on. */
template <bool BY_K>
static __device__ __forceinline__ void fetch(float4 (&v)[4], const float *w, int ld, int n0, int k0, int most)
{
    int t = threadIdx.x % 64;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int i = t + 64 * j, n = n0 + (BY_K ? i / 4 : i % 16 * 4), k = k0 + (BY_K ? i % 4 * 4 : i / 16);
        v[j] = n < most ? *(const float4 *)(w + (BY_K ? (size_t)n * ld + k : (size_t)k * ld + n))
                        : make_float4(0, 0, 0, 0);
    }
}

template <bool BY_K> static __device__ __forceinline__ void keep(float (*w)[LD], const float4 (&v)[4])
{
    int t = threadIdx.x % 64;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int i = t + 64 * j;
        if (BY_K) {
            int n = i / 4, k = i % 4 * 4;
            w[k][n] = v[j].x;
            w[k + 1][n] = v[j].y;
            w[k + 2][n] = v[j].z;
            w[k + 3][n] = v[j].w;
        } else {
            *(float4 *)&w[i / 16][i % 16 * 4] = v[j];
        }
    }
}

/* sum = a (R x k, lda apart) times columns n0 .. of a map, over steps `from`, from + by, .. below `to`. By one group.
 */
template <int TR, bool BY_K>
static __device__ __forceinline__ void multiply(struct room<TR> &m, const float *a, int lda, const float *w, int ld,
                                                int n0, int most, int from, int by, int to, float (&sum)[TR][4])
{
    int group = threadIdx.x / 64, ty = threadIdx.x % 64 / 16, tx = threadIdx.x % 16, at = 0;
    float4 next[4];
#pragma unroll
    for (int i = 0; i < TR; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] = 0;
    if (from >= to) return;
    fetch<BY_K>(next, w, ld, n0, from * STEP, most);
    group_sync(group); /* the last product may still be read */
    keep<BY_K>(m.w[group][0], next);
    group_sync(group);
    for (int s = from; s < to; s += by, at ^= 1) {
        bool more = s + by < to;
        if (more) fetch<BY_K>(next, w, ld, n0, (s + by) * STEP, most);
#pragma unroll
        for (int k = 0; k < STEP; k += 4) {
            float4 y[4];
#pragma unroll
            for (int l = 0; l < 4; l++) y[l] = *(const float4 *)&m.w[group][at][k + l][tx * 4];
#pragma unroll
            for (int i = 0; i < TR; i++) {
                float4 x = *(const float4 *)(a + (size_t)(ty * TR + i) * lda + s * STEP + k);
                const float c[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
                for (int l = 0; l < 4; l++) {
                    sum[i][0] = fmaf(c[l], y[l].x, sum[i][0]);
                    sum[i][1] = fmaf(c[l], y[l].y, sum[i][1]);
                    sum[i][2] = fmaf(c[l], y[l].z, sum[i][2]);
                    sum[i][3] = fmaf(c[l], y[l].w, sum[i][3]);
                }
            }
        }
        if (more) keep<BY_K>(m.w[group][at ^ 1], next);
        group_sync(group);
    }
}

/* A product over `steps` steps of 64 columns or fewer, divided between the groups: parts to m.p, to be added by
   added(). */
template <int TR, bool BY_K>
static __device__ __forceinline__ void divided(struct room<TR> &m, const float *a, int lda, const float *w, int ld,
                                               int most, int steps)
{
    int group = threadIdx.x / 64, ty = threadIdx.x % 64 / 16, tx = threadIdx.x % 16;
    float sum[TR][4];
    multiply<TR, BY_K>(m, a, lda, w, ld, 0, most, group, GROUPS, steps, sum);
#pragma unroll
    for (int i = 0; i < TR; i++)
        *(float4 *)&m.p[group][ty * TR + i][tx * 4] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    __syncthreads();
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

/* This thread's four columns of a row. */
struct four {
    float x[4];
};

static __device__ __forceinline__ struct four get(const float *from)
{
    float4 v = *(const float4 *)from;
    return {{v.x, v.y, v.z, v.w}};
}

static __device__ __forceinline__ void put(float *to, const struct four &v)
{
    *(float4 *)to = make_float4(v.x[0], v.x[1], v.x[2], v.x[3]);
}

template <int TR> static __device__ __forceinline__ struct four added(const struct room<TR> &m, int row, int c)
{
    struct four out = get(&m.p[0][row][c]);
#pragma unroll
    for (int g = 1; g < GROUPS; g++) {
        struct four more = get(&m.p[g][row][c]);
#pragma unroll
        for (int i = 0; i < 4; i++) out.x[i] += more.x[i];
    }
    return out;
}

static __device__ __forceinline__ struct four sum_of(struct four a, const struct four &b)
{
#pragma unroll
    for (int i = 0; i < 4; i++) a.x[i] += b.x[i];
    return a;
}

/* Over the 16 threads of a row. */
static __device__ __forceinline__ float row_sum(float x)
{
#pragma unroll
    for (int step = 8; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

/* The normalised row; keeps its moments if `is`. */
static __device__ __forceinline__ struct four normalised(const struct four &s, float eps, const float *gain,
                                                         const float *bias, int c, struct moments m, uint32_t r,
                                                         bool is)
{
    float sum = row_sum(s.x[0] + s.x[1] + s.x[2] + s.x[3]), square = 0;
    float mean = sum / D;
#pragma unroll
    for (int i = 0; i < 4; i++) square += (s.x[i] - mean) * (s.x[i] - mean);
    float inverse = 1 / sqrtf(row_sum(square) / D + eps);
    struct four out = {}, g = get(gain + c), b = get(bias + c);
    if (is && c == 0) m.mean[r] = mean, m.inverse[r] = inverse;
#pragma unroll
    for (int i = 0; i < 4; i++) out.x[i] = g.x[i] * (s.x[i] - mean) * inverse + b.x[i];
    return out;
}

/* The gradient of a row before its norm, from that after it. */
static __device__ __forceinline__ struct four unnormalised(const struct four &s, const struct four &dy, float mean,
                                                           float inverse, const float *gain, int c)
{
    struct four g = get(gain + c), out = {};
    float sum = 0, moment = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        g.x[i] *= dy.x[i];
        sum += g.x[i];
        moment += g.x[i] * (s.x[i] - mean);
    }
    sum = row_sum(sum) / D;
    moment = row_sum(moment) * inverse * inverse / D;
#pragma unroll
    for (int i = 0; i < 4; i++) out.x[i] = inverse * (g.x[i] - sum - (s.x[i] - mean) * moment);
    return out;
}

/* Columns of an array (rows x n) to `to`, 0 beyond the batch. */
static __device__ __forceinline__ void load(float *to, int ld, const float *from, int n, int rows, uint32_t r0,
                                            uint32_t last)
{
    for (int i = threadIdx.x; i < rows * n / 4; i += THREADS) {
        int row = i / (n / 4), c = i % (n / 4) * 4;
        float4 v = make_float4(0, 0, 0, 0);
        if (r0 + row < last) v = *(const float4 *)(from + (size_t)(r0 + row) * n + c);
        *(float4 *)(to + (size_t)row * ld + c) = v;
    }
}

/* ---- Forward --------------------------------------------------------------------------------------------------- */

template <int TR> static __global__ void __launch_bounds__(THREADS) rows_forward(struct rows rows, struct row_layer l)
{
    extern __shared__ __align__(16) char shared[];
    struct room<TR> &m = *(struct room<TR> *)shared;
    enum { R = 4 * TR };
    uint32_t n = rows.run->rows, r0 = blockIdx.x * R;
    if (r0 >= n) return;
    int group = threadIdx.x / 64, ty = threadIdx.x % 64 / 16, tx = threadIdx.x % 16, c = tx * 4;
    const struct mask mask_out = mask_of(rows.run, l.place + DROP_OUT),
                      mask_inner = mask_of(rows.run, l.place + DROP_INNER),
                      mask_outer = mask_of(rows.run, l.place + DROP_OUTER);
    struct four x1[R / 16];
    load(&m.a[0][0], LD, l.o, l.hw, R, r0, n);
    __syncthreads();
    divided<TR, true>(m, &m.a[0][0], LD, l.out, l.hw, D, l.hw / STEP);
#pragma unroll
    for (int j = 0; j < R / 16; j++) {
        int row = threadIdx.x / 16 + 16 * j;
        uint32_t r = r0 + row;
        size_t at = (size_t)r * D + c;
        bool is = r < n;
        struct four s = sum_of(added(m, row, c), get(l.out_bias + c));
        if (is) {
            drop(mask_out, rows.id[r], c, D, s.x);
            s = sum_of(s, get(l.in + at));
            put(l.s1 + at, s);
        }
        x1[j] = normalised(s, l.eps, l.gain1, l.bias1, c, l.norm1, r, is);
        put(&m.a[row][c], x1[j]);
        if (is) put(l.x1 + at, x1[j]);
    }
    __syncthreads();
    for (int t = group; t < l.inner / D; t += GROUPS) {
        float sum[TR][4];
        multiply<TR, true>(m, &m.a[0][0], LD, l.inner_w, D, t * D, l.inner, 0, 1, D / STEP, sum);
        struct four bias = get(l.inner_bias + t * D + c);
#pragma unroll
        for (int i = 0; i < TR; i++) {
            int row = ty * TR + i;
            uint32_t r = r0 + row;
            size_t at = (size_t)r * l.inner + t * D + c;
            struct four f = sum_of({{sum[i][0], sum[i][1], sum[i][2], sum[i][3]}}, bias), g;
#pragma unroll
            for (int e = 0; e < 4; e++) g.x[e] = activated(l.relu, f.x[e]);
            if (r < n) {
                drop(mask_inner, rows.id[r], t * D + c, l.inner, g.x);
                put(l.f + at, f);
                put(l.g + at, g);
            }
            put(m.g + (size_t)row * l.ld + t * D + c, g);
        }
    }
    __syncthreads();
    divided<TR, true>(m, m.g, l.ld, l.outer, l.inner, D, l.inner / STEP);
#pragma unroll
    for (int j = 0; j < R / 16; j++) {
        int row = threadIdx.x / 16 + 16 * j;
        uint32_t r = r0 + row;
        size_t at = (size_t)r * D + c;
        bool is = r < n;
        struct four s = sum_of(added(m, row, c), get(l.outer_bias + c));
        if (is) {
            drop(mask_outer, rows.id[r], c, D, s.x);
            s = sum_of(s, x1[j]);
            put(l.s2 + at, s);
        }
        struct four x = normalised(s, l.eps, l.gain2, l.bias2, c, l.norm2, r, is);
        if (is && l.z) x = sum_of(x, get(l.z + at));
        if (is) put(l.x + at, x);
        put(&m.a[row][c], x);
    }
    if (!l.qkv) return;
    __syncthreads();
    if (group == 3) return;
    float sum[TR][4], *to = group == 0 ? l.q : group == 1 ? l.k : l.v;
    multiply<TR, true>(m, &m.a[0][0], LD, l.qkv + (size_t)group * l.hw * D, D, 0, l.hw, 0, 1, D / STEP, sum);
#pragma unroll
    for (int i = 0; i < TR; i++) {
        uint32_t r = r0 + ty * TR + i;
        if (r < n && c < l.hw) put(to + (size_t)r * l.hw + c, {{sum[i][0], sum[i][1], sum[i][2], sum[i][3]}});
    }
}

/* ---- Backward --------------------------------------------------------------------------------------------------- */

template <int TR> static __global__ void __launch_bounds__(THREADS) rows_backward(struct rows rows, struct row_layer l)
{
    extern __shared__ __align__(16) char shared[];
    struct room<TR> &m = *(struct room<TR> *)shared;
    enum { R = 4 * TR };
    uint32_t n = rows.run->rows, r0 = blockIdx.x * R;
    if (r0 >= n) return;
    int group = threadIdx.x / 64, ty = threadIdx.x % 64 / 16, c = threadIdx.x % 16 * 4;
    const struct mask mask_out = mask_of(rows.run, l.place + DROP_OUT),
                      mask_inner = mask_of(rows.run, l.place + DROP_INNER),
                      mask_outer = mask_of(rows.run, l.place + DROP_OUTER);
    struct four ds2[R / 16];
    if (l.qkv) { /* the layer above */
        load(m.g, l.ld, l.q, l.hw, R, r0, n);
        load(m.g + l.hw, l.ld, l.k, l.hw, R, r0, n);
        load(m.g + 2 * l.hw, l.ld, l.v, l.hw, R, r0, n);
        __syncthreads();
        divided<TR, false>(m, m.g, l.ld, l.qkv, D, D, 3 * l.hw / STEP);
    }
#pragma unroll
    for (int j = 0; j < R / 16; j++) {
        int row = threadIdx.x / 16 + 16 * j;
        uint32_t r = r0 + row;
        size_t at = (size_t)r * D + c;
        bool is = r < n;
        struct four dx = {}, s = {}, dy;
        float mean = 0, inverse = 0;
        if (is) {
            if (l.qkv) {
                dx = sum_of(added(m, row, c), get(l.ds1 + at));
                put(l.dx + at, dx);
            } else {
                dx = get(l.dx + at);
            }
            s = get(l.s2 + at);
            mean = l.norm2.mean[r], inverse = l.norm2.inverse[r];
        }
        dy = ds2[j] = unnormalised(s, dx, mean, inverse, l.gain2, c);
        if (is) {
            drop(mask_outer, rows.id[r], c, D, dy.x);
            put(l.dy2 + at, dy);
        }
        put(&m.a[row][c], dy);
    }
    __syncthreads();
    for (int t = group; t < l.inner / D; t += GROUPS) {
        float sum[TR][4];
        multiply<TR, false>(m, &m.a[0][0], LD, l.outer, l.inner, t * D, l.inner, 0, 1, D / STEP, sum);
#pragma unroll
        for (int i = 0; i < TR; i++) {
            int row = ty * TR + i;
            uint32_t r = r0 + row;
            size_t at = (size_t)r * l.inner + t * D + c;
            struct four df = {};
            if (r < n) {
                struct four f = get(l.f + at);
#pragma unroll
                for (int e = 0; e < 4; e++) df.x[e] = sum[i][e] * slope(l.relu, f.x[e]);
                drop(mask_inner, rows.id[r], t * D + c, l.inner, df.x);
                put(l.df + at, df);
            }
            put(m.g + (size_t)row * l.ld + t * D + c, df);
        }
    }
    __syncthreads();
    divided<TR, false>(m, m.g, l.ld, l.inner_w, D, D, l.inner / STEP);
#pragma unroll
    for (int j = 0; j < R / 16; j++) {
        int row = threadIdx.x / 16 + 16 * j;
        uint32_t r = r0 + row;
        size_t at = (size_t)r * D + c;
        bool is = r < n;
        struct four dx1 = sum_of(added(m, row, c), ds2[j]), s = {}, dy;
        float mean = 0, inverse = 0;
        if (is) {
            put(l.dx1 + at, dx1);
            s = get(l.s1 + at);
            mean = l.norm1.mean[r], inverse = l.norm1.inverse[r];
        }
        dy = unnormalised(s, dx1, mean, inverse, l.gain1, c);
        if (is) {
            put(l.ds1 + at, dy);
            drop(mask_out, rows.id[r], c, D, dy.x);
            put(l.dy1 + at, dy);
        }
        put(&m.a[row][c], dy);
    }
    __syncthreads();
    divided<TR, false>(m, &m.a[0][0], LD, l.out, l.hw, l.hw, D / STEP);
#pragma unroll
    for (int j = 0; j < R / 16; j++) {
        int row = threadIdx.x / 16 + 16 * j;
        uint32_t r = r0 + row;
        if (r < n && c < l.hw) put(l.dout + (size_t)r * l.hw + c, added(m, row, c));
    }
}

/* ---- Launches ------------------------------------------------------------------------------------------------------
 */

static int ld_of(const struct cuda_model *m)
{
    int hw = (int)(m->heads * m->head_width), inner = (int)m->inner;
    return (inner > 3 * hw ? inner : 3 * hw) + 4;
}

template <int TR> static size_t size_of(int ld)
{
    return offsetof(struct room<TR>, g) + (size_t)(4 * TR) * (size_t)ld * sizeof(float);
}

bool smurf_cuda_layer_fits(const struct cuda_model *m)
{
    size_t hw = m->heads * m->head_width;
    bool joined = true; /* the maps of queries, keys and values follow each other */
    for (size_t i = 0; i < m->layers; i++)
        joined =
            joined && m->layer[i].key == m->layer[i].query + hw * D && m->layer[i].value == m->layer[i].key + hw * D;
    return joined && m->width == D && hw % STEP == 0 && hw <= D && m->inner % D == 0 && m->inner <= INNER_MOST;
}

template <int TR> static void allow(int ld)
{
    cudaFuncSetAttribute(rows_forward<TR>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)size_of<TR>(ld));
    cudaFuncSetAttribute(rows_backward<TR>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)size_of<TR>(ld));
}

int smurf_cuda_layer_init(const struct cuda_model *m)
{
    allow<4>(ld_of(m)), allow<8>(ld_of(m));
    return cudaGetLastError() != cudaSuccess;
}

/* Blocks of 16 rows while there are no more of them than multiprocessors (of an H200), else of 32: those of 48, one for
   each multiprocessor at 64 sequences, take longer. */
static bool are_few(int cap)
{
    return cap <= 132 * 16;
}

template <int TR> static void forward(cudaStream_t s, int cap, struct rows rows, const struct row_layer &l)
{
    rows_forward<TR><<<(cap + 4 * TR - 1) / (4 * TR), THREADS, size_of<TR>(l.ld), s>>>(rows, l);
}

template <int TR> static void backward(cudaStream_t s, int cap, struct rows rows, const struct row_layer &l)
{
    rows_backward<TR><<<(cap + 4 * TR - 1) / (4 * TR), THREADS, size_of<TR>(l.ld), s>>>(rows, l);
}

void smurf_cuda_layer_forward(cudaStream_t s, int cap, struct rows rows, const struct row_layer &l)
{
    if (are_few(cap))
        forward<4>(s, cap, rows, l);
    else
        forward<8>(s, cap, rows, l);
}

void smurf_cuda_layer_backward(cudaStream_t s, int cap, struct rows rows, const struct row_layer &l)
{
    if (are_few(cap))
        backward<4>(s, cap, rows, l);
    else
        backward<8>(s, cap, rows, l);
}
