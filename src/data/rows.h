/*
 * rows.h - events that arrive one by one, each with its sequence name, in any order of sequences.
 *
 * Used by the readers of tables (CSV) and of logs with one JSON object per event. Rows of one sequence keep their
 * order, unless the file is newest first: then it is reversed. Sequences are numbered in order of appearance.
 * Interleaved sequences are grouped at the end by one counting sort.
 */
#ifndef SMURF_DATA_ROWS_H
#define SMURF_DATA_ROWS_H

#include "data/builder.h"
#include "data/number.h"

/* What is known of a sequence while its rows arrive. */
struct row_sequence {
    struct sequence_info info;
    size_t count;
    double last; /* the latest time */
    double previous;
};

struct rows {
    struct builder *builder;
    bool named; /* there is a sequence column */
    struct names names;
    struct row_sequence *sequence; /* (sequences) */
    size_t sequences, sequence_room;
    uint32_t *of; /* (events) which sequence; NULL while rows are grouped */
    size_t of_room;
    uint32_t current;    /* sequence of the last row */
    size_t rises, falls; /* rows later or earlier than the one before in their sequence */
};

void smurf_rows_init(struct rows *rows, struct builder *builder, bool named);
void smurf_rows_release(struct rows *rows);

/* Adds one event. name: of its sequence (ignored if there is no such column). Messages carry no location. */
smurf_status smurf_rows_push(struct rows *rows, const char *name, size_t n, const struct decimal *time,
                             const char *type, size_t type_n, smurf_error *err);
/* Sets the window of the last row's sequence, if the row gives one: absolute times, or NULL; counts, or 0. */
smurf_status smurf_rows_window(struct rows *rows, const struct decimal *start, const struct decimal *end, size_t first,
                               size_t before, smurf_error *err);
/* Discards what a failed push or window left after the first `events` rows. Only finish may follow. */
void smurf_rows_drop(struct rows *rows, size_t events);
/* Groups the events and closes every sequence. */
smurf_status smurf_rows_finish(struct rows *rows, smurf_error *err);

#endif
