/*
 * sized.h - option structs that can grow: the first member is the struct's size in the caller's header.
 *
 * A caller compiled against an older header has a shorter struct: only that many bytes are read or written, and options
 * it does not have keep their defaults. A caller compiled against a newer header has a longer struct: bytes unknown to
 * this library must be 0.
 */
#ifndef SMURF_BASE_SIZED_H
#define SMURF_BASE_SIZED_H

#include "base/error.h"

/* Fills the caller's struct of `size` bytes with the library's defaults (`own` bytes) and sets its size. */
void smurf_sized_init(void *given, size_t size, const void *defaults, size_t own);

/* Copies a result of `own` bytes into the caller's struct of `size` bytes; excess bytes are set to 0. */
void smurf_sized_give(void *given, size_t size, const void *result, size_t own);

/* Copies the caller's struct over the defaults in `options` (own bytes). given NULL: keeps the defaults. `name` is the
   name of the struct, for messages. */
smurf_status smurf_sized_take(void *options, size_t own, const void *given, const char *name, smurf_error *err);

#endif
