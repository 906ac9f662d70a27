/* repeat_params.c - the entries of repeat.h in the table of parameters. At the start, nothing repeats. */
#include "model/repeat.h"

void smurf_repeat_params(const struct encoder_shape *shape, struct params *params, struct repeat_params *out)
{
    if (!shape->counts) return;
    out->v = smurf_params_add(params, START_ZERO, 0, COUNT_SCALES, shape->width, "type.repeat.weight");
    out->v_bias = smurf_params_add(params, START_ZERO, 0, COUNT_SCALES, 0, "type.repeat.bias");
}
