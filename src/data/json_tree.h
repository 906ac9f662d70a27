/*
 * json_tree.h - JSON text (RFC 8259) to jansson values and back.
 *
 * jansson's own parser and writer silently drop characters when their buffer cannot grow: do not use json_loads and
 * json_dumps where memory may run out.
 */
#ifndef SMURF_DATA_JSON_TREE_H
#define SMURF_DATA_JSON_TREE_H

#include "base/error.h"

#include <jansson.h>

/* What is wrong with a text, and at which byte. */
struct json_fault {
    const char *why;
    size_t at;
};

/* Parses n bytes of text. Fails with SMURF_ERROR_MEMORY, or SMURF_ERROR_INPUT with *fault set. Also rejects more than
   JSON_TREE_DEPTH levels, duplicate keys, NUL in strings, text that is not UTF-8 and numbers out of range. */
enum { JSON_TREE_DEPTH = 256 };
smurf_status smurf_json_tree(json_t **out, const char *text, size_t n, struct json_fault *fault);
/* A value as compact text, freed by the caller. NULL: out of memory, or value is NULL. */
char *smurf_json_text(const json_t *value);

#endif
