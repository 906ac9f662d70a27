/*
 * recovery.c - training finds the true law: on data from known processes, the learned distribution of the next gap
 * comes close to the true one, history by history.
 *
 * The measure is the mean over events of the mean over true quantile levels of |F_learned - F_true|. Plain quadrature
 * on a fine grid stands in for a proper law. `recovery CASE ...` runs only those; RECOVERY_LONG=1 trains longer.
 */
#include "true_quantile.h"

#include "model/model_file.h"
#include "model/smurf_class.h"
#include "op/gap_head.h"
#include "op/intensity.h"
#include "train/trainer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { GRID = 400, LEVELS = 19 };

struct recovery_case {
    const char *name, *process;
    uint32_t types;
    size_t sequences;     /* to train on */
    const char *settings; /* name=value, separated by blanks */
    double limit;
};

/* ---- The learned law ------------------------------------------------------------------------- */

/* Coefficients of every event of one sequence. */
struct laws {
    size_t n, width;
    float *a, *b;
};

static struct laws laws_of(const smurf_model *m, const smurf_sequence *s)
{
    size_t n = s->length, d = m->model.shape.width, offset[2] = {0, n};
    uint32_t *type = malloc(n * sizeof *type);
    double *time = malloc(n * sizeof *time);
    float *gap = malloc(n * sizeof *gap);
    for (size_t i = 0; i < n; i++) {
        type[i] = s->type[i];
        time[i] = (s->time[i] - s->time[0]) / m->view.clock_unit;
        gap[i] = i ? (float)smurf_scale_forward(&m->view.feature, s->time[i] - s->time[i - 1]) : NAN;
    }
    const struct smurf_offsets *at = smurf_offsets(&m->model);
    struct encoder_input input = {{1, offset, NULL}, n, type, time, gap, NULL, NULL};
    struct op_run run = {1, 1, 0, 0, NULL};
    float *memory = malloc(smurf_encoder_memory_f32(&m->model.shape, n, 1) * sizeof *memory);
    const float *h = smurf_encoder_forward_f32(&run, &m->model.shape, &at->encoder, m->slab, &input, memory);
    struct laws out = {n, d, malloc(n * d * sizeof(float)), malloc(n * d * sizeof(float))};
    float *type_a = malloc(n * d * sizeof(float)), *type_b = malloc(n * d * sizeof(float));
    smurf_head_forward_f32(&at->head, m->slab, d, 0, n, h, &(struct head_coefficients){out.a, out.b, type_a, type_b});
    free(type), free(time), free(gap), free(memory), free(type_a), free(type_b);
    return out;
}

/* F on a grid of the axis from low to high, by the trapezium rule; laws from scores are normalised to 1. */
static void learned_cdf(const smurf_model *m, const struct laws *laws, size_t event, const double *y, double *f)
{
    static float z[128 * GRID];
    float tau[GRID], u[GRID];
    size_t d = laws->width;
    for (int i = 0; i < GRID; i++) tau[i] = (float)y[i];
    const struct head_params *at = &smurf_offsets(&m->model)->head;
    smurf_gap_head_forward_f32(0, d, laws->a + event * d, laws->b + event * d, m->slab + at->w, m->slab[at->c], tau,
                               GRID, z, u, NULL, NULL);
    double mass = 0;
    f[0] = 0;
    for (int i = 1; i < GRID; i++) {
        mass += 0.5 * (y[i] - y[i - 1]) * (double)(intensity_at(u[i]).lambda + intensity_at(u[i - 1]).lambda);
        f[i] = -expm1(-mass);
    }
    if (strcmp(m->config.objective, "mle") != 0)
        for (int i = 0; i < GRID; i++) f[i] /= f[GRID - 1] > 0 ? f[GRID - 1] : 1;
}

static double interpolate(const double *y, const double *f, double at)
{
    if (at <= y[0]) return 0;
    if (at >= y[GRID - 1]) return f[GRID - 1];
    int i = (int)((at - y[0]) / (y[1] - y[0]));
    if (i > GRID - 2) i = GRID - 2;
    return f[i] + (f[i + 1] - f[i]) * (at - y[i]) / (y[i + 1] - y[i]);
}

/* ---- Against the truth ------------------------------------------------------------------------ */

static double error_of_sequence(const smurf_model *m, const smurf_process *process, const smurf_sequence *s,
                                size_t *events)
{
    double y[GRID], f[GRID], sum = 0;
    struct laws laws = laws_of(m, s);
    for (int i = 0; i < GRID; i++) y[i] = m->low + (m->high - m->low) * i / (GRID - 1);
    for (size_t j = 1; j < s->length; j += 3) {
        smurf_law *law;
        assert_int_equal(smurf_process_law(&law, process, s, j, NULL), SMURF_OK);
        learned_cdf(m, &laws, j - 1, y, f);
        for (int k = 1; k <= LEVELS; k++) {
            double level = k / (LEVELS + 1.0);
            double at = smurf_scale_forward(&m->view.scale, true_quantile(law, level));
            sum += fabs(interpolate(y, f, at) - level) / LEVELS;
        }
        smurf_law_free(law);
        ++*events;
    }
    free(laws.a), free(laws.b);
    return sum;
}

/* ---- Training -------------------------------------------------------------------------------- */

static void configure(smurf_settings *config, const char *settings)
{
    char copy[512], *rest = copy;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        assert_int_equal(smurf_settings_set(config, word, equals + 1, NULL), SMURF_OK);
    }
}

static void check_recovery(void **state)
{
    const struct recovery_case *c = *state;
    smurf_error err;
    smurf_process *process;
    assert_int_equal(smurf_process_new(&process, c->process, c->types, NULL, 0, &err), SMURF_OK);
    smurf_data *train = observe(process, c->sequences, 1), *dev = observe(process, 100, 2);
    smurf_settings config;
    smurf_settings_init(&config);
    configure(
        &config,
        "width=32 heads=2 layers=1 inner=64 dropout=0 batch=16 rate=3e-3 epochs=25 patience=0 warmup=100 average=0.99");
    configure(&config, c->settings);
    config.threads = 1; /* the cases run side by side */
    if (getenv("RECOVERY_LONG")) config.epochs *= 4;
    smurf_trainer *trainer;
    if (smurf_trainer_new(&trainer, &config, train, dev, &err)) fail_msg("%s", err.message);
    double seconds = 0;
    while (!smurf_trainer_done(trainer)) {
        smurf_epoch epoch;
        if (smurf_trainer_epoch(trainer, &epoch, &err)) fail_msg("%s", err.message);
        seconds += epoch.seconds;
    }
    smurf_model *model;
    assert_int_equal(smurf_trainer_model(trainer, &model, &err), SMURF_OK);
    double sum = 0;
    size_t events = 0;
    for (size_t i = 0; i < 20; i++) sum += error_of_sequence(model, process, smurf_data_sequence(dev, i), &events);
    double error = sum / (double)events;
    print_message("# %s: mean |F - truth| %.4f over %zu laws, limit %.3f, %.1f s\n", c->name, error, events, c->limit,
                  seconds);
    assert_true(error < c->limit);
    smurf_model_free(model);
    smurf_trainer_free(trainer);
    smurf_data_free(train);
    smurf_data_free(dev);
    smurf_process_free(process);
}

static struct recovery_case cases[] = {
    {"mle, Hawkes", "hawkes", 2, 4000, "objective=mle", 0.02},
    {"mle, gamma renewal", "gamma", 1, 1000, "objective=mle", 0.02},
    {"mle, mean time, Hawkes", "hawkes", 2, 4000, "objective=mle scale=mean", 0.02},
    {"wsm, Hawkes", "hawkes", 2, 4000, "objective=wsm", 0.03},
    {"wsm, gamma renewal", "gamma", 1, 1000, "objective=wsm", 0.03},
    {"wsm, mean time, gamma renewal", "gamma", 1, 1000, "objective=wsm scale=mean", 0.03},
    {"dsm, Hawkes", "hawkes", 2, 4000, "objective=dsm sigma=0.2 points=16 type-loss=truth", 0.03},
    {"dsm, gamma renewal", "gamma", 1, 1000, "objective=dsm sigma=0.2 points=16 type-loss=truth", 0.03},
};
enum { CASES = sizeof cases / sizeof *cases };

int main(int argc, char **argv)
{
    struct CMUnitTest tests[CASES];
    size_t n = 0;
    for (size_t i = 0; i < CASES; i++) {
        bool wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted |= strstr(cases[i].name, argv[k]) != NULL;
        if (wanted) tests[n++] = (struct CMUnitTest){cases[i].name, check_recovery, NULL, NULL, &cases[i]};
    }
    return _cmocka_run_group_tests("recovery", tests, n, NULL, NULL);
}
