/*
 * forecast_case.h - small trained models to forecast with, for tests.
 */
#ifndef SMURF_TEST_FORECAST_CASE_H
#define SMURF_TEST_FORECAST_CASE_H

#include "train_case.h"

/* A model of each kind, with and without a window. */
static const char *const model_kinds[] = {
    "objective=mle",
    "objective=dsm head=score scale=mean",
    "objective=mle context=8",
    "objective=mle context=8 counts=on",
    "model=thp scale=mean gap-feature=off",
    "objective=dsm counts=on",
    "model=sahp scale=mean gap-feature=off",
    "model=nhp scale=mean gap-feature=off",
    "model=nce scale=mean gap-feature=off",
    "model=nhp scale=mean gap-feature=off context=8",
};
enum { MODEL_KINDS = sizeof model_kinds / sizeof *model_kinds };

/* Trained as the settings say, on one thread. */
static inline smurf_model *trained(const char *settings, const smurf_data *train)
{
    smurf_error err;
    smurf_model *model;
    smurf_epoch epoch;
    smurf_trainer *t = trainer_of(settings, 1, train, NULL);
    while (!smurf_trainer_done(t))
        if (smurf_trainer_epoch(t, &epoch, &err)) fail_msg("%s", err.message);
    if (smurf_trainer_model(t, &model, &err)) fail_msg("%s", err.message);
    smurf_trainer_free(t);
    return model;
}

/* The first `events` events of a sequence, read at once. */
static inline smurf_forecast *forecast_of(const smurf_model *model, size_t history, const smurf_sequence *s,
                                          size_t events)
{
    smurf_error err;
    smurf_forecast *f;
    if (smurf_forecast_new(&f, model, history, &err)) fail_msg("%s", err.message);
    if (smurf_forecast_read(f, s, events, &err)) fail_msg("%s", err.message);
    return f;
}

#endif
