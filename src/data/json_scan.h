/*
 * json_scan.h - a scanner of JSON text (RFC 8259) over a source, for large arrays of numbers.
 *
 * Pull style: ask what comes next, then take it. The first failure sticks in `status`; after it every call
 * returns false or 0, so that callers check once at the end of a loop. Texts of strings are appended to
 * `scratch` and named by their place there, because the array may move.
 */
#ifndef SMURF_DATA_JSON_SCAN_H
#define SMURF_DATA_JSON_SCAN_H

#include "base/memory.h"
#include "data/number.h"
#include "data/source.h"

enum { JSON_DEPTH = 64 };

struct json {
    struct source *source;
    smurf_error *err;
    smurf_status status;
    char *scratch;
    size_t used, room;   /* of scratch; the caller sets used = 0 between records */
    bool at_once;        /* a stream: do not wait for more than the line that is being read */
    bool lines;          /* one record a line: a line longer than SOURCE_LINE_LIMIT is an error */
    uint64_t line_start; /* offset of the current line */
    char field[64];      /* the array being read, for messages; "": none */
    const size_t *count; /* of entries there, those before the array included; NULL: not counted */
    size_t before;
};

/* The next character that is not blank, not taken; 0 at the end of input or after a failure. */
char smurf_json_peek(struct json *json);
/* Takes the character c, which must come next. */
bool smurf_json_take(struct json *json, char c);
/* Inside an array or object, after its opening: is there another element? Takes commas, and `close` at
   the end. *first starts true. */
bool smurf_json_more(struct json *json, char close, bool *first);
/* The number that comes next. d->text is valid until the next call. */
bool smurf_json_number(struct json *json, struct decimal *d);
/* The string that comes next, unescaped, appended to scratch with a NUL behind. */
bool smurf_json_string(struct json *json, size_t *at, size_t *n);
/* A number, true, false or null as its text, appended to scratch likewise. */
bool smurf_json_literal(struct json *json, size_t *at, size_t *n);
/* Skips the value that comes next, whatever it is. */
bool smurf_json_skip(struct json *json);
/* Puts the place, the field and its entry before the message of a failure from elsewhere; returns status. */
smurf_status smurf_json_blame(struct json *json, smurf_status status);
/* Fails with the place and a message; returns false. */
bool smurf_json_fail(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
