/*
 * train_case.h - small data sets and small models to train, for tests.
 */
#ifndef SMURF_TEST_TRAIN_CASE_H
#define SMURF_TEST_TRAIN_CASE_H

#include "train/trainer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Sequences of a process with `events` events each; freed by the caller. */
static inline smurf_data *simulate(const char *name, uint32_t types, size_t sequences, size_t events, uint64_t seed)
{
    smurf_error err;
    smurf_process *process;
    smurf_data *data;
    const double shape = 3;
    const smurf_parameter gamma = {"shape", &shape, 1};
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.max_events = events;
    config.seed = seed;
    config.threads = 1;
    if (smurf_process_new(&process, name, types, &gamma, strcmp(name, "gamma") == 0, &err)) fail_msg("%s", err.message);
    if (smurf_process_simulate(&data, process, &config, &err)) fail_msg("%s", err.message);
    smurf_process_free(process);
    return data;
}

static inline smurf_data *read_text(const char *text)
{
    smurf_error err;
    smurf_data *data;
    if (smurf_data_read_memory(&data, text, strlen(text), "text", NULL, &err)) fail_msg("%s", err.message);
    return data;
}

/* Settings such as "objective=dsm points=8" on top of a model of a few hundred weights, on one thread. */
static inline smurf_settings small_config(const char *settings)
{
    static const char small[] =
        "width=8 heads=2 head-width=3 layers=2 inner=6 points=6 nodes=5 batch=4 epochs=3 patience=0 "
        "schedule=constant dropout=0 rate=0.01 ";
    smurf_settings config;
    smurf_error err;
    char text[1024], *word, *rest = text;
    smurf_settings_init(&config);
    config.threads = 1;
    snprintf(text, sizeof text, "%s%s", small, settings);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = '\0';
        if (smurf_settings_set(&config, word, value, &err)) fail_msg("%s", err.message);
    }
    return config;
}

static inline smurf_trainer *trainer_of(const char *settings, int threads, const smurf_data *train,
                                        const smurf_data *dev)
{
    smurf_error err;
    smurf_trainer *trainer;
    smurf_settings config = small_config(settings);
    config.threads = threads;
    if (smurf_trainer_new(&trainer, &config, train, dev, &err)) fail_msg("%s", err.message);
    return trainer;
}

#endif
