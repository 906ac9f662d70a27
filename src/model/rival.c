/* rival.c - the table of rivals. See rival.h. */
#include "model/rival.h"

#include <string.h>

#define RIVAL_ADDRESS(name) &OP(rival_##name),
static const struct rival_class *const rivals[] = {RIVALS(RIVAL_ADDRESS) NULL};

const struct rival_class *OP(rival_at)(size_t index)
{
    return index < sizeof rivals / sizeof *rivals ? rivals[index] : NULL;
}

const struct rival_class *OP(rival_named)(const char *name)
{
    for (size_t i = 0; rivals[i]; i++)
        if (strcmp(rivals[i]->name, name) == 0) return rivals[i];
    return NULL;
}

void OP(rival_init)(struct model *model, const struct encoder_shape *shape, const struct rival_class *rival)
{
    *model = (struct model){.shape = *shape, .rival = rival};
    rival->params(model);
}
