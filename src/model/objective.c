/* Compiled twice, for float and for double: see op/op.h. */
/* objective.c - the table of objectives. See objective.h. */
#include "model/objective.h"

#include <string.h>

#define OBJECTIVE_LIST(name) &OP(objective_##name),
static const struct objective_class *const objectives[] = {OBJECTIVES(OBJECTIVE_LIST) NULL};

const struct objective_class *objective_at(size_t index)
{
    return index < sizeof objectives / sizeof *objectives ? objectives[index] : NULL;
}

const struct objective_class *objective_named(const char *name)
{
    for (size_t i = 0; objectives[i]; i++)
        if (strcmp(objectives[i]->name, name) == 0) return objectives[i];
    return NULL;
}
