/*
 * csv_write.c - one row an event: sequence, time, type, and where known the window of observation.
 *
 * Sequences without a name are numbered from 0. A table has no row for a sequence without events.
 */
#include "data/data.h"
#include "data/format.h"

#include <math.h>
#include <string.h>

/* A text field, in quotes where it needs them. */
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

/* Which of the columns of the window some sequence needs. */
struct columns {
    bool start, end, first;
};

static struct columns columns_needed(const smurf_data *data)
{
    struct columns c = {0};
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *s = &data->sequence[i];
        if (!isnan(s->start)) c.start = true;
        if (!isnan(s->end)) c.end = true;
        if (s->first > 1) c.first = true;
    }
    return c;
}

static void write_sequence(struct sink *sink, const smurf_data *data, size_t index, struct columns columns,
                           char delimiter)
{
    const smurf_sequence *s = &data->sequence[index];
    for (size_t i = 0; i < s->length; i++) {
        if (s->name)
            write_text(sink, s->name, delimiter);
        else
            smurf_sink_unsigned(sink, index);
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
        smurf_sink_char(sink, '\n');
    }
}

static smurf_status write_table(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                char delimiter, smurf_error *err)
{
    struct progress progress = {config->progress, config->progress_context, {"writing", "sequences", 0, 0}};
    progress.state.total = (double)data->sequences;
    struct columns columns = columns_needed(data);
    const char *header[] = {"sequence", "time", "type", columns.start ? "observation_start" : NULL,
                            columns.end ? "observation_end" : NULL, columns.first ? "first_scored" : NULL};
    for (size_t i = 0; i < sizeof header / sizeof *header; i++) {
        if (!header[i]) continue;
        if (i) smurf_sink_char(sink, delimiter);
        smurf_sink_text(sink, header[i]);
    }
    smurf_sink_char(sink, '\n');
    for (size_t i = 0; i < data->sequences && !sink->status; i++) {
        write_sequence(sink, data, i, columns, delimiter);
        smurf_status status = i % 256 ? SMURF_OK : smurf_progress_tell(&progress, (double)i, err);
        if (status) return status;
    }
    return SMURF_OK;
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
