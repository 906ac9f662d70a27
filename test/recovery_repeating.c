/*
 * recovery_repeating.c - a log of 2,000 types that repeat: the next event has the type of one of the last five with
 * probability 0.8. A table of what follows what cannot know that, and how recently a type occurred is not all. With
 * counts, a model that has seen few of the types more than once names them right more often than both.
 */
#include "smurf_lab.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { TYPES = 2000 };

static smurf_data *draw(const smurf_process *process, size_t sequences, uint64_t seed)
{
    smurf_error err;
    smurf_data *data;
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.max_events = 200;
    config.seed = seed;
    config.threads = 1;
    if (smurf_process_simulate(&data, process, &config, &err)) fail_msg("%s", err.message);
    return data;
}

static smurf_model *train_on(const smurf_data *train, const smurf_data *dev)
{
    const char *const set[][2] = {{"epochs", "6"}, {"layers", "1"}, {"threads", "1"}, {"counts", "on"}};
    smurf_error err;
    smurf_settings *settings;
    smurf_model *model;
    if (smurf_settings_new(&settings, "default", train, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        assert_int_equal(smurf_settings_set(settings, set[i][0], set[i][1], NULL), SMURF_OK);
    if (smurf_fit(&model, settings, train, dev, NULL, &err)) fail_msg("%s", err.message);
    smurf_settings_free(settings);
    return model;
}

/* Types right, in percent. */
static double right(const smurf_evaluation *e)
{
    return smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL)->acc;
}

static void authors_repeat(void **state)
{
    (void)state;
    smurf_error err;
    smurf_process *process;
    if (smurf_process_new(&process, "repeating", TYPES, NULL, 0, &err)) fail_msg("%s", err.message);
    smurf_data *train = draw(process, 48, 1), *dev = draw(process, 6, 2), *test = draw(process, 12, 3);
    smurf_eval_config config;
    smurf_eval_config_init(&config);
    config.threads = 1;
    config.fast = 1;
    smurf_model *model = train_on(train, dev);
    smurf_evaluation *a = NULL, *truth = NULL;
    if (smurf_evaluate(&a, model, test, train, &config, &err) ||
        smurf_evaluate_process(&truth, process, test, train, &config, &err))
        fail_msg("%s", err.message);
    double found = right(a), best = right(truth);
    double markov = smurf_evaluation_markov(a), recency = smurf_evaluation_recency(a);
    print_message("types right: model %.1f%%, true law %.1f%%, Markov %.1f%%, recency %.1f%%\n", found, best, markov,
                  recency);
    assert_true(found > markov + 1 && found > recency + 1);
    assert_true(found > best - 4);
    smurf_evaluation_free(a), smurf_evaluation_free(truth);
    smurf_model_free(model);
    smurf_data_free(train), smurf_data_free(dev), smurf_data_free(test);
    smurf_process_free(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(authors_repeat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
