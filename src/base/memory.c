/* memory.c - see memory.h. */
#include "base/memory.h"

#include "smurf_lab.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, FIRST = 1024, BLOCK = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t size, used; /* of bytes[] */
    _Alignas(ALIGN) unsigned char bytes[];
};

/* n bytes aligned to align, a power of two up to ALIGN. */
static void *take(struct arena *arena, size_t n, size_t align)
{
    struct arena_block *block = arena->head;
    size_t at = block ? (block->used + align - 1) & ~(align - 1) : 0;
    if (n > SIZE_MAX / 2) return NULL;
    if (!block || at > block->size || block->size - at < n) {
        size_t room = !block ? FIRST : 2 * block->size < BLOCK ? 2 * block->size : BLOCK, size = n > room ? (n + ALIGN - 1) & ~(size_t)(ALIGN - 1) : room;
        block = aligned_alloc(ALIGN, sizeof *block + size);
        if (!block) return NULL;
        *block = (struct arena_block){.next = arena->head, .size = size};
        arena->head = block;
        arena->bytes += sizeof *block + size;
        at = 0;
    }
    block->used = at + n;
    return block->bytes + at;
}

void *smurf_arena_alloc(struct arena *arena, size_t n)
{
    return take(arena, n, ALIGN);
}

char *smurf_arena_text(struct arena *arena, const char *text, size_t n)
{
    char *copy = take(arena, n + 1, 1);
    if (!copy) return NULL;
    if (n) memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

void smurf_arena_release(struct arena *arena)
{
    for (struct arena_block *block = arena->head, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (struct arena){0};
}

bool smurf_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity) return true;
    size_t room = *capacity + *capacity / 2;
    if (room < need) room = need;
    if (room < 16) room = 16;
    if (room > SIZE_MAX / 2 / size) return false;
    void *old, *moved; /* copied bytewise: the caller's pointer has its own type */
    memcpy(&old, array, sizeof old);
    moved = realloc(old, room * size);
    if (!moved) return false;
    memcpy(array, &moved, sizeof moved);
    *capacity = room;
    return true;
}

void smurf_free(void *memory)
{
    free(memory);
}
