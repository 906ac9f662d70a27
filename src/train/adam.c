/*
 * adam.c - see adam.h.
 *
 * Loops over weights are vectorised (vector roots and quotients are as exact as scalar ones) and limited by memory
 * bandwidth: with small batches of a large model, most of a step is spent here.
 */
#include "train/adam.h"

#include "base/clones.h"

#include <math.h>

enum { CHUNK = 16384, SUMS_MOST = 4096 };

static size_t end_of(size_t n, size_t c)
{
    return (c + 1) * CHUNK < n ? (c + 1) * CHUNK : n;
}

/* Sums of squares in double, chunk by chunk, added in order. */
double smurf_gradient_norm(size_t n, const float *g, int threads)
{
    double total = 0;
    for (size_t base = 0; base < n; base += (size_t)CHUNK * SUMS_MOST) {
        double sum[SUMS_MOST];
        size_t m = n - base < (size_t)CHUNK * SUMS_MOST ? n - base : (size_t)CHUNK * SUMS_MOST;
        size_t chunks = (m + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) num_threads(threads)
        for (size_t c = 0; c < chunks; c++) {
            double lane[8] = {0}; /* independent sums, to break the dependency chain */
            size_t i = base + c * CHUNK, to = base + end_of(m, c);
            for (; i + 8 <= to; i += 8)
                for (int k = 0; k < 8; k++) lane[k] += (double)g[i + (size_t)k] * (double)g[i + (size_t)k];
            for (; i < to; i++) lane[0] += (double)g[i] * (double)g[i];
            sum[c] = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
        }
        for (size_t c = 0; c < chunks; c++) total += sum[c];
    }
    return sqrt(total);
}

/* Shared by all weights of a step. */
struct rates {
    float scale, rate, inverse; /* factor of the gradient; bias-corrected rate, and factor of the second moment */
};

OP_CLONES
static void move(size_t n, struct rates r, const float *restrict g, float *restrict m, float *restrict v,
                 float *restrict w)
{
    const float b1 = 0.9f, b2 = 0.999f, eps = 1e-5f;
    for (size_t i = 0; i < n; i++) {
        float x = g[i] * r.scale;
        m[i] = b1 * m[i] + (1 - b1) * x;
        v[i] = b2 * v[i] + (1 - b2) * x * x;
        w[i] -= r.rate * m[i] / (sqrtf(v[i] * r.inverse) + eps);
    }
}

void smurf_adam_step(size_t n, uint64_t t, double rate, double factor, const float *g, float *m, float *v, float *w,
                     int threads)
{
    const struct rates r = {(float)factor, (float)(rate / (1 - pow(0.9, (double)t))),
                            (float)(1 / (1 - pow(0.999, (double)t)))};
    size_t chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t c = 0; c < chunks; c++) {
        size_t i = c * CHUNK;
        move(end_of(n, c) - i, r, g + i, m + i, v + i, w + i);
    }
}

void smurf_average_step(size_t n, double decay, const float *w, float *average, int threads)
{
    const float keep = (float)decay;
    size_t chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t c = 0; c < chunks; c++)
        for (size_t i = c * CHUNK; i < end_of(n, c); i++) average[i] = keep * average[i] + (1 - keep) * w[i];
}
