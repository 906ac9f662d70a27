/*
 * rival.h - models of other kinds, to compare with: one model a file.
 *
 * A rival sees the events that SMURF sees, turns them into coefficients, those of event j from events 1..j alone, and
 * from the coefficients of one event makes the law of the next gap, on the axis of mean time (gaps in units of the mean
 * train gap, lower end 0). It is trained by a loss of its own through the same trainer, and its laws are asked through
 * the same interface. To add one: write the file, and add its name to RIVALS.
 *
 * Compiled for float and for double (op.h); laws are for the float build.
 */
#ifndef SMURF_MODEL_RIVAL_H
#define SMURF_MODEL_RIVAL_H

#include "law/law.h"
#include "model/batch.h"
#include "model/model.h"

#define RIVALS(X) X(thp) X(sahp) X(nhp) X(nce)

struct rival_config {
    size_t points;    /* draws or nodes of the integral of the intensity */
    double alpha;     /* weight of the likelihood beside the type loss, where there is one */
    double smoothing; /* of type labels, where there is a classifier */
    double offset;    /* thp: t0, added to the time of the last event */
    const double *u;  /* (targets x points) in (0, 1), for tests: draws to use; NULL: those of the run's seed, step and
                         the target's id */
};

/* What a law of a rival points to. */
struct rival_law {
    const struct model *model;
    const float *slab;
    const float *c; /* coefficients of one event */
};

struct rival_class {
    const char *name, *about;
    /* Adds its entries to the table and keeps their offsets in model->at (and model->encoder). */
    void (*params)(struct model *model);
    /* Reals that describe the law of one event. */
    size_t (*coefficients)(const struct model *model);
    /* Reals of memory for up to n events and as many targets. */
    size_t (*memory)(const struct model *model, const struct rival_config *config, size_t n, int threads);
    /* out (n x coefficients). Without dropout where model->shape.dropout is 0. */
    void (*encode)(const struct op_run *run, const struct model *model, const struct rival_config *config,
                   const real *slab, const struct encoder_input *input, real *memory, real *out);
    /* The loss of a batch: time is the negative log-likelihood (or what stands in its place), type the cross-entropy of
       a classifier, 0 where types come from the intensities. grad NULL: the loss alone; else the gradient of alpha *
       time + type is added to it. Sums have one order, whatever the threads; censored targets count where the loss has
       a use for them. */
    struct loss (*loss)(const struct op_run *run, const struct model *model, const struct rival_config *config,
                        const real *slab, const struct batch *batch, real *memory, real *grad);
    const struct law_class *law; /* self is a struct rival_law; intensity, slope and types must be there */
    /* Probabilities of the types, out (n x types), given the gap; NULL: shares of the intensities. */
    void (*types)(const struct rival_law *law, const double *gap, double *out, size_t n);
};

/* As the trainer and predictors use it. */
struct rival_config smurf_rival_config(const smurf_train_config *config);

#define RIVAL_DECLARE(name) extern const struct rival_class OP(rival_##name);
RIVALS(RIVAL_DECLARE)

/* NULL past the last; NULL if there is none of that name. */
const struct rival_class *OP(rival_at)(size_t index);
const struct rival_class *OP(rival_named)(const char *name);

/* Fills the table of a rival for a shape. */
void OP(rival_init)(struct model *model, const struct encoder_shape *shape, const struct rival_class *rival);

#endif
