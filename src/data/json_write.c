/*
 * json_write.c - JSON Lines and JSON in the EasyTPP / Hugging Face layout, lossless.
 *
 * In addition to the usual fields: type_names, unit (in the first sequence), and per sequence, if known, sequence (its
 * name), observation_start, observation_end, first_scored, events_before.
 */
#include "data/data.h"
#include "data/json.h"

#include <math.h>

static void write_key(struct sink *sink, const char *key)
{
    smurf_sink_text(sink, ",\"");
    smurf_sink_text(sink, key);
    smurf_sink_text(sink, "\":");
}

/* A time on the sequence's clock; dates are quoted. */
static void write_time(struct sink *sink, const smurf_data *data, int64_t origin, double offset)
{
    if (data->calendar)
        smurf_sink_calendar(sink, origin, offset, '"');
    else
        smurf_sink_time(sink, origin, offset);
}

/* Fields that apply to the whole data set. */
static void write_shared(struct sink *sink, const smurf_data *data)
{
    if (data->unit[0]) {
        write_key(sink, "unit");
        smurf_sink_json(sink, data->unit);
    }
    if (!data->type_name) return;
    write_key(sink, "type_names");
    for (uint32_t k = 0; k < data->types; k++) {
        smurf_sink_char(sink, k ? ',' : '[');
        smurf_sink_json(sink, data->type_name[k]);
    }
    smurf_sink_char(sink, ']');
}

static void write_info(struct sink *sink, const smurf_data *data, const smurf_sequence *s)
{
    if (s->name) {
        write_key(sink, "sequence");
        smurf_sink_json(sink, s->name);
    }
    if (!isnan(s->start)) {
        write_key(sink, "observation_start");
        write_time(sink, data, s->origin, s->start);
    }
    if (!isnan(s->end)) {
        write_key(sink, "observation_end");
        write_time(sink, data, s->origin, s->end);
    }
    if (s->first > 1) {
        write_key(sink, "first_scored");
        smurf_sink_unsigned(sink, s->first);
    }
    if (s->before) {
        write_key(sink, "events_before");
        smurf_sink_unsigned(sink, s->before);
    }
}

static void write_sequence(struct sink *sink, const smurf_data *data, const smurf_sequence *s, bool shared)
{
    smurf_sink_text(sink, "{\"dim_process\":");
    smurf_sink_unsigned(sink, data->types);
    if (shared) write_shared(sink, data);
    write_info(sink, data, s);
    write_key(sink, "time_since_start");
    smurf_sink_char(sink, '[');
    for (size_t i = 0; i < s->length; i++) {
        if (i) smurf_sink_char(sink, ',');
        write_time(sink, data, s->origin, s->time[i]);
    }
    smurf_sink_char(sink, ']');
    write_key(sink, "type_event");
    smurf_sink_char(sink, '[');
    for (size_t i = 0; i < s->length; i++) {
        if (i) smurf_sink_char(sink, ',');
        smurf_sink_unsigned(sink, s->type[i]);
    }
    smurf_sink_text(sink, "]}");
}

static smurf_status write_all(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                              const char *between, smurf_error *err)
{
    struct progress progress = {config->progress, config->progress_context, {"writing", "sequences", 0, 0}};
    progress.state.total = (double)data->sequences;
    for (size_t i = 0; i < data->sequences && !sink->status; i++) {
        if (i) smurf_sink_text(sink, between);
        write_sequence(sink, data, &data->sequence[i], i == 0);
        smurf_status status = i % 256 ? SMURF_OK : smurf_progress_tell(&progress, (double)i, err);
        if (status) return status;
    }
    return SMURF_OK;
}

smurf_status smurf_jsonl_write(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                               smurf_error *err)
{
    smurf_status status = write_all(sink, data, config, "\n", err);
    smurf_sink_char(sink, '\n');
    return status;
}

smurf_status smurf_json_write(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                              smurf_error *err)
{
    smurf_sink_char(sink, '[');
    smurf_status status = write_all(sink, data, config, ",\n ", err);
    smurf_sink_text(sink, "]\n");
    return status;
}
