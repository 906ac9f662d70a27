/*
 * store_write.c - the thread that writes to a store.
 *
 * It takes all batches that wait and stores them in one transaction, each in a savepoint of its own: a batch that is
 * refused leaves nothing, and the others stay. Callers are told after the commit, which syncs the disk. If the commit
 * fails nothing of the group is stored, and all of it is refused.
 */
#include "store_sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Beyond that many waiting events callers are turned away. */
enum { WAITING_MOST = 1000000 };

/* What a failure means. SQLite tells that the disk is full, but not that a file may not grow: that is in errno, which
   put_group() clears. */
static enum store_outcome failed(struct side *w, struct store_batch *b, int code)
{
    int cause = errno;
    snprintf(b->words, sizeof b->words, "%s", sql.errmsg(w->db));
    if ((code & 0xff) == SQLITE_NOMEM) return STORE_MEMORY;
    bool no_room = (code & 0xff) == SQLITE_IOERR && (cause == ENOSPC || cause == EFBIG || cause == EDQUOT);
    return (code & 0xff) == SQLITE_FULL || no_room ? STORE_FULL : STORE_BROKEN;
}

static int run(sqlite3_stmt *s)
{
    int code = sql.step(s);
    sql.reset(s);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Times that count from 0 up to about a million are kept as they are, as in data sets (smurf_sequence.origin). */
static int64_t origin_of(smurf_moment first)
{
    const int64_t small = 1 << 20;
    return first.whole >= small || first.whole < -small ? first.whole : 0;
}

static int add_sequence(struct side *w, const struct store_event *e, struct store_sequence *out)
{
    sqlite3_stmt *s = w->statement[NEW_SEQUENCE];
    *out = (struct store_sequence){.origin = origin_of(e->at), .last = e->at};
    sql.bind_text(s, 1, e->sequence, -1, SQLITE_STATIC);
    sql.bind_int64(s, 2, out->origin);
    sql.bind_int64(s, 3, e->at.whole);
    sql.bind_double(s, 4, e->at.fraction);
    int code = run(s);
    out->number = sql.last_insert_rowid(w->db);
    return code;
}

/* Is there an event with that id? 1: the same; 0: none; -1: another one; -2: an error. */
static int known(struct side *w, int64_t sequence, const struct store_event *e)
{
    sqlite3_stmt *s = w->statement[KNOWN_ID];
    sql.bind_int64(s, 1, sequence);
    sql.bind_text(s, 2, e->id, -1, SQLITE_STATIC);
    int code = sql.step(s), answer = code == SQLITE_DONE ? 0 : -2;
    if (code == SQLITE_ROW) {
        const char *type = (const char *)sql.column_text(s, 2);
        bool same = sql.column_int64(s, 0) == e->at.whole && sql.column_double(s, 1) == e->at.fraction && type &&
                    strcmp(type, e->type) == 0;
        answer = same ? 1 : -1;
    }
    sql.reset(s);
    return answer;
}

static int add_event(struct side *w, const struct store_sequence *q, const struct store_event *e)
{
    sqlite3_stmt *s = w->statement[NEW_EVENT];
    sql.bind_int64(s, 1, q->number);
    sql.bind_int64(s, 2, (sqlite3_int64)q->events);
    sql.bind_int64(s, 3, e->at.whole);
    sql.bind_double(s, 4, e->at.fraction);
    sql.bind_text(s, 5, e->type, -1, SQLITE_STATIC);
    if (e->id)
        sql.bind_text(s, 6, e->id, -1, SQLITE_STATIC);
    else
        sql.bind_null(s, 6);
    int code = run(s);
    if (code != SQLITE_OK) return code;
    s = w->statement[ADVANCE];
    sql.bind_int64(s, 1, q->number);
    sql.bind_int64(s, 2, (sqlite3_int64)q->events + 1);
    sql.bind_int64(s, 3, e->at.whole);
    sql.bind_double(s, 4, e->at.fraction);
    return run(s);
}

/* *added: new sequences so far in this transaction. */
static enum store_outcome put_event(struct store *store, struct store_batch *b, size_t i, size_t *added)
{
    struct side *w = &store->write;
    const struct store_event *e = &b->event[i];
    struct store_sequence q;
    int code = SQLITE_OK, found = store_lookup(w, e->sequence, &q);
    b->at = i;
    if (found < 0) return failed(w, b, SQLITE_IOERR);
    if (!found) {
        if (store->sequences + *added >= store->most) return STORE_MANY;
        code = add_sequence(w, e, &q);
        if (code != SQLITE_OK) return failed(w, b, code);
        ++*added;
    }
    int same = found && e->id ? known(w, q.number, e) : 0;
    if (same == -2) return failed(w, b, SQLITE_IOERR);
    if (same == -1) return STORE_CONFLICT;
    if (same == 1) {
        b->duplicates++;
        return STORE_DONE;
    }
    b->last = q.last;
    if (smurf_moment_gap(q.last, e->at) < 0) return STORE_LATE;
    code = add_event(w, &q, e);
    if (code != SQLITE_OK) return failed(w, b, code);
    b->accepted++;
    return STORE_DONE;
}

/* One batch in a savepoint. An error of the database ends the transaction. */
static enum store_outcome put_batch(struct store *store, struct store_batch *b, size_t *added)
{
    struct side *w = &store->write;
    size_t before = *added;
    int code = sql.exec(w->db, "SAVEPOINT batch", NULL, NULL, NULL);
    if (code != SQLITE_OK) return failed(w, b, code);
    enum store_outcome outcome = STORE_DONE;
    for (size_t i = 0; i < b->count && outcome == STORE_DONE; i++) outcome = put_event(store, b, i, added);
    if (outcome == STORE_DONE) {
        code = sql.exec(w->db, "RELEASE batch", NULL, NULL, NULL);
    } else if (outcome == STORE_LATE || outcome == STORE_CONFLICT || outcome == STORE_MANY) {
        *added = before;
        b->accepted = b->duplicates = 0;
        code = sql.exec(w->db, "ROLLBACK TO batch; RELEASE batch", NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? outcome : failed(w, b, code);
}

static bool is_fatal(enum store_outcome outcome)
{
    return outcome == STORE_FULL || outcome == STORE_BROKEN || outcome == STORE_MEMORY;
}

static void put_group(struct store *store, struct store_batch *first)
{
    struct side *w = &store->write;
    struct store_batch *b = first;
    size_t added = 0, events = 0;
    pthread_mutex_lock(&w->lock);
    errno = 0;
    int code = sql.exec(w->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    enum store_outcome fatal = code == SQLITE_OK ? STORE_DONE : failed(w, b, code);
    for (; b && fatal == STORE_DONE; b = b->next) {
        b->outcome = put_batch(store, b, &added);
        if (is_fatal(b->outcome)) fatal = b->outcome;
        if (fatal != STORE_DONE) memmove(first->words, b->words, sizeof b->words);
        if (b->outcome == STORE_DONE) events += b->accepted;
    }
    if (fatal == STORE_DONE && (code = sql.exec(w->db, "COMMIT", NULL, NULL, NULL)) != SQLITE_OK)
        fatal = failed(w, first, code);
    if (fatal != STORE_DONE) sql.exec(w->db, "ROLLBACK", NULL, NULL, NULL);
    pthread_mutex_unlock(&w->lock);
    for (b = first; b && fatal != STORE_DONE; b = b->next) {
        b->outcome = fatal;
        b->accepted = b->duplicates = 0;
        if (b != first) memcpy(b->words, first->words, sizeof b->words);
    }
    if (fatal != STORE_DONE) return;
    store->sequences += added;
    store->events += events;
}

void *store_writer(void *context)
{
    struct store *s = context;
    pthread_mutex_lock(&s->lock);
    while (s->first || !s->closing) {
        if (!s->first) {
            pthread_cond_wait(&s->arrived, &s->lock);
            continue;
        }
        struct store_batch *group = s->first;
        s->first = NULL;
        s->last = &s->first;
        s->waiting = 0;
        pthread_mutex_unlock(&s->lock);
        put_group(s, group);
        pthread_mutex_lock(&s->lock);
        for (struct store_batch *b = group, *next; b; b = next) {
            next = b->next;
            b->finished = true; /* from here on it belongs to its caller */
        }
        pthread_cond_broadcast(&s->done);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

void store_put(struct store *s, struct store_batch *b)
{
    b->finished = false;
    b->next = NULL;
    b->accepted = b->duplicates = 0;
    pthread_mutex_lock(&s->lock);
    if (s->waiting && s->waiting + b->count > WAITING_MOST) {
        b->outcome = STORE_BUSY;
    } else {
        s->waiting += b->count;
        *s->last = b;
        s->last = &b->next;
        pthread_cond_signal(&s->arrived);
        while (!b->finished) pthread_cond_wait(&s->done, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

void store_wake(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    s->woken = true;
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
}

void store_wait(struct store *s, size_t number)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&s->lock);
    if (s->events <= number && !s->woken) pthread_cond_timedwait(&s->done, &s->lock, &until);
    pthread_mutex_unlock(&s->lock);
}
