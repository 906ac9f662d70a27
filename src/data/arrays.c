/*
 * arrays.c - a data set from the caller's arrays (smurf_data_from_arrays).
 *
 * Rows with ids are grouped by a counting sort. Then every sequence is checked event by event and pushed into the
 * builder; arrays that are lent and need no change are used in place.
 */
#include "base/sized.h"
#include "data/builder.h"
#include "data/number.h"
#include "data/time_zone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    smurf_arrays a; /* offset: filled in for ids and for a single sequence */
    size_t *offset; /* owned; NULL: the caller's */
    size_t *order;  /* owned: (events) grouped by sequence; NULL: input order */
    struct names ids;
    bool lend;
};

void smurf_arrays_init_sized(smurf_arrays *arrays, size_t size)
{
    static const smurf_arrays none;
    smurf_sized_init(arrays, size, &none, sizeof none);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

static smurf_status check_offsets(const smurf_arrays *a, smurf_error *err)
{
    if (a->offset[0] != 0) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "offset[0] is %zu: it must be 0", a->offset[0]);
    for (size_t s = 0; s < a->sequences; s++)
        if (a->offset[s + 1] < a->offset[s])
            return smurf_fail(err, SMURF_ERROR_ARGUMENT, "offset[%zu] is %zu, less than the %zu before it", s + 1,
                              a->offset[s + 1], a->offset[s]);
    if (a->offset[a->sequences] != a->events)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "offset[%zu] is %zu, but there are %zu events: the last offset must be their number",
                          a->sequences, a->offset[a->sequences], a->events);
    return SMURF_OK;
}

/* Numbers the ids in order of appearance: of[i] is the sequence of event i, offset[s + 1] counts the events of s. */
static smurf_status number_ids(struct input *in, uint32_t *of, smurf_error *err)
{
    size_t room = 0;
    for (size_t i = 0; i < in->a.events; i++) {
        const int64_t *id = &in->a.sequence[i];
        of[i] = i && *id == id[-1] ? of[i - 1] : smurf_names_intern(&in->ids, (const char *)id, sizeof *id);
        if (of[i] == NAMES_FULL || !smurf_grow(&in->offset, &room, in->ids.count + 1, sizeof *in->offset))
            return smurf_fail_memory(err);
        if (in->ids.count > in->a.sequences) {
            in->a.sequences = in->ids.count;
            in->offset[of[i] + 1] = 0;
        }
        in->offset[of[i] + 1]++;
    }
    return SMURF_OK;
}

static smurf_status group(struct input *in, smurf_error *err)
{
    size_t events = in->a.events, expected = in->a.sequences;
    uint32_t *of = malloc((events + 1) * sizeof *of);
    size_t *place = NULL;
    in->a.sequences = 0;
    in->order = malloc((events + 1) * sizeof *in->order);
    smurf_status status = of && in->order ? number_ids(in, of, err) : smurf_fail_memory(err);
    if (!status && expected && expected != in->a.sequences)
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT, "there are %zu different ids, but sequences is %zu",
                            in->a.sequences, expected);
    if (!status && !(place = malloc((in->a.sequences + 1) * sizeof *place))) status = smurf_fail_memory(err);
    if (!status && events) {
        in->offset[0] = 0;
        for (size_t s = 0; s < in->a.sequences; s++) in->offset[s + 1] += place[s] = in->offset[s];
        for (size_t i = 0; i < events; i++) in->order[place[of[i]]++] = i;
        in->a.offset = in->offset;
    }
    free(place);
    free(of);
    return status;
}

static smurf_status find_sequences(struct input *in, smurf_error *err)
{
    smurf_arrays *a = &in->a;
    if (a->offset && a->sequence)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "both offset and sequence are set: use one of them");
    if (a->offset) return a->sequences ? check_offsets(a, err) : SMURF_OK;
    if (a->sequence) return group(in, err);
    if (a->sequences > 1)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%zu sequences need offset or sequence", a->sequences);
    if (!a->sequences) a->sequences = a->events > 0;
    in->offset = malloc(2 * sizeof *in->offset);
    if (!in->offset) return smurf_fail_memory(err);
    in->offset[0] = 0;
    in->offset[1] = a->events;
    a->offset = in->offset;
    return SMURF_OK;
}

/* ---- Times ----------------------------------------------------------------------------------- */

/* A time on the user's clock: ticks as an exact decimal, or a double. */
struct stamp {
    bool exact;
    struct decimal ticks;
    double time;
};

/* False if missing. */
static bool stamp_at(struct stamp *out, const smurf_arrays *a, const double *time, const int64_t *ticks, size_t i)
{
    *out = (struct stamp){.exact = ticks != NULL};
    if (ticks) {
        bool negative = ticks[i] < 0;
        out->ticks = (struct decimal){.mantissa = negative ? -(uint64_t)ticks[i] : (uint64_t)ticks[i],
                                      .exponent = -a->places,
                                      .negative = negative};
        return ticks[i] != INT64_MIN;
    }
    out->time = time[i];
    return !isnan(out->time);
}

/* Same rule as smurf_decimal_origin. */
static bool origin_of(const struct stamp *stamp, int64_t *origin)
{
    if (stamp->exact) return smurf_decimal_origin(&stamp->ticks, origin);
    double whole = floor(stamp->time);
    *origin = 0;
    if (!(fabs(whole) < 0x1p63)) return false;
    if (whole >= 0x1p20 || whole < -0x1p20) *origin = (int64_t)whole;
    return true;
}

static bool offset_of(const struct stamp *stamp, int64_t origin, double *out)
{
    if (stamp->exact) return smurf_decimal_offset(&stamp->ticks, origin, out);
    *out = stamp->time - (double)origin;
    return fabs(*out) < 0x1p53;
}

/* The time of one event relative to its sequence's origin, which the first event sets. */
static smurf_status time_of(const smurf_arrays *a, size_t event, bool first, int64_t *origin, double *out,
                            smurf_error *err)
{
    struct stamp stamp;
    if (!stamp_at(&stamp, a, a->time, a->ticks, event))
        return smurf_fail(err, SMURF_ERROR_INPUT, "the time is missing (remove the event)");
    if (!stamp.exact && isinf(stamp.time)) return smurf_fail(err, SMURF_ERROR_INPUT, "the time is not finite");
    if (first && !origin_of(&stamp, origin))
        return smurf_fail(err, SMURF_ERROR_INPUT, "time %g is beyond 2^63 (use a coarser unit)", stamp.time);
    if (!offset_of(&stamp, *origin, out))
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "the time is 2^53 or more away from its origin %lld: a double would lose steps of the clock "
                          "(use a coarser unit)",
                          (long long)*origin);
    return SMURF_OK;
}

static smurf_status out_of_order(int64_t origin, double time, double latest, smurf_error *err)
{
    char now[NUMBER_TEXT], before[NUMBER_TEXT];
    int n = (int)smurf_number_write_time(now, origin, time), m = (int)smurf_number_write_time(before, origin, latest);
    return smurf_fail(err, SMURF_ERROR_INPUT, "time %.*s is before the previous event %.*s (use sort)", n, now, m,
                      before);
}

/* ---- Sequences into the builder -------------------------------------------------------------- */

static smurf_status take_type(const smurf_arrays *a, struct builder *b, uint32_t type, smurf_error *err)
{
    if (a->types && type >= a->types)
        return smurf_fail(err, SMURF_ERROR_INPUT, "type %u is out of range: there are %u, so they are 0 to %u", type,
                          a->types, a->types - 1);
    if (type >= TYPE_LIMIT)
        return smurf_fail(err, SMURF_ERROR_INPUT, "type %u is out of range: types are numbered 0 to %d", type,
                          TYPE_LIMIT - 1);
    if (type > b->type_max) b->type_max = type;
    return SMURF_OK;
}

/* Checks the events of a sequence and copies them unless they are lent. */
static smurf_status take_events(const struct input *in, struct builder *b, size_t s, int64_t *origin, smurf_error *err)
{
    const smurf_arrays *a = &in->a;
    double latest = -INFINITY, time = 0;
    for (size_t k = a->offset[s]; k < a->offset[s + 1]; k++) {
        size_t event = in->order ? in->order[k] : k;
        uint32_t type = a->type ? a->type[event] : 0;
        smurf_status status = time_of(a, event, k == a->offset[s], origin, &time, err);
        if (!status && !a->sort && time < latest) status = out_of_order(*origin, time, latest, err);
        if (!status) status = take_type(a, b, type, err);
        if (status) return smurf_error_prefix(err, status, "event %zu of sequence %zu: ", k - a->offset[s], s);
        latest = time;
        if (!b->lent_time) b->time[k] = time;
        if (!b->lent_type) b->type[k] = type;
    }
    b->times = b->types = a->offset[s + 1];
    return SMURF_OK;
}

static smurf_status take_window(const smurf_arrays *a, size_t s, struct sequence_info *info, smurf_error *err)
{
    const double *const time[2] = {a->start, a->end};
    const int64_t *const ticks[2] = {a->start_ticks, a->end_ticks};
    double *const out[2] = {&info->start, &info->end};
    for (int i = 0; i < 2; i++) {
        struct stamp stamp;
        if ((!time[i] && !ticks[i]) || !stamp_at(&stamp, a, time[i], ticks[i], s)) continue;
        if (!offset_of(&stamp, info->origin, out[i]))
            return smurf_fail(err, SMURF_ERROR_INPUT, "the observation window is too far from the events");
    }
    return SMURF_OK;
}

static const char *name_of(const struct input *in, size_t s, char text[24])
{
    if (in->a.sequence_name) return in->a.sequence_name[s];
    if (!in->a.sequence) return NULL;
    int64_t id;
    memcpy(&id, in->ids.name[s], sizeof id);
    snprintf(text, 24, "%lld", (long long)id);
    return text;
}

static smurf_status take_sequence(const struct input *in, struct builder *b, size_t s, smurf_error *err)
{
    char text[24];
    struct sequence_info info = {.start = NAN, .end = NAN, .name = name_of(in, s, text)};
    if (in->a.first) info.first = in->a.first[s];
    smurf_status status = take_events(in, b, s, &info.origin, err);
    if (status) return status;
    status = take_window(&in->a, s, &info, err);
    if (!status) status = smurf_builder_close(b, &info, err);
    return smurf_error_prefix(err, status, "sequence %zu: ", s);
}

/* ---- The data set ---------------------------------------------------------------------------- */

static smurf_status check_arrays(const smurf_arrays *a, smurf_error *err)
{
    if (a->events && !a->time == !a->ticks)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          a->time ? "both time and ticks are set: use one of them"
                                  : "time or ticks must be set: there are events");
    if (a->places < 0 || a->places > 18)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "places is %d: it must be 0 to 18", a->places);
    if ((a->start && a->start_ticks) || (a->end && a->end_ticks))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "start and end are given twice: as numbers and as ticks");
    if (a->is_calendar && a->unit && strcmp(a->unit, "s") != 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "times of a calendar count seconds: the unit cannot be '%.60s'",
                          a->unit);
    bool per_sequence = a->sequence_name || a->start || a->end || a->start_ticks || a->end_ticks || a->first;
    if (a->sequence && per_sequence && !a->sequences)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "names, windows and first need the number of sequences");
    if (a->type_name && !a->types) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "type_name needs the number of types");
    if (a->types > TYPE_LIMIT)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "types is %u: at most %d are allowed", a->types, TYPE_LIMIT);
    return SMURF_OK;
}

static smurf_status take_type_names(const smurf_arrays *a, struct builder *b, smurf_error *err)
{
    b->declared = a->types;
    b->words = b->inherited = a->type_name != NULL;
    for (uint32_t k = 0; a->type_name && k < a->types; k++) {
        if (!a->type_name[k]) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "type_name[%u] is NULL", k);
        uint32_t number = smurf_names_intern(&b->vocabulary, a->type_name[k], strlen(a->type_name[k]));
        if (number == NAMES_FULL) return smurf_fail_memory(err);
        if (number != k)
            return smurf_fail(err, SMURF_ERROR_ARGUMENT, "types %u and %u are both called '%.100s'", number, k,
                              a->type_name[k]);
    }
    return SMURF_OK;
}

/* Can the arrays be used in place? Their contents are checked later. */
static bool can_lend(const struct input *in)
{
    const smurf_arrays *a = &in->a;
    if (!a->release || !a->time || !a->events || in->order) return false;
    for (size_t s = 0; s < a->sequences; s++) {
        if (a->offset[s] == a->offset[s + 1]) continue;
        double first = floor(a->time[a->offset[s]]);
        if (!(first >= -0x1p20 && first < 0x1p20)) return false;
        for (size_t k = a->offset[s] + 1; a->sort && k < a->offset[s + 1]; k++)
            if (a->time[k] < a->time[k - 1]) return false;
    }
    return true;
}

/* The builder does not write to lent arrays. */
static void *borrow(const void *array)
{
    union {
        const void *in;
        void *out;
    } p = {.in = array};
    return p.out;
}

static smurf_status make_room(struct input *in, struct builder *b, smurf_error *err)
{
    const smurf_arrays *a = &in->a;
    in->lend = can_lend(in);
    b->lent_time = in->lend;
    b->lent_type = in->lend && a->type;
    if (b->lent_time) b->time = borrow(a->time);
    if (b->lent_type) b->type = borrow(a->type);
    if ((!b->lent_time && !smurf_grow(&b->time, &b->time_room, a->events, sizeof *b->time)) ||
        (!b->lent_type && !smurf_grow(&b->type, &b->type_room, a->events, sizeof *b->type)))
        return smurf_fail_memory(err);
    return SMURF_OK;
}

static smurf_status take_zone(const smurf_arrays *a, struct builder *b, smurf_error *err)
{
    struct time_zone *zone;
    if (!a->timezone) return SMURF_OK;
    smurf_status status = smurf_time_zone_open(&zone, a->timezone, err);
    if (status) return status;
    smurf_time_zone_free(zone);
    b->reading.timezone = smurf_arena_text(&b->text, a->timezone, strlen(a->timezone));
    return b->reading.timezone ? SMURF_OK : smurf_fail_memory(err);
}

static smurf_status make(smurf_data **out, struct input *in, struct builder *b, smurf_error *err)
{
    const smurf_arrays *a = &in->a;
    smurf_status status = check_arrays(a, err);
    if (!status) status = find_sequences(in, err);
    if (!status && a->sequences == 0) status = smurf_fail(err, SMURF_ERROR_INPUT, "there are no sequences in it");
    if (!status) status = take_type_names(a, b, err);
    if (!status) status = take_zone(a, b, err);
    if (!status) status = make_room(in, b, err);
    for (size_t s = 0; s < a->sequences && !status; s++) status = take_sequence(in, b, s, err);
    return status ? status : smurf_builder_finish(b, out, err);
}

smurf_status smurf_data_from_arrays(smurf_data **out, const smurf_arrays *given, smurf_error *err)
{
    struct input in = {0};
    *out = NULL;
    smurf_status status = smurf_sized_take(&in.a, sizeof in.a, given, "smurf_arrays", err);
    if (status) return status;
    struct builder b = {.name = in.a.name ? in.a.name : "arrays",
                        .sort = in.a.sort,
                        .calendar = in.a.is_calendar,
                        .unit = in.a.unit          ? in.a.unit
                                : in.a.is_calendar ? "s"
                                                   : NULL};
    status = make(out, &in, &b, err);
    if (!status && in.lend) {
        (*out)->release = in.a.release;
        (*out)->release_context = in.a.release_context;
    } else if (in.a.release) {
        in.a.release(in.a.release_context);
    }
    smurf_builder_release(&b);
    smurf_names_release(&in.ids);
    free(in.offset);
    free(in.order);
    return status;
}
