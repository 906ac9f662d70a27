/*
 * sink.h - buffered output, compressed if the path says so, all or nothing.
 *
 * A regular file is written next to its destination, then synced and renamed by commit; until then the old file stays.
 * Errors stick: writers need not check every call, commit reports the first.
 */
#ifndef SMURF_DATA_SINK_H
#define SMURF_DATA_SINK_H

#include "base/progress.h"

#include <stdbool.h>

struct sink {
    char *buffer;
    size_t used;
    smurf_status status; /* of the first failure, with its message in `error` */
    smurf_error error;
    struct sink_output *output; /* owned */
};

/* path "-" is standard output. gzip: compress the output. */
smurf_status smurf_sink_open(struct sink *sink, const char *path, bool gzip, smurf_error *err);
/* Writes to memory, for smurf_sink_take. */
smurf_status smurf_sink_open_memory(struct sink *sink, smurf_error *err);
void smurf_sink_bytes(struct sink *sink, const void *bytes, size_t n);
void smurf_sink_text(struct sink *sink, const char *text);
void smurf_sink_char(struct sink *sink, char c);
void smurf_sink_unsigned(struct sink *sink, uint64_t value);
/* origin + offset as smurf_number_write_time gives it. */
void smurf_sink_time(struct sink *sink, int64_t origin, double offset);
/* The same as an ISO-8601 time, between two `quote` characters unless that is NUL. */
void smurf_sink_calendar(struct sink *sink, int64_t origin, double offset, char quote);
/* Writes the text as a JSON string, with quotes. Bytes that are not UTF-8 are taken as Latin-1. */
void smurf_sink_json(struct sink *sink, const char *text);
/* Length of the UTF-8 character at text; 0 if it is invalid. */
size_t smurf_utf8_length(const char *text);
bool smurf_utf8_valid(const char *text);
/* Puts everything on disk, but not yet in place: nothing that can fail is left after this. Nothing may be written
   afterwards. */
smurf_status smurf_sink_settle(struct sink *sink, smurf_error *err);
/* Settles and renames or, after a failure, cleans up and reports it. The sink is closed. */
smurf_status smurf_sink_commit(struct sink *sink, smurf_error *err);
/* Closes an in-memory sink and hands over what was written; the caller frees it. After a failure *out is NULL. */
smurf_status smurf_sink_take(struct sink *sink, void **out, size_t *size, smurf_error *err);
/* Closes the sink and removes what was written. */
void smurf_sink_abandon(struct sink *sink);

#endif
