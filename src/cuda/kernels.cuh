/*
 * kernels.cuh - what the kernels share: the batch on the card, random numbers, sums; and their launchers.
 *
 * A kernel is launched for a capacity of rows, rounded up from the batch's, so that one graph serves many batches;
 * blocks read the number of rows from the batch and leave if theirs is beyond it. All sums have a fixed order: sums
 * over rows are taken in SPLITS parts, each into a slab of its own, and added part by part (adam.cu).
 */
#ifndef SMURF_CUDA_KERNELS_CUH
#define SMURF_CUDA_KERNELS_CUH

#include "cuda/cuda.h"

#include <cuda_runtime.h>

/* What changes with each batch; in the card's memory. */
struct run {
    uint32_t rows, sequences;
    uint64_t seed, step, epoch;
    uint32_t threshold; /* of dropout; 0: none */
    float keep;
    double mask; /* share times 2^32; 0: none */
    uint32_t other;
};

/* The batch, row by row (embed.cu). */
struct rows {
    const struct run *run;
    uint32_t *offset;      /* (sequences + 1) first rows */
    uint64_t *first;       /* (sequences) first events */
    uint32_t *type;        /* input types */
    uint32_t *start, *end; /* of the row's sequence: first row, and that after its last */
    uint64_t *id;          /* number of the event */
    double *time;
    float *gap;
    uint32_t *target, *target_type; /* target: CUDA_NONE and so on */
    double *target_gap, *target_limit;
    uint64_t *target_id;
};

/* The events of a part. */
struct events {
    size_t n;
    uint32_t *type, *target_type, *target_kind;
    double *time, *target_gap, *target_limit;
    float *gap;
    uint64_t *target_id;
};

/* Dropped tensors of a layer, as in encoder.c. */
enum { DROP_ATTENTION, DROP_OUT, DROP_INNER, DROP_OUTER, DROPS };

/* ---- Random numbers: base/random.c, op/dropout.c, op/noise.c ---------------------------------- */

struct words {
    uint32_t x, y, z, w;
};

static __device__ __forceinline__ struct words philox(uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t x = (uint32_t)counter, y = (uint32_t)(counter >> 32), z = (uint32_t)stream, w = (uint32_t)(stream >> 32);
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint32_t a = x * 0xd2511f53u, ah = __umulhi(x, 0xd2511f53u);
        uint32_t b = z * 0xcd9e8d57u, bh = __umulhi(z, 0xcd9e8d57u);
        x = bh ^ y ^ key0;
        z = ah ^ w ^ key1;
        y = b;
        w = a;
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    return {x, y, z, w};
}

static __device__ __forceinline__ uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static __device__ __forceinline__ uint64_t drop_stream(const struct run *run, uint64_t place)
{
    return mix(mix(run->step) + place);
}

/* The mask of a tensor. */
struct mask {
    uint64_t seed, stream;
    uint32_t threshold;
    float keep;
};

static __device__ __forceinline__ struct mask mask_of(const struct run *run, uint64_t place)
{
    return {run->seed, drop_stream(run, place), run->threshold, run->keep};
}

/* Bit e: element e of a block of 8 is kept. */
static __device__ __forceinline__ uint32_t kept(const struct mask &mask, uint64_t block)
{
    struct words k = philox(mask.seed, mask.stream, block);
    uint32_t lift = 65536 - mask.threshold;
    return ((k.x & 0xffff) + lift) >> 16 | ((k.x >> 16) + lift) >> 16 << 1 | ((k.y & 0xffff) + lift) >> 16 << 2 |
           ((k.y >> 16) + lift) >> 16 << 3 | ((k.z & 0xffff) + lift) >> 16 << 4 | ((k.z >> 16) + lift) >> 16 << 5 |
           ((k.w & 0xffff) + lift) >> 16 << 6 | ((k.w >> 16) + lift) >> 16 << 7;
}

/* Multiplies N elements of the row of event `id`, `wide` columns, from a column that is a multiple of N. */
template <int N>
static __device__ __forceinline__ void drop(const struct mask &mask, uint64_t id, uint32_t column, uint32_t wide,
                                            float (&x)[N])
{
    static_assert(8 % N == 0, "elements of one block");
    if (mask.threshold == 0) return;
    uint64_t element = id * ((wide + 7) & ~7u) + column;
    uint32_t bits = kept(mask, element / 8) >> (element & 7);
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = bits >> i & 1 ? x[i] * mask.keep : 0;
}

/* The same for a row of the batch. */
template <int N>
static __device__ __forceinline__ void drop(const struct rows &rows, uint64_t place, uint32_t row, uint32_t column,
                                            uint32_t wide, float (&x)[N])
{
    drop(mask_of(rows.run, place), rows.id[row], column, wide, x);
}

/* ---- Activations: op/activation.c ------------------------------------------------------------- */

static __device__ __forceinline__ float activated(int relu, float x)
{
    return relu ? fmaxf(x, 0) : 0.5f * x * (1 + erff(x * 0.70710678118654752f));
}

static __device__ __forceinline__ float slope(int relu, float x)
{
    if (relu) return x > 0;
    return 0.5f * (1 + erff(x * 0.70710678118654752f)) + x * 0.39894228040143268f * expf(-0.5f * x * x);
}

/* ---- Sums -------------------------------------------------------------------------------------- */

template <typename T> static __device__ __forceinline__ T warp_sum(T x)
{
#pragma unroll
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

static __device__ __forceinline__ float warp_max(float x)
{
#pragma unroll
    for (int step = 16; step; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
}

/* Of a whole block of up to 1024 threads, to all of them; room: 32 places. */
template <typename T> static __device__ __forceinline__ T block_sum(T x, T *room)
{
    int warps = (blockDim.x + 31) / 32;
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    T sum = 0;
    for (int i = 0; i < warps; i++) sum += room[i];
    return sum;
}

/* ---- Sums over rows ------------------------------------------------------------------------------ */

/* Split s of S takes rows s*each .. (s+1)*each-1 and writes to slab + s*total. */
struct splits {
    int count;
    uint32_t each;
    float *slab;
    size_t total;
};

/* dw (out x in) = dy^T x, over rows. */
struct gradient_task {
    const float *dy, *x;
    int out, in;
    size_t to;
    int tile; /* its first */
};
/* Sums of columns: of x (rows x n); or, with `mean`, of dy (x - mean) inverse into `gain`, and of dy into `to`. */
struct column_task {
    const float *x, *dy, *mean, *inverse;
    int n, ld;     /* ld: of x without `mean` */
    uint32_t rows; /* 0: those of the batch */
    size_t to, gain;
    int tile;
};

/* ---- Launchers. cap: capacity of rows. ------------------------------------------------------------ */

enum { MAPS = 6 };
/* y = x w^T + bias of several maps of one input. */
struct maps {
    int count;
    struct {
        const float *w, *bias;
        float *y;
        int out, tanh;
    } map[MAPS];
};
/* What happens to the results of a product. */
enum after {
    AFTER_MAPS,       /* bias, tanh if asked for */
    AFTER_ADD,        /* y += */
    AFTER_RESIDUAL,   /* bias, dropout, + other: y */
    AFTER_ACTIVATION, /* bias: y; activation, dropout: y2 */
    AFTER_BACK,       /* + other, unless NULL: y */
    AFTER_UNACTIVATE, /* dropout, times the activation's slope at other: y */
    AFTER_UNITS,      /* gradients of the type units: see heads.cu */
};
struct product {
    int in;  /* columns of x */
    int out; /* columns of y, of maps whose own is 0 */
    int relu;
    uint64_t place; /* of dropout */
    const float *other, *other2;
    float *y, *y2;
};
/* dx = sum of dy w over several pairs; w: (k x out). */
struct pairs {
    int count;
    struct {
        const float *dy, *w;
        int k;
    } pair[MAPS];
};

void smurf_cuda_forward(cudaStream_t s, int cap, struct rows rows, enum after after, const float *x,
                        const struct maps &maps, const struct product &p);
void smurf_cuda_backward(cudaStream_t s, int cap, struct rows rows, enum after after, const struct pairs &pairs,
                         const struct product &p);
int smurf_cuda_gradient_tiles(int out, int in);
void smurf_cuda_gradients(cudaStream_t s, struct rows rows, const struct gradient_task *task, int tasks, int tiles,
                          struct splits splits);
int smurf_cuda_column_tiles(int n);
void smurf_cuda_columns(cudaStream_t s, struct rows rows, const struct column_task *task, int tasks, int tiles,
                        struct splits splits);

/* embed.cu */
void smurf_cuda_gather(cudaStream_t s, int cap, struct rows rows, struct events events);
void smurf_cuda_start(cudaStream_t s, int cap, struct rows rows, const struct cuda_model *m, const float *slab,
                      const double *period, float *z, float *gap_h, float *in);
void smurf_cuda_gap_back(cudaStream_t s, int cap, struct rows rows, int units, const float *h, float *dh, float *de);
void smurf_cuda_embed_gradient(cudaStream_t s, struct rows rows, const struct cuda_model *m, const float *dx,
                               struct splits splits);
/* counts.cu. slot, slot_type: NULL if every type has its slot. */
void smurf_cuda_counts(cudaStream_t s, int sequences, struct rows rows, const struct cuda_model *m, float *input,
                       float *slot, uint32_t *slot_type);
/* norm.cu */
struct moments {
    float *mean, *inverse;
};
void smurf_cuda_norm(cudaStream_t s, int cap, struct rows rows, int d, float eps, const float *x, const float *gain,
                     const float *bias, const float *z, struct moments m, float *y);
/* ds: the gradient of x; dropped: the same through dropout. */
void smurf_cuda_norm_back(cudaStream_t s, int cap, struct rows rows, int d, uint64_t place, const float *x,
                          const float *gain, struct moments m, const float *dy, float *ds, float *dropped);
/* layer.cu: the rows of one layer. */
struct row_layer {
    int hw, inner, ld, relu; /* ld: of scratch */
    float eps;
    uint64_t place; /* of the layer's first dropped tensor */
    const float *out, *out_bias, *gain1, *bias1, *inner_w, *inner_bias, *outer, *outer_bias, *gain2, *bias2;
    const float *in, *o, *z;         /* z: added to x; NULL: nothing */
    float *s1, *x1, *f, *g, *s2, *x; /* x: the next layer's input, or the output */
    struct moments norm1, norm2;
    const float *qkv; /* maps of the next layer, or, backward, of the layer above; NULL: there is none */
    float *q, *k, *v; /* of that layer, or their gradients */
    float *dx, *dy2, *df, *dx1, *ds1, *dy1, *dout; /* ds1: on entry that of the layer above */
};
bool smurf_cuda_layer_fits(const struct cuda_model *m);
int smurf_cuda_layer_init(const struct cuda_model *m);
void smurf_cuda_layer_forward(cudaStream_t s, int cap, struct rows rows, const struct row_layer &l);
void smurf_cuda_layer_backward(cudaStream_t s, int cap, struct rows rows, const struct row_layer &l);
/* attention.cu */
int smurf_cuda_attention_init(void);
struct heads {
    int count, width;
    const float *q, *k, *v;
    float *o, *lse;
    const float *dout;
    float *delta, *dq, *dk, *dv;
    uint64_t place;
};
void smurf_cuda_attention(cudaStream_t s, int cap, struct rows rows, const struct heads &h);
void smurf_cuda_attention_back(cudaStream_t s, int cap, struct rows rows, const struct heads &h);
/* heads.cu, objective.cu */
struct coefficients {
    float *a, *b, *type_a, *type_b, *s, *v;       /* (rows x width), .., (rows), (rows x CUDA_SCALES) */
    float *da, *db, *type_da, *type_db, *ds, *dv; /* gradients; those of a before its tanh */
    float *gw, *gc;                               /* (rows x width), (rows): of the shared weights, by row */
    float *units, *logits;                        /* (rows x width/2), (rows x types); gradients of logits in place */
    float *type_part;                             /* (blocks x (types width/2 + types)) */
    double *time, *type_loss, *right;             /* (rows) */
};
/* The units of the type head at the gap. */
void smurf_cuda_units(cudaStream_t s, int cap, struct rows rows, int half, const struct coefficients &c);
/* Cross-entropy; logits become their gradient. repeat: counts, or NULL. */
struct repeat {
    const float *slot; /* first of a row's slots */
    const uint32_t *type;
    int slots;
    size_t stride; /* from row to row */
};
void smurf_cuda_types(cudaStream_t s, int cap, struct rows rows, int types, float smoothing, const struct repeat &r,
                      const struct coefficients &c);
/* The gap head and its objective; settings are in the card's memory. */
int smurf_cuda_objective_init(const struct cuda_model *m);
void smurf_cuda_objective(cudaStream_t s, int cap, struct rows rows, const struct cuda_model *m,
                          const struct cuda_model *card, const float *slab, int backward, const struct coefficients &c);
/* The types at perturbed gaps, in `blocks` blocks. */
int smurf_cuda_type_blocks(size_t rows);
int smurf_cuda_perturbed_init(const struct cuda_model *m);
void smurf_cuda_perturbed(cudaStream_t s, int blocks, struct rows rows, const struct cuda_model *m,
                          const struct cuda_model *card, const float *slab, int backward, const struct coefficients &c);
/* adam.cu */
enum { REDUCE_BLOCK = 1024 };
void smurf_cuda_reduce(cudaStream_t s, struct splits splits, float *gradient, double *square);
void smurf_cuda_result(cudaStream_t s, struct rows rows, int censored, const struct coefficients &c,
                       const double *square, size_t squares, struct cuda_loss *loss);
void smurf_cuda_adam(cudaStream_t s, size_t n, const float *g, float factor, float rate, float inverse, float decay,
                     float *m, float *v, float *w, float *average);

#endif
