/*
 * store_class.h - a database as the store sees it. store_write.c and store_plan.c decide what is written, so that a
 * class only reads and writes rows.
 *
 *     sequence: number, name, events, first, revision, origin and the last time
 *     event:    number (the order of arrival), sequence, n (its place there), time, type, id
 *     watch:    one row: token (of who watches), event, alarms, state      alarm: number, text
 *     pass:     number, event, moment
 *
 * Numbers count from 1 without gaps, across all services of a database. A time is whole + fraction.
 */
#ifndef STORE_CLASS_H
#define STORE_CLASS_H

#include "pruning.h"
#include "store.h"

struct store_counts {
    size_t sequences, events; /* the last number of each */
};

/* A sequence that events to be written belong to. */
struct plan_sequence {
    const char *name;
    struct store_sequence is; /* with those events; number 0: it does not exist */
    bool stored, changed;
};

/* An event to be written. */
struct plan_event {
    const struct store_event *event;
    struct plan_sequence *sequence;
    struct store_sequence before; /* its sequence without it */
    size_t number, n;
    int known;                /* its id is stored: 1 with the same event, -1 with another one; 0: it is not */
    bool taken, late, begins; /* to be written; inserted between others; the first one of its sequence */
};

/*
 * The functions that write are called by one thread at a time, and so are those that read; `own` has a connection for
 * each, or one for both. Writing: STORE_DONE, or _FULL, _BROKEN, _MEMORY, _UNSURE with the reason in `words`; after a
 * failure the transaction is rolled back.
 */
struct store_class {
    const char *name; /* in messages: "SQLite" */
    bool (*takes)(const char *address);
    /* Opens or makes it. *one: there is one connection. Returns 0, or the exit status after reporting the error; then
       there is nothing to close. */
    int (*open)(void **own, const struct store_options *options, bool *one);
    void (*close)(void *own);

    /* A transaction, which keeps other writers out until it ends. */
    enum store_outcome (*begin)(void *own, struct store_counts *counts, char *words);
    enum store_outcome (*commit)(void *own, const struct store_counts *counts, char *words);
    void (*rollback)(void *own);
    /* Fills `is` and `stored` of those that exist. */
    enum store_outcome (*find_all)(void *own, struct plan_sequence *sequence, size_t count, char *words);
    /* Fills `known` of events that have an id and a stored sequence. */
    enum store_outcome (*find_ids)(void *own, struct plan_event *const *event, size_t count, char *words);
    /* *n: the place after all events of the sequence that are not later; 0: there are none. */
    enum store_outcome (*find_place)(void *own, int64_t sequence, smurf_moment at, size_t *n, char *words);
    /* Moves the events from place n on by one. */
    enum store_outcome (*shift)(void *own, int64_t sequence, size_t n, char *words);
    enum store_outcome (*add_events)(void *own, struct plan_event *const *event, size_t count, char *words);
    /* New ones are inserted, others updated. */
    enum store_outcome (*put_sequences)(void *own, struct plan_sequence *const *sequence, size_t count, char *words);
    /* *n: the place of the first event that who watches has yet to see, if there is one. */
    enum store_outcome (*find_unseen)(void *own, int64_t sequence, size_t *n, char *words);
    /* Removes the events before place `first`. */
    enum store_outcome (*prune)(void *own, int64_t sequence, size_t first, char *words);

    /* See store.h. */
    int (*count)(void *own, struct store_counts *counts); /* NULL: only this service writes */
    int (*find)(void *own, const char *name, struct store_sequence *out);
    int (*read)(void *own, const struct store_sequence *sequence, size_t n, size_t limit, store_event_fn *take,
                void *context);
    int (*list)(void *own, const char *prefix, const char *after, size_t limit, store_sequence_fn *take, void *context);
    int (*log)(void *own, size_t after, size_t limit, store_log_fn *take, void *context);
    int (*log_of)(void *own, const char *name, size_t after, size_t before, size_t limit, store_log_fn *take,
                  void *context);

    /* Inside of a transaction. *mine: this service is the one that watches. */
    enum store_outcome (*watch_claim)(void *own, const char *token, char *words);
    enum store_outcome (*watch_load)(void *own, struct store_watch *out, size_t last, store_alarm_fn *alarm,
                                     store_pass_fn *pass, void *context, char *words);
    enum store_outcome (*watch_is_mine)(void *own, const char *token, bool *mine, char *words);
    enum store_outcome (*watch_save)(void *own, const struct store_watch *watch, size_t first, const char *const *alarm,
                                     size_t count, char *words);
    enum store_outcome (*watch_pass)(void *own, size_t event, smurf_moment moment, char *words);
};

extern const struct store_class store_sqlite, store_postgres;
/* All of them; the first one takes what the others do not. */
#define STORES(F) F(store_postgres) F(store_sqlite)

/* A store in use, shared by store.c and store_write.c. */
#include <pthread.h>
#include <stdatomic.h>

struct store {
    const struct store_class *class;
    void *own;
    struct store_options o;
    struct pruning pruning; /* for the writer */
    bool prunes;
    pthread_mutex_t write_lock, read_lock, *read; /* of the connections; the same where there is one */
    atomic_size_t sequences, events;
    char token[33]; /* of this service, once it watches */
    pthread_t writer;
    bool writing;
    /* What waits to be written. */
    pthread_mutex_t lock;
    pthread_cond_t arrived, done;
    struct store_batch *first, **last;
    size_t waiting; /* events */
    bool closing, woken;
};

/* store_write.c: the writer's thread, until the store closes. */
void *store_writer(void *store);

/* store_plan.c: what becomes of the events of some batches, a list. Inside of a transaction: reads what is needed, sets
   the outcome of each batch, and writes the events of those that are STORE_DONE. *counts is advanced. Returns
   STORE_DONE, or a failure of the database. */
enum store_outcome store_plan(struct store *store, struct store_batch *first, struct store_counts *counts, char *words);

#endif
