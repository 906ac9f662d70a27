/*
 * attention.cu - causal attention, streamed, as op/attention.c: see there for the formulas.
 *
 * A block takes SIDE packed rows of one head as queries (or, for the gradients of keys and values, as keys) and walks
 * over the tiles of SIDE rows that they see (that see them). Rows of several sequences may share a tile: what is not of
 * the row's own sequence, or later, is masked. Heads are padded with zeros to W columns.
 *
 * Threads are 16 x TX. Thread (ty, tx) has rows TR ty .. of a tile, its columns tx + TX j, and of a head the columns
 * VECTOR tx .. of every TX VECTOR. Nothing is summed by two blocks.
 */
#include "cuda/kernels.cuh"

#include <stddef.h>

enum { STRIDE_BITS = 24, NOBODY = -1 };

template <int W, int SIDE> struct room {
    enum {
        TX = SIDE / 4,
        TR = SIDE / 16,
        THREADS = 16 * TX,
        OUT = W / TX,
        VECTOR = OUT < 4 ? OUT : 4,
        BYTES = SIDE / 8 + 1
    };
    float row[SIDE][W + 4]; /* q, or k */
    float one[SIDE][W + 4], two[SIDE][W + 4];
    float p[SIDE][SIDE + 4];
    uint32_t start[SIDE];
    uint64_t id[SIDE];
    uint8_t kept[SIDE][(BYTES + 7) / 8 * 8];
    float lse[SIDE], delta[SIDE];
    /* Backward only: */
    float three[SIDE][W + 4], ds[SIDE][SIDE + 4];
};

#define TILE       template <int W, int SIDE>
#define ROOM       struct room<W, SIDE>
#define SIZE(name) (room<W, SIDE>::name)

template <int N> static __device__ __forceinline__ void read(float *to, const float *from)
{
    if (N == 4)
        *(float4 *)to = *(const float4 *)from;
    else if (N == 2)
        *(float2 *)to = *(const float2 *)from;
    else
        for (int i = 0; i < N; i++) to[i] = from[i];
}

/* Rows r0 .. of a head, 0 beyond the batch and the head's width. */
TILE static __device__ __forceinline__ void load(float (*to)[W + 4], const float *from, const struct heads &h, int head,
                                                 uint32_t r0, uint32_t n)
{
    size_t ld = (size_t)h.count * h.width;
    if (h.width % 4 == 0) {
        for (int i = threadIdx.x; i < SIDE * W / 4; i += SIZE(THREADS)) {
            int row = i / (W / 4), column = i % (W / 4) * 4;
            float4 x = make_float4(0, 0, 0, 0);
            if (r0 + row < n && column < h.width)
                x = *(const float4 *)(from + (r0 + row) * ld + (size_t)head * h.width + column);
            *(float4 *)&to[row][column] = x;
        }
        return;
    }
    for (int i = threadIdx.x; i < SIDE * W; i += SIZE(THREADS)) {
        int row = i / W, column = i % W;
        bool is = r0 + row < n && column < h.width;
        to[row][column] = is ? from[(r0 + row) * ld + (size_t)head * h.width + column] : 0;
    }
}

/* Masks of the tile of queries at hand and keys k0: BYTES blocks of 8 columns cover it. */
TILE static __device__ __forceinline__ void draw(ROOM &m, const struct run *run, uint64_t stream, const struct heads &h,
                                                 int head, uint32_t k0)
{
    if (run->threshold == 0) return;
    for (int i = threadIdx.x; i < SIDE * SIZE(BYTES); i += SIZE(THREADS)) {
        int q = i / SIZE(BYTES), b = i % SIZE(BYTES);
        int64_t block = (((int64_t)k0 - m.start[q]) >> 3) + b;
        uint32_t bits = 0;
        if (block >= 0) {
            uint64_t element = (m.id[q] * h.count + head) << STRIDE_BITS;
            bits = kept({run->seed, stream, run->threshold, run->keep}, element / 8 + (uint64_t)block);
        }
        m.kept[q][b] = (uint8_t)bits;
    }
}

/* The factor of query q and key k0 + k. */
TILE static __device__ __forceinline__ float factor(const ROOM &m, const struct run *run, uint32_t k0, int q, int k)
{
    if (run->threshold == 0) return 1;
    int first = (int)(k0 - m.start[q]), column = first + k;
    if (column < 0) return 0; /* of another sequence: masked anyway */
    return m.kept[q][(column >> 3) - (first >> 3)] >> (column & 7) & 1 ? run->keep : 0;
}

/* s[i][j] = a[TR ty + i] . b[tx + TX j] */
TILE static __device__ __forceinline__ void products(float (*a)[W + 4], float (*b)[W + 4], float (&s)[SIZE(TR)][4])
{
    int ty = threadIdx.x / SIZE(TX), tx = threadIdx.x % SIZE(TX);
#pragma unroll
    for (int i = 0; i < SIZE(TR); i++)
#pragma unroll
        for (int j = 0; j < 4; j++) s[i][j] = 0;
#pragma unroll 4
    for (int k = 0; k < W; k += 4) {
        float x[SIZE(TR)][4], y[4][4];
#pragma unroll
        for (int i = 0; i < SIZE(TR); i++) read<4>(x[i], &a[SIZE(TR) * ty + i][k]);
#pragma unroll
        for (int j = 0; j < 4; j++) read<4>(y[j], &b[tx + SIZE(TX) * j][k]);
#pragma unroll
        for (int l = 0; l < 4; l++)
#pragma unroll
            for (int i = 0; i < SIZE(TR); i++)
#pragma unroll
                for (int j = 0; j < 4; j++) s[i][j] = fmaf(x[i][l], y[j][l], s[i][j]);
    }
}

/* The columns of a head that this thread has: number j. */
TILE static __device__ __forceinline__ int column_of(int j)
{
    return (threadIdx.x % SIZE(TX) + j / SIZE(VECTOR) * SIZE(TX)) * SIZE(VECTOR) + j % SIZE(VECTOR);
}

/* out[i] += sum over k of p[TR ty + i][k] x[k]; or of p[k][TR ty + i], TURNED. */
template <int W, int SIDE, bool TURNED>
static __device__ __forceinline__ void spread(float (*p)[SIDE + 4], float (*x)[W + 4],
                                              float (&out)[SIZE(TR)][SIZE(OUT)])
{
    int ty = threadIdx.x / SIZE(TX);
#pragma unroll 2
    for (int k0 = 0; k0 < SIDE; k0 += 4) {
        float a[SIZE(TR)][4];
        if (TURNED) {
#pragma unroll
            for (int l = 0; l < 4; l++) {
                float column[SIZE(TR)];
                read<SIZE(TR)>(column, &p[k0 + l][SIZE(TR) * ty]);
#pragma unroll
                for (int i = 0; i < SIZE(TR); i++) a[i][l] = column[i];
            }
        } else {
#pragma unroll
            for (int i = 0; i < SIZE(TR); i++) read<4>(a[i], &p[SIZE(TR) * ty + i][k0]);
        }
#pragma unroll
        for (int l = 0; l < 4; l++) {
            float y[SIZE(OUT)];
#pragma unroll
            for (int j = 0; j < SIZE(OUT); j += SIZE(VECTOR))
                read<SIZE(VECTOR)>(y + j, &x[k0 + l][column_of<W, SIDE>(j)]);
#pragma unroll
            for (int i = 0; i < SIZE(TR); i++)
#pragma unroll
                for (int j = 0; j < SIZE(OUT); j++) out[i][j] = fmaf(a[i][l], y[j], out[i][j]);
        }
    }
}

/* Over the TX threads of a row. */
template <int TX> static __device__ __forceinline__ float row_sum(float x)
{
#pragma unroll
    for (int step = TX / 2; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}
template <int TX> static __device__ __forceinline__ float row_max(float x)
{
#pragma unroll
    for (int step = TX / 2; step; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
}

TILE static __device__ __forceinline__ void load_queries(ROOM &m, const struct rows &rows, uint32_t q0, uint32_t n)
{
    if (threadIdx.x >= SIDE) return;
    uint32_t q = q0 + threadIdx.x;
    m.start[threadIdx.x] = q < n ? rows.start[q] : (uint32_t)NOBODY; /* sees nothing */
    m.id[threadIdx.x] = q < n ? rows.id[q] : 0;
}

/* lse, and delta = dout . out, of the queries whose dout is in shared memory. */
TILE static __device__ __forceinline__ void load_deltas(ROOM &m, float (*dout)[W + 4], const struct heads &h, int head,
                                                        uint32_t q0, uint32_t n)
{
    int ty = threadIdx.x / SIZE(TX), tx = threadIdx.x % SIZE(TX);
#pragma unroll
    for (int i = 0; i < SIZE(TR); i++) {
        int row = SIZE(TR) * ty + i;
        uint32_t q = q0 + row;
        const float *o = h.o + ((size_t)q * h.count + head) * h.width;
        float sum = 0;
        for (int k = tx; q < n && k < h.width; k += SIZE(TX)) sum += o[k] * dout[row][k];
        sum = row_sum<SIZE(TX)>(sum);
        if (tx > 0) continue;
        m.delta[row] = sum;
        m.lse[row] = q < n ? h.lse[(size_t)q * h.count + head] : 0;
    }
}

TILE static __device__ __forceinline__ void store(float *to, const struct heads &h, int head, uint32_t r0, uint32_t n,
                                                  const float (&x)[SIZE(TR)][SIZE(OUT)],
                                                  const float (&factor)[SIZE(TR)])
{
    int ty = threadIdx.x / SIZE(TX);
    size_t ld = (size_t)h.count * h.width;
#pragma unroll
    for (int i = 0; i < SIZE(TR); i++)
#pragma unroll
        for (int j = 0; j < SIZE(OUT); j++) {
            int column = column_of<W, SIDE>(j);
            uint32_t row = r0 + SIZE(TR) * ty + i;
            if (row < n && column < h.width) to[row * ld + (size_t)head * h.width + column] = x[i][j] * factor[i];
        }
}

/* The first row of tile t, the last tile being number 0: what takes longest begins first. Beyond n: none. */
template <int SIDE> static __device__ __forceinline__ uint32_t last_first(uint32_t n, uint32_t t)
{
    uint32_t tiles = (n + SIDE - 1) / SIDE;
    return t < tiles ? (tiles - 1 - t) * SIDE : n;
}

/* ---- Forward ---------------------------------------------------------------------------------------- */

TILE static __global__ void __launch_bounds__(SIZE(THREADS)) attend(struct rows rows, struct heads h)
{
    extern __shared__ __align__(16) char shared[];
    ROOM &m = *(ROOM *)shared;
    const struct run *run = rows.run;
    uint32_t n = run->rows, q0 = last_first<SIDE>(n, blockIdx.y);
    int head = blockIdx.x, ty = threadIdx.x / SIZE(TX), tx = threadIdx.x % SIZE(TX);
    if (q0 >= n) return;
    uint64_t stream = drop_stream(run, h.place);
    const float scale = (float)(1 / sqrt((double)h.width));
    float out[SIZE(TR)][SIZE(OUT)] = {}, most[SIZE(TR)], sum[SIZE(TR)] = {};
    for (int i = 0; i < SIZE(TR); i++) most[i] = -1e30f;
    load<W, SIDE>(m.row, h.q, h, head, q0, n);
    load_queries<W, SIDE>(m, rows, q0, n);
    __syncthreads();
    uint32_t last = q0 + SIDE < n ? q0 + SIDE : n;
    for (uint32_t k0 = m.start[0]; k0 < last; k0 += SIDE) {
        load<W, SIDE>(m.one, h.k, h, head, k0, n);
        load<W, SIDE>(m.two, h.v, h, head, k0, n);
        draw<W, SIDE>(m, run, stream, h, head, k0);
        __syncthreads();
        float s[SIZE(TR)][4];
        products<W, SIDE>(m.row, m.one, s);
#pragma unroll
        for (int i = 0; i < SIZE(TR); i++) {
            int q = SIZE(TR) * ty + i;
            float top = most[i], more = 0;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t k = k0 + tx + SIZE(TX) * j;
                s[i][j] = k >= m.start[q] && k <= q0 + q ? s[i][j] * scale : -INFINITY;
                top = fmaxf(top, s[i][j]);
            }
            top = row_max<SIZE(TX)>(top);
            float shrink = expf(most[i] - top);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int column = tx + SIZE(TX) * j;
                float p = expf(s[i][j] - top);
                more += p;
                m.p[q][column] = p * factor<W, SIDE>(m, run, k0, q, column);
            }
            sum[i] = sum[i] * shrink + row_sum<SIZE(TX)>(more);
            most[i] = top;
#pragma unroll
            for (int j = 0; j < SIZE(OUT); j++) out[i][j] *= shrink;
        }
        __syncthreads();
        spread<W, SIDE, false>(m.p, m.two, out);
        __syncthreads();
    }
    float inverse[SIZE(TR)];
    for (int i = 0; i < SIZE(TR); i++) {
        uint32_t q = q0 + SIZE(TR) * ty + i;
        inverse[i] = 1 / sum[i];
        if (tx == 0 && q < n) h.lse[(size_t)q * h.count + head] = most[i] + logf(sum[i]);
    }
    store<W, SIDE>(h.o, h, head, q0, n, out, inverse);
}

/* ---- Backward --------------------------------------------------------------------------------------- */

/* From the products of q and k, and of dout and v: masked weights and ds of the tile. */
TILE static __device__ __forceinline__ void weigh_back(ROOM &m, const struct run *run, uint32_t q0, uint32_t k0,
                                                       float scale, float (&s)[SIZE(TR)][4], float (&dp)[SIZE(TR)][4])
{
    int ty = threadIdx.x / SIZE(TX), tx = threadIdx.x % SIZE(TX);
#pragma unroll
    for (int i = 0; i < SIZE(TR); i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int q = SIZE(TR) * ty + i, column = tx + SIZE(TX) * j;
            uint32_t k = k0 + column;
            bool seen = m.start[q] != (uint32_t)NOBODY && k >= m.start[q] && k <= q0 + q;
            float p = seen ? expf(s[i][j] * scale - m.lse[q]) : 0;
            float keep = seen ? factor<W, SIDE>(m, run, k0, q, column) : 0;
            m.p[q][column] = p * keep;
            m.ds[q][column] = p * (keep * dp[i][j] - m.delta[q]);
        }
}

/* dq of SIDE queries. */
TILE static __device__ void back_queries(ROOM &m, const struct rows &rows, const struct heads &h, uint32_t q0, int head)
{
    const struct run *run = rows.run;
    uint32_t n = run->rows, last = q0 + SIDE < n ? q0 + SIDE : n;
    uint64_t stream = drop_stream(run, h.place);
    const float scale = (float)(1 / sqrt((double)h.width));
    float out[SIZE(TR)][SIZE(OUT)] = {}, factors[SIZE(TR)];
    load<W, SIDE>(m.row, h.q, h, head, q0, n);
    load<W, SIDE>(m.three, h.dout, h, head, q0, n);
    load_queries<W, SIDE>(m, rows, q0, n);
    __syncthreads();
    load_deltas<W, SIDE>(m, m.three, h, head, q0, n);
    for (uint32_t k0 = m.start[0]; k0 < last; k0 += SIDE) {
        load<W, SIDE>(m.one, h.k, h, head, k0, n);
        load<W, SIDE>(m.two, h.v, h, head, k0, n);
        draw<W, SIDE>(m, run, stream, h, head, k0);
        __syncthreads();
        float s[SIZE(TR)][4], dp[SIZE(TR)][4];
        products<W, SIDE>(m.row, m.one, s);
        products<W, SIDE>(m.three, m.two, dp);
        weigh_back<W, SIDE>(m, run, q0, k0, scale, s, dp);
        __syncthreads();
        spread<W, SIDE, false>(m.ds, m.one, out);
        __syncthreads();
    }
    for (int i = 0; i < SIZE(TR); i++) factors[i] = scale;
    store<W, SIDE>(h.dq, h, head, q0, n, out, factors);
}

/* dk and dv of SIDE keys. Tiles of queries begin at the first key's row. */
TILE static __device__ void back_keys(ROOM &m, const struct rows &rows, const struct heads &h, uint32_t k0, int head)
{
    const struct run *run = rows.run;
    uint32_t n = run->rows, last = rows.end[k0 + SIDE <= n ? k0 + SIDE - 1 : n - 1];
    uint64_t stream = drop_stream(run, h.place);
    const float scale = (float)(1 / sqrt((double)h.width));
    float dk[SIZE(TR)][SIZE(OUT)] = {}, dv[SIZE(TR)][SIZE(OUT)] = {}, scales[SIZE(TR)], ones[SIZE(TR)];
    load<W, SIDE>(m.row, h.k, h, head, k0, n);
    load<W, SIDE>(m.three, h.v, h, head, k0, n);
    for (uint32_t q0 = k0; q0 < last; q0 += SIDE) {
        __syncthreads();
        load<W, SIDE>(m.one, h.q, h, head, q0, n);
        load<W, SIDE>(m.two, h.dout, h, head, q0, n);
        load_queries<W, SIDE>(m, rows, q0, n);
        __syncthreads();
        load_deltas<W, SIDE>(m, m.two, h, head, q0, n);
        draw<W, SIDE>(m, run, stream, h, head, k0);
        __syncthreads();
        float s[SIZE(TR)][4], dp[SIZE(TR)][4];
        products<W, SIDE>(m.one, m.row, s);
        products<W, SIDE>(m.two, m.three, dp);
        weigh_back<W, SIDE>(m, run, q0, k0, scale, s, dp);
        __syncthreads();
        spread<W, SIDE, true>(m.p, m.two, dv);
        spread<W, SIDE, true>(m.ds, m.one, dk);
    }
    for (int i = 0; i < SIZE(TR); i++) scales[i] = scale, ones[i] = 1;
    store<W, SIDE>(h.dk, h, head, k0, n, dk, scales);
    store<W, SIDE>(h.dv, h, head, k0, n, dv, ones);
}

/* Both: they depend on nothing of each other. */
TILE static __global__ void __launch_bounds__(SIZE(THREADS)) attend_back(struct rows rows, struct heads h)
{
    extern __shared__ __align__(16) char shared[];
    ROOM &m = *(ROOM *)shared;
    uint32_t n = rows.run->rows, k0 = blockIdx.y * SIDE, q0 = last_first<SIDE>(n, blockIdx.y);
    int head = (int)blockIdx.x / 2;
    if (k0 >= n) return;
    if (blockIdx.x % 2 == 0)
        back_keys<W, SIDE>(m, rows, h, k0, head);
    else
        back_queries<W, SIDE>(m, rows, h, q0, head);
}

/* ---- Launches ---------------------------------------------------------------------------------------- */

TILE static void allow(void)
{
    cudaFuncSetAttribute(attend<W, SIDE>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)offsetof(ROOM, three));
    cudaFuncSetAttribute(attend_back<W, SIDE>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(ROOM));
}

int smurf_cuda_attention_init(void)
{
    allow<16, 32>(), allow<32, 64>(), allow<64, 64>(), allow<128, 64>();
    return cudaGetLastError() != cudaSuccess;
}

TILE static void run_attention(cudaStream_t s, int cap, struct rows rows, const struct heads &h, bool back)
{
    unsigned tiles = (unsigned)((cap + SIDE - 1) / SIDE), heads = (unsigned)h.count;
    if (back)
        attend_back<W, SIDE><<<dim3(2 * heads, tiles), SIZE(THREADS), sizeof(ROOM), s>>>(rows, h);
    else
        attend<W, SIDE><<<dim3(heads, tiles), SIZE(THREADS), offsetof(ROOM, three), s>>>(rows, h);
}

static void any_width(cudaStream_t s, int cap, struct rows rows, const struct heads &h, bool back)
{
    if (h.width <= 16)
        run_attention<16, 32>(s, cap, rows, h, back);
    else if (h.width <= 32)
        run_attention<32, 64>(s, cap, rows, h, back);
    else if (h.width <= 64)
        run_attention<64, 64>(s, cap, rows, h, back);
    else
        run_attention<128, 64>(s, cap, rows, h, back);
}

void smurf_cuda_attention(cudaStream_t s, int cap, struct rows rows, const struct heads &h)
{
    any_width(s, cap, rows, h, false);
}

void smurf_cuda_attention_back(cudaStream_t s, int cap, struct rows rows, const struct heads &h)
{
    any_width(s, cap, rows, h, true);
}
