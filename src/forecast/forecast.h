/*
 * forecast.h - a growing history, and the law of the next event.
 */
#ifndef SMURF_FORECAST_FORECAST_H
#define SMURF_FORECAST_FORECAST_H

#include "forecast/model_predictor.h"
#include "eval/adaptation.h"
#include "forecast/past_columns.h"

struct smurf_forecast {
    const smurf_model *model;
    void *state; /* the model's representation of the events (model/history.h); NULL: given up (crowd.c) */
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
    size_t columns; /* further ones of the model */
    float *further; /* (room x columns) as the encoder sees them; NULL: none */
    float *row;     /* (columns) scratch; NULL: none */
    struct past_columns past_columns;
    size_t room;
    double since; /* silence after the last event; 0: none */
    bool raw;     /* no recalibration */
    bool ready;   /* workspace holds the law of the last event */
    struct ending ending;
    struct adaptive adaptive; /* gamma 0: the model's levels do not adapt */
    struct blend blend;       /* weights of its types; rate 0: they do not follow */
    struct adapted adapted;
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
/* Ends of the closed interval on ticks from level[0] to level[1]; the probability of a gap in whole ticks up to `gap`.
 */
smurf_status smurf_forecast_ends(smurf_forecast *forecast, const double level[2], double gap[2], smurf_error *err);
smurf_status smurf_forecast_within(smurf_forecast *forecast, double gap, double *level, smurf_error *err);
/* Copies the law of another forecast of the same model. Nothing can be appended to `to` until it is cleared. */
void smurf_forecast_copy_law(smurf_forecast *to, const smurf_forecast *from);
/* Copies the state set by events from another forecast of the same model. */
smurf_status smurf_forecast_copy(smurf_forecast *to, const smurf_forecast *from, smurf_error *err);
/* Makes room for n events of a window. */
smurf_status smurf_forecast_room(smurf_forecast *forecast, size_t n, smurf_error *err);
/* Without a history (crowd.c), and empty; NULL: out of memory. */
smurf_forecast *smurf_forecast_new_settled(const smurf_model *model, size_t history);
/* An error: the history is needed, but was given up. */
smurf_status smurf_forecast_fail_settled(smurf_error *err);
/* Tells the history that its window's first event is at `first`. */
void smurf_forecast_begin(smurf_forecast *forecast, double first);
/* Whether an event can be the next one. */
smurf_status smurf_forecast_check_event(const smurf_forecast *forecast, double time, uint32_t type, smurf_error *err);
/* Appends an event that has been validated. It may be drawn: levels do not adapt to it. further: its columns as the
   encoder sees them; NULL: missing. */
smurf_status smurf_forecast_push(smurf_forecast *forecast, double time, uint32_t type, const float *further,
                                 smurf_error *err);

/* Prepares the law of the last event, if there is one, and recreates the workspace if it was released. */
smurf_status smurf_forecast_wake(smurf_forecast *forecast, bool *finite, smurf_error *err);

/* ---- columns.c: further columns ------------------------------------------------------------------ */

/* Those of event i of a sequence, as they are; NULL: it has not the columns of the model. */
const float *smurf_forecast_columns_of(const smurf_forecast *forecast, const smurf_sequence *sequence, size_t i);
/* Takes over those of the first `events` events: of the window that begins with event `start`, and the last ones to
   draw from. The caller frees *window (events - start rows), which is NULL where the model sees none. */
smurf_status smurf_forecast_read_columns(smurf_forecast *forecast, const smurf_sequence *sequence, size_t start,
                                         size_t events, float **window, smurf_error *err);

/* ---- adapt.c: events that are appended; levels and weights of types follow them ------------------------- */

/* Adapts to the last gaps of the sequence, of which the forecast has read its events. */
smurf_status smurf_forecast_adapt(smurf_forecast *forecast, const smurf_sequence *sequence, smurf_error *err);

#endif
