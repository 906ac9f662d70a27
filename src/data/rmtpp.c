/*
 * rmtpp.c - RMTPP text: a file of times and a file of types, one sequence per line, numbers separated by blanks.
 *
 * The reader is given the file of times. The file of types is next to it, with "event" in its name in place of "time",
 * or is given by config->events_path.
 */
#include "data/columns.h"
#include "data/rmtpp.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tokens are short; this is how far the scanner looks ahead. */
enum { AHEAD = 512 };

smurf_status smurf_rmtpp_companion(char **out, const char *path, smurf_error *err)
{
    const char *base = strrchr(path, '/'), *time = NULL;
    base = base ? base + 1 : path;
    for (const char *p = base; (p = strstr(p, "time")); p++) time = p;
    *out = NULL;
    if (!time) return SMURF_OK;
    if (asprintf(out, "%.*sevent%s", (int)(time - path), path, time + strlen("time")) >= 0) return SMURF_OK;
    *out = NULL;
    return smurf_fail_memory(err);
}

/* ---- Reading --------------------------------------------------------------------------------- */

struct line {
    struct source *source;
    uint64_t start; /* offset of the line's first byte */
};

/* The next token of the line; false at its end (the newline is taken), at the end of input or on failure. */
static bool next_token(struct line *line, const char **text, size_t *n, smurf_status *status, smurf_error *err)
{
    struct source *source = line->source;
    for (;;) {
        if (source->end - source->p < AHEAD && (*status = smurf_source_fill(source, AHEAD, err))) return false;
        if (smurf_source_offset(source) - line->start > SOURCE_LINE_LIMIT) {
            *status = smurf_source_fail(source, err, "line is longer than 1 GiB (cut the sequence into several)");
            return false;
        }
        if (source->p == source->end) return false;
        if (*source->p != ' ' && *source->p != '\t' && *source->p != '\r') break;
        source->p++;
    }
    if (*source->p == '\n') return false;
    const char *p = source->p;
    while (p < source->end && *p != ' ' && *p != '\t' && *p != '\r' && *p != '\n') p++;
    if (p - source->p >= AHEAD) {
        *status = smurf_source_fail(source, err, "a word of %d characters or more instead of a number", AHEAD);
        return false;
    }
    *text = source->p;
    *n = (size_t)(p - source->p);
    source->p = p;
    return true;
}

/* Takes the newline after a line. */
static void end_line(struct source *source)
{
    if (source->p < source->end && *source->p == '\n') source->p++, source->line++;
}

static smurf_status read_times(struct source *source, struct builder *b, struct sequence_info *info, int *calendar,
                               smurf_error *err)
{
    struct line line = {source, smurf_source_offset(source)};
    smurf_status status = SMURF_OK;
    const char *text;
    size_t n;
    for (bool first = true; next_token(&line, &text, &n, &status, err); first = false) {
        struct decimal d;
        double offset = 0;
        status = smurf_column_time(&d, text, n, calendar, err);
        if (!status && first && !smurf_decimal_origin(&d, &info->origin))
            status = smurf_fail(err, SMURF_ERROR_INPUT, "time %.*s is beyond 2^63 (use a coarser unit)", (int)n, text);
        if (!status && !smurf_decimal_offset(&d, info->origin, &offset))
            status =
                smurf_fail(err, SMURF_ERROR_INPUT,
                           "time %.*s is 2^53 or more from its origin %lld: a double would lose steps of the clock "
                           "(use a coarser unit)",
                           (int)n, text, (long long)info->origin);
        if (!status) status = smurf_builder_time(b, offset, err);
        if (status) return smurf_source_blame(source, status, err);
    }
    return status;
}

static smurf_status read_types(struct source *source, struct builder *b, smurf_error *err)
{
    struct line line = {source, smurf_source_offset(source)};
    smurf_status status = SMURF_OK;
    const char *text;
    size_t n;
    while (next_token(&line, &text, &n, &status, err)) {
        status = smurf_builder_type_text(b, text, n, err);
        if (status) return smurf_source_blame(source, status, err);
    }
    return status;
}

/* Is there nothing left but blank lines? Takes only blanks and newlines. */
static bool is_over(struct source *source, smurf_status *status, smurf_error *err)
{
    struct line line = {source, smurf_source_offset(source)};
    const char *text;
    size_t n;
    for (;;) {
        if (next_token(&line, &text, &n, status, err)) {
            source->p = text;
            return false;
        }
        if (*status || source->p == source->end) return true;
        end_line(source);
        line.start = smurf_source_offset(source);
    }
}

smurf_status smurf_rmtpp_read_pair(struct source *times, struct source *events, struct builder *b, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    int calendar = -1;
    while (!status && times->p < times->end) {
        struct sequence_info info = {.start = NAN, .end = NAN};
        size_t before = b->times, line = times->line;
        status = read_times(times, b, &info, &calendar, err);
        if (!status) status = read_types(events, b, err);
        if (status) return status;
        if (b->times == before && b->types == before) { /* blank in both: an empty sequence, unless at the end */
            bool over = is_over(times, &status, err);
            if (!status && over) break;
        }
        bool ragged = b->times != b->types;
        if (!status) status = smurf_builder_close(b, &info, err);
        if (ragged && status == SMURF_ERROR_INPUT && err) {
            smurf_error inner = *err;
            smurf_fail(err, status, "%.200s (the types are in %.300s:%zu)", inner.message, events->name, events->line);
        }
        smurf_error_place(err, status, times->name, line);
        end_line(times);
        end_line(events);
        if (!status) status = smurf_source_fill(times, 1, err);
    }
    if (!status && !is_over(events, &status, err))
        status = smurf_source_fail(events, err, "more sequences than the %zu in '%s'", b->sequences, times->name);
    b->calendar = calendar == 1;
    return status;
}

static smurf_status read_rmtpp(struct source *source, struct builder *builder, const smurf_read_config *config,
                               smurf_error *err)
{
    bool beside = !config->events_path && source->from_path;
    char *companion = NULL;
    smurf_status status = beside ? smurf_rmtpp_companion(&companion, source->name, err) : SMURF_OK;
    if (status) return status;
    const char *path = config->events_path ? config->events_path : companion;
    if (!path)
        return smurf_fail_at(
            err, source->name, 0,
            "holds numbers without a header: RMTPP text is two files, times and types (name the second "
            "with --events FILE; a table needs a header such as 'sequence,time,type')");
    struct source events;
    status = smurf_source_open(&events, path, NULL, err);
    if (status) {
        if (err && !config->events_path) {
            smurf_error inner = *err;
            smurf_fail(err, status, "%.500s: the types that go with '%.300s' (name the file with --events FILE)",
                       inner.message, source->name);
            smurf_error_about(err, path, 0);
        }
    } else {
        status = smurf_rmtpp_read_pair(source, &events, builder, err);
        smurf_source_close(&events);
    }
    free(companion);
    return status;
}

/* Rows of a table of numbers: several lines of the same length, of which some go down or end in a time since 1970. */
static bool is_table(const char *p, const char *end)
{
    enum { FEWEST = 2, MOST = 16, LINES = 3 };
    size_t lines = 0, fields = 0;
    bool descends = false, dated = true;
    for (const char *newline; p < end && (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1) {
        size_t count = 0;
        double first = 0, last = -INFINITY;
        struct decimal d;
        for (const char *q; (p += strspn(p, " \t\r")) < newline; p = q, count++) {
            if (!(q = smurf_decimal_scan(&d, p))) return false;
            double value = smurf_decimal_value(&d);
            if (!count) first = value;
            descends = descends || value < last;
            last = value;
        }
        if (!count) continue;
        if (lines++ && count != fields) return false;
        fields = count;
        dated = dated && first < 1e8 && last >= 6e8;
    }
    return lines >= LINES && fields >= FEWEST && fields <= MOST && (descends || dated);
}

/* The first non-blank line starts with a number and contains only numbers, not separated by commas. NaN and infinity
   count as numbers, so that the reader can report them. */
static bool looks(const char *head, size_t n)
{
    size_t i = 0;
    while (i < n && isspace((unsigned char)head[i])) i++;
    if (i == n) return false;
    const char *allowed = "0123456789.+-eE \t\r";
    if (!head[i] || !strchr(allowed, head[i])) return false;
    bool number = false; /* not only signs, such as a line +-----+ */
    for (; i < n && head[i] != '\n'; i++) {
        number |= isalnum((unsigned char)head[i]) != 0;
        if (!head[i] || (!strchr(allowed, head[i]) && !strchr("nNaAiIfFtTyY", head[i]))) return false;
    }
    return number && !is_table(head, head + n);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* One line per sequence, of times or of types. */
static smurf_status write_lines(struct sink *sink, const smurf_data *data, const smurf_write_config *config, bool types,
                                smurf_error *err)
{
    struct progress progress = {config->progress, config->progress_context, {"writing", "sequences", 0, 0}};
    progress.state.total = (double)data->sequences;
    for (size_t s = 0; s < data->sequences && !sink->status; s++) {
        const smurf_sequence *q = &data->sequence[s];
        for (size_t i = 0; i < q->length; i++) {
            if (i) smurf_sink_char(sink, ' ');
            if (types)
                smurf_sink_unsigned(sink, q->type[i]);
            else
                smurf_sink_time(sink, q->origin, q->time[i]);
        }
        smurf_sink_char(sink, '\n');
        smurf_status status = s % 256 ? SMURF_OK : smurf_progress_tell(&progress, (double)s, err);
        if (status) return status;
    }
    return SMURF_OK;
}

static smurf_status write_times(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                smurf_error *err)
{
    return write_lines(sink, data, config, false, err);
}

static smurf_status write_types(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                smurf_error *err)
{
    return write_lines(sink, data, config, true, err);
}

static smurf_status companion(char **out, const char *path, smurf_error *err)
{
    smurf_status status = smurf_rmtpp_companion(out, path, err);
    if (status || *out) return status;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                      "RMTPP text is two files: have 'time' in the name '%s', and the types go to the same name with "
                      "'event'",
                      path);
}

static const struct format_pair pair = {"time-", companion, write_types};

const struct format_class smurf_format_rmtpp = {.name = "rmtpp",
                                                .title = "RMTPP text",
                                                .suffix = ".txt",
                                                .looks = looks,
                                                .read = read_rmtpp,
                                                .write = write_times,
                                                .pair = &pair};
