/* model.c - events as a model sees them. See model.h. */
#include "model/model.h"

#include <math.h>

double smurf_view_time(const struct view *view, const smurf_sequence *s, size_t i)
{
    double time = view->raw_clock ? (double)s->origin + s->time[i] : s->time[i] - s->time[0];
    return time / view->clock_unit;
}

void smurf_view_further(const struct view *view, const smurf_sequence *s, size_t i, float *out)
{
    bool has = s->further && s->columns == smurf_view_columns(view);
    smurf_further_view_see(view->further, has ? s->further + i * s->columns : NULL, out);
}

double smurf_view_base(const struct view *view, const smurf_sequence *s)
{
    return view->raw_clock || !s->length ? 0 : (double)s->origin + s->time[0];
}

float smurf_view_gap(const struct view *view, const smurf_sequence *s, size_t i)
{
    return i ? (float)smurf_scale_forward(&view->feature, s->time[i] - s->time[i - 1]) : NAN;
}
