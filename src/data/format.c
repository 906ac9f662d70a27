/* format.c - the table of formats; reads and writes through it. See format.h. */
#include "data/format.h"

#include "base/sized.h"
#include "data/database.h"
#include "data/rare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ENTRY(name) &smurf_format_##name,
static const struct format_class *const formats[] = {SMURF_FORMATS(ENTRY)};
#undef ENTRY
enum { FORMATS = sizeof formats / sizeof *formats };

/* For files whose name does not tell the format. */
static const struct format_class *const usual = &smurf_format_jsonl;

const char *smurf_format_name(size_t index)
{
    return index < FORMATS ? formats[index]->name : NULL;
}

const char *smurf_format_title(size_t index)
{
    return index < FORMATS ? formats[index]->title : NULL;
}

const char *smurf_format_of_path(const char *path)
{
    const struct format_class *format = smurf_format_for_path(path);
    return format ? format->name : NULL;
}

smurf_status smurf_format_find(const struct format_class **out, const char *name, smurf_error *err)
{
    *out = usual;
    if (!name) return SMURF_OK;
    for (size_t i = 0; i < FORMATS; i++)
        if (strcasecmp(formats[i]->name, name) == 0) {
            *out = formats[i];
            return SMURF_OK;
        }
    char list[LIST_TEXT];
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "there is no format '%.60s': choose %s", name,
                      smurf_list_names(list, smurf_format_name, "or"));
}

/* Do the first n bytes of the path end in the suffix, with at least one byte before it? */
static bool ends_in(const char *path, size_t n, const char *suffix)
{
    size_t length = suffix ? strlen(suffix) : n;
    return n > length && strncasecmp(path + n - length, suffix, length) == 0;
}

static bool is_gzip_path(const char *path)
{
    return ends_in(path, strlen(path), ".gz");
}

const struct format_class *smurf_format_for_path(const char *path)
{
    size_t n = strlen(path) - (is_gzip_path(path) ? 3 : 0);
    for (size_t i = 0; i < FORMATS; i++)
        if (ends_in(path, n, formats[i]->suffix) || ends_in(path, n, formats[i]->other_suffix)) return formats[i];
    return NULL;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const smurf_read_config read_defaults = {.size = sizeof read_defaults, .sort = 1, .rare = 5};

void smurf_read_config_init_sized(smurf_read_config *config, size_t size)
{
    smurf_sized_init(config, size, &read_defaults, sizeof read_defaults);
}

smurf_status smurf_format_read_config(smurf_read_config *config, const smurf_read_config *given, smurf_error *err)
{
    *config = read_defaults;
    return smurf_sized_take(config, sizeof *config, given, "smurf_read_config", err);
}

enum { HEAD = 4096 };

static size_t blanks(const struct source *source, size_t n)
{
    size_t blank = 0;
    while (blank < n && strchr(" \t\r\n", source->p[blank]) && source->p[blank]) blank++;
    return blank;
}

/* Reads what detection needs: the head of the file or, if at_once, its first non-blank line. */
static smurf_status fill_head(struct source *source, bool at_once, smurf_error *err)
{
    if (!at_once) return smurf_source_fill(source, HEAD, err);
    for (;;) {
        size_t n = (size_t)(source->end - source->p), blank = blanks(source, n);
        if (source->eof || n >= HEAD || memchr(source->p + blank, '\n', n - blank)) return SMURF_OK;
        smurf_status status = smurf_source_fill(source, n + 1, err);
        if (status) return status;
    }
}

/* What people have that smurf does not read, by its first bytes. */
static const struct {
    const char *begin, *says;
} strangers[] = {
    {"PK\3\4", "a zip archive or a spreadsheet (unpack it, or save the sheet as CSV)"},
    {"\xD0\xCF\x11\xE0", "an old spreadsheet (save the sheet as CSV)"},
    {"PAR1", "Parquet (convert it to CSV)"},
    {"SQLite format 3", "an SQLite database (give its path: it is not read from a stream, from memory or packed)"},
    {"BZh", "packed by bzip2 (unpack it)"},
    {"\xFD"
     "7zXZ",
     "packed by xz (unpack it)"},
    {"\x28\xB5\x2F\xFD", "packed by zstd (unpack it)"},
    {"<?xml", "XML (convert it to CSV: one row per event)"},
    {"<!DOCTYPE", "a web page (fetch the data itself)"},
    {"<html", "a web page (fetch the data itself)"},
};

static const char *is_stranger(const char *head, size_t n)
{
    if (n > 9 && !head[7] && head[8] == '{' && head[9] == '"')
        return "a model, or another safetensors file (give data here)";
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        size_t length = strlen(strangers[i].begin);
        if (n >= length && memcmp(head, strangers[i].begin, length) == 0 && (*head == '<' || memchr(head, '\0', n)))
            return strangers[i].says;
    }
    return NULL;
}

static smurf_status fail_unknown(const struct source *source, size_t n, smurf_error *err)
{
    const char *nul = memchr(source->p, '\0', n);
    size_t line = source->line;
    for (const char *p = source->p; nul && p < nul; p++) line += *p == '\n';
    char list[LIST_TEXT];
    if (nul)
        return smurf_fail_at(err, source->name, 0,
                             "not a format smurf reads: there is a NUL byte on line %zu (is the file damaged, or "
                             "UTF-16 without a byte order mark? save it as UTF-8)",
                             line);
    return smurf_fail_at(err, source->name, 0, "not a format smurf reads (%s, each also as .gz)",
                         smurf_list_names(list, smurf_format_title, NULL));
}

/* Lines of numbers are a table again if training read them as one. */
static bool was_table(const smurf_read_config *config)
{
    return config->as && config->as->time_column && config->as->delimiter;
}

smurf_status smurf_format_choose(const struct format_class **out, struct source *source,
                                 const smurf_read_config *config, bool at_once, smurf_error *err)
{
    smurf_status status = fill_head(source, at_once, err);
    if (status) return status;
    size_t n = (size_t)(source->end - source->p);
    if (n > HEAD) n = HEAD;
    if (blanks(source, n) == n && source->eof)
        return smurf_fail_at(err, source->name, 0, "the file is empty: there are no events in it");
    if (config->format) return smurf_format_find(out, config->format, err);
    const char *stranger = is_stranger(source->p, n);
    if (stranger) return smurf_fail_at(err, source->name, 0, "this is %s", stranger);
    for (size_t i = FORMATS; i-- > 0;)
        if (formats[i]->looks && formats[i]->looks(source->p, n)) {
            *out = formats[i] == &smurf_format_rmtpp && was_table(config) ? &smurf_format_csv : formats[i];
            return SMURF_OK;
        }
    return fail_unknown(source, n, err);
}

smurf_status smurf_format_finish(smurf_data **out, struct builder *b, const struct source *source, smurf_error *err)
{
    if (b->calendar && !b->unit) b->unit = "s";
    if (b->calendar && strcmp(b->unit, "s") != 0)
        return smurf_fail_at(err, source->name, 0,
                             "times are dates and count seconds: the unit cannot be '%.60s' (leave --unit out)",
                             b->unit);
    return smurf_error_place(err, smurf_builder_finish(b, out, err), source->name, 0);
}

smurf_status smurf_format_no_database(const char *name, const smurf_read_config *config, smurf_error *err)
{
    if (!config->table && !config->query) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%.300s is not a database: leave --%s out", name,
                      config->table ? "table" : "query");
}

/* Further columns are asked for, but the format has none. With "auto" there may be none in a table. */
static smurf_status check_features(const struct builder *b, const smurf_read_config *config,
                                   const struct source *source, smurf_error *err)
{
    if (!config->features || !*config->features || b->reading.features) return SMURF_OK;
    return smurf_fail_at(err, source->name, 0,
                         "further columns are read from CSV, TSV, packed files and JSON with one object per event "
                         "only (convert it, or leave --features out)");
}

smurf_status smurf_format_read_source(smurf_data **out, struct source *source, const smurf_data *types_of,
                                      const smurf_read_config *config, smurf_error *err)
{
    const struct format_class *format = &smurf_format_csv;
    struct builder builder = {.sort = config->sort, .words = config->types_are_words};
    smurf_status status = SMURF_OK;
    if (!source->rows) status = smurf_format_no_database(source->name, config, err);
    if (!status && !source->rows) status = smurf_format_choose(&format, source, config, false, err);
    if (!status && types_of && types_of->type_name) status = smurf_builder_inherit_types(&builder, types_of, err);
    builder.numbers_only = types_of && !types_of->type_name && types_of->events && !config->types_are_words;
    builder.name = source->name;
    builder.unit = config->unit;
    if (!status) status = format->read(source, &builder, config, err);
    if (!status) status = check_features(&builder, config, source, err);
    if (!status) status = smurf_database_note(&builder, source, err);
    if (!status) status = smurf_format_finish(out, &builder, source, err);
    smurf_builder_release(&builder);
    return status;
}

smurf_status smurf_format_read_path(smurf_data **out, const char *path, const smurf_data *types_of,
                                    const smurf_read_config *given, smurf_error *err)
{
    smurf_read_config config;
    char what[256], *name = malloc(strlen(path) + 1);
    *out = NULL;
    if (!name) return smurf_fail_memory(err);
    smurf_status status = smurf_format_read_config(&config, given, err);
    snprintf(what, sizeof what, "reading %s", strcmp(path, "-") ? smurf_path_shown(name, path) : "standard input");
    struct progress progress = {config.progress, config.progress_context, {what, "bytes", 0, 0}};
    struct source source = {.progress = &progress};
    const struct database_class *database = smurf_database_of(path);
    if (!status)
        status = database ? smurf_database_source(&source, database, path, name, &config, err)
                          : smurf_source_open(&source, path, &progress, err);
    if (!status) {
        status = smurf_format_read_source(out, &source, types_of, &config, err);
        smurf_source_close(&source);
    }
    free(name);
    return status;
}

/* Merges rare types of a data set that is complete; frees it on failure. */
static smurf_status merge_rare(smurf_data **data, const smurf_read_config *config, smurf_error *err)
{
    smurf_status status = smurf_rare_merge(data, 1, config->rare, err);
    if (!status && !(config->as && config->as->features)) status = smurf_further_merge(*data, config->rare, err);
    if (!status) return SMURF_OK;
    smurf_data_free(*data);
    *data = NULL;
    return status;
}

smurf_status smurf_data_read(smurf_data **out, const char *path, const smurf_read_config *given, smurf_error *err)
{
    smurf_read_config config;
    *out = NULL;
    smurf_status status = smurf_format_read_config(&config, given, err);
    if (!status) status = smurf_format_read_path(out, path, NULL, &config, err);
    return status ? status : merge_rare(out, &config, err);
}

smurf_status smurf_data_read_memory(smurf_data **out, const void *bytes, size_t size, const char *name,
                                    const smurf_read_config *given, smurf_error *err)
{
    smurf_read_config config;
    struct source source;
    *out = NULL;
    smurf_status status = smurf_format_read_config(&config, given, err);
    if (!status) status = smurf_source_open_memory(&source, bytes, size, name ? name : "memory", err);
    if (status) return status;
    status = smurf_format_read_source(out, &source, NULL, &config, err);
    smurf_source_close(&source);
    return status ? status : merge_rare(out, &config, err);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static const smurf_write_config write_defaults = {.size = sizeof write_defaults};

void smurf_write_config_init_sized(smurf_write_config *config, size_t size)
{
    smurf_sized_init(config, size, &write_defaults, sizeof write_defaults);
}

/* Does everything but smurf_sink_commit. After a failure the sink is closed. */
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

/* Writes both files, or neither if one fails. */
static smurf_status write_pair(const struct format_class *format, const smurf_data *data, const char *path,
                               const smurf_write_config *config, smurf_error *err)
{
    struct sink first, second;
    char *companion;
    smurf_status status = format->pair->companion(&companion, path, err);
    if (status) return status;
    status = write_file(&second, format->pair->write, data, companion, config, err);
    free(companion);
    if (status) return status;
    status = write_file(&first, format->write, data, path, config, err);
    if (status) {
        smurf_sink_abandon(&second);
        return status;
    }
    status = smurf_sink_commit(&second, err);
    smurf_status last = smurf_sink_commit(&first, status ? NULL : err);
    return status ? status : last;
}

static const char *suffix_of(size_t index)
{
    return index < FORMATS ? formats[index]->suffix : NULL;
}

static smurf_status choose_writer(const struct format_class **out, const char *path, const char *asked, size_t columns,
                                  smurf_error *err)
{
    char list[LIST_TEXT];
    *out = asked ? NULL : smurf_format_for_path(path);
    if (!*out && !asked && strcmp(path, "-") != 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "cannot tell the format of '%s' from its name: end it in %s, or say which with --to", path,
                          smurf_list_names(list, suffix_of, "or"));
    smurf_status status = *out ? SMURF_OK : smurf_format_find(out, asked, err);
    if (!status && columns && !(*out)->further)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "%s cannot hold the %zu further column%s of this data: write CSV, TSV or a packed file, or "
                          "leave --features out",
                          (*out)->title, columns, columns == 1 ? "" : "s");
    if (!status && !(*out)->write)
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s can be read but not written: choose another format",
                            (*out)->title);
    return status;
}

smurf_status smurf_data_write(const smurf_data *data, const char *path, const smurf_write_config *given,
                              smurf_error *err)
{
    smurf_write_config config = write_defaults;
    const struct format_class *format;
    smurf_status status = smurf_sized_take(&config, sizeof config, given, "smurf_write_config", err);
    if (!status) status = choose_writer(&format, path, config.format, data->further.columns, err);
    if (status) return status;
    if (!config.key) config.key = smurf_part_of_path(path);
    if (format->pair) return write_pair(format, data, path, &config, err);
    struct sink sink;
    status = write_file(&sink, format->write, data, path, &config, err);
    return status ? status : smurf_sink_commit(&sink, err);
}

smurf_status smurf_data_write_memory(const smurf_data *data, void **bytes, size_t *size,
                                     const smurf_write_config *given, smurf_error *err)
{
    smurf_write_config config = write_defaults;
    const struct format_class *format;
    struct sink sink;
    *bytes = NULL;
    *size = 0;
    smurf_status status = smurf_sized_take(&config, sizeof config, given, "smurf_write_config", err);
    if (!status) status = choose_writer(&format, "-", config.format, data->further.columns, err);
    if (!status && format->pair)
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s is two files: choose another format", format->title);
    if (!status) status = smurf_sink_open_memory(&sink, err);
    if (status) return status;
    status = format->write(&sink, data, &config, err);
    if (!status) return smurf_sink_take(&sink, bytes, size, err);
    smurf_sink_abandon(&sink);
    return status;
}
