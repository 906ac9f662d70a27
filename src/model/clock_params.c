/*
 * clock_params.c - what a model's clock is: local times, its map of the law's axis, its entries in the table of
 * parameters. At the start, the clock has no effect on laws. See clock.h.
 */
#include "data/time_zone.h"
#include "model/clock.h"

#include <math.h>

void smurf_clock_params(const struct clock *clock, size_t width, struct params *params, struct clock_params *out)
{
    size_t inputs = clock_inputs(clock->shape);
    out->weight = smurf_params_add(params, START_ZERO, 0, inputs, width, "clock.weight");
    out->bias = smurf_params_add(params, START_ZERO, 0, inputs, 0, "clock.bias");
}

/* Years -1200 to 5100: other moments have no zone. */
static bool is_usual(double utc)
{
    return fabs(utc) < 1e11;
}

double smurf_clock_local(const struct clock *clock, double utc)
{
    return is_usual(utc) ? utc + smurf_time_zone_offset(clock->zone, (int64_t)floor(utc)) : utc;
}

void smurf_clock_change(const struct clock *clock, double utc, double *until, double *shift)
{
    int64_t from, change;
    *until = 1e30;
    *shift = 0;
    if (!clock->zone || !is_usual(utc)) return;
    int now = smurf_time_zone_span(clock->zone, (int64_t)floor(utc), &from, &change);
    if (change == INT64_MAX || (double)change - utc >= clock->cut) return;
    *until = (double)change - utc;
    *shift = smurf_time_zone_offset(clock->zone, change) - now;
}

struct clock_gap smurf_clock_gap(const struct clock *clock, double y)
{
    const smurf_scale *s = &clock->scale;
    struct clock_gap out = {smurf_scale_backward(s, y), 1, 0};
    if (s->kind == SMURF_SCALE_MEAN) out.slope = s->mean;
    if (s->kind == SMURF_SCALE_LOG) {
        out.slope = exp(-smurf_scale_log_slope(s, out.gap));
        out.bend = s->sd * out.slope;
    }
    return out;
}
