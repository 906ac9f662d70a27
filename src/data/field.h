/*
 * field.h - a cell of a table: some bytes of text, not owned.
 */
#ifndef SMURF_DATA_FIELD_H
#define SMURF_DATA_FIELD_H

#include <stddef.h>

struct field {
    const char *text; /* text[n] is readable and cannot continue a number */
    size_t n;
};

/* For messages: "%.*s", FIELD_SHOWN(f). */
enum { FIELD_SHOWN_MOST = 60 };
#define FIELD_SHOWN(f) (f).n < FIELD_SHOWN_MOST ? (int)(f).n : FIELD_SHOWN_MOST, (f).text

#endif
