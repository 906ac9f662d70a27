/* store_sqlite.h - the database of a store: shared by store_sqlite.c, which reads, and store_write.c, which writes. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include "loaded.h"
#include "store.h"

#include <pthread.h>
#include <stdatomic.h>

enum statement {
    FIND,
    READ,
    LIST,
    LOG,
    READ_STATEMENTS,
    NEW_SEQUENCE = READ_STATEMENTS,
    KNOWN_ID,
    NEW_EVENT,
    ADVANCE,
    STATEMENTS,
};

/* A connection, used by one thread at a time. In memory there is only one. */
struct side {
    sqlite3 *db;
    pthread_mutex_t lock;
    sqlite3_stmt *statement[STATEMENTS];
};

struct store {
    struct side write, read_own, *read;
    size_t most;
    atomic_size_t sequences, events;
    pthread_t writer;
    bool writing;
    /* What waits to be written. */
    pthread_mutex_t lock;
    pthread_cond_t arrived, done;
    struct store_batch *first, **last;
    size_t waiting; /* events */
    bool closing, woken;
};

/* Looks a sequence up: 1, 0 or -1. The side is locked. */
int store_lookup(struct side *side, const char *name, struct store_sequence *out);
/* The writer's thread, until the store closes. */
void *store_writer(void *store);

#endif
