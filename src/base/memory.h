/*
 * memory.h - growing arrays and the arena: the two ways this library owns memory.
 *
 * An arena hands out pieces that live until it is released; pieces are never freed one by one. The
 * zero-initialised arena is valid and empty. Not thread-safe: one arena a thread.
 */
#ifndef SMURF_BASE_MEMORY_H
#define SMURF_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *head;
    size_t bytes; /* taken from the system in all */
};

/* n bytes aligned to 64, uninitialised; NULL when memory is out. */
void *smurf_arena_alloc(struct arena *arena, size_t n);
/* A copy of n bytes of text with a NUL behind; NULL when memory is out. */
char *smurf_arena_text(struct arena *arena, const char *text, size_t n);
void smurf_arena_release(struct arena *arena);

/* array points to a pointer to elements. Makes room for `need` of `size` bytes, where the capacity is *capacity
   elements: at least half as many again each time. False, with the array untouched, when memory is out or sizes
   overflow. */
bool smurf_grow(void *array, size_t *capacity, size_t need, size_t size);

#endif
