/* joint.c - see joint.h. */
#include "train/joint.h"

#include "train/adam.h"

#include <stdlib.h>
#include <string.h>

/* ---- Who owns what --------------------------------------------------------------------------- */

static size_t share(size_t n, int q, int count)
{
    return n * (size_t)q / (size_t)count;
}

size_t smurf_joint_leaf(const struct joint *j, const struct slices *s, int q)
{
    return share(s->leaves, q, j->group->count);
}

size_t smurf_joint_chunk(const struct joint *j, int q)
{
    return share(j->chunks, q, j->group->count);
}

size_t smurf_joint_weight(const struct joint *j, int q)
{
    size_t at = smurf_joint_chunk(j, q) * ADAM_CHUNK;
    return at < j->weights ? at : j->weights;
}

/* Whether all leaves below a node, or its own, are among first .. last-1. */
static bool is_within(const struct slices *s, size_t node, size_t first, size_t last)
{
    size_t end = node + 1;
    while (node >= 2 * s->leaves) node /= 2, end = node + 1;
    while (node < s->leaves) node *= 2, end *= 2;
    return node >= s->leaves + first && end <= s->leaves + last;
}

bool smurf_joint_owns(const struct joint *j, const struct slices *s, size_t node)
{
    int r = j->group->rank;
    return is_within(s, node, smurf_joint_leaf(j, s, r), smurf_joint_leaf(j, s, r + 1));
}

bool smurf_joint_holds(const void *weights, const struct feed *feed, size_t sequence)
{
    const struct ranks *group = smurf_ranks();
    size_t leaves = smurf_slices_leaves(feed, *(const size_t *)weights), leaf = smurf_slices_leaf(leaves, sequence);
    return leaf >= share(leaves, group->rank, group->count) && leaf < share(leaves, group->rank + 1, group->count);
}

/* Most parts of rank q, at or below a node: those if all leaves have slices. */
static size_t most_parts(const struct joint *j, const struct slices *s, int q, size_t node)
{
    size_t first = smurf_joint_leaf(j, s, q), last = smurf_joint_leaf(j, s, q + 1);
    if (first == last) return 0;
    if (is_within(s, node, first, last)) return 1;
    return node >= s->leaves ? 0 : most_parts(j, s, q, 2 * node) + most_parts(j, s, q, 2 * node + 1);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What each rank tells the others, before squares and losses. */
struct report {
    uint64_t flags;
};

static smurf_status make_room(struct joint *j, const struct slices *s, smurf_error *err)
{
    int count = j->group->count, rank = j->group->rank;
    size_t parts = 0, ranks = (size_t)count, own = smurf_joint_weight(j, rank + 1) - smurf_joint_weight(j, rank);
    j->begin = calloc(ranks + 1, sizeof *j->begin);
    j->room = calloc(ranks, sizeof *j->room);
    j->out_bytes = calloc(ranks, sizeof *j->out_bytes);
    j->in_bytes = calloc(ranks, sizeof *j->in_bytes);
    j->bytes = calloc(ranks, sizeof *j->bytes);
    if (!j->begin || !j->room || !j->out_bytes || !j->in_bytes || !j->bytes) return smurf_fail_memory(err);
    for (int q = 0; q < count; q++) parts += j->room[q] = most_parts(j, s, q, 1);
    j->part = calloc(parts, sizeof *j->part);
    j->sum = calloc(parts, sizeof *j->sum);
    j->out = malloc((j->room[rank] * (j->weights - own) + 1) * sizeof *j->out);
    j->in = malloc(((parts - j->room[rank]) * own + 1) * sizeof *j->in);
    j->report = malloc(ranks * sizeof(struct report) + j->chunks * sizeof(double) + parts * sizeof(struct loss));
    return j->part && j->sum && j->out && j->in && j->report ? SMURF_OK : smurf_fail_memory(err);
}

smurf_status smurf_joint_init(struct joint *j, const struct slices *s, size_t weights, smurf_error *err)
{
    *j = (struct joint){.group = smurf_ranks(), .weights = weights, .chunks = smurf_adam_chunks(weights)};
    return j->group->count > 1 ? make_room(j, s, err) : SMURF_OK;
}

void smurf_joint_release(struct joint *j)
{
    free(j->part), free(j->begin), free(j->room), free(j->sum), free(j->out), free(j->in), free(j->report);
    free(j->out_bytes), free(j->in_bytes), free(j->bytes);
    *j = (struct joint){0};
}

smurf_status smurf_joint_agree(uint64_t sum, smurf_error *err)
{
    int other = smurf_ranks_differ(RANKS_OTHER, sum);
    if (other < 0) return smurf_fail_memory(err);
    if (other == smurf_ranks()->count) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_INPUT,
                      "process %d was given other data or settings than process 0: give all of them the same", other);
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* Adds the parts among slices first .. last-1, of the leaves from .. to-1, after n. */
static size_t add_parts(struct joint *j, const struct slices *s, size_t first, size_t last, size_t from, size_t to,
                        size_t n)
{
    size_t node = s->slice[first].node, left = 1;
    if (last - first > 1) left = smurf_tree_split(&s->slice[first].node, sizeof *s->slice, last - first, &node);
    if (last - first == 1 || is_within(s, node, from, to)) {
        j->part[n] = (struct joint_part){node, first, last};
        return n + 1;
    }
    n = add_parts(j, s, first, first + left, from, to, n);
    return add_parts(j, s, first + left, last, from, to, n);
}

void smurf_joint_cut(struct joint *j, const struct slices *s)
{
    size_t n = 0, first = 0;
    for (int q = 0; q < j->group->count; q++) {
        size_t from = smurf_joint_leaf(j, s, q), to = smurf_joint_leaf(j, s, q + 1), last = first;
        while (last < s->count && is_within(s, s->slice[last].node, from, to)) last++;
        j->begin[q] = n;
        if (q == j->group->rank) j->first = first, j->last = last;
        if (last > first) n = add_parts(j, s, first, last, from, to, n);
        first = last;
    }
    j->begin[j->group->count] = n;
}

/* ---- What travels ---------------------------------------------------------------------------- */

void smurf_joint_pack(struct joint *j, size_t p, size_t c, const float *from)
{
    size_t parts = joint_last(j) - joint_first(j), at = c * ADAM_CHUNK, n = ADAM_CHUNK, before = 0;
    int q = (int)(c * (size_t)j->group->count / j->chunks);
    while (smurf_joint_chunk(j, q + 1) <= c) q++;
    if (q == j->group->rank) return;
    if (at + n > j->weights) n = j->weights - at;
    size_t start = smurf_joint_weight(j, q), size = smurf_joint_weight(j, q + 1) - start;
    /* Own weights do not travel. */
    if (q > j->group->rank) before = smurf_joint_weight(j, j->group->rank + 1) - smurf_joint_weight(j, j->group->rank);
    memcpy(j->out + parts * (start - before) + p * size + (at - start), from, n * sizeof *from);
}

void smurf_joint_exchange(struct joint *j, const struct tree_part *own)
{
    int count = j->group->count, rank = j->group->rank;
    size_t start = smurf_joint_weight(j, rank), size = smurf_joint_weight(j, rank + 1) - start;
    size_t parts = joint_last(j) - joint_first(j);
    float *in = j->in;
    for (int q = 0; q < count; q++) {
        size_t theirs = j->begin[q + 1] - j->begin[q];
        j->out_bytes[q] = parts * (smurf_joint_weight(j, q + 1) - smurf_joint_weight(j, q)) * sizeof(float);
        j->in_bytes[q] = theirs * size * sizeof(float);
        if (q == rank) j->out_bytes[q] = j->in_bytes[q] = 0;
        for (size_t p = j->begin[q]; p < j->begin[q + 1]; p++) {
            float *slab = q == rank ? own[p - j->begin[q]].slab + start : in;
            if (q != rank) in += size;
            j->sum[p] = (struct tree_part){.node = j->part[p].node, .slab = slab};
            if (q == rank) j->sum[p].loss = own[p - j->begin[q]].loss;
        }
    }
    smurf_ranks_exchange(RANKS_STEP, j->out, j->out_bytes, j->in, j->in_bytes);
}

/* Copies what one rank tells, from there or, if `to`, to there; returns its bytes. */
static size_t copy_report(struct joint *j, int q, char *at, double *square, struct report *report, bool to)
{
    size_t chunk = smurf_joint_chunk(j, q), squares = (smurf_joint_chunk(j, q + 1) - chunk) * sizeof *square;
    size_t n = sizeof *report + squares;
    memcpy(to ? at : (char *)report, to ? (char *)report : at, sizeof *report);
    memcpy(to ? at + sizeof *report : (char *)(square + chunk), to ? (char *)(square + chunk) : at + sizeof *report,
           squares);
    for (size_t p = j->begin[q]; p < j->begin[q + 1]; p++, n += sizeof(struct loss))
        memcpy(to ? at + n : (char *)&j->sum[p].loss, to ? (char *)&j->sum[p].loss : at + n, sizeof(struct loss));
    return n;
}

unsigned smurf_joint_report(struct joint *j, double *square, unsigned flags)
{
    int count = j->group->count, rank = j->group->rank;
    struct report report = {.flags = flags};
    char *at = j->report;
    for (int q = 0; q < count; q++) {
        size_t squares = (smurf_joint_chunk(j, q + 1) - smurf_joint_chunk(j, q)) * sizeof *square;
        j->bytes[q] = sizeof report + squares + (j->begin[q + 1] - j->begin[q]) * sizeof(struct loss);
        if (q == rank) copy_report(j, q, at, square, &report, true);
        at += j->bytes[q];
    }
    smurf_ranks_gather(RANKS_STEP, j->report, j->bytes);
    at = j->report;
    for (int q = 0; q < count; q++) {
        at += copy_report(j, q, at, square, &report, false);
        flags |= (unsigned)report.flags;
    }
    return flags;
}

void smurf_joint_complete(struct joint *j, enum ranks_use use, float *slab)
{
    if (j->group->count == 1) return;
    for (int q = 0; q < j->group->count; q++)
        j->bytes[q] = (smurf_joint_weight(j, q + 1) - smurf_joint_weight(j, q)) * sizeof *slab;
    smurf_ranks_gather(use, slab, j->bytes);
}
