/* Compiled twice, for float and for double: see op/op.h. */
/* model_class.c - the table of models, and code shared by classes. See model_class.h. */
#include "model/model_class.h"

#include <string.h>

#define MODEL_ADDRESS(name) &OP(model_##name),
static const struct model_class *const classes[] = {MODELS(MODEL_ADDRESS) NULL};

const struct model_class *model_class_at(size_t index)
{
    return index < sizeof classes / sizeof *classes ? classes[index] : NULL;
}

const struct model_class *model_class_named(const char *name)
{
    for (size_t i = 0; classes[i]; i++)
        if (strcmp(classes[i]->name, name) == 0) return classes[i];
    return NULL;
}

void model_init(struct model *model, const struct model_class *class, const struct encoder_shape *shape,
                enum parametrisation param)
{
    *model = (struct model){.class = class, .shape = *shape, .param = param};
    class->params(model);
}

size_t model_law_memory(const struct model *model)
{
    (void)model;
    return sizeof(struct model_law);
}

struct law model_law_of(const struct law_class *law, const struct model *model, const float *slab, const float *c,
                        double low, double high, void *memory)
{
    struct model_law *self = memory;
    *self = (struct model_law){model, slab, c, (double *)(void *)(self + 1)};
    return (struct law){law, self, (uint32_t)model->shape.types, low, high};
}

void model_type_shares(const struct law *law, const double *y, double *out, size_t n)
{
    law->class->types(law->self, y, out, n);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, *row = out + i * law->types;
        for (uint32_t k = 0; k < law->types; k++) sum += row[k];
        for (uint32_t k = 0; k < law->types; k++) row[k] = sum > 0 ? row[k] / sum : 1.0 / law->types;
    }
}

void model_preset_published(smurf_settings *settings)
{
    settings->scale = SMURF_SCALE_MEAN;
    settings->gap_feature = 0;
    settings->ending = 0;
    settings->counts = 0;
    settings->wall_clock = CLOCK_OFF;
}
