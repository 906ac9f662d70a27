/* unit_database.c - databases as sources: every call that can fail, what is shown of addresses, and whether the
   interfaces declared here are those of the libraries. */
#include "data/database.h"
#include "data/database_sqlite.h"
#include "data/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- The interfaces ---------------------------------------------------------------------------- */

#if __has_include(<sqlite3.h>)
enum { OUR_NOMEM = SQLITE_NOMEM, OUR_ROW = SQLITE_ROW, OUR_DONE = SQLITE_DONE, OUR_FLOAT = SQLITE_FLOAT };
enum {
    OUR_OK = SQLITE_OK,
    OUR_ERROR = SQLITE_ERROR,
    OUR_BLOB = SQLITE_BLOB,
    OUR_NULL = SQLITE_NULL,
    OUR_READONLY = SQLITE_OPEN_READONLY,
    OUR_URI = SQLITE_OPEN_URI
};
enum { OUR_DEFENSIVE = SQLITE_DBCONFIG_DEFENSIVE, OUR_TRUSTED = SQLITE_DBCONFIG_TRUSTED_SCHEMA };
#include <sqlite3.h>
#define SAME_SQLITE(name, result, ...)                                                                                 \
    _Static_assert(__builtin_types_compatible_p(result(*)(__VA_ARGS__), __typeof__(&sqlite3_##name)), #name);
SQLITE_FUNCTIONS(SAME_SQLITE)
_Static_assert(OUR_OK == SQLITE_OK && OUR_ERROR == SQLITE_ERROR && OUR_NOMEM == SQLITE_NOMEM && OUR_ROW == SQLITE_ROW &&
                   OUR_DONE == SQLITE_DONE,
               "results");
_Static_assert(OUR_FLOAT == SQLITE_FLOAT && OUR_BLOB == SQLITE_BLOB && OUR_NULL == SQLITE_NULL, "types");
_Static_assert(OUR_READONLY == SQLITE_OPEN_READONLY && OUR_URI == SQLITE_OPEN_URI &&
                   OUR_DEFENSIVE == SQLITE_DBCONFIG_DEFENSIVE && OUR_TRUSTED == SQLITE_DBCONFIG_TRUSTED_SCHEMA,
               "options");
#endif

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#endif
#include "data/database_postgres.h"
#ifdef LIBPQ_FE_H
#define SAME_POSTGRES(name, result, ...)                                                                               \
    _Static_assert(__builtin_types_compatible_p(result(*)(__VA_ARGS__), __typeof__(&PQ##name)), #name);
POSTGRES_FUNCTIONS(SAME_POSTGRES)
_Static_assert(sizeof(PG_CONN_STATUS) == sizeof(int) && sizeof(PG_RESULT_STATUS) == sizeof(int) &&
                   sizeof(PG_OID) == sizeof(unsigned),
               "types that are declared as int without the header");
_Static_assert(PG_DIAG_SQLSTATE == 'C' && PG_DIAG_MESSAGE_PRIMARY == 'M' && PG_DIAG_MESSAGE_HINT == 'H', "fields");
#endif
_Static_assert(CONNECTION_OK == 0 && PGRES_COMMAND_OK == 1 && PGRES_TUPLES_OK == 2, "results");

/* ---- Addresses --------------------------------------------------------------------------------- */

static void addresses(void **state)
{
    static const struct {
        const char *path, *shown;
        bool clear;
    } cases[] = {
        {"log.csv", "log.csv", false},
        {"a@b:c", "a@b:c", false},
        {"", "", false},
        {"postgresql://", "postgresql://", true},
        {"postgresql://u:secret@host:5432/db", "postgresql://u@host:5432/db", true},
        {"postgres://u:secret@host", "postgres://u@host", true},
        {"postgres://:secret@host", "postgres://@host", true},
        {"postgres://u@host/db", "postgres://u@host/db", true},
        {"postgresql://host:5432/db", "postgresql://host:5432/db", true},
        {"postgresql:///db?host=/tmp&user=u", "postgresql:///db?host=/tmp&user=u", true},
        {"postgresql:///db?password=secret", "postgresql:///db", true},
        {"postgresql:///db?a=1&password=secret&b=2", "postgresql:///db?a=1&b=2", true},
        {"postgresql:///db?PassWord=secret&b=2&sslpassword=secret", "postgresql:///db?b=2", true},
        {"postgresql:///db?p%61ssword=secret", "postgresql:///db", true},
        {"postgresql:///db?oauth_client_secret=secret&x", "postgresql:///db?x", true},
        {"postgresql:///db?", "postgresql:///db?", true},
        {"postgresql://u:secret@host?password=secret", "postgresql://u@host", true},
        {"postgresql://u:sec@ret@host/db", "postgresql://*", false},
        {"postgresql://u:sec/ret@host/db", "postgresql://*", false},
        {"postgresql://u:sec?ret@host/db", "postgresql://*", false},
        {"postgresql://u:sec#ret@host/db", "postgresql://*", false},
        {"postgres://@@", "postgres://*", false},
        {"postgresql://host/db?password=sec@ret", "postgresql://*", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *shown = malloc(strlen(cases[i].path) + 1); /* not a byte more */
        assert_ptr_equal(smurf_path_shown(shown, cases[i].path), shown);
        assert_string_equal(shown, cases[i].shown);
        assert_int_equal(smurf_address_is_clear(cases[i].path), cases[i].clear);
        free(shown);
    }
}

/* ---- A database whose calls fail --------------------------------------------------------------- */

enum call {
    CALL_NONE,
    CALL_OPEN,
    CALL_LIST,
    CALL_LIST_STEP,
    CALL_LIST_CELL,
    CALL_SELECT,
    CALL_COLUMN,
    CALL_STEP,
    CALL_CELL
};
enum { FAKE_ROWS = 5, FAKE_BAD = 3 };
static enum call failing;
static int open_now;
static bool listing;
static size_t row_at, tables;
static const struct database_class fake;

static smurf_status fake_open(struct database **out, const char *path, const char *name, struct progress *progress,
                              smurf_error *err)
{
    (void)path, (void)name, (void)progress;
    *out = NULL;
    if (failing == CALL_OPEN) return smurf_fail(err, SMURF_ERROR_IO, "no open");
    struct database *db = *out = calloc(1, sizeof *db);
    assert_non_null(db);
    db->class = &fake;
    open_now++;
    return SMURF_OK;
}

static smurf_status fake_select(struct database *db, const char *sql, smurf_error *err)
{
    listing = strcmp(sql, "LIST") == 0;
    if (!listing && strncmp(sql, "query", 5) != 0) assert_string_equal(sql, "SELECT * FROM \"t0\"");
    db->columns = strcmp(sql, "query none") == 0 ? 0 : listing ? 3 : 2;
    row_at = 0;
    if (failing == (listing ? CALL_LIST : CALL_SELECT)) return smurf_fail(err, SMURF_ERROR_INPUT, "no select");
    return SMURF_OK;
}

static const char *fake_column(struct database *db, size_t i)
{
    (void)db;
    return failing == CALL_COLUMN ? NULL : i ? "type" : "time";
}

static smurf_status fake_step(struct database *db, bool *row, smurf_error *err)
{
    (void)db;
    *row = false;
    if (failing == CALL_LIST_STEP && listing) return smurf_fail(err, SMURF_ERROR_INPUT, "no step");
    if (failing == CALL_STEP && row_at == FAKE_BAD) return smurf_fail(err, SMURF_ERROR_INPUT, "no step");
    *row = row_at++ < (listing ? tables : FAKE_ROWS);
    return SMURF_OK;
}

static smurf_status fake_cell(struct database *db, size_t i, struct field *out, smurf_error *err)
{
    static char text[32];
    if (failing == CALL_LIST_CELL && listing) return smurf_fail_memory(err);
    if (failing == CALL_CELL && !listing && row_at == FAKE_BAD) return smurf_database_bytes(db, i, err);
    snprintf(text, sizeof text, listing ? (i == 2 ? "\"t%zu\"" : "t%zu") : i ? "\"%zu\",\n" : "%zu", row_at - listing);
    *out = (struct field){text, strlen(text)};
    return SMURF_OK;
}

static void fake_close(struct database *db)
{
    open_now--;
    free(db);
}

static const struct database_class fake = {.name = "fake",
                                           .list = "LIST",
                                           .open = fake_open,
                                           .select = fake_select,
                                           .column = fake_column,
                                           .step = fake_step,
                                           .cell = fake_cell,
                                           .close = fake_close};

static smurf_status read_fake(smurf_data **out, const smurf_read_config *given, smurf_error *err)
{
    struct source source = {0};
    smurf_read_config config;
    *out = NULL;
    smurf_status status = smurf_format_read_config(&config, given, err);
    if (!status) status = smurf_database_source(&source, &fake, "path", "shown", &config, err);
    if (status) return status;
    status = smurf_format_read_source(out, &source, NULL, &config, err);
    smurf_source_close(&source);
    return status;
}

static void calls_that_fail(void **state)
{
    static const struct {
        enum call failing;
        smurf_status status;
        const char *says;
    } cases[] = {
        {CALL_OPEN, SMURF_ERROR_IO, "no open"},
        {CALL_LIST, SMURF_ERROR_INPUT, "shown: no select"},
        {CALL_LIST_STEP, SMURF_ERROR_INPUT, "shown: no step"},
        {CALL_LIST_CELL, SMURF_ERROR_MEMORY, "out of memory"},
        {CALL_SELECT, SMURF_ERROR_INPUT, "shown: no select"},
        {CALL_COLUMN, SMURF_ERROR_MEMORY, "out of memory"},
        {CALL_STEP, SMURF_ERROR_INPUT, "shown: no step"},
        {CALL_CELL, SMURF_ERROR_INPUT, "shown:3: column 'time' holds bytes rather than text"},
    };
    (void)state;
    tables = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        smurf_data *data;
        smurf_error err = {0};
        failing = cases[i].failing;
        assert_int_equal(read_fake(&data, NULL, &err), cases[i].status);
        assert_null(data);
        assert_int_equal(strncmp(err.message, cases[i].says, strlen(cases[i].says)), 0);
        assert_int_equal(read_fake(&data, NULL, NULL), cases[i].status);
        assert_int_equal(open_now, 0);
    }
    failing = CALL_NONE;
}

/* Cells with quotes and line breaks; the reading says where they come from. */
static void rows(void **state)
{
    smurf_data *data;
    smurf_error err;
    (void)state;
    tables = 1;
    if (read_fake(&data, NULL, &err)) fail_msg("%s", err.message);
    assert_int_equal(open_now, 0);
    assert_int_equal(smurf_data_events(data), FAKE_ROWS);
    assert_string_equal(smurf_data_type_name(data, 1), "\"2\",\n");
    assert_string_equal(smurf_data_source(data), "shown");
    const smurf_reading *reading = smurf_data_reading(data);
    assert_string_equal(reading->format, "fake");
    assert_string_equal(reading->table, "t0");
    assert_null(reading->query);
    assert_null(reading->delimiter);
    smurf_data_free(data);
}

static void check_fake(const smurf_read_config *config, smurf_status status, const char *says)
{
    smurf_data *data;
    smurf_error err = {0};
    assert_int_equal(read_fake(&data, config, &err), status);
    assert_int_equal(open_now, 0);
    if (status)
        assert_non_null(strstr(err.message, says));
    else
        smurf_data_free(data);
}

static void what_is_asked_for(void **state)
{
    smurf_read_config config;
    (void)state;
    smurf_read_config_init(&config);
    tables = 0;
    check_fake(&config, SMURF_ERROR_INPUT, "shown: the database has no tables");
    tables = 2;
    check_fake(&config, SMURF_ERROR_INPUT,
               "shown: the database has 2 tables: name one with --table, or give a --query (there are "
               "t0 and t1)");
    config.table = "t0";
    check_fake(&config, SMURF_OK, NULL);
    config.query = "query";
    check_fake(&config, SMURF_ERROR_ARGUMENT, "exclude each other");
    config.table = NULL;
    check_fake(&config, SMURF_OK, NULL);
    config.query = "query none";
    check_fake(&config, SMURF_ERROR_INPUT, "shown: the query returns no columns");
    config.query = NULL;
    smurf_reading as = {.table = "T0"};
    config.as = &as;
    check_fake(&config, SMURF_OK, NULL);
    as = (smurf_reading){.query = "query"};
    check_fake(&config, SMURF_ERROR_ARGUMENT, "not run unasked: give --table or --query again (it was: query)");
    config.query = "query";
    check_fake(&config, SMURF_OK, NULL);
    config.format = smurf_format_name(0);
    check_fake(&config, SMURF_ERROR_ARGUMENT, "has no format");
}

/* ---- Files ------------------------------------------------------------------------------------- */

static const char *example(char path[4096])
{
    const char *root = getenv("SMURF_ROOT");
    snprintf(path, 4096, "%s/test/corpus/sqlite/types.db", root ? root : ".");
    return path;
}

static void no_streams(void **state)
{
    smurf_stream *stream;
    smurf_data *data;
    smurf_error err;
    char path[4096];
    static const char bytes[] = "SQLite format 3\0 and so on";
    (void)state;
    assert_int_equal(smurf_stream_new(&stream, example(path), NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "cannot be read as a stream"));
    assert_int_equal(smurf_stream_new(&stream, "postgresql://u:secret@h/db", NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_null(strstr(err.message, "secret"));
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.table = "t";
    assert_int_equal(smurf_stream_new(&stream, "-", &config, &err), SMURF_ERROR_ARGUMENT);
    assert_string_equal(err.message, "standard input is not a database: leave --table out");
    assert_int_equal(smurf_data_read_memory(&data, bytes, sizeof bytes, NULL, NULL, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "give its path"));
    assert_int_equal(smurf_data_read_memory(&data, "time\n1\n", 7, "text", &config, &err), SMURF_ERROR_ARGUMENT);
}

static int stop_at_third(void *context, const smurf_progress *progress)
{
    int *calls = context;
    (void)progress;
    return ++*calls >= 3;
}

/* A query without end is stopped by the progress function. */
static void stopping(void **state)
{
    smurf_data *data;
    smurf_error err = {0};
    char path[4096];
    int calls = 0;
    smurf_read_config config;
    (void)state;
    smurf_read_config_init(&config);
    config.progress = stop_at_third;
    config.progress_context = &calls;
    config.query = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) AS time FROM c";
    smurf_status status = smurf_data_read(&data, example(path), &config, &err);
    if (status == SMURF_ERROR_UNSUPPORTED) skip();
    assert_int_equal(status, SMURF_ERROR_CANCELLED);
    assert_int_equal(strncmp(err.message, "stopped while reading ", 22), 0);
    assert_int_equal(calls, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),         cmocka_unit_test(calls_that_fail), cmocka_unit_test(rows),
        cmocka_unit_test(what_is_asked_for), cmocka_unit_test(no_streams),      cmocka_unit_test(stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
