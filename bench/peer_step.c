/* peer_step.c - see peer_step.h. */
#include "peer_step.h"

#include "base/random.h"
#include "base/sort.h"
#include "train/adam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double median(double *x, size_t n)
{
    smurf_sort(x, n);
    return x[n / 2];
}

double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1e3;
}

void *step_memory(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (!memory) {
        fprintf(stderr, "bench: not enough memory\n");
        exit(1);
    }
    return memset(memory, 0, bytes);
}

static void make_events(struct step *s)
{
    struct random random;
    smurf_random_init(&random, 1, 1);
    for (size_t q = 0, i = 0; q < s->sequences; q++) {
        double time = 0;
        for (size_t k = 0; k < s->length[q]; k++, i++) {
            if (k) time += STEP_MEAN_GAP * smurf_random_exponential(&random);
            s->time[i] = time;
            s->type[i] = (uint32_t)(smurf_random_uniform(&random) * (double)s->model.shape.types);
        }
    }
}

/* All sequences as one batch, and as the feed of the steps. */
static void make_feed(struct step *s, size_t together)
{
    size_t *offset = step_memory((s->sequences + 1) * sizeof *offset);
    for (size_t q = 0; q < s->sequences; q++) offset[q + 1] = s->events += s->length[q];
    s->type = step_memory(s->events * sizeof *s->type);
    s->time = step_memory(s->events * sizeof *s->time);
    s->target = step_memory(s->events * sizeof *s->target);
    make_events(s);
    for (size_t q = 0; q < s->sequences; q++)
        for (size_t i = offset[q] + 1; i < offset[q + 1]; i++)
            s->target[s->targets++] = (struct target){i - 1, s->time[i] - s->time[i - 1], NAN, s->type[i], false, i};
    const struct encoder_input input = {
        .rows = {s->sequences, offset, NULL}, .n = s->events, .type = s->type, .time = s->time};
    const struct batch all = {input, s->target, s->targets};
    s->feed = feed_of(&all, together);
}

void step_open(struct step *s, const struct encoder_shape *shape, const struct loss_config *config, double dropout,
               const size_t *length, size_t sequences, size_t together, int threads)
{
    struct loss_config loss = *config;
    *s = (struct step){.dropout = dropout, .length = length, .sequences = sequences};
    loss.objective.class = &smurf_objective_dsm_f32;
    smurf_model_init_f32(&s->model, &smurf_model_smurf_f32, shape, PARAM_INTENSITY);
    make_feed(s, together);
    if (smurf_train_step_init(&s->train, &s->model, &loss, 0, &s->feed, NULL, threads, 1, NULL)) {
        fprintf(stderr, "bench: not enough memory\n");
        exit(1);
    }
}

struct op_run step_noise(const struct step *s)
{
    return (struct op_run){.threads = s->train.threads, .seed = 1, .step = s->done};
}

size_t step_run(struct step *s)
{
    double norm;
    struct op_run run = step_noise(s);
    size_t index = s->done++ % smurf_feed_batches(&s->feed);
    run.dropout = s->dropout;
    smurf_train_step_gradient(&s->train, &run, &s->feed, index, &norm);
    smurf_train_step_update(&s->train, s->done, 1e-4, 1, 0);
    return smurf_slices_rows(&s->train.slices);
}

struct loss step_loss(struct step *s, double *norm)
{
    const struct op_run run = step_noise(s);
    size_t n = s->model.params.total;
    float *gradient = step_memory(n * sizeof *gradient);
    struct loss sum = {0};
    for (size_t b = 0; b < smurf_feed_batches(&s->feed); b++) {
        struct loss part = smurf_train_step_gradient(&s->train, &run, &s->feed, b, norm);
        loss_add(&sum, &part);
        smurf_tree_add(n, s->train.slab[SLAB_GRADIENT], gradient);
    }
    *norm = smurf_gradient_norm(n, gradient);
    free(gradient);
    return sum;
}
