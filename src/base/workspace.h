/*
 * workspace.h - consecutive cache-line-aligned pieces of one block of memory.
 *
 * Without a block the pieces are NULL and only counted, so the same function computes the size and the layout.
 */
#ifndef SMURF_BASE_WORKSPACE_H
#define SMURF_BASE_WORKSPACE_H

#include <stddef.h>

enum { WORKSPACE_ALIGN = 64 };

struct workspace {
    void *block; /* NULL: count only */
    size_t used; /* bytes */
};

static inline size_t workspace_padded(size_t bytes)
{
    return (bytes + WORKSPACE_ALIGN - 1) & ~(size_t)(WORKSPACE_ALIGN - 1);
}

static inline void *workspace_take(struct workspace *w, size_t count, size_t size)
{
    void *piece = w->block ? (char *)w->block + w->used : NULL;
    w->used += workspace_padded(count * size);
    return piece;
}

#endif
