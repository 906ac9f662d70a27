/* loaded.c - see loaded.h. */
#include "loaded.h"

#include "terminal.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct http_functions http;
struct sql_functions sql;

struct entry {
    size_t at; /* of the pointer in the struct */
    const char *name;
};
#define HTTP_ENTRY(name) {offsetof(struct http_functions, name), "MHD_" #name},
static const struct entry http_entry[] = {HTTP_FUNCTIONS(HTTP_ENTRY)};
#define SQL_ENTRY(name) {offsetof(struct sql_functions, name), "sqlite3_" #name},
static const struct entry sql_entry[] = {SQL_FUNCTIONS(SQL_ENTRY)};

static int load(void *functions, const char *file, const char *package, const struct entry *entry, size_t entries)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool found = library != NULL;
    for (size_t i = 0; i < entries && found; i++) {
        void *function = dlsym(library, entry[i].name);
        memcpy((char *)functions + entry[i].at, &function, sizeof function);
        found = function != NULL;
    }
    if (found) return 0;
    return report_failure("the service needs %s: install it (Debian: %s) (%s)", file, package, dlerror());
}

int load_libraries(void)
{
    int status =
        load(&http, "libmicrohttpd.so.12", "libmicrohttpd12", http_entry, sizeof http_entry / sizeof *http_entry);
    return status ? status
                  : load(&sql, "libsqlite3.so.0", "libsqlite3-0", sql_entry, sizeof sql_entry / sizeof *sql_entry);
}
