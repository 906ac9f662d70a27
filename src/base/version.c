/* version.c - library version. */
#include "smurf_lab.h"

#include "config.h"

const char *smurf_version(void)
{
    return SMURF_VERSION;
}
