/* model.c - the table of a SMURF model's parameters, and events as it sees them. See model.h. */
#include "model/model.h"

#include <math.h>

void smurf_model_init(struct model *model, const struct encoder_shape *shape, enum parametrisation param)
{
    *model = (struct model){.shape = *shape, .param = param};
    smurf_encoder_params(shape, &model->params, &model->encoder);
    smurf_head_params(shape->types, shape->width, &model->params, &model->head);
}

double smurf_view_time(const struct view *view, const smurf_sequence *s, size_t i)
{
    double time = view->raw_clock ? (double)s->origin + s->time[i] : s->time[i] - s->time[0];
    return time / view->clock_unit;
}

float smurf_view_gap(const struct view *view, const smurf_sequence *s, size_t i)
{
    return i ? (float)smurf_scale_forward(&view->feature, s->time[i] - s->time[i - 1]) : NAN;
}
