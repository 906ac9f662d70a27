/*
 * step.h - one step of training: the loss of a batch and its gradient, Adam, the average of the weights.
 *
 * The trainer, the benchmarks and the comparison with PyTorch all take their steps here. A step allocates nothing.
 */
#ifndef SMURF_TRAIN_STEP_H
#define SMURF_TRAIN_STEP_H

#include "model/model_class.h"

/* Slabs of weights and their kin. */
enum slab { SLAB_WEIGHT, SLAB_GRADIENT, SLAB_MOMENT1, SLAB_MOMENT2, SLAB_AVERAGE, SLAB_BEST, SLABS };

struct train_step {
    const struct model *model; /* borrowed */
    struct loss_config loss;
    int threads;
    float *slab[SLABS]; /* NULL: not asked for */
    float *memory;      /* workspace of the loss */
};

/* Weights at their start, a function of the seed; the rest 0. For batches of up to `events` events. more: bits 1 << s
   of SLAB_AVERAGE and SLAB_BEST, which start like the weights. Released also after a failure. */
smurf_status smurf_train_step_init(struct train_step *step, const struct model *model, const struct loss_config *loss,
                                   unsigned more, size_t events, int threads, uint64_t seed, smurf_error *err);
void smurf_train_step_release(struct train_step *step);

/* The loss of a batch with the weights of `slab`. */
struct loss smurf_train_step_loss(const struct train_step *step, const struct op_run *run, const float *slab,
                                  const struct batch *batch);
/* The loss with the current weights; its gradient is added to SLAB_GRADIENT. */
struct loss smurf_train_step_add(struct train_step *step, const struct op_run *run, const struct batch *batch);
/* The same with a gradient of 0 before; *norm is that of the gradient. */
struct loss smurf_train_step_gradient(struct train_step *step, const struct op_run *run, const struct batch *batch,
                                      double *norm);
/* Step t, counted from 1: Adam with the gradient times `factor`, and the average, if there is one, with `decay`. */
void smurf_train_step_update(struct train_step *step, uint64_t t, double rate, double factor, double decay);

#endif
