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
        if (f->columns) smurf_view_further(view, s, i, f->further + (at + i) * f->columns);
    }
}

/* Whether the end of observation censors a gap. */
static bool is_censored(const smurf_sequence *s, bool ends)
{
    return ends && s->length && s->end > s->time[s->length - 1];
}

/* Adds the scored gaps and, with `ends`, the one censored by the end of observation. */
static void add_targets(struct feed *f, const smurf_sequence *s, const struct view *view, bool ends, size_t at,
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
    if (is_censored(s, ends))
        f->target[at + n++] = (struct target){.row = s->length - 1,
                                              .gap = smurf_scale_forward(&view->scale, end - s->time[s->length - 1]),
                                              .limit = NAN,
                                              .censored = true,
                                              .id = id + s->length};
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

/* Lengths of all sequences. */
static smurf_status count(struct feed *f, const smurf_data *data, bool ends, smurf_error *err)
{
    f->offset = calloc(data->sequences + 1, sizeof *f->offset);
    f->target_offset = calloc(data->sequences + 1, sizeof *f->target_offset);
    f->order = calloc(data->sequences + 1, sizeof *f->order);
    f->base = malloc((data->sequences + 1) * sizeof *f->base);
    if (!f->offset || !f->target_offset || !f->order || !f->base) return smurf_fail_memory(err);
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *s = &data->sequence[i];
        size_t typed = s->length > s->first ? s->length - s->first : 0;
        size_t targets = typed + is_censored(s, ends);
        f->typed += typed;
        f->offset[i + 1] = f->offset[i] + s->length;
        f->target_offset[i + 1] = f->target_offset[i] + targets;
        if (targets) f->order[f->ordered++] = i;
    }
    f->targets = f->target_offset[data->sequences];
    return measure(f, err);
}

/* Gives the sequences that are held their places; *events and *targets: their numbers. */
static smurf_status find_places(struct feed *f, const struct feed_share *share, size_t *events, size_t *targets,
                                smurf_error *err)
{
    f->place = malloc((f->sequences + 1) * sizeof *f->place);
    f->target_place = malloc((f->sequences + 1) * sizeof *f->target_place);
    if (!f->place || !f->target_place) return smurf_fail_memory(err);
    *events = *targets = 0;
    for (size_t i = 0; i < f->sequences; i++) {
        bool held = share->holds(share->context, f, i);
        f->place[i] = held ? *events : SIZE_MAX;
        f->target_place[i] = *targets;
        if (held) *events += f->offset[i + 1] - f->offset[i], *targets += f->target_offset[i + 1] - f->target_offset[i];
    }
    return SMURF_OK;
}

static size_t place_of(const struct feed *f, size_t sequence)
{
    return f->place ? f->place[sequence] : f->offset[sequence];
}

static size_t target_place_of(const struct feed *f, size_t sequence)
{
    return f->place ? f->target_place[sequence] : f->target_offset[sequence];
}

/* Events and targets of the sequences that are held. */
static smurf_status hold(struct feed *f, const smurf_data *data, const struct view *view, bool ends,
                         const struct feed_share *share, smurf_error *err)
{
    size_t events = f->events, targets = f->targets;
    smurf_status status = share ? find_places(f, share, &events, &targets, err) : SMURF_OK;
    if (status) return status;
    f->type = malloc((events + 1) * sizeof *f->type);
    f->time = malloc((events + 1) * sizeof *f->time);
    f->gap = malloc((events + 1) * sizeof *f->gap);
    f->target = malloc((targets + 1) * sizeof *f->target);
    f->columns = smurf_view_columns(view);
    f->further = f->columns ? malloc((events + 1) * f->columns * sizeof *f->further) : NULL;
    if (f->columns && !f->further) return smurf_fail_memory(err);
    if (!f->type || !f->time || !f->gap || !f->target) return smurf_fail_memory(err);
    for (size_t i = 0; i < data->sequences; i++) {
        f->base[i] = smurf_view_base(view, &data->sequence[i]);
        if (place_of(f, i) == SIZE_MAX) continue;
        add_events(f, &data->sequence[i], view, place_of(f, i));
        add_targets(f, &data->sequence[i], view, ends, target_place_of(f, i), f->offset[i] + i);
    }
    return SMURF_OK;
}

smurf_status smurf_feed_init(struct feed *f, const smurf_data *data, const char *part, const struct view *view,
                             size_t batch, bool assumed, const struct feed_share *share, smurf_error *err)
{
    *f = (struct feed){.sequences = data->sequences, .events = data->events, .batch = batch};
    bool ends = assumed || !data->assumed;
    smurf_status status = count(f, data, ends, err);
    if (!status) status = hold(f, data, view, ends, share, err);
    if (!status && f->typed == 0)
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT,
                            "the %s part of '%s' has no gap to score: give it sequences of two events or more%s", part,
                            data->source, strcmp(part, "train") == 0 ? "" : ", or leave it out");
    if (status) smurf_feed_release(f);
    return status;
}

void smurf_feed_release(struct feed *f)
{
    free(f->offset), free(f->target_offset), free(f->order), free(f->place), free(f->target_place);
    free(f->base);
    free(f->type), free(f->time), free(f->gap), free(f->target), free(f->further);
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

smurf_status smurf_feed_room_init(struct feed_batch *room, size_t sequences, size_t events, size_t columns,
                                  smurf_error *err)
{
    size_t n = events + 1; /* a row has at most one target */
    *room = (struct feed_batch){.offset = malloc((sequences + 1) * sizeof *room->offset),
                                .id = malloc((sequences + 1) * sizeof *room->id),
                                .type = malloc(n * sizeof *room->type),
                                .time = malloc(n * sizeof *room->time),
                                .gap = malloc(n * sizeof *room->gap),
                                .base = malloc((sequences + 1) * sizeof *room->base),
                                .target = malloc(n * sizeof *room->target),
                                .further = columns ? malloc(n * columns * sizeof *room->further) : NULL};
    if ((!columns || room->further) && room->offset && room->id && room->type && room->time && room->gap &&
        room->base && room->target)
        return SMURF_OK;
    smurf_feed_batch_release(room);
    return smurf_fail_memory(err);
}

smurf_status smurf_feed_batch_init(struct feed_batch *room, const struct feed *f, smurf_error *err)
{
    return smurf_feed_room_init(room, f->batch < f->ordered ? f->batch : f->ordered, f->longest_batch_events,
                                f->columns, err);
}

void smurf_feed_batch_release(struct feed_batch *room)
{
    free(room->offset), free(room->id), free(room->type), free(room->time), free(room->gap), free(room->base),
        free(room->target);
    free(room->further);
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
        size_t s = sequence[i], n = f->offset[s + 1] - f->offset[s], from = place_of(f, s);
        size_t first = target_place_of(f, s), last = first + f->target_offset[s + 1] - f->target_offset[s];
        room->offset[i] = rows;
        room->id[i] = f->offset[s];
        room->base[i] = f->base ? f->base[s] : 0;
        memcpy(room->type + rows, f->type + from, n * sizeof *room->type);
        if (f->mask > 0 && f->epoch) mask_types(f, f->offset[s], n, room->type + rows);
        memcpy(room->time + rows, f->time + from, n * sizeof *room->time);
        memcpy(room->gap + rows, f->gap + from, n * sizeof *room->gap);
        if (f->columns)
            memcpy(room->further + rows * f->columns, f->further + from * f->columns,
                   n * f->columns * sizeof *room->further);
        for (size_t t = first; t < last; t++) {
            room->target[targets] = f->target[t];
            room->target[targets++].row += rows;
        }
        rows += n;
    }
    room->offset[m] = rows;
    return (struct batch){
        {{m, room->offset, room->id}, rows, room->type, room->time, room->gap, room->further, room->base},
        room->target,
        targets};
}

struct batch smurf_feed_fill(const struct feed *f, size_t index, const struct feed_batch *room)
{
    size_t first, last;
    smurf_feed_members(f, index, &first, &last);
    return smurf_feed_take(f, f->order + first, last - first, room);
}
