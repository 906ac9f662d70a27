/*
 * sniff.h - what the columns of a table hold, from a sample of its rows.
 *
 * Only looks; choose.h draws conclusions. A column is known by its number. Memory is bounded by the sample.
 */
#ifndef SMURF_DATA_SNIFF_H
#define SMURF_DATA_SNIFF_H

#include "base/error.h"
#include "data/field.h"
#include "data/names.h"
#include "data/time_format.h"

/* Rows, bytes and columns that are looked at; different values that are listed. */
enum { SNIFF_ROWS = 20000, SNIFF_BYTES = 2 << 20, SNIFF_COLUMNS = 1024, SNIFF_VALUES = 4096, SNIFF_EXAMPLE = 40 };

struct sniff_column {
    struct names value;          /* the first SNIFF_VALUES different values */
    size_t cells;                /* that are not empty */
    size_t repeats;              /* cells whose value came before */
    size_t beyond;               /* cells with a value that is not listed */
    size_t numbers;              /* cells that are decimal numbers */
    size_t wholes;               /* of them whole ones, not negative */
    size_t indices;              /* of these those that can be a type's number */
    double largest, last;        /* number */
    size_t falls;                /* numbers below the one before */
    size_t commas;               /* numbers with a comma, such as 0,25 or 1,600,000 */
    size_t flags;                /* true, false, yes, no, 0, 1 */
    size_t months;               /* names of months */
    size_t days;                 /* whole numbers from 1 to 31 */
    char example[SNIFF_EXAMPLE]; /* the first cell; of times, the first that can be read */
    struct time_guess time;
    size_t times; /* cells that some format of times reads */
    bool no_time; /* its cells are no times: they are no longer tried */
};

struct sniff {
    struct sniff_column *column;
    size_t columns, column_room;
    size_t rows;
};

void smurf_sniff_release(struct sniff *sniff);
/* Looks at a row. Columns that it lacks are empty; further ones are new, up to SNIFF_COLUMNS. */
smurf_status smurf_sniff_row(struct sniff *sniff, const struct field *cell, size_t n, smurf_error *err);
/* Makes room for `columns` columns. */
smurf_status smurf_sniff_columns(struct sniff *sniff, size_t columns, smurf_error *err);

/* Bytes from the middle of a large file, and from the end of what is in memory, that are looked at too. */
enum { SNIFF_PIECE = SNIFF_BYTES / 8 };

/* The rows of a sample, as often as needed: `each` hands every row to `take` and stops at its first failure. */
typedef smurf_status sniff_take(void *to, const struct field *cell, size_t n, smurf_error *err);
struct sniff_rows {
    void *context;
    smurf_status (*each)(void *context, sniff_take *take, void *to, smurf_error *err);
};

/* Different values; a lower bound where not all are listed. */
size_t smurf_sniff_distinct(const struct sniff_column *column);
/* Is the text a month's name, whole or of three letters? */
bool smurf_sniff_is_month(const char *text, size_t n);

#endif
