/*
 * trainer.h - the state of a training run: all of it that trainer.c changes and resume.c keeps.
 */
#ifndef SMURF_TRAIN_TRAINER_H
#define SMURF_TRAIN_TRAINER_H

#include "base/progress.h"
#include "model/model_file.h"
#include "train/feed.h"
#include "train/step.h"

/* What changes from step to step, beside the slabs. */
struct progress_state {
    uint64_t step;   /* of the whole run, done so far */
    size_t epoch;    /* finished ones */
    size_t next;     /* batch of the epoch in hand */
    double loss_sum; /* of the epoch in hand */
    double loss_gaps, events;
    double seconds;   /* spent on the epoch in hand */
    smurf_epoch best; /* the one with the lowest dev loss; its epoch is 0 while there is none */
    size_t waited;    /* epochs since */
    unsigned halvings;
    bool stopped; /* by patience */
};

struct smurf_trainer {
    smurf_model *frame; /* config, view, table of parameters; no slab */
    struct train_step step;
    struct feed train, dev;
    bool has_dev;
    uint64_t dev_fingerprint; /* 0: no dev */
    struct feed_batch room;
    struct progress_state at;
    struct progress progress;
    struct stop stop; /* of the step or dev pass in hand */
    char what[96];    /* what the progress callback is shown */
};

/* Makes a trainer around a frame (taken over, also on failure), with weights at their start. */
smurf_status smurf_trainer_build(smurf_trainer **out, smurf_model *frame, const smurf_data *train,
                                 const smurf_data *dev, smurf_error *err);

#endif
