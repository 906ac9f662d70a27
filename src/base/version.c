/* version.c - library version and build features. */
#include "smurf_lab.h"

#include "config.h"

const char *smurf_version(void)
{
    return SMURF_VERSION;
}

const char *smurf_features(void)
{
    return "openblas"
#if SMURF_HAVE_ZLIB
           " zlib"
#endif
#if SMURF_HAVE_CAIRO
           " cairo"
#endif
#ifdef _OPENMP
           " openmp"
#endif
        ;
}
