/*
 * pickle_write.c - pickles in the usual layout (NHP, THP, SAHP, EasyTPP), in protocol 2 for Python 2 and 3.
 *
 *     {'dim_process': K, 'train': [[{'time_since_start': t, 'time_since_last_event': dt, 'type_event': k}, ...], ...]}
 *
 * In addition, if known: type_names, unit, calendar and, as lists with one entry per sequence, sequence (its name),
 * observation_start, observation_end, first_scored, events_before. Times are floats, as loaders expect; integers beyond
 * 2^53, which floats cannot hold, are written as integers.
 */
#include "data/data.h"
#include "data/pickle.h"

#include <math.h>
#include <string.h>

enum key { KEY_TIME, KEY_GAP, KEY_TYPE, KEYS };
static const char *const key_text[KEYS] = {"time_since_start", "time_since_last_event", "type_event"};

/* ---- Values ---------------------------------------------------------------------------------- */

static void put_bytes(struct sink *sink, char opcode, uint64_t value, int bytes)
{
    char out[9] = {opcode};
    for (int i = 0; i < bytes; i++) out[1 + i] = (char)(value >> 8 * i);
    smurf_sink_bytes(sink, out, (size_t)bytes + 1);
}

static void put_long(struct sink *sink, int64_t value)
{
    smurf_sink_char(sink, '\x8a');
    put_bytes(sink, 8, (uint64_t)value, 8);
}

static void put_unsigned(struct sink *sink, uint64_t value)
{
    if (value < 1 << 8)
        put_bytes(sink, 'K', value, 1);
    else if (value < 1 << 16)
        put_bytes(sink, 'M', value, 2);
    else if (value < (uint64_t)1 << 31)
        put_bytes(sink, 'J', value, 4);
    else
        put_long(sink, (int64_t)value);
}

static void put_real(struct sink *sink, double x)
{
    uint64_t bits;
    char out[9] = {'G'};
    memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < 8; i++) out[1 + i] = (char)(bits >> (56 - 8 * i));
    smurf_sink_bytes(sink, out, sizeof out);
}

static void put_time(struct sink *sink, int64_t origin, double offset)
{
    int64_t whole;
    bool exact = origin && offset == floor(offset) && !__builtin_add_overflow(origin, (int64_t)offset, &whole);
    if (exact && (whole > INT64_C(1) << 53 || whole < -(INT64_C(1) << 53)))
        put_long(sink, whole);
    else
        put_real(sink, (double)origin + offset);
}

/* Length of the UTF-8 character at p; 0 if it is invalid. */
static size_t utf8_length(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    bool short_form = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
    bool beyond = p[0] == 0xF4 && p[1] >= 0x90;
    return short_form || beyond ? 0 : n;
}

/* A text; bytes that are not UTF-8, which Python would reject, are taken as Latin-1. */
static void put_text(struct sink *sink, const char *text)
{
    size_t n = strlen(text), wrong = 0;
    for (size_t i = 0, step; i < n; i += step ? step : 1) {
        step = utf8_length(text + i);
        if (step == 0) wrong++;
    }
    put_bytes(sink, 'X', n + wrong, 4);
    for (size_t i = 0, step; i < n; i += step ? step : 1) {
        step = utf8_length(text + i);
        unsigned char c = (unsigned char)text[i];
        if (step)
            smurf_sink_bytes(sink, text + i, step);
        else
            smurf_sink_bytes(sink, (char[]){(char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F))}, 2);
    }
}

/* ---- Sequences ------------------------------------------------------------------------------- */

/* Memoizes the event keys once. */
static void define_keys(struct sink *sink)
{
    for (int k = 0; k < KEYS; k++) {
        put_text(sink, key_text[k]);
        put_bytes(sink, 'q', (uint64_t)k, 1);
        smurf_sink_char(sink, '0');
    }
}

static void write_sequence(struct sink *sink, const smurf_sequence *s)
{
    smurf_sink_text(sink, "](");
    for (size_t i = 0; i < s->length; i++) {
        smurf_sink_text(sink, "}(");
        put_bytes(sink, 'h', KEY_TIME, 1);
        put_time(sink, s->origin, s->time[i]);
        put_bytes(sink, 'h', KEY_GAP, 1);
        put_real(sink, i ? s->time[i] - s->time[i - 1] : 0);
        put_bytes(sink, 'h', KEY_TYPE, 1);
        put_unsigned(sink, s->type[i]);
        smurf_sink_char(sink, 'u');
    }
    smurf_sink_char(sink, 'e');
}

static smurf_status write_sequences(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                    smurf_error *err)
{
    struct progress progress = {config->progress, config->progress_context, {"writing", "sequences", 0, 0}};
    progress.state.total = (double)data->sequences;
    put_text(sink, config->key ? config->key : "train");
    smurf_sink_text(sink, "](");
    for (size_t i = 0; i < data->sequences && !sink->status; i++) {
        write_sequence(sink, &data->sequence[i]);
        smurf_status status = i % 256 ? SMURF_OK : smurf_progress_tell(&progress, (double)i, err);
        if (status) return status;
    }
    smurf_sink_char(sink, 'e');
    return SMURF_OK;
}

/* ---- Other fields ---------------------------------------------------------------------------- */

enum about { ABOUT_NAME, ABOUT_START, ABOUT_END, ABOUT_FIRST, ABOUT_BEFORE, ABOUTS };
static const char *const about_text[ABOUTS] = {"sequence", "observation_start", "observation_end", "first_scored",
                                               "events_before"};

static bool is_known(const smurf_sequence *s, enum about about)
{
    switch (about) {
    case ABOUT_NAME: return s->name != NULL;
    case ABOUT_START: return !isnan(s->start);
    case ABOUT_END: return !isnan(s->end);
    case ABOUT_FIRST: return s->first > 1;
    default: return s->before > 0;
    }
}

static void put_about(struct sink *sink, const smurf_sequence *s, enum about about)
{
    if (!is_known(s, about)) {
        smurf_sink_char(sink, 'N');
        return;
    }
    switch (about) {
    case ABOUT_NAME: put_text(sink, s->name); break;
    case ABOUT_START: put_time(sink, s->origin, s->start); break;
    case ABOUT_END: put_time(sink, s->origin, s->end); break;
    case ABOUT_FIRST: put_unsigned(sink, s->first); break;
    default: put_unsigned(sink, s->before); break;
    }
}

static void write_about(struct sink *sink, const smurf_data *data, enum about about)
{
    bool any = false;
    for (size_t i = 0; i < data->sequences && !any; i++) any = is_known(&data->sequence[i], about);
    if (!any) return;
    put_text(sink, about_text[about]);
    smurf_sink_text(sink, "](");
    for (size_t i = 0; i < data->sequences; i++) put_about(sink, &data->sequence[i], about);
    smurf_sink_char(sink, 'e');
}

static void write_shared(struct sink *sink, const smurf_data *data)
{
    if (data->unit[0]) {
        put_text(sink, "unit");
        put_text(sink, data->unit);
    }
    if (data->calendar) {
        put_text(sink, "calendar");
        smurf_sink_char(sink, '\x88');
    }
    if (!data->type_name) return;
    put_text(sink, "type_names");
    smurf_sink_text(sink, "](");
    for (uint32_t k = 0; k < data->types; k++) put_text(sink, data->type_name[k]);
    smurf_sink_char(sink, 'e');
}

smurf_status smurf_pickle_write(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                smurf_error *err)
{
    put_bytes(sink, '\x80', 2, 1);
    define_keys(sink);
    smurf_sink_text(sink, "}(");
    put_text(sink, "dim_process");
    put_unsigned(sink, data->types);
    smurf_status status = write_sequences(sink, data, config, err);
    if (status) return status;
    write_shared(sink, data);
    for (int about = 0; about < ABOUTS; about++) write_about(sink, data, (enum about)about);
    smurf_sink_text(sink, "u.");
    return SMURF_OK;
}
