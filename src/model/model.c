/* model.c - the table of a SMURF model's parameters. See model.h. */
#include "model/model.h"

void smurf_model_init(struct model *model, const struct encoder_shape *shape, enum parametrisation param)
{
    *model = (struct model){.shape = *shape, .param = param};
    smurf_encoder_params(shape, &model->params, &model->encoder);
    smurf_head_params(shape->types, shape->width, &model->params, &model->head);
}
