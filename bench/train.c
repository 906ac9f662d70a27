/*
 * train.c - what a training step costs: events a second, memory, and the share of every op beside its operation count.
 *
 *     bench_train [--quick]     prints one JSON object a line
 *
 * Data are random, in the shapes of the published data sets: cost does not depend on values. Every measurement runs in
 * a process of its own, so that its peak of memory is its own. Times are medians.
 */
#include "step.h"

#include "op/attention.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/gap_head.h"
#include "op/linear.h"
#include "op/noise.h"
#include "op/norm.h"
#include "op/serial.h"
#include "op/type_head.h"
#include "train/adam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static float *floats(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) & ~(size_t)63);
    if (!x) exit(1);
    for (size_t i = 0; i < n; i++) x[i] = (float)((double)(i * 2654435761u % 1000) / 1000 - 0.5);
    return x;
}

/* ---- Whole steps ----------------------------------------------------------------------------- */

struct job {
    const char *name;
    struct encoder_shape shape;
    size_t sequences, length, points;
    int threads, rounds;
};

static void run_job(const struct job *j)
{
    static struct step step;
    const struct loss_config config = {.objective = {.points = j->points, .sigma = {0.1}, .sigmas = 1}, .alpha = 5};
    size_t *length = step_memory(j->sequences * sizeof *length);
    double seconds[64];
    for (size_t s = 0; s < j->sequences; s++) length[s] = j->length;
    step_open(&step, &j->shape, &config, length, j->sequences, j->sequences, j->threads);
    for (int r = 0; r < j->rounds; r++) {
        double from = now();
        step_run(&step);
        seconds[r] = now() - from;
    }
    double middle = median(seconds, (size_t)j->rounds);
    printf("{\"kind\":\"step\",\"name\":\"%s\",\"threads\":%d,\"events\":%zu,\"parameters\":%zu,\"seconds\":%.6f,"
           "\"events_per_second\":%.0f,\"peak_mb\":%.1f}\n",
           j->name, j->threads, step.events, step.model.params.total, middle, (double)step.events / middle, peak_mb());
}

/* ---- Op by op, at StackOverflow's shapes, one thread ------------------------------------------- */

enum { N = 292, D = 64, HEADS = 4, HW = 64, INNER = 256, TYPES = 22, POINTS = 100, LAYERS = 4 };

struct bench {
    float *x, *y, *w, *b, *q, *k, *v, *o, *lse, *dq, *dk, *dv, *delta, *scratch, *inner, *inner2, *z, *u, *h, *logits,
        *g, *a, *tau;
    size_t offset[5];
    double *time;
};

/* One op as a training step uses it: all its calls, forward and backward. flops: of these calls. */
struct op_case {
    const char *name;
    void (*run)(struct bench *b);
    double flops;
};

static const struct op_run still = {1, 1, 1};
static const struct op_dropout tenth = {0.1, 3};

static void linear_maps(struct bench *b)
{
    for (int l = 0; l < LAYERS; l++) {
        for (int i = 0; i < 4; i++) { /* queries, keys, values, output */
            smurf_linear_forward_f32(N, D, HW, b->x, b->w, NULL, b->y);
            smurf_linear_backward_f32(N, D, HW, b->y, b->w, 0, b->x);
            smurf_linear_gradient_f32(N, D, HW, b->x, b->y, 0, HW, b->w, NULL);
        }
        smurf_linear_forward_f32(N, D, INNER, b->x, b->w, b->b, b->inner);
        smurf_linear_backward_f32(N, D, INNER, b->inner, b->w, 0, b->x);
        smurf_linear_gradient_f32(N, D, INNER, b->x, b->inner, 0, INNER, b->w, b->b);
        smurf_linear_forward_f32(N, INNER, D, b->inner, b->w, b->b, b->y);
        smurf_linear_backward_f32(N, INNER, D, b->y, b->w, 0, b->inner);
        smurf_linear_gradient_f32(N, INNER, D, b->inner, b->y, 0, D, b->w, b->b);
    }
    memset(b->w, 0, D * INNER * sizeof *b->w);
}

static void attention(struct bench *b)
{
    struct op_rows rows = {4, b->offset};
    for (int l = 0; l < LAYERS; l++) {
        smurf_attention_forward_f32(&still, &rows, HEADS, HW / HEADS, tenth, b->q, b->k, b->v, b->o, b->lse,
                                    b->scratch);
        smurf_attention_backward_f32(&still, &rows, HEADS, HW / HEADS, tenth, b->q, b->k, b->v, b->o, b->lse, b->y,
                                     b->dq, b->dk, b->dv, b->delta, b->scratch);
    }
}

static void activation(struct bench *b)
{
    for (int l = 0; l < LAYERS; l++) {
        smurf_activation_forward_f32(ACTIVATION_GELU, (size_t)N * INNER, b->inner, b->inner2);
        smurf_activation_forward_f32(ACTIVATION_GELU, (size_t)N * INNER, b->inner, b->inner2);
        smurf_activation_backward_f32(ACTIVATION_GELU, (size_t)N * INNER, b->inner, b->inner2, b->inner2);
    }
}

static void norms(struct bench *b)
{
    for (int i = 0; i < 2 * LAYERS; i++) {
        smurf_norm_forward_f32(N, D, 1e-6, b->x, b->b, b->b, b->y);
        smurf_norm_backward_f32(N, D, 1e-6, b->x, b->b, b->y, b->q);
        smurf_norm_gradient_f32(N, D, 1e-6, b->x, b->y, b->o, b->o + D);
    }
}

static void dropout(struct bench *b)
{
    for (int l = 0; l < LAYERS; l++)
        for (int i = 0; i < 2; i++) {
            smurf_dropout_tile_f32(&still, tenth, 0, D, N, D, b->inner2, D);
            smurf_dropout_tile_f32(&still, tenth, 0, D, N, D, b->inner2, D);
            smurf_dropout_tile_f32(&still, tenth, 0, INNER, N, INNER, b->inner2, INNER);
        }
}

static void gap_head(struct bench *b)
{
    float dc = 0;
    for (int i = 0; i < N; i++) {
        smurf_gap_head_forward_f32(1, D, b->a, b->a + D, b->b, 0, b->tau, POINTS, b->z, b->h, b->h + POINTS, NULL);
        smurf_gap_head_backward_f32(1, D, b->a, b->a + D, b->b, b->tau, POINTS, b->z, b->h, b->h + POINTS, NULL, b->dq,
                                    b->dk, b->dv, &dc);
    }
}

static void type_head(struct bench *b)
{
    double right;
    for (int i = 0; i < N; i++) {
        smurf_type_head_forward_f32(TYPES, D / 2, b->a, b->a + D, b->a, b->b, b->tau, POINTS, b->z, b->logits);
        smurf_type_head_loss_f32(TYPES, POINTS, 3, 0, 1, b->logits, &right);
        smurf_type_head_backward_f32(TYPES, D / 2, b->a, b->a, b->tau, POINTS, b->z, b->logits, b->h, b->dq, b->dk,
                                     b->u, b->dv);
    }
}

static void dsm_loss(struct bench *b)
{
    struct objective_config config = {.points = POINTS, .sigma = {0.1}, .sigmas = 1};
    for (int i = 0; i < N; i++) {
        struct target target = {0, 0.8, NAN, 3, false, (uint64_t)i};
        smurf_objective_dsm_f32.place(&config, &still, &target, POINTS, b->h);
        smurf_objective_dsm_f32.loss(&config, &target, POINTS, b->h, b->a, b->a + 128, NULL, b->dq, b->dk, NULL);
    }
}

static void temporal(struct bench *b)
{
    smurf_temporal_forward_f32(N, D, b->time, b->x);
}

static void adam(struct bench *b)
{
    smurf_gradient_norm(213872, b->g, 1);
    smurf_adam_step(213872, 5, 1e-4, 1, b->g, b->g + 213872, b->g + 2 * 213872, b->g + 3 * 213872, 1);
}

static void run_ops(void)
{
    struct bench b = {floats(N * INNER),
                      floats(N * INNER),
                      floats(INNER * INNER),
                      floats(INNER),
                      floats(N * HW),
                      floats(N * HW),
                      floats(N * HW),
                      floats(N * HW),
                      floats(N * HEADS),
                      floats(N * HW),
                      floats(N * HW),
                      floats(N * HW),
                      floats(N * HEADS),
                      floats(smurf_attention_scratch_f32(HEADS, HW / HEADS, 1)),
                      floats(N * INNER),
                      floats(N * INNER),
                      floats(D * 128),
                      floats(4096),
                      floats(D * 128),
                      floats(TYPES * 128),
                      floats(4 * 213888),
                      floats(4096),
                      floats(4096),
                      {0, 73, 146, 219, 292},
                      malloc(N * sizeof(double))};
    for (int i = 0; i < N; i++) b.time[i] = 1300 + 0.8 * i;
    const double rows = N, maps = 2.0 * (4 * D * HW + 2 * D * INNER) * LAYERS * 3, pairs = 4 * 73.0 * 74 / 2;
    const struct op_case cases[] = {
        {"linear maps", linear_maps, rows * maps},
        {"attention", attention, pairs * HW * 2 * (2 + 5) * LAYERS},
        {"gelu", activation, 0},
        {"layer norm", norms, 0},
        {"dropout", dropout, 0},
        {"gap head", gap_head, rows * POINTS * D * (6 + 12)},
        {"type head", type_head, rows * POINTS * (2.0 * 3 * TYPES * D / 2 + 8 * D / 2)},
        {"dsm: noise and loss", dsm_loss, 0},
        {"temporal encoding", temporal, 0},
        {"Adam", adam, 0},
    };
    /* In turns, after some for warming up: a slow phase of the machine hits all of them. */
    enum { CASES = sizeof cases / sizeof *cases, WARM = 20, ROUNDS = 41 };
    static double seconds[CASES][ROUNDS];
    for (int r = -WARM; r < ROUNDS; r++)
        for (size_t i = 0; i < CASES; i++) {
            double from = now();
            cases[i].run(&b);
            if (r >= 0) seconds[i][r] = now() - from;
        }
    for (size_t i = 0; i < CASES; i++) {
        double middle = median(seconds[i], ROUNDS);
        printf("{\"kind\":\"op\",\"name\":\"%s\",\"us_per_event\":%.3f,\"mflop_per_event\":%.4f,\"gflops\":%.1f}\n",
               cases[i].name, 1e6 * middle / N, cases[i].flops / N / 1e6, cases[i].flops / middle / 1e9);
    }
}

/* ---- Everything ------------------------------------------------------------------------------ */

static void apart(const struct job *job)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        smurf_serial_enter();
        if (job)
            run_job(job);
        else
            run_ops();
        fflush(stdout);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) < 0 || status != 0) {
        fprintf(stderr, "bench_train: a measurement failed\n");
        exit(1);
    }
}

/* With --quick, without the step of 100,000 events, which takes minutes. */
int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const struct encoder_shape stackoverflow = {22, 64, 4, 16, 4, 256, ACTIVATION_GELU, 0.1, false};
    const struct encoder_shape financial = {2, 128, 6, 64, 6, 2048, ACTIVATION_GELU, 0.1, false};
    const struct job jobs[] = {
        {"StackOverflow, batch 4", stackoverflow, 4, 73, 100, 1, 41},
        {"StackOverflow, batch 4", stackoverflow, 4, 73, 100, 2, 41},
        {"Financial, one sequence", financial, 1, 3319, 100, 1, 3},
        {"Financial, one sequence", financial, 1, 3319, 100, 2, 3},
        {"StackOverflow's model, 100,000 events", stackoverflow, 1, 100000, 100, 2, 1},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs - quick; i++) apart(&jobs[i]);
    apart(NULL);
    return 0;
}
