/* peer_step.c - see peer_step.h. */
#include "peer_step.h"

#include "base/random.h"

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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_value);
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

/* The batch of the sequences from `first` to `end`, whose events start at *event and whose targets at *target. */
static struct batch make_batch(struct step *s, size_t first, size_t end, size_t *event, size_t *target)
{
    size_t n = 0, from = *event, targets = 0, *offset = step_memory((end - first + 1) * sizeof *offset);
    struct target *own = s->target + *target;
    for (size_t q = first; q < end; q++) {
        for (size_t k = 1; k < s->length[q]; k++) {
            size_t i = from + n + k;
            own[targets++] = (struct target){n + k - 1, s->time[i] - s->time[i - 1], NAN, s->type[i], false, i};
        }
        n += s->length[q];
        offset[q - first + 1] = n;
    }
    *event += n;
    *target += targets;
    return (struct batch){{{end - first, offset}, n, s->type + from, s->time + from, NULL}, own, targets};
}

static void make_batches(struct step *s, size_t together)
{
    size_t event = 0;
    for (size_t q = 0; q < s->sequences; q++) s->events += s->length[q];
    s->type = step_memory(s->events * sizeof *s->type);
    s->time = step_memory(s->events * sizeof *s->time);
    s->target = step_memory(s->events * sizeof *s->target);
    s->batch = step_memory(s->sequences * sizeof *s->batch);
    make_events(s);
    for (size_t q = 0; q < s->sequences; q += together) {
        size_t end = s->sequences - q < together ? s->sequences : q + together;
        s->batch[s->batches++] = make_batch(s, q, end, &event, &s->targets);
    }
}

void step_open(struct step *s, const struct encoder_shape *shape, const struct loss_config *config, double dropout,
               const size_t *length, size_t sequences, size_t together, int threads)
{
    struct loss_config loss = *config;
    size_t largest = 0;
    *s = (struct step){.dropout = dropout, .length = length, .sequences = sequences};
    loss.objective.class = &smurf_objective_dsm_f32;
    smurf_model_init_f32(&s->model, &smurf_model_smurf_f32, shape, PARAM_INTENSITY);
    make_batches(s, together);
    for (size_t b = 0; b < s->batches; b++)
        if (s->batch[b].input.n > largest) largest = s->batch[b].input.n;
    if (smurf_train_step_init(&s->train, &s->model, &loss, 0, largest, threads, 1, NULL)) {
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
    const struct batch *batch = &s->batch[s->done++ % s->batches];
    run.dropout = s->dropout;
    smurf_train_step_gradient(&s->train, &run, batch, &norm);
    smurf_train_step_update(&s->train, s->done, 1e-4, 1, 0);
    return batch->input.n;
}

struct loss step_loss(struct step *s)
{
    const struct op_run run = step_noise(s);
    struct loss sum = {0};
    memset(s->train.slab[SLAB_GRADIENT], 0, s->model.params.total * sizeof(float));
    for (size_t b = 0; b < s->batches; b++) {
        struct loss part = smurf_train_step_add(&s->train, &run, &s->batch[b]);
        loss_add(&sum, &part);
    }
    return sum;
}
