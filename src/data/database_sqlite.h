/* database_sqlite.h - the part of SQLite's interface that database_sqlite.c uses. */
#ifndef SMURF_DATA_DATABASE_SQLITE_H
#define SMURF_DATA_DATABASE_SQLITE_H

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

/* Name without its prefix, result, arguments. */
#define SQLITE_FUNCTIONS(F)                                                                                            \
    F(busy_timeout, int, sqlite3 *, int)                                                                               \
    F(close_v2, int, sqlite3 *)                                                                                        \
    F(column_bytes, int, sqlite3_stmt *, int)                                                                          \
    F(column_count, int, sqlite3_stmt *)                                                                               \
    F(column_double, double, sqlite3_stmt *, int)                                                                      \
    F(column_name, const char *, sqlite3_stmt *, int)                                                                  \
    F(column_text, const unsigned char *, sqlite3_stmt *, int)                                                         \
    F(column_type, int, sqlite3_stmt *, int)                                                                           \
    F(db_config, int, sqlite3 *, int, ...)                                                                             \
    F(errmsg, const char *, sqlite3 *)                                                                                 \
    F(finalize, int, sqlite3_stmt *)                                                                                   \
    F(open_v2, int, const char *, sqlite3 **, int, const char *)                                                       \
    F(prepare_v2, int, sqlite3 *, const char *, int, sqlite3_stmt **, const char **)                                   \
    F(progress_handler, void, sqlite3 *, int, int (*)(void *), void *)                                                 \
    F(step, int, sqlite3_stmt *)                                                                                       \
    F(stmt_readonly, int, sqlite3_stmt *)

enum { SQLITE_OK = 0, SQLITE_ERROR = 1, SQLITE_NOMEM = 7, SQLITE_ROW = 100, SQLITE_DONE = 101 };
enum { SQLITE_FLOAT = 2, SQLITE_BLOB = 4, SQLITE_NULL = 5 };
enum {
    SQLITE_OPEN_READONLY = 1,
    SQLITE_OPEN_URI = 64,
    SQLITE_DBCONFIG_DEFENSIVE = 1010,
    SQLITE_DBCONFIG_TRUSTED_SCHEMA = 1017
};

#endif
