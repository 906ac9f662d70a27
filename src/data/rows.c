/* rows.c - see rows.h. */
#include "data/rows.h"

#include "data/encoding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void smurf_rows_init(struct rows *rows, struct builder *builder, bool named)
{
    *rows = (struct rows){.builder = builder, .named = named, .current = NAMES_FULL};
}

void smurf_rows_release(struct rows *rows)
{
    smurf_names_release(&rows->names);
    free(rows->sequence);
    free(rows->of);
    *rows = (struct rows){0};
}

/* The number of the row's sequence, usually that of the previous row. */
static uint32_t find_sequence(struct rows *rows, const char *name, size_t n)
{
    if (!rows->named) name = "", n = 0;
    uint32_t current = rows->current;
    if (current != NAMES_FULL && rows->names.length[current] == n && memcmp(rows->names.name[current], name, n) == 0)
        return current;
    return smurf_names_intern_utf8(&rows->names, name, n, &rows->builder->decoded);
}

static smurf_status add_sequence(struct rows *rows, const struct decimal *time, smurf_error *err)
{
    if (!smurf_grow(&rows->sequence, &rows->sequence_room, rows->sequences + 1, sizeof *rows->sequence))
        return smurf_fail_memory(err);
    struct sequence_info info = {.start = NAN, .end = NAN};
    if (!smurf_decimal_origin(time, &info.origin))
        return smurf_fail(err, SMURF_ERROR_INPUT, "time %.*s is beyond 2^63 (use a coarser unit)", (int)time->length,
                          time->text);
    rows->sequence[rows->sequences++] = (struct row_sequence){.info = info, .last = -INFINITY, .previous = NAN};
    return SMURF_OK;
}

/* Rows are no longer grouped: from now on every event records its sequence. */
static smurf_status start_grouping(struct rows *rows, smurf_error *err)
{
    size_t events = rows->builder->times;
    if (!smurf_grow(&rows->of, &rows->of_room, events + 1, sizeof *rows->of)) return smurf_fail_memory(err);
    size_t at = 0;
    for (size_t s = 0; s < rows->sequences; s++)
        for (size_t i = 0; i < rows->sequence[s].count; i++) rows->of[at++] = (uint32_t)s;
    return SMURF_OK;
}

/* Is it written as a date, not as a number since 1970? */
static bool is_date(const struct decimal *time)
{
    for (size_t i = 0; i < time->length; i++)
        if (!strchr("0123456789.", time->text[i])) return time->calendar;
    return false;
}

static smurf_status check_time(struct rows *rows, struct row_sequence *sequence, const struct decimal *time,
                               double *offset, smurf_error *err)
{
    if (!smurf_decimal_offset(time, sequence->info.origin, offset))
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "time %.*s is too far from its origin %lld (2^53 or more, or beyond 2^63): a double would "
                          "lose steps of the clock (use a coarser unit)",
                          (int)time->length, time->text, (long long)sequence->info.origin);
    if (*offset < sequence->last) {
        if (!rows->builder->sort) {
            char before[NUMBER_TEXT];
            size_t (*write)(char[NUMBER_TEXT], int64_t, double) =
                is_date(time) ? smurf_number_write_calendar : smurf_number_write_time;
            int n = (int)write(before, sequence->info.origin, sequence->last);
            return smurf_fail(err, SMURF_ERROR_INPUT,
                              "time %.*s is before the previous event %.*s%s (--strict and streams do not sort)",
                              (int)time->length, time->text, n, before, rows->named ? " of its sequence" : "");
        }
    } else {
        sequence->last = *offset;
    }
    rows->rises += *offset > sequence->previous;
    rows->falls += *offset < sequence->previous;
    sequence->previous = *offset;
    return SMURF_OK;
}

smurf_status smurf_rows_push(struct rows *rows, const char *name, size_t n, const struct decimal *time,
                             const char *type, size_t type_n, smurf_error *err)
{
    uint32_t s = find_sequence(rows, name, n);
    if (s == NAMES_FULL) return smurf_fail_memory(err);
    smurf_status status = SMURF_OK;
    if (s == rows->sequences && rows->named && memchr(name, '\0', n))
        status = smurf_fail(err, SMURF_ERROR_INPUT, "a NUL byte in the name '%s' of a sequence (is the file damaged?)",
                            name);
    else if (s == rows->sequences)
        status = add_sequence(rows, time, err);
    else if (s != rows->current && !rows->of)
        status = start_grouping(rows, err);
    if (status) return status;
    rows->current = s;

    double offset = 0;
    struct row_sequence *sequence = &rows->sequence[s];
    status = check_time(rows, sequence, time, &offset, err);
    if (!status) status = smurf_builder_type_text(rows->builder, type, type_n, err);
    if (!status) status = smurf_builder_time(rows->builder, offset, err);
    if (status) return status;
    sequence->count++;
    if (rows->of) {
        size_t events = rows->builder->times;
        if (!smurf_grow(&rows->of, &rows->of_room, events, sizeof *rows->of)) return smurf_fail_memory(err);
        rows->of[events - 1] = s;
    }
    return SMURF_OK;
}

smurf_status smurf_rows_window(struct rows *rows, const struct decimal *start, const struct decimal *end, size_t first,
                               size_t before, smurf_error *err)
{
    struct sequence_info info = rows->sequence[rows->current].info;
    if ((start && !smurf_decimal_offset(start, info.origin, &info.start)) ||
        (end && !smurf_decimal_offset(end, info.origin, &info.end)))
        return smurf_fail(err, SMURF_ERROR_INPUT, "the observation window is too far from the events");
    double time = rows->builder->time[rows->builder->times - 1];
    if (info.start > time || info.end < time)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "the event lies outside its window, before observation_start or after "
                          "observation_end");
    if (first) info.first = first;
    if (before) info.before = before;
    rows->sequence[rows->current].info = info;
    return SMURF_OK;
}

void smurf_rows_drop(struct rows *rows, size_t events)
{
    struct builder *b = rows->builder;
    if (b->times > events) rows->sequence[rows->current].count--;
    b->times = b->types = events;
    if (b->further_rows > events) b->further_rows = events;
    if (rows->sequences && rows->sequence[rows->sequences - 1].count == 0) rows->sequences--;
}

/* Counting sort of one array by sequence; `place` holds the next position of each sequence. */
static void scatter_times(const struct rows *rows, double *out, size_t *place)
{
    for (size_t i = 0; i < rows->builder->times; i++) out[place[rows->of[i]]++] = rows->builder->time[i];
}

static void scatter_types(const struct rows *rows, uint32_t *out, size_t *place)
{
    for (size_t i = 0; i < rows->builder->times; i++) out[place[rows->of[i]]++] = rows->builder->type[i];
}

static void scatter_further(const struct rows *rows, float *out, size_t *place)
{
    const struct builder *b = rows->builder;
    size_t columns = b->further.columns;
    for (size_t i = 0; i < b->times; i++)
        memcpy(out + place[rows->of[i]]++ * columns, b->further_value + i * columns, columns * sizeof *out);
}

static void first_places(const struct rows *rows, size_t *place)
{
    size_t at = 0;
    for (size_t s = 0; s < rows->sequences; s++) {
        place[s] = at;
        at += rows->sequence[s].count;
    }
}

/* The same for the rows of further columns. */
static smurf_status group_further(struct rows *rows, size_t *place, smurf_error *err)
{
    struct builder *b = rows->builder;
    size_t n = b->times * b->further.columns;
    if (!n) return SMURF_OK;
    float *value = malloc(n * sizeof *value);
    if (!value) return smurf_fail_memory(err);
    first_places(rows, place);
    scatter_further(rows, value, place);
    free(b->further_value);
    b->further_value = value;
    b->further_room = n;
    return SMURF_OK;
}

/* One array at a time, so that at most one copy of the larger is held. */
static smurf_status group(struct rows *rows, smurf_error *err)
{
    struct builder *b = rows->builder;
    size_t *place = malloc(rows->sequences * sizeof *place);
    double *time = malloc(b->times * sizeof *time);
    if (!place || !time) {
        free(place);
        free(time);
        return smurf_fail_memory(err);
    }
    first_places(rows, place);
    scatter_times(rows, time, place);
    free(b->time);
    b->time = time;
    b->time_room = b->times;

    uint32_t *type = malloc(b->times * sizeof *type);
    if (type) {
        first_places(rows, place);
        scatter_types(rows, type, place);
        free(b->type);
        b->type = type;
        b->type_room = b->types;
    }
    smurf_status status = type ? group_further(rows, place, err) : smurf_fail_memory(err);
    free(place);
    return status;
}

smurf_status smurf_rows_finish(struct rows *rows, smurf_error *err)
{
    struct builder *b = rows->builder;
    if (rows->of) {
        smurf_status status = group(rows, err);
        if (status) return status;
        free(rows->of);
        rows->of = NULL;
    }
    b->newest_first = rows->falls > 1 && rows->falls > 9 * rows->rises;
    size_t times = b->times;
    b->times = b->types = 0;
    for (size_t s = 0; s < rows->sequences; s++) {
        struct row_sequence *sequence = &rows->sequence[s];
        b->times = b->types = b->closed + sequence->count;
        sequence->info.name = rows->named ? rows->names.name[s] : NULL;
        smurf_status status = smurf_builder_close(b, &sequence->info, err);
        if (rows->named) smurf_error_prefix(err, status, "sequence '%.100s': ", rows->names.name[s]);
        if (status) return status;
    }
    b->times = b->types = times;
    if (!b->newest_first) return SMURF_OK;
    b->newest_first = false;
    return smurf_builder_remark(b, err, "events are newest first and have been reversed");
}
