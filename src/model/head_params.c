/* head_params.c - the heads' entries in the table of parameters. See head.h. */
#include "model/head.h"

void smurf_head_params(size_t types, size_t width, struct params *params, struct head_params *out)
{
    size_t half = width / 2;
    out->a = smurf_params_add(params, START_FAN_IN, width, width, width, "gap.a.weight");
    out->a_bias = smurf_params_add(params, START_FAN_IN, width, width, 0, "gap.a.bias");
    out->b = smurf_params_add(params, START_FAN_IN, width, width, width, "gap.b.weight");
    out->b_bias = smurf_params_add(params, START_FAN_IN, width, width, 0, "gap.b.bias");
    out->w = smurf_params_add(params, START_FAN_IN, width, width, 0, "gap.w");
    out->c = smurf_params_add(params, START_FAN_IN, width, 1, 0, "gap.c");
    out->type_a = smurf_params_add(params, START_FAN_IN, width, half, width, "type.a.weight");
    out->type_a_bias = smurf_params_add(params, START_FAN_IN, width, half, 0, "type.a.bias");
    out->type_b = smurf_params_add(params, START_FAN_IN, width, half, width, "type.b.weight");
    out->type_b_bias = smurf_params_add(params, START_FAN_IN, width, half, 0, "type.b.bias");
    out->type_w = smurf_params_add(params, START_FAN_IN, half, types, half, "type.weight");
    out->type_c = smurf_params_add(params, START_FAN_IN, half, types, 0, "type.bias");
}
