/* table.c - see table.h. */
#include "data/table.h"

#include "data/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More unreadable rows than this share are an error. */
#define UNREADABLE_MOST 0.05

static const struct field none = {"(none)", 6};

static smurf_status take_missing(struct table *t, const char *missing, smurf_error *err)
{
    if (!missing || strcmp(missing, "drop") == 0) return SMURF_OK;
    if (strcmp(missing, "keep") == 0)
        t->keep = true;
    else if (strcmp(missing, "fail") == 0)
        t->lenient = false;
    else
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "missing cells: choose drop, keep or fail, not '%.60s'", missing);
    return SMURF_OK;
}

smurf_status smurf_table_open(struct table *t, const struct choice *choice, const struct field *name,
                              const smurf_read_config *config, bool stream, smurf_error *err)
{
    *t = (struct table){.choice = *choice, .lenient = !stream, .calendar = -1};
    t->named = choice->column[COLUMN_SEQUENCE] >= 0;
    t->typed = choice->column[COLUMN_TYPE] >= 0;
    t->has_windows =
        choice->column[COLUMN_START] >= 0 || choice->column[COLUMN_END] >= 0 || choice->column[COLUMN_FIRST] >= 0;
    const smurf_reading *as = config->as;
    smurf_status status = take_missing(t, config->missing ? config->missing : as ? as->missing : NULL, err);
    for (size_t k = 0; k < choice->further && !status; k++) {
        const struct field *f = &name[choice->further_column[k]];
        status = smurf_further_add(&t->further, f->text, f->n, choice->further_is_word[k], err);
    }
    const char *zone = config->timezone ? config->timezone : as ? as->timezone : NULL;
    if (!status && choice->has_format) {
        status = smurf_time_reader_init(&t->reader, &choice->format, zone, err);
        t->has_reader = !status;
    }
    if (status) smurf_table_close(t);
    return status;
}

void smurf_table_close(struct table *t)
{
    if (t->has_reader) smurf_time_reader_release(&t->reader);
    t->has_reader = false;
    smurf_further_release(&t->further);
    free(t->joined);
    t->joined = NULL;
    t->joined_room = 0;
}

/* ---- Cells ------------------------------------------------------------------------------------- */

static const char *unit_of(int kind)
{
    static const char *const unit[] = {"seconds", "milliseconds", "microseconds", "nanoseconds"};
    return unit[kind - TIME_EPOCH_S];
}

static smurf_status fail_time(const struct table *t, const struct field *cell, smurf_error *err)
{
    struct decimal d;
    const char *format = t->reader.format.text;
    int calendar = strcmp(format, "number") != 0;
    smurf_status status = SMURF_OK;
    if (!calendar || strcmp(format, "iso") == 0 || !cell->n)
        status = smurf_column_time(&d, cell->text, cell->n, &calendar, err);
    if (!status && t->reader.format.kind >= TIME_EPOCH_S && t->reader.format.kind <= TIME_EPOCH_NS)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "time '%.*s' is not in the unit of the others, %s since 1970 (use one unit in a column)",
                          FIELD_SHOWN(*cell), unit_of(t->reader.format.kind));
    return status ? status
                  : smurf_fail(err, SMURF_ERROR_INPUT,
                               "time '%.*s' is not written as '%s', like the others (--time-format says how)",
                               FIELD_SHOWN(*cell), format);
}

static smurf_status read_time(struct table *t, struct time_reader *reader, const struct field *cell,
                              struct decimal *out, smurf_error *err)
{
    uint64_t mantissa;
    int places;
    if (!t->has_reader) return smurf_column_time(out, cell->text, cell->n, &t->calendar, err);
    if (reader->format.kind == TIME_PLAIN &&
        smurf_decimal_simple(cell->text, &mantissa, &places) == cell->text + cell->n) { /* the common case, quickly */
        *out = (struct decimal){
            .mantissa = mantissa, .exponent = -places, .integer = places == 0, .text = cell->text, .length = cell->n};
        t->calendar = 0;
        return SMURF_OK;
    }
    if (!smurf_time_read(reader, out, cell->text, cell->n)) return fail_time(t, cell, err);
    t->calendar = out->calendar;
    return SMURF_OK;
}

/* A count of events; 0 if the cell is empty. */
static smurf_status read_count(const struct field *f, enum column_role role, size_t *out, smurf_error *err)
{
    *out = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (f->text[i] < '0' || f->text[i] > '9' || i == 15)
            return smurf_fail(err, SMURF_ERROR_INPUT, "%s '%.*s' is not a whole number (leave it empty%s)",
                              smurf_column_usual(role, (char[COLUMN_USUAL]){0}), f->n < 40 ? (int)f->n : 40, f->text,
                              role == COLUMN_FIRST ? " to score all events" : " if there are none");
        *out = 10 * *out + (size_t)(f->text[i] - '0');
    }
    return SMURF_OK;
}

static smurf_status read_window(struct table *t, struct rows *rows, const struct event_cells *cells, smurf_error *err)
{
    const struct field *cell[2] = {&cells->start, &cells->end};
    struct decimal d[2], *found[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        struct time_reader reader = t->reader; /* what it remembers is about events */
        if (cell[i]->n == 0) continue;
        smurf_status status = read_time(t, &reader, cell[i], &d[i], err);
        if (status) return status;
        found[i] = &d[i];
    }
    size_t first, before;
    smurf_status status = read_count(&cells->first, COLUMN_FIRST, &first, err);
    if (!status) status = read_count(&cells->before, COLUMN_BEFORE, &before, err);
    return status ? status : smurf_rows_window(rows, found[0], found[1], first, before, err);
}

/* An empty cell: left out, kept (a type under a name of its own), or an error. */
static smurf_status fill_in(struct table *t, const struct field **cell, const char *what, enum table_fault fault,
                            smurf_error *err)
{
    if ((*cell)->n) return SMURF_OK;
    if (t->keep) {
        if (fault == TABLE_NO_TYPE) *cell = &none;
        return SMURF_OK;
    }
    t->last = fault;
    return smurf_fail(err, SMURF_ERROR_INPUT, "the %s is empty (fill it in or remove the event)", what);
}

smurf_status smurf_table_event(struct table *t, struct rows *rows, const struct event_cells *cells, smurf_error *err)
{
    static const struct field zero = {"0", 1};
    const struct field *sequence = t->named ? &cells->sequence : &zero, *type = t->typed ? &cells->type : &zero;
    struct decimal when;
    t->rows++;
    t->last = TABLE_UNREADABLE;
    smurf_status status = read_time(t, &t->reader, &cells->time, &when, err);
    if (status) return status;
    if (memchr(sequence->text, '\0', sequence->n) || memchr(type->text, '\0', type->n))
        return smurf_fail(err, SMURF_ERROR_INPUT, "a NUL byte in the %s (is the file damaged?)",
                          memchr(type->text, '\0', type->n) ? "type" : "name of the sequence");
    t->last = TABLE_FINE;
    status = fill_in(t, &type, "type", TABLE_NO_TYPE, err);
    if (!status) status = fill_in(t, &sequence, "name of the sequence", TABLE_NO_SEQUENCE, err);
    if (!status && !rows->builder->further.columns)
        status = smurf_further_copy(&rows->builder->further, &t->further, err);
    if (!status) status = smurf_rows_push(rows, sequence->text, sequence->n, &when, type->text, type->n, err);
    if (!status) status = smurf_further_cells(&t->cells, rows->builder, cells->further, err);
    if (!status && t->has_windows) status = read_window(t, rows, cells, err);
    return status;
}

/* ---- Faults ------------------------------------------------------------------------------------ */

smurf_status smurf_table_misfit(struct table *t, smurf_status status)
{
    t->rows++;
    t->last = TABLE_UNREADABLE;
    return status;
}

smurf_status smurf_table_pardon(struct table *t, smurf_status status, const char *cell, size_t n,
                                const smurf_error *err)
{
    if (!t->lenient || t->last == TABLE_FINE || status != SMURF_ERROR_INPUT) return status;
    size_t count = ++t->fault[t->last].rows;
    if (count == 1) t->fault[t->last].line = err->line;
    if (t->last == TABLE_UNREADABLE && count == 1) t->unreadable = *err;
    if (t->last == TABLE_UNREADABLE && count > 1 && count <= 3) {
        size_t used = strlen(t->more);
        snprintf(t->more + used, sizeof t->more - used, "%s'%.*s' on line %llu", count == 2 ? "; also " : ", ",
                 n < 40 ? (int)n : 40, cell, (unsigned long long)err->line);
    }
    return SMURF_OK;
}

static smurf_status fail_unreadable(const struct table *t, const char *source, smurf_error *err)
{
    size_t rows = t->fault[TABLE_UNREADABLE].rows;
    if (!err) return SMURF_ERROR_INPUT;
    *err = t->unreadable;
    size_t used = strlen(err->message);
    (void)source;
    if (rows > 1)
        snprintf(err->message + used, sizeof err->message - used, "%s; %zu of %zu rows cannot be read", t->more, rows,
                 t->rows);
    return SMURF_ERROR_INPUT;
}

static smurf_status remark(const struct table *t, struct builder *b, enum table_fault fault, const char *one,
                           const char *many, const char *hint, smurf_error *err)
{
    size_t rows = t->fault[fault].rows;
    if (!rows) return SMURF_OK;
    return smurf_builder_remark(b, err, "%zu of %zu rows %s and %s left out, first line %llu%s", rows, t->rows,
                                rows == 1 ? one : many, rows == 1 ? "was" : "were",
                                (unsigned long long)t->fault[fault].line, hint);
}

smurf_status smurf_table_finish(struct table *t, struct builder *b, const char *source, smurf_error *err)
{
    static const char empty[] = " (--missing keep keeps them, --missing fail refuses them)";
    size_t unreadable = t->fault[TABLE_UNREADABLE].rows, left = 0;
    for (int i = 0; i < TABLE_FAULTS; i++) left += t->fault[i].rows;
    if ((double)unreadable > UNREADABLE_MOST * (double)t->rows) return fail_unreadable(t, source, err);
    if (t->rows && t->fault[TABLE_HEADER].rows == t->rows)
        return smurf_fail_at(err, source, 0, "there are headers but no event below them (expected one row per event)");
    if (t->rows && left == t->rows)
        return smurf_fail_at(err, source, 0,
                             "every row has an empty type or sequence (name the columns with --type and "
                             "--sequence, or use --missing keep)");
    smurf_status status = remark(t, b, TABLE_NO_TYPE, "has no type", "have no type", empty, err);
    if (!status) status = remark(t, b, TABLE_NO_SEQUENCE, "names no sequence", "name no sequence", empty, err);
    if (!status) status = remark(t, b, TABLE_HEADER, "repeats the header", "repeat the header", "", err);
    if (!status)
        status = remark(t, b, TABLE_UNREADABLE, "cannot be read", "cannot be read", " (--strict shows why)", err);
    return status ? status : smurf_further_cells_finish(&t->cells, b, err);
}

smurf_status smurf_table_describe(const struct table *t, struct builder *b, const struct field *name,
                                  const char *format, char delimiter, const smurf_read_config *config, smurf_error *err)
{
    const struct choice *c = &t->choice;
    smurf_reading *r = &b->reading;
    const char **column[] = {&r->sequence_column, &r->time_column, &r->type_column};
    static const enum column_role role[] = {COLUMN_SEQUENCE, COLUMN_TIME, COLUMN_TYPE};
    const smurf_reading *as = config->as;
    smurf_reading reading = {.format = format,
                             .time_format = c->has_format ? c->format.text : NULL,
                             .timezone = config->timezone ? config->timezone
                                         : as             ? as->timezone
                                                          : NULL,
                             .missing = config->missing ? config->missing
                                        : as            ? as->missing
                                                        : NULL,
                             .text = c->text,
                             .delimiter = delimiter ? (const char[]){delimiter, '\0'} : NULL,
                             .guessed = c->guessed};
    smurf_status status = smurf_reading_copy(r, &reading, &b->text, err);
    if (!status && (c->further || (config->features && *config->features)) &&
        !(r->features = smurf_further_list(&t->further, &b->text)))
        status = smurf_fail_memory(err);
    if (!status && c->others[0] && !(r->others = smurf_arena_text(&b->text, c->others, strlen(c->others))))
        status = smurf_fail_memory(err);
    for (int i = 0; i < 3 && !status; i++)
        if (c->column[role[i]] >= 0 && !(*column[i] = smurf_choice_names(c, role[i], name, &b->text)))
            status = smurf_fail_memory(err);
    return status;
}
