/*
 * show_summary.h - a summary of a data set, for people and for machines.
 *
 * Both expect LC_NUMERIC to be "C", as it is in a program that does not change it.
 */
#ifndef SHOW_SUMMARY_H
#define SHOW_SUMMARY_H

#include "smurf_lab.h"

#include <stdio.h>

/* Aligned plain text, headed by the title and the source where they differ, of at most `width` columns (76 or
 * more). utf8: draw with block characters, else with
 * '#'. */
void show_summary(FILE *out, const char *title, const smurf_data *data, const smurf_summary *s, int width, int utf8);

/* One JSON object, no newline behind. What is not known is null. */
void show_summary_json(FILE *out, const char *title, const smurf_data *data, const smurf_summary *s);

/* A moment of the user's clock: ISO-8601 in UTC where calendar, else a decimal; up to nine decimals. */
enum { MOMENT_TEXT = 64 };
const char *moment_text(char out[MOMENT_TEXT], smurf_moment moment, int calendar);

/* A name in exactly `columns` columns, one a character, cut with '~' where it is longer. Control characters become '?'.
 */
void put_name(FILE *out, const char *name, int columns);
/* How many it takes. */
int name_columns(const char *name);

#endif
