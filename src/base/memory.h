/*
 * memory.h - growing arrays and the arena: the two ways this library owns memory.
 *
 * An arena hands out pieces that live until it is released; pieces are never freed individually. A zero-initialised
 * arena is valid and empty. Not thread-safe: use one arena per thread.
 */
#ifndef SMURF_BASE_MEMORY_H
#define SMURF_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *head;
    size_t bytes; /* total obtained from the system */
};

/* n bytes aligned to 64, uninitialised; NULL if out of memory. */
void *smurf_arena_alloc(struct arena *arena, size_t n);
/* A NUL-terminated copy of n bytes of text; NULL if out of memory. */
char *smurf_arena_text(struct arena *arena, const char *text, size_t n);
void smurf_arena_release(struct arena *arena);

/* array points to a pointer to elements of `size` bytes; *capacity is the current capacity in elements. Makes room for
   `need` elements, growing by at least half. Returns false and leaves the array untouched if out of memory or on
   overflow. */
bool smurf_grow(void *array, size_t *capacity, size_t need, size_t size);

#endif
