/*
 * format.h - file formats: one class per format, defined in the format's own file.
 *
 * A reader turns bytes into builder calls. It takes its options from the public config and never sees gzip, paths or
 * standard input. To add a format: write its file and add its name to SMURF_FORMATS.
 */
#ifndef SMURF_DATA_FORMAT_H
#define SMURF_DATA_FORMAT_H

#include "data/builder.h"
#include "data/sink.h"
#include "data/source.h"

typedef smurf_status format_read(struct source *source, struct builder *builder, const smurf_read_config *config,
                                 smurf_error *err);
/* config is never NULL. Sink failures may be left to commit. */
typedef smurf_status format_write(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                  smurf_error *err);

/* For formats that keep types in a second file. */
struct format_pair {
    const char *prefix; /* of the first file's name in a directory of parts: "time-" */
    /* The path of the second file given that of the first; freed by the caller. */
    smurf_status (*companion)(char **out, const char *path, smurf_error *err);
    format_write *write; /* writes the second file */
};

/* For formats that can be read record by record. */
struct format_stream {
    /* config is borrowed until close. After a failure there is nothing to close. */
    smurf_status (*open)(void **state, struct source *source, const smurf_read_config *config, smurf_error *err);
    /* Pushes the next record and up to `most` in total, waiting only for the first. *records: how many, 0 at the end.
       *line: where the first begins. *whole: 1, they are complete sequences; 0, events of sequences that may continue.
       After an SMURF_ERROR_INPUT the stream continues after the bad record. err is not NULL. */
    smurf_status (*read)(void *state, struct builder *builder, size_t most, size_t *records, uint64_t *line,
                         bool *whole, smurf_error *err);
    void (*close)(void *state);
};

struct format_class {
    const char *name;         /* on the command line: "jsonl" */
    const char *title;        /* in messages: "JSON Lines" */
    const char *suffix;       /* of file names: ".jsonl" */
    const char *other_suffix; /* also accepted: ".ndjson"; NULL: none */
    bool (*looks)(const char *head,
                  size_t n); /* does a file that starts with these n bytes look like this format? NULL: never */
    format_read *read;
    format_write *write;                /* NULL: cannot be written */
    const struct format_pair *pair;     /* NULL: a single file */
    const struct format_stream *stream; /* NULL: must be read whole */
    bool further;                       /* its writer keeps further columns */
};

/* In the order of the help texts. Content is tested from last to first: csv accepts any text. */
#define SMURF_FORMATS(X)     X(csv) X(tsv) X(jsonl) X(json) X(rmtpp) X(pickle) X(packed)
#define FORMAT_DECLARE(name) extern const struct format_class smurf_format_##name;
SMURF_FORMATS(FORMAT_DECLARE)

/* Finds a format by name; NULL: the default, jsonl. An unknown name is an SMURF_ERROR_ARGUMENT. */
smurf_status smurf_format_find(const struct format_class **out, const char *name, smurf_error *err);
/* Finds a format by the path's suffix, ignoring ".gz"; NULL if unknown. */
const struct format_class *smurf_format_for_path(const char *path);

/* "train", "dev" or "test" if the file name says so; else NULL. */
const char *smurf_part_of_path(const char *path);

/* Copies the caller's config, which may be NULL or differ in length from ours (base/sized.h). */
smurf_status smurf_format_read_config(smurf_read_config *config, const smurf_read_config *given, smurf_error *err);
/* Chooses the format of a source: as config names it, else by content. at_once: by its first line, without waiting for
   more. */
smurf_status smurf_format_choose(const struct format_class **out, struct source *source,
                                 const smurf_read_config *config, bool at_once, smurf_error *err);
/* Fails if config names a table or a query, for a source that is no database. */
smurf_status smurf_format_no_database(const char *name, const smurf_read_config *config, smurf_error *err);
/* Finishes building what was read from the source and checks the unit. */
smurf_status smurf_format_finish(smurf_data **out, struct builder *builder, const struct source *source,
                                 smurf_error *err);

/* Reads an open source, or a path. types_of: a data set whose type numbering is continued, or NULL. */
smurf_status smurf_format_read_source(smurf_data **out, struct source *source, const smurf_data *types_of,
                                      const smurf_read_config *config, smurf_error *err);
smurf_status smurf_format_read_path(smurf_data **out, const char *path, const smurf_data *types_of,
                                    const smurf_read_config *config, smurf_error *err);

#endif
