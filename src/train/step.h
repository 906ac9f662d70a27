/*
 * step.h - one step of training: the loss of a batch and its gradient, Adam, the average of the weights.
 *
 * A batch is cut into slices (slices.h). Workers take slices, each into a slab of the step's pool; who finishes the
 * second of two neighbours adds them. When few nodes of the tree (tree.h) are left, its parts, the workers wait for
 * each other once, and add the parts chunk of weights by chunk of weights. A batch with too few slices for the workers
 * runs slice by slice, with all threads inside each. The gradient has the same bits either way, for any number of
 * threads, and of processes (joint.h).
 *
 * Used by the trainer, the benchmarks and the comparison with PyTorch. A step allocates nothing.
 */
#ifndef SMURF_TRAIN_STEP_H
#define SMURF_TRAIN_STEP_H

#include "train/device.h"
#include "train/joint.h"

/* Slabs: weights, and arrays of the same shape. That of the gradient is one of the pool. With several processes, each
   moves its own chunks of weights; after a step, only SLAB_WEIGHT is complete in all. */
enum slab { SLAB_WEIGHT, SLAB_GRADIENT, SLAB_MOMENT1, SLAB_MOMENT2, SLAB_AVERAGE, SLAB_BEST, SLABS };

struct step_worker;
struct step_node;

/* What steps have cost so far, for benchmarks. Seconds are wall time. */
struct step_counts {
    uint64_t steps, waits; /* waits: times that all workers waited for each other */
    double parallel;       /* seconds of parallel regions */
    double idle;           /* seconds that workers waited in them, all added */
};

struct train_step {
    const struct model *model; /* borrowed */
    struct loss_config loss;
    int threads;
    float *slab[SLABS]; /* NULL: not requested */
    struct step_counts counts;

    struct slices slices, dev; /* of the current batch; of all dev */
    struct step_node *node;    /* (2 slices): the current batch's tree */
    struct tree_part *part;    /* (slices) */
    size_t *first, sums;       /* (sums + 1): the parts of each sum that other processes wait for, or of the only one */
    struct loss *piece;        /* (slices of dev) */
    float **pool, **spare;     /* (slabs): all slabs for gradients; those not in use */
    size_t *dev_begin;         /* (ranks + 1) slices of dev that each rank runs */
    size_t slabs, spares;
    double *square; /* sums of squares, one per chunk of weights */
    float *memory;  /* workspaces of the loss */
    size_t memory_size;
    struct step_worker *worker; /* (threads) */

    struct joint joint;
    const float *gradient; /* of the own chunks of weights */
    unsigned raise;        /* requests of this process, JOINT_SAVE, that its next gradient tells all */
    unsigned raised;       /* those of any process that the last one told */

    struct train_device *device; /* NULL: steps run on the processor; else slabs are those of the last fetch */
};

/* How many threads are worth their waits, of `threads` at most: a mean batch has some rows for each of them. */
int smurf_train_step_threads(const struct feed *train, int threads);
/* Initial weights are a function of the seed; the rest is 0. For the batches of `train`, and all of dev, if it is not
   NULL. more: bits 1 << s of SLAB_AVERAGE and SLAB_BEST, which start as copies of the weights. Release even after a
   failure. */
smurf_status smurf_train_step_init(struct train_step *step, const struct model *model, const struct loss_config *loss,
                                   unsigned more, const struct feed *train, const struct feed *dev, int threads,
                                   uint64_t seed, smurf_error *err);
void smurf_train_step_release(struct train_step *step);

/* The loss of all dev with the weights of `slab`, complete in all processes. Like the gradient, it sets step->raised:
   JOINT_STOP if any process was asked to stop, and the result is void. */
struct loss smurf_train_step_dev(struct train_step *step, const struct op_run *run, const float *slab,
                                 const struct feed *dev);
/* The loss of batch `index` of the epoch with the current weights, and its gradient in SLAB_GRADIENT; *norm is the norm
   of the gradient. */
struct loss smurf_train_step_gradient(struct train_step *step, const struct op_run *run, const struct feed *train,
                                      size_t index, double *norm);
/* Step t, counted from 1: Adam with the gradient times `factor`, then the average, if any, with `decay`. */
void smurf_train_step_update(struct train_step *step, uint64_t t, double rate, double factor, double decay);
/* Completes moments and average in all processes. */
void smurf_train_step_complete(struct train_step *step);

/* Moves the steps to a GPU, with the slabs as they are. The feeds must be those of _init. */
smurf_status smurf_train_step_move(struct train_step *step, const struct feed *train, const struct feed *dev,
                                   smurf_error *err);
/* Steps on a GPU: reports a failed step; and brings weights and average up to date, or all slabs that are saved. */
smurf_status smurf_train_step_status(const struct train_step *step, smurf_error *err);
smurf_status smurf_train_step_fetch(struct train_step *step, bool all, smurf_error *err);

#endif
