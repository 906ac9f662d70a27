/*
 * store_sqlite.c - opens and reads the database of a store.
 *
 *     sequence: number, name, events, origin and the last time    event: number (the order of arrival), sequence,
 *                                                                        n (its place there), time, type, id
 *
 * A time is whole + fraction. A file has a write-ahead log, so readers do not wait for the writer.
 */
#include "store_sqlite.h"

#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APPLICATION = 0x736d7266 /* "smrf" */, VERSION = 1, PATIENCE_MS = 5000 };

static const char schema[] =
    "CREATE TABLE sequence(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, events INTEGER NOT NULL,"
    " origin INTEGER NOT NULL, whole INTEGER NOT NULL, fraction REAL NOT NULL) STRICT;"
    "CREATE TABLE event(number INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, n INTEGER NOT NULL,"
    " whole INTEGER NOT NULL, fraction REAL NOT NULL, type TEXT NOT NULL, id TEXT) STRICT;"
    "CREATE UNIQUE INDEX place ON event(sequence, n);"
    "CREATE UNIQUE INDEX known ON event(sequence, id) WHERE id IS NOT NULL;"
    "CREATE TABLE about(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;";

static const char *const text_of[STATEMENTS] = {
    [FIND] = "SELECT number, origin, events, whole, fraction FROM sequence WHERE name = ?1",
    [READ] = "SELECT whole, fraction, type FROM event WHERE sequence = ?1 AND n >= ?2 ORDER BY n",
    [LIST] = "SELECT name, number, origin, events, whole, fraction FROM sequence WHERE name > ?1 AND name >= ?2"
             " AND name < ?2 || char(0x10ffff) ORDER BY name LIMIT ?3",
    [LOG] = "SELECT e.number, s.name, s.origin, e.whole, e.fraction, e.type FROM event e JOIN sequence s"
            " ON s.number = e.sequence WHERE e.number > ?1 ORDER BY e.number LIMIT ?2",
    [NEW_SEQUENCE] = "INSERT INTO sequence(name, events, origin, whole, fraction) VALUES(?1, 0, ?2, ?3, ?4)",
    [KNOWN_ID] = "SELECT whole, fraction, type FROM event WHERE sequence = ?1 AND id = ?2",
    [NEW_EVENT] = "INSERT INTO event(sequence, n, whole, fraction, type, id) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [ADVANCE] = "UPDATE sequence SET events = ?2, whole = ?3, fraction = ?4 WHERE number = ?1",
};

/* ---- Opening ----------------------------------------------------------------------------------- */

static void close_side(struct side *side)
{
    for (int i = 0; i < STATEMENTS; i++) sql.finalize(side->statement[i]);
    sql.close_v2(side->db);
    pthread_mutex_destroy(&side->lock);
}

static int64_t one_number(struct side *side, const char *query)
{
    sqlite3_stmt *s = NULL;
    int64_t number = -1;
    if (sql.prepare_v2(side->db, query, -1, &s, NULL) == SQLITE_OK && sql.step(s) == SQLITE_ROW)
        number = sql.column_int64(s, 0);
    sql.finalize(s);
    return number;
}

static int cannot(const char *path, struct side *side)
{
    return report_failure("the store '%s' cannot be opened: %s", path ? path : "memory",
                          side->db ? sql.errmsg(side->db) : "out of memory");
}

static int open_side(struct side *side, const char *path, bool reads)
{
    int flags = (reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX;
    int code = sql.open_v2(path ? path : ":memory:", &side->db, flags, NULL);
    if (code == SQLITE_OK) code = sql.busy_timeout(side->db, PATIENCE_MS);
    return code == SQLITE_OK ? 0 : cannot(path, side);
}

static int prepare(struct side *side, const char *path, int from, int to)
{
    for (int i = from; i < to; i++)
        if (sql.prepare_v2(side->db, text_of[i], -1, &side->statement[i], NULL) != SQLITE_OK) return cannot(path, side);
    return 0;
}

/* A new file gets its tables; another one must be a store, of times of the same kind. */
static int settle(struct side *side, const char *path, int calendar)
{
    char text[400];
    int64_t version = one_number(side, "PRAGMA user_version"), application = one_number(side, "PRAGMA application_id");
    if (version < 0) return cannot(path, side);
    if (one_number(side, "SELECT count(*) FROM sqlite_master") == 0 && version == 0) {
        snprintf(
            text, sizeof text,
            "INSERT INTO about VALUES('times', '%s'); PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
            calendar ? "dates" : "numbers", APPLICATION, VERSION);
        bool made = sql.exec(side->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                    sql.exec(side->db, schema, NULL, NULL, NULL) == SQLITE_OK &&
                    sql.exec(side->db, text, NULL, NULL, NULL) == SQLITE_OK;
        return made ? 0 : cannot(path, side);
    }
    if (application != APPLICATION || version != VERSION)
        return report_failure(
            "'%s' is no store of smurf serve, or one of another version (give the name of a new file)", path);
    if (one_number(side, calendar ? "SELECT count(*) FROM about WHERE name = 'times' AND value = 'dates'"
                                  : "SELECT count(*) FROM about WHERE name = 'times' AND value = 'numbers'") != 1)
        return report_failure("the times in the store '%s' are %s, but those of the model are %s (use another store)",
                              path, calendar ? "numbers" : "dates", calendar ? "dates" : "numbers");
    return 0;
}

static int open_both(struct store *s, const char *path, int calendar)
{
    /* In memory, room for 1 GiB; a full one is like a full disk. */
    const char *way = path ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL" : "PRAGMA max_page_count = 262144";
    int status = open_side(&s->write, path, false);
    if (!status && sql.exec(s->write.db, way, NULL, NULL, NULL) != SQLITE_OK) status = cannot(path, &s->write);
    if (!status) status = settle(&s->write, path, calendar);
    if (!status) status = prepare(&s->write, path, 0, STATEMENTS);
    if (!status && path) status = open_side(s->read, path, true);
    if (!status && path) status = prepare(s->read, path, 0, READ_STATEMENTS);
    if (status) return status;
    s->sequences = (size_t)one_number(&s->write, "SELECT count(*) FROM sequence");
    s->events = (size_t)one_number(&s->write, "SELECT coalesce(max(number), 0) FROM event");
    return 0;
}

int store_open(struct store **out, const char *path, int calendar, size_t most)
{
    struct store *s = *out = calloc(1, sizeof *s);
    if (!s) out_of_memory();
    s->most = most;
    s->last = &s->first;
    s->read = path ? &s->read_own : &s->write;
    pthread_mutex_init(&s->write.lock, NULL);
    pthread_mutex_init(&s->read_own.lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->arrived, NULL);
    pthread_cond_init(&s->done, NULL);
    int status = open_both(s, path, calendar);
    if (!status && pthread_create(&s->writer, NULL, store_writer, s) != 0)
        status = report_failure("a thread cannot be started");
    s->writing = !status;
    if (!status) return 0;
    store_close(s);
    *out = NULL;
    return status;
}

void store_close(struct store *s)
{
    if (!s) return;
    if (s->writing) {
        pthread_mutex_lock(&s->lock);
        s->closing = true;
        pthread_cond_broadcast(&s->arrived);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->writer, NULL);
    }
    close_side(&s->read_own);
    close_side(&s->write);
    pthread_cond_destroy(&s->arrived);
    pthread_cond_destroy(&s->done);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- Reading ----------------------------------------------------------------------------------- */

size_t store_sequences(const struct store *s)
{
    return s->sequences;
}

size_t store_events(const struct store *s)
{
    return s->events;
}

static void take_sequence(sqlite3_stmt *s, int column, struct store_sequence *out)
{
    out->number = sql.column_int64(s, column);
    out->origin = sql.column_int64(s, column + 1);
    out->events = (size_t)sql.column_int64(s, column + 2);
    out->last = (smurf_moment){sql.column_int64(s, column + 3), sql.column_double(s, column + 4)};
}

int store_lookup(struct side *side, const char *name, struct store_sequence *out)
{
    sqlite3_stmt *s = side->statement[FIND];
    sql.bind_text(s, 1, name, -1, SQLITE_STATIC);
    int code = sql.step(s);
    if (code == SQLITE_ROW) take_sequence(s, 0, out);
    sql.reset(s);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -1;
}

int store_find(struct store *store, const char *name, struct store_sequence *out)
{
    pthread_mutex_lock(&store->read->lock);
    int found = store_lookup(store->read, name, out);
    pthread_mutex_unlock(&store->read->lock);
    return found;
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sql.column_text(s, column);
    return text ? text : "";
}

static int finish(struct store *store, sqlite3_stmt *s, int code, int rows)
{
    sql.reset(s);
    sql.clear_bindings(s);
    pthread_mutex_unlock(&store->read->lock);
    return code == SQLITE_DONE || code == SQLITE_ROW ? rows > 0 : -1;
}

int store_read(struct store *store, int64_t sequence, size_t n, store_event_fn *take, void *context)
{
    sqlite3_stmt *s = store->read->statement[READ];
    int code, rows = 0;
    pthread_mutex_lock(&store->read->lock);
    sql.bind_int64(s, 1, sequence);
    sql.bind_int64(s, 2, (sqlite3_int64)n);
    for (; (code = sql.step(s)) == SQLITE_ROW; rows = 1)
        if (take(context, (smurf_moment){sql.column_int64(s, 0), sql.column_double(s, 1)}, text_at(s, 2))) break;
    return finish(store, s, code, rows);
}

int store_list(struct store *store, const char *prefix, const char *after, size_t limit, store_sequence_fn *take,
               void *context)
{
    sqlite3_stmt *s = store->read->statement[LIST];
    struct store_sequence found;
    int code, rows = 0;
    pthread_mutex_lock(&store->read->lock);
    sql.bind_text(s, 1, after, -1, SQLITE_STATIC);
    sql.bind_text(s, 2, prefix, -1, SQLITE_STATIC);
    sql.bind_int64(s, 3, (sqlite3_int64)limit);
    for (; (code = sql.step(s)) == SQLITE_ROW; rows = 1) {
        take_sequence(s, 1, &found);
        if (take(context, text_at(s, 0), &found)) break;
    }
    return finish(store, s, code, rows);
}

int store_log(struct store *store, size_t after, size_t limit, store_log_fn *take, void *context)
{
    sqlite3_stmt *s = store->read->statement[LOG];
    int code, rows = 0;
    pthread_mutex_lock(&store->read->lock);
    sql.bind_int64(s, 1, (sqlite3_int64)after);
    sql.bind_int64(s, 2, (sqlite3_int64)limit);
    for (; (code = sql.step(s)) == SQLITE_ROW; rows = 1)
        if (take(context, (size_t)sql.column_int64(s, 0), text_at(s, 1), sql.column_int64(s, 2),
                 (smurf_moment){sql.column_int64(s, 3), sql.column_double(s, 4)}, text_at(s, 5)))
            break;
    return finish(store, s, code, rows);
}
