/*
 * watched.h - the sequences of a stream that is watched, and the alarms that its events and silences raise.
 *
 * Events come in the order of time. Each sequence has a history (kept.h), what alarms remember of it, and a moment from
 * which on it is overdue; these moments are a heap.
 */
#ifndef WATCHED_H
#define WATCHED_H

#include "kept.h"

#include <stdbool.h>
#include <stdio.h>

/* An alarm, valid during the call. */
struct alarm {
    smurf_alarm kind;
    smurf_moment at;
    const char *sequence; /* NULL: all together */
    int64_t type;         /* of the event, or of the last one of a silent sequence; -1: none */
    double p;             /* probability per gap at which the alarm is raised, or of what was seen */
    double gap, expected; /* overdue: silence and when the next event was due; early, type: the gap; else NaN */
    const char *words;
};
typedef void alarm_fn(void *context, const struct alarm *alarm);
/* Reads the history of a sequence again, its last `away` events, into its empty forecast. */
typedef smurf_status recall_fn(void *context, struct kept *kept, smurf_error *err);

struct watched {
    const smurf_model *model;
    smurf_alarms *alarms;
    struct kept_set kept;
    struct kept **heap; /* by the moment from which on they are overdue */
    size_t due, room;
    smurf_moment now; /* of the latest event */
    bool begun;
    uint64_t seed;
    alarm_fn *raise;
    recall_fn
        *recall; /* NULL: a state holds the histories; else it leaves them out, and they are read again on demand */
    void *context;
    /* Told of each event that follows another of its sequence; NULL: nobody. */
    void (*seen)(void *context, const smurf_surprise *surprise, smurf_moment at);
    uint64_t options; /* a hash of those that a state depends on beside the model */
};

/* Takes an event of a sequence, at origin + time; what was overdue before it comes first. A time before the last event
   of its sequence is an error, SMURF_ERROR_ARGUMENT, that changes nothing. further: as in smurf_forecast_append_with.
 */
smurf_status watched_event(struct watched *watched, const char *sequence, int64_t origin, double time, uint32_t type,
                           const float *further, smurf_error *err);
/* Whether a sequence is overdue now that was not before. */
bool watched_is_due(const struct watched *watched, smurf_moment now);
/* Time has come to `now` without an event. */
void watched_pass(struct watched *watched, smurf_moment now);
void watched_release(struct watched *watched);

/* watched_state.c: all of it in a file, written beside it and renamed. A file of another model or of other options,
   or one that is damaged, is an error. */
smurf_status watched_save(const struct watched *watched, const char *path, smurf_error *err);
smurf_status watched_load(struct watched *watched, const char *path, smurf_error *err);
/* The same, to and from an open file, which is not closed. name: in messages. */
smurf_status watched_write(const struct watched *watched, FILE *file, smurf_error *err);
smurf_status watched_read(struct watched *watched, FILE *file, const char *name, smurf_error *err);
/* Puts a sequence that was read from a file back among those that can become overdue. */
void watched_put_back(struct watched *watched, struct kept *kept);

#endif
