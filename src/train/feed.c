/* feed.c - see feed.h. */
#include "train/feed.h"

#include "base/random.h"
#include "data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Events and targets ---------------------------------------------------------------------- */

static void add_events(struct feed *f, const smurf_sequence *s, const struct view *view, size_t at)
{
    for (size_t i = 0; i < s->length; i++) {
        f->type[at + i] = s->type[i];
        f->time[at + i] = smurf_view_time(view, s, i);
        f->gap[at + i] = smurf_view_gap(view, s, i);
    }
}

/* Adds the scored gaps and, with `ends`, the one censored by the end of observation. Returns their number. */
static size_t add_targets(struct feed *f, const smurf_sequence *s, const struct view *view, bool ends, size_t at,
                          size_t id)
{
    const double end = ends ? s->end : NAN;
    size_t n = 0;
    for (size_t i = s->first; i < s->length; i++)
        f->target[at + n++] = (struct target){.row = i - 1,
                                              .gap = smurf_scale_forward(&view->scale, s->time[i] - s->time[i - 1]),
                                              .limit = smurf_scale_forward(&view->scale, end - s->time[i - 1]),
                                              .type = s->type[i],
                                              .id = id + i};
    f->typed += n;
    if (s->length && end > s->time[s->length - 1])
        f->target[at + n++] = (struct target){.row = s->length - 1,
                                              .gap = smurf_scale_forward(&view->scale, end - s->time[s->length - 1]),
                                              .limit = NAN,
                                              .censored = true,
                                              .id = id + s->length};
    return n;
}

static int longest_first(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return a > b ? -1 : a < b;
}

/* Upper bound on the rows and targets of a batch: the sum over its longest sequences. */
static smurf_status measure(struct feed *f, smurf_error *err)
{
    const size_t *offset[] = {f->offset, f->target_offset};
    size_t *longest[] = {&f->longest_batch_events, &f->longest_batch_targets};
    size_t *length = malloc((f->ordered + 1) * sizeof *length);
    if (!length) return smurf_fail_memory(err);
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; i < f->ordered; i++) length[i] = offset[which][f->order[i] + 1] - offset[which][f->order[i]];
        qsort(length, f->ordered, sizeof *length, longest_first);
        for (size_t i = 0; i < f->ordered && i < f->batch; i++) *longest[which] += length[i];
    }
    free(length);
    return SMURF_OK;
}

smurf_status smurf_feed_init(struct feed *f, const smurf_data *data, const char *part, const struct view *view,
                             size_t batch, bool assumed, smurf_error *err)
{
    *f = (struct feed){.sequences = data->sequences, .events = data->events, .batch = batch};
    size_t most = data->events + data->sequences + 1;
    f->offset = calloc(data->sequences + 1, sizeof *f->offset);
    f->target_offset = calloc(data->sequences + 1, sizeof *f->target_offset);
    f->order = calloc(data->sequences + 1, sizeof *f->order);
    f->type = malloc(most * sizeof *f->type);
    f->time = malloc(most * sizeof *f->time);
    f->gap = malloc(most * sizeof *f->gap);
    f->target = malloc(most * sizeof *f->target);
    if (!f->offset || !f->target_offset || !f->order || !f->type || !f->time || !f->gap || !f->target) {
        smurf_feed_release(f);
        return smurf_fail_memory(err);
    }
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *s = &data->sequence[i];
        add_events(f, s, view, f->offset[i]);
        size_t targets = add_targets(f, s, view, assumed || !data->assumed, f->target_offset[i], f->offset[i] + i);
        f->offset[i + 1] = f->offset[i] + s->length;
        f->target_offset[i + 1] = f->target_offset[i] + targets;
        if (targets) f->order[f->ordered++] = i;
    }
    f->targets = f->target_offset[data->sequences];
    smurf_status status = measure(f, err);
    if (!status && f->typed == 0)
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT,
                            "the %s part of '%s' has no gap to score: give it sequences of two events or more%s", part,
                            data->source, strcmp(part, "train") == 0 ? "" : ", or leave it out");
    if (status) smurf_feed_release(f);
    return status;
}

void smurf_feed_release(struct feed *f)
{
    free(f->offset), free(f->target_offset), free(f->order);
    free(f->type), free(f->time), free(f->gap), free(f->target);
    *f = (struct feed){0};
}

/* ---- Order ----------------------------------------------------------------------------------- */

static void shuffle(size_t *item, size_t n, struct random *random)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = smurf_random_below(random, i), swap = item[i - 1];
        item[i - 1] = item[j];
        item[j] = swap;
    }
}

/* Orders sequences by length, then by number, so that the result is unique. */
static bool is_before(const struct feed *f, size_t a, size_t b)
{
    size_t x = f->offset[a + 1] - f->offset[a], y = f->offset[b + 1] - f->offset[b];
    return x != y ? x < y : a < b;
}

/* Moves item[top] down the heap to its place. */
static void sift(const struct feed *f, size_t *item, size_t top, size_t n)
{
    for (size_t below; (below = 2 * top + 1) < n; top = below) {
        if (below + 1 < n && is_before(f, item[below], item[below + 1])) below++;
        if (!is_before(f, item[top], item[below])) return;
        size_t swap = item[top];
        item[top] = item[below];
        item[below] = swap;
    }
}

/* A heap sort: qsort may allocate, which a step must not. */
static void sort_by_length(const struct feed *f, size_t *item, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift(f, item, i, n);
    for (size_t i = n; i-- > 1;) {
        size_t swap = item[0];
        item[0] = item[i];
        item[i] = swap;
        sift(f, item, 0, i);
    }
}

size_t smurf_feed_batches(const struct feed *f)
{
    return (f->ordered + f->batch - 1) / f->batch;
}

/* Shuffles whole batches; the last one, which may be shorter, stays. */
static void shuffle_batches(struct feed *f, struct random *random)
{
    for (size_t i = f->ordered / f->batch; i > 1; i--) {
        size_t j = smurf_random_below(random, i);
        for (size_t k = 0; k < f->batch; k++) {
            size_t *a = &f->order[(i - 1) * f->batch + k], *b = &f->order[j * f->batch + k], swap = *a;
            *a = *b;
            *b = swap;
        }
    }
}

void smurf_feed_shuffle(struct feed *f, uint64_t seed, uint64_t epoch)
{
    size_t n = 0, bucket = 32 * f->batch;
    f->seed = seed;
    f->epoch = epoch;
    for (size_t i = 0; i < f->sequences; i++)
        if (f->target_offset[i + 1] > f->target_offset[i]) f->order[n++] = i;
    if (epoch == 0) return;
    struct random random;
    smurf_random_init(&random, seed, 0x6f72646572000000u + epoch);
    shuffle(f->order, n, &random);
    for (size_t i = 0; i < n; i += bucket) sort_by_length(f, f->order + i, n - i < bucket ? n - i : bucket);
    shuffle_batches(f, &random);
}

/* ---- Batches --------------------------------------------------------------------------------- */

smurf_status smurf_feed_room_init(struct feed_batch *room, size_t sequences, size_t events, smurf_error *err)
{
    size_t n = events + 1; /* a row has at most one target */
    *room = (struct feed_batch){.offset = malloc((sequences + 1) * sizeof *room->offset),
                                .id = malloc((sequences + 1) * sizeof *room->id),
                                .type = malloc(n * sizeof *room->type),
                                .time = malloc(n * sizeof *room->time),
                                .gap = malloc(n * sizeof *room->gap),
                                .target = malloc(n * sizeof *room->target)};
    if (room->offset && room->id && room->type && room->time && room->gap && room->target) return SMURF_OK;
    smurf_feed_batch_release(room);
    return smurf_fail_memory(err);
}

smurf_status smurf_feed_batch_init(struct feed_batch *room, const struct feed *f, smurf_error *err)
{
    return smurf_feed_room_init(room, f->batch < f->ordered ? f->batch : f->ordered, f->longest_batch_events, err);
}

void smurf_feed_batch_release(struct feed_batch *room)
{
    free(room->offset), free(room->id), free(room->type), free(room->time), free(room->gap), free(room->target);
    *room = (struct feed_batch){0};
}

void smurf_feed_members(const struct feed *f, size_t index, size_t *first, size_t *last)
{
    *first = index * f->batch;
    *last = *first + f->batch < f->ordered ? *first + f->batch : f->ordered;
}

/* Hides the types of n events from number `from` on, each with probability f->mask: a function of seed, epoch and
   event. */
static void mask_types(const struct feed *f, size_t from, size_t n, uint32_t *type)
{
    const double limit = f->mask * 0x1p32;
    uint32_t word[4];
    for (size_t i = 0; i < n; i++) {
        size_t event = from + i;
        if (i == 0 || event % 4 == 0) smurf_philox(word, f->seed, 0x6d61736b00000000u + f->epoch, event / 4);
        if (word[event % 4] < limit) type[i] = f->other;
    }
}

struct batch smurf_feed_take(const struct feed *f, const size_t *sequence, size_t m, const struct feed_batch *room)
{
    size_t rows = 0, targets = 0;
    for (size_t i = 0; i < m; i++) {
        size_t s = sequence[i], from = f->offset[s], n = f->offset[s + 1] - from;
        room->offset[i] = rows;
        room->id[i] = from;
        memcpy(room->type + rows, f->type + from, n * sizeof *room->type);
        if (f->mask > 0 && f->epoch) mask_types(f, from, n, room->type + rows);
        memcpy(room->time + rows, f->time + from, n * sizeof *room->time);
        memcpy(room->gap + rows, f->gap + from, n * sizeof *room->gap);
        for (size_t t = f->target_offset[s]; t < f->target_offset[s + 1]; t++) {
            room->target[targets] = f->target[t];
            room->target[targets++].row += rows;
        }
        rows += n;
    }
    room->offset[m] = rows;
    return (struct batch){
        {{m, room->offset, room->id}, rows, room->type, room->time, room->gap}, room->target, targets};
}

struct batch smurf_feed_fill(const struct feed *f, size_t index, const struct feed_batch *room)
{
    size_t first, last;
    smurf_feed_members(f, index, &first, &last);
    return smurf_feed_take(f, f->order + first, last - first, room);
}
