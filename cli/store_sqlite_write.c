/* store_sqlite_write.c - writes to a store in SQLite. */
#include "store_sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a failure means. SQLite tells that the disk is full, but not that a file may not grow: that is in errno, which
   sqlite_begin() clears. */
static enum store_outcome failed(struct side *w, int code, char *words)
{
    int cause = errno;
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return STORE_DONE;
    snprintf(words, STORE_WORDS, "%s", sql.errmsg(w->db));
    if ((code & 0xff) == SQLITE_NOMEM) return STORE_MEMORY;
    bool no_room = (code & 0xff) == SQLITE_IOERR && (cause == ENOSPC || cause == EFBIG || cause == EDQUOT);
    return (code & 0xff) == SQLITE_FULL || no_room ? STORE_FULL : STORE_BROKEN;
}

static struct side *writer(void *own)
{
    return &((struct sqlite_store *)own)->write;
}

static sqlite3_stmt *statement(void *own, enum statement number)
{
    return writer(own)->statement[number];
}

/* Runs a statement that returns no rows. */
static enum store_outcome run(void *own, sqlite3_stmt *s, char *words)
{
    int code = sql.step(s);
    sql.reset(s);
    return failed(writer(own), code, words);
}

static enum store_outcome exec(void *own, const char *text, char *words)
{
    return failed(writer(own), sql.exec(writer(own)->db, text, NULL, NULL, NULL), words);
}

static void bind_moment(sqlite3_stmt *s, int column, smurf_moment at)
{
    sql.bind_int64(s, column, at.whole);
    sql.bind_double(s, column + 1, at.fraction);
}

/* ---- Transactions ------------------------------------------------------------------------------ */

static void count(struct sqlite_store *s)
{
    sqlite3_stmt *changed = s->write.statement[CHANGED];
    int64_t version = sql.step(changed) == SQLITE_ROW ? sql.column_int64(changed, 0) : -1;
    sql.reset(changed);
    if (version == s->version && version != -1) return;
    int64_t sequences = sqlite_number(&s->write, "SELECT coalesce(max(number), 0) FROM sequence");
    int64_t events = sqlite_number(&s->write, "SELECT coalesce(max(number), 0) FROM event");
    s->counts = (struct store_counts){(size_t)sequences, (size_t)events};
    s->version = sequences < 0 || events < 0 ? -1 : version;
}

enum store_outcome sqlite_begin(void *own, struct store_counts *counts, char *words)
{
    struct sqlite_store *s = own;
    errno = 0;
    enum store_outcome outcome = exec(own, "BEGIN IMMEDIATE", words);
    if (outcome) return outcome;
    count(s);
    *counts = s->counts;
    if (s->version != -1) return STORE_DONE;
    snprintf(words, STORE_WORDS, "%s", sql.errmsg(s->write.db));
    sqlite_rollback(own);
    return STORE_BROKEN;
}

enum store_outcome sqlite_commit(void *own, const struct store_counts *counts, char *words)
{
    struct sqlite_store *s = own;
    enum store_outcome outcome = exec(own, "COMMIT", words);
    if (!outcome) s->counts = *counts;
    return outcome;
}

void sqlite_rollback(void *own)
{
    sql.exec(writer(own)->db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- Looking up -------------------------------------------------------------------------------- */

enum store_outcome sqlite_find_all(void *own, struct plan_sequence *sequence, size_t n, char *words)
{
    for (size_t i = 0; i < n; i++) {
        int found = sqlite_find(writer(own), sequence[i].name, &sequence[i].is);
        if (found < 0) return failed(writer(own), SQLITE_IOERR, words);
        sequence[i].stored = found;
    }
    return STORE_DONE;
}

static bool is_same(sqlite3_stmt *s, const struct store_event *e)
{
    const char *type = (const char *)sql.column_text(s, 2);
    return sql.column_int64(s, 0) == e->at.whole && sql.column_double(s, 1) == e->at.fraction && type &&
           strcmp(type, e->type) == 0;
}

enum store_outcome sqlite_find_ids(void *own, struct plan_event *const *event, size_t n, char *words)
{
    sqlite3_stmt *s = statement(own, KNOWN_ID);
    for (size_t i = 0; i < n; i++) {
        sql.bind_int64(s, 1, event[i]->sequence->is.number);
        sql.bind_text(s, 2, event[i]->event->id, -1, SQLITE_STATIC);
        int code = sql.step(s);
        if (code == SQLITE_ROW) event[i]->known = is_same(s, event[i]->event) ? 1 : -1;
        sql.reset(s);
        enum store_outcome outcome = failed(writer(own), code, words);
        if (outcome) return outcome;
    }
    return STORE_DONE;
}

enum store_outcome sqlite_find_place(void *own, int64_t sequence, smurf_moment at, size_t *n, char *words)
{
    sqlite3_stmt *s = statement(own, PLACE);
    sql.bind_int64(s, 1, sequence);
    bind_moment(s, 2, at);
    int code = sql.step(s);
    *n = code == SQLITE_ROW ? (size_t)sql.column_int64(s, 0) + 1 : 0;
    sql.reset(s);
    return failed(writer(own), code, words);
}

/* ---- Events ------------------------------------------------------------------------------------ */

enum store_outcome sqlite_shift(void *own, int64_t sequence, size_t n, char *words)
{
    sqlite3_stmt *s = statement(own, SHIFT);
    sql.bind_int64(s, 1, sequence);
    sql.bind_int64(s, 2, (sqlite3_int64)n);
    enum store_outcome outcome = run(own, s, words);
    if (outcome) return outcome;
    s = statement(own, SHIFT_BACK);
    sql.bind_int64(s, 1, sequence);
    return run(own, s, words);
}

enum store_outcome sqlite_add_events(void *own, struct plan_event *const *event, size_t n, char *words)
{
    sqlite3_stmt *s = statement(own, NEW_EVENT);
    enum store_outcome outcome = STORE_DONE;
    for (size_t i = 0; i < n && !outcome; i++) {
        const struct store_event *e = event[i]->event;
        sql.bind_int64(s, 1, (sqlite3_int64)event[i]->number);
        sql.bind_int64(s, 2, event[i]->sequence->is.number);
        sql.bind_int64(s, 3, (sqlite3_int64)event[i]->n);
        bind_moment(s, 4, e->at);
        sql.bind_text(s, 6, e->type, -1, SQLITE_STATIC);
        if (e->id)
            sql.bind_text(s, 7, e->id, -1, SQLITE_STATIC);
        else
            sql.bind_null(s, 7);
        outcome = run(own, s, words);
    }
    return outcome;
}

enum store_outcome sqlite_put_sequences(void *own, struct plan_sequence *const *sequence, size_t n, char *words)
{
    enum store_outcome outcome = STORE_DONE;
    for (size_t i = 0; i < n && !outcome; i++) {
        const struct store_sequence *is = &sequence[i]->is;
        sqlite3_stmt *s = statement(own, sequence[i]->stored ? ADVANCE : NEW_SEQUENCE);
        sql.bind_int64(s, 1, is->number);
        sql.bind_int64(s, 2, (sqlite3_int64)is->events);
        sql.bind_int64(s, 3, (sqlite3_int64)is->first);
        sql.bind_int64(s, 4, (sqlite3_int64)is->revision);
        bind_moment(s, 5, is->last);
        if (!sequence[i]->stored) sql.bind_int64(s, 7, is->origin);
        if (!sequence[i]->stored) sql.bind_text(s, 8, sequence[i]->name, -1, SQLITE_STATIC);
        outcome = run(own, s, words);
    }
    return outcome;
}

enum store_outcome sqlite_find_unseen(void *own, int64_t sequence, size_t *n, char *words)
{
    sqlite3_stmt *s = statement(own, UNSEEN);
    sql.bind_int64(s, 1, sequence);
    int code = sql.step(s);
    if (code == SQLITE_ROW) *n = (size_t)sql.column_int64(s, 0);
    sql.reset(s);
    return failed(writer(own), code, words);
}

enum store_outcome sqlite_prune(void *own, int64_t sequence, size_t first, char *words)
{
    sqlite3_stmt *s = statement(own, PRUNE);
    sql.bind_int64(s, 1, sequence);
    sql.bind_int64(s, 2, (sqlite3_int64)first);
    return run(own, s, words);
}

/* ---- What is watched --------------------------------------------------------------------------- */

enum store_outcome sqlite_watch_claim(void *own, const char *token, char *words)
{
    sqlite3_stmt *s = statement(own, CLAIM);
    sql.bind_text(s, 1, token, -1, SQLITE_STATIC);
    return run(own, s, words);
}

enum store_outcome sqlite_watch_is_mine(void *own, const char *token, bool *mine, char *words)
{
    sqlite3_stmt *s = statement(own, IS_MINE);
    sql.bind_text(s, 1, token, -1, SQLITE_STATIC);
    int code = sql.step(s);
    *mine = code == SQLITE_ROW;
    sql.reset(s);
    return failed(writer(own), code, words);
}

static bool take_state(sqlite3_stmt *s, struct store_watch *out)
{
    out->event = (size_t)sql.column_int64(s, 0);
    out->alarms = (size_t)sql.column_int64(s, 1);
    const void *state = sql.column_blob(s, 2);
    out->size = state ? (size_t)sql.column_bytes(s, 2) : 0;
    if (!state) return true;
    out->state = malloc(out->size);
    if (out->state) memcpy(out->state, state, out->size);
    return out->state != NULL;
}

enum store_outcome sqlite_watch_load(void *own, struct store_watch *out, size_t last, store_alarm_fn *alarm,
                                     store_pass_fn *pass, void *context, char *words)
{
    bool good = true;
    sqlite3_stmt *s = statement(own, LOAD);
    int code = sql.step(s);
    if (code == SQLITE_ROW) good = take_state(s, out);
    sql.reset(s);
    if (code != SQLITE_ROW) return failed(writer(own), code, words);
    s = statement(own, ALARMS);
    sql.bind_int64(s, 1, (sqlite3_int64)last);
    while (good && (code = sql.step(s)) == SQLITE_ROW)
        good = alarm(context, (size_t)sql.column_int64(s, 0), (const char *)sql.column_text(s, 1)) == 0;
    sql.reset(s);
    s = statement(own, PASSES);
    while (good && (code = sql.step(s)) == SQLITE_ROW)
        good = pass(context, (size_t)sql.column_int64(s, 0),
                    (smurf_moment){sql.column_int64(s, 1), sql.column_double(s, 2)}) == 0;
    sql.reset(s);
    return good ? failed(writer(own), code, words) : STORE_MEMORY;
}

enum store_outcome sqlite_watch_save(void *own, const struct store_watch *watch, size_t first, const char *const *alarm,
                                     size_t n, char *words)
{
    sqlite3_stmt *s = statement(own, SAVE);
    sql.bind_int64(s, 1, (sqlite3_int64)watch->event);
    sql.bind_int64(s, 2, (sqlite3_int64)watch->alarms);
    int code = sql.bind_blob(s, 3, watch->state, (int)watch->size, SQLITE_STATIC);
    enum store_outcome outcome = code == SQLITE_OK ? run(own, s, words) : failed(writer(own), code, words);
    sql.clear_bindings(s);
    for (size_t i = 0; i < n && !outcome; i++) {
        s = statement(own, NEW_ALARM);
        sql.bind_int64(s, 1, (sqlite3_int64)(first + i));
        sql.bind_text(s, 2, alarm[i], -1, SQLITE_STATIC);
        outcome = run(own, s, words);
    }
    return outcome ? outcome : run(own, statement(own, DROP_PASSES), words);
}

enum store_outcome sqlite_watch_pass(void *own, size_t event, smurf_moment moment, char *words)
{
    sqlite3_stmt *s = statement(own, NEW_PASS);
    sql.bind_int64(s, 1, (sqlite3_int64)event);
    bind_moment(s, 2, moment);
    return run(own, s, words);
}
