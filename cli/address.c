/* address.c - see address.h. Arguments are known by where they are in memory. */
#include "address.h"

#include "smurf.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

/* Never freed. */
static struct address {
    const char *shown;
    char *whole;
} * addresses;
static size_t count;

void address_hide(char *argument)
{
    char *value = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
    value = value ? value + 1 : argument;
    size_t n = strlen(value) + 1;
    char *whole = strdup(value), *shown = malloc(n);
    if (!whole || !shown) out_of_memory();
    if (strcmp(smurf_path_shown(shown, whole), whole) == 0) {
        free(whole);
    } else {
        addresses = realloc(addresses, (count + 1) * sizeof *addresses);
        if (!addresses) out_of_memory();
        addresses[count++] = (struct address){value, whole};
        memset(value, 0, n);
        strcpy(value, shown);
    }
    free(shown);
}

const char *address_whole(const char *shown)
{
    for (size_t i = 0; i < count; i++)
        if (addresses[i].shown == shown) return addresses[i].whole;
    return shown;
}
