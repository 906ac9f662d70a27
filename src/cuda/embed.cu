/*
 * embed.cu - the rows of a batch from the events on the card, and the encoder's input, as op/embed.c and op/temporal.c.
 */
#include "cuda/kernels.cuh"

static __global__ void gather(struct rows rows, struct events e)
{
    const struct run *run = rows.run;
    uint32_t r = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = run->sequences;
    if (r >= run->rows) return;
    while (high - low > 1) { /* the row's sequence */
        uint32_t middle = (low + high) / 2;
        if (rows.offset[middle] <= r)
            low = middle;
        else
            high = middle;
    }
    uint32_t start = rows.offset[low], type;
    uint64_t i = rows.first[low] + (r - start);
    type = e.type[i];
    if (run->mask > 0 && run->epoch) { /* mask_types in train/feed.c */
        struct words k = philox(run->seed, 0x6d61736b00000000u + run->epoch, i / 4);
        uint32_t word = i % 4 == 0 ? k.x : i % 4 == 1 ? k.y : i % 4 == 2 ? k.z : k.w;
        if ((double)word < run->mask) type = run->other;
    }
    rows.type[r] = type;
    rows.start[r] = start;
    rows.end[r] = rows.offset[low + 1];
    rows.id[r] = i;
    rows.time[r] = e.time[i];
    rows.gap[r] = e.gap[i];
    rows.target[r] = e.target_kind[i];
    rows.target_type[r] = e.target_type[i];
    rows.target_gap[r] = e.target_gap[i];
    rows.target_limit[r] = e.target_limit[i];
    rows.target_id[r] = e.target_id[i];
}

void smurf_cuda_gather(cudaStream_t s, int cap, struct rows rows, struct events events)
{
    gather<<<(cap + 127) / 128, 128, 0, s>>>(rows, events);
}

/* Offsets and sizes of the input. */
struct input {
    size_t inputs, embedding, gap_v, gap_c, gap_table;
    int d, units; /* units: of the gap feature; 0: none */
};

enum { UNITS_MOST = 64 };

/* in = embedding + gap feature + z, and z; a block a row. */
static __global__ void start(struct rows rows, struct input p, const float *slab, const double *period, float *z,
                             float *gap_h, float *in)
{
    __shared__ float h[UNITS_MOST];
    uint32_t r = blockIdx.x;
    if (r >= rows.run->rows) return;
    size_t at = (size_t)r * p.d;
    uint32_t type = rows.type[r];
    float gap = rows.gap[r];
    bool has = p.units && !isnan(gap);
    for (int j = threadIdx.x; j < p.units; j += blockDim.x) {
        h[j] = has ? tanhf(slab[p.gap_v + j] * gap + slab[p.gap_c + j]) : 0;
        gap_h[(size_t)r * p.units + j] = h[j];
    }
    __syncthreads();
    for (int k = 2 * threadIdx.x; k < p.d; k += 2 * blockDim.x) {
        double sine, cosine;
        sincos(rows.time[r] / period[k / 2], &sine, &cosine);
        for (int i = 0; i < 2 && k + i < p.d; i++) {
            float x = type < p.inputs ? slab[p.embedding + (size_t)type * p.d + k + i] : 0, sum = 0;
            for (int j = 0; has && j < p.units; j++) sum += slab[p.gap_table + (size_t)(k + i) * p.units + j] * h[j];
            float phase = (float)(i ? cosine : sine);
            z[at + k + i] = phase;
            in[at + k + i] = x + sum + phase;
        }
    }
}

void smurf_cuda_start(cudaStream_t s, int cap, struct rows rows, const struct cuda_model *m, const float *slab,
                      const double *period, float *z, float *gap_h, float *in)
{
    struct input p = {m->inputs,
                      m->embedding,
                      m->gap_v,
                      m->gap_c,
                      m->gap_table,
                      (int)m->width,
                      m->gap_feature ? (int)m->gap_units : 0};
    int threads = p.d / 2 < 32 ? 32 : p.d / 2 > 256 ? 256 : (p.d / 2 + 31) / 32 * 32;
    start<<<cap, threads, 0, s>>>(rows, p, slab, period, z, gap_h, in);
}

/* From the gradient of h, dh (rows x units): de = dh (1 - h^2) is that of c, and times the gap that of v. */
static __global__ void gap_back(struct rows rows, int units, const float *h, float *dh, float *de)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    uint32_t r = (uint32_t)(i / units);
    if (r >= rows.run->rows) return;
    float gap = rows.gap[r], e = isnan(gap) ? 0 : dh[i] * (1 - h[i] * h[i]);
    de[i] = e;
    dh[i] = isnan(gap) ? 0 : e * gap;
}

void smurf_cuda_gap_back(cudaStream_t s, int cap, struct rows rows, int units, const float *h, float *dh, float *de)
{
    gap_back<<<(unsigned)(((size_t)cap * units + 255) / 256), 256, 0, s>>>(rows, units, h, dh, de);
}

/* The gradient of the embedding of type blockIdx.x: the rows of that type. */
static __global__ void embed_gradient(struct rows rows, int d, size_t to, const float *dx, struct splits splits)
{
    enum { PIECE = 256 };
    __shared__ uint32_t type[PIECE];
    uint32_t from = blockIdx.y * splits.each, end = from + splits.each;
    if (end > rows.run->rows) end = rows.run->rows;
    for (int k0 = 0; k0 < d; k0 += blockDim.x) {
        int k = k0 + threadIdx.x;
        float sum = 0;
        for (uint32_t r0 = from; r0 < end; r0 += PIECE) {
            uint32_t n = end - r0 < PIECE ? end - r0 : PIECE;
            __syncthreads();
            for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) type[i] = rows.type[r0 + i];
            __syncthreads();
            for (uint32_t i = 0; k < d && i < n; i++)
                if (type[i] == blockIdx.x) sum += dx[(size_t)(r0 + i) * d + k];
        }
        if (k < d) splits.slab[blockIdx.y * splits.total + to + (size_t)blockIdx.x * d + k] = sum;
    }
}

void smurf_cuda_embed_gradient(cudaStream_t s, struct rows rows, const struct cuda_model *m, const float *dx,
                               struct splits splits)
{
    int d = (int)m->width, threads = d < 32 ? 32 : d > 256 ? 256 : (d + 31) / 32 * 32;
    embed_gradient<<<dim3((unsigned)m->inputs, splits.count), threads, 0, s>>>(rows, d, m->embedding, dx, splits);
}
