/* csv_scan.c - see csv_scan.h. */
#include "data/csv_scan.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Records --------------------------------------------------------------------------------- */

static bool is_delimiter(const struct csv_scan *csv, char c)
{
    return csv->delimiter ? c == csv->delimiter : c == ',' || c == '\t' || c == ';' || c == '|';
}

/* A quote opens a field only at its start, ignoring blanks; elsewhere it is ordinary text (5" pipe). */
static bool opens_field(const struct csv_scan *csv, const char *begin, const char *quote)
{
    if (csv->delimiter == ' ' && quote > begin) return quote[-1] == ' ';
    while (quote > begin && quote[-1] == ' ') quote--;
    return quote == begin || is_delimiter(csv, quote[-1]);
}

/* Finds the end of the record: the first newline outside quotes. NULL if the window ends first; the next search resumes
   there, so a long record is searched only once. */
static const char *record_end(struct csv_scan *csv, const char *begin, const char *end, bool last)
{
    const char *p = begin + csv->searched, *newline = NULL;
    if (csv->log) { /* quotes mean nothing here */
        newline = memchr(p, '\n', (size_t)(end - p));
        csv->searched = (size_t)(end - begin);
        return newline;
    }
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
        csv->quoted = true;
        csv->inside = opens_field(csv, begin, quote);
        p = quote + 1;
    }
    csv->searched = (size_t)(p - begin);
    return NULL;
}

/* The next search starts at the source's position. */
static bool give_up(struct csv_scan *csv)
{
    csv->lines = csv->searched = 0;
    csv->inside = false;
    return false;
}

bool smurf_csv_next(struct csv_scan *csv, bool wait, const char **begin, const char **end, smurf_status *status)
{
    struct source *source = csv->source;
    for (;;) {
        const char *newline;
        source->line += source->rows && csv->lines ? 1 : csv->lines;
        csv->lines = 1;
        csv->searched = 0;
        csv->inside = csv->quoted = false;
        const char *next = memchr(source->p, '\n', (size_t)(source->end - source->p));
        bool plain = next && !memchr(source->p, '"', (size_t)(next - source->p)); /* the common case, quickly */
        while (!(newline = plain ? next : record_end(csv, source->p, source->end, source->eof)) && !source->eof) {
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

static smurf_status add_field(struct csv_scan *csv, size_t i, const char *text, size_t n)
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
static smurf_status split_quoted(struct csv_scan *csv, const char *p, const char *end, size_t *count)
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
            const char *after = p;
            while (p < end && *p == ' ') p++;
            if (csv->delimiter == ' ' && p > after) p--;
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

/* A line of another kind is one field. */
static smurf_status split_log(struct csv_scan *csv, const char *p, const char *end, size_t *count)
{
    if (!smurf_grow(&csv->field, &csv->field_room, LOG_FIELDS, sizeof *csv->field) ||
        !smurf_grow(&csv->unquoted, &csv->unquoted_room, LOG_TEMPLATE, 1))
        return smurf_fail_memory(csv->err);
    *count = 1;
    csv->field[0] = (struct field){p, (size_t)(end - p)};
    if (csv->log->split(p, end, csv->field, csv->unquoted))
        while (csv->log->column[*count]) ++*count;
    return SMURF_OK;
}

smurf_status smurf_csv_split(struct csv_scan *csv, const char *p, const char *end, size_t *count)
{
    if (csv->log) return split_log(csv, p, end, count);
    if (csv->quoted) return split_quoted(csv, p, end, count);
    const char delimiter = csv->delimiter;
    struct field *field = csv->field;
    size_t n = 0, room = csv->field_room;
    for (;; p++) {
        while (p < end && *p == ' ') p++;
        const char *text = p, *stop;
        while (p < end && *p != delimiter) p++;
        for (stop = p; stop > text && stop[-1] == ' ';) stop--;
        if (n == room) {
            smurf_status status = add_field(csv, n, NULL, 0);
            if (status) return status;
            field = csv->field;
            room = csv->field_room;
        }
        field[n++] = (struct field){text, (size_t)(stop - text)};
        if (p >= end) break;
    }
    *count = n;
    return SMURF_OK;
}

void smurf_csv_release(struct csv_scan *csv)
{
    free(csv->field);
    free(csv->unquoted);
    csv->field = NULL;
    csv->unquoted = NULL;
    csv->field_room = csv->unquoted_room = 0;
}
