/*
 * csv_write.c - one row per event: sequence, time, type and, if known, the observation window; then further columns.
 *
 * Sequences without a name are numbered from 0. Rows with the same name form one sequence, so a repeated name (as in
 * windows of one sequence) gets its sequence number appended: "a", "a#1". Sequences without events have no rows.
 */
#include "data/data.h"
#include "data/csv.h"
#include "data/names.h"
#include "data/number.h"
#include "data/rare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text field, quoted if necessary. */
static void write_text(struct sink *sink, const char *text, char delimiter)
{
    char special[] = {'"', '\n', '\r', delimiter, '\0'};
    size_t n = strlen(text);
    bool quote = n == 0 || text[strcspn(text, special)] || text[0] == ' ' || text[n - 1] == ' ';
    if (!quote) {
        smurf_sink_bytes(sink, text, n);
        return;
    }
    smurf_sink_char(sink, '"');
    for (; *text; text++) {
        if (*text == '"') smurf_sink_char(sink, '"');
        smurf_sink_char(sink, *text);
    }
    smurf_sink_char(sink, '"');
}

static void write_time(struct sink *sink, const smurf_data *data, int64_t origin, double offset)
{
    if (isnan(offset)) return;
    if (data->calendar)
        smurf_sink_calendar(sink, origin, offset, '\0');
    else
        smurf_sink_time(sink, origin, offset);
}

/* The shortest decimal that a float reads back from; empty: missing. */
static void write_number(struct sink *sink, float x)
{
    char text[NUMBER_TEXT];
    if (isnan(x)) return;
    double value = (double)x;
    for (int digits = 6; digits <= 9 && x != 0; digits++) {
        double unit = pow(10, floor(log10(fabs((double)x))) + 1 - digits), rounded = round((double)x / unit) * unit;
        if ((float)rounded != x) continue;
        value = unit < 1 ? round((double)x / unit) / round(1 / unit) : rounded;
        if ((float)value == x) break;
        value = (double)x;
    }
    smurf_sink_bytes(sink, text, smurf_number_write(text, value));
}

/* Words that are not named have the name `other`, so that they come back as one word. */
static void write_further(struct sink *sink, const smurf_data *data, const float *row, char delimiter)
{
    for (size_t i = 0; i < data->further.columns; i++) {
        const struct further_column *c = &data->further.column[i];
        smurf_sink_char(sink, delimiter);
        if (!c->is_word)
            write_number(sink, row[i]);
        else if (!isnan(row[i]))
            write_text(sink, row[i] < (float)c->word.count ? c->word.name[(size_t)row[i]] : OTHER_NAME, delimiter);
    }
}

/* Window columns that at least one sequence needs. */
struct columns {
    bool start, end, first, before;
};

static struct columns columns_needed(const smurf_data *data)
{
    struct columns c = {0};
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *s = &data->sequence[i];
        if (!isnan(s->start)) c.start = true;
        if (!isnan(s->end)) c.end = true;
        if (s->first > 1) c.first = true;
        if (s->before) c.before = true;
    }
    return c;
}

/* A name not used by any earlier sequence; NULL if out of memory. It lives as long as `taken`. */
static const char *own_name(struct names *taken, const smurf_data *data, size_t index)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    const char *name = data->sequence[index].name ? data->sequence[index].name : number;
    uint32_t place = taken->count, found = smurf_names_intern(taken, name, strlen(name));
    char *longer = NULL, *previous = NULL;
    while (found < place) {
        if (asprintf(&longer, "%s#%s", previous ? previous : name, number) < 0) longer = NULL;
        free(previous);
        if (!longer) return NULL;
        previous = longer;
        found = smurf_names_intern(taken, longer, strlen(longer));
    }
    free(previous);
    return found == NAMES_FULL ? NULL : taken->name[found];
}

static void write_sequence(struct sink *sink, const smurf_data *data, const smurf_sequence *s, const char *name,
                           struct columns columns, char delimiter)
{
    for (size_t i = 0; i < s->length; i++) {
        write_text(sink, name, delimiter);
        smurf_sink_char(sink, delimiter);
        write_time(sink, data, s->origin, s->time[i]);
        smurf_sink_char(sink, delimiter);
        if (data->type_name)
            write_text(sink, data->type_name[s->type[i]], delimiter);
        else
            smurf_sink_unsigned(sink, s->type[i]);
        if (columns.start) smurf_sink_char(sink, delimiter), write_time(sink, data, s->origin, s->start);
        if (columns.end) smurf_sink_char(sink, delimiter), write_time(sink, data, s->origin, s->end);
        if (columns.first) smurf_sink_char(sink, delimiter), smurf_sink_unsigned(sink, s->first);
        if (columns.before) smurf_sink_char(sink, delimiter), smurf_sink_unsigned(sink, s->before);
        write_further(sink, data, s->further ? s->further + i * s->columns : NULL, delimiter);
        smurf_sink_char(sink, '\n');
    }
}

/* Columns that would have the name of another. */
static smurf_status check_names(const smurf_data *data, const char *const *header, size_t n, smurf_error *err)
{
    for (size_t i = 0; i < data->further.columns; i++)
        for (size_t k = 0; k < n; k++)
            if (header[k] && strcmp(data->further.column[i].name, header[k]) == 0)
                return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                                  "the further column '%s' has the name of another column of the file to be written "
                                  "(rename it, or leave it out of --features)",
                                  header[k]);
    return SMURF_OK;
}

static smurf_status write_table(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                char delimiter, smurf_error *err)
{
    struct progress progress = {config->progress, config->progress_context, {"writing", "sequences", 0, 0}};
    progress.state.total = (double)data->sequences;
    struct columns columns = columns_needed(data);
    const char *header[] = {"sequence",
                            "time",
                            "type",
                            columns.start ? "observation_start" : NULL,
                            columns.end ? "observation_end" : NULL,
                            columns.first ? "first_scored" : NULL,
                            columns.before ? "events_before" : NULL};
    smurf_status status = check_names(data, header, sizeof header / sizeof *header, err);
    if (status) return status;
    for (size_t i = 0; i < sizeof header / sizeof *header; i++) {
        if (!header[i]) continue;
        if (i) smurf_sink_char(sink, delimiter);
        smurf_sink_text(sink, header[i]);
    }
    for (size_t i = 0; i < data->further.columns; i++) {
        smurf_sink_char(sink, delimiter);
        write_text(sink, data->further.column[i].name, delimiter);
    }
    smurf_sink_char(sink, '\n');
    struct names taken = {0};
    for (size_t i = 0; i < data->sequences && !sink->status && !status; i++) {
        const char *name = own_name(&taken, data, i);
        if (name) write_sequence(sink, data, &data->sequence[i], name, columns, delimiter);
        status = !name ? smurf_fail_memory(err) : i % 256 ? SMURF_OK : smurf_progress_tell(&progress, (double)i, err);
    }
    smurf_names_release(&taken);
    return status;
}

smurf_status smurf_csv_write(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                             smurf_error *err)
{
    return write_table(sink, data, config, ',', err);
}

smurf_status smurf_tsv_write(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                             smurf_error *err)
{
    return write_table(sink, data, config, '\t', err);
}
