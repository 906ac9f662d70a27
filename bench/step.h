/*
 * step.h - training steps on random data of any shape, for benchmarks; the same work as a step of the trainer.
 *
 *     step = zero gradients; loss and gradient of a batch; norm; Adam; average of the weights, if any
 *
 * Settings come from a preset and are the trainer's own. Data are random: cost does not depend on values.
 */
#ifndef SMURF_BENCH_STEP_H
#define SMURF_BENCH_STEP_H

#include "feed_of.h"
#include "train/step.h"
#include "model/smurf_class.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline double clock_of(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

static inline void *room(size_t bytes)
{
    void *x = aligned_alloc(64, (bytes + 64) & ~(size_t)63);
    if (!x) exit(1);
    return x;
}

static inline double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1e3;
}

/* A preset's settings. The default, and the models derived from it, adapt to data: here as for StackOverflow. */
static inline smurf_settings settings_of(const char *preset)
{
    smurf_settings c;
    smurf_settings_init(&c);
    if (smurf_settings_preset(&c, preset, NULL, NULL)) exit(1);
    if (!strchr(preset, '-')) c.layers = 3, c.batch = 8, c.average = 0.999;
    c.counts = strcmp(preset, "default") == 0;
    return c;
}

struct step {
    struct model model;
    struct train_step train;
    struct batch batch;
    struct feed feed; /* the same batch */
    double average;   /* decay; 0: none */
    double dropout;
    uint64_t done;
};

/* `sequences` of `length` events each; all but the first event of each are predicted. */
static inline struct batch random_batch(size_t types, size_t sequences, size_t length)
{
    size_t n = sequences * length, targets = 0;
    size_t *offset = room((sequences + 1) * sizeof *offset);
    uint32_t *type = room(n * sizeof *type);
    double *time = room(n * sizeof *time);
    float *gap = room(n * sizeof *gap);
    struct target *target = room(n * sizeof *target);
    for (size_t s = 0; s <= sequences; s++) offset[s] = s * length;
    for (size_t i = 0; i < n; i++) {
        size_t at = i % length;
        type[i] = (uint32_t)(i * 7919 % types);
        time[i] = 0.8 * (double)at;
        gap[i] = at ? (float)(i * 31 % 17) / 17 : NAN;
        if (at) target[targets++] = (struct target){i - 1, 0.8, NAN, type[i], false, i};
    }
    return (struct batch){{{sequences, offset, NULL}, n, type, time, gap}, target, targets};
}

static inline void step_open(struct step *s, const smurf_settings *c, size_t types, size_t sequences, size_t length,
                             int threads)
{
    struct encoder_shape shape = {.types = types,
                                  .width = c->width,
                                  .heads = c->heads,
                                  .head_width = c->head_width,
                                  .layers = c->layers,
                                  .inner = c->inner,
                                  .activation = c->relu ? ACTIVATION_RELU : ACTIVATION_GELU,
                                  .gap_feature = c->gap_feature != 0,
                                  .counts = c->counts != 0};
    struct loss_config loss;
    for (int m = 0; m < COUNT_SCALES; m++) shape.count_rate[m] = pow(0.5, m);
    *s = (struct step){.batch = random_batch(types, sequences, length), .average = c->average, .dropout = c->dropout};
    smurf_loss_config(&loss, c, 0, 10);
    smurf_model_init_f32(&s->model, smurf_model_class_named_f32(c->model), &shape, PARAM_INTENSITY);
    s->feed = feed_of(&s->batch, sequences);
    unsigned more = s->average > 0 ? 1u << SLAB_AVERAGE : 0;
    threads = smurf_train_step_threads(&s->feed, threads);
    if (smurf_train_step_init(&s->train, &s->model, &loss, more, &s->feed, NULL, threads, 1, NULL)) exit(1);
}

static inline void step_run(struct step *s)
{
    double norm;
    struct op_run run = {s->train.threads, 1, ++s->done, s->dropout, NULL};
    smurf_train_step_gradient(&s->train, &run, &s->feed, 0, &norm);
    smurf_train_step_update(&s->train, s->done, 1e-4, norm > 1 ? 1 / norm : 1, s->average);
}

/* Runs `work(job)` in its own process, so that its peak memory is its own; exits if it fails. */
static inline void apart(void (*work)(const void *job), const void *job)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        work(job);
        fflush(stdout);
        _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
        fprintf(stderr, "bench: a measurement failed\n");
        exit(1);
    }
}

#endif
