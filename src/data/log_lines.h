/*
 * log_lines.h - plain text logs: lines of syslog, of web servers in the common and combined log format, and of programs
 * that begin each line with a date and a time.
 */
#ifndef SMURF_DATA_LOG_LINES_H
#define SMURF_DATA_LOG_LINES_H

#include "base/error.h"
#include "data/field.h"

#include <stdbool.h>

enum { LOG_FIELDS = 7, LOG_TEMPLATE = 80 };

struct log_syntax {
    const char *name;
    const char *column[LOG_FIELDS + 1]; /* names, NULL-terminated */
    /* Splits a line into its columns; false if it is another line. `room` has LOG_TEMPLATE bytes. */
    bool (*split)(const char *p, const char *end, struct field *out, char *room);
    bool ragged; /* lines with always the same number of words are a table instead */
};

/* The syntax of the lines in [p, end), judged by the first ones; NULL: none of these. whole: the last line is complete.
 */
const struct log_syntax *smurf_log_syntax(const char *p, const char *end, bool whole);

#endif
