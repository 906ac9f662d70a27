/*
 * store.h - the events that a service has taken, in an SQLite database: a file, or memory.
 *
 * store_put() returns once its events are on disk. One thread writes; it commits what waits together, so that a sync
 * serves many callers. Readers see committed events only. All functions may be called from several threads.
 */
#ifndef STORE_H
#define STORE_H

#include "smurf_lab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* An event to be stored. */
struct store_event {
    char *sequence, *type, *id; /* id NULL: none */
    smurf_moment at;
};

enum store_outcome {
    STORE_DONE,
    STORE_LATE,     /* an event is before the last one of its sequence */
    STORE_CONFLICT, /* its id is that of another event of its sequence */
    STORE_MANY,     /* too many sequences */
    STORE_FULL,     /* no room on the disk */
    STORE_BUSY,     /* too much waits to be written */
    STORE_BROKEN,   /* the store cannot be written */
    STORE_MEMORY,
};

/* Events that are stored all or none, in this order, and what became of them. */
struct store_batch {
    struct store_event *event;
    size_t count;
    enum store_outcome outcome;
    size_t accepted, duplicates; /* known by their id, and left out */
    size_t at;                   /* the event that is LATE or in CONFLICT */
    smurf_moment last;           /* LATE: of its sequence */
    char words[200];             /* BROKEN: the reason */
    bool finished;
    struct store_batch *next;
};

/* Opens or makes the store. path NULL: in memory. calendar: times are dates, which must not change. most: sequences to
   accept. Returns 0, or the exit status after reporting the error. */
int store_open(struct store **out, const char *path, int calendar, size_t most);
/* Writes what waits and closes. NULL is fine. */
void store_close(struct store *store);

/* Stores the batch; see its outcome. */
void store_put(struct store *store, struct store_batch *batch);
size_t store_sequences(const struct store *store);
size_t store_events(const struct store *store);
/* Waits until there are more than `number` events, or for a second. */
void store_wait(struct store *store, size_t number);
/* Ends such a wait. */
void store_wake(struct store *store);

/* Reading. Functions return 1, 0 where there is none, -1 if the store cannot be read. */
struct store_sequence {
    int64_t number, origin;
    size_t events;
    smurf_moment last;
};
int store_find(struct store *store, const char *name, struct store_sequence *out);
/* Called with each row; returns 0 to continue. Must not use the store. */
typedef int store_event_fn(void *context, smurf_moment at, const char *type);
/* Events of a sequence, by its number, from the n-th on, in order. */
int store_read(struct store *store, int64_t sequence, size_t n, store_event_fn *take, void *context);
/* Up to `limit` sequences in the order of their names, after `after`, whose names begin with `prefix`. */
typedef int store_sequence_fn(void *context, const char *name, const struct store_sequence *sequence);
int store_list(struct store *store, const char *prefix, const char *after, size_t limit, store_sequence_fn *take,
               void *context);
/* Up to `limit` events of all sequences after the one with that number, in the order in which they came. */
typedef int store_log_fn(void *context, size_t number, const char *sequence, int64_t origin, smurf_moment at,
                         const char *type);
int store_log(struct store *store, size_t after, size_t limit, store_log_fn *take, void *context);

#endif
