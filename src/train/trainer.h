/*
 * trainer.h - the state of a training run, changed by trainer.c and saved by resume.c.
 */
#ifndef SMURF_TRAIN_TRAINER_H
#define SMURF_TRAIN_TRAINER_H

#include "base/progress.h"
#include "model/model_file.h"
#include "train/feed.h"
#include "train/step.h"

/* State that changes with each step, besides the slabs. */
struct progress_state {
    uint64_t step;   /* steps of the whole run so far */
    size_t epoch;    /* finished epochs */
    size_t next;     /* next batch of the current epoch */
    double loss_sum; /* of the current epoch */
    double loss_gaps, events;
    double seconds;   /* spent on the current epoch */
    smurf_epoch best; /* the epoch with the lowest dev loss; its number is 0 if there is none yet */
    size_t waited;    /* epochs since the best */
    unsigned halvings;
    bool stopped; /* by patience */
};

struct smurf_trainer {
    smurf_model *frame; /* config, view, parameter table; no slab */
    struct train_step step;
    struct feed train, dev;
    bool has_dev;
    uint64_t dev_fingerprint; /* 0: no dev */
    uint64_t columns[2];      /* smurf_further_hash of train and dev */
    struct progress_state at;
    struct progress progress;
    struct stop stop;                                            /* of the current step or dev pass */
    char what[96];                                               /* text shown by the progress callback */
    smurf_status (*after_step)(void *context, smurf_error *err); /* called within epochs; NULL: nothing */
    void *after_step_context;
};

/* Creates a trainer from a frame (owned by the trainer, even on failure), with initial weights. */
smurf_status smurf_trainer_build(smurf_trainer **out, smurf_model *frame, const smurf_data *train,
                                 const smurf_data *dev, smurf_error *err);

/* Moves the steps to a device, after creation or resumption. *remark: why they stay on the processor although it was
   asked for another one; or NULL. */
smurf_status smurf_trainer_use(smurf_trainer *t, enum device device, const char **remark, smurf_error *err);

/* Fails in all processes of a group unless they are at the same point of the same run. */
smurf_status smurf_trainer_agree(const smurf_trainer *t, smurf_error *err);

#endif
