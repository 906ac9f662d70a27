/*
 * csv_table.h - a table being read: its syntax, its columns and what they mean. Shared by csv_open.c and csv_read.c.
 */
#ifndef SMURF_DATA_CSV_TABLE_H
#define SMURF_DATA_CSV_TABLE_H

#include "data/csv_scan.h"
#include "data/table.h"

struct csv {
    struct csv_scan scan;
    const smurf_read_config *config;
    const char *format;
    bool header;        /* columns have names: those in the first line, or those of a log */
    bool first_is_row;  /* the first line is an event */
    struct field *name; /* (columns) */
    size_t columns;
    const struct field *heading; /* (columns) what names them: the first line, or a comment before it */
    const char *comment;         /* the last comment before the first line; NULL: none */
    struct arena text;           /* of the names */
    struct table table;
    size_t records;   /* of a stream: rows and errors so far */
    smurf_error held; /* of a stream: a bad record that follows the ones handed over; status 0: none */
};

/* Finds the syntax and the columns. builder takes remarks and the description of what was chosen; NULL: a stream, of
   which only the first line is looked at. */
smurf_status smurf_csv_open(struct csv *csv, struct source *source, struct builder *builder,
                            const smurf_read_config *config, const char *format, char delimiter, smurf_error *err);
void smurf_csv_close(struct csv *csv);

/* Is the record with `count` fields the header once more, as where files were joined? */
bool smurf_csv_repeats_header(const struct csv *csv, size_t count);
/* Is this a right number of fields? Empty fields at the end do not count. */
bool smurf_csv_fits(const struct csv *csv, size_t count);

#endif
