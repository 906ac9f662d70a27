/*
 * adam.c - see adam.h.
 *
 * Loops over weights are vectorised (vector roots and quotients are as exact as scalar ones) and limited by memory
 * bandwidth: with small batches of a large model, most of a step is spent here.
 */
#include "train/adam.h"

#include "base/clones.h"

#include <math.h>

double smurf_square(size_t n, const float *g)
{
    double lane[8] = {0}; /* independent sums, to break the dependency chain */
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++) lane[k] += (double)g[i + k] * (double)g[i + k];
    for (; i < n; i++) lane[0] += (double)g[i] * (double)g[i];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

double smurf_gradient_norm(size_t n, const float *g)
{
    double sum = 0;
    for (size_t i = 0; i < n; i += ADAM_CHUNK) sum += smurf_square(n - i < ADAM_CHUNK ? n - i : ADAM_CHUNK, g + i);
    return sqrt(sum);
}

struct adam_rates smurf_adam_rates(uint64_t t, double rate, double factor)
{
    return (struct adam_rates){(float)factor, (float)(rate / (1 - pow(0.9, (double)t))),
                               (float)(1 / (1 - pow(0.999, (double)t)))};
}

/* All threads have read the weights since they were last moved, so that a core must take each line of them from the
   others before it writes. It asks for lines ahead. */
OP_CLONES
static void move(size_t n, struct adam_rates r, const float *restrict g, float *restrict m, float *restrict v,
                 float *restrict w)
{
    enum { LINE = 16, BLOCK = 4 * LINE, AHEAD = 8 * BLOCK };
    const float b1 = 0.9f, b2 = 0.999f, eps = 1e-5f;
    for (size_t from = 0, to; from < n; from = to) {
        to = n - from < BLOCK ? n : from + BLOCK;
        for (size_t k = 0; k < BLOCK && n - from > AHEAD + k; k += LINE) __builtin_prefetch(w + from + AHEAD + k, 1);
        for (size_t i = from; i < to; i++) {
            float x = g[i] * r.factor;
            m[i] = b1 * m[i] + (1 - b1) * x;
            v[i] = b2 * v[i] + (1 - b2) * x * x;
            w[i] -= r.rate * m[i] / (sqrtf(v[i] * r.inverse) + eps);
        }
    }
}

void smurf_adam_move(size_t n, const struct adam_rates *rates, const float *g, float *m, float *v, float *w)
{
    move(n, *rates, g, m, v, w);
}

OP_CLONES
static void average_all(size_t n, float keep, const float *restrict w, float *restrict average)
{
    for (size_t i = 0; i < n; i++) average[i] = keep * average[i] + (1 - keep) * w[i];
}

void smurf_average_move(size_t n, double decay, const float *w, float *average)
{
    average_all(n, (float)decay, w, average);
}
