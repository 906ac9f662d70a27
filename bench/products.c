/*
 * products.c - speed of matrix products (op/gemm.h) on the shapes of the presets, next to OpenBLAS where it is
 * installed.
 *
 *     bench_products     prints one JSON object per line: the kernels compared, then GFLOP/s for each shape
 *
 * One thread, float, the best of some rounds, which take turns. OpenBLAS is loaded at run time; OPENBLAS_CORETYPE
 * chooses its kernels.
 */
#define SMURF_REAL 32
#include "op/gemm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 25, LEVELS = 4, ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

typedef void cblas_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);

/* From x * w' (forward), y * w (backward) and y' * x (gradient of w), for StackOverflow's, the default and Financial's
   model; rows as they are divided between threads. */
static const struct shape {
    const char *name;
    int ta, tb, m, n, k;
} shapes[] = {
    {"StackOverflow, attention, forward", 0, 1, 75, 64, 64},
    {"StackOverflow, attention, backward", 0, 0, 75, 64, 64},
    {"StackOverflow, attention, gradient", 1, 0, 64, 64, 292},
    {"StackOverflow, inner layer, forward", 0, 1, 75, 256, 64},
    {"StackOverflow, inner layer, backward", 0, 0, 75, 64, 256},
    {"StackOverflow, inner layer, gradient", 1, 0, 256, 64, 292},
    {"default, 600 events, forward", 0, 1, 150, 64, 64},
    {"default, 600 events, gradient", 1, 0, 64, 64, 600},
    {"Financial, inner layer, forward", 0, 1, 104, 2048, 128},
    {"Financial, inner layer, backward", 0, 0, 104, 128, 2048},
    {"Financial, inner layer, gradient", 1, 0, 512, 128, 3319},
    {"22 types of 292 events", 0, 0, 22, 292, 64},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct bench {
    const struct shape *s;
    float *a, *b, *c;
    cblas_fn *blas; /* or NULL */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* level: of ours, or NULL for OpenBLAS. */
static double seconds(const struct bench *b, const struct gemm_level *level, int calls)
{
    const struct shape *s = b->s;
    int lda = s->ta ? s->m : s->k, ldb = s->tb ? s->k : s->n;
    double start = now();
    for (int i = 0; i < calls; i++)
        if (level)
            gemm_with(level, s->ta, s->tb, (size_t)s->m, (size_t)s->n, (size_t)s->k, 1, b->a, (size_t)lda, b->b,
                      (size_t)ldb, 0, b->c, (size_t)s->n);
        else
            b->blas(ROW_MAJOR, s->ta ? TRANSPOSED : PLAIN, s->tb ? TRANSPOSED : PLAIN, s->m, s->n, s->k, 1, b->a, lda,
                    b->b, ldb, 0, b->c, s->n);
    return (now() - start) / calls;
}

static float *numbers(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x) exit(1);
    for (size_t i = 0; i < n; i++) x[i] = (float)(i % 97) / 97 - 0.5f;
    return x;
}

static void measure(const struct shape *s, cblas_fn *blas)
{
    size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
    struct bench b = {s, numbers(m * k), numbers(k * n), numbers(m * n), blas};
    double flops = 2.0 * (double)(m * n * k), best[LEVELS + 1];
    int calls = (int)(4e7 / flops) + 1;
    const char *name;
    for (int l = 0; l <= LEVELS; l++) best[l] = 1e300;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t l = 0; gemm_level(l, NULL); l++) {
            double took = seconds(&b, gemm_level(l, NULL), calls);
            if (took < best[l]) best[l] = took;
        }
        double took = blas ? seconds(&b, NULL, calls) : 1e300;
        if (took < best[LEVELS]) best[LEVELS] = took;
    }
    printf("{\"name\": \"%s\", \"m\": %zu, \"n\": %zu, \"k\": %zu", s->name, m, n, k);
    for (size_t l = 0; gemm_level(l, &name); l++) printf(", \"%s\": %.1f", name, flops / best[l] / 1e9);
    if (blas) printf(", \"openblas\": %.1f", flops / best[LEVELS] / 1e9);
    puts("}");
    free(b.a), free(b.b), free(b.c);
}

int main(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    union {
        void *symbol;
        cblas_fn *product;
        void (*set)(int);
        char *(*name)(void);
    } blas = {NULL}, call;
    if (library) {
        if ((call.symbol = dlsym(library, "openblas_set_num_threads"))) call.set(1);
        blas.symbol = dlsym(library, "cblas_sgemm");
        call.symbol = dlsym(library, "openblas_get_corename");
    }
    printf("{\"openblas\": \"%s\"}\n", blas.symbol && call.symbol ? call.name() : "");
    for (int i = 0; i < SHAPES; i++) measure(&shapes[i], blas.product);
}
