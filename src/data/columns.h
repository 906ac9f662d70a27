/*
 * columns.h - which column of a table, or field of a JSON object, plays which part.
 */
#ifndef SMURF_DATA_COLUMNS_H
#define SMURF_DATA_COLUMNS_H

#include "base/error.h"
#include "data/number.h"

#include <stdbool.h>

enum column_role {
    COLUMN_SEQUENCE,
    COLUMN_TIME,
    COLUMN_TYPE,
    COLUMN_START, /* of observation */
    COLUMN_END,
    COLUMN_FIRST, /* first event to be scored, counted from 0 */
    COLUMN_ROLES
};

/* The name the user asked for in this role, or NULL. */
const char *smurf_column_wanted(enum column_role role, const smurf_read_config *config);
/* How good a name is for a role: 0 the best, larger is worse, -1 if it is none. Case does not matter. */
int smurf_column_rank(enum column_role role, const char *name, size_t n, const smurf_read_config *config);
/* Names of a role for messages, "time, timestamp, ...", written to text; returns it. */
enum { COLUMN_USUAL = 320 };
const char *smurf_column_usual(enum column_role role, char text[COLUMN_USUAL]);

/* Reads a time field; calendar: 1 ISO-8601 times so far, 0 numbers, -1 nothing yet (and then set). Messages lack the
   place. text[n] must be readable and no digit. */
smurf_status smurf_column_time(struct decimal *out, const char *text, size_t n, int *calendar, smurf_error *err);

#endif
