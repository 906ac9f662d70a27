/* sized.c - see sized.h. */
#include "base/sized.h"

#include <string.h>

void smurf_sized_give(void *given, size_t size, const void *result, size_t own)
{
    memset(given, 0, size);
    memcpy(given, result, size < own ? size : own);
}

void smurf_sized_init(void *given, size_t size, const void *defaults, size_t own)
{
    smurf_sized_give(given, size, defaults, own);
    if (size >= sizeof size) memcpy(given, &size, sizeof size);
}

smurf_status smurf_sized_take(void *options, size_t own, const void *given, const char *name, smurf_error *err)
{
    size_t size;
    if (!given) return SMURF_OK;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s has no size: call %s_init on it first", name, name);
    for (size_t i = own; i < size; i++)
        if (((const char *)given)[i])
            return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                              "%s has options that this version of the library (%s) does not know: update it", name,
                              smurf_version());
    memcpy(options, given, size < own ? size : own);
    memcpy(options, &own, sizeof own);
    return SMURF_OK;
}
