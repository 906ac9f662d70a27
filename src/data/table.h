/*
 * table.h - rows of cells become events: times are read, rows with bad cells are left out and counted.
 *
 * Used by the readers of tables (CSV, logs) and of logs with one JSON object per event.
 */
#ifndef SMURF_DATA_TABLE_H
#define SMURF_DATA_TABLE_H

#include "data/choose.h"
#include "data/further_cells.h"
#include "data/rows.h"

/* The cells of one event; n 0: empty. */
struct event_cells {
    struct field time, sequence, type, start, end, first, before;
    struct field further[FURTHER_COLUMNS]; /* (choice.further) */
};

enum table_fault { TABLE_FINE, TABLE_NO_TYPE, TABLE_NO_SEQUENCE, TABLE_HEADER, TABLE_UNREADABLE, TABLE_FAULTS };

struct table {
    struct choice choice;
    bool lenient;      /* rows with faults are left out */
    bool keep;         /* an empty type or sequence is one of its own */
    bool has_windows;  /* there are columns of observation windows */
    bool named, typed; /* there is a sequence column, a type column */
    struct time_reader reader;
    bool has_reader;       /* false: numbers or ISO-8601, as the first cell is */
    int calendar;          /* 1 dates, 0 numbers, -1 none yet */
    size_t rows;           /* seen, including those left out */
    enum table_fault last; /* of the last row */
    struct {
        size_t rows;
        uint64_t line; /* of the first */
    } fault[TABLE_FAULTS];
    smurf_error unreadable; /* of the first unreadable row */
    char more[160];         /* further ones, for the message */
    struct further further; /* the columns; their words are in the builder */
    struct further_cells cells;
    char *joined; /* room for times in several columns */
    size_t joined_room;
};

/* Takes over the choice. name: of the columns. stream: faults are errors, so that each row is answered at once. */
smurf_status smurf_table_open(struct table *t, const struct choice *choice, const struct field *name,
                              const smurf_read_config *config, bool stream, smurf_error *err);
void smurf_table_close(struct table *t);

/* Adds one event to rows. Messages carry no location. */
smurf_status smurf_table_event(struct table *t, struct rows *rows, const struct event_cells *cells, smurf_error *err);
/* A row that could not be split into cells; use it like smurf_table_event. */
smurf_status smurf_table_misfit(struct table *t, smurf_status status);
/* To be called with the status and message, with location, of each row: SMURF_OK if the row is left out instead. */
smurf_status smurf_table_pardon(struct table *t, smurf_status status, const char *cell, size_t n,
                                const smurf_error *err);
/* Fails if too many rows are unreadable; records remarks on those left out. */
smurf_status smurf_table_finish(struct table *t, struct builder *b, const char *source, smurf_error *err);

/* Records in the builder how the table is read. */
smurf_status smurf_table_describe(const struct table *t, struct builder *b, const struct field *name,
                                  const char *format, char delimiter, const smurf_read_config *config,
                                  smurf_error *err);

#endif
