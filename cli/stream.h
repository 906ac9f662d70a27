/*
 * stream.h - reads event data from standard input as it arrives (smurf_stream_next).
 */
#ifndef STREAM_H
#define STREAM_H

#include "dataset.h"

#include <stdbool.h>

/* Called with each piece, which it may modify; returns 0 to continue, or the exit status. table: sequences, identified
   by name, continue from piece to piece. */
typedef int stream_fn(void *context, smurf_data *piece, int table);

struct stream {
    bool strict;       /* bad records are errors */
    bool taken, told;  /* whether there was a piece, the warning */
    size_t bad;        /* records that cannot be read */
    smurf_error first; /* of them */
};

/* Reads standard input to the end. Records that cannot be read are left out with one warning, unless the options say
   otherwise. Returns 0, or the exit status after reporting the error. */
int stream_input(struct stream *stream, const struct dataset_options *options, stream_fn *take, void *context);
/* For `take`, with what is wrong with a record: 0 if it is left out, or the exit status after reporting the error. */
int stream_leave_out(struct stream *stream, const char *message);

#endif
