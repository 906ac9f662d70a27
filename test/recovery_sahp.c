/*
 * recovery_sahp.c - SAHP, trained on a Hawkes process, finds the true law: its exact law, as users get it, comes close
 * to the true one, history by history; also when the model has been in a file.
 *
 * The measure is the mean over events of the mean over true quantile levels of |F_learned - F_true|, as in recovery.c.
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
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { LEVELS = 19, SCORED = 20 };

static const double LIMIT = 0.03, SECONDS = 30;

/* ---- Against the truth ------------------------------------------------------------------------ */

static double error_of_law(const struct dist *dist, const smurf_law *truth)
{
    double sum = 0;
    for (int k = 1; k <= LEVELS; k++) {
        double level = k / (LEVELS + 1.0);
        sum += fabs(smurf_dist_cdf(dist, true_quantile(truth, level)) - level) / LEVELS;
    }
    return sum;
}

static double error_of(const smurf_model *model, const smurf_process *process, const smurf_data *data)
{
    struct predictor p = smurf_model_predictor(model);
    double sum = 0;
    size_t laws = 0;
    for (size_t i = 0; i < SCORED; i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        void *workspace = p.class->workspace_new(p.self, s->length, NULL);
        assert_non_null(workspace);
        p.class->read(p.self, workspace, s);
        for (size_t j = 1; j < s->length; j += 3, laws++) {
            smurf_law *truth;
            assert_int_equal(smurf_process_law(&truth, process, s, j, NULL), SMURF_OK);
            struct dist dist = p.class->dist(p.self, workspace, j - 1, 1);
            sum += error_of_law(&dist, truth);
            smurf_law_free(truth);
        }
        p.class->workspace_free(workspace);
    }
    assert_true(laws > 100);
    return sum / (double)laws;
}

/* ---- Training -------------------------------------------------------------------------------- */

static void configure(smurf_settings *config)
{
    static const char *const settings[][2] = {{"width", "32"},  {"heads", "2"},    {"layers", "1"},    {"inner", "64"},
                                              {"dropout", "0"}, {"settle", "0"},   {"batch", "16"},    {"rate", "3e-3"},
                                              {"epochs", "16"}, {"patience", "0"}, {"average", "0.99"}};
    smurf_error err;
    if (smurf_settings_preset(config, "sahp", NULL, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (smurf_settings_set(config, settings[i][0], settings[i][1], &err)) fail_msg("%s", err.message);
    config->threads = 1;
}

static smurf_model *train(const smurf_data *data, const smurf_data *dev, double *seconds, double *speed)
{
    smurf_error err;
    smurf_settings config;
    smurf_settings_init(&config);
    configure(&config);
    smurf_trainer *trainer;
    if (smurf_trainer_new(&trainer, &config, data, dev, &err)) fail_msg("%s", err.message);
    clock_t start = clock(); /* of the processor: the machine may have other work */
    while (!smurf_trainer_done(trainer)) {
        smurf_epoch epoch;
        if (smurf_trainer_epoch(trainer, &epoch, &err)) fail_msg("%s", err.message);
        *speed = epoch.events_per_second;
    }
    *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    smurf_model *model;
    assert_int_equal(smurf_trainer_model(trainer, &model, &err), SMURF_OK);
    smurf_trainer_free(trainer);
    return model;
}

static smurf_model *through_file(const smurf_model *model)
{
    char path[] = "/tmp/smurf-recovery-XXXXXX";
    smurf_error err;
    smurf_model *out = NULL;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    if (smurf_model_save(model, path, &err) || smurf_model_load(&out, path, &err)) fail_msg("%s", err.message);
    remove(path);
    return out;
}

static void test_hawkes(void **state)
{
    (void)state;
    smurf_error err;
    smurf_process *process;
    assert_int_equal(smurf_process_new(&process, "hawkes", 2, NULL, 0, &err), SMURF_OK);
    smurf_data *data = observe(process, 3000, 1), *dev = observe(process, 100, 2);
    double seconds = 0, speed = 0;
    smurf_model *model = train(data, dev, &seconds, &speed), *again = through_file(model);
    double error = error_of(model, process, dev);
    print_message("# sahp, Hawkes: mean |F - truth| %.4f, limit %.3f; %.1f s, %.0f events/s\n", error, LIMIT, seconds,
                  speed);
    assert_true(error < LIMIT);
    assert_true(error_of(again, process, dev) == error);
    assert_true(seconds < SECONDS);
    smurf_model_free(model), smurf_model_free(again);
    smurf_data_free(data), smurf_data_free(dev);
    smurf_process_free(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hawkes)};
    return cmocka_run_group_tests_name("recovery of SAHP", tests, NULL, NULL);
}
