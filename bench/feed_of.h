/*
 * feed_of.h - a batch as the feed of a training step.
 */
#ifndef SMURF_BENCH_FEED_OF_H
#define SMURF_BENCH_FEED_OF_H

#include "train/feed.h"

#include <stdlib.h>
#include <string.h>

/* A feed of batches of `together` sequences, in order; it is never released. Targets are ordered by row. */
static inline struct feed feed_of(const struct batch *batch, size_t together)
{
    size_t n = batch->input.n, sequences = batch->input.rows.sequences;
    struct feed f = {.sequences = sequences, .events = n, .targets = batch->targets, .batch = together};
    const struct encoder_input *in = &batch->input;
    f.offset = malloc((sequences + 1) * sizeof *f.offset);
    f.target_offset = malloc((sequences + 1) * sizeof *f.target_offset);
    f.order = malloc(sequences * sizeof *f.order);
    f.type = malloc(n * sizeof *f.type);
    f.time = malloc(n * sizeof *f.time);
    f.gap = calloc(n, sizeof *f.gap);
    f.target = malloc((batch->targets + 1) * sizeof *f.target);
    if (!f.offset || !f.target_offset || !f.order || !f.type || !f.time || !f.gap || !f.target) exit(1);
    memcpy(f.type, in->type, n * sizeof *f.type);
    memcpy(f.time, in->time, n * sizeof *f.time);
    if (in->gap) memcpy(f.gap, in->gap, n * sizeof *f.gap);
    f.offset[0] = f.target_offset[0] = 0;
    for (size_t s = 0, t = 0; s < sequences; s++) {
        size_t from = in->rows.offset[s];
        for (f.offset[s + 1] = in->rows.offset[s + 1]; t < batch->targets && batch->target[t].row < f.offset[s + 1];
             t++) {
            f.target[t] = batch->target[t];
            f.target[t].row -= from;
        }
        f.target_offset[s + 1] = t;
        f.order[f.ordered++] = s;
        f.longest_batch_events += f.offset[s + 1] - from; /* at most all */
    }
    return f;
}

#endif
