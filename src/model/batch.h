/*
 * batch.h - input and output of a training step: events, the gaps to predict, and the resulting sums.
 */
#ifndef SMURF_MODEL_BATCH_H
#define SMURF_MODEL_BATCH_H

#include "model/encoder.h"

#include <stdbool.h>
#include <stdint.h>

/* One predicted gap. */
struct target {
    size_t row;   /* row of the batch whose law predicts the gap */
    double gap;   /* on the law's axis */
    double limit; /* end of observation on the same axis, counted from the same event; NaN: unknown */
    uint32_t type;
    bool censored; /* no event until `gap`, the end of observation: no type */
    uint64_t id;   /* number of the event in its data set: its noise does not depend on the batch */
};

struct batch {
    struct encoder_input input;
    const struct target *target;
    size_t targets;
};

/* Sums over the targets of a batch. */
struct loss {
    double time, type;  /* objective (without alpha); cross-entropy */
    double right;       /* types predicted correctly, at the points of the type loss */
    size_t gaps, typed; /* targets; those with a type */
};

static inline void loss_add(struct loss *sum, const struct loss *part)
{
    sum->time += part->time;
    sum->type += part->type;
    sum->right += part->right;
    sum->gaps += part->gaps;
    sum->typed += part->typed;
}

/* Targets are processed in chunks of at least `least`, which depend on their number only; sums over chunks are added in
   order. */
enum { TARGET_CHUNKS = 16 };
static inline size_t target_chunks(size_t targets, size_t least)
{
    size_t chunks = op_chunks(targets, least);
    return chunks < TARGET_CHUNKS ? chunks : TARGET_CHUNKS;
}

#endif
