/*
 * csv_sample.h - rows of a table that are in memory, to be looked at before the table is read: which delimiter do they
 * have?
 */
#ifndef SMURF_DATA_CSV_SAMPLE_H
#define SMURF_DATA_CSV_SAMPLE_H

#include "data/csv_scan.h"
#include "data/sniff.h"

/* Rows of a table that are in memory. */
struct csv_sample {
    const char *begin, *end;
    bool whole; /* the table ends there */
    char delimiter;
    const struct log_syntax *log;
    size_t columns; /* rows with more fields, or fewer than `least`, are skipped; 0: none are */
    size_t least;
    struct field *first;        /* (columns) a row before the others; NULL: none */
    const struct field *header; /* (columns) repeated where files were joined: such rows are skipped; NULL: none */
    char *middle;               /* owned: rows from the middle of the file; the first and last line may be cut off */
    size_t middle_n;
};

/* Hands up to `most` records to `take`. *begin moves behind them. whole: the last one is complete. */
smurf_status smurf_csv_sample_records(const struct csv_sample *s, const char **begin, const char *end, bool whole,
                                      size_t most, sniff_take *take, void *to, smurf_error *err);
/* All rows: from the beginning, the end and the middle. context: a struct csv_sample. */
smurf_status smurf_csv_sample_rows(void *context, sniff_take *take, void *to, smurf_error *err);
/* The number of fields that most of the first rows have; 0: they do not agree. */
smurf_status smurf_csv_count_most(const struct csv_sample *s, char delimiter, size_t *fields, smurf_error *err);
/* The delimiter of the rows and of the first line, [p, end). Changes that of the sample. */
smurf_status smurf_csv_guess_delimiter(struct csv_sample *s, const char *p, const char *end, char *out,
                                       smurf_error *err);
/* Is the row the header once more? */
bool smurf_csv_is_repeated(const struct field *header, const struct field *field, size_t count);

#endif
