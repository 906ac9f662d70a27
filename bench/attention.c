/*
 * attention.c - speed of attention and dropout masks.
 *
 *     bench_attention [LENGTH HEADS WIDTH [SEQUENCES [THREADS]]]
 *
 * Prints one JSON object per line: GFLOP/s per thread in float, forward and backward, without dropout and at rate
 * 0.1, next to a product of 512 x 512 x WIDTH; nanoseconds per mask element. Forward counts 2 L^2 WIDTH operations per
 * head (half of two full products), backward 2.5 times that. Medians of the processor time of all threads, which
 * other work on the machine affects little. Without arguments: the shapes of StackOverflow and Financial.
 */
#define SMURF_REAL 32
#include "op/attention.h"
#include "op/gemm.h"
#include "op/dropout.h"

#include "base/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15 };

/* Processor time of the whole process. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Median time of one call of `work`, in rounds of a few milliseconds. */
static double median(void (*work)(void *), void *data)
{
    double round[ROUNDS], start = now();
    work(data);
    double once = now() - start;
    int calls = once > 5e-3 ? 1 : (int)(5e-3 / (once + 1e-7)) + 1;
    for (int r = 0; r < ROUNDS; r++) {
        start = now();
        for (int c = 0; c < calls; c++) work(data);
        round[r] = (now() - start) / calls;
    }
    smurf_sort(round, ROUNDS);
    return round[ROUNDS / 2];
}

static float *numbers(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x) exit(1);
    uint32_t state = 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(state >> 8) * 0x1p-23f - 1;
    }
    return x;
}

struct shape {
    size_t length, heads, width, sequences;
    int threads;
};

struct work {
    struct op_run run;
    struct op_rows rows;
    struct op_dropout dropout;
    struct shape shape;
    float *q, *k, *v, *out, *lse, *dout, *dq, *dk, *dv, *delta, *scratch;
};

static void forward(void *data)
{
    struct work *w = data;
    smurf_attention_forward_f32(&w->run, &w->rows, w->shape.heads, w->shape.width, w->dropout, w->q, w->k, w->v, w->out,
                                w->lse, w->scratch);
}

static void backward(void *data)
{
    struct work *w = data;
    smurf_attention_backward_f32(&w->run, &w->rows, w->shape.heads, w->shape.width, w->dropout, w->q, w->k, w->v,
                                 w->out, w->lse, w->dout, w->dq, w->dk, w->dv, w->delta, w->scratch);
}

/* s (512 x 512) = q k^T. */
static void product(void *data)
{
    struct work *w = data;
    gemm(0, 1, 512, 512, w->shape.width, 1, w->q, w->shape.width, w->k, w->shape.width, 0, w->scratch, 512);
}

static void mask(void *data)
{
    struct work *w = data;
    smurf_dropout_tile_f32(&w->run, w->dropout, 0, 1u << 20, 64, 256, w->scratch, 256);
}

static void bench(struct shape shape)
{
    size_t n = shape.sequences * shape.length, size = n * shape.heads * shape.width;
    if (size < 512 * shape.width) size = 512 * shape.width;
    size_t scratch = smurf_attention_scratch_f32(shape.heads, shape.width, shape.threads);
    if (scratch < 512 * 512) scratch = 512 * 512;
    size_t *offset = malloc((shape.sequences + 1) * sizeof *offset);
    if (!offset) exit(1);
    for (size_t s = 0; s <= shape.sequences; s++) offset[s] = s * shape.length;
    float *slab[11] = {0};
    for (int i = 0; i < 11; i++) slab[i] = numbers(i < 8 ? size : i < 10 ? n * shape.heads : scratch);
    struct work w = {.run = {shape.threads, 1, 1},
                     .rows = {shape.sequences, offset, NULL},
                     .shape = shape,
                     .q = slab[0],
                     .k = slab[1],
                     .v = slab[2],
                     .out = slab[3],
                     .dout = slab[4],
                     .dq = slab[5],
                     .dk = slab[6],
                     .dv = slab[7],
                     .lse = slab[8],
                     .delta = slab[9],
                     .scratch = slab[10]};
    double operations =
        2e-9 * (double)(shape.length * shape.length) * (double)(shape.width * shape.heads * shape.sequences);
    double gemm_speed = 2e-9 * 512 * 512 * (double)shape.width / median(product, &w);
    for (int dropped = 0; dropped < 2; dropped++) {
        w.dropout = (struct op_dropout){dropped ? 0.1 : 0, 1};
        double there = median(forward, &w), back = median(backward, &w);
        printf("{\"length\": %zu, \"heads\": %zu, \"width\": %zu, \"sequences\": %zu, \"threads\": %d, "
               "\"rate\": %g, "
               "\"sgemm\": %.1f, \"forward\": %.1f, \"backward\": %.1f, \"both\": %.1f}\n",
               shape.length, shape.heads, shape.width, shape.sequences, shape.threads, w.dropout.rate, gemm_speed,
               operations / there, 2.5 * operations / back, 3.5 * operations / (there + back));
    }
    printf("{\"mask_ns\": %.3f}\n", 1e9 * median(mask, &w) / (64 * 256));
    for (int i = 0; i < 11; i++) free(slab[i]);
    free(offset);
}

int main(int argc, char **argv)
{
    struct shape shape = {.sequences = 1, .threads = 1};
    if (argc > 3) {
        shape.length = strtoul(argv[1], NULL, 10);
        shape.heads = strtoul(argv[2], NULL, 10);
        shape.width = strtoul(argv[3], NULL, 10);
        if (argc > 4) shape.sequences = strtoul(argv[4], NULL, 10);
        if (argc > 5) shape.threads = atoi(argv[5]);
        bench(shape);
    } else {
        bench((struct shape){73, 4, 16, 16, 1});
        bench((struct shape){3319, 6, 64, 1, 1});
        bench((struct shape){3319, 6, 64, 1, 2});
    }
}
