/*
 * spill.h - arrays in a file instead of memory: for what is made of data that is mapped, and may not fit into memory.
 *
 * The file has no name and is gone with the process. It is in $TMPDIR, or in /var/tmp.
 */
#ifndef SMURF_BASE_SPILL_H
#define SMURF_BASE_SPILL_H

#include "base/error.h"

#include <stdbool.h>

/* {0} is valid and empty. */
struct spill {
    void *p;
    size_t bytes;
    int file; /* 1 + its descriptor; 0: none yet */
};

/* Makes room for so many bytes; p may move. Room on disk is reserved, so that writing cannot fail later. */
smurf_status smurf_spill_grow(struct spill *spill, size_t bytes, smurf_error *err);
void smurf_spill_release(struct spill *spill);

#endif
