/*
 * store_postgres.c - a store in PostgreSQL: connects, makes the tables, reads. See store_class.h for the tables, whose
 * names begin with smurf_.
 *
 * smurf_store has one row: what the store is, and the last numbers. Who writes locks it until the commit, so that
 * services write one after the other, and numbers have no gaps and become visible in their order. A connection that is
 * lost is made again by the next call.
 */
#include "store_postgres.h"

#include "address.h"
#include "terminal.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1 };

struct pg_functions pg;

static const struct {
    size_t at;
    const char *name;
} entry[] = {
#define ENTRY(name, ...) {offsetof(struct pg_functions, name), "PQ" #name},
    PG_FUNCTIONS(ENTRY)};

/* The lock keeps two services from making the tables at the same time. */
static const char schema[] =
    "BEGIN; SELECT pg_advisory_xact_lock(1936552550);"
    "CREATE TABLE IF NOT EXISTS smurf_store(one integer PRIMARY KEY CHECK(one = 1), version integer NOT NULL,"
    " times text NOT NULL, sequences bigint NOT NULL, events bigint NOT NULL);"
    "CREATE TABLE IF NOT EXISTS smurf_sequence(number bigint PRIMARY KEY, name text COLLATE \"C\" NOT NULL UNIQUE,"
    " events bigint NOT NULL, first bigint NOT NULL, revision bigint NOT NULL, origin bigint NOT NULL,"
    " whole bigint NOT NULL, fraction double precision NOT NULL);"
    "CREATE TABLE IF NOT EXISTS smurf_event(number bigint PRIMARY KEY, sequence bigint NOT NULL, n bigint NOT NULL,"
    " whole bigint NOT NULL, fraction double precision NOT NULL, type text NOT NULL, id text COLLATE \"C\");"
    "CREATE UNIQUE INDEX IF NOT EXISTS smurf_place ON smurf_event(sequence, n);"
    "CREATE UNIQUE INDEX IF NOT EXISTS smurf_known ON smurf_event(sequence, id) WHERE id IS NOT NULL;"
    "CREATE TABLE IF NOT EXISTS smurf_watch(one integer PRIMARY KEY CHECK(one = 1), token text NOT NULL,"
    " event bigint NOT NULL, alarms bigint NOT NULL, state bytea);"
    "CREATE TABLE IF NOT EXISTS smurf_alarm(number bigint PRIMARY KEY, text text NOT NULL);"
    "CREATE TABLE IF NOT EXISTS smurf_pass(number bigserial PRIMARY KEY, event bigint NOT NULL, whole bigint NOT NULL,"
    " fraction double precision NOT NULL);"
    "INSERT INTO smurf_store VALUES(1, 1, '%s', 0, 0) ON CONFLICT DO NOTHING; COMMIT";

/* ---- Parameters -------------------------------------------------------------------------------- */

FILE *pg_next(struct pg_parameters *p)
{
    int i = p->count++;
    p->out[i] = open_memstream(&p->text[i], &p->size[i]);
    p->failed = p->failed || !p->out[i];
    return p->out[i];
}

void pg_put_number(struct pg_parameters *p, int64_t number)
{
    FILE *out = pg_next(p);
    if (out) fprintf(out, "%" PRId64, number);
}

void pg_put_text(struct pg_parameters *p, const char *text)
{
    FILE *out = pg_next(p);
    if (out) fputs(text, out);
}

void pg_put_moment(struct pg_parameters *p, smurf_moment moment)
{
    pg_put_number(p, moment.whole);
    FILE *out = pg_next(p);
    if (out) fprintf(out, "%.17g", moment.fraction);
}

static void close_all(struct pg_parameters *p)
{
    for (int i = 0; i < p->count; i++) {
        if (p->out[i] && (fflush(p->out[i]) != 0 || ferror(p->out[i]))) p->failed = true;
        if (p->out[i]) fclose(p->out[i]);
        p->out[i] = NULL;
    }
}

void pg_release(struct pg_parameters *p)
{
    close_all(p);
    for (int i = 0; i < p->count; i++) free(p->text[i]);
    *p = (struct pg_parameters){0};
}

/* ---- Statements -------------------------------------------------------------------------------- */

/* Messages of libpq have several lines. */
static void flatten(char out[STORE_WORDS], const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < STORE_WORDS; text++) {
        bool blank = *text == '\n' || *text == '\t' || *text == ' ';
        if (!blank)
            out[n++] = *text;
        else if (n && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    while (n && out[n - 1] == ' ') n--;
    out[n] = '\0';
}

static enum store_outcome check(struct pg_side *side, const PGresult *result)
{
    int status = result ? pg.resultStatus(result) : -1;
    if (status == PG_COMMAND_OK || status == PG_TUPLES_OK) return STORE_DONE;
    const char *says = result ? pg.resultErrorField(result, PG_MESSAGE_PRIMARY) : NULL;
    const char *code = result ? pg.resultErrorField(result, PG_SQLSTATE) : NULL;
    flatten(side->words, says ? says : pg.errorMessage(side->connection));
    snprintf(side->state, sizeof side->state, "%s", code ? code : "");
    /* Without a code libpq has failed, not the server. Others: the server ends, connection_exception,
       idle_in_transaction_session_timeout. */
    side->lost = !code || strncmp(code, "57P", 3) == 0 || strncmp(code, "08", 2) == 0 || strcmp(code, "25P03") == 0;
    return code && strcmp(code, "53100") == 0 ? STORE_FULL : STORE_BROKEN; /* disk_full */
}

static enum store_outcome settle(struct pg_side *side, PGresult *result, PGresult **out)
{
    enum store_outcome outcome = check(side, result);
    if (outcome || !out)
        pg.clear(result);
    else
        *out = result;
    return outcome;
}

enum store_outcome pg_run(struct pg_side *side, const char *text, PGresult **out)
{
    if (out) *out = NULL;
    return settle(side, pg.exec(side->connection, text), out);
}

/* bytes NULL: there are none. */
static enum store_outcome send(struct pg_side *side, const char *text, struct pg_parameters *p, const void *bytes,
                               size_t size, PGresult **out)
{
    const char *value[PG_PARAMETERS + 1];
    int length[PG_PARAMETERS + 1] = {0}, format[PG_PARAMETERS + 1] = {0}, n = p->count;
    if (out) *out = NULL;
    close_all(p);
    if (p->failed || size > INT_MAX) {
        pg_release(p);
        return STORE_MEMORY;
    }
    for (int i = 0; i < n; i++) value[i] = p->text[i];
    value[n] = bytes;
    length[n] = (int)size;
    format[n] = 1;
    PGresult *result = pg.execParams(side->connection, text, bytes ? n + 1 : n, NULL, value, length, format, 0);
    pg_release(p);
    return settle(side, result, out);
}

enum store_outcome pg_ask(struct pg_side *side, const char *text, struct pg_parameters *p, PGresult **out)
{
    return send(side, text, p, NULL, 0, out);
}

enum store_outcome pg_give_bytes(struct pg_side *side, const char *text, struct pg_parameters *p, const void *bytes,
                                 size_t size)
{
    return send(side, text, p, bytes, size, NULL);
}

enum store_outcome pg_take_bytes(struct pg_side *side, const char *text, PGresult **out)
{
    *out = NULL;
    return settle(side, pg.execParams(side->connection, text, 0, NULL, NULL, NULL, NULL, 1), out);
}

int64_t pg_number_at(const PGresult *result, int row, int column)
{
    return strtoll(pg.getvalue(result, row, column), NULL, 10);
}

smurf_moment pg_moment_at(const PGresult *result, int row, int column)
{
    return (smurf_moment){pg_number_at(result, row, column), strtod(pg.getvalue(result, row, column + 1), NULL)};
}

void pg_sequence_at(const PGresult *r, int row, int column, struct store_sequence *out)
{
    out->number = pg_number_at(r, row, column);
    out->origin = pg_number_at(r, row, column + 1);
    out->events = (size_t)pg_number_at(r, row, column + 2);
    out->first = (size_t)pg_number_at(r, row, column + 3);
    out->revision = (size_t)pg_number_at(r, row, column + 4);
    out->last = pg_moment_at(r, row, column + 5);
}

/* ---- Opening ----------------------------------------------------------------------------------- */

bool pg_is_connected(const struct pg_side *side)
{
    return side->connection && !side->lost && pg.status(side->connection) == PG_CONNECTION_OK;
}

static void ignore(void *context, const char *notice)
{
    (void)context, (void)notice;
}

/* The address comes after what it may replace, and before what it may not. Of a service that hangs, the server takes
   the lock away. All that is asked for has an index, whatever the server believes of tables that have just begun to
   grow. */
enum store_outcome pg_connect(struct pg_side *side)
{
    const char *const key[] = {"connect_timeout", "tcp_user_timeout", "fallback_application_name",
                               "dbname",          "client_encoding",  NULL};
    const char *const value[] = {
        getenv("PGCONNECT_TIMEOUT") ? NULL : "5", "10000", "smurf", side->address, "UTF8", NULL};
    static const char session[] =
        "SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '10s'; SET extra_float_digits = 1;"
        "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;"
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";
    if (pg_is_connected(side)) return STORE_DONE;
    pg.finish(side->connection);
    side->lost = false;
    side->connection = pg.connectdbParams(key, value, 1);
    if (!side->connection) return STORE_MEMORY;
    pg.setNoticeProcessor(side->connection, ignore, NULL);
    if (pg.status(side->connection) == PG_CONNECTION_OK) return pg_run(side, session, NULL);
    flatten(side->words, pg.errorMessage(side->connection));
    return STORE_BROKEN;
}

static int load(void)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool found = library != NULL;
    for (size_t i = 0; i < sizeof entry / sizeof *entry && found; i++) {
        void *function = dlsym(library, entry[i].name);
        memcpy((char *)&pg + entry[i].at, &function, sizeof function);
        found = function != NULL;
    }
    return found ? 0 : report_failure("a store in PostgreSQL needs libpq: install it (Debian: libpq5) (%s)", dlerror());
}

static int cannot(const char *shown, const struct pg_side *side)
{
    bool asks = side->connection && pg.connectionNeedsPassword(side->connection);
    return report_failure("the store '%s' cannot be opened: %s%s", shown, side->words,
                          asks ? " (give the password in PGPASSWORD, in ~/.pgpass or in the address)" : "");
}

/* Makes what is missing; it must be a store of times of the same kind. */
static int make(struct pg_side *side, const char *shown, int calendar)
{
    char text[sizeof schema + 20];
    const char *times = calendar ? "dates" : "numbers";
    PGresult *r;
    snprintf(text, sizeof text, schema, times);
    if (pg_run(side, "SELECT 1 FROM pg_settings WHERE name = 'server_encoding' AND setting = 'UTF8'", &r))
        return cannot(shown, side);
    bool utf8 = pg.ntuples(r) == 1;
    pg.clear(r);
    if (!utf8) return report_failure("the store '%s' has to be a database with the encoding UTF8", shown);
    if (pg_run(side, "SELECT 1 WHERE to_regclass('smurf_store') IS NULL", &r)) return cannot(shown, side);
    bool absent = pg.ntuples(r) == 1;
    pg.clear(r);
    if (absent && pg_run(side, text, NULL)) return cannot(shown, side);
    if (pg_run(side, "SELECT version, times FROM smurf_store", &r)) return cannot(shown, side);
    int status = 0;
    if (pg.ntuples(r) != 1 || pg_number_at(r, 0, 0) != VERSION)
        status = report_failure("'%s' has a store of another version (use another database)", shown);
    else if (strcmp(pg.getvalue(r, 0, 1), times) != 0)
        status = report_failure("the times in the store '%s' are %s, but those of the model are %s (use another store)",
                                shown, pg.getvalue(r, 0, 1), times);
    pg.clear(r);
    return status;
}

static void close_store(void *own)
{
    struct pg_store *s = own;
    if (pg.finish) pg.finish(s->write.connection);
    if (pg.finish) pg.finish(s->read.connection);
    free(s);
}

static int open_store(void **own, const struct store_options *o, bool *one)
{
    struct pg_store *s = *own = calloc(1, sizeof *s);
    if (!s) out_of_memory();
    *one = false;
    s->write.address = s->read.address = address_whole(o->address);
    int status = 0;
    if (strcmp(strchr(o->address, ':'), "://*") == 0)
        status = report_failure("the address of the store is ambiguous: in its user, password and options write @ as "
                                "%%40, / as %%2F, ? as %%3F and # as %%23");
    if (!status) status = load();
    if (!status && (pg_connect(&s->write) || pg_connect(&s->read)))
        status = cannot(o->address, s->read.connection ? &s->read : &s->write);
    if (!status) status = make(&s->write, o->address, o->calendar);
    if (!status) return 0;
    close_store(s);
    *own = NULL;
    return status;
}

static bool takes(const char *address)
{
    return address && (strncmp(address, "postgresql://", 13) == 0 || strncmp(address, "postgres://", 11) == 0);
}

/* ---- Reading ----------------------------------------------------------------------------------- */

/* Parameters are made by the caller for each attempt: the connection may have been lost before. */
typedef void parameters_fn(struct pg_parameters *parameters, const void *context);

/* *found: 0 if a name is no text, so that there is none; else -1 without a result. */
static PGresult *ask(void *own, const char *text, parameters_fn *make_parameters, const void *context, int *found)
{
    static const char no_text[] = "22021"; /* character_not_in_repertoire */
    struct pg_side *side = &((struct pg_store *)own)->read;
    PGresult *result = NULL;
    *found = -1;
    for (int attempt = 0; attempt < 2 && !result; attempt++) {
        struct pg_parameters p = {0};
        if (pg_connect(side)) return NULL;
        if (make_parameters) make_parameters(&p, context);
        enum store_outcome outcome = make_parameters ? pg_ask(side, text, &p, &result) : pg_run(side, text, &result);
        if (outcome && strcmp(side->state, no_text) == 0) *found = 0;
        if (outcome && pg_is_connected(side)) return NULL;
    }
    return result;
}

static int count(void *own, struct store_counts *counts)
{
    int found;
    PGresult *r = ask(own, "SELECT sequences, events FROM smurf_store", NULL, NULL, &found);
    if (!r) return -1;
    found = pg.ntuples(r);
    if (found) *counts = (struct store_counts){(size_t)pg_number_at(r, 0, 0), (size_t)pg_number_at(r, 0, 1)};
    pg.clear(r);
    return found;
}

static void put_name(struct pg_parameters *p, const void *name)
{
    pg_put_text(p, name);
}

static int find(void *own, const char *name, struct store_sequence *out)
{
    int found;
    PGresult *r = ask(own, "SELECT " PG_SEQUENCE " FROM smurf_sequence s WHERE name = $1", put_name, name, &found);
    if (!r) return found;
    found = pg.ntuples(r);
    if (found) pg_sequence_at(r, 0, 0, out);
    pg.clear(r);
    return found;
}

struct range {
    const struct store_sequence *sequence;
    const char *name, *prefix, *after;
    size_t before, from, limit;
};

static void put_range(struct pg_parameters *p, const void *context)
{
    const struct range *range = context;
    if (range->sequence) {
        pg_put_number(p, range->sequence->number);
        pg_put_number(p, (int64_t)range->sequence->revision);
    } else if (range->name) {
        pg_put_text(p, range->name);
        pg_put_number(p, (int64_t)range->before);
    } else if (range->prefix) {
        pg_put_text(p, range->after);
        pg_put_text(p, range->prefix);
    }
    if (!range->prefix) pg_put_number(p, (int64_t)range->from);
    pg_put_number(p, (int64_t)range->limit);
}

static int read_events(void *own, const struct store_sequence *sequence, size_t n, size_t limit, store_event_fn *take,
                       void *context)
{
    const struct range range = {.sequence = sequence, .from = n, .limit = limit};
    int rows;
    PGresult *r = ask(own,
                      "SELECT whole, fraction, type FROM smurf_event WHERE sequence = $1::bigint AND n >= $3::bigint"
                      " AND (SELECT revision FROM smurf_sequence WHERE number = $1::bigint AND first <= $3::bigint)"
                      " = $2::bigint ORDER BY n LIMIT $4::bigint",
                      put_range, &range, &rows);
    if (!r) return rows;
    rows = pg.ntuples(r);
    for (int i = 0; i < rows; i++)
        if (take(context, pg_moment_at(r, i, 0), pg.getvalue(r, i, 2))) break;
    pg.clear(r);
    return rows > 0;
}

static int list(void *own, const char *prefix, const char *after, size_t limit, store_sequence_fn *take, void *context)
{
    const struct range range = {.prefix = prefix, .after = after, .limit = limit};
    struct store_sequence found;
    int rows;
    PGresult *r = ask(own,
                      "SELECT s.name, " PG_SEQUENCE " FROM smurf_sequence s WHERE name > $1 AND name >= $2"
                      " AND name < $2 || chr(1114111) ORDER BY name LIMIT $3::bigint",
                      put_range, &range, &rows);
    if (!r) return rows;
    rows = pg.ntuples(r);
    for (int i = 0; i < rows; i++) {
        pg_sequence_at(r, i, 1, &found);
        if (take(context, pg.getvalue(r, i, 0), &found)) break;
    }
    pg.clear(r);
    return rows > 0;
}

static int take_log(PGresult *r, store_log_fn *take, void *context)
{
    int rows = pg.ntuples(r);
    for (int i = 0; i < rows; i++)
        if (take(context, (size_t)pg_number_at(r, i, 0), pg.getvalue(r, i, 1), pg_number_at(r, i, 2),
                 pg_moment_at(r, i, 3), pg.getvalue(r, i, 5)))
            break;
    pg.clear(r);
    return rows > 0;
}

#define LOG                                                                                                            \
    "SELECT e.number, s.name, s.origin, e.whole, e.fraction, e.type FROM smurf_event e JOIN smurf_sequence s"          \
    " ON s.number = e.sequence WHERE "

static int log_events(void *own, size_t after, size_t limit, store_log_fn *take, void *context)
{
    const struct range range = {.from = after, .limit = limit};
    int found;
    PGresult *r = ask(own, LOG "e.number > $1::bigint ORDER BY e.number LIMIT $2::bigint", put_range, &range, &found);
    return r ? take_log(r, take, context) : found;
}

static int log_of(void *own, const char *name, size_t after, size_t before, size_t limit, store_log_fn *take,
                  void *context)
{
    const struct range range = {.name = name, .from = after, .before = before, .limit = limit};
    int found;
    PGresult *r = ask(own,
                      LOG "s.name = $1 AND e.number < $2::bigint AND e.number > $3::bigint ORDER BY e.number"
                          " LIMIT $4::bigint",
                      put_range, &range, &found);
    return r ? take_log(r, take, context) : found;
}

const struct store_class store_postgres = {
    .name = "PostgreSQL",
    .takes = takes,
    .open = open_store,
    .close = close_store,
    .begin = pg_begin,
    .commit = pg_commit,
    .rollback = pg_rollback,
    .find_all = pg_find_all,
    .find_ids = pg_find_ids,
    .find_place = pg_find_place,
    .shift = pg_shift,
    .add_events = pg_add_events,
    .put_sequences = pg_put_sequences,
    .find_unseen = pg_find_unseen,
    .prune = pg_prune,
    .count = count,
    .find = find,
    .read = read_events,
    .list = list,
    .log = log_events,
    .log_of = log_of,
    .watch_claim = pg_watch_claim,
    .watch_load = pg_watch_load,
    .watch_is_mine = pg_watch_is_mine,
    .watch_save = pg_watch_save,
    .watch_pass = pg_watch_pass,
};
