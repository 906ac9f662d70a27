/* sampler.c - the table of samplers (sampler.h). */
#include "law/sampler.h"

#include <string.h>

#define ENTRY(name) &smurf_sampler_##name,
static const struct sampler_class *const table[] = {SMURF_SAMPLERS(ENTRY)};
#undef ENTRY
enum { SAMPLERS = sizeof table / sizeof *table };

const struct sampler_class *smurf_sampler_at(size_t index)
{
    return index < SAMPLERS ? table[index] : NULL;
}

const struct sampler_class *smurf_sampler_named(const char *name)
{
    for (size_t i = 0; i < SAMPLERS; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}
