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
    *s = (struct step){
        .config = *config, .dropout = dropout, .length = length, .sequences = sequences, .threads = threads};
    s->config.objective.class = &smurf_objective_dsm_f32;
    smurf_model_init_f32(&s->model, &smurf_model_smurf_f32, shape, PARAM_INTENSITY);
    make_batches(s, together);
    size_t n = s->model.params.total, largest = 0;
    double *start = step_memory(n * sizeof *start);
    float **slab[] = {&s->weight, &s->gradient, &s->moment1, &s->moment2};
    for (int i = 0; i < 4; i++) *slab[i] = step_memory(n * sizeof **slab[i]);
    smurf_params_start(&s->model.params, 1, start);
    for (size_t i = 0; i < n; i++) s->weight[i] = (float)start[i];
    free(start);
    for (size_t b = 0; b < s->batches; b++)
        if (s->batch[b].input.n > largest) largest = s->batch[b].input.n;
    s->memory = step_memory(smurf_smurf_loss_memory_f32(&s->model, config, largest, threads) * sizeof *s->memory);
}

struct op_run step_noise(const struct step *s)
{
    return (struct op_run){.threads = s->threads, .seed = 1, .step = s->done};
}

size_t step_run(struct step *s)
{
    size_t n = s->model.params.total;
    struct op_run run = step_noise(s);
    const struct batch *batch = &s->batch[s->done++ % s->batches];
    memset(s->gradient, 0, n * sizeof *s->gradient);
    run.dropout = s->dropout;
    smurf_smurf_loss_f32(&run, &s->model, &s->config, s->weight, batch, s->memory, s->gradient);
    smurf_adam_step(n, s->done, 1e-4, 1, s->gradient, s->moment1, s->moment2, s->weight, s->threads);
    return batch->input.n;
}

struct loss step_loss(struct step *s)
{
    const struct op_run run = step_noise(s);
    struct loss sum = {0};
    memset(s->gradient, 0, s->model.params.total * sizeof *s->gradient);
    for (size_t b = 0; b < s->batches; b++) {
        struct loss part =
            smurf_smurf_loss_f32(&run, &s->model, &s->config, s->weight, &s->batch[b], s->memory, s->gradient);
        sum.time += part.time;
        sum.type += part.type;
    }
    return sum;
}
