/* csv_open.c - see csv_table.h. Looks at a sample of the rows to find delimiter, header and columns. */
#include "data/csv_table.h"

#include "data/csv_sample.h"
#include "data/encoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static smurf_status see_row(void *to, const struct field *cell, size_t n, smurf_error *err)
{
    return smurf_sniff_row(to, cell, n, err);
}

/* ---- Header ------------------------------------------------------------------------------------ */

/* Is the first line's cell a value like those below it? */
static bool is_value(const struct field *f, const struct sniff_column *seen)
{
    struct decimal d;
    struct time_format format;
    struct time_reader reader;
    char note[TIME_NOTE];
    if (!f->n) return false;
    if (smurf_decimal_scan_time(&d, f->text, f->n)) return true;
    if (!seen || seen->no_time || smurf_time_guess_best(&seen->time, &format, note) < 0.5) return false;
    if (smurf_time_reader_init(&reader, &format, NULL, NULL)) return false;
    bool read = smurf_time_read(&reader, &d, f->text, f->n);
    smurf_time_reader_release(&reader);
    return read;
}

/* Does the column hold numbers or times? */
static bool holds_values(const struct sniff_column *seen)
{
    struct time_format format;
    char note[TIME_NOTE];
    if (10 * seen->numbers >= 9 * seen->cells) return seen->cells > 0;
    return !seen->no_time && smurf_time_guess_best(&seen->time, &format, note) >= 0.9;
}

/* A first line that has values where the rows below have values names no columns. */
static bool finds_header(const struct field *first, size_t columns, const struct sniff *sniff)
{
    size_t values = 0, alike = 0;
    for (size_t i = 0; i < columns; i++) {
        const struct sniff_column *seen = i < sniff->columns && sniff->rows ? &sniff->column[i] : NULL;
        if (seen && !holds_values(seen)) continue;
        bool value = is_value(&first[i], seen);
        if (!value && seen && smurf_column_strength(COLUMN_TIME, first[i].text, first[i].n) >= COLUMN_NAMED)
            return true;
        values += seen || value;
        alike += value;
    }
    return 2 * alike <= values;
}

/* ---- Names ------------------------------------------------------------------------------------- */

static smurf_status name_columns(struct csv *csv, smurf_error *err)
{
    for (size_t i = 0; i < csv->columns; i++) {
        char number[24];
        const char *given = csv->scan.log ? csv->scan.log->column[i] : NULL;
        struct field name = given ? (struct field){given, strlen(given)} : csv->heading[i];
        if (!csv->header) name = (struct field){number, (size_t)snprintf(number, sizeof number, "%zu", i + 1)};
        char *text = smurf_arena_alloc(&csv->text, 3 * name.n + 1);
        if (!text) return smurf_fail_memory(err);
        if (smurf_text_is_utf8(name.text, name.n))
            memcpy(text, name.text, name.n);
        else
            name.n = smurf_text_decode(text, name.text, name.n);
        text[name.n] = '\0';
        csv->name[i] = (struct field){text, name.n};
    }
    return SMURF_OK;
}

bool smurf_csv_repeats_header(const struct csv *csv, size_t count)
{
    return csv->header && !csv->scan.log && count == csv->columns &&
           smurf_csv_is_repeated(csv->heading, csv->scan.field, count);
}

bool smurf_csv_fits(const struct csv *csv, size_t count)
{
    if (count == csv->columns) return true;
    for (size_t i = csv->columns; i < count; i++)
        if (csv->scan.field[i].n) return false;
    for (size_t i = count; i < csv->columns; i++) {
        if (!csv->header || csv->name[i].n) return false;
        csv->scan.field[i] = (struct field){"", 0};
    }
    return true;
}

/* ---- Opening ----------------------------------------------------------------------------------- */

/* Splits a record and copies its fields, for the scanner reuses them. */
static smurf_status split_line(struct csv *csv, const char *p, const char *end, struct field **out, size_t *count)
{
    smurf_status status = smurf_csv_split(&csv->scan, p, end, count);
    if (status) return status;
    *out = smurf_arena_alloc(&csv->text, *count * sizeof **out);
    if (!*out) return smurf_fail_memory(csv->scan.err);
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = csv->scan.field[i];
        if (!((*out)[i].text = smurf_arena_text(&csv->text, csv->scan.field[i].text, csv->scan.field[i].n)))
            return smurf_fail_memory(csv->scan.err);
    }
    return SMURF_OK;
}

static smurf_status first_line(struct csv *csv, const char *p, const char *end, struct field **first)
{
    smurf_status status = split_line(csv, p, end, first, &csv->columns);
    if (status) return status;
    csv->heading = *first;
    csv->name = smurf_arena_alloc(&csv->text, csv->columns * sizeof *csv->name);
    return csv->name ? SMURF_OK : smurf_fail_memory(csv->scan.err);
}

/* The comment before the first line, as a header: "# time,type", "#Fields: date time". NULL if it has another number of
   fields, empty ones at the end of the first line aside. */
static smurf_status read_comment(struct csv *csv, struct field **out)
{
    const char *p = csv->comment;
    size_t count;
    struct field *field;
    *out = NULL;
    if (!p || csv->scan.log) return SMURF_OK;
    if (p[1] && p[1] != csv->scan.delimiter) p++;
    while (*p == ' ') p++;
    if (strncmp(p, "Fields:", 7) == 0) p += 7;
    while (*p == ' ') p++;
    csv->scan.quoted = strchr(p, '"') != NULL;
    smurf_status status = split_line(csv, p, p + strlen(p), &field, &count);
    if (status == SMURF_ERROR_INPUT) return SMURF_OK;
    if (status || count > csv->columns) return status;
    for (size_t i = count; i < csv->columns; i++)
        if (csv->heading[i].n) return SMURF_OK;
    struct field *all = smurf_arena_alloc(&csv->text, csv->columns * sizeof *all);
    if (!all) return smurf_fail_memory(csv->scan.err);
    for (size_t i = 0; i < csv->columns; i++) all[i] = i < count ? field[i] : (struct field){"", 0};
    *out = all;
    return SMURF_OK;
}

/* Are these numbers of columns, such as "1,3"? */
static bool are_numbers(const char *names)
{
    return *names && strspn(names, "0123456789,") == strlen(names);
}

/* Is the first of the names, or all of them together, in the line? */
static bool has_name(const struct field *line, size_t columns, const char *names)
{
    size_t whole = strlen(names), first = strcspn(names, ",");
    for (size_t i = 0; i < columns; i++)
        if ((line[i].n == whole || line[i].n == first) && memcmp(line[i].text, names, line[i].n) == 0) return true;
    return false;
}

/* Without a sample there is a header, unless columns are named by numbers that are not in the first line. */
static smurf_status check_header(struct csv *csv, const struct field *first, const struct field *comment)
{
    const smurf_read_config *config = csv->config;
    const smurf_reading *as = config->time_column ? NULL : config->as;
    const char *time = config->time_column ? config->time_column : as ? as->time_column : NULL;
    bool named = time && has_name(first, csv->columns, time), value = false;
    bool numbered = as ? as->header != NULL : time && !named && are_numbers(time);
    size_t at = 0;
    for (size_t i = 0; i < csv->columns && !value; i++)
        if (is_value(&first[i], NULL)) value = true, at = i;
    csv->header = !numbered;
    csv->first_is_row = csv->scan.log || numbered;
    if (csv->header && comment && (time ? !named && has_name(comment, csv->columns, time) : value)) {
        csv->heading = comment;
        csv->first_is_row = true;
    }
    if (csv->first_is_row || !value || time) return SMURF_OK;
    return smurf_source_fail(csv->scan.source, csv->scan.err,
                             "no header: the first line must name the columns, such as 'sequence,time,type', "
                             "but has '%.*s'",
                             first[at].n < 40 ? (int)first[at].n : 40, first[at].text);
}

static smurf_status count_row(void *to, const struct field *cell, size_t n, smurf_error *err)
{
    (void)cell, (void)err;
    *(size_t *)to = n;
    return SMURF_OK;
}

/* Fails if there are rows, but none with as many fields as the first line, or most with more. */
static smurf_status check_rows(struct csv *csv, const struct csv_sample *sample, const struct sniff *sniff)
{
    struct csv_sample any = *sample;
    const char *begin = sample->begin;
    size_t count = 0;
    smurf_status status = SMURF_OK;
    if (csv->scan.log) return SMURF_OK;
    any.columns = 0;
    if (sniff->rows)
        status = smurf_csv_count_most(sample, csv->scan.delimiter, &count, csv->scan.err);
    else
        status = smurf_csv_sample_records(&any, &begin, sample->end, true, 1, count_row, &count, csv->scan.err);
    if (status || !count || count == csv->columns || (sniff->rows && count < csv->columns)) return status;
    return smurf_source_fail(csv->scan.source, csv->scan.err,
                             "the rows have %zu field%s, but the first line has %zu (it must name every column; "
                             "remove lines before it)",
                             count, count == 1 ? "" : "s", csv->columns);
}

/* Looks at the rows after the first line, where there is a sample, and finds out whether that names the columns. */
static smurf_status look_at_rows(struct csv *csv, struct csv_sample *sample, struct field *first,
                                 const struct field *comment, struct sniff *sniff)
{
    smurf_error *err = csv->scan.err;
    sample->delimiter = csv->scan.delimiter;
    sample->columns = sample->least = csv->columns;
    while (sample->least && !first[sample->least - 1].n) sample->least--;
    for (size_t i = 0; i < csv->columns && !csv->scan.log; i++) {
        sample->header = is_value(&first[i], NULL) ? NULL : first;
        if (!sample->header) break;
    }
    smurf_status status = smurf_sniff_columns(sniff, csv->columns < SNIFF_COLUMNS ? csv->columns : SNIFF_COLUMNS, err);
    if (!status) status = smurf_csv_sample_rows(sample, see_row, sniff, err);
    if (!status) status = check_rows(csv, sample, sniff);
    csv->first_is_row = csv->scan.log || (!csv->scan.source->rows && !finds_header(first, csv->columns, sniff));
    csv->header = csv->scan.log || !csv->first_is_row || comment;
    if (status || !csv->first_is_row) return status;
    if (comment) csv->heading = comment;
    smurf_sniff_release(sniff); /* again, with the first line in its place */
    sample->first = first;
    return smurf_csv_sample_rows(sample, see_row, sniff, err);
}

/* Decides what the columns are. */
static smurf_status look(struct csv *csv, struct csv_sample *sample, struct field *first, struct sniff *sniff,
                         struct builder *builder, struct choice *choice)
{
    smurf_error *err = csv->scan.err;
    struct sniff_rows rows = {sample, smurf_csv_sample_rows};
    struct field *comment;
    smurf_status status = read_comment(csv, &comment);
    if (!status)
        status = builder ? look_at_rows(csv, sample, first, comment, sniff) : check_header(csv, first, comment);
    if (!status) status = name_columns(csv, err);
    struct choosing table = {csv->name, csv->columns, csv->header, builder ? sniff : NULL,
                             &rows,     csv->config,  builder,     !sample->whole || sniff->rows >= SNIFF_ROWS};
    if (status) return status;
    return smurf_source_blame(csv->scan.source, smurf_choose(choice, &table, err), err);
}

/* "sep=;", which spreadsheets write. */
static bool names_separator(const char *p, const char *end)
{
    return end - p == 5 && memcmp(p, "sep=", 4) == 0 && strchr(",;|\t", p[4]);
}

/* A row of empty fields, before the separator is known. */
static bool is_empty_row(const char *p, const char *end)
{
    while (p < end && *p && strchr(",;|\t ", *p)) p++;
    return p == end;
}

/* The first line that is no comment and not empty. */
static smurf_status skip_comments(struct csv *csv, const char **begin, const char **end)
{
    struct source *source = csv->scan.source;
    smurf_status status = SMURF_OK;
    bool stated = false;
    while (smurf_csv_next(&csv->scan, true, begin, end, &status)) {
        if (!stated && !csv->comment && names_separator(*begin, *end)) {
            csv->scan.delimiter = (*begin)[4];
            stated = true;
        } else if (**begin != '#') {
            if (!is_empty_row(*begin, *end)) return SMURF_OK;
        } else if (!(csv->comment = smurf_arena_text(&csv->text, *begin, (size_t)(*end - *begin)))) {
            return smurf_fail_memory(csv->scan.err);
        }
    }
    return status ? status
                  : smurf_fail_at(csv->scan.err, source->name, 0, "the file is empty: there are no events in it");
}

static smurf_status read_first_line(struct csv *csv, struct csv_sample *sample, bool stream, struct field **first,
                                    const char **begin)
{
    struct source *source = csv->scan.source;
    const char *end;
    smurf_status status = skip_comments(csv, begin, &end);
    if (status) return status;
    if (memchr(*begin, '\r', (size_t)(end - *begin)) && !memchr(*begin, '"', (size_t)(end - *begin)))
        return smurf_source_fail(source, csv->scan.err,
                                 "lines end in a carriage return alone (convert them to line feeds)");
    *sample = (struct csv_sample){.begin = source->p, .end = stream ? source->p : source->end, .whole = source->eof};
    const smurf_reading *as = csv->config->as;
    if (stream && as && as->delimiter && !csv->scan.delimiter &&
        memchr(*begin, as->delimiter[0], (size_t)(end - *begin)))
        csv->scan.delimiter = as->delimiter[0];
    if (!csv->scan.delimiter) csv->scan.log = smurf_log_syntax(*begin, stream ? end : source->end, source->eof);
    sample->log = csv->scan.log;
    if (csv->scan.log) csv->format = csv->scan.log->name;
    if (!csv->scan.delimiter && !csv->scan.log)
        status = smurf_csv_guess_delimiter(sample, *begin, end, &csv->scan.delimiter, csv->scan.err);
    return status ? status : first_line(csv, *begin, end, first);
}

smurf_status smurf_csv_open(struct csv *csv, struct source *source, struct builder *builder,
                            const smurf_read_config *config, const char *format, char delimiter, smurf_error *err)
{
    if (source->rows) delimiter = ',';
    *csv = (struct csv){.scan = {.source = source, .err = err, .delimiter = delimiter}, .config = config};
    csv->format = format;
    struct csv_sample sample = {0};
    struct sniff sniff = {0};
    struct choice choice;
    struct field *first = NULL;
    const char *begin = NULL;
    smurf_status status = smurf_source_skip_mark(source, err);
    if (!status && builder) status = smurf_source_fill(source, SNIFF_BYTES, err);
    if (!status) status = read_first_line(csv, &sample, !builder, &first, &begin);
    if (!status && builder) status = smurf_source_middle(source, SNIFF_PIECE, &sample.middle, &sample.middle_n, err);
    if (!status) status = look(csv, &sample, first, &sniff, builder, &choice);
    smurf_sniff_release(&sniff);
    free(sample.middle);
    if (!status) status = smurf_table_open(&csv->table, &choice, csv->name, config, !builder, err);
    if (!status && builder)
        status = smurf_table_describe(&csv->table, builder, csv->name, csv->format,
                                      csv->scan.log || source->rows ? '\0' : csv->scan.delimiter, config, err);
    if (builder && !csv->header) builder->reading.header = "none";
    if (!status && builder && choice.words && !builder->numbers_only && !builder->types) builder->words = true;
    if (!status && csv->first_is_row) { /* the first line is a row: read it again */
        source->p = begin;
        csv->scan.lines = 0;
    }
    if (status) smurf_csv_close(csv);
    return status;
}

void smurf_csv_close(struct csv *csv)
{
    smurf_csv_release(&csv->scan);
    smurf_table_close(&csv->table);
    smurf_arena_release(&csv->text);
}
