/*
 * slices.h - a batch cut into slices: whole sequences that one worker runs forward and backward by itself.
 *
 * Sequence i of train belongs to shard i mod 64, and shard s to leaf s L / 64 of the tree (tree.h), node L + leaf. L is
 * a power of two that makes a leaf's share of a batch worth its slab. A leaf's sequences, in the order of the batch,
 * are joined while they have no more than `rows` events; a longer one is alone. Slice j of a leaf's k is node (leaf <<
 * b) + j with 2^b >= k. All of this is a function of the data and the settings, never of the workers.
 */
#ifndef SMURF_TRAIN_SLICES_H
#define SMURF_TRAIN_SLICES_H

#include "train/feed.h"

enum { SHARDS = 64 };

struct slice {
    size_t node;
    size_t first, members; /* in slices.member */
    size_t rows;
};

struct slices {
    size_t leaves, rows;
    struct slice *slice;
    size_t count;
    size_t *member; /* sequences of the feed */
    size_t longest; /* most rows of a slice, of any batch */
    size_t most;    /* members of a batch */
};

/* Leaves of the tree, and that of a sequence, for a model of `weights`. */
size_t smurf_slices_leaves(const struct feed *feed, size_t weights);
size_t smurf_slices_leaf(size_t leaves, size_t sequence);
/* For the batches of a feed, and a model of `weights`. Release even after a failure. */
smurf_status smurf_slices_init(struct slices *slices, const struct feed *feed, size_t weights, smurf_error *err);
void smurf_slices_release(struct slices *slices);

/* Cuts batch `index` of the current epoch. Slices are ordered by their place in the tree. Allocates nothing. */
void smurf_slices_cut(struct slices *slices, const struct feed *feed, size_t index);
/* Rows of the batch that was cut last. */
size_t smurf_slices_rows(const struct slices *slices);
/* Cuts all sequences with targets, in the order of the feed; nodes are not set. For a feed whose batch is all of them.
 */
void smurf_slices_cut_all(struct slices *slices, const struct feed *feed);

#endif
