/*
 * model.h - a model: its class, its shape and its parameter table; and how it sees events.
 */
#ifndef SMURF_MODEL_MODEL_H
#define SMURF_MODEL_MODEL_H

#include "model/config.h"
#include "model/encoder.h"
#include "model/further_view.h"
#include "model/head.h"

#include <stddef.h>
#include <stdint.h>

enum { MODEL_OWN = 6144 };

/* Const while in use. */
struct model {
    const struct model_class *class;
    struct encoder_shape shape;
    enum parametrisation param;
    struct params params;
    /* Where the class keeps the offsets of its parameters: its own struct, of up to MODEL_OWN bytes. */
    _Alignas(max_align_t) unsigned char own[MODEL_OWN];
};

/* How the model sees events; fitted on train. */
struct view {
    smurf_scale scale;            /* of the law's axis */
    smurf_scale feature;          /* a log scale, for the gap feature */
    bool raw_clock;               /* the encoder sees the user's time, not time since the sequence's first event */
    double clock_unit;            /* divisor of the encoder's time */
    double count_low, count_high; /* shortest and longest scale of the counts; 0: there are none */
    struct further_view *further; /* columns that are seen beside time and type, owned by the model; NULL: none */
};

/* Windows of a model with context C: each predicts W events, preceded by up to C that are only read. The gap after
   event r is predicted in window r / W, which begins at event smurf_window_start. Positions count from the true start
   of the sequence, so that training, evaluation, forecasts and cut data (smurf_data_window) use the same windows.
   Without a context there is one window. */
static inline size_t smurf_window_events(const smurf_settings *settings)
{
    return !settings->context ? SIZE_MAX : settings->window ? settings->window : 2 * settings->context;
}
/* before: events of the sequence that are not at hand. row and the result count the others. */
static inline size_t smurf_window_start(const smurf_settings *settings, size_t before, size_t row)
{
    if (!settings->context) return 0;
    size_t events = smurf_window_events(settings), first = (before + row) / events * events + 1;
    return first > settings->context + before ? first - settings->context - before : 0;
}

/* Event i of a sequence as the encoder sees it: its time, and the gap before it (NaN for the first). */
double smurf_view_time(const struct view *view, const smurf_sequence *sequence, size_t i);
float smurf_view_gap(const struct view *view, const smurf_sequence *sequence, size_t i);
/* The moment on the user's clock that smurf_view_time counts from. */
double smurf_view_base(const struct view *view, const smurf_sequence *sequence);

/* Number of further columns; and those of event i, as the encoder sees them. */
static inline size_t smurf_view_columns(const struct view *view)
{
    return view->further ? view->further->further.columns : 0;
}
void smurf_view_further(const struct view *view, const smurf_sequence *sequence, size_t i, float *out);

/* Fits the scales of the counts. tick: of the train clock, or 0. */
smurf_status smurf_view_fit_counts(struct view *view, const smurf_data *train, double tick, smurf_error *err);
/* 1/s_m of all scales, in the encoder's time. */
void smurf_view_count_rates(const struct view *view, double rate[COUNT_SCALES]);

#endif
