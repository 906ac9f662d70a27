/*
 * peer_step.h - training steps on batches of random events of given lengths, for peer.c.
 *
 * Gaps are exponential and types uniform: cost does not depend on values. Errors exit.
 */
#ifndef SMURF_BENCH_PEER_STEP_H
#define SMURF_BENCH_PEER_STEP_H

#include "model/smurf_class.h"
#include "feed_of.h"
#include "train/step.h"

#define STEP_MEAN_GAP 0.8

/* Sequences end to end, split into batches in order, and the state of training. */
struct step {
    struct model model;
    struct train_step train;
    double dropout;
    const size_t *length; /* (sequences), the caller's */
    size_t sequences, events, targets;
    uint32_t *type; /* (events) */
    double *time;
    struct target *target; /* (targets): rows count from the first event of all */
    struct feed feed;
    uint64_t done; /* steps */
};

/* Batches of `together` sequences. Starts with new weights. */
void step_open(struct step *step, const struct encoder_shape *shape, const struct loss_config *config, double dropout,
               const size_t *length, size_t sequences, size_t together, int threads);
/* Denoising score matching on the next batch, and Adam. Returns the number of events. */
size_t step_run(struct step *step);
/* The loss of all batches with the noise of the next step, without dropout, and the norm of its gradient. */
struct loss step_loss(struct step *step, double *norm);
/* The run that determines the noise of the next step. */
struct op_run step_noise(const struct step *step);

/* Allocates, or exits. */
void *step_memory(size_t bytes);
double now(void); /* seconds */
double median(double *x, size_t n);
double peak_mb(void); /* of this process */

#endif
