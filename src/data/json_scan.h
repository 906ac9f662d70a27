/*
 * json_scan.h - a scanner for JSON text (RFC 8259) over a source, for large arrays of numbers.
 *
 * Pull style: ask what comes next, then take it. The first failure sticks in `status`; after it every call returns
 * false or 0, so callers check once at the end of a loop. String texts are appended to `scratch` and identified by
 * their offset, because the array may move.
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
    bool at_once;        /* a stream: do not wait beyond the current line */
    bool lines;          /* one record per line: a line longer than SOURCE_LINE_LIMIT is an error */
    uint64_t line_start; /* offset of the current line */
    char field[64];      /* the array being read, for messages; "": none */
    const size_t *count; /* entries in it, including those before the array; NULL: not counted */
    size_t before;
};

/* The next non-blank character, without taking it; 0 at the end of input or after a failure. */
char smurf_json_peek(struct json *json);
/* Takes the next character, which must be c. */
bool smurf_json_take(struct json *json, char c);
/* Inside an array or object, after its opening bracket: is there another element? Takes commas, and `close` at the end.
 *first starts true. */
bool smurf_json_more(struct json *json, char close, bool *first);
/* Takes a number. d->text is valid until the next call. */
bool smurf_json_number(struct json *json, struct decimal *d);
/* Takes a string and appends it to scratch, unescaped and NUL-terminated. */
bool smurf_json_string(struct json *json, size_t *at, size_t *n);
/* Takes a number, true, false or null and appends its text to scratch likewise. */
bool smurf_json_literal(struct json *json, size_t *at, size_t *n);
/* Skips the next value, of any kind. */
bool smurf_json_skip(struct json *json);
/* Prepends the location, the field and its entry to the message of a failure from elsewhere; returns status. */
smurf_status smurf_json_blame(struct json *json, smurf_status status);
/* Fails with the location and a message; returns false. */
bool smurf_json_fail(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
