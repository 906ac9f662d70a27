/*
 * names.h - a table of distinct texts, numbered in order of arrival: type vocabularies, sequence names.
 *
 * A zero-initialised table is valid and empty. Texts may contain any byte; each is NUL-terminated.
 */
#ifndef SMURF_DATA_NAMES_H
#define SMURF_DATA_NAMES_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct names {
    struct arena text;
    const char **name; /* (count) */
    uint32_t *length;  /* (count) */
    uint32_t count;
    size_t name_room, length_room;
    uint32_t *slot; /* open addressing: number + 1, 0 if free */
    uint32_t mask;
};

#define NAMES_FULL UINT32_MAX

/* The number of a text, added if new; NAMES_FULL if out of memory or if there are 2^31 texts. */
uint32_t smurf_names_intern(struct names *names, const char *text, size_t n);
/* The number of a known text, else NAMES_FULL. */
uint32_t smurf_names_find(const struct names *names, const char *text, size_t n);
/* Adds the names of another table, in its order, to an empty one; false: out of memory. */
bool smurf_names_copy(struct names *to, const struct names *from);
void smurf_names_release(struct names *names);

#endif
