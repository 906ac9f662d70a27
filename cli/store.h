/*
 * store.h - the events that a service has taken, in a database: an SQLite file, memory, or PostgreSQL.
 *
 * store_put() returns once its events are on disk. One thread writes; it commits what waits together, so that a sync
 * serves many callers. Readers see committed events only. All functions may be called from several threads, and several
 * services may use a database: each writes while the others wait.
 *
 *     store.c            opens, closes, reads         store_write.c     the thread that writes
 *     store_plan.c       what becomes of each event   store_class.h     what differs between databases:
 *     pruning.c          which events are kept        store_sqlite*.c, store_postgres*.c
 */
#ifndef STORE_H
#define STORE_H

#include "smurf_lab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;
struct pruning;

/* An event to be stored. */
struct store_event {
    char *sequence, *type, *id; /* id NULL: none */
    smurf_moment at;
};

enum store_outcome {
    STORE_DONE,
    STORE_LATE,     /* an event is before the last one of its sequence */
    STORE_PRUNED,   /* an event is before the first one of its sequence that is kept */
    STORE_CONFLICT, /* its id is that of another event of its sequence */
    STORE_MANY,     /* too many sequences */
    STORE_FULL,     /* no room on the disk */
    STORE_BUSY,     /* too much waits to be written */
    STORE_BROKEN,   /* the store cannot be written */
    STORE_UNSURE,   /* the connection was lost during the commit, and could not be made again: stored or not */
    STORE_OTHER,    /* another service watches this store now */
    STORE_MEMORY,
};

enum { STORE_WORDS = 200 };

/* Events that are stored all or none, in this order, and what became of them. */
struct store_batch {
    struct store_event *event;
    size_t count;
    bool borrowed; /* the texts of the events are in the body of a request */
    enum store_outcome outcome;
    size_t accepted, duplicates; /* known by their id, and left out */
    size_t at;                   /* the event that is LATE, PRUNED or in CONFLICT */
    smurf_moment last;           /* LATE: of its sequence */
    char words[STORE_WORDS];     /* BROKEN, UNSURE: the reason */
    bool finished;
    struct store_batch *next;
};

struct store_options {
    const char *address; /* a path, or postgresql://...; NULL: memory */
    int calendar;        /* times are dates, which must not change */
    size_t most;         /* sequences to accept */
    int late;            /* insert events before the last one of their sequence; 0: refuse them */
};

/* Opens or makes the store. Returns 0, or the exit status after reporting the error. The address is borrowed. */
int store_open(struct store **out, const struct store_options *options);
/* From now on events are deleted that are not needed; with NULL, and without this, all are kept. */
void store_prune(struct store *store, const struct pruning *pruning);
/* Writes what waits and closes. NULL is fine. */
void store_close(struct store *store);

/* Stores the batch; see its outcome. */
void store_put(struct store *store, struct store_batch *batch);
/* How many there are, pruned events included. What other services of the database have stored may be counted later. */
size_t store_sequences(struct store *store);
size_t store_events(struct store *store);
/* Waits until there are more than `number` events, or for a second. */
void store_wait(struct store *store, size_t number);
/* Ends such a wait. */
void store_wake(struct store *store);

/* Reading. Functions return 1, 0 where there is none, -1 if the store cannot be read. */
struct store_sequence {
    int64_t number, origin;
    size_t events;   /* since it began */
    size_t first;    /* of those that are kept; the ones before are pruned */
    size_t revision; /* grows when an event is inserted between others */
    smurf_moment last;
};
int store_find(struct store *store, const char *name, struct store_sequence *out);
/* Called with each row; returns 0 to continue. Must not use the store. */
typedef int store_event_fn(void *context, smurf_moment at, const char *type);
/* Up to `limit` events of a sequence from the n-th on, in order. None if it has another revision by now, or the n-th
   is pruned: find it again. */
int store_read(struct store *store, const struct store_sequence *sequence, size_t n, size_t limit, store_event_fn *take,
               void *context);
/* Up to `limit` sequences in the order of their names, after `after`, whose names begin with `prefix`. */
typedef int store_sequence_fn(void *context, const char *name, const struct store_sequence *sequence);
int store_list(struct store *store, const char *prefix, const char *after, size_t limit, store_sequence_fn *take,
               void *context);
/* Up to `limit` events of all sequences after the one with that number, in the order in which they came. */
typedef int store_log_fn(void *context, size_t number, const char *sequence, int64_t origin, smurf_moment at,
                         const char *type);
int store_log(struct store *store, size_t after, size_t limit, store_log_fn *take, void *context);
/* The same of one sequence, those before the event with the number `before`. */
int store_log_of(struct store *store, const char *name, size_t after, size_t before, size_t limit, store_log_fn *take,
                 void *context);

/*
 * What is watched (alarm_log.h). It follows from the events, in the order of their numbers, and from the moments at
 * which time alone raised alarms ("passes"), which are therefore stored before the alarms are shown. A state is saved
 * now and then, so that not all events have to be followed again.
 */
struct store_watch {
    size_t event;  /* the number of the last event it has seen; 0: none */
    size_t alarms; /* raised until then */
    void *state;   /* NULL: none is stored; to be freed */
    size_t size;
};
typedef int store_alarm_fn(void *context, size_t number, const char *text);
typedef int store_pass_fn(void *context, size_t event, smurf_moment moment);
/* From now on this service watches, and others of the store do not. Reads what was saved: the state, alarms after the
   number `after`, and the passes since the state. */
enum store_outcome store_watch_begin(struct store *store, struct store_watch *out, size_t last, store_alarm_fn *alarm,
                                     store_pass_fn *pass, void *context);
/* Whether this service watches still. */
enum store_outcome store_watch_goes_on(struct store *store);
/* Saves a state in one transaction with the `count` alarms from the number `first` on. It includes all passes. */
enum store_outcome store_watch_save(struct store *store, const struct store_watch *watch, size_t first,
                                    const char *const *alarm, size_t count);
/* Time has come to the moment after that event. */
enum store_outcome store_watch_pass(struct store *store, size_t event, smurf_moment moment);

#endif
