/* format.c - the table of formats, and reading and writing by it. See format.h. */
#include "data/format.h"

#include "data/rmtpp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* In the order in which content is asked what it looks like: the most particular first. */
static const struct format formats[] = {
    {SMURF_FORMAT_PICKLE, "pickle", ".pkl .pickle", smurf_pickle_looks, smurf_pickle_read, smurf_pickle_write, NULL},
    {SMURF_FORMAT_JSONL, "jsonl", ".jsonl .ndjson", smurf_jsonl_looks, smurf_json_read, smurf_jsonl_write, NULL},
    {SMURF_FORMAT_JSON, "json", ".json", smurf_json_looks, smurf_json_read, smurf_json_write, NULL},
    {SMURF_FORMAT_RMTPP, "rmtpp", ".txt", smurf_rmtpp_looks, smurf_rmtpp_read, smurf_rmtpp_write,
     smurf_rmtpp_write_events},
    {SMURF_FORMAT_TSV, "tsv", ".tsv .tab", NULL, smurf_tsv_read, smurf_tsv_write, NULL},
    {SMURF_FORMAT_CSV, "csv", ".csv", smurf_csv_looks, smurf_csv_read, smurf_csv_write, NULL},
};
enum { FORMATS = sizeof formats / sizeof *formats };

const struct format *smurf_format_get(smurf_format id)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].id == id) return &formats[i];
    return NULL;
}

const char *smurf_format_name(smurf_format format)
{
    const struct format *f = smurf_format_get(format);
    return f ? f->name : NULL;
}

smurf_format smurf_format_named(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcasecmp(formats[i].name, name) == 0) return formats[i].id;
    return SMURF_FORMAT_AUTO;
}

static bool ends_in(const char *path, size_t n, const char *suffix, size_t suffix_n)
{
    return n > suffix_n && strncasecmp(path + n - suffix_n, suffix, suffix_n) == 0;
}

static bool is_gzip_path(const char *path)
{
    return ends_in(path, strlen(path), ".gz", 3);
}

const struct format *smurf_format_for_path(const char *path)
{
    size_t n = strlen(path);
    if (is_gzip_path(path)) n -= 3;
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *suffix = formats[i].suffix; *suffix;) {
            size_t length = strcspn(suffix, " ");
            if (ends_in(path, n, suffix, length)) return &formats[i];
            suffix += length + (suffix[length] == ' ');
        }
    return NULL;
}

/* ---- Reading --------------------------------------------------------------------------------- */

void smurf_read_config_init(smurf_read_config *config)
{
    *config = (smurf_read_config){.size = sizeof *config};
}

/* A copy of the caller's config, which may be older (shorter) than ours, or NULL. */
static smurf_read_config read_config(const smurf_read_config *given)
{
    smurf_read_config config;
    smurf_read_config_init(&config);
    if (given) memcpy(&config, given, given->size < sizeof config ? given->size : sizeof config);
    return config;
}

/* Which format the source is in. */
static smurf_status choose(struct source *source, smurf_format asked, const struct format **out, smurf_error *err)
{
    enum { HEAD = 4096 };
    smurf_status status = smurf_source_fill(source, HEAD, err);
    if (status) return status;
    size_t n = (size_t)(source->end - source->p);
    if (n > HEAD) n = HEAD;
    size_t blank = 0;
    while (blank < n && strchr(" \t\r\n", source->p[blank]) && source->p[blank]) blank++;
    if (blank == n && source->eof)
        return smurf_fail(err, SMURF_ERROR_INPUT, "%s: the file is empty: there are no events in it", source->name);
    if (n >= 2 && (memcmp(source->p, "\xFF\xFE", 2) == 0 || memcmp(source->p, "\xFE\xFF", 2) == 0))
        return smurf_fail(err, SMURF_ERROR_INPUT, "%s: the text is UTF-16 (save it as UTF-8)", source->name);
    if (asked && (*out = smurf_format_get(asked))) return SMURF_OK;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].looks && formats[i].looks(source->p, n)) {
            *out = &formats[i];
            return SMURF_OK;
        }
    return smurf_fail(err, SMURF_ERROR_INPUT,
                      "%s: not a format smurf reads (CSV, TSV, JSON Lines, JSON, RMTPP text, pickle, each also as .gz)",
                      source->name);
}

smurf_status smurf_format_read_source(smurf_data **out, struct source *source, const smurf_data *types_of,
                                      const smurf_read_config *config, smurf_error *err)
{
    const struct format *format = NULL;
    struct builder builder = {.sort = config->sort, .words = config->types_are_words};
    smurf_status status = choose(source, config->format, &format, err);
    if (!status && types_of && types_of->type_name) status = smurf_builder_inherit_types(&builder, types_of, err);
    builder.numbers_only = types_of && !types_of->type_name && types_of->events && !config->types_are_words;
    builder.name = source->name;
    builder.unit = config->unit;
    if (!status) status = format->read(source, &builder, config, err);
    if (!status && builder.calendar && !builder.unit) builder.unit = "s";
    if (!status && builder.calendar && strcmp(builder.unit, "s") != 0)
        status = smurf_fail(err, SMURF_ERROR_INPUT,
                            "%s: times are dates and count seconds: the unit cannot be '%.60s' (leave --unit out)",
                            source->name, builder.unit);
    if (!status) {
        status = smurf_builder_finish(&builder, out, err);
        if (status == SMURF_ERROR_INPUT && err) {
            smurf_error inner = *err;
            smurf_fail(err, status, "%s: %.900s", source->name, inner.message);
        }
    }
    smurf_builder_release(&builder);
    return status;
}

smurf_status smurf_format_read_path(smurf_data **out, const char *path, const smurf_data *types_of,
                                    const smurf_read_config *given, smurf_error *err)
{
    smurf_read_config config = read_config(given);
    char what[256];
    snprintf(what, sizeof what, "reading %s", strcmp(path, "-") ? path : "standard input");
    struct progress progress = {config.progress, config.progress_context, {what, "bytes", 0, 0}};
    struct source source;
    *out = NULL;
    smurf_status status = smurf_source_open(&source, path, &progress, err);
    if (status) return status;
    status = smurf_format_read_source(out, &source, types_of, &config, err);
    smurf_source_close(&source);
    return status;
}

smurf_status smurf_data_read(smurf_data **out, const char *path, const smurf_read_config *config, smurf_error *err)
{
    return smurf_format_read_path(out, path, NULL, config, err);
}

smurf_status smurf_data_read_memory(smurf_data **out, const void *bytes, size_t size, const char *name,
                                    const smurf_read_config *given, smurf_error *err)
{
    smurf_read_config config = read_config(given);
    struct source source;
    *out = NULL;
    smurf_status status = smurf_source_open_memory(&source, bytes, size, name ? name : "memory", err);
    if (status) return status;
    status = smurf_format_read_source(out, &source, NULL, &config, err);
    smurf_source_close(&source);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

void smurf_write_config_init(smurf_write_config *config)
{
    *config = (smurf_write_config){.size = sizeof *config};
}

/* Writes all but the last step, smurf_sink_commit. After a failure the sink is closed. */
static smurf_status write_file(struct sink *sink, format_write *write, const smurf_data *data, const char *path,
                               const smurf_write_config *config, smurf_error *err)
{
    smurf_status status = smurf_sink_open(sink, path, is_gzip_path(path), err);
    if (status) return status;
    status = write(sink, data, config, err);
    if (!status) status = smurf_sink_settle(sink, err);
    if (status) smurf_sink_abandon(sink);
    return status;
}

/* Both files or, where one cannot be written, none. */
static smurf_status write_pair(const struct format *format, const smurf_data *data, const char *path,
                               const char *types_path, const smurf_write_config *config, smurf_error *err)
{
    struct sink times, types;
    smurf_status status = write_file(&types, format->write_types, data, types_path, config, err);
    if (status) return status;
    status = write_file(&times, format->write, data, path, config, err);
    if (status) {
        smurf_sink_abandon(&types);
        return status;
    }
    status = smurf_sink_commit(&types, err);
    smurf_status last = smurf_sink_commit(&times, status ? NULL : err);
    return status ? status : last;
}

smurf_status smurf_data_write(const smurf_data *data, const char *path, const smurf_write_config *given,
                              smurf_error *err)
{
    smurf_write_config config;
    smurf_write_config_init(&config);
    if (given) memcpy(&config, given, given->size < sizeof config ? given->size : sizeof config);
    const struct format *format = config.format ? smurf_format_get(config.format) : smurf_format_for_path(path);
    if (!format && strcmp(path, "-") == 0) format = smurf_format_get(SMURF_FORMAT_JSONL);
    if (!format)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "cannot tell the format of '%s' from its name: end it in .csv, .tsv, .jsonl, .json, .txt or "
                          ".pkl, or say which with --to",
                          path);
    if (!config.key) config.key = smurf_part_of_path(path);
    if (!format->write_types) {
        struct sink sink;
        smurf_status status = write_file(&sink, format->write, data, path, &config, err);
        return status ? status : smurf_sink_commit(&sink, err);
    }

    char *types = smurf_rmtpp_companion(path);
    if (!types)
        return smurf_fail(
            err, SMURF_ERROR_ARGUMENT,
            "RMTPP text is two files: have 'time' in the name '%s', and the types go to the same name with "
            "'event'",
            path);
    smurf_status status = write_pair(format, data, path, types, &config, err);
    free(types);
    return status;
}
