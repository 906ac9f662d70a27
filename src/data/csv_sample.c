/* csv_sample.c - see csv_sample.h. */
#include "data/csv_sample.h"

#include "data/time_format.h"

#include <stdlib.h>
#include <string.h>

/* ---- The sample -------------------------------------------------------------------------------- */

/* Is the row the header once more? */
bool smurf_csv_is_repeated(const struct field *header, const struct field *field, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (field[i].n != header[i].n || memcmp(field[i].text, header[i].text, field[i].n) != 0) return false;
    return true;
}

/* Empty fields at the end do not count. */
static bool fits(const struct csv_sample *s, const struct field *field, size_t *count)
{
    while (*count > s->columns && !field[*count - 1].n) --*count;
    return *count >= s->least && *count <= s->columns;
}

/* *begin moves behind the records taken. */
smurf_status smurf_csv_sample_records(const struct csv_sample *s, const char **begin, const char *end, bool whole,
                                      size_t most, sniff_take *take, void *to, smurf_error *err)
{
    struct source source = {.name = "", .p = *begin, .end = end, .line = 1, .eof = true};
    struct csv_scan scan = {.source = &source, .err = NULL, .delimiter = s->delimiter, .log = s->log};
    smurf_status status = SMURF_OK, failed = SMURF_OK;
    const char *p, *stop;
    for (size_t rows = 0; rows < most && !failed && smurf_csv_next(&scan, true, &p, &stop, &status); rows++) {
        size_t count;
        if (!whole && source.p == source.end) break;
        status = smurf_csv_split(&scan, p, stop, &count);
        if (status == SMURF_ERROR_MEMORY) failed = smurf_fail_memory(err);
        if (status || (s->columns && !fits(s, scan.field, &count))) continue;
        if (s->header && count == s->columns && smurf_csv_is_repeated(s->header, scan.field, count)) continue;
        failed = take(to, scan.field, count, err);
    }
    smurf_csv_release(&scan);
    *begin = source.p;
    return failed;
}

/* The records after the first line, which may be cut off. */
static smurf_status each_inside(const struct csv_sample *s, const char *begin, const char *end, bool whole,
                                sniff_take *take, void *to, smurf_error *err)
{
    const char *line = begin < end ? memchr(begin, '\n', (size_t)(end - begin)) : NULL;
    if (!line) return SMURF_OK;
    line++;
    return smurf_csv_sample_records(s, &line, end, whole, SNIFF_ROWS, take, to, err);
}

smurf_status smurf_csv_sample_rows(void *context, sniff_take *take, void *to, smurf_error *err)
{
    const struct csv_sample *s = context;
    smurf_status status = s->first ? take(to, s->first, s->columns, err) : SMURF_OK;
    const char *p = s->begin;
    if (!status) status = smurf_csv_sample_records(s, &p, s->end, s->whole, SNIFF_ROWS, take, to, err);
    if (s->end - p > SNIFF_PIECE) p = s->end - SNIFF_PIECE;
    if (!status) status = each_inside(s, p, s->end, s->whole, take, to, err);
    if (!status && s->middle) status = each_inside(s, s->middle, s->middle + s->middle_n, false, take, to, err);
    return status;
}

/* ---- Delimiter --------------------------------------------------------------------------------- */

enum { COUNTED = 16, LOOKED_AT = 50 }; /* columns looked at for times; rows */
struct counts {
    size_t expected, rows, right;
    struct time_guess time[COUNTED];
};

static smurf_status count_fields(void *to, const struct field *cell, size_t n, smurf_error *err)
{
    struct counts *c = to;
    (void)err;
    while (n > c->expected && !cell[n - 1].n) n--;
    c->rows++;
    c->right += n == c->expected;
    for (size_t i = 0; i < n && i < COUNTED; i++) smurf_time_guess_see(&c->time[i], cell[i].text, cell[i].n);
    return SMURF_OK;
}

static bool has_times(const struct counts *c)
{
    struct time_format format;
    char note[TIME_NOTE];
    for (size_t i = 0; i < c->expected && i < COUNTED; i++)
        if (smurf_time_guess_best(&c->time[i], &format, note) >= 0.5) return true;
    return false;
}

/* Fields of the line; 0 if it cannot be split so. */
static smurf_status count_in(const char *p, const char *end, char delimiter, size_t *count, smurf_error *err)
{
    struct source source = {.name = ""};
    struct csv_scan scan = {
        .source = &source, .delimiter = delimiter, .quoted = memchr(p, '"', (size_t)(end - p)) != NULL};
    smurf_status status = smurf_csv_split(&scan, p, end, count);
    smurf_csv_release(&scan);
    if (status) *count = 0;
    return status == SMURF_ERROR_MEMORY ? smurf_fail_memory(err) : SMURF_OK;
}

/* The number of fields that most rows have, empty ones at their end aside, and how many rows have it at least: the
   votes for it less those against. */
struct vote {
    size_t fields, votes, rows;
};

static smurf_status vote_fields(void *to, const struct field *cell, size_t n, smurf_error *err)
{
    struct vote *v = to;
    (void)err;
    while (n > 1 && !cell[n - 1].n) n--;
    v->rows++;
    if (v->votes == 0) v->fields = n;
    v->votes += n == v->fields ? 1 : -(size_t)1;
    return SMURF_OK;
}

/* 0 fields: the first rows do not agree. */
smurf_status smurf_csv_count_most(const struct csv_sample *s, char delimiter, size_t *fields, smurf_error *err)
{
    struct csv_sample any = *s;
    struct vote vote = {0};
    const char *from = s->begin;
    any.delimiter = delimiter;
    any.columns = 0;
    smurf_status status = smurf_csv_sample_records(&any, &from, s->end, s->whole, LOOKED_AT, vote_fields, &vote, err);
    *fields = 10 * vote.votes >= 7 * vote.rows ? vote.fields : 0;
    return status;
}

/* A title above the table is no reason to split at its blanks: a delimiter that the first line lacks and that gives
   most rows more fields is that of the table. */
static smurf_status look_below_title(const struct csv_sample *s, const char *p, const char *end, char *delimiter,
                                     smurf_error *err)
{
    static const char candidate[] = {'\t', ',', ';', '|'};
    size_t most, fields;
    smurf_status status = smurf_csv_count_most(s, *delimiter, &most, err);
    for (size_t i = 0; i < sizeof candidate && !status; i++) {
        if (memchr(p, candidate[i], (size_t)(end - p))) continue;
        status = smurf_csv_count_most(s, candidate[i], &fields, err);
        if (!status && fields > most) *delimiter = candidate[i], most = fields;
    }
    return status;
}

/* The first delimiter that splits the first rows alike and leaves a column of times: in 'Mon, 16 Nov 2026|a' not the
   comma. Otherwise the first that splits them alike; otherwise the first in the first line. */
smurf_status smurf_csv_guess_delimiter(struct csv_sample *s, const char *p, const char *end, char *out,
                                       smurf_error *err)
{
    static const char candidate[] = {'\t', ',', ';', '|', ' '};
    char present = '\0', alike = '\0';
    bool times = false;
    struct counts *counts = malloc(sizeof *counts);
    smurf_status status = counts ? SMURF_OK : smurf_fail_memory(err);
    for (size_t i = 0; i < sizeof candidate && !status && !times; i++) {
        if (!memchr(p, candidate[i], (size_t)(end - p))) continue;
        if (!present && candidate[i] != ' ') present = candidate[i];
        counts->rows = counts->right = 0;
        for (int k = 0; k < COUNTED; k++) smurf_time_guess_init(&counts->time[k]);
        s->delimiter = candidate[i];
        status = count_in(p, end, candidate[i], &counts->expected, err);
        const char *from = s->begin;
        if (!status)
            status = smurf_csv_sample_records(s, &from, s->end, s->whole, LOOKED_AT, count_fields, counts, err);
        if (status || counts->expected < 2 || !counts->rows || 10 * counts->right < 9 * counts->rows) continue;
        times = has_times(counts);
        if (times || !alike) alike = candidate[i];
    }
    free(counts);
    *out = alike ? alike : present ? present : ',';
    return !status && (*out == ' ' || !present) ? look_below_title(s, p, end, out, err) : status;
}
