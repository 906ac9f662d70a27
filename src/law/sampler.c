/* sampler.c - the table of samplers (sampler.h). */
#include "law/sampler.h"

#include "base/error.h"

#include <string.h>

#define ENTRY(name) &smurf_sampler_##name,
static const struct sampler_class *const table[] = {SMURF_SAMPLERS(ENTRY)};
#undef ENTRY
enum { SAMPLERS = sizeof table / sizeof *table };

const struct sampler_class *smurf_sampler_at(size_t index)
{
    return index < SAMPLERS ? table[index] : NULL;
}

const char *smurf_sampler_name(size_t index)
{
    return index < SAMPLERS ? table[index]->name : NULL;
}

const char *smurf_sampler_about(size_t index)
{
    return index < SAMPLERS ? table[index]->about : NULL;
}

int smurf_sampler_has_steps(const char *name)
{
    const struct sampler_class *sampler;
    return !smurf_sampler_find(&sampler, name, NULL) && sampler->draw;
}

smurf_status smurf_sampler_find(const struct sampler_class **out, const char *name, smurf_error *err)
{
    *out = name ? NULL : table[0];
    for (size_t i = 0; i < SAMPLERS && !*out; i++)
        if (strcmp(table[i]->name, name) == 0) *out = table[i];
    char list[LIST_TEXT];
    return *out ? SMURF_OK
                : smurf_fail(err, SMURF_ERROR_ARGUMENT, "unknown sampler '%.60s': use %s", name,
                             smurf_list_names(list, smurf_sampler_name, "or"));
}
