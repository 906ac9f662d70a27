/*
 * show_summary.h - shows a summary of a data set as text or JSON.
 *
 * Both expect LC_NUMERIC to be "C", the default.
 */
#ifndef SHOW_SUMMARY_H
#define SHOW_SUMMARY_H

#include "smurf_lab.h"

#include <stdio.h>

/* Plain text of at most `width` columns (70 or more), headed by the title, and the source if it differs. utf8: draw
   with block characters, else with '#'. */
void show_summary(FILE *out, const char *title, const smurf_data *data, const smurf_summary *s, int width, int utf8);

/* One JSON object without a trailing newline. Unknown values are null. */
void show_summary_json(FILE *out, const char *title, const smurf_data *data, const smurf_summary *s);

/* A moment on the data's clock: ISO-8601 in UTC if calendar, else a decimal number; up to nine decimals. */
enum { MOMENT_TEXT = 64 };
const char *moment_text(char out[MOMENT_TEXT], smurf_moment moment, int calendar);

/* A name in exactly `columns` columns, one per character, truncated with '~'. Control characters become '?'. */
void put_name(FILE *out, const char *name, int columns);
/* The number of columns of a name. */
int name_columns(const char *name);

#endif
