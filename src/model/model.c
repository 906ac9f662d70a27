/* model.c - events as a model sees them. See model.h. */
#include "model/model.h"

#include <math.h>

double smurf_view_time(const struct view *view, const smurf_sequence *s, size_t i)
{
    double time = view->raw_clock ? (double)s->origin + s->time[i] : s->time[i] - s->time[0];
    return time / view->clock_unit;
}

float smurf_view_gap(const struct view *view, const smurf_sequence *s, size_t i)
{
    return i ? (float)smurf_scale_forward(&view->feature, s->time[i] - s->time[i - 1]) : NAN;
}
