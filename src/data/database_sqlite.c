/*
 * database_sqlite.c - SQLite files.
 *
 * libsqlite3 is loaded when a file is opened. Its interface is stable, and the few functions used are declared here, so
 * that building needs no header; test/unit_database.c compares them with that header where there is one.
 */
#include "data/database_sqlite.h"

#include "base/library.h"
#include "data/database.h"
#include "data/number.h"

#include "config.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if SMURF_HAVE_SQLITE

#define MEMBER(name, result, ...) result (*name)(__VA_ARGS__);
struct functions {
    SQLITE_FUNCTIONS(MEMBER)
};
#define ENTRY(name, ...) {offsetof(struct functions, name), "sqlite3_" #name},
static const struct library_entry entry[] = {SQLITE_FUNCTIONS(ENTRY)};

struct sqlite {
    struct database base;
    struct functions call;
    sqlite3 *handle;
    sqlite3_stmt *statement;
    bool stopped; /* the caller asked to stop */
    char number[NUMBER_TEXT];
};

/* Only SQLITE_ERROR is about the query. */
static smurf_status fail(struct sqlite *s, int code, smurf_error *err)
{
    if (code == SQLITE_NOMEM) return smurf_fail_memory(err);
    if (s->stopped) return smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped while %s", s->base.progress->state.what);
    return smurf_fail(err, SMURF_ERROR_INPUT, "%s: %s",
                      code == SQLITE_ERROR ? "the query failed" : "the SQLite database cannot be read",
                      s->call.errmsg(s->handle));
}

/* While SQLite works: nonzero stops it. */
static int go_on(void *context)
{
    struct sqlite *s = context;
    struct progress *p = s->base.progress;
    s->stopped = p && smurf_progress_tell(p, p->state.done, NULL) != SMURF_OK;
    return s->stopped;
}

static void close_sqlite(struct database *database)
{
    struct sqlite *s = (struct sqlite *)database;
    if (s->call.finalize) s->call.finalize(s->statement);
    if (s->call.close_v2) s->call.close_v2(s->handle);
    free(s);
}

/* Is this a file with a write-ahead log, which nobody has open? SQLite would create the log to read it. */
static bool rests(const char *path)
{
    enum { VERSION_AT = 19 };
    char version = 0, *beside;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool has_log = fd >= 0 && pread(fd, &version, 1, VERSION_AT) == 1 && version == 2;
    if (fd >= 0) close(fd);
    if (!has_log || asprintf(&beside, "%s-wal", path) < 0) return false;
    bool open_elsewhere = access(beside, F_OK) == 0;
    free(beside);
    return !open_elsewhere;
}

/* The path as an address that says that nothing beside the file is to be looked at; NULL: out of memory. */
static char *alone(const char *path)
{
    static const char option[] = "?immutable=1";
    char *name = malloc(3 * strlen(path) + sizeof option + 8), *out = name;
    if (!name) return NULL;
    out += sprintf(out, "%s", *path == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++)
        out += strchr("%?#", *p) ? sprintf(out, "%%%02X", (unsigned)*p) : sprintf(out, "%c", *p);
    strcpy(out, option);
    return name;
}

static smurf_status open_handle(struct sqlite *s, const char *path, const char *name, smurf_error *err)
{
    char *address = rests(path) ? alone(path) : strdup(path);
    if (!address) return smurf_fail_memory(err);
    bool is_alone = strcmp(address, path) != 0;
    int code = s->call.open_v2(address, &s->handle, SQLITE_OPEN_READONLY | (is_alone ? SQLITE_OPEN_URI : 0), NULL);
    free(address);
    if (code == SQLITE_NOMEM || !s->handle) return smurf_fail_memory(err);
    return code == SQLITE_OK ? SMURF_OK : smurf_error_place(err, fail(s, code, err), name, 0);
}

/* What the file says is not trusted: its views call no functions with side effects. */
static smurf_status open_file(struct sqlite *s, const char *path, const char *name, smurf_error *err)
{
    enum { STEPS = 100000, PATIENCE = 5000 /* ms, while another program writes */ };
    smurf_status status = smurf_library_load(&s->call, "libsqlite3.so.0", entry, sizeof entry / sizeof *entry,
                                             "SQLite files need libsqlite3: install it (Debian: libsqlite3-0)", err);
    if (status) {
        s->call = (struct functions){0};
        return status;
    }
    status = open_handle(s, path, name, err);
    if (status) return status;
    s->call.busy_timeout(s->handle, PATIENCE);
    s->call.progress_handler(s->handle, STEPS, go_on, s);
    s->call.db_config(s->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    s->call.db_config(s->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    return SMURF_OK;
}

static smurf_status open_sqlite(struct database **out, const char *path, const char *name, struct progress *progress,
                                smurf_error *err)
{
    *out = NULL;
    struct sqlite *s = calloc(1, sizeof *s);
    if (!s) return smurf_fail_memory(err);
    s->base = (struct database){.class = &smurf_database_sqlite, .progress = progress};
    smurf_status status = open_file(s, path, name, err);
    if (status)
        close_sqlite(&s->base);
    else
        *out = &s->base;
    return status;
}

/* Is there a second statement? Comments and semicolons are none. */
static smurf_status check_rest(struct sqlite *s, const char *rest, smurf_error *err)
{
    sqlite3_stmt *second = NULL;
    int code = SQLITE_OK;
    while (*rest && !second && code == SQLITE_OK) code = s->call.prepare_v2(s->handle, rest, -1, &second, &rest);
    bool more = second || code != SQLITE_OK;
    s->call.finalize(second);
    if (code == SQLITE_NOMEM) return smurf_fail_memory(err);
    return more ? smurf_fail(err, SMURF_ERROR_INPUT, "the query has several statements (--query takes one SELECT)")
                : SMURF_OK;
}

static smurf_status select_rows(struct database *database, const char *sql, smurf_error *err)
{
    struct sqlite *s = (struct sqlite *)database;
    const char *rest = "";
    s->call.finalize(s->statement);
    s->statement = NULL;
    database->columns = 0;
    int code = s->call.prepare_v2(s->handle, sql, -1, &s->statement, &rest);
    if (code != SQLITE_OK) return fail(s, code, err);
    if (s->statement && !s->call.stmt_readonly(s->statement))
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "the query writes, which smurf never does (--query takes one SELECT)");
    smurf_status status = check_rest(s, rest, err);
    if (!status && s->statement) database->columns = (size_t)s->call.column_count(s->statement);
    return status;
}

static const char *column(struct database *database, size_t i)
{
    struct sqlite *s = (struct sqlite *)database;
    return s->call.column_name(s->statement, (int)i);
}

static smurf_status step(struct database *database, bool *row, smurf_error *err)
{
    struct sqlite *s = (struct sqlite *)database;
    int code = s->call.step(s->statement);
    *row = code == SQLITE_ROW;
    return *row || code == SQLITE_DONE ? SMURF_OK : fail(s, code, err);
}

/* SQLite writes 15 digits of a real number, which is not all. Infinity is left to it. */
static bool read_real(struct sqlite *s, size_t i, struct field *out)
{
    double real = s->call.column_double(s->statement, (int)i);
    if (!isfinite(real)) return false;
    size_t n = smurf_number_write(s->number, real);
    s->number[n] = '\0';
    *out = (struct field){s->number, n};
    return true;
}

static smurf_status cell(struct database *database, size_t i, struct field *out, smurf_error *err)
{
    struct sqlite *s = (struct sqlite *)database;
    int type = s->call.column_type(s->statement, (int)i);
    *out = (struct field){"", 0};
    if (type == SQLITE_NULL) return SMURF_OK;
    if (type == SQLITE_BLOB) return smurf_database_bytes(database, i, err);
    if (type == SQLITE_FLOAT && read_real(s, i, out)) return SMURF_OK;
    const unsigned char *text = s->call.column_text(s->statement, (int)i);
    if (!text) return smurf_fail_memory(err);
    *out = (struct field){(const char *)text, (size_t)s->call.column_bytes(s->statement, (int)i)};
    return SMURF_OK;
}

#else

static smurf_status open_sqlite(struct database **out, const char *path, const char *name, struct progress *progress,
                                smurf_error *err)
{
    (void)path, (void)progress;
    *out = NULL;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED,
                      "'%.300s' is an SQLite database, which this build cannot read (export a table as CSV)", name);
}

#endif

const struct database_class smurf_database_sqlite = {
    .name = "sqlite",
    .list = "SELECT name, name, '\"' || replace(name, '\"', '\"\"') || '\"' FROM sqlite_master "
            "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    .open = open_sqlite,
#if SMURF_HAVE_SQLITE
    .select = select_rows,
    .column = column,
    .step = step,
    .cell = cell,
    .close = close_sqlite,
#endif
};
