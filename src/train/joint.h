/*
 * joint.h - one batch over a group of processes (base/ranks.h): who owns what, and what travels.
 *
 * Rank r of R owns the leaves L r / R .. L (r + 1) / R - 1 of the tree (slices.h), so the shards of these, and the
 * chunks of weights C r / R .. C (r + 1) / R - 1. It runs the slices of its leaves and sums them up to the highest
 * nodes that have no slice of another rank below them: its parts, one if R divides L, a few otherwise. Then
 *
 *     exchange   of each part, each rank gets its own chunks; it adds all parts along the tree
 *     gather     sums of squares of these chunks, losses of the parts, flags: norm and loss, the same in all ranks
 *     gather     chunks of weights after Adam
 *
 * With one rank nothing travels. Bits do not depend on R: the tree is the same.
 */
#ifndef SMURF_TRAIN_JOINT_H
#define SMURF_TRAIN_JOINT_H

#include "base/ranks.h"
#include "train/slices.h"
#include "train/tree.h"

/* Requests that hold for all ranks if one makes them. */
enum { JOINT_STOP = 1, JOINT_SAVE = 2 };

/* A node and its slices, first .. last-1. */
struct joint_part {
    size_t node, first, last;
};

struct joint {
    struct ranks *group;
    size_t weights, chunks;  /* of the model; chunks of Adam */
    struct joint_part *part; /* of the current batch, of all ranks, from left to right */
    size_t *begin;           /* (ranks + 1) first part of each */
    size_t first, last;      /* own slices, first .. last-1 */
    size_t *room;            /* (ranks) most parts */
    struct tree_part *sum;   /* (parts) own chunks of each; its loss */
    float *out, *in;         /* parts as they travel */
    char *report;            /* of all ranks: struct report, squares, losses */
    size_t *out_bytes, *in_bytes, *bytes;
};

/* For batches cut by `slices`; nothing is allocated for one process. Release even after a failure. */
smurf_status smurf_joint_init(struct joint *joint, const struct slices *slices, size_t weights, smurf_error *err);
void smurf_joint_release(struct joint *joint);

/* First leaf, chunk of weights, weight, of those that rank q owns; that of q + 1 ends them. */
size_t smurf_joint_leaf(const struct joint *joint, const struct slices *slices, int q);
size_t smurf_joint_chunk(const struct joint *joint, int q);
size_t smurf_joint_weight(const struct joint *joint, int q);
/* Whether all that can be below a node is this rank's. */
bool smurf_joint_owns(const struct joint *joint, const struct slices *slices, size_t node);

/* Whether a sequence of train is this rank's: a feed's share, with the number of the model's weights as context. */
bool smurf_joint_holds(const void *weights, const struct feed *feed, size_t sequence);

/* Fails in all ranks unless this is the same number in all of them: the checksum of what they are to agree on. */
smurf_status smurf_joint_agree(uint64_t sum, smurf_error *err);

/* Finds the parts of the batch that was cut last. */
void smurf_joint_cut(struct joint *joint, const struct slices *slices);
/* Own parts: first .. last-1. */
static inline size_t joint_first(const struct joint *j)
{
    return j->begin[j->group->rank];
}
static inline size_t joint_last(const struct joint *j)
{
    return j->begin[j->group->rank + 1];
}

/* Lays chunk c of own part p, counted from 0, which begins at `from`, where it travels from; own chunks stay. */
void smurf_joint_pack(struct joint *joint, size_t p, size_t c, const float *from);
/* Sends the parts, whose slabs are own[0] .. of own parts; joint->sum then has the own chunks of all. The sum of a
   chunk that begins at weight w will be joint->sum->slab + w - smurf_joint_weight(rank). */
void smurf_joint_exchange(struct joint *joint, const struct tree_part *own);
/* Completes the sums of squares by chunk, and the losses in joint->sum; returns the flags of all. */
unsigned smurf_joint_report(struct joint *joint, double *square, unsigned flags);
/* Completes an array of weights of which each rank knows its chunks. */
void smurf_joint_complete(struct joint *joint, enum ranks_use use, float *slab);

#endif
