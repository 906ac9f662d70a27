/*
 * sink.h - where writers write: buffered, gzip where the path says so, and all or nothing.
 *
 * A regular file is written beside its place, synced and renamed by commit; until then the old file stays.
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

/* path "-" is standard output. gzip: pack what is written. */
smurf_status smurf_sink_open(struct sink *sink, const char *path, bool gzip, smurf_error *err);
/* Into memory, for smurf_sink_take. */
smurf_status smurf_sink_open_memory(struct sink *sink, smurf_error *err);
void smurf_sink_bytes(struct sink *sink, const void *bytes, size_t n);
void smurf_sink_text(struct sink *sink, const char *text);
void smurf_sink_char(struct sink *sink, char c);
void smurf_sink_unsigned(struct sink *sink, uint64_t value);
/* origin + offset as smurf_number_write_time gives it. */
void smurf_sink_time(struct sink *sink, int64_t origin, double offset);
/* The same as an ISO-8601 time, between two `quote` characters unless that is NUL. */
void smurf_sink_calendar(struct sink *sink, int64_t origin, double offset, char quote);
/* The text as a JSON string, with quotes. Bytes that are no UTF-8 are taken for Latin-1. */
void smurf_sink_json(struct sink *sink, const char *text);
/* Bytes of the UTF-8 character at text; 0 where there is none. */
size_t smurf_utf8_length(const char *text);
/* Everything to the disk, but not yet in its place: what can fail has failed after this. Nothing may be written
   afterwards. */
smurf_status smurf_sink_settle(struct sink *sink, smurf_error *err);
/* Makes it so: settle, rename. Or, after a failure, clean up and report. The sink is closed. */
smurf_status smurf_sink_commit(struct sink *sink, smurf_error *err);
/* Closes a sink in memory and hands over what was written, for the caller to free. After a failure *out is NULL. */
smurf_status smurf_sink_take(struct sink *sink, void **out, size_t *size, smurf_error *err);
/* Closes and removes what was written. */
void smurf_sink_abandon(struct sink *sink);

#endif
