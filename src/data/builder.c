/* builder.c - see builder.h. */
#include "data/builder.h"

#include "data/encoding.h"
#include "data/number.h"
#include "data/reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void smurf_builder_release(struct builder *b)
{
    smurf_names_release(&b->vocabulary);
    if (!b->lent_time && !b->time_outside.p) free(b->time);
    if (!b->lent_type && !b->type_outside.p) free(b->type);
    if (b->release) b->release(b->release_context);
    smurf_spill_release(&b->time_outside);
    smurf_spill_release(&b->type_outside);
    smurf_further_release(&b->further);
    free(b->further_value);
    free(b->sequence);
    free(b->remark);
    smurf_arena_release(&b->text);
    *b = (struct builder){.name = b->name};
}

smurf_status smurf_builder_inherit_types(struct builder *b, const smurf_data *from, smurf_error *err)
{
    b->declared = from->types;
    b->words = b->inherited = from->type_name != NULL;
    for (uint32_t k = 0; from->type_name && k < from->types; k++)
        if (smurf_names_intern(&b->vocabulary, from->type_name[k], strlen(from->type_name[k])) != k)
            return smurf_fail_memory(err);
    return SMURF_OK;
}

smurf_status smurf_builder_inherit(struct builder *b, const smurf_data *from, smurf_error *err)
{
    b->name = from->source;
    b->calendar = from->calendar;
    b->observed = from->observed;
    b->assumed = from->assumed;
    b->observed_until = from->observed_until;
    b->unit = from->unit;
    b->outside = from->outside;
    smurf_status status = smurf_builder_inherit_types(b, from, err);
    if (!status) status = smurf_further_copy(&b->further, &from->further, err);
    for (size_t i = 0; from->remark && from->remark[i] && !status; i++)
        status = smurf_builder_remark(b, err, "%s", from->remark[i]);
    return status || !(from->reading.time_column || from->reading.timezone)
               ? status
               : smurf_reading_copy(&b->reading, &from->reading, &b->text, err);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static smurf_status grow_outside(struct spill *spill, void *array, size_t *room, size_t size, smurf_error *err)
{
    smurf_status status = smurf_spill_grow(spill, (*room + 1) * size, err);
    if (status) return status;
    memcpy(array, &spill->p, sizeof spill->p);
    *room = spill->bytes / size;
    return SMURF_OK;
}

static smurf_status grow_times(struct builder *b, smurf_error *err)
{
    if (b->outside) return grow_outside(&b->time_outside, &b->time, &b->time_room, sizeof *b->time, err);
    return smurf_grow(&b->time, &b->time_room, b->times + 1, sizeof *b->time) ? SMURF_OK : smurf_fail_memory(err);
}

static smurf_status grow_types(struct builder *b, smurf_error *err)
{
    if (b->outside) return grow_outside(&b->type_outside, &b->type, &b->type_room, sizeof *b->type, err);
    return smurf_grow(&b->type, &b->type_room, b->types + 1, sizeof *b->type) ? SMURF_OK : smurf_fail_memory(err);
}

smurf_status smurf_builder_time(struct builder *b, double time, smurf_error *err)
{
    smurf_status status = b->times == b->time_room ? grow_times(b, err) : SMURF_OK;
    if (status) return status;
    b->time[b->times++] = time;
    return SMURF_OK;
}

smurf_status smurf_builder_index(struct builder *b, uint32_t type, smurf_error *err)
{
    smurf_status status = b->types == b->type_room ? grow_types(b, err) : SMURF_OK;
    if (status) return status;
    b->type[b->types++] = type;
    if (type > b->type_max) b->type_max = type;
    return SMURF_OK;
}

smurf_status smurf_builder_events(struct builder *b, const double *time, const uint32_t *type, size_t n,
                                  smurf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        smurf_status status = smurf_builder_time(b, time[i], err);
        if (!status) status = smurf_builder_index(b, type[i], err);
        if (status) return status;
    }
    return SMURF_OK;
}

smurf_status smurf_builder_further(struct builder *b, const float *value, size_t n, smurf_error *err)
{
    size_t columns = b->further.columns, used = b->further_rows * columns;
    if (!columns || !n) return SMURF_OK;
    if (!smurf_grow(&b->further_value, &b->further_room, used + n * columns, sizeof *b->further_value))
        return smurf_fail_memory(err);
    for (size_t i = 0; i < n * columns; i++) b->further_value[used + i] = value ? value[i] : NAN;
    b->further_rows += n;
    return SMURF_OK;
}

/* Turns the numbers pushed so far into words: type 7 becomes "7". Only numbers that occur become words. */
static smurf_status numbers_to_words(struct builder *b, smurf_error *err)
{
    b->words = true;
    b->declared = 0;
    if (b->types == 0) return SMURF_OK;
    uint32_t *word = malloc(((size_t)b->type_max + 1) * sizeof *word);
    if (!word) return smurf_fail_memory(err);
    for (size_t k = 0; k <= b->type_max; k++) word[k] = NAMES_FULL;
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < b->types && !status; i++) {
        uint32_t *w = &word[b->type[i]];
        char text[16];
        if (*w == NAMES_FULL)
            *w = smurf_names_intern(&b->vocabulary, text, (size_t)snprintf(text, sizeof text, "%u", b->type[i]));
        if (*w == NAMES_FULL) status = smurf_fail_memory(err);
        b->type[i] = *w;
    }
    free(word);
    return status;
}

smurf_status smurf_builder_word(struct builder *b, const char *text, size_t n, uint32_t *number, smurf_error *err)
{
    if (!b->words) {
        if (b->numbers_only)
            return smurf_fail(err, SMURF_ERROR_INPUT,
                              "type '%.*s' is a word, but the types of train are numbers (use --types words)",
                              n < 60 ? (int)n : 60, text);
        smurf_status status = numbers_to_words(b, err);
        if (status) return status;
    }
    if (memchr(text, '\0', n))
        return smurf_fail(err, SMURF_ERROR_INPUT, "a NUL byte in the type '%s' (is the file damaged?)", text);
    *number = smurf_names_intern_utf8(&b->vocabulary, text, n, &b->decoded);
    if (*number == NAMES_FULL) return smurf_fail_memory(err);
    if (*number >= TYPE_LIMIT)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "more than %d different types (is the type column the right one? --type NAME)", TYPE_LIMIT);
    return SMURF_OK;
}

smurf_status smurf_builder_type_word(struct builder *b, const char *text, size_t n, smurf_error *err)
{
    uint32_t number = 0;
    smurf_status status = smurf_builder_word(b, text, n, &number, err);
    return status ? status : smurf_builder_index(b, number, err);
}

smurf_status smurf_builder_type(struct builder *b, int64_t type, smurf_error *err)
{
    if (b->inherited) {
        if (type < 0 || type >= b->vocabulary.count)
            return smurf_fail(err, SMURF_ERROR_INPUT,
                              "type %lld is out of range: there are %u named types, so they are 0 to %u",
                              (long long)type, b->vocabulary.count, b->vocabulary.count - 1);
        return smurf_builder_index(b, (uint32_t)type, err);
    }
    if (b->words) {
        char text[24];
        return smurf_builder_type_word(b, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)type), err);
    }
    if (type < 0 || type >= TYPE_LIMIT)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "type %lld is out of range: types are numbered 0 to %d (use --types words if they are names)",
                          (long long)type, TYPE_LIMIT - 1);
    return smurf_builder_index(b, (uint32_t)type, err);
}

/* A plain number without sign or leading zeros, below 10^9; -1 if it is not one. */
static int64_t small_number(const char *text, size_t n)
{
    if (n == 0 || n > 9 || (n > 1 && text[0] == '0')) return -1;
    int64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

smurf_status smurf_builder_type_text(struct builder *b, const char *text, size_t n, smurf_error *err)
{
    if (!b->words) {
        int64_t number = small_number(text, n);
        if (number >= 0) return smurf_builder_type(b, number, err);
        struct decimal d; /* "-1", "3.0", "7000000000": numbers, but not types */
        char copy[32];
        if (n < sizeof copy) {
            memcpy(copy, text, n);
            copy[n] = '\0';
            if (smurf_decimal_scan(&d, copy) == copy + n) {
                double value = smurf_decimal_value(&d);
                if (value >= 0 && value < TYPE_LIMIT && value == floor(value))
                    return smurf_builder_type(b, (int64_t)value, err);
                return smurf_fail(
                    err, SMURF_ERROR_INPUT,
                    "type %s is out of range: types are numbered 0 to %d (use --types words if they are names)", copy,
                    TYPE_LIMIT - 1);
            }
        }
    }
    return smurf_builder_type_word(b, text, n, err);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

struct event {
    double time;
    uint32_t type;
    size_t place;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Brings rows of further columns into the order of the events. */
static bool sort_further(float *row, size_t columns, const struct event *event, size_t n)
{
    if (!columns) return true;
    float *old = malloc(n * columns * sizeof *old);
    if (!old) return false;
    memcpy(old, row, n * columns * sizeof *old);
    for (size_t i = 0; i < n; i++) memcpy(row + i * columns, old + event[i].place * columns, columns * sizeof *old);
    free(old);
    return true;
}

/* Sorts the n events in time and type, and the rows of their columns; stable for equal times. */
static smurf_status sort_events(double *time, uint32_t *type, float *row, size_t columns, size_t n, smurf_error *err)
{
    struct event *event = malloc(n * sizeof *event);
    if (!event) return smurf_fail_memory(err);
    for (size_t i = 0; i < n; i++) event[i] = (struct event){time[i], type[i], i};
    qsort(event, n, sizeof *event, by_time);
    bool sorted = sort_further(row, columns, event, n);
    for (size_t i = 0; i < n; i++) time[i] = event[i].time, type[i] = event[i].type;
    free(event);
    return sorted ? SMURF_OK : smurf_fail_memory(err);
}

/* The rows of the sequence that is open; NULL where there are no further columns. */
static float *rows_of(const struct builder *b)
{
    return b->further.columns ? b->further_value + b->closed * b->further.columns : NULL;
}

static smurf_status check_order(struct builder *b, double *time, uint32_t *type, size_t n, int64_t origin,
                                smurf_error *err)
{
    size_t wrong = 0;
    double latest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(time[i])) return smurf_fail(err, SMURF_ERROR_INPUT, "event %zu: time is not finite", i + 1);
        if (time[i] >= latest) {
            latest = time[i];
        } else if (wrong++ == 0 && !b->sort) {
            char now[NUMBER_TEXT], before[NUMBER_TEXT];
            int a = (int)smurf_number_write_time(now, origin, time[i]);
            int c = (int)smurf_number_write_time(before, origin, time[i - 1]);
            return smurf_fail(
                err, SMURF_ERROR_INPUT,
                "event %zu: time %.*s is before the previous event %.*s (--strict and streams do not sort)", i + 1, a,
                now, c, before);
        }
    }
    b->sorted += wrong;
    return wrong ? sort_events(time, type, rows_of(b), b->further.columns, n, err) : SMURF_OK;
}

static void reverse_rows(float *row, size_t columns, size_t n)
{
    for (size_t i = 0; i < n / 2; i++)
        for (size_t k = 0; k < columns; k++) {
            float *a = &row[i * columns + k], *b = &row[(n - 1 - i) * columns + k], swap = *a;
            *a = *b;
            *b = swap;
        }
}

static void reverse(double *time, uint32_t *type, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        double t = time[i];
        uint32_t k = type[i];
        time[i] = time[n - 1 - i], type[i] = type[n - 1 - i];
        time[n - 1 - i] = t, type[n - 1 - i] = k;
    }
}

smurf_status smurf_builder_close(struct builder *b, const struct sequence_info *info, smurf_error *err)
{
    if (b->times != b->types)
        return smurf_fail(err, SMURF_ERROR_INPUT, "%zu times but %zu types: both must have one entry per event",
                          b->times - b->closed, b->types - b->closed);
    size_t n = b->times - b->closed;
    double *time = b->time ? b->time + b->closed : NULL;
    uint32_t *type = b->type ? b->type + b->closed : NULL;
    if (b->further_rows < b->times) { /* columns that nobody filled in are missing */
        smurf_status status = smurf_builder_further(b, NULL, b->times - b->further_rows, err);
        if (status) return status;
    }
    if (b->newest_first) {
        reverse(time, type, n);
        reverse_rows(rows_of(b), b->further.columns, n);
    }
    smurf_status status = check_order(b, time, type, n, info->origin, err);
    if (status) return status;

    if (n && info->start > time[0])
        return smurf_fail(err, SMURF_ERROR_INPUT, "the start of observation is after the first event");
    if (n && info->end < time[n - 1])
        return smurf_fail(err, SMURF_ERROR_INPUT, "the end of observation is before the last event");
    if (info->end < info->start)
        return smurf_fail(err, SMURF_ERROR_INPUT, "the end of observation is before its start");
    if (isinf(info->start) || isinf(info->end))
        return smurf_fail(err, SMURF_ERROR_INPUT, "the observation window is not finite");

    if (!smurf_grow(&b->sequence, &b->sequence_room, b->sequences + 1, sizeof *b->sequence))
        return smurf_fail_memory(err);
    const char *name = NULL;
    if (info->name && !(name = smurf_arena_text(&b->text, info->name, strlen(info->name))))
        return smurf_fail_memory(err);
    size_t first = info->first > 1 ? info->first : 1;
    b->sequence[b->sequences++] = (smurf_sequence){.length = n,
                                                   .first = first < n ? first : n,
                                                   .origin = info->origin,
                                                   .start = info->start,
                                                   .end = info->end,
                                                   .name = name,
                                                   .before = info->before};
    b->closed = b->times;
    return SMURF_OK;
}

smurf_status smurf_builder_remark(struct builder *b, smurf_error *err, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    if (!smurf_grow(&b->remark, &b->remark_room, b->remarks + 2, sizeof *b->remark)) return smurf_fail_memory(err);
    const char *copy = smurf_arena_text(&b->text, text, length);
    if (!copy) return smurf_fail_memory(err);
    b->remark[b->remarks++] = copy;
    b->remark[b->remarks] = NULL;
    return SMURF_OK;
}

/* ---- The data set ---------------------------------------------------------------------------- */

static smurf_status check_types(const struct builder *b, uint32_t *types, smurf_error *err)
{
    if (b->words) {
        *types = b->vocabulary.count;
        return SMURF_OK;
    }
    uint32_t used = b->types ? b->type_max + 1 : 0;
    if (b->declared && used > b->declared)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "type %u is out of range: the number of types is given as %u, so they are 0 to %u",
                          b->type_max, b->declared, b->declared - 1);
    *types = b->declared ? b->declared : used;
    return SMURF_OK;
}

static const char *keep(smurf_data *data, const char *text)
{
    return smurf_arena_text(&data->text, text ? text : "", text ? strlen(text) : 0);
}

/* Copies what is not moved: source, unit, type names. */
static bool copy_texts(const struct builder *b, smurf_data *data)
{
    data->source = keep(data, b->name);
    data->unit = keep(data, b->unit);
    if (!data->source || !data->unit) return false;
    if (!b->words || b->vocabulary.count == 0) return true;
    data->type_name = malloc(b->vocabulary.count * sizeof *data->type_name);
    if (!data->type_name) return false;
    for (uint32_t k = 0; k < b->vocabulary.count; k++)
        if (!(data->type_name[k] = keep(data, b->vocabulary.name[k]))) return false;
    return true;
}

/* Gives back excess capacity. */
static void *fit(void *array, size_t n, size_t size)
{
    void *moved = n ? realloc(array, n * size) : NULL;
    return moved ? moved : array;
}

smurf_status smurf_builder_finish(struct builder *b, smurf_data **out, smurf_error *err)
{
    *out = NULL;
    uint32_t types = 0;
    smurf_status status = check_types(b, &types, err);
    if (!status && b->sorted)
        status = smurf_builder_remark(b, err, "%zu event%s out of order and %s been sorted", b->sorted,
                                      b->sorted == 1 ? " was" : "s were", b->sorted == 1 ? "has" : "have");
    if (!status && b->decoded)
        status = smurf_builder_remark(b, err, "some names are not UTF-8 and have been read as Windows-1252");
    if (status) return status;

    smurf_data *data = calloc(1, sizeof *data);
    if (!data) return smurf_fail_memory(err);
    data->text = b->text;
    b->text = (struct arena){0};
    if (!copy_texts(b, data)) {
        smurf_data_free(data);
        return smurf_fail_memory(err);
    }
    if (!b->lent_time && !b->time_outside.p) b->time = data->own_time = fit(b->time, b->closed, sizeof *b->time);
    if (!b->lent_type && !b->type_outside.p) b->type = data->own_type = fit(b->type, b->closed, sizeof *b->type);
    data->time_outside = b->time_outside;
    data->type_outside = b->type_outside;
    data->outside = b->outside;
    b->time_outside = b->type_outside = (struct spill){0};
    data->time = b->time;
    data->type = b->type;
    data->events = b->closed;
    data->sequence = fit(b->sequence, b->sequences, sizeof *b->sequence);
    data->sequences = b->sequences;
    data->types = types;
    data->calendar = b->calendar;
    data->observed = b->observed;
    data->assumed = b->assumed;
    data->observed_until = b->observed_until;
    data->remark = b->remark;
    data->reading = b->reading;
    if (b->further.columns) {
        data->further = b->further;
        data->further_value = fit(b->further_value, b->closed * b->further.columns, sizeof *b->further_value);
        b->further = (struct further){0};
        b->further_value = NULL;
    }
    data->release = b->release;
    data->release_context = b->release_context;
    b->release = NULL;
    size_t at = 0;
    for (size_t i = 0; i < data->sequences; i++) {
        data->sequence[i].time = data->time ? data->time + at : NULL;
        data->sequence[i].type = data->type ? data->type + at : NULL;
        at += data->sequence[i].length;
    }
    smurf_data_place_further(data);
    b->time = NULL, b->type = NULL, b->sequence = NULL, b->remark = NULL;
    smurf_builder_release(b);
    *out = data;
    return SMURF_OK;
}
