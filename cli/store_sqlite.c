/*
 * store_sqlite.c - a store in an SQLite file, or in memory: opens and reads it. See store_class.h for the tables.
 *
 * A file has a write-ahead log, so readers do not wait for the writer.
 */
#include "store_sqlite.h"

#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APPLICATION = 0x736d7266 /* "smrf" */, VERSION = 2, PATIENCE_MS = 5000 };

static const char schema[] =
    "CREATE TABLE sequence(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, events INTEGER NOT NULL,"
    " origin INTEGER NOT NULL, whole INTEGER NOT NULL, fraction REAL NOT NULL) STRICT;"
    "CREATE TABLE event(number INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, n INTEGER NOT NULL,"
    " whole INTEGER NOT NULL, fraction REAL NOT NULL, type TEXT NOT NULL, id TEXT) STRICT;"
    "CREATE UNIQUE INDEX place ON event(sequence, n);"
    "CREATE UNIQUE INDEX known ON event(sequence, id) WHERE id IS NOT NULL;"
    "CREATE TABLE about(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;";
/* From version 1 to 2. */
static const char second[] =
    "ALTER TABLE sequence ADD COLUMN first INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE sequence ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE watch(one INTEGER PRIMARY KEY CHECK(one = 1), token TEXT NOT NULL, event INTEGER NOT NULL,"
    " alarms INTEGER NOT NULL, state BLOB) STRICT;"
    "CREATE TABLE alarm(number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;"
    "CREATE TABLE pass(number INTEGER PRIMARY KEY, event INTEGER NOT NULL, whole INTEGER NOT NULL,"
    " fraction REAL NOT NULL) STRICT;"
    "PRAGMA user_version = 2";

static const char *const text_of[STATEMENTS] = {
    [FIND] = "SELECT number, origin, events, first, revision, whole, fraction FROM sequence WHERE name = ?1",
    [READ] = "SELECT whole, fraction, type FROM event WHERE sequence = ?1 AND n >= ?2"
             " AND (SELECT revision FROM sequence WHERE number = ?1 AND first <= ?2) = ?3 ORDER BY n LIMIT ?4",
    [LIST] = "SELECT name, number, origin, events, first, revision, whole, fraction FROM sequence WHERE name > ?1"
             " AND name >= ?2 AND name < ?2 || char(0x10ffff) ORDER BY name LIMIT ?3",
    [LOG] = "SELECT e.number, s.name, s.origin, e.whole, e.fraction, e.type FROM event e JOIN sequence s"
            " ON s.number = e.sequence WHERE e.number > ?1 ORDER BY e.number LIMIT ?2",
    /* With a +, so that the sequence is looked up, not the number. */
    [LOG_OF] = "SELECT e.number, s.name, s.origin, e.whole, e.fraction, e.type FROM sequence s JOIN event e"
               " ON e.sequence = s.number WHERE s.name = ?1 AND +e.number > ?2 AND +e.number < ?3 ORDER BY +e.number"
               " LIMIT ?4",
    [CHANGED] = "PRAGMA data_version",
    [KNOWN_ID] = "SELECT whole, fraction, type FROM event WHERE sequence = ?1 AND id = ?2",
    [PLACE] = "SELECT n FROM event WHERE sequence = ?1 AND (whole < ?2 OR (whole = ?2 AND fraction <= ?3))"
              " ORDER BY n DESC LIMIT 1",
    [NEW_EVENT] =
        "INSERT INTO event(number, sequence, n, whole, fraction, type, id) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [NEW_SEQUENCE] = "INSERT INTO sequence(number, events, first, revision, whole, fraction, origin, name)"
                     " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [ADVANCE] = "UPDATE sequence SET events = ?2, first = ?3, revision = ?4, whole = ?5, fraction = ?6"
                " WHERE number = ?1",
    /* By way of negative places, for no two events may have the same one in between. */
    [SHIFT] = "UPDATE event SET n = -1 - n WHERE sequence = ?1 AND n >= ?2",
    [SHIFT_BACK] = "UPDATE event SET n = -n WHERE sequence = ?1 AND n < 0",
    [UNSEEN] = "SELECT n FROM event WHERE sequence = ?1 AND +number > (SELECT event FROM watch) ORDER BY n LIMIT 1",
    [PRUNE] = "DELETE FROM event WHERE sequence = ?1 AND n < ?2",
    [CLAIM] = "INSERT INTO watch(one, token, event, alarms) VALUES(1, ?1, 0, 0)"
              " ON CONFLICT(one) DO UPDATE SET token = ?1",
    [IS_MINE] = "SELECT 1 FROM watch WHERE token = ?1",
    [LOAD] = "SELECT event, alarms, state FROM watch",
    [ALARMS] = "SELECT number, text FROM alarm WHERE number > (SELECT alarms FROM watch) - ?1"
               " AND number <= (SELECT alarms FROM watch) ORDER BY number",
    [PASSES] = "SELECT event, whole, fraction FROM pass ORDER BY number",
    [SAVE] = "UPDATE watch SET event = ?1, alarms = ?2, state = ?3",
    [NEW_ALARM] = "INSERT OR REPLACE INTO alarm(number, text) VALUES(?1, ?2)",
    [DROP_PASSES] = "DELETE FROM pass",
    [NEW_PASS] = "INSERT INTO pass(event, whole, fraction) VALUES(?1, ?2, ?3)",
};

/* ---- Opening ----------------------------------------------------------------------------------- */

static void close_side(struct side *side)
{
    for (int i = 0; i < STATEMENTS; i++) sql.finalize(side->statement[i]);
    sql.close_v2(side->db);
}

int64_t sqlite_number(struct side *side, const char *query)
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

static bool run(struct side *side, const char *text)
{
    return sql.exec(side->db, text, NULL, NULL, NULL) == SQLITE_OK;
}

/* A new file gets its tables, those of an old one what is missing; another one must be a store, of times of the same
 * kind. */
static int settle(struct side *side, const char *path, int calendar)
{
    char text[400];
    int64_t version = sqlite_number(side, "PRAGMA user_version"),
            application = sqlite_number(side, "PRAGMA application_id");
    if (version < 0) return cannot(path, side);
    if (sqlite_number(side, "SELECT count(*) FROM sqlite_master") == 0 && version == 0) {
        snprintf(text, sizeof text, "INSERT INTO about VALUES('times', '%s'); PRAGMA application_id = %d; COMMIT",
                 calendar ? "dates" : "numbers", APPLICATION);
        bool made = run(side, "BEGIN IMMEDIATE") && run(side, schema) && run(side, second) && run(side, text);
        return made ? 0 : cannot(path, side);
    }
    if (application == APPLICATION && version == 1) {
        if (!run(side, "BEGIN IMMEDIATE") || !run(side, second) || !run(side, "COMMIT")) return cannot(path, side);
        version = VERSION;
    }
    if (application != APPLICATION || version != VERSION)
        return report_failure(
            "'%s' is no store of smurf serve, or one of another version (give the name of a new file)", path);
    if (sqlite_number(side, calendar ? "SELECT count(*) FROM about WHERE name = 'times' AND value = 'dates'"
                                     : "SELECT count(*) FROM about WHERE name = 'times' AND value = 'numbers'") != 1)
        return report_failure("the times in the store '%s' are %s, but those of the model are %s (use another store)",
                              path, calendar ? "numbers" : "dates", calendar ? "dates" : "numbers");
    return 0;
}

static int open_both(struct sqlite_store *s, const char *path, int calendar)
{
    /* In memory, room for 1 GiB; a full one is like a full disk. */
    const char *way = path ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL" : "PRAGMA max_page_count = 262144";
    int status = open_side(&s->write, path, false);
    if (!status && !run(&s->write, way)) status = cannot(path, &s->write);
    if (!status) status = settle(&s->write, path, calendar);
    if (!status) status = prepare(&s->write, path, 0, STATEMENTS);
    if (!status && path) status = open_side(s->read, path, true);
    if (!status && path) status = prepare(s->read, path, 0, READ_STATEMENTS);
    return status;
}

static void close_store(void *own)
{
    struct sqlite_store *s = own;
    close_side(&s->read_own);
    close_side(&s->write);
    free(s);
}

static int open_store(void **own, const struct store_options *o, bool *one)
{
    struct sqlite_store *s = *own = calloc(1, sizeof *s);
    if (!s) out_of_memory();
    *one = !o->address;
    s->version = -1;
    s->read = o->address ? &s->read_own : &s->write;
    int status = open_both(s, o->address, o->calendar);
    if (!status) return 0;
    close_store(s);
    *own = NULL;
    return status;
}

static bool takes(const char *address)
{
    (void)address;
    return true;
}

/* ---- Reading ----------------------------------------------------------------------------------- */

static void take_sequence(sqlite3_stmt *s, int column, struct store_sequence *out)
{
    out->number = sql.column_int64(s, column);
    out->origin = sql.column_int64(s, column + 1);
    out->events = (size_t)sql.column_int64(s, column + 2);
    out->first = (size_t)sql.column_int64(s, column + 3);
    out->revision = (size_t)sql.column_int64(s, column + 4);
    out->last = (smurf_moment){sql.column_int64(s, column + 5), sql.column_double(s, column + 6)};
}

int sqlite_find(struct side *side, const char *name, struct store_sequence *out)
{
    sqlite3_stmt *s = side->statement[FIND];
    sql.bind_text(s, 1, name, -1, SQLITE_STATIC);
    int code = sql.step(s);
    if (code == SQLITE_ROW) take_sequence(s, 0, out);
    sql.reset(s);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -1;
}

static int find(void *own, const char *name, struct store_sequence *out)
{
    return sqlite_find(((struct sqlite_store *)own)->read, name, out);
}

static sqlite3_stmt *reader(void *own, enum statement statement)
{
    return ((struct sqlite_store *)own)->read->statement[statement];
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sql.column_text(s, column);
    return text ? text : "";
}

static int finish(sqlite3_stmt *s, int code, int rows)
{
    sql.reset(s);
    sql.clear_bindings(s);
    return code == SQLITE_DONE || code == SQLITE_ROW ? rows > 0 : -1;
}

static int read_events(void *own, const struct store_sequence *sequence, size_t n, size_t limit, store_event_fn *take,
                       void *context)
{
    sqlite3_stmt *s = reader(own, READ);
    int code, rows = 0;
    sql.bind_int64(s, 1, sequence->number);
    sql.bind_int64(s, 2, (sqlite3_int64)n);
    sql.bind_int64(s, 3, (sqlite3_int64)sequence->revision);
    sql.bind_int64(s, 4, (sqlite3_int64)limit);
    for (; (code = sql.step(s)) == SQLITE_ROW; rows = 1)
        if (take(context, (smurf_moment){sql.column_int64(s, 0), sql.column_double(s, 1)}, text_at(s, 2))) break;
    return finish(s, code, rows);
}

static int list(void *own, const char *prefix, const char *after, size_t limit, store_sequence_fn *take, void *context)
{
    sqlite3_stmt *s = reader(own, LIST);
    struct store_sequence found;
    int code, rows = 0;
    sql.bind_text(s, 1, after, -1, SQLITE_STATIC);
    sql.bind_text(s, 2, prefix, -1, SQLITE_STATIC);
    sql.bind_int64(s, 3, (sqlite3_int64)limit);
    for (; (code = sql.step(s)) == SQLITE_ROW; rows = 1) {
        take_sequence(s, 1, &found);
        if (take(context, text_at(s, 0), &found)) break;
    }
    return finish(s, code, rows);
}

static int take_log(sqlite3_stmt *s, store_log_fn *take, void *context)
{
    int code, rows = 0;
    for (; (code = sql.step(s)) == SQLITE_ROW; rows = 1)
        if (take(context, (size_t)sql.column_int64(s, 0), text_at(s, 1), sql.column_int64(s, 2),
                 (smurf_moment){sql.column_int64(s, 3), sql.column_double(s, 4)}, text_at(s, 5)))
            break;
    return finish(s, code, rows);
}

static int log_events(void *own, size_t after, size_t limit, store_log_fn *take, void *context)
{
    sqlite3_stmt *s = reader(own, LOG);
    sql.bind_int64(s, 1, (sqlite3_int64)after);
    sql.bind_int64(s, 2, (sqlite3_int64)limit);
    return take_log(s, take, context);
}

static int log_of(void *own, const char *name, size_t after, size_t before, size_t limit, store_log_fn *take,
                  void *context)
{
    sqlite3_stmt *s = reader(own, LOG_OF);
    sql.bind_text(s, 1, name, -1, SQLITE_STATIC);
    sql.bind_int64(s, 2, (sqlite3_int64)after);
    sql.bind_int64(s, 3, (sqlite3_int64)before);
    sql.bind_int64(s, 4, (sqlite3_int64)limit);
    return take_log(s, take, context);
}

const struct store_class store_sqlite = {
    .name = "SQLite",
    .takes = takes,
    .open = open_store,
    .close = close_store,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .find_all = sqlite_find_all,
    .find_ids = sqlite_find_ids,
    .find_place = sqlite_find_place,
    .shift = sqlite_shift,
    .add_events = sqlite_add_events,
    .put_sequences = sqlite_put_sequences,
    .find_unseen = sqlite_find_unseen,
    .prune = sqlite_prune,
    .count = NULL,
    .find = find,
    .read = read_events,
    .list = list,
    .log = log_events,
    .log_of = log_of,
    .watch_claim = sqlite_watch_claim,
    .watch_load = sqlite_watch_load,
    .watch_is_mine = sqlite_watch_is_mine,
    .watch_save = sqlite_watch_save,
    .watch_pass = sqlite_watch_pass,
};
