/*
 * peaks.c - see peaks.h. Compiled with -ffast-math, as the ops with vector functions are.
 */
#include "peaks.h"

#define SMURF_REAL 32
#include "base/clones.h"
#include "op/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

const char *const function_name[FUNCTIONS] = {"tanh", "exp", "erf", "log", "sin", "sin64"};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double fastest_of(int rounds, void (*work)(void *), void *data)
{
    double best = 1e300;
    work(data);
    for (int r = 0; r < rounds; r++) {
        double from = now();
        work(data);
        double took = now() - from;
        if (took < best) best = took;
    }
    return best;
}

/* ---- Products -------------------------------------------------------------------------------- */

struct product {
    float *a, *b, *c;
    size_t m, n, k;
    int times;
};

static void multiply(void *data)
{
    const struct product *p = data;
    for (int t = 0; t < p->times; t++)
        gemm(0, 1, p->m, p->n, p->k, 1, p->a, p->k, p->b, p->k, 0, p->c, p->n);
}

/* GFLOP/s */
static double speed(float *room, size_t m, size_t n, size_t k, int times)
{
    struct product p = {room, room + (1 << 20), room + (2 << 20), m, n, k, times};
    return 2e-9 * (double)(m * n * k) * times / fastest_of(15, multiply, &p);
}

/* ---- Functions: 1000 arguments that stay in the L1 cache, 20 times ------------------------------- */

enum { N = 1024, TIMES = 20 };

#define EVALUATE(name, type, f)                                                                                        \
    OP_CLONES static void name##_loop(const type *restrict x, type *restrict y)                                        \
    {                                                                                                                  \
        for (int i = 0; i < N; i++) y[i] = f(x[i]);                                                                    \
    }                                                                                                                  \
    static void name(void *data)                                                                                       \
    {                                                                                                                  \
        for (int t = 0; t < TIMES; t++) name##_loop(data, (type *)data + N);                                           \
    }
EVALUATE(all_tanh, float, tanhf)
EVALUATE(all_exp, float, expf)
EVALUATE(all_erf, float, erff)
EVALUATE(all_log, float, logf)
EVALUATE(all_sin, float, sinf)
EVALUATE(all_sin64, double, sin)

static void (*const inlined[FUNCTIONS])(size_t n, const float *x,
                                        float *y) = {[TANH] = inline_tanh, [EXP] = inline_exp, [LOG] = inline_log};

/* data[2 N] selects the function. */
static void all_inline(void *data)
{
    float *room = data;
    for (int t = 0; t < TIMES; t++) inlined[(int)room[2 * N]](N, room, room + N);
}

static void (*const evaluate[FUNCTIONS])(void *) = {all_tanh, all_exp, all_erf, all_log, all_sin, all_sin64};

/* ---- Memory ---------------------------------------------------------------------------------- */

struct stream {
    float *x, *y;
    size_t n;
    int times;
};

/* In place, so that no cache line is fetched only to be overwritten: the bytes counted are the bytes moved. */
OP_CLONES static void blend(size_t n, const float *restrict x, float *restrict y)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] - 0.5f * y[i];
}

static void flow(void *data)
{
    const struct stream *s = data;
    for (int t = 0; t < s->times; t++) blend(s->n, s->x, s->y);
}

struct peaks measure_peaks(void)
{
    struct peaks out = {.size = {384 << 10, 6 << 20, 192 << 20}};
    size_t most = out.size[FAR] / sizeof(float);
    float *room = aligned_alloc(64, out.size[FAR]);
    if (!room) exit(1);
    for (size_t i = 0; i < most; i++) room[i] = (float)(i % 1000) / 1000 + 0.5f;
    for (int s = 0; s < STORES; s++) {
        size_t n = out.size[s] / sizeof(float) / 2;
        struct stream stream = {room, room + n, n, (int)(out.size[FAR] / out.size[s])};
        if (stream.times > 64) stream.times = 64;
        out.bytes[s] = 12.0 * (double)n * stream.times / fastest_of(7, flow, &stream);
    }
    for (size_t i = 0; i < most; i++) room[i] = (float)(i % 1000) / 1000 + 0.5f;
    out.gflops = speed(room, 1024, 1024, 1024, 1);
    out.small_gflops = speed(room, 36, 64, 64, 500);
    for (int f = 0; f < FUNCTIONS; f++) {
        for (size_t i = 0; i < N; i++)
            if (f == SINE64)
                ((double *)room)[i] = (double)i;
            else
                room[i] = (float)(i % 100) / 50 + 0.01f;
        out.per_second[f] = N * TIMES / fastest_of(101, evaluate[f], room);
        if (!inlined[f]) continue;
        room[2 * N] = (float)f;
        double other = N * TIMES / fastest_of(101, all_inline, room);
        if (other > out.per_second[f]) out.per_second[f] = other;
    }
    free(room);
    return out;
}
