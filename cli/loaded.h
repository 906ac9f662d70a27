/*
 * loaded.h - the libraries of `smurf serve`, loaded when it starts: libmicrohttpd (HTTP) and SQLite (the store;
 * store_postgres.c loads libpq). The other commands neither load nor need them.
 *
 *     http.queue_response(...)   is MHD_queue_response(...)
 *     sql.step(...)              is sqlite3_step(...)
 */
#ifndef LOADED_H
#define LOADED_H

#include "smurf_lab.h"

#include <microhttpd.h>
#include <sqlite3.h>

/* The functions used, without their prefix. */
#define HTTP_FUNCTIONS(F)                                                                                              \
    F(add_response_header)                                                                                             \
    F(create_response_from_buffer)                                                                                     \
    F(create_response_from_callback)                                                                                   \
    F(destroy_response)                                                                                                \
    F(get_connection_info)                                                                                             \
    F(get_connection_values)                                                                                           \
    F(http_unescape)                                                                                                   \
    F(is_feature_supported)                                                                                            \
    F(lookup_connection_value)                                                                                         \
    F(queue_response)                                                                                                  \
    F(quiesce_daemon)                                                                                                  \
    F(resume_connection)                                                                                               \
    F(start_daemon)                                                                                                    \
    F(stop_daemon)                                                                                                     \
    F(suspend_connection)

#define SQL_FUNCTIONS(F)                                                                                               \
    F(bind_blob)                                                                                                       \
    F(bind_double)                                                                                                     \
    F(bind_int64)                                                                                                      \
    F(bind_null)                                                                                                       \
    F(bind_text)                                                                                                       \
    F(busy_timeout)                                                                                                    \
    F(clear_bindings)                                                                                                  \
    F(close_v2)                                                                                                        \
    F(column_blob)                                                                                                     \
    F(column_bytes)                                                                                                    \
    F(column_double)                                                                                                   \
    F(column_int64)                                                                                                    \
    F(column_text)                                                                                                     \
    F(errmsg)                                                                                                          \
    F(exec)                                                                                                            \
    F(finalize)                                                                                                        \
    F(open_v2)                                                                                                         \
    F(prepare_v2)                                                                                                      \
    F(reset)                                                                                                           \
    F(step)

#define HTTP_MEMBER(name) __typeof__(MHD_##name) *name;
struct http_functions {
    HTTP_FUNCTIONS(HTTP_MEMBER)
};
#define SQL_MEMBER(name) __typeof__(sqlite3_##name) *name;
struct sql_functions {
    SQL_FUNCTIONS(SQL_MEMBER)
};
extern struct http_functions http;
extern struct sql_functions sql;

/* Loads both. Returns 0, or the exit status after reporting which is missing. */
int load_libraries(void);

#endif
