/*
 * csv_scan.h - the records of a table and their fields.
 *
 * RFC 4180 quoting ("" inside quotes, line breaks inside quotes), CRLF or LF, empty lines skipped. Fields may also be
 * separated by runs of blanks.
 */
#ifndef SMURF_DATA_CSV_SCAN_H
#define SMURF_DATA_CSV_SCAN_H

#include "data/log_lines.h"
#include "data/source.h"

struct csv_scan {
    struct source *source;
    smurf_error *err;
    char delimiter;               /* NUL: not known yet; ' ': runs of blanks */
    const struct log_syntax *log; /* lines of a log instead; NULL: fields are delimited */
    struct field *field;          /* of the current record */
    size_t field_room;
    size_t lines;    /* physical lines of the current record */
    size_t searched; /* bytes of it already searched for its end */
    bool inside;     /* whether those bytes end inside quotes */
    bool quoted;     /* whether it has a quote */
    char *unquoted;  /* room for unquoted copies */
    size_t unquoted_room;
};

/* The next non-empty record, without its line end. False at the end of input, on failure or, unless it may wait, if the
   record is incomplete. */
bool smurf_csv_next(struct csv_scan *csv, bool wait, const char **begin, const char **end, smurf_status *status);
/* Splits [p, end), the record that smurf_csv_next found, into csv->field. Fields point into the window (or into
 * `unquoted`), with surrounding blanks trimmed.
 */
smurf_status smurf_csv_split(struct csv_scan *csv, const char *p, const char *end, size_t *count);
void smurf_csv_release(struct csv_scan *csv);

#endif
