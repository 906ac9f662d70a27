/*
 * csv_read.c - tables with a header; fields separated by comma, tab, semicolon or bar.
 *
 * Accepts RFC 4180 quoting ("" inside quotes, line breaks inside quotes), CRLF or LF, a byte order mark and empty
 * lines. One row per event; rows.h turns rows into sequences, columns.h finds the columns.
 */
#include "data/columns.h"
#include "data/csv.h"
#include "data/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
    const char *text;
    size_t n;
};

struct csv {
    struct source *source;
    const smurf_read_config *config;
    smurf_error *err;
    char delimiter;
    struct field *field; /* (columns) of the current row */
    size_t columns, field_room;
    size_t lines;                 /* physical lines of the current record */
    size_t searched;              /* bytes of it already searched for its end */
    bool inside;                  /* whether those bytes end inside quotes */
    ptrdiff_t role[COLUMN_ROLES]; /* column of each role, -1: none */
    char *unquoted;               /* room for unquoted copies */
    size_t unquoted_room;
    int calendar;
    size_t records;   /* of a stream: rows and errors so far */
    smurf_error held; /* of a stream: a bad record that follows the ones handed over; status 0: none */
};

/* ---- Records --------------------------------------------------------------------------------- */

static bool is_delimiter(const struct csv *csv, char c)
{
    return csv->delimiter ? c == csv->delimiter : c == ',' || c == '\t' || c == ';' || c == '|';
}

/* A quote opens a field only at its start, ignoring blanks; elsewhere it is ordinary text (5" pipe). */
static bool opens_field(const struct csv *csv, const char *begin, const char *quote)
{
    while (quote > begin && quote[-1] == ' ') quote--;
    return quote == begin || is_delimiter(csv, quote[-1]);
}

/* Finds the end of the record: the first newline outside quotes. NULL if the window ends first; the next search resumes
   there, so a long record is searched only once. */
static const char *record_end(struct csv *csv, const char *begin, const char *end, bool last)
{
    const char *p = begin + csv->searched, *newline = NULL;
    while (p < end) {
        if (csv->inside) {
            for (; p < end && *p != '"'; p++) csv->lines += *p == '\n';
            if (p == end || (p + 1 == end && !last)) break;
            if (p + 1 < end && p[1] == '"') {
                p += 2;
                continue;
            }
            csv->inside = false;
            p++;
        }
        if (!newline || newline < p) newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) newline = end;
        const char *quote = memchr(p, '"', (size_t)(newline - p));
        if (!quote) {
            if (newline < end) return newline;
            p = end;
            break;
        }
        csv->inside = opens_field(csv, begin, quote);
        p = quote + 1;
    }
    csv->searched = (size_t)(p - begin);
    return NULL;
}

/* The next search starts at the source's position. */
static bool give_up(struct csv *csv)
{
    csv->lines = csv->searched = 0;
    csv->inside = false;
    return false;
}

/* The next non-empty record, without its line end. False at the end of input, on failure or, unless it may wait, if the
   record is incomplete. */
static bool next_record(struct csv *csv, bool wait, const char **begin, const char **end, smurf_status *status)
{
    struct source *source = csv->source;
    for (;;) {
        const char *newline;
        source->line += csv->lines;
        csv->lines = 1;
        csv->searched = 0;
        csv->inside = false;
        while (!(newline = record_end(csv, source->p, source->end, source->eof)) && !source->eof) {
            size_t unread = (size_t)(source->end - source->p);
            if (!wait) return give_up(csv);
            if (unread > SOURCE_LINE_LIMIT) {
                *status =
                    smurf_source_fail(source, csv->err, "line is longer than 1 GiB (is a closing quote missing?)");
                source->p = source->end;
                return give_up(csv);
            }
            if ((*status = smurf_source_fill(source, unread + 1, csv->err))) return give_up(csv);
        }
        if (source->p == source->end) return give_up(csv);
        *begin = source->p;
        *end = newline ? newline : source->end;
        source->p = newline ? newline + 1 : source->end;
        while (*end > *begin && ((*end)[-1] == '\r' || (*end)[-1] == ' ')) --*end;
        const char *p = *begin;
        while (p < *end && (*p == ' ' || (*p == '\t' && csv->delimiter != '\t'))) p++;
        if (p < *end) return true;
    }
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static smurf_status add_field(struct csv *csv, size_t i, const char *text, size_t n)
{
    if (!smurf_grow(&csv->field, &csv->field_room, i + 1, sizeof *csv->field)) return smurf_fail_memory(csv->err);
    csv->field[i] = (struct field){text, n};
    return SMURF_OK;
}

/* Unquotes a field into *out; p is after the opening quote. Returns the position after the closing quote. */
static const char *unquote(const char *p, const char *end, char **out)
{
    for (; p < end; p++) {
        if (*p == '"') {
            if (p + 1 == end || p[1] != '"') return p + 1;
            p++;
        }
        *(*out)++ = *p;
    }
    return NULL;
}

/* Splits a record that contains quotes. Each unquoted copy is NUL-terminated. */
static smurf_status split_quoted(struct csv *csv, const char *p, const char *end, size_t *count)
{
    size_t need = 2 * (size_t)(end - p) + 2;
    if (!smurf_grow(&csv->unquoted, &csv->unquoted_room, need, 1)) return smurf_fail_memory(csv->err);
    char *out = csv->unquoted;
    for (size_t i = 0;; i++) {
        char *copy = out;
        while (p < end && *p == ' ') p++;
        if (p < end && *p == '"') {
            if (!(p = unquote(p + 1, end, &out)))
                return smurf_source_fail(csv->source, csv->err,
                                         "a quote is opened in field %zu but not closed (close it, or write it "
                                         "twice)",
                                         i + 1);
            while (p < end && *p == ' ') p++;
            if (p < end && *p != csv->delimiter)
                return smurf_source_fail(csv->source, csv->err,
                                         "text follows the closing quote of field %zu (write quotes inside "
                                         "quotes twice)",
                                         i + 1);
        } else {
            while (p < end && *p != csv->delimiter) *out++ = *p++;
            while (out > copy && out[-1] == ' ') out--;
        }
        smurf_status status = add_field(csv, i, copy, (size_t)(out - copy));
        if (status) return status;
        *out++ = '\0';
        *count = i + 1;
        if (p >= end) return SMURF_OK;
        p++;
    }
}

/* Splits [p, end) into csv->field. Fields point into the window (or into `unquoted`), with surrounding blanks
   trimmed. */
static smurf_status split(struct csv *csv, const char *p, const char *end, size_t *count)
{
    if (memchr(p, '"', (size_t)(end - p))) return split_quoted(csv, p, end, count);
    const char delimiter = csv->delimiter;
    for (size_t i = 0;; i++) {
        while (p < end && *p == ' ') p++;
        const char *text = p;
        while (p < end && *p != delimiter) p++;
        size_t n = (size_t)(p - text);
        while (n && text[n - 1] == ' ') n--;
        if (i < csv->field_room) {
            csv->field[i] = (struct field){text, n};
        } else {
            smurf_status status = add_field(csv, i, text, n);
            if (status) return status;
        }
        *count = i + 1;
        if (p >= end) return SMURF_OK;
        p++;
    }
}

/* ---- Header ---------------------------------------------------------------------------------- */

static char guess_delimiter(const char *p, const char *end)
{
    static const char candidate[] = {'\t', ',', ';', '|'};
    for (size_t i = 0; i < sizeof candidate; i++)
        if (memchr(p, candidate[i], (size_t)(end - p))) return candidate[i];
    return ',';
}

/* A header names its columns: a field that parses as a number means there is no header. */
static smurf_status check_is_header(struct csv *csv)
{
    for (size_t i = 0; i < csv->columns; i++) {
        struct decimal d;
        const struct field *f = &csv->field[i];
        if (f->n && smurf_decimal_scan_time(&d, f->text, f->n))
            return smurf_source_fail(csv->source, csv->err,
                                     "no header: the first line must name the columns, such as 'sequence,time,type', "
                                     "but has '%.*s'",
                                     f->n < 40 ? (int)f->n : 40, f->text);
    }
    return SMURF_OK;
}

static smurf_status missing_column(const struct csv *csv, const char *wanted)
{
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < csv->columns && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i ? ", " : "",
                                 csv->field[i].n < 60 ? (int)csv->field[i].n : 60, csv->field[i].text);
    return smurf_source_fail(csv->source, csv->err, "there is no column '%s' in the header (it has %s%s)", wanted, list,
                             used < sizeof list ? "" : "...");
}

static smurf_status find_columns(struct csv *csv)
{
    for (int role = 0; role < COLUMN_ROLES; role++) {
        int best = -1;
        csv->role[role] = -1;
        for (size_t i = 0; i < csv->columns; i++) {
            int rank = smurf_column_rank((enum column_role)role, csv->field[i].text, csv->field[i].n, csv->config);
            if (rank >= 0 && rank == best)
                return smurf_source_fail(csv->source, csv->err, "two columns are called '%.*s' (rename one)",
                                         csv->field[i].n < 60 ? (int)csv->field[i].n : 60, csv->field[i].text);
            if (rank >= 0 && (best < 0 || rank < best)) best = rank, csv->role[role] = (ptrdiff_t)i;
        }
        const char *wanted = smurf_column_wanted((enum column_role)role, csv->config);
        if (csv->role[role] < 0 && wanted) return missing_column(csv, wanted);
    }
    if (csv->role[COLUMN_TIME] < 0)
        return smurf_source_fail(csv->source, csv->err,
                                 "no column of times in the header (name it with --time NAME; known names are %s)",
                                 smurf_column_usual(COLUMN_TIME, (char[COLUMN_USUAL]){0}));
    return SMURF_OK;
}

static smurf_status read_header(struct csv *csv)
{
    const char *p, *end;
    smurf_status status = SMURF_OK;
    if (!next_record(csv, true, &p, &end, &status))
        return status ? status
                      : smurf_fail_at(csv->err, csv->source->name, 0, "the file is empty: there are no events in it");
    if (memchr(p, '\r', (size_t)(end - p)) && !memchr(p, '"', (size_t)(end - p)))
        return smurf_source_fail(csv->source, csv->err,
                                 "lines end in a carriage return alone (convert them to line feeds)");
    if (!csv->delimiter) csv->delimiter = guess_delimiter(p, end);
    if ((status = split(csv, p, end, &csv->columns))) return status;
    if ((status = check_is_header(csv))) return status;
    return find_columns(csv);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A count of events; 0 if the column is absent or the field empty. */
static smurf_status read_count(const struct csv *csv, enum column_role role, size_t *out)
{
    *out = 0;
    if (csv->role[role] < 0) return SMURF_OK;
    const struct field *f = &csv->field[csv->role[role]];
    for (size_t i = 0; i < f->n; i++) {
        if (f->text[i] < '0' || f->text[i] > '9' || i == 15)
            return smurf_fail(csv->err, SMURF_ERROR_INPUT, "%s '%.*s' is not a whole number (leave it empty%s)",
                              smurf_column_usual(role, (char[COLUMN_USUAL]){0}), f->n < 40 ? (int)f->n : 40, f->text,
                              role == COLUMN_FIRST ? " to score all events" : " if there are none");
        *out = 10 * *out + (size_t)(f->text[i] - '0');
    }
    return SMURF_OK;
}

static smurf_status read_window(struct csv *csv, struct rows *rows)
{
    struct decimal d[2], *found[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        ptrdiff_t column = csv->role[COLUMN_START + i];
        if (column < 0 || csv->field[column].n == 0) continue;
        smurf_status status =
            smurf_column_time(&d[i], csv->field[column].text, csv->field[column].n, &csv->calendar, csv->err);
        if (status) return status;
        found[i] = &d[i];
    }
    size_t first, before;
    smurf_status status = read_count(csv, COLUMN_FIRST, &first);
    if (!status) status = read_count(csv, COLUMN_BEFORE, &before);
    return status ? status : smurf_rows_window(rows, found[0], found[1], first, before, csv->err);
}

static const char *delimiter_name(const struct csv *csv)
{
    return csv->delimiter == '\t' ? "tab" : csv->delimiter == ';' ? ";" : csv->delimiter == '|' ? "|" : ",";
}

static smurf_status read_row(struct csv *csv, struct rows *rows, const char *p, const char *end)
{
    size_t count;
    smurf_status status = split(csv, p, end, &count);
    if (status) return status;
    if (count != csv->columns)
        return smurf_source_fail(csv->source, csv->err,
                                 "%zu field%s, but the header has %zu (put quotes around a field that "
                                 "holds a '%s')",
                                 count, count == 1 ? "" : "s", csv->columns, delimiter_name(csv));

    static const struct field none = {"0", 1};
    const struct field *time = &csv->field[csv->role[COLUMN_TIME]];
    const struct field *sequence = rows->named ? &csv->field[csv->role[COLUMN_SEQUENCE]] : &none;
    const struct field *type = csv->role[COLUMN_TYPE] >= 0 ? &csv->field[csv->role[COLUMN_TYPE]] : &none;
    struct decimal when;
    status = smurf_column_time(&when, time->text, time->n, &csv->calendar, csv->err);
    if (!status && type->n == 0)
        status = smurf_fail(csv->err, SMURF_ERROR_INPUT, "the type is empty (fill it in or remove the event)");
    if (!status) status = smurf_rows_push(rows, sequence->text, sequence->n, &when, type->text, type->n, csv->err);
    if (!status && (csv->role[COLUMN_START] >= 0 || csv->role[COLUMN_END] >= 0 || csv->role[COLUMN_FIRST] >= 0 ||
                    csv->role[COLUMN_BEFORE] >= 0))
        status = read_window(csv, rows);
    return smurf_source_blame(csv->source, status, csv->err);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static smurf_status open_table(struct csv *csv, struct source *source, const smurf_read_config *config, char delimiter,
                               smurf_error *err)
{
    *csv = (struct csv){.source = source, .config = config, .err = err, .delimiter = delimiter, .calendar = -1};
    smurf_status status = smurf_source_fill(source, 3, err);
    if (!status && source->end - source->p >= 3 && memcmp(source->p, "\xEF\xBB\xBF", 3) == 0) source->p += 3;
    return status ? status : read_header(csv);
}

static void close_table(struct csv *csv)
{
    free(csv->field);
    free(csv->unquoted);
}

/* Reads up to `most` rows and stops at the first bad one. at_once: waits only for the first. */
static smurf_status read_rows(struct csv *csv, struct rows *rows, size_t most, bool at_once, size_t *records,
                              uint64_t *line)
{
    const char *p, *end;
    smurf_status status = SMURF_OK;
    *records = 0;
    while (*records < most && next_record(csv, !at_once || *records == 0, &p, &end, &status)) {
        if (*records == 0) *line = csv->source->line;
        if ((status = read_row(csv, rows, p, end))) break;
        ++*records;
    }
    return status;
}

static smurf_status finish_rows(struct csv *csv, struct rows *rows)
{
    rows->builder->calendar = csv->calendar == 1;
    smurf_status status = smurf_rows_finish(rows, csv->err);
    return smurf_source_blame(csv->source, status, csv->err);
}

static smurf_status no_events(const struct csv *csv)
{
    return smurf_fail_at(csv->err, csv->source->name, 0,
                         "there is a header but no event below it (expected one row per event)");
}

static smurf_status read_table(struct source *source, struct builder *builder, const smurf_read_config *config,
                               char delimiter, smurf_error *err)
{
    struct csv csv;
    struct rows rows = {0};
    size_t records = 0;
    uint64_t line;
    smurf_status status = open_table(&csv, source, config, delimiter, err);
    if (!status) {
        smurf_rows_init(&rows, builder, csv.role[COLUMN_SEQUENCE] >= 0);
        status = read_rows(&csv, &rows, SIZE_MAX, false, &records, &line);
    }
    if (!status && records == 0) status = no_events(&csv);
    if (!status) status = finish_rows(&csv, &rows);
    smurf_rows_release(&rows);
    close_table(&csv);
    return status;
}

static smurf_status read_csv(struct source *source, struct builder *builder, const smurf_read_config *config,
                             smurf_error *err)
{
    return read_table(source, builder, config, '\0', err);
}

static smurf_status read_tsv(struct source *source, struct builder *builder, const smurf_read_config *config,
                             smurf_error *err)
{
    return read_table(source, builder, config, '\t', err);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static smurf_status open_stream(void **state, struct source *source, const smurf_read_config *config, char delimiter,
                                smurf_error *err)
{
    struct csv *csv = *state = malloc(sizeof *csv);
    if (!csv) return smurf_fail_memory(err);
    smurf_status status = open_table(csv, source, config, delimiter, err);
    if (!status) return SMURF_OK;
    close_table(csv);
    free(csv);
    return status;
}

static smurf_status open_csv(void **state, struct source *source, const smurf_read_config *config, smurf_error *err)
{
    return open_stream(state, source, config, '\0', err);
}

static smurf_status open_tsv(void **state, struct source *source, const smurf_read_config *config, smurf_error *err)
{
    return open_stream(state, source, config, '\t', err);
}

static smurf_status read_stream(void *state, struct builder *builder, size_t most, size_t *records, uint64_t *line,
                                bool *whole, smurf_error *err)
{
    struct csv *csv = state;
    struct rows rows;
    *records = 0;
    *whole = false;
    csv->err = err;
    if (csv->held.status) {
        *err = csv->held;
        csv->held.status = SMURF_OK;
        return err->status;
    }
    smurf_rows_init(&rows, builder, csv->role[COLUMN_SEQUENCE] >= 0);
    smurf_status status = read_rows(csv, &rows, most, true, records, line);
    if (status == SMURF_ERROR_INPUT && *records) { /* hand over the rows before it first */
        csv->held = *err;
        smurf_rows_drop(&rows, *records);
        status = SMURF_OK;
    }
    if (!status && *records) status = finish_rows(csv, &rows);
    if (!status && !*records && !csv->records++) status = no_events(csv);
    csv->records += *records + (status != SMURF_OK);
    smurf_rows_release(&rows);
    return status;
}

static void close_stream(void *state)
{
    close_table(state);
    free(state);
}

static const struct format_stream stream_csv = {open_csv, read_stream, close_stream};
static const struct format_stream stream_tsv = {open_tsv, read_stream, close_stream};

/* Accepts any text: the other formats are tested first. */
static bool looks(const char *head, size_t n)
{
    return n > 0 && !memchr(head, '\0', n);
}

const struct format_class smurf_format_csv = {.name = "csv",
                                              .title = "CSV",
                                              .suffix = ".csv",
                                              .looks = looks,
                                              .read = read_csv,
                                              .write = smurf_csv_write,
                                              .stream = &stream_csv};

/* Not detected by content: the CSV reader finds the tabs. */
const struct format_class smurf_format_tsv = {.name = "tsv",
                                              .title = "TSV",
                                              .suffix = ".tsv",
                                              .other_suffix = ".tab",
                                              .read = read_tsv,
                                              .write = smurf_tsv_write,
                                              .stream = &stream_tsv};
