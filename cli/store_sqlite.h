/* store_sqlite.h - a store in SQLite: shared by store_sqlite.c, which reads, and store_sqlite_write.c, which writes. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include "loaded.h"
#include "store_class.h"

enum statement {
    FIND,
    READ,
    LIST,
    LOG,
    LOG_OF,
    READ_STATEMENTS,
    CHANGED = READ_STATEMENTS,
    KNOWN_ID,
    PLACE,
    NEW_EVENT,
    NEW_SEQUENCE,
    ADVANCE,
    SHIFT,
    SHIFT_BACK,
    UNSEEN,
    PRUNE,
    CLAIM,
    IS_MINE,
    LOAD,
    ALARMS,
    PASSES,
    SAVE,
    NEW_ALARM,
    DROP_PASSES,
    NEW_PASS,
    STATEMENTS,
};

/* A connection. */
struct side {
    sqlite3 *db;
    sqlite3_stmt *statement[STATEMENTS];
};

struct sqlite_store {
    struct side write, read_own, *read; /* in memory there is only one */
    struct store_counts counts;
    int64_t version; /* of the database, which changes when another program writes; -1: not known */
};

/* Looks a sequence up: 1, 0 or -1. */
int sqlite_find(struct side *side, const char *name, struct store_sequence *out);
/* The result of a query for one number; -1: none. */
int64_t sqlite_number(struct side *side, const char *query);

/* store_sqlite_write.c: the functions of the class that write. */
enum store_outcome sqlite_begin(void *own, struct store_counts *counts, char *words);
enum store_outcome sqlite_commit(void *own, const struct store_counts *counts, char *words);
void sqlite_rollback(void *own);
enum store_outcome sqlite_find_all(void *own, struct plan_sequence *sequence, size_t count, char *words);
enum store_outcome sqlite_find_ids(void *own, struct plan_event *const *event, size_t count, char *words);
enum store_outcome sqlite_find_place(void *own, int64_t sequence, smurf_moment at, size_t *n, char *words);
enum store_outcome sqlite_shift(void *own, int64_t sequence, size_t n, char *words);
enum store_outcome sqlite_add_events(void *own, struct plan_event *const *event, size_t count, char *words);
enum store_outcome sqlite_put_sequences(void *own, struct plan_sequence *const *sequence, size_t count, char *words);
enum store_outcome sqlite_find_unseen(void *own, int64_t sequence, size_t *n, char *words);
enum store_outcome sqlite_prune(void *own, int64_t sequence, size_t first, char *words);
enum store_outcome sqlite_watch_claim(void *own, const char *token, char *words);
enum store_outcome sqlite_watch_load(void *own, struct store_watch *out, size_t last, store_alarm_fn *alarm,
                                     store_pass_fn *pass, void *context, char *words);
enum store_outcome sqlite_watch_is_mine(void *own, const char *token, bool *mine, char *words);
enum store_outcome sqlite_watch_save(void *own, const struct store_watch *watch, size_t first, const char *const *alarm,
                                     size_t count, char *words);
enum store_outcome sqlite_watch_pass(void *own, size_t event, smurf_moment moment, char *words);

#endif
