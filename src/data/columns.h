/*
 * columns.h - column roles: which names mean what.
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
    COLUMN_FIRST,  /* first scored event, counted from 0 */
    COLUMN_BEFORE, /* events before the first one */
    COLUMN_ROLES
};

/* The name the user gave for this role, or NULL. */
const char *smurf_column_wanted(enum column_role role, const smurf_read_config *config);
/* How well a name fits a role: 0 is best, larger is worse, -1 is no match. Case-insensitive. */
int smurf_column_rank(enum column_role role, const char *name, size_t n, const smurf_read_config *config);
/* Writes the usual names of a role to text, for messages: "time, timestamp, ...". Returns text. */
enum { COLUMN_USUAL = 320 };
const char *smurf_column_usual(enum column_role role, char text[COLUMN_USUAL]);

/* How strongly any name suggests a role, from its words, however they are joined: "Case ID", "caseId", "case:id".
   COLUMN_USUAL_NAME and more: one of the usual names, best first. */
enum { COLUMN_NO_NAME, COLUMN_HINT, COLUMN_LIKELY, COLUMN_NAMED, COLUMN_STANDARD, COLUMN_USUAL_NAME = 100 };
int smurf_column_strength(enum column_role role, const char *name, size_t n);

/* Is it a number with a comma: 0,25 or 1,600,000? */
bool smurf_column_has_comma(const char *text, size_t n);
/* Reads a time field. calendar: 1 ISO-8601 times so far, 0 numbers, -1 none yet (then set). Messages carry no location.
   text[n] must be readable and not a digit. */
smurf_status smurf_column_time(struct decimal *out, const char *text, size_t n, int *calendar, smurf_error *err);

#endif
