/*
 * format.h - the table of file formats: one line a format, one file a reader.
 *
 * A reader turns bytes into calls of the builder; it reads its options from the public config and never
 * sees gzip, paths or standard input. To add a format: write the file, declare its functions here, add its line in
 * format.c and its number in smurf.h.
 */
#ifndef SMURF_DATA_FORMAT_H
#define SMURF_DATA_FORMAT_H

#include "data/builder.h"
#include "data/sink.h"
#include "data/source.h"

typedef smurf_status format_read(struct source *source, struct builder *builder, const smurf_read_config *config,
                                 smurf_error *err);
/* config is never NULL. Failures of the sink may be left to commit. */
typedef smurf_status format_write(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                  smurf_error *err);

struct format {
    smurf_format id;
    const char *name;
    const char *suffix; /* of file names, separated by spaces: ".jsonl .ndjson" */
    /* Does a file that starts with these n bytes look like this format? Asked in the order of the table. */
    bool (*looks)(const char *head, size_t n);
    format_read *read;
    format_write *write;
    format_write *write_types; /* into the neighbouring file of RMTPP text; NULL: one file holds all */
};

/* NULL where there is none. */
const struct format *smurf_format_get(smurf_format id);
/* By the suffix of the path, ".gz" aside; NULL where it has none that is known. */
const struct format *smurf_format_for_path(const char *path);

/* "train", "dev" or "test", if the name of the file says so; else NULL. */
const char *smurf_part_of_path(const char *path);

/* Reads an opened source, or a path. types_of: a data set whose numbering of types goes on here, or NULL. */
smurf_status smurf_format_read_source(smurf_data **out, struct source *source, const smurf_data *types_of,
                                      const smurf_read_config *config, smurf_error *err);
smurf_status smurf_format_read_path(smurf_data **out, const char *path, const smurf_data *types_of,
                                    const smurf_read_config *config, smurf_error *err);

bool smurf_pickle_looks(const char *head, size_t n);
bool smurf_json_looks(const char *head, size_t n);
bool smurf_jsonl_looks(const char *head, size_t n);
bool smurf_rmtpp_looks(const char *head, size_t n);
bool smurf_csv_looks(const char *head, size_t n);

format_read smurf_csv_read, smurf_tsv_read, smurf_json_read, smurf_rmtpp_read, smurf_pickle_read;
format_write smurf_csv_write, smurf_tsv_write, smurf_json_write, smurf_jsonl_write, smurf_rmtpp_write,
    smurf_rmtpp_write_events, smurf_pickle_write;

#endif
