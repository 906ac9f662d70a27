/*
 * model.h - a SMURF model: shapes, the table of its parameters, where each one is; and how it sees events.
 */
#ifndef SMURF_MODEL_MODEL_H
#define SMURF_MODEL_MODEL_H

#include "model/encoder.h"
#include "model/head.h"

/* Const in use. */
struct model {
    struct encoder_shape shape;
    enum parametrisation param;
    struct params params;
    struct encoder_params encoder;
    struct head_params head;
};

/* Fills the table for a shape. */
void smurf_model_init(struct model *model, const struct encoder_shape *shape, enum parametrisation param);

/* How events are shown to the model, fitted on train. */
struct view {
    smurf_scale scale;   /* of the law's axis */
    smurf_scale feature; /* a log scale, for the gap feature */
    bool raw_clock;      /* the encoder sees the user's time, not that since a sequence's first event */
    double clock_unit;   /* what the encoder's time is divided by */
};

#endif
