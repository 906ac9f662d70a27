/*
 * model.h - a model: shapes, the table of its parameters, where each one is; and how it sees events.
 */
#ifndef SMURF_MODEL_MODEL_H
#define SMURF_MODEL_MODEL_H

#include "model/encoder.h"
#include "model/head.h"

enum { MODEL_OFFSETS = 64 };

/* Const in use. */
struct model {
    const struct rival_class *rival; /* NULL: SMURF */
    struct encoder_shape shape;
    enum parametrisation param;
    struct params params;
    struct encoder_params encoder;
    struct head_params head;
    size_t at[MODEL_OFFSETS]; /* a rival's own parameters */
};

/* Fills the table of SMURF for a shape. */
void smurf_model_init(struct model *model, const struct encoder_shape *shape, enum parametrisation param);

/* How events are shown to the model, fitted on train. */
struct view {
    smurf_scale scale;   /* of the law's axis */
    smurf_scale feature; /* a log scale, for the gap feature */
    bool raw_clock;      /* the encoder sees the user's time, not that since a sequence's first event */
    double clock_unit;   /* what the encoder's time is divided by */
};

/* Windows of a model with a context C: 2C events are predicted in each, after up to C that are only seen. The gap after
   event r is predicted in window r / 2C, which begins at event smurf_window_start. */
static inline size_t smurf_window_events(size_t context)
{
    return 2 * context;
}
static inline size_t smurf_window_start(size_t context, size_t row)
{
    if (!context) return 0;
    size_t first = row / smurf_window_events(context) * smurf_window_events(context) + 1;
    return first > context ? first - context : 0;
}

/* Event i of a sequence as the encoder sees it: its time, and the gap before it (NaN for the first). */
double smurf_view_time(const struct view *view, const smurf_sequence *sequence, size_t i);
float smurf_view_gap(const struct view *view, const smurf_sequence *sequence, size_t i);

#endif
