/*
 * heads.cu - types: the units of the type head, the cross-entropy of logits, and types at perturbed gaps, as
 * op/type_head.c and model/repeat.c. The maps of the heads are products (linear.cu).
 */
#include "cuda/points.cuh"

/* ---- At the gap ------------------------------------------------------------------------------------------ */

static __global__ void units(struct rows rows, int half, struct coefficients c)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    uint32_t r = (uint32_t)(i / half);
    if (r >= rows.run->rows) return;
    c.units[i] = rows.target[r] == CUDA_EVENT ? tanhf(fmaf(c.type_a[i], (float)rows.target_gap[r], c.type_b[i])) : 0;
}

void smurf_cuda_units(cudaStream_t s, int cap, struct rows rows, int half, const struct coefficients &c)
{
    units<<<(unsigned)(((size_t)cap * half + 255) / 256), 256, 0, s>>>(rows, half, c);
}

enum { WARPS = 4 };

/* A warp for each row. Slots in use have different types; what an unused one would add is 0. */
static __global__ void cross_entropy(struct rows rows, int types, float smoothing, struct repeat repeat,
                                     struct coefficients c)
{
    uint32_t r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows.run->rows) return;
    float *x = c.logits + (size_t)r * types;
    const float *slot = repeat.slot + (size_t)r * repeat.stride, *v = c.v + (size_t)r * CUDA_SCALES;
    const uint32_t *of = repeat.type ? repeat.type + (size_t)r * repeat.slots : NULL;
    if (rows.target[r] != CUDA_EVENT) {
        for (int k = lane; k < types; k += 32) x[k] = 0;
        if (repeat.slot && lane < CUDA_SCALES) c.dv[(size_t)r * CUDA_SCALES + lane] = 0;
        if (lane == 0) c.type_loss[r] = c.right[r] = 0;
        return;
    }
    const float scale = (float)(log((double)types) / CUDA_SCALES);
    for (int k = lane; repeat.slot && k < repeat.slots; k += 32) {
        float sum = 0;
        for (int m = 0; m < CUDA_SCALES; m++) sum += v[m] * slot[k * CUDA_SCALES + m];
        if (sum != 0) x[of ? of[k] : k] += scale * sum;
    }
    __syncwarp();
    uint32_t target = rows.target_type[r];
    float most = -INFINITY, sum = 0, all = 0, truth = x[target];
    for (int k = lane; k < types; k += 32) {
        most = fmaxf(most, x[k]);
        all += x[k];
    }
    most = warp_max(most);
    all = warp_sum(all);
    for (int k = lane; k < types; k += 32) sum += expf(x[k] - most);
    sum = warp_sum(sum);
    double other = smoothing > 0 ? (double)smoothing / types : 0, mass = 1 - other;
    __syncwarp();
    if (lane == 0) {
        c.type_loss[r] = mass * ((double)most + (double)logf(sum)) - (1 - (double)smoothing - other) * (double)truth -
                         other * (double)all;
        c.right[r] = truth >= most;
    }
    float factor = (float)mass / sum, hit = (float)(1 - (double)smoothing - other);
    for (int k = lane; k < types; k += 32)
        x[k] = expf(x[k] - most) * factor - (float)other - (k == (int)target ? hit : 0);
    if (!repeat.slot) return;
    __syncwarp();
    float dv[CUDA_SCALES] = {};
    for (int k = lane; k < repeat.slots; k += 32) {
        float g = scale * x[of ? of[k] : k];
        for (int m = 0; m < CUDA_SCALES; m++) dv[m] += g * slot[k * CUDA_SCALES + m];
    }
    for (int m = 0; m < CUDA_SCALES; m++) {
        float d = warp_sum(dv[m]);
        if (lane == 0) c.dv[(size_t)r * CUDA_SCALES + m] = d;
    }
}

void smurf_cuda_types(cudaStream_t s, int cap, struct rows rows, int types, float smoothing, const struct repeat &r,
                      const struct coefficients &c)
{
    cross_entropy<<<(cap + WARPS - 1) / WARPS, WARPS * 32, 0, s>>>(rows, types, smoothing, r, c);
}

/* ---- At perturbed gaps --------------------------------------------------------------------------------------- */

enum { THREADS = 128, BLOCKS = 528 };

int smurf_cuda_type_blocks(size_t rows)
{
    return rows < BLOCKS ? (int)rows : BLOCKS;
}

/* Sizes in shared memory, padded with zeros: units and types to multiples of 8; points to a stride by which the rows of
   16-byte words of 8 threads are in different banks. */
struct sizes {
    int types, half, all_types, all_half, points, stride;
};

static struct sizes sizes_of(const struct cuda_model *m)
{
    int types = (int)m->types, half = (int)m->width / 2, n = (int)m->points;
    return {types, half, (types + 7) & ~7, (half + 7) & ~7, n, (n + 27) / 32 * 32 + 4};
}

static size_t shared_of(const struct cuda_model *m)
{
    struct sizes z = sizes_of(m);
    return sizeof(float) * ((size_t)2 * z.all_types * z.all_half + z.all_types + (size_t)z.types * (z.half + 1) +
                            2 * z.all_half + z.stride + (size_t)(2 * z.all_half + z.all_types) * z.stride);
}

static __device__ __forceinline__ float dot4(const float4 &a, const float4 &b, float sum)
{
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

/* s[0..7] += x w[0..7] */
static __device__ __forceinline__ void add8(float (&s)[8], float x, const float *w)
{
    float4 a = *(const float4 *)w, b = *(const float4 *)(w + 4);
    s[0] = fmaf(x, a.x, s[0]), s[1] = fmaf(x, a.y, s[1]), s[2] = fmaf(x, a.z, s[2]), s[3] = fmaf(x, a.w, s[3]);
    s[4] = fmaf(x, b.x, s[4]), s[5] = fmaf(x, b.y, s[5]), s[6] = fmaf(x, b.z, s[6]), s[7] = fmaf(x, b.w, s[7]);
}

/* A block takes some rows one after the other. Threads are points, but for sums over points. Gradients of the map are
   summed here over the block's rows; each thread has places of its own. */
static __global__ void __launch_bounds__(THREADS)
    perturbed(struct rows rows, struct sizes z, const struct cuda_model *m, const float *slab, int backward,
              struct coefficients c)
{
    extern __shared__ __align__(16) float shared[];
    __shared__ double room[32];
    const int types = z.types, half = z.half, n = z.points, S = z.stride, size = types * half + types;
    float *by_type = shared, *by_unit = by_type + z.all_types * z.all_half, *h = by_unit + z.all_types * z.all_half,
          *e = h + z.all_half * S, *g = e + z.all_half * S, *tau = g + z.all_types * S, *bias = tau + S,
          *a = bias + z.all_types, *b = a + z.all_half, *sum = b + z.all_half; /* w by (type, unit), by (unit, type) */
    uint32_t all = rows.run->rows, each = (all + gridDim.x - 1) / gridDim.x, from = blockIdx.x * each;
    uint32_t to = from + each < all ? from + each : all;
    for (int i = threadIdx.x; i < (int)(sum - shared); i += THREADS) shared[i] = 0;
    for (int i = threadIdx.x; i < size; i += THREADS) sum[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < types * half; i += THREADS) {
        float w = slab[m->type_w + i];
        by_type[i / half * z.all_half + i % half] = by_unit[i % half * z.all_types + i / half] = w;
    }
    for (int i = threadIdx.x; i < types; i += THREADS) bias[i] = slab[m->type_c + i];
    const double smoothing = m->smoothing > 0 ? m->smoothing : 0, other = smoothing / types, mass = 1 - other;
    const float hit = (float)(1 - smoothing - other), share = 1 / (float)n;
    for (uint32_t r = from; r < to; r++) {
        size_t at = (size_t)r * half;
        if (rows.target[r] != CUDA_EVENT) {
            for (int k = threadIdx.x; backward && k < half; k += THREADS) c.type_da[at + k] = c.type_db[at + k] = 0;
            if (threadIdx.x == 0) c.type_loss[r] = c.right[r] = 0;
            continue;
        }
        __syncthreads(); /* the last row is done */
        for (int k = threadIdx.x; k < half; k += THREADS) {
            a[k] = c.type_a[at + k];
            b[k] = c.type_b[at + k];
        }
        __syncthreads();
        int target = (int)rows.target_type[r];
        double loss = 0, right = 0;
        for (int i = threadIdx.x; i < n; i += THREADS) {
            float t = point_at(m, rows, r, i), most = -INFINITY, total = 0, logits = 0;
            tau[i] = t;
            for (int k = 0; k < half; k++) h[k * S + i] = tanhf(fmaf(a[k], t, b[k]));
            for (int y = 0; y < types; y += 8) {
                float s[8];
#pragma unroll
                for (int j = 0; j < 8; j++) s[j] = bias[y + j];
                for (int k = 0; k < half; k++) add8(s, h[k * S + i], by_unit + k * z.all_types + y);
#pragma unroll
                for (int j = 0; j < 8; j++)
                    if (y + j < types) {
                        g[(y + j) * S + i] = s[j];
                        most = fmaxf(most, s[j]);
                        logits += s[j];
                    }
            }
            float truth = g[target * S + i];
            for (int y = 0; y < types; y++) {
                float p = expf(g[y * S + i] - most);
                g[y * S + i] = p;
                total += p;
            }
            loss += mass * ((double)most + (double)logf(total)) - (1 - smoothing - other) * (double)truth -
                    other * (double)logits;
            right += truth >= most;
            float factor = share * (float)mass / total, less = share * (float)other;
            for (int y = 0; y < types; y++)
                g[y * S + i] = g[y * S + i] * factor - less - (y == target ? share * hit : 0);
            for (int k = 0; backward && k < half; k += 8) {
                float s[8] = {};
                for (int y = 0; y < types; y++) add8(s, g[y * S + i], by_type + y * z.all_half + k);
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    float x = h[(k + j) * S + i];
                    e[(k + j) * S + i] = s[j] * (1 - x * x);
                }
            }
        }
        loss = block_sum(loss, room);
        right = block_sum(right, room);
        if (threadIdx.x == 0) {
            c.type_loss[r] = loss / n;
            c.right[r] = right / n;
        }
        if (!backward) continue;
        __syncthreads(); /* beyond n, up to the stride, there are zeros */
        for (int k = threadIdx.x; k < half; k += THREADS) {
            float by_a = 0, by_b = 0;
            const float4 one = make_float4(1, 1, 1, 1);
            for (int i = 0; i < n; i += 4) {
                float4 x = *(const float4 *)(e + k * S + i);
                by_b = dot4(x, one, by_b);
                by_a = dot4(x, *(const float4 *)(tau + i), by_a);
            }
            c.type_db[at + k] = by_b;
            c.type_da[at + k] = by_a * (1 - a[k] * a[k]);
        }
        int pairs = z.all_half / 2;
        for (int o = threadIdx.x; o < z.all_types / 4 * pairs; o += THREADS) { /* four types, two units */
            int y = o / pairs * 4, k = o % pairs;
            float s[4][2] = {};
            for (int i = 0; i < n; i += 4) {
                float4 x0 = *(const float4 *)(h + k * S + i), x1 = *(const float4 *)(h + (k + pairs) * S + i);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float4 p = *(const float4 *)(g + (y + j) * S + i);
                    s[j][0] = dot4(p, x0, s[j][0]);
                    s[j][1] = dot4(p, x1, s[j][1]);
                }
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                if (y + j >= types) continue;
                if (k < half) sum[(y + j) * half + k] += s[j][0];
                if (k + pairs < half) sum[(y + j) * half + k + pairs] += s[j][1];
            }
        }
        for (int y = threadIdx.x; y < types; y += THREADS) {
            float s = 0;
            for (int i = 0; i < n; i++) s += g[y * S + i];
            sum[types * half + y] += s;
        }
    }
    if (!backward) return;
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += THREADS) c.type_part[(size_t)blockIdx.x * size + i] = sum[i];
}

const char *smurf_cuda_refuses(const struct cuda_model *m)
{
    const size_t most = 200 << 10;
    if ((m->width * (m->points + 3) + 3 * m->width + 4 * m->points) * sizeof(float) > most)
        return "the gap head has too many units and points";
    if (!m->at_truth && m->counts) return "types at perturbed gaps do not repeat on a GPU (--type-loss truth does)";
    if (!m->at_truth && shared_of(m) > most)
        return "there are too many types at perturbed gaps (see --type-loss truth)";
    if (m->ending && m->objective != CUDA_MLE)
        return "the probability of an end needs objective mle on a GPU (--no-end)";
    return NULL;
}

int smurf_cuda_perturbed_init(const struct cuda_model *m)
{
    cudaFuncSetAttribute(perturbed, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_of(m));
    return cudaGetLastError() != cudaSuccess;
}

void smurf_cuda_perturbed(cudaStream_t s, int blocks, struct rows rows, const struct cuda_model *m,
                          const struct cuda_model *card, const float *slab, int backward, const struct coefficients &c)
{
    perturbed<<<blocks, THREADS, shared_of(m), s>>>(rows, sizes_of(m), card, slab, backward, c);
}
