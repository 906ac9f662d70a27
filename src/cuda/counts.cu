/*
 * counts.cu - decayed counts, as op/counts.c: a block follows a sequence, a thread a slot on all scales, or, where
 * every type has a slot, one number.
 */
#include "cuda/kernels.cuh"

enum { SLOTS = 64, PIECE = 64 };

struct scales {
    double rate[CUDA_SCALES];
};

/* The slot of a type, found by all threads: that of the type, else an unused one, else the one not used for longest. */
static __device__ int slot_of(uint32_t type, uint32_t own, uint64_t last, int slots, uint32_t used, int *found,
                              uint64_t *ages)
{
    int k = threadIdx.x;
    if (k == 0) *found = -1;
    ages[k] = last;
    __syncthreads();
    if (k < (int)used && own == type) *found = k;
    __syncthreads();
    if (*found >= 0) return *found;
    if ((int)used < slots) return (int)used;
    int oldest = 0;
    for (int i = 1; i < slots; i++) oldest = ages[i] < ages[oldest] ? i : oldest;
    return oldest;
}

/* Every type has its slot: a thread for each number of a row of the input, (1 + types) x CUDA_SCALES. */
static __global__ void counts_of_all(struct rows rows, int inputs, struct scales scales, float *input)
{
    __shared__ float factor[PIECE][CUDA_SCALES];
    __shared__ uint32_t types_of[PIECE];
    if (blockIdx.x >= rows.run->sequences) return;
    const float least = 1e-20f;
    uint32_t first = rows.offset[blockIdx.x], end = rows.offset[blockIdx.x + 1], t = threadIdx.x;
    uint32_t scale = t % CUDA_SCALES, own = t / CUDA_SCALES;
    float sum = 0;
    for (uint32_t r0 = first; r0 < end; r0 += PIECE) { /* types of some events, and what is left of earlier counts */
        uint32_t n = end - r0 < PIECE ? end - r0 : PIECE;
        __syncthreads();
        for (uint32_t i = t; i < n * CUDA_SCALES; i += blockDim.x) {
            uint32_t r = r0 + i / CUDA_SCALES;
            double gap = r > first ? rows.time[r] - rows.time[r - 1] : 0;
            factor[i / CUDA_SCALES][i % CUDA_SCALES] = expf((float)(-gap * scales.rate[i % CUDA_SCALES]));
            if (i % CUDA_SCALES == 0) types_of[i / CUDA_SCALES] = rows.type[r];
        }
        __syncthreads();
        for (uint32_t i = 0; t < (uint32_t)inputs && i < n; i++) {
            sum *= factor[i][scale];
            sum = (sum < least ? 0 : sum) + (own == 0 || own == types_of[i] + 1 ? 1 : 0);
            input[(size_t)(r0 + i) * inputs + t] = logf(1 + sum);
        }
    }
}

static __global__ void __launch_bounds__(SLOTS)
    counts(struct rows rows, uint32_t types, int inputs, int slots, struct scales scales, float *input, float *slot,
           uint32_t *slot_type)
{
    __shared__ float factor[PIECE][CUDA_SCALES];
    __shared__ uint32_t types_of[PIECE];
    __shared__ int found;
    __shared__ uint64_t ages[SLOTS];
    const float least = 1e-20f;
    uint32_t k = threadIdx.x;
    if (blockIdx.x >= rows.run->sequences) return;
    float sum[CUDA_SCALES] = {}, total = 0; /* of the slot; of all types, in threads below CUDA_SCALES */
    uint32_t own = 0, used = 0, events = 0;
    uint64_t last = 0;
    uint32_t first = rows.offset[blockIdx.x], end = rows.offset[blockIdx.x + 1];
    for (uint32_t r = first; r < end; r++) {
        uint32_t piece = (r - first) % PIECE;
        if (piece == 0) { /* the next PIECE events: their types, and what is left of earlier counts */
            uint32_t n = end - r < PIECE ? end - r : PIECE;
            __syncthreads();
            for (uint32_t i = k; i < n; i += SLOTS) {
                double gap = r + i > first ? rows.time[r + i] - rows.time[r + i - 1] : 0;
                types_of[i] = rows.type[r + i];
#pragma unroll
                for (int m = 0; m < CUDA_SCALES; m++) factor[i][m] = expf((float)(-gap * scales.rate[m]));
            }
            __syncthreads();
        }
        uint32_t type = types_of[piece];
        const float *f = factor[piece];
        events++;
        if (k < CUDA_SCALES) {
            total *= f[k];
            total = (total < least ? 0 : total) + 1;
            input[(size_t)r * inputs + k] = logf(1 + total);
        }
#pragma unroll
        for (int m = 0; m < CUDA_SCALES; m++) {
            sum[m] *= f[m];
            if (sum[m] < least) sum[m] = 0;
        }
        if (type < types) {
            int to = slot_of(type, own, last, slots, used, &found, ages);
            bool is_new = found < 0;
            __syncthreads(); /* found is read */
            if (to >= (int)used) used++;
            if ((int)k == to) {
#pragma unroll
                for (int m = 0; m < CUDA_SCALES; m++) sum[m] = (is_new ? 0 : sum[m]) + 1;
                own = type;
                last = events;
            }
        }
        if ((int)k >= slots) continue;
        float *out = slot + ((size_t)r * slots + k) * CUDA_SCALES;
#pragma unroll
        for (int m = 0; m < CUDA_SCALES; m++) out[m] = logf(1 + sum[m]);
        slot_type[(size_t)r * slots + k] = k < used ? own : 0;
    }
}

void smurf_cuda_counts(cudaStream_t s, int sequences, struct rows rows, const struct cuda_model *m, float *input,
                       float *slot, uint32_t *slot_type)
{
    struct scales scales;
    for (int i = 0; i < CUDA_SCALES; i++) scales.rate[i] = m->count_rate[i];
    if (!slot) {
        int threads = ((int)m->count_inputs + 31) / 32 * 32;
        counts_of_all<<<sequences, threads, 0, s>>>(rows, (int)m->count_inputs, scales, input);
        return;
    }
    counts<<<sequences, SLOTS, 0, s>>>(rows, (uint32_t)m->types, (int)m->count_inputs, (int)m->count_slots, scales,
                                       input, slot, slot_type);
}
