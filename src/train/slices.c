/* slices.c - see slices.h. */
#include "train/slices.h"

#include <stdlib.h>

/* Rows per slice: enough for its products to be worth clearing and adding a slab, whose cost grows with the weights
   once it leaves the cache. */
enum { ROWS = 64, ROWS_MOST = 512, WEIGHTS = 1 << 19 };

static size_t rows_for(size_t weights)
{
    size_t rows = ROWS * (1 + (weights - 1) / WEIGHTS);
    return rows < ROWS_MOST ? rows : ROWS_MOST;
}

static size_t length_of(const struct feed *f, size_t s)
{
    return f->offset[s + 1] - f->offset[s];
}

size_t smurf_slices_leaves(const struct feed *f, size_t weights)
{
    size_t leaves = 1, most = f->batch < f->ordered ? f->batch : f->ordered;
    double batch = (double)most * (double)f->events / (double)f->sequences;
    while (leaves < SHARDS && batch >= 2.0 * (double)leaves * (double)rows_for(weights)) leaves *= 2;
    return leaves;
}

size_t smurf_slices_leaf(size_t leaves, size_t sequence)
{
    return sequence % SHARDS * leaves / SHARDS;
}

smurf_status smurf_slices_init(struct slices *s, const struct feed *feed, size_t weights, smurf_error *err)
{
    *s = (struct slices){.leaves = smurf_slices_leaves(feed, weights), .rows = rows_for(weights), .most = feed->batch};
    if (s->most > feed->ordered) s->most = feed->ordered;
    s->longest = s->rows;
    for (size_t i = 0; i < feed->ordered; i++)
        if (length_of(feed, feed->order[i]) > s->longest) s->longest = length_of(feed, feed->order[i]);
    s->slice = malloc((s->most + 1) * sizeof *s->slice);
    s->member = malloc((s->most + 1) * sizeof *s->member);
    return s->slice && s->member ? SMURF_OK : smurf_fail_memory(err);
}

void smurf_slices_release(struct slices *s)
{
    free(s->slice);
    free(s->member);
    *s = (struct slices){0};
}

/* Joins members first .. last-1 of one leaf into slices. */
static void join(struct slices *s, const struct feed *f, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        size_t rows = length_of(f, s->member[i]);
        struct slice *open = s->count ? &s->slice[s->count - 1] : NULL;
        if (i > first && open->rows + rows <= s->rows)
            open->members++, open->rows += rows;
        else
            s->slice[s->count++] = (struct slice){.first = i, .members = 1, .rows = rows};
    }
}

/* Slices from .. count-1 belong to a leaf: they are numbered below it. */
static void number(struct slices *s, size_t from, size_t node)
{
    size_t room = 1;
    for (; room < s->count - from; room *= 2) node *= 2;
    for (size_t i = from; i < s->count; i++) s->slice[i].node = node + (i - from);
}

void smurf_slices_cut(struct slices *s, const struct feed *f, size_t index)
{
    size_t first, last, start[SHARDS + 1] = {0};
    smurf_feed_members(f, index, &first, &last);
    for (size_t i = first; i < last; i++) start[smurf_slices_leaf(s->leaves, f->order[i]) + 1]++;
    for (size_t l = 0; l < s->leaves; l++) start[l + 1] += start[l];
    for (size_t i = first; i < last; i++) s->member[start[smurf_slices_leaf(s->leaves, f->order[i])]++] = f->order[i];
    s->count = 0;
    for (size_t l = 0, at = 0; l < s->leaves; at = start[l++]) { /* start[l] is now the end of leaf l */
        size_t from = s->count;
        join(s, f, at, start[l]);
        number(s, from, s->leaves + l);
    }
}

size_t smurf_slices_rows(const struct slices *s)
{
    size_t rows = 0;
    for (size_t i = 0; i < s->count; i++) rows += s->slice[i].rows;
    return rows;
}

void smurf_slices_cut_all(struct slices *s, const struct feed *f)
{
    for (size_t i = 0; i < f->ordered; i++) s->member[i] = f->order[i];
    s->count = 0;
    join(s, f, 0, f->ordered);
}
