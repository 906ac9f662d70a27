/*
 * stream.h - event data from standard input, piece by piece, as it arrives (smurf_stream_next).
 */
#ifndef STREAM_H
#define STREAM_H

#include "dataset.h"

/* Called with each piece, which it may change; returns 0 to go on, or the exit status. table: sequences go on from
   piece to piece, told apart by name. */
typedef int stream_fn(void *context, smurf_data *piece, int table);

/* Reads standard input to its end. Returns 0, or the exit status after saying what is wrong. */
int stream_input(const struct dataset_options *options, stream_fn *take, void *context);

#endif
