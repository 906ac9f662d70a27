/*
 * recovery_clock.c - a log with a known daily and weekly rhythm: what a model with a clock learns comes close to the
 * true law, event by event, also where that has two modes, because a gap that begins in the evening ends soon or in the
 * morning. A model without one does not.
 *
 * The measure is that of recovery.c, of the exact law. `recovery_clock OBJECTIVE` runs that one.
 */
#include "true_quantile.h"

#include "forecast/model_predictor.h"
#include "train/trainer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LEVELS = 19, EVENTS = 30000, EVERY = 11 };

static const char *objective;
static double limit;

static smurf_data *draw(const smurf_process *process, size_t events, uint64_t seed)
{
    smurf_error err;
    smurf_data *data;
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.max_events = events;
    config.seed = seed;
    config.threads = 1;
    if (smurf_process_simulate(&data, process, &config, &err)) fail_msg("%s", err.message);
    return data;
}

static smurf_model *train_on(const smurf_data *train, const smurf_data *dev, const char *clock)
{
    const char *const set[][2] = {{"objective", objective}, {"wall-clock", clock}, {"threads", "1"}, {"width", "16"},
                                  {"heads", "2"},           {"head-width", "8"},   {"inner", "32"},  {"layers", "1"},
                                  {"context", "4"},         {"window", "60"},      {"batch", "2"},   {"epochs", "30"},
                                  {"rate", "5e-3"},         {"average", "0.99"},   {"dropout", "0"}, {"counts", "off"},
                                  {"gap-feature", "off"}};
    smurf_error err;
    smurf_settings *settings;
    smurf_trainer *trainer;
    smurf_model *model;
    smurf_epoch epoch;
    if (smurf_settings_new(&settings, NULL, NULL, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (smurf_settings_set(settings, set[i][0], set[i][1], &err)) fail_msg("%s", err.message);
    if (smurf_trainer_new(&trainer, settings, train, dev, &err)) fail_msg("%s", err.message);
    while (!smurf_trainer_done(trainer))
        if (smurf_trainer_epoch(trainer, &epoch, &err)) fail_msg("%s", err.message);
    if (smurf_trainer_model(trainer, &model, &err)) fail_msg("%s", err.message);
    smurf_trainer_free(trainer);
    smurf_settings_free(settings);
    return model;
}

/* Whether the density, at these quantiles, falls to 60% of what it was and rises again as far. */
static bool has_two_modes(const double rate[LEVELS])
{
    double before = 0, valley = INFINITY;
    for (int k = 0; k < LEVELS; k++) {
        double density = rate[k] * (1 - (k + 1.0) / (LEVELS + 1));
        if (density < 0.6 * before) valley = fmin(valley, density);
        if (density > valley / 0.6) return true;
        before = fmax(before, density);
    }
    return false;
}

/* The mean over events and over true quantile levels of |F - level|; and that of events whose true law has two modes.
 */
static double error_of(const smurf_model *model, const smurf_process *process, const smurf_sequence *s, double *bimodal)
{
    struct predictor p = smurf_model_predictor(model);
    void *workspace = p.class->workspace_new(p.self, s->length, NULL);
    double sum[2] = {0};
    size_t n[2] = {0};
    assert_non_null(workspace);
    p.class->read(p.self, workspace, s);
    for (size_t i = 5; i + 1 < s->length; i += EVERY) {
        smurf_law *law;
        assert_int_equal(smurf_process_law(&law, process, s, i + 1, NULL), SMURF_OK);
        struct dist dist = p.class->dist(p.self, workspace, i, 1);
        double gap[LEVELS], cdf[LEVELS], rate[LEVELS], error = 0;
        for (int k = 0; k < LEVELS; k++) gap[k] = true_quantile(law, (k + 1.0) / (LEVELS + 1));
        dist.class->cdf(dist.self, gap, cdf, LEVELS);
        smurf_law_intensity(law, gap, rate, LEVELS);
        for (int k = 0; k < LEVELS; k++) error += fabs(cdf[k] - (k + 1.0) / (LEVELS + 1)) / LEVELS;
        bool two = has_two_modes(rate);
        sum[0] += error, n[0]++;
        if (two) sum[1] += error, n[1]++;
        smurf_law_free(law);
    }
    p.class->workspace_free(workspace);
    assert_true(n[1] >= 5);
    *bimodal = sum[1] / (double)n[1];
    return sum[0] / (double)n[0];
}

static void rhythm_is_found(void **state)
{
    (void)state;
    smurf_error err;
    smurf_process *process;
    const double rate = 1 / 2400.0, day = 0.95, week = 0.4;
    const smurf_parameter parameter[] = {{"rate", &rate, 1}, {"day", &day, 1}, {"week", &week, 1}};
    if (smurf_process_new(&process, "daily", 1, parameter, 3, &err)) fail_msg("%s", err.message);
    smurf_data *train = draw(process, EVENTS, 1), *dev = draw(process, 1500, 2), *test = draw(process, 3000, 3);
    const smurf_sequence *s = smurf_data_sequence(test, 0);
    double found, bimodal;
    smurf_model *model = train_on(train, dev, "on");
    found = error_of(model, process, s, &bimodal);
    print_message("%s: mean |F - truth| %.4f, of laws with two modes %.4f\n", objective, found, bimodal);
    assert_true(found < limit && bimodal < 2 * limit);
    smurf_model_free(model);
    if (strcmp(objective, "mle") == 0) {
        model = train_on(train, dev, "off");
        double without = error_of(model, process, s, &bimodal);
        print_message("without a clock: %.4f, of laws with two modes %.4f\n", without, bimodal);
        assert_true(without > 3 * limit);
        smurf_model_free(model);
    }
    smurf_data_free(train), smurf_data_free(dev), smurf_data_free(test);
    smurf_process_free(process);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rhythm_is_found)};
    objective = argc > 1 ? argv[1] : "mle";
    limit = 0.02;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
