/*
 * error.h - fill the caller's smurf_error.
 *
 *     return smurf_fail(err, SMURF_ERROR_INPUT, "the text is empty");
 */
#ifndef SMURF_BASE_ERROR_H
#define SMURF_BASE_ERROR_H

#include "smurf_lab.h"

#include <stdarg.h>

/* Writes the message into err (which may be NULL) and returns status, which is never SMURF_OK. Control characters in
   quoted input are replaced by '?', so a message is always one line. */
smurf_status smurf_fail(smurf_error *err, smurf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
smurf_status smurf_failv(smurf_error *err, smurf_status status, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* The message for errno, with the path and the action: "cannot open 'x': no such file or directory". */
smurf_status smurf_fail_errno(smurf_error *err, const char *doing, const char *path, int code);

smurf_status smurf_fail_memory(smurf_error *err);

/* The names of a table as text, "a, b or c", with `last` ("or"; NULL: a comma) before the last one. Returns out. */
enum { LIST_TEXT = 256 };
char *smurf_list_names(char out[LIST_TEXT], const char *(*name)(size_t index), const char *last);

/* Sets file and line; leaves the message alone. */
void smurf_error_about(smurf_error *err, const char *file, uint64_t line);

/* SMURF_ERROR_INPUT with a location: "file:line: ...", or "file: ..." if line is 0. */
smurf_status smurf_fail_at(smurf_error *err, const char *file, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Prepend text, or a location, to the message of an SMURF_ERROR_INPUT raised elsewhere. Other errors are left alone.
   Return status. */
smurf_status smurf_error_prefix(smurf_error *err, smurf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
smurf_status smurf_error_place(smurf_error *err, smurf_status status, const char *file, uint64_t line);

#endif
