/*
 * peer.c - our side of the comparison with PyTorch: see torch/race.py.
 *
 *     bench_peer stackoverflow|financial THREADS [LENGTH ...]
 *
 * Creates the model with the paper's settings and random sequences of the given lengths (default: those of the data
 * set). Reads one command per line from standard input and answers each with one JSON object on a line.
 *
 *     train STEPS      that many steps, one batch after the other
 *     write FILE       the current weights, the events and the noise as safetensors; the loss of all batches
 *                      without dropout, and the norm of its gradient
 *     langevin STEPS   100 draws from each of the laws of the first 64 events
 *     exact PASSES     the law and 19 quantiles of the gap after every event
 */
#include "peer_step.h"

#include "forecast/model_predictor.h"
#include "law/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAWS = 64, DRAWS = 100 };
static const double DROPOUT = 0.1;

/* Settings of the paper, and lengths: for StackOverflow one per 32nd part of the train sequences, shuffled; for
   Financial the mean. */
struct peer_case {
    const char *name;
    struct encoder_shape shape;
    struct loss_config loss;
    size_t together, sequences, length[32];
    double step; /* of Langevin */
};
static const struct peer_case cases[] = {
    {"stackoverflow",
     {.types = 22, .width = 64, .heads = 4, .head_width = 16, .layers = 4, .inner = 256, .activation = ACTIVATION_RELU},
     {.objective = {.points = 100, .sigma = {0.1}, .sigmas = 1}, .alpha = 5},
     4,
     32,
     {96, 61,  52, 50, 115, 42, 45, 44, 47, 59,  49, 66, 156, 54,  74, 41,
      71, 130, 46, 53, 68,  78, 56, 57, 43, 221, 42, 85, 89,  104, 63, 48},
     0.05},
    {"financial",
     {.types = 2,
      .width = 128,
      .heads = 6,
      .head_width = 64,
      .layers = 6,
      .inner = 2048,
      .activation = ACTIVATION_RELU},
     {.objective = {.points = 100, .sigma = {0.05}, .sigmas = 1}, .alpha = 5, .smoothing = 0.1},
     1,
     1,
     {3319},
     0.005},
};

static void must(smurf_status status, const smurf_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_peer: %s\n", err->message);
    exit(1);
}

/* ---- Training -------------------------------------------------------------------------------- */

static void train(struct step *step, long steps)
{
    size_t events = 0;
    double from = now();
    for (long i = 0; i < steps; i++) events += step_run(step);
    printf("{\"seconds\": %.6f, \"events\": %zu, \"peak_mb\": %.1f}\n", now() - from, events, peak_mb());
}

/* The perturbed gaps of the next step, (targets x points). */
static float *noise_of(const struct step *step)
{
    const struct op_run run = step_noise(step);
    size_t points = step->train.loss.objective.points;
    float *tau = step_memory(step->targets * points * sizeof *tau);
    for (size_t i = 0; i < step->targets; i++)
        smurf_objective_dsm_f32.place(&step->train.loss.objective, &run, &step->target[i], points, tau + i * points);
    return tau;
}

static void write_all(struct step *step, const struct peer_case *c, const char *path)
{
    struct tensor tensor[PARAMS_MOST + 4];
    struct arena arena = {0};
    smurf_error err;
    char settings[512];
    size_t n = step->model.params.count, points = step->train.loss.objective.points;
    float *tau = noise_of(step);
    const struct encoder_shape *s = &step->model.shape;
    snprintf(settings, sizeof settings,
             "{\"types\": %zu, \"width\": %zu, \"heads\": %zu, \"head_width\": %zu, \"layers\": %zu, \"inner\": %zu, "
             "\"dropout\": %g, \"sigma\": %g, \"alpha\": %g, \"smoothing\": %g, \"together\": %zu, \"laws\": %d, "
             "\"draws\": %d, \"step\": %g, \"start\": [%.17g, %.17g]}",
             s->types, s->width, s->heads, s->head_width, s->layers, s->inner, step->dropout,
             step->train.loss.objective.sigma[0], step->train.loss.alpha, step->train.loss.smoothing, c->together, LAWS,
             DRAWS, c->step, -log(0.95) * STEP_MEAN_GAP, -log(0.05) * STEP_MEAN_GAP);
    must(smurf_model_list(&step->model, step->train.slab[SLAB_WEIGHT], "weight.", tensor, &arena, &err), &err);
    tensor[n++] = (struct tensor){"length", TENSOR_U64, 1, {step->sequences}, step->length};
    tensor[n++] = (struct tensor){"type", TENSOR_U32, 1, {step->events}, step->type};
    tensor[n++] = (struct tensor){"time", TENSOR_F64, 1, {step->events}, step->time};
    tensor[n++] = (struct tensor){"tau", TENSOR_F32, 2, {step->targets, points}, tau};
    must(smurf_tensors_write(path, tensor, n, &(struct tensor_text){"settings", settings}, 1, &err), &err);
    smurf_arena_release(&arena);
    free(tau);
    double norm;
    struct loss loss = step_loss(step, &norm);
    printf("{\"time\": %.9g, \"type\": %.9g, \"norm\": %.9g}\n", loss.time, loss.type, norm);
}

/* ---- Laws ------------------------------------------------------------------------------------ */

/* The public model, with the weights of the step, and the encoder's output for every event. */
struct laws {
    smurf_model model;
    float *c; /* (n x 3 width) coefficients */
    size_t n;
};

static void laws_open(struct laws *l, const struct step *step)
{
    size_t n = step->events, *offset = step_memory((step->sequences + 1) * sizeof *offset);
    const double sigma = step->train.loss.objective.sigma[0];
    double longest = 0;
    for (size_t i = 0; i < step->targets; i++) longest = fmax(longest, step->target[i].gap);
    for (size_t q = 0; q < step->sequences; q++) offset[q + 1] = offset[q] + step->length[q];
    *l = (struct laws){.n = n};
    l->model.model = step->model;
    l->model.slab = step->train.slab[SLAB_WEIGHT];
    l->model.types = (uint32_t)step->model.shape.types;
    strcpy(l->model.config.objective, "dsm");
    l->model.config.sigma[0] = sigma;
    l->model.view.scale = (smurf_scale){.kind = SMURF_SCALE_NONE, .mean = STEP_MEAN_GAP, .sd = 1};
    l->model.low = -3 * sigma;
    l->model.high = longest + 3 * sigma + 1;
    const struct model *m = &l->model.model;
    l->c = step_memory(n * m->class->coefficients(m) * sizeof *l->c);
    float *memory = step_memory(m->class->encode_memory(m, n, 1) * sizeof *memory);
    struct encoder_input input = {{step->sequences, offset, NULL}, n, step->type, step->time, NULL, NULL, NULL};
    m->class->encode(&(struct op_run){.threads = 1}, m, l->model.slab, &input, memory, l->c);
    free(memory);
    free(offset);
}

static const float *law_of(const struct laws *l, size_t i)
{
    return l->c + i * l->model.model.class->coefficients(&l->model.model);
}

static void langevin(const struct step *step, const struct peer_case *c, long steps)
{
    static struct laws laws;
    static double draw[LAWS][DRAWS];
    double sum = 0, squares = 0, count = LAWS * DRAWS;
    laws_open(&laws, step);
    struct sampler_config config = {.steps = (size_t)steps,
                                    .step = c->step,
                                    .start = {-log(0.95) * STEP_MEAN_GAP, -log(0.05) * STEP_MEAN_GAP},
                                    .denoise = step->train.loss.objective.sigma[0],
                                    .seed = 1};
    double from = now();
#pragma omp parallel num_threads(step->train.threads)
    {
        struct law_workspace workspace;
        smurf_error err;
        must(smurf_law_workspace_init(&workspace, &laws.model, &err), &err);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < LAWS; i++) {
            smurf_law_workspace_set(&workspace, law_of(&laws, i));
            smurf_sampler_langevin.draw(&workspace.law, &config, i, draw[i], DRAWS);
        }
        smurf_law_workspace_release(&workspace);
    }
    double seconds = now() - from;
    for (size_t i = 0; i < LAWS; i++)
        for (size_t k = 0; k < DRAWS; k++) sum += draw[i][k], squares += draw[i][k] * draw[i][k];
    printf("{\"seconds\": %.6f, \"sample_steps\": %.0f, \"mean\": %.6f, \"deviation\": %.6f}\n", seconds,
           count * (double)steps, sum / count, sqrt(squares / count - sum / count * (sum / count)));
    free(laws.c);
}

static void exact(const struct step *step, long passes)
{
    static struct laws laws;
    double check = 0;
    laws_open(&laws, step);
    double from = now();
#pragma omp parallel num_threads(step->train.threads) reduction(+ : check)
    {
        struct law_workspace workspace;
        smurf_error err;
        double quantile[SMURF_LEVELS];
        must(smurf_law_workspace_init(&workspace, &laws.model, &err), &err);
        for (long pass = 0; pass < passes; pass++) {
#pragma omp for schedule(dynamic, 8)
            for (size_t i = 0; i < laws.n; i++) {
                smurf_law_workspace_set(&workspace, law_of(&laws, i));
                struct dist dist = smurf_law_workspace_dist(&workspace, 0);
                dist.class->quantile(dist.self, smurf_levels, quantile, SMURF_LEVELS);
                check += quantile[SMURF_LEVELS / 2];
            }
        }
        smurf_law_workspace_release(&workspace);
    }
    double seconds = now() - from, gaps = (double)laws.n * (double)passes;
    printf("{\"seconds\": %.6f, \"gaps\": %.0f, \"median\": %.6f}\n", seconds, gaps, check / gaps);
    free(laws.c);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static bool obey(struct step *step, const struct peer_case *c, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *value = strchr(line, ' ');
    if (!value) return false;
    *value++ = '\0';
    if (strcmp(line, "write") == 0)
        write_all(step, c, value);
    else if (strcmp(line, "train") == 0)
        train(step, atol(value));
    else if (strcmp(line, "langevin") == 0)
        langevin(step, c, atol(value));
    else if (strcmp(line, "exact") == 0)
        exact(step, atol(value));
    else
        return false;
    fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    static struct step step;
    const struct peer_case *c = cases + (argc > 1 && strcmp(argv[1], cases[1].name) == 0);
    int threads = argc > 2 ? atoi(argv[2]) : 0;
    size_t sequences = argc > 3 ? (size_t)(argc - 3) : c->sequences, *length = step_memory(sequences * sizeof *length);
    char line[4096];
    bool known = argc > 1 && strcmp(argv[1], c->name) == 0 && threads > 0;
    for (size_t q = 0; q < sequences; q++) {
        length[q] = argc > 3 ? strtoul(argv[q + 3], NULL, 10) : c->length[q];
        known = known && length[q] > 0;
    }
    if (!known || length[0] < LAWS) {
        fprintf(stderr, "usage: bench_peer stackoverflow|financial THREADS [LENGTH ...], the first at least %d\n",
                LAWS);
        return 2;
    }
    step_open(&step, &c->shape, &c->loss, DROPOUT, length, sequences, c->together, threads);
    while (fgets(line, sizeof line, stdin))
        if (!obey(&step, c, line)) {
            fprintf(stderr, "bench_peer: '%s' is no command\n", line);
            return 2;
        }
    return 0;
}
