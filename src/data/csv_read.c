/*
 * csv_read.c - tables: fields separated by comma, tab, semicolon, bar or blanks, usually with a header.
 *
 * csv_scan.h splits rows into fields, csv_open.c finds out what the columns are, table.h turns rows into events.
 */
#include "data/csv.h"
#include "data/csv_table.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

static const char *delimiter_name(const struct csv *csv)
{
    switch (csv->scan.delimiter) {
    case '\t': return "tab";
    case ';': return ";";
    case '|': return "|";
    case ' ': return "blank";
    default: return ",";
    }
}

static smurf_status wrong_count(struct csv *csv, size_t count)
{
    if (csv->scan.log)
        return smurf_table_misfit(&csv->table,
                                  smurf_fail(csv->scan.err, SMURF_ERROR_INPUT,
                                             "unlike the others, this is not a line of a %s", csv->scan.log->name));
    return smurf_table_misfit(
        &csv->table,
        smurf_fail(csv->scan.err, SMURF_ERROR_INPUT,
                   "%zu field%s, but the %s has %zu (put quotes around a field that holds a '%s')", count,
                   count == 1 ? "" : "s", csv->header ? "header" : "first line", csv->columns, delimiter_name(csv)));
}

static struct field cell_of(const struct csv *csv, enum column_role role)
{
    ptrdiff_t column = csv->table.choice.column[role];
    return column >= 0 ? csv->scan.field[column] : (struct field){"", 0};
}

static smurf_status gather(struct csv *csv, struct event_cells *cells)
{
    struct table *t = &csv->table;
    cells->sequence = cell_of(csv, COLUMN_SEQUENCE);
    cells->type = cell_of(csv, COLUMN_TYPE);
    if (t->has_windows) {
        cells->start = cell_of(csv, COLUMN_START);
        cells->end = cell_of(csv, COLUMN_END);
        cells->first = cell_of(csv, COLUMN_FIRST);
        cells->before = cell_of(csv, COLUMN_BEFORE);
    }
    for (size_t k = 0; k < t->choice.further; k++) cells->further[k] = csv->scan.field[t->choice.further_column[k]];
    cells->time = cell_of(csv, COLUMN_TIME);
    if (t->choice.parts == 1) return SMURF_OK;
    return smurf_choice_join(&t->choice, csv->scan.field, csv->columns, &t->joined, &t->joined_room, &cells->time,
                             csv->scan.err);
}

static smurf_status read_row(struct csv *csv, struct rows *rows, const char *p, const char *end)
{
    size_t count;
    struct event_cells cells;
    smurf_status status = smurf_csv_split(&csv->scan, p, end, &count);
    if (status) return status;
    if (count != csv->columns && !smurf_csv_fits(csv, count)) {
        cells.time = (struct field){p, (size_t)(end - p)};
        status = wrong_count(csv, count);
    } else {
        status = gather(csv, &cells);
        if (!status) status = smurf_table_event(&csv->table, rows, &cells, csv->scan.err);
    }
    if (!status) return SMURF_OK;
    if (csv->table.last == TABLE_UNREADABLE && smurf_csv_repeats_header(csv, count)) csv->table.last = TABLE_HEADER;
    status = smurf_source_blame(csv->scan.source, status, csv->scan.err);
    return smurf_table_pardon(&csv->table, status, cells.time.text, cells.time.n, csv->scan.err);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Reads up to `most` rows and stops at the first bad one. at_once: waits only for the first. */
static smurf_status read_rows(struct csv *csv, struct rows *rows, size_t most, bool at_once, size_t *records,
                              uint64_t *line)
{
    const char *p, *end;
    smurf_status status = SMURF_OK;
    *records = 0;
    while (*records < most && smurf_csv_next(&csv->scan, !at_once || *records == 0, &p, &end, &status)) {
        if (*records == 0) *line = csv->scan.source->line;
        if ((status = read_row(csv, rows, p, end))) break;
        ++*records;
    }
    return status;
}

static smurf_status finish_rows(struct csv *csv, struct rows *rows)
{
    rows->builder->calendar = csv->table.calendar == 1;
    smurf_status status = smurf_rows_finish(rows, csv->scan.err);
    return smurf_source_blame(csv->scan.source, status, csv->scan.err);
}

static smurf_status no_events(const struct csv *csv)
{
    return smurf_fail_at(csv->scan.err, csv->scan.source->name, 0,
                         "there is a header but no event below it (expected one row per event)");
}

static smurf_status read_table(struct source *source, struct builder *builder, const smurf_read_config *config,
                               const char *format, char delimiter, smurf_error *err)
{
    struct csv csv;
    struct rows rows;
    size_t records = 0;
    uint64_t line;
    smurf_error own = {0};
    if (!err) err = &own;
    smurf_status status = smurf_csv_open(&csv, source, builder, config, format, delimiter, err);
    if (status) return status;
    smurf_rows_init(&rows, builder, csv.table.named);
    status = read_rows(&csv, &rows, SIZE_MAX, false, &records, &line);
    if (!status && records == 0) status = no_events(&csv);
    if (!status) status = smurf_table_finish(&csv.table, builder, source->name, err);
    if (!status) status = finish_rows(&csv, &rows);
    smurf_rows_release(&rows);
    smurf_csv_close(&csv);
    return status;
}

static smurf_status read_csv(struct source *source, struct builder *builder, const smurf_read_config *config,
                             smurf_error *err)
{
    return read_table(source, builder, config, "csv", '\0', err);
}

static smurf_status read_tsv(struct source *source, struct builder *builder, const smurf_read_config *config,
                             smurf_error *err)
{
    return read_table(source, builder, config, "tsv", '\t', err);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static smurf_status open_stream(void **state, struct source *source, const smurf_read_config *config, char delimiter,
                                smurf_error *err)
{
    struct csv *csv = *state = malloc(sizeof *csv);
    if (!csv) return smurf_fail_memory(err);
    smurf_status status = smurf_csv_open(csv, source, NULL, config, NULL, delimiter, err);
    if (status) free(csv);
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
    csv->scan.err = err;
    if (csv->held.status) {
        *err = csv->held;
        csv->held.status = SMURF_OK;
        return err->status;
    }
    smurf_rows_init(&rows, builder, csv->table.named);
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
    smurf_csv_close(state);
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
                                              .stream = &stream_csv,
                                              .further = true};

/* Not detected by content: the CSV reader finds the tabs. */
const struct format_class smurf_format_tsv = {.name = "tsv",
                                              .title = "TSV",
                                              .suffix = ".tsv",
                                              .other_suffix = ".tab",
                                              .read = read_tsv,
                                              .write = smurf_tsv_write,
                                              .stream = &stream_tsv,
                                              .further = true};
