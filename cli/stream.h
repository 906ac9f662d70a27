/*
 * stream.h - reads event data from standard input as it arrives (smurf_stream_next).
 */
#ifndef STREAM_H
#define STREAM_H

#include "dataset.h"

/* Called with each piece, which it may modify; returns 0 to continue, or the exit status. table: sequences, identified
   by name, continue from piece to piece. */
typedef int stream_fn(void *context, smurf_data *piece, int table);

/* Reads standard input to the end. Returns 0, or the exit status after reporting the error. */
int stream_input(const struct dataset_options *options, stream_fn *take, void *context);

#endif
