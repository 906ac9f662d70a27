/*
 * objective.cu - the gap head at the points of each target, the objective there, and the gradients of both:
 * op/gap_head.c, model/objective_*.c and model/ending.c, a block for a row.
 *
 * First threads are points: u, u', u'' and their gradients. Then they are units: sums over points, with z = tanh(a tau
 * + b) of all units and points in shared memory.
 */
#include "cuda/points.cuh"

/* See op/intensity.h. */
struct intensity {
    float lambda, q, r, kappa;
};

static __device__ __forceinline__ struct intensity intensity_at(float u)
{
    float e = expf(-fabsf(u)), soft = log1pf(e);
    struct intensity l;
    l.lambda = u > 0 ? u + soft : soft;
    l.q = u > 0 ? 1 / (1 + e) : e / (1 + e);
    l.r = l.q / (l.lambda + 1e-10f);
    l.kappa = l.r * (1 - l.q - l.r);
    return l;
}

struct gradient3 {
    float g0, g1, g2;
};

/* Score matching at the gap: 1/2 h psi^2 + h psi' + h' psi; without noise, h = 1. See op/score.h. */
static __device__ double at_gap(const struct cuda_model *m, double gap, double limit, float u, float u1, float u2,
                                struct gradient3 *g)
{
    double h = 1, slope = 0;
    if (m->objective == CUDA_WSM) {
        h = m->log_axis ? 1 : gap;
        slope = m->log_axis ? 0 : 1;
        if (limit - gap < h) h = limit - gap, slope = -1;
    }
    float psi = u, by_u = 1, by_u1 = 0, d = u1, d_u = 0, d_u1 = 1, d_u2 = 0;
    if (!m->score) {
        struct intensity l = intensity_at(u);
        float p = l.kappa * u1 - l.q, rest = 1 - l.q;
        float kappa2 = l.r * ((rest - l.r) * (rest - 2 * l.r) - l.q * rest);
        psi = l.r * u1 - l.lambda;
        d = l.r * u2 + p * u1;
        by_u = p;
        by_u1 = l.r;
        d_u = l.kappa * u2 + kappa2 * u1 * u1 - l.q * rest * u1;
        d_u1 = 2 * l.kappa * u1 - l.q;
        d_u2 = l.r;
    }
    float by_psi = (float)(h * psi + slope), by_d = (float)h;
    g->g0 = by_psi * by_u + by_d * d_u;
    g->g1 = by_psi * by_u1 + by_d * d_u1;
    g->g2 = by_d * d_u2;
    return 0.5 * h * psi * psi + h * d + slope * psi;
}

static __device__ double denoising(const struct cuda_model *m, double gap, int i, float tau, float u, float u1,
                                   struct gradient3 *g)
{
    double sigma = m->sigma[i % m->sigmas], s2 = sigma * sigma, t = tau;
    float score, weight, share = 1 / (float)m->points, whole = m->stop ? 0 : 1;
    gap = noisy_gap(m, gap);
    if (m->multiplicative) {
        score = (float)(-(1 + log(t / gap) / s2) / t);
        weight = (float)(s2 * t * t);
    } else {
        score = (float)((gap - t) / s2);
        weight = (float)s2;
    }
    if (m->score) {
        float miss = u - score;
        g->g0 = weight * miss * share;
        return 0.5 * (double)(weight * miss * miss) / (double)m->points;
    }
    struct intensity l = intensity_at(u);
    float miss = l.r * u1 - l.lambda - score, by = weight * miss;
    double out = 0.5 * (double)(by * miss) / (double)m->points;
    by *= share;
    g->g0 = by * (whole * l.kappa * u1 - l.q);
    g->g1 = by * whole * l.r;
    return out;
}

static __device__ double likelihood(const struct cuda_model *m, double gap, int i, float u, struct gradient3 *g)
{
    if (i < (int)m->points) {
        double span = gap > m->low ? gap - m->low : 0, w = span * m->weight[i];
        struct intensity l = intensity_at(u);
        g->g0 = (float)w * l.q;
        return w * (double)l.lambda;
    }
    if (u < -40) {
        g->g0 = -1;
        return -(double)u;
    }
    struct intensity l = intensity_at(u);
    g->g0 = -l.q / l.lambda;
    return -(double)logf(l.lambda);
}

static __device__ double softplus(double u)
{
    return (u > 0 ? u : 0) + log1p(exp(-fabs(u)));
}

static __device__ double logistic(double u)
{
    return 1 / (1 + exp(-u));
}

/* The loss of a target and its end (model/ending.h), given that of its gap; *by_gap, *by_s: the derivatives. */
static __device__ double with_end(bool censored, double s, double gap, double *by_gap, double *by_s)
{
    if (!censored) {
        *by_gap = 1;
        *by_s = logistic(s);
        return gap + softplus(s);
    }
    double ended = logistic(s + gap);
    *by_s = logistic(s) - ended;
    *by_gap = 1 - ended;
    return softplus(s) + gap - softplus(s + gap);
}

/* What a row of no target leaves. */
static __device__ void nothing(uint32_t r, int d, const struct cuda_model *m, int backward,
                               const struct coefficients &c)
{
    if (threadIdx.x == 0) c.time[r] = 0;
    if (!backward) return;
    for (int k = threadIdx.x; k < d; k += blockDim.x) {
        size_t at = (size_t)r * d + k;
        c.da[at] = c.db[at] = c.gw[at] = 0;
    }
    if (threadIdx.x == 0) c.gc[r] = 0;
    if (threadIdx.x == 0 && m->ending) c.ds[r] = 0;
}

template <int ORDER>
static __global__ void gap_head(struct rows rows, int d, int most, const struct cuda_model *m, const float *slab,
                                int backward, struct coefficients c)
{
    extern __shared__ float shared[];
    __shared__ double room[32];
    uint32_t r = blockIdx.x;
    if (r >= rows.run->rows) return;
    uint32_t kind = rows.target[r];
    if (kind == CUDA_NONE || (kind == CUDA_CENSORED && m->objective != CUDA_MLE)) {
        nothing(r, d, m, backward, c);
        return;
    }
    int odd = most | 1; /* rows of z in different banks */
    float *a = shared, *b = a + d, *w = b + d, *tau = w + d, *g0 = tau + most, *g1 = g0 + most, *g2 = g1 + most,
          *z = g2 + most;
    int n = (int)m->points + (m->objective == CUDA_MLE && kind == CUDA_EVENT);
    double gap = rows.target_gap[r], loss = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) {
        a[k] = c.a[(size_t)r * d + k];
        b[k] = c.b[(size_t)r * d + k];
        w[k] = slab[m->w + k];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float t = point_at(m, rows, r, i), u = slab[m->c], u1 = 0, u2 = 0;
        for (int k = 0; k < d; k++) {
            float y = tanhf(fmaf(a[k], t, b[k])), s = 1 - y * y;
            z[k * odd + i] = y;
            u = fmaf(w[k], y, u);
            if (ORDER >= 1) u1 = fmaf(w[k] * a[k], s, u1);
            if (ORDER >= 2) u2 = fmaf(-2 * w[k] * a[k] * a[k] * y, s, u2);
        }
        struct gradient3 g = {0, 0, 0};
        switch (m->objective) {
        case CUDA_DSM: loss += denoising(m, gap, i, t, u, u1, &g); break;
        case CUDA_MLE: loss += likelihood(m, gap, i, u, &g); break;
        default: loss += at_gap(m, gap, rows.target_limit[r], u, u1, u2, &g); break;
        }
        tau[i] = t;
        g0[i] = g.g0;
        if (ORDER >= 1) g1[i] = g.g1;
        if (ORDER >= 2) g2[i] = g.g2;
    }
    loss = block_sum(loss, room);
    double by_gap = 1, by_s = 0;
    if (m->ending) loss = with_end(kind == CUDA_CENSORED, c.s[r], loss, &by_gap, &by_s);
    if (threadIdx.x == 0) {
        c.time[r] = loss;
        if (backward && m->ending) c.ds[r] = (float)(m->alpha * by_s);
    }
    if (!backward) return;
    __syncthreads();
    const float factor = (float)(m->alpha * by_gap);
    int parts = blockDim.x >= 4 * (unsigned)d ? 4 : blockDim.x >= 2 * (unsigned)d ? 2 : 1;
    int part = threadIdx.x % parts, together = blockDim.x / parts;
    float all = 0;
    for (int k0 = 0; k0 < d; k0 += together) {
        int k = k0 + threadIdx.x / parts;
        float sum_z = 0, sum_s = 0, sum_zs = 0, sum_e = 0, sum_etau = 0, x = k < d ? a[k] : 0;
        all = 0;
        for (int i = part; k < d && i < n; i += parts) {
            float y = z[k * odd + i], z2 = y * y, s = 1 - z2, h0 = g0[i], e = h0;
            if (ORDER >= 1) e -= 2 * x * g1[i] * y;
            if (ORDER >= 2) e -= 2 * x * x * g2[i] * (1 - 3 * z2);
            e *= s;
            all += h0;
            sum_z += h0 * y;
            if (ORDER >= 1) sum_s += g1[i] * s;
            if (ORDER >= 2) sum_zs += g2[i] * y * s;
            sum_e += e;
            sum_etau += e * tau[i];
        }
        for (int step = 1; step < parts; step *= 2) {
            all += __shfl_xor_sync(0xffffffffu, all, step);
            sum_z += __shfl_xor_sync(0xffffffffu, sum_z, step);
            sum_s += __shfl_xor_sync(0xffffffffu, sum_s, step);
            sum_zs += __shfl_xor_sync(0xffffffffu, sum_zs, step);
            sum_e += __shfl_xor_sync(0xffffffffu, sum_e, step);
            sum_etau += __shfl_xor_sync(0xffffffffu, sum_etau, step);
        }
        if (k < d && part == 0) {
            size_t at = (size_t)r * d + k;
            c.gw[at] = factor * (sum_z + x * (sum_s - 2 * x * sum_zs));
            c.db[at] = factor * w[k] * sum_e;
            c.da[at] = factor * w[k] * (sum_etau + sum_s - 4 * x * sum_zs) * (1 - x * x);
        }
        if (k == 0 && part == 0) c.gc[r] = factor * all;
    }
}

/* ---- Launches ------------------------------------------------------------------------------------------ */

static int points_of(const struct cuda_model *m)
{
    return (int)m->points + (m->objective == CUDA_MLE);
}

static size_t shared_of(const struct cuda_model *m)
{
    size_t n = (size_t)points_of(m), d = m->width;
    return (3 * d + 4 * n + d * (n | 1)) * sizeof(float);
}

static int order_of(const struct cuda_model *m)
{
    if (m->objective == CUDA_MLE) return 0;
    if (m->objective == CUDA_DSM) return m->score ? 0 : 1;
    return m->score ? 1 : 2;
}

int smurf_cuda_objective_init(const struct cuda_model *m)
{
    int size = (int)shared_of(m);
    cudaFuncSetAttribute(gap_head<0>, cudaFuncAttributeMaxDynamicSharedMemorySize, size);
    cudaFuncSetAttribute(gap_head<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, size);
    cudaFuncSetAttribute(gap_head<2>, cudaFuncAttributeMaxDynamicSharedMemorySize, size);
    return cudaGetLastError() != cudaSuccess;
}

void smurf_cuda_objective(cudaStream_t s, int cap, struct rows rows, const struct cuda_model *m,
                          const struct cuda_model *card, const float *slab, int backward, const struct coefficients &c)
{
    int n = points_of(m), d = (int)m->width, threads = n <= 32 ? 32 : n <= 64 ? 64 : 128;
    size_t size = shared_of(m);
    switch (order_of(m)) {
    case 0: gap_head<0><<<cap, threads, size, s>>>(rows, d, n, card, slab, backward, c); break;
    case 1: gap_head<1><<<cap, threads, size, s>>>(rows, d, n, card, slab, backward, c); break;
    default: gap_head<2><<<cap, threads, size, s>>>(rows, d, n, card, slab, backward, c); break;
    }
}
