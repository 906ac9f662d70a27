/*
 * tree.h - sums of gradients along a fixed binary tree.
 *
 * Nodes are numbered as in a heap: the root is 1, the children of n are 2n and 2n + 1, and
 *
 *     S(n) = S(2n) + S(2n + 1)      a node without slices below it is left out
 *
 * A slice of a batch is a node; which one depends on the batch alone. So a sum has the same bits whoever adds it, and
 * in whatever order: a + b = b + a. Disjoint nodes that cover a batch are its parts.
 */
#ifndef SMURF_TRAIN_TREE_H
#define SMURF_TRAIN_TREE_H

#include "model/batch.h"

struct tree_part {
    size_t node;
    float *slab; /* S(node); NULL: the loss alone */
    struct loss loss;
};

/* Of n >= 2 nodes, disjoint and ordered, `stride` bytes apart: *ancestor is the closest that all have in common.
   Returns how many are below its left child. */
size_t smurf_tree_split(const size_t *node, size_t stride, size_t n, size_t *ancestor);
/* Whether a node is `above` or below it. */
bool smurf_tree_below(size_t node, size_t above);
/* Parts are ordered from left to right. The root's weights from .. to-1, in part[0].slab; those of the other
   slabs are overwritten by partial sums. */
void smurf_tree_sum(const struct tree_part *part, size_t parts, size_t from, size_t to);
/* The root's loss. */
struct loss smurf_tree_loss(const struct tree_part *part, size_t parts);
/* to += from, n weights. */
void smurf_tree_add(size_t n, const float *from, float *to);

#endif
