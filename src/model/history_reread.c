/* history_reread.c - see history.h: re-encodes all events after each append. With a bound, only the last ones are kept.
 */
#include "model/model_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reread {
    const struct model *model;
    const float *slab;
    size_t events, room;
    size_t bound;   /* most events kept; 0: all */
    uint32_t *type; /* (room) */
    double *time;
    float *gap;
    float *memory;       /* of the encoder, for `room` events */
    float *coefficients; /* (room x coefficients) */
};

static void close(void *history)
{
    struct reread *h = history;
    if (!h) return;
    free(h->type), free(h->time), free(h->gap), free(h->memory), free(h->coefficients);
    free(h);
}

static smurf_status open(void **out, const struct model *model, const float *slab, size_t bound, smurf_error *err)
{
    struct reread *h = calloc(1, sizeof *h);
    *out = h;
    if (!h) return smurf_fail_memory(err);
    h->model = model;
    h->slab = slab;
    h->bound = bound;
    return SMURF_OK;
}

static void clear(void *history)
{
    ((struct reread *)history)->events = 0;
}

/* Makes room for n events; keeps the present ones. */
static smurf_status make_room(struct reread *h, size_t n, smurf_error *err)
{
    if (n <= h->room) return SMURF_OK;
    size_t room = n > 2 * h->room ? n : 2 * h->room;
    uint32_t *type = realloc(h->type, room * sizeof *type);
    if (type) h->type = type;
    double *time = realloc(h->time, room * sizeof *time);
    if (time) h->time = time;
    float *gap = realloc(h->gap, room * sizeof *gap);
    if (gap) h->gap = gap;
    float *memory = malloc(h->model->class->encode_memory(h->model, room, 1) * sizeof *memory);
    float *coefficients = malloc(room * h->model->class->coefficients(h->model) * sizeof *coefficients);
    if (!type || !time || !gap || !memory || !coefficients) {
        free(memory), free(coefficients);
        return smurf_fail_memory(err);
    }
    free(h->memory), free(h->coefficients);
    h->memory = memory;
    h->coefficients = coefficients;
    h->room = room;
    return SMURF_OK;
}

static void read_again(struct reread *h, float *c)
{
    size_t own = h->model->class->coefficients(h->model), offset[2] = {0, h->events};
    const struct encoder_input input = {{1, offset, NULL}, h->events, h->type, h->time, h->gap, NULL, NULL};
    h->model->class->encode(&(struct op_run){.threads = 1}, h->model, h->slab, &input, h->memory, h->coefficients);
    memcpy(c, h->coefficients + (h->events - 1) * own, own * sizeof *c);
}

static void forget_first(struct reread *h)
{
    h->events--;
    memmove(h->type, h->type + 1, h->events * sizeof *h->type);
    memmove(h->time, h->time + 1, h->events * sizeof *h->time);
    memmove(h->gap, h->gap + 1, h->events * sizeof *h->gap);
}

/* Of n events, those that are kept. */
static size_t kept(const struct reread *h, size_t n)
{
    return h->bound && n > h->bound ? h->bound : n;
}

static smurf_status append(void *history, uint32_t type, double time, float gap, float *c, smurf_error *err)
{
    struct reread *h = history;
    smurf_status status = make_room(h, h->bound && h->events == h->bound ? h->bound : h->events + 1, err);
    if (status) return status;
    if (h->bound && h->events == h->bound) forget_first(h);
    h->type[h->events] = type;
    h->time[h->events] = time;
    h->gap[h->events++] = gap;
    read_again(h, c);
    return SMURF_OK;
}

static void take_over(struct reread *h, const uint32_t *type, const double *time, const float *gap, size_t n)
{
    memcpy(h->type, type, n * sizeof *type);
    memcpy(h->time, time, n * sizeof *time);
    memcpy(h->gap, gap, n * sizeof *gap);
    h->events = n;
}

static smurf_status fill(void *history, const uint32_t *type, const double *time, const float *gap, size_t n, float *c,
                         smurf_error *err)
{
    struct reread *h = history;
    size_t last = kept(h, n), skip = n - last;
    smurf_status status = make_room(h, last, err);
    if (status) return status;
    take_over(h, type + skip, time + skip, gap + skip, last);
    read_again(h, c);
    return SMURF_OK;
}

static smurf_status copy(void *to, const void *from, bool branch, smurf_error *err)
{
    struct reread *h = to;
    const struct reread *other = from;
    (void)branch;
    smurf_status status = make_room(h, other->events, err);
    if (!status && other->events) take_over(h, other->type, other->time, other->gap, other->events);
    h->events = status ? h->events : other->events;
    return status;
}

/* Packed: all times, then all gaps, then all types. */
enum { EVENT_BYTES = sizeof(double) + sizeof(float) + sizeof(uint32_t) };

static size_t pack(const void *history, void *out)
{
    const struct reread *h = history;
    if (out && h->events) {
        char *at = mempcpy(out, h->time, h->events * sizeof *h->time);
        at = mempcpy(at, h->gap, h->events * sizeof *h->gap);
        memcpy(at, h->type, h->events * sizeof *h->type);
    }
    return h->events * EVENT_BYTES;
}

static smurf_status unpack(void *history, const void *bytes, size_t n, size_t events, smurf_error *err)
{
    struct reread *h = history;
    const char *at = bytes;
    events = kept(h, events);
    if (n % EVENT_BYTES || n / EVENT_BYTES != events)
        return smurf_fail(err, SMURF_ERROR_INPUT, "%zu bytes are not %zu events", n, events);
    smurf_status status = make_room(h, events, err);
    if (status) return status;
    h->events = 0;
    memcpy(h->time, at, events * sizeof *h->time);
    memcpy(h->gap, at += events * sizeof *h->time, events * sizeof *h->gap);
    memcpy(h->type, at += events * sizeof *h->gap, events * sizeof *h->type);
    for (size_t i = 0; i < events; i++)
        if (h->type[i] > h->model->shape.types || !isfinite(h->time[i]))
            return smurf_fail(err, SMURF_ERROR_INPUT, "event %zu has an unknown type or no finite time", i);
    h->events = events;
    return SMURF_OK;
}

static size_t size(const void *history)
{
    const struct reread *h = history;
    const struct model_class *class = h->model->class;
    size_t encoded = h->room ? class->encode_memory(h->model, h->room, 1) * sizeof *h->memory : 0;
    size_t event = sizeof *h->type + sizeof *h->time + sizeof *h->gap;
    return sizeof *h + encoded + h->room * (event + class->coefficients(h->model) * sizeof *h->coefficients);
}

const struct history_class smurf_history_reread = {open, close, clear,  append, NULL, fill,
                                                   copy, pack,  unpack, NULL,   size};
