/*
 * store_postgres_write.c - writes to a store in PostgreSQL. Rows travel as arrays, so that a group of requests takes
 * some six statements, whatever its size.
 */
#include "store_postgres.h"

#include <inttypes.h>
#include <string.h>

static struct pg_side *writer(void *own)
{
    return &((struct pg_store *)own)->write;
}

static enum store_outcome tell(void *own, enum store_outcome outcome, char *words)
{
    if (outcome) memcpy(words, writer(own)->words, STORE_WORDS);
    return outcome;
}

static enum store_outcome ask(void *own, const char *text, struct pg_parameters *p, PGresult **out, char *words)
{
    return tell(own, pg_ask(writer(own), text, p, out), words);
}

/* ---- Arrays ------------------------------------------------------------------------------------ */

static FILE *begin_array(struct pg_parameters *p)
{
    FILE *out = pg_next(p);
    if (out) putc('{', out);
    return out;
}

static void put_numbers(FILE *out, size_t i, int64_t number)
{
    if (out) fprintf(out, i ? ",%" PRId64 : "%" PRId64, number);
}

static void put_fractions(FILE *out, size_t i, double x)
{
    if (out) fprintf(out, i ? ",%.17g" : "%.17g", x);
}

static void put_texts(FILE *out, size_t i, const char *text)
{
    if (!out) return;
    if (i) putc(',', out);
    if (text) putc('"', out);
    for (const char *p = text ? text : "NULL"; *p; p++) {
        if (*p == '"' || *p == '\\') putc('\\', out);
        putc(*p, out);
    }
    if (text) putc('"', out);
}

static void end_arrays(struct pg_parameters *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->out[i]) putc('}', p->out[i]);
}

/* ---- Transactions ------------------------------------------------------------------------------ */

enum store_outcome pg_begin(void *own, struct store_counts *counts, char *words)
{
    struct pg_side *side = writer(own);
    PGresult *r = NULL;
    enum store_outcome outcome = STORE_BROKEN;
    for (int attempt = 0; attempt < 2 && outcome; attempt++) { /* the connection may have been lost before */
        outcome = pg_connect(side);
        if (outcome) return tell(own, outcome, words);
        outcome = pg_run(side, "BEGIN; SELECT sequences, events, txid_current() FROM smurf_store FOR UPDATE", &r);
        if (outcome && pg_is_connected(side)) break;
    }
    if (!outcome && pg.ntuples(r) != 1) {
        snprintf(side->words, sizeof side->words, "the table smurf_store is empty");
        outcome = STORE_BROKEN;
        pg.clear(r);
        pg_rollback(own);
    } else if (!outcome) {
        *counts = (struct store_counts){(size_t)pg_number_at(r, 0, 0), (size_t)pg_number_at(r, 0, 1)};
        ((struct pg_store *)own)->transaction = pg_number_at(r, 0, 2);
        pg.clear(r);
    } else if (pg_is_connected(side)) {
        pg_rollback(own);
    }
    return tell(own, outcome, words);
}

/* Whether the server has committed, where the connection was lost before it said so. */
static enum store_outcome ask_whether(void *own, enum store_outcome outcome)
{
    struct pg_side *side = writer(own);
    char text[80], words[STORE_WORDS];
    PGresult *r = NULL;
    memcpy(words, side->words, sizeof words);
    snprintf(text, sizeof text, "SELECT txid_status(%" PRId64 ")", ((struct pg_store *)own)->transaction);
    bool told = !pg_connect(side) && !pg_run(side, text, &r);
    const char *status = told ? pg.getvalue(r, 0, 0) : "";
    outcome = strcmp(status, "committed") == 0 ? STORE_DONE : strcmp(status, "aborted") == 0 ? outcome : STORE_UNSURE;
    pg.clear(r);
    memcpy(side->words, words, sizeof words);
    return outcome;
}

enum store_outcome pg_commit(void *own, const struct store_counts *counts, char *words)
{
    char text[160];
    struct pg_side *side = writer(own);
    snprintf(text, sizeof text, "UPDATE smurf_store SET sequences = %zu, events = %zu; COMMIT", counts->sequences,
             counts->events);
    enum store_outcome outcome = pg_run(side, text, NULL);
    if (outcome && !pg_is_connected(side)) outcome = ask_whether(own, outcome);
    return tell(own, outcome, words);
}

void pg_rollback(void *own)
{
    if (pg_is_connected(writer(own))) pg.clear(pg.exec(writer(own)->connection, "ROLLBACK"));
}

/* ---- Looking up -------------------------------------------------------------------------------- */

enum store_outcome pg_find_all(void *own, struct plan_sequence *sequence, size_t n, char *words)
{
    struct pg_parameters p = {0};
    PGresult *r;
    FILE *name = begin_array(&p);
    for (size_t i = 0; i < n; i++) put_texts(name, i, sequence[i].name);
    end_arrays(&p);
    enum store_outcome outcome = ask(own,
                                     "SELECT u.i, " PG_SEQUENCE " FROM unnest($1::text[]) WITH ORDINALITY u(name, i)"
                                     " JOIN smurf_sequence s ON s.name = u.name COLLATE \"C\"",
                                     &p, &r, words);
    if (outcome) return outcome;
    for (int row = 0; row < pg.ntuples(r); row++) {
        struct plan_sequence *s = &sequence[pg_number_at(r, row, 0) - 1];
        pg_sequence_at(r, row, 1, &s->is);
        s->stored = true;
    }
    pg.clear(r);
    return STORE_DONE;
}

static bool is_same(const PGresult *r, int row, const struct store_event *e)
{
    smurf_moment at = pg_moment_at(r, row, 1);
    return at.whole == e->at.whole && at.fraction == e->at.fraction && strcmp(pg.getvalue(r, row, 3), e->type) == 0;
}

enum store_outcome pg_find_ids(void *own, struct plan_event *const *event, size_t n, char *words)
{
    struct pg_parameters p = {0};
    PGresult *r;
    FILE *sequence = begin_array(&p), *id = begin_array(&p);
    for (size_t i = 0; i < n; i++) {
        put_numbers(sequence, i, event[i]->sequence->is.number);
        put_texts(id, i, event[i]->event->id);
    }
    end_arrays(&p);
    enum store_outcome outcome =
        ask(own,
            "SELECT u.i, e.whole, e.fraction, e.type FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY"
            " u(sequence, id, i) JOIN smurf_event e ON e.sequence = u.sequence AND e.id = u.id COLLATE \"C\"",
            &p, &r, words);
    if (outcome) return outcome;
    for (int row = 0; row < pg.ntuples(r); row++) {
        struct plan_event *e = event[pg_number_at(r, row, 0) - 1];
        e->known = is_same(r, row, e->event) ? 1 : -1;
    }
    pg.clear(r);
    return STORE_DONE;
}

enum store_outcome pg_find_place(void *own, int64_t sequence, smurf_moment at, size_t *n, char *words)
{
    struct pg_parameters p = {0};
    PGresult *r;
    pg_put_number(&p, sequence);
    pg_put_moment(&p, at);
    enum store_outcome outcome =
        ask(own,
            "SELECT n FROM smurf_event WHERE sequence = $1::bigint AND (whole < $2::bigint OR"
            " (whole = $2::bigint AND fraction <= $3::double precision)) ORDER BY n DESC LIMIT 1",
            &p, &r, words);
    if (outcome) return outcome;
    *n = pg.ntuples(r) ? (size_t)pg_number_at(r, 0, 0) + 1 : 0;
    pg.clear(r);
    return STORE_DONE;
}

/* ---- Events ------------------------------------------------------------------------------------ */

/* By way of negative places, for no two events may have the same one in between. */
enum store_outcome pg_shift(void *own, int64_t sequence, size_t n, char *words)
{
    char text[200];
    snprintf(text, sizeof text,
             "UPDATE smurf_event SET n = -1 - n WHERE sequence = %" PRId64
             " AND n >= %zu; UPDATE smurf_event SET n = -n WHERE sequence = %" PRId64 " AND n < 0",
             sequence, n, sequence);
    return tell(own, pg_run(writer(own), text, NULL), words);
}

enum store_outcome pg_add_events(void *own, struct plan_event *const *event, size_t n, char *words)
{
    struct pg_parameters p = {0};
    FILE *number = begin_array(&p), *sequence = begin_array(&p), *place = begin_array(&p), *whole = begin_array(&p);
    FILE *fraction = begin_array(&p), *type = begin_array(&p), *id = begin_array(&p);
    for (size_t i = 0; i < n; i++) {
        const struct store_event *e = event[i]->event;
        put_numbers(number, i, (int64_t)event[i]->number);
        put_numbers(sequence, i, event[i]->sequence->is.number);
        put_numbers(place, i, (int64_t)event[i]->n);
        put_numbers(whole, i, e->at.whole);
        put_fractions(fraction, i, e->at.fraction);
        put_texts(type, i, e->type);
        put_texts(id, i, e->id);
    }
    end_arrays(&p);
    return ask(own,
               "INSERT INTO smurf_event(number, sequence, n, whole, fraction, type, id) SELECT * FROM"
               " unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::double precision[], $6::text[],"
               " $7::text[])",
               &p, NULL, words);
}

enum store_outcome pg_put_sequences(void *own, struct plan_sequence *const *list, size_t n, char *words)
{
    struct pg_parameters p = {0};
    FILE *number = begin_array(&p), *name = begin_array(&p), *events = begin_array(&p), *first = begin_array(&p);
    FILE *revision = begin_array(&p), *origin = begin_array(&p), *whole = begin_array(&p), *fraction = begin_array(&p);
    for (size_t i = 0; i < n; i++) {
        const struct store_sequence *is = &list[i]->is;
        put_numbers(number, i, is->number);
        put_texts(name, i, list[i]->name);
        put_numbers(events, i, (int64_t)is->events);
        put_numbers(first, i, (int64_t)is->first);
        put_numbers(revision, i, (int64_t)is->revision);
        put_numbers(origin, i, is->origin);
        put_numbers(whole, i, is->last.whole);
        put_fractions(fraction, i, is->last.fraction);
    }
    end_arrays(&p);
    return ask(own,
               "INSERT INTO smurf_sequence(number, name, events, first, revision, origin, whole, fraction)"
               " SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],"
               " $7::bigint[], $8::double precision[]) ON CONFLICT(number) DO UPDATE SET events = excluded.events,"
               " first = excluded.first, revision = excluded.revision, whole = excluded.whole,"
               " fraction = excluded.fraction",
               &p, NULL, words);
}

enum store_outcome pg_find_unseen(void *own, int64_t sequence, size_t *n, char *words)
{
    struct pg_parameters p = {0};
    PGresult *r;
    pg_put_number(&p, sequence);
    enum store_outcome outcome =
        ask(own,
            "SELECT n FROM smurf_event WHERE sequence = $1::bigint AND number > (SELECT event FROM smurf_watch)"
            " ORDER BY n LIMIT 1",
            &p, &r, words);
    if (outcome) return outcome;
    if (pg.ntuples(r)) *n = (size_t)pg_number_at(r, 0, 0);
    pg.clear(r);
    return STORE_DONE;
}

enum store_outcome pg_prune(void *own, int64_t sequence, size_t first, char *words)
{
    struct pg_parameters p = {0};
    pg_put_number(&p, sequence);
    pg_put_number(&p, (int64_t)first);
    return ask(own, "DELETE FROM smurf_event WHERE sequence = $1::bigint AND n < $2::bigint", &p, NULL, words);
}
