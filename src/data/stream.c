/*
 * stream.c - a source read piece by piece (smurf_stream). The format readers do the work; what applies to the rest of
 * the stream (type names, their number, the unit) is kept here between pieces.
 */
#include "data/database.h"
#include "data/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct smurf_stream {
    struct source source;
    char *name; /* of the source */
    struct progress progress;
    char what[256];
    smurf_read_config config;
    const struct format_class *format; /* NULL: not yet known */
    void *state;                       /* of format->stream */
    bool done;
    struct names names; /* of types, if the source lists them */
    uint32_t declared;
    char *unit; /* if the source gives it */
    smurf_piece piece;
};

void smurf_stream_free(smurf_stream *s)
{
    if (!s) return;
    if (s->state) s->format->stream->close(s->state);
    smurf_data_free(s->piece.data);
    smurf_names_release(&s->names);
    smurf_source_close(&s->source);
    free(s->unit);
    free(s->name);
    free(s);
}

static smurf_status check_source(const char *path, const char *name, const smurf_read_config *config, smurf_error *err)
{
    if (path && smurf_database_of(path))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "a database cannot be read as a stream: read it whole, or export its rows as CSV");
    return smurf_format_no_database(path && strcmp(path, "-") == 0 ? "standard input" : name, config, err);
}

/* Exactly one of path and read is NULL. */
static smurf_status make(smurf_stream **out, const char *path, smurf_read_fn *read, void *context, const char *name,
                         const smurf_read_config *config, smurf_error *err)
{
    *out = NULL;
    smurf_stream *s = calloc(1, sizeof *s);
    if (!s || !(s->name = strdup(name))) {
        free(s);
        return smurf_fail_memory(err);
    }
    smurf_status status = smurf_format_read_config(&s->config, config, err);
    if (!status) status = check_source(path, name, &s->config, err);
    snprintf(s->what, sizeof s->what, "reading %s", path && strcmp(path, "-") == 0 ? "standard input" : name);
    s->progress = (struct progress){s->config.progress, s->config.progress_context, {s->what, "bytes", 0, 0}};
    if (!status)
        status = path ? smurf_source_open(&s->source, s->name, &s->progress, err)
                      : smurf_source_open_reader(&s->source, read, context, s->name, &s->progress, err);
    if (status)
        smurf_stream_free(s);
    else
        *out = s;
    return status;
}

smurf_status smurf_stream_new(smurf_stream **out, const char *path, const smurf_read_config *config, smurf_error *err)
{
    return make(out, path, NULL, NULL, path, config, err);
}

smurf_status smurf_stream_new_reader(smurf_stream **out, smurf_read_fn *read, void *context, const char *name,
                                     const smurf_read_config *config, smurf_error *err)
{
    return make(out, NULL, read, context, name ? name : "stream", config, err);
}

/* Detects the format of the source and opens it. */
static smurf_status begin(smurf_stream *s, smurf_error *err)
{
    const struct format_class *format;
    smurf_status status = smurf_format_choose(&format, &s->source, s->config.format, true, err);
    if (!status && format->stream) status = format->stream->open(&s->state, &s->source, &s->config, err);
    if (status)
        s->state = NULL;
    else
        s->format = format;
    return status;
}

static smurf_status read_whole(smurf_stream *s, smurf_error *err)
{
    s->done = true;
    s->piece.whole = 1;
    s->piece.line = 1;
    return smurf_format_read_source(&s->piece.data, &s->source, NULL, &s->config, err);
}

/* A builder that knows what earlier pieces declared. */
static smurf_status start_builder(const smurf_stream *s, struct builder *b, smurf_error *err)
{
    *b = (struct builder){.name = s->source.name, .words = s->config.types_are_words};
    b->unit = s->config.unit ? s->config.unit : s->unit;
    b->declared = s->declared;
    if (s->names.count) b->words = b->inherited = true;
    for (uint32_t k = 0; k < s->names.count; k++)
        if (smurf_names_intern(&b->vocabulary, s->names.name[k], s->names.length[k]) != k)
            return smurf_fail_memory(err);
    return SMURF_OK;
}

static smurf_status remember(smurf_stream *s, const struct builder *b, smurf_error *err)
{
    s->declared = b->declared;
    if (b->unit && !s->config.unit && !s->unit && !(s->unit = strdup(b->unit))) return smurf_fail_memory(err);
    for (uint32_t k = s->names.count; b->inherited && k < b->vocabulary.count; k++)
        if (smurf_names_intern(&s->names, b->vocabulary.name[k], b->vocabulary.length[k]) != k)
            return smurf_fail_memory(err);
    return SMURF_OK;
}

static smurf_status read_piece(smurf_stream *s, size_t most, smurf_error *err)
{
    struct builder b;
    size_t records = 0;
    bool whole = false;
    smurf_status status = start_builder(s, &b, err);
    if (!status) status = s->format->stream->read(s->state, &b, most, &records, &s->piece.line, &whole, err);
    if (!status && records) status = remember(s, &b, err);
    if (!status && records) status = smurf_format_finish(&s->piece.data, &b, &s->source, err);
    smurf_builder_release(&b);
    s->piece.whole = whole;
    s->done = status ? status != SMURF_ERROR_INPUT : records == 0;
    return status;
}

smurf_status smurf_stream_next(smurf_stream *s, size_t most, const smurf_piece **out, smurf_error *err)
{
    smurf_error own;
    smurf_status status = SMURF_OK;
    *out = NULL;
    smurf_data_free(s->piece.data);
    s->piece = (smurf_piece){0};
    if (s->done) return SMURF_OK;
    if (!s->format && (status = begin(s, &own)))
        s->done = true; /* cannot continue without a header */
    else if (!s->format->stream)
        status = read_whole(s, &own);
    else
        status = read_piece(s, most ? most : SIZE_MAX, &own);
    if (status && err) *err = own;
    if (!status && s->piece.data) *out = &s->piece;
    return status;
}
