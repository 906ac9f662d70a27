/*
 * library.h - shared libraries that are loaded on demand, by whoever needs what they do.
 *
 *     #define MEMBER(name) __typeof__(sqlite3_##name) *name;
 *     struct functions { FUNCTIONS(MEMBER) };
 */
#ifndef SMURF_BASE_LIBRARY_H
#define SMURF_BASE_LIBRARY_H

#include "base/error.h"

#include <stddef.h>

struct library_entry {
    size_t at; /* of the pointer in `functions` */
    const char *name;
};

/* Opens the library `file` and stores the addresses of its functions. Fails with SMURF_ERROR_UNSUPPORTED: `needed`,
   which says what to install, and the loader's reason. The library is never unloaded, for it may keep state of its own.
 */
smurf_status smurf_library_load(void *functions, const char *file, const struct library_entry *entry, size_t entries,
                                const char *needed, smurf_error *err);

#endif
