/*
 * sized.h - option structs that can grow: their first member is their size, as the caller's header knew it.
 *
 * A caller compiled against an older header has a shorter struct: only that many bytes are read or written, and the
 * options it does not know keep their defaults. One compiled against a newer header has a longer struct: what this
 * library does not know must be 0.
 */
#ifndef SMURF_BASE_SIZED_H
#define SMURF_BASE_SIZED_H

#include "base/error.h"

/* Fills the caller's struct of `size` bytes with the library's defaults, `own` bytes of them, and sets its size. */
void smurf_sized_init(void *given, size_t size, const void *defaults, size_t own);

/* Copies a result of `own` bytes into the caller's struct of `size` bytes; what it has beyond is 0. */
void smurf_sized_give(void *given, size_t size, const void *result, size_t own);

/* Copies the caller's struct over the defaults in `options` (own bytes). given NULL: the defaults stay. `name` is that
   of the struct, for messages. */
smurf_status smurf_sized_take(void *options, size_t own, const void *given, const char *name, smurf_error *err);

#endif
