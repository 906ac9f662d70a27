/*
 * forecast.h - a history that grows, and the law of what comes next.
 */
#ifndef SMURF_FORECAST_FORECAST_H
#define SMURF_FORECAST_FORECAST_H

#include "forecast/model_predictor.h"

struct smurf_forecast {
    const smurf_model *model;
    void *state; /* events as the model keeps them (model/history.h) */
    float *c;    /* coefficients of the last event */
    struct law_workspace workspace;
    size_t events;
    size_t history; /* as asked for */
    int64_t origin;
    double first, last; /* times of events, relative to origin: of the window's first, and of the last */
    size_t start;       /* the event the window begins with; 0 where the model has no context */
    double *time;       /* (room) events since then, where the model has a context, to begin the next window with */
    uint32_t *type;
    size_t room;
    double since; /* silence after the last one; 0: none */
    bool raw;     /* no recalibration */
    bool ready;   /* workspace holds the law of the last event */
    struct silent silent;
    struct empirical marginal; /* the law of an empty history */
};

/* The law of the next gap as all answers use it. */
struct dist smurf_forecast_dist(smurf_forecast *forecast);
/* Makes the law ready; an error where there is none, or it has values that are not finite. Call it first. */
smurf_status smurf_forecast_check(smurf_forecast *forecast, smurf_error *err);
/* Answers become those of another forecast of the same model. Nothing can be appended to it until it is cleared. */
void smurf_forecast_copy_law(smurf_forecast *to, const smurf_forecast *from);
/* What was set by events becomes that of another forecast of the same model. */
smurf_status smurf_forecast_copy(smurf_forecast *to, const smurf_forecast *from, smurf_error *err);
/* Adds an event that is known to be good. */
smurf_status smurf_forecast_push(smurf_forecast *forecast, double time, uint32_t type, smurf_error *err);

#endif
