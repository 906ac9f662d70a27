/*
 * products.c - speed of matrix products (op/gemm.h) on the shapes of the presets, next to OpenBLAS, BLIS and libxsmm
 * where they are installed.
 *
 *     bench_products     prints one JSON object per line: the kernels of OpenBLAS, then GFLOP/s for each shape
 *
 * One thread, float, the best of some rounds, which take turns. Libraries are loaded at run time; OPENBLAS_CORETYPE
 * chooses the kernels of OpenBLAS. libxsmm, of which Debian has an archive only, is measured where LD_LIBRARY_PATH
 * leads to a shared one. It makes a kernel for the shape, with operands as it likes them: it has none for transposed
 * ones.
 */
#define SMURF_REAL 32
#include "op/gemm.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 25, ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

typedef void cblas_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);

/* As libxsmm 1.17 declares them. */
typedef void xsmm_kernel(const float *a, const float *b, float *c, ...);
typedef xsmm_kernel *xsmm_dispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
                                   const float *alpha, const float *beta, const int *flags, const int *prefetch);

/* Our kernels by processor, then libraries. */
enum { LEVELS = 4, OPENBLAS = LEVELS, BLIS, XSMM, CANDIDATES };
static const char *const library_name[] = {[OPENBLAS] = "openblas", [BLIS] = "blis", [XSMM] = "libxsmm"};

static struct {
    cblas_fn *blas[CANDIDATES]; /* of OPENBLAS and BLIS */
    xsmm_dispatch *xsmm;
} libraries;

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
    xsmm_kernel *kernel;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void multiply(const struct bench *b, size_t candidate)
{
    const struct shape *s = b->s;
    int lda = s->ta ? s->m : s->k, ldb = s->tb ? s->k : s->n;
    if (candidate < LEVELS)
        gemm_with(gemm_level(candidate, NULL), s->ta, s->tb, (size_t)s->m, (size_t)s->n, (size_t)s->k, 1, b->a,
                  (size_t)lda, b->b, (size_t)ldb, 0, b->c, (size_t)s->n);
    else if (candidate == XSMM)
        b->kernel(b->b, b->a, b->c); /* by columns: c' = b' a' */
    else
        libraries.blas[candidate](ROW_MAJOR, s->ta ? TRANSPOSED : PLAIN, s->tb ? TRANSPOSED : PLAIN, s->m, s->n, s->k,
                                  1, b->a, lda, b->b, ldb, 0, b->c, s->n);
}

static bool there(const struct bench *b, size_t candidate)
{
    if (candidate < LEVELS) return gemm_level(candidate, NULL) != NULL;
    return candidate == XSMM ? b->kernel != NULL : libraries.blas[candidate] != NULL;
}

static double seconds(const struct bench *b, size_t candidate, int calls)
{
    double start = now();
    for (int i = 0; i < calls; i++) multiply(b, candidate);
    return (now() - start) / calls;
}

static float *numbers(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x) exit(1);
    for (size_t i = 0; i < n; i++) x[i] = (float)(i % 97) / 97 - 0.5f;
    return x;
}

static xsmm_kernel *kernel_of(const struct shape *s)
{
    const float one = 1, zero = 0;
    return libraries.xsmm ? libraries.xsmm(s->n, s->m, s->k, NULL, NULL, NULL, &one, &zero, NULL, NULL) : NULL;
}

static void measure(const struct shape *s)
{
    size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
    struct bench b = {s, numbers(m * k), numbers(k * n), numbers(m * n), kernel_of(s)};
    double flops = 2.0 * (double)(m * n * k), best[CANDIDATES];
    int calls = (int)(4e7 / flops) + 1;
    for (size_t i = 0; i < CANDIDATES; i++) best[i] = 1e300;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < CANDIDATES; i++) {
            double took = there(&b, i) ? seconds(&b, i, calls) : 1e300;
            if (took < best[i]) best[i] = took;
        }
    printf("{\"name\": \"%s\", \"m\": %zu, \"n\": %zu, \"k\": %zu", s->name, m, n, k);
    for (size_t i = 0; i < CANDIDATES; i++) {
        const char *name = i < LEVELS ? NULL : library_name[i];
        if (!there(&b, i)) continue;
        if (i < LEVELS) gemm_level(i, &name);
        printf(", \"%s\": %.1f", name, flops / best[i] / 1e9);
    }
    puts("}");
    free(b.a), free(b.b), free(b.c);
}

/* A function of a library; each has its own type. */
static void *find(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

int main(void)
{
    void *openblas = dlopen("libopenblas.so.0", RTLD_NOW), *blis = dlopen("libblis.so.4", RTLD_NOW),
         *xsmm = dlopen("libxsmm.so", RTLD_NOW);
    union {
        void *symbol;
        void (*set)(int);
        void (*set_long)(long);
        char *(*name)(void);
    } call;
    if ((call.symbol = find(openblas, "openblas_set_num_threads"))) call.set(1);
    if ((call.symbol = find(blis, "bli_thread_set_num_threads"))) call.set_long(1);
    *(void **)&libraries.blas[OPENBLAS] = find(openblas, "cblas_sgemm");
    *(void **)&libraries.blas[BLIS] = find(blis, "cblas_sgemm");
    *(void **)&libraries.xsmm = find(xsmm, "libxsmm_smmdispatch");
    call.symbol = find(openblas, "openblas_get_corename");
    printf("{\"openblas\": \"%s\"}\n", libraries.blas[OPENBLAS] && call.symbol ? call.name() : "");
    for (int i = 0; i < SHAPES; i++) measure(&shapes[i]);
}
