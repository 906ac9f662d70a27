/*
 * recovery_nhp.c - nhp finds the true law of a Hawkes process: the mean over events of the mean over true quantile
 * levels of |F_learned - F_true|, with the distribution that prediction uses. A law that knows no history, the
 * exponential of the same mean, must not pass.
 */
#include "true_quantile.h"

#include "forecast/model_predictor.h"
#include "train/trainer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LEVELS = 19 };
static const double LIMIT = 0.03;

static smurf_data *simulate(const smurf_process *process, size_t sequences, uint64_t seed)
{
    smurf_simulate_config config;
    smurf_data *data;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.until = 40;
    config.seed = seed;
    assert_int_equal(smurf_process_simulate(&data, process, &config, NULL), SMURF_OK);
    return data;
}

/* Sums over laws. */
struct errors {
    double learned, ignorant;
    size_t laws;
};

static void add_law(const smurf_law *truth, const struct dist *dist, double mean, struct errors *out)
{
    for (int k = 1; k <= LEVELS; k++) {
        double level = k / (LEVELS + 1.0), gap = true_quantile(truth, level);
        out->learned += fabs(smurf_dist_cdf(dist, gap) - level) / LEVELS;
        out->ignorant += fabs(-expm1(-gap / mean) - level) / LEVELS;
    }
    out->laws++;
}

static void add_sequence(const smurf_model *model, const smurf_process *process, const smurf_sequence *s,
                         struct errors *out)
{
    struct predictor p = smurf_model_predictor(model);
    void *workspace = p.class->workspace_new(p.self, s->length, NULL);
    assert_non_null(workspace);
    p.class->read(p.self, workspace, s);
    for (size_t j = 1; j < s->length; j += 3) {
        smurf_law *truth;
        assert_int_equal(smurf_process_law(&truth, process, s, j, NULL), SMURF_OK);
        struct dist dist = p.class->dist(p.self, workspace, j - 1, 1);
        add_law(truth, &dist, model->view.scale.mean, out);
        smurf_law_free(truth);
    }
    p.class->workspace_free(workspace);
}

static smurf_model *trained(const smurf_data *train, const smurf_data *dev, double *seconds, double *speed)
{
    smurf_settings config;
    smurf_trainer *trainer;
    smurf_model *model;
    smurf_error err;
    smurf_settings_init(&config);
    assert_int_equal(smurf_settings_preset(&config, "nhp", train, &err), SMURF_OK);
    config.threads = 1;
    config.width = 32;
    config.rate = 3e-3;
    config.epochs = 8;
    config.batch = 16;
    config.average = 0.99;
    if (smurf_trainer_new(&trainer, &config, train, dev, &err)) fail_msg("%s", err.message);
    *seconds = *speed = 0;
    while (!smurf_trainer_done(trainer)) {
        smurf_epoch epoch;
        if (smurf_trainer_epoch(trainer, &epoch, &err)) fail_msg("%s", err.message);
        *seconds += epoch.seconds;
        *speed = fmax(*speed, epoch.events_per_second);
    }
    assert_int_equal(smurf_trainer_model(trainer, &model, &err), SMURF_OK);
    smurf_trainer_free(trainer);
    return model;
}

static void test_hawkes(void **state)
{
    (void)state;
    smurf_process *process;
    assert_int_equal(smurf_process_new(&process, "hawkes", 2, NULL, 0, NULL), SMURF_OK);
    smurf_data *train = simulate(process, 2000, 1), *dev = simulate(process, 100, 2);
    double seconds, speed;
    struct errors errors = {0};
    smurf_model *model = trained(train, dev, &seconds, &speed);
    for (size_t i = 0; i < 40; i++) add_sequence(model, process, smurf_data_sequence(dev, i), &errors);
    double learned = errors.learned / (double)errors.laws, ignorant = errors.ignorant / (double)errors.laws;
    print_message("# mean |F - truth| %.4f (exponential %.4f) over %zu laws, limit %.3f, %.1f s, %.0f events/s\n",
                  learned, ignorant, errors.laws, LIMIT, seconds, speed);
    assert_true(errors.laws > 300 && ignorant > 1.5 * LIMIT);
    assert_true(learned < LIMIT);
    smurf_model_free(model);
    smurf_data_free(train);
    smurf_data_free(dev);
    smurf_process_free(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hawkes)};
    return cmocka_run_group_tests_name("recovery by nhp", tests, NULL, NULL);
}
