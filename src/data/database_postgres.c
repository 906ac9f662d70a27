/*
 * database_postgres.c - PostgreSQL databases.
 *
 * libpq is loaded when a connection is opened; as with SQLite, building needs no header of it. A query is the cursor of
 * a read-only transaction, of which a number of rows are fetched at a time. A cursor takes nothing but a SELECT, and
 * the protocol used takes a single statement, so that no query can leave the transaction.
 */
#include "data/database_postgres.h"

#include "base/library.h"
#include "data/database.h"

#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if SMURF_HAVE_POSTGRESQL

enum { ROWS = 256 /* fetched at a time */, BYTES = 17 /* the type of bytes */ };

#define MEMBER(name, result, ...) result (*name)(__VA_ARGS__);
struct functions {
    POSTGRES_FUNCTIONS(MEMBER)
};
#define ENTRY(name, ...) {offsetof(struct functions, name), "PQ" #name},
static const struct library_entry entry[] = {POSTGRES_FUNCTIONS(ENTRY)};

struct postgres {
    struct database base;
    struct functions call;
    PGconn *connection;
    PGresult *rows; /* fetched */
    int at, count;  /* the row in use, and how many there are */
    bool open;      /* there is a cursor */
};

/* Messages of libpq have several lines. */
static void flatten(char *out, size_t room, const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < room; text++) {
        bool blank = *text == '\n' || *text == '\t' || *text == ' ';
        if (!blank)
            out[n++] = *text;
        else if (n && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    while (n && out[n - 1] == ' ') n--;
    out[n] = '\0';
}

/* ---- Statements -------------------------------------------------------------------------------- */

static smurf_status lost(struct postgres *p, smurf_error *err)
{
    char says[400];
    flatten(says, sizeof says, p->call.errorMessage(p->connection));
    return smurf_fail(err, SMURF_ERROR_INPUT, "the connection failed: %s", says);
}

static smurf_status check_result(struct postgres *p, const PGresult *result, smurf_error *err)
{
    static const char syntax[] = "42601"; /* what a cursor says of another statement than a SELECT, or of several */
    if (!result) return lost(p, err);
    int status = (int)p->call.resultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return SMURF_OK;
    const char *says = p->call.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = p->call.resultErrorField(result, PG_DIAG_MESSAGE_HINT);
    const char *code = p->call.resultErrorField(result, PG_DIAG_SQLSTATE);
    if (!says) return lost(p, err);
    if (!hint && code && strcmp(code, syntax) == 0) hint = "--query takes one SELECT";
    return smurf_fail(err, SMURF_ERROR_INPUT, "the query failed: %s%s%s%s", says, hint ? " (" : "", hint ? hint : "",
                      hint ? ")" : "");
}

/* Ends the statement at the server; its result follows. */
static void cancel(struct postgres *p)
{
    char says[256];
    PGcancel *cancel = p->call.getCancel(p->connection);
    if (cancel) p->call.cancel(cancel, says, sizeof says);
    p->call.freeCancel(cancel);
}

/* Waits for the result; the caller may ask to stop. */
static smurf_status wait_for(struct postgres *p, smurf_error *err)
{
    enum { PATIENCE = 100 /* ms */ };
    struct progress *progress = p->base.progress;
    while (p->call.isBusy(p->connection)) {
        struct pollfd input = {.fd = p->call.socket(p->connection), .events = POLLIN};
        int ready = poll(&input, 1, PATIENCE);
        smurf_status status = progress ? smurf_progress_tell(progress, progress->state.done, err) : SMURF_OK;
        if (status) {
            cancel(p);
            return status;
        }
        if ((ready < 0 && errno != EINTR) || (ready > 0 && !p->call.consumeInput(p->connection))) return lost(p, err);
    }
    return SMURF_OK;
}

/* Runs one statement. *out: its result, to be cleared by the caller; NULL after a failure. */
static smurf_status run(struct postgres *p, const char *sql, PGresult **out, smurf_error *err)
{
    *out = NULL;
    if (!p->call.sendQueryParams(p->connection, sql, 0, NULL, NULL, NULL, NULL, 0)) return lost(p, err);
    smurf_status status = wait_for(p, err);
    if (status) return status;
    PGresult *result = p->call.getResult(p->connection), *more;
    status = check_result(p, result, err);
    while (result && (more = p->call.getResult(p->connection))) p->call.clear(more);
    if (status)
        p->call.clear(result);
    else
        *out = result;
    return status;
}

static smurf_status command(struct postgres *p, const char *sql, smurf_error *err)
{
    PGresult *result;
    smurf_status status = run(p, sql, &result, err);
    p->call.clear(result);
    return status;
}

/* ---- Opening and closing ----------------------------------------------------------------------- */

static void close_postgres(struct database *database)
{
    struct postgres *p = (struct postgres *)database;
    if (p->call.clear) p->call.clear(p->rows);
    if (p->call.finish) p->call.finish(p->connection);
    free(p);
}

/* The address comes after what it may replace, and before what it may not. */
static smurf_status connect_to(struct postgres *p, const char *address, const char *name, smurf_error *err)
{
    const char *const key[] = {"connect_timeout", "fallback_application_name", "dbname", "client_encoding", NULL};
    const char *const value[] = {getenv("PGCONNECT_TIMEOUT") ? NULL : "10", "smurf", address, "UTF8", NULL};
    char says[400];
    if (!smurf_address_is_clear(address))
        return smurf_fail(
            err, SMURF_ERROR_ARGUMENT,
            "the address of the database is ambiguous: in its user, password and options write @ as %%40, "
            "/ as %%2F, ? as %%3F and # as %%23");
    p->connection = p->call.connectdbParams(key, value, 1);
    if (!p->connection) return smurf_fail_memory(err);
    if (p->call.status(p->connection) == CONNECTION_OK) return SMURF_OK;
    flatten(says, sizeof says, p->call.errorMessage(p->connection));
    return smurf_fail(err, SMURF_ERROR_IO, "cannot open '%.300s': %s%s", name, says,
                      p->call.connectionNeedsPassword(p->connection)
                          ? " (give the password in PGPASSWORD, in ~/.pgpass or in the address)"
                          : "");
}

/* Tables are read in the order of their pages, whatever others read at the same time. */
static smurf_status begin(struct postgres *p, smurf_error *err)
{
    static const char *const sql[] = {"BEGIN READ ONLY", "SET LOCAL datestyle = ISO",
                                      "SET LOCAL synchronize_seqscans = off", "SET LOCAL cursor_tuple_fraction = 1"};
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < sizeof sql / sizeof *sql && !status; i++) status = command(p, sql[i], err);
    return status;
}

static smurf_status open_postgres(struct database **out, const char *path, const char *name, struct progress *progress,
                                  smurf_error *err)
{
    *out = NULL;
    struct postgres *p = calloc(1, sizeof *p);
    if (!p) return smurf_fail_memory(err);
    p->base = (struct database){.class = &smurf_database_postgres, .progress = progress};
    smurf_status status = smurf_library_load(&p->call, "libpq.so.5", entry, sizeof entry / sizeof *entry,
                                             "PostgreSQL databases need libpq: install it (Debian: libpq5)", err);
    if (status) p->call = (struct functions){0};
    if (!status) status = connect_to(p, path, name, err);
    if (!status) status = smurf_error_place(err, begin(p, err), name, 0);
    if (status)
        close_postgres(&p->base);
    else
        *out = &p->base;
    return status;
}

/* ---- Rows -------------------------------------------------------------------------------------- */

static smurf_status fetch(struct postgres *p, smurf_error *err)
{
    char sql[64];
    snprintf(sql, sizeof sql, "FETCH %d FROM smurf", ROWS);
    p->call.clear(p->rows);
    smurf_status status = run(p, sql, &p->rows, err);
    p->at = -1;
    p->count = status ? 0 : p->call.ntuples(p->rows);
    return status;
}

static smurf_status select_rows(struct database *database, const char *sql, smurf_error *err)
{
    struct postgres *p = (struct postgres *)database;
    char *declare;
    smurf_status status = SMURF_OK;
    if (p->open) status = command(p, "CLOSE smurf", err);
    if (status) return status;
    if (asprintf(&declare, "DECLARE smurf NO SCROLL CURSOR FOR %s", sql) < 0) return smurf_fail_memory(err);
    status = command(p, declare, err);
    free(declare);
    if (status) return status;
    p->open = true;
    status = fetch(p, err);
    database->columns = status ? 0 : (size_t)p->call.nfields(p->rows);
    return status;
}

static const char *column(struct database *database, size_t i)
{
    struct postgres *p = (struct postgres *)database;
    return p->call.fname(p->rows, (int)i);
}

static smurf_status step(struct database *database, bool *row, smurf_error *err)
{
    struct postgres *p = (struct postgres *)database;
    smurf_status status = SMURF_OK;
    if (++p->at == p->count && p->count == ROWS) {
        status = fetch(p, err);
        p->at = 0;
    }
    *row = !status && p->at < p->count;
    return status;
}

static smurf_status cell(struct database *database, size_t i, struct field *out, smurf_error *err)
{
    struct postgres *p = (struct postgres *)database;
    *out = (struct field){"", 0};
    if (p->call.getisnull(p->rows, p->at, (int)i)) return SMURF_OK;
    if (p->call.ftype(p->rows, (int)i) == BYTES) return smurf_database_bytes(database, i, err);
    *out = (struct field){p->call.getvalue(p->rows, p->at, (int)i), (size_t)p->call.getlength(p->rows, p->at, (int)i)};
    return SMURF_OK;
}

#else

static smurf_status open_postgres(struct database **out, const char *path, const char *name, struct progress *progress,
                                  smurf_error *err)
{
    (void)path, (void)progress;
    *out = NULL;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED,
                      "'%.300s' is a PostgreSQL database, which this build cannot read (export a table as CSV)", name);
}

#endif

const struct database_class smurf_database_postgres = {
    .name = "postgresql",
    .list = "SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname::text "
            "ELSE n.nspname || '.' || c.relname END, n.nspname || '.' || c.relname, "
            "pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname) "
            "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT c.relispartition "
            "AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)' "
            "AND pg_catalog.has_table_privilege(c.oid, 'SELECT') ORDER BY 1",
    .open = open_postgres,
#if SMURF_HAVE_POSTGRESQL
    .select = select_rows,
    .column = column,
    .step = step,
    .cell = cell,
    .close = close_postgres,
#endif
};
