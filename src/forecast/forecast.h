/*
 * forecast.h - a growing history, and the law of the next event.
 */
#ifndef SMURF_FORECAST_FORECAST_H
#define SMURF_FORECAST_FORECAST_H

#include "forecast/model_predictor.h"

struct smurf_forecast {
    const smurf_model *model;
    void *state; /* the model's representation of the events (model/history.h) */
    float *c;    /* coefficients of the last event */
    struct law_workspace workspace;
    struct pool_state past; /* of the naive laws that are pooled */
    size_t events;
    size_t before;  /* events of the sequence before the first one here */
    size_t history; /* as requested */
    int64_t origin;
    double first, last; /* times of the window's first and last events, relative to origin */
    size_t start;       /* the first event of the window; 0 if the model has no context */
    double *time;       /* (room) events of the window, to begin the next one with, if the model has a context */
    uint32_t *type;
    size_t room;
    double since; /* silence after the last event; 0: none */
    bool raw;     /* no recalibration */
    bool ready;   /* workspace holds the law of the last event */
    struct ending ending;
    struct silent silent;
    struct empirical marginal; /* the law of an empty history */
};

/* The law of the next gap, as used by all queries: with probability smurf_forecast_never the gap is infinite. */
struct dist smurf_forecast_dist(smurf_forecast *forecast);
/* The same given that an event comes; valid until the other is asked for. */
struct dist smurf_forecast_coming(smurf_forecast *forecast);
/* The probability that no further event comes, given the silence; NaN if the model does not say. Call check first. */
double smurf_forecast_never(smurf_forecast *forecast);
/* Prepares the law; fails if there is none, or if it has values that are not finite. Call this first. */
smurf_status smurf_forecast_check(smurf_forecast *forecast, smurf_error *err);
/* Ends of the closed interval on ticks from level[0] to level[1]; the probability of a gap in whole ticks up to `gap`. */
smurf_status smurf_forecast_ends(smurf_forecast *forecast, const double level[2], double gap[2], smurf_error *err);
smurf_status smurf_forecast_within(smurf_forecast *forecast, double gap, double *level, smurf_error *err);
/* Copies the law of another forecast of the same model. Nothing can be appended to `to` until it is cleared. */
void smurf_forecast_copy_law(smurf_forecast *to, const smurf_forecast *from);
/* Copies the state set by events from another forecast of the same model. */
smurf_status smurf_forecast_copy(smurf_forecast *to, const smurf_forecast *from, smurf_error *err);
/* Makes room for n events of a window. */
smurf_status smurf_forecast_room(smurf_forecast *forecast, size_t n, smurf_error *err);
/* Whether an event can be the next one. */
smurf_status smurf_forecast_check_event(const smurf_forecast *forecast, double time, uint32_t type, smurf_error *err);
/* Appends an event that has been validated. */
smurf_status smurf_forecast_push(smurf_forecast *forecast, double time, uint32_t type, smurf_error *err);

#endif
