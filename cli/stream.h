/*
 * stream.h - event data from standard input, piece by piece, with flat memory.
 *
 * JSON Lines hold a sequence a line, or an event a line; each piece is some whole lines. A table (CSV, TSV) holds an
 * event a line, of any sequence; each piece is the header and the rows that have come so far, so that an answer can
 * follow an event at once. What is no such stream (gzip, an array of JSON, pickle, RMTPP text) is one piece.
 */
#ifndef STREAM_H
#define STREAM_H

#include "dataset.h"

/* Called with each piece, which it may change; returns 0 to go on, or the exit status. table: sequences go on from
   piece to piece, told apart by name. from: its first sequence; those before are none of the user's. */
typedef int stream_fn(void *context, smurf_data *piece, int table, size_t from);

/* Reads standard input to its end. Returns 0, or the exit status after saying what is wrong. */
int stream_input(const struct dataset_options *options, stream_fn *take, void *context);

#endif
