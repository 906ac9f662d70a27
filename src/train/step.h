/*
 * step.h - one step of training: the loss of a batch and its gradient, Adam, the average of the weights.
 *
 * Used by the trainer, the benchmarks and the comparison with PyTorch. A step allocates nothing.
 */
#ifndef SMURF_TRAIN_STEP_H
#define SMURF_TRAIN_STEP_H

#include "model/model_class.h"

/* Slabs: weights, and arrays of the same shape. */
enum slab { SLAB_WEIGHT, SLAB_GRADIENT, SLAB_MOMENT1, SLAB_MOMENT2, SLAB_AVERAGE, SLAB_BEST, SLABS };

struct train_step {
    const struct model *model; /* borrowed */
    struct loss_config loss;
    int threads;
    float *slab[SLABS]; /* NULL: not requested */
    float *memory;      /* workspace of the loss */
};

/* Initial weights are a function of the seed; the rest is 0. For batches of up to `events` events. more: bits 1 << s of
   SLAB_AVERAGE and SLAB_BEST, which start as copies of the weights. Release even after a failure. */
smurf_status smurf_train_step_init(struct train_step *step, const struct model *model, const struct loss_config *loss,
                                   unsigned more, size_t events, int threads, uint64_t seed, smurf_error *err);
void smurf_train_step_release(struct train_step *step);

/* The loss of a batch with the weights of `slab`. */
struct loss smurf_train_step_loss(const struct train_step *step, const struct op_run *run, const float *slab,
                                  const struct batch *batch);
/* The loss with the current weights; adds its gradient to SLAB_GRADIENT. */
struct loss smurf_train_step_add(struct train_step *step, const struct op_run *run, const struct batch *batch);
/* Same, but clears the gradient first; *norm is the norm of the gradient. */
struct loss smurf_train_step_gradient(struct train_step *step, const struct op_run *run, const struct batch *batch,
                                      double *norm);
/* Step t, counted from 1: Adam with the gradient times `factor`, then the average, if any, with `decay`. */
void smurf_train_step_update(struct train_step *step, uint64_t t, double rate, double factor, double decay);

#endif
