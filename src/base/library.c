/* library.c - see library.h. */
#include "base/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

smurf_status smurf_library_load(void *functions, const char *file, const struct library_entry *entry, size_t entries,
                                const char *needed, smurf_error *err)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool found = library != NULL;
    for (size_t i = 0; i < entries && found; i++) {
        void *function = dlsym(library, entry[i].name);
        memcpy((char *)functions + entry[i].at, &function, sizeof function);
        found = function != NULL;
    }
    smurf_status status = SMURF_OK;
    if (!found) status = smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "%s (%s)", needed, dlerror());
    if (library) dlclose(library);
    return status;
}
