/* encoder_params.c - the encoder's entries in the table of parameters. See encoder.h. */
#include "model/encoder.h"

void smurf_encoder_params(const struct encoder_shape *s, struct params *params, struct encoder_params *out)
{
    size_t d = s->width, hw = s->heads * s->head_width;
    out->embedding = smurf_params_add(params, START_NORMAL, 0, encoder_inputs(s), d, "embedding");
    if (s->gap_feature) {
        out->gap_v = smurf_params_add(params, START_NORMAL, 0, GAP_UNITS, 0, "gap_feature.slope");
        out->gap_c = smurf_params_add(params, START_NORMAL, 0, GAP_UNITS, 0, "gap_feature.shift");
        out->gap_table = smurf_params_add(params, START_FAN_IN, GAP_UNITS, d, GAP_UNITS, "gap_feature.weight");
    }
    if (s->counts) out->counts = smurf_params_add(params, START_ZERO, 0, d, counts_inputs(s->types), "counts.weight");
    if (s->further.columns)
        out->further = smurf_params_add(params, START_ZERO, 0, s->further.rows, d, "further.weight");
    if (s->clock.on)
        out->clock = smurf_params_add(params, START_FAN_IN, 4, d, clock_inputs(s->clock.shape), "clock.input.weight");
    for (size_t l = 0; l < s->layers; l++) {
        struct encoder_layer *e = &out->layer[l];
        e->query = smurf_params_add(params, START_XAVIER, 0, hw, d, "layer.%zu.query", l);
        e->key = smurf_params_add(params, START_XAVIER, 0, hw, d, "layer.%zu.key", l);
        e->value = smurf_params_add(params, START_XAVIER, 0, hw, d, "layer.%zu.value", l);
        e->out = smurf_params_add(params, START_XAVIER, 0, d, hw, "layer.%zu.out.weight", l);
        e->out_bias = smurf_params_add(params, START_FAN_IN, hw, d, 0, "layer.%zu.out.bias", l);
        e->gain1 = smurf_params_add(params, START_ONE, 0, d, 0, "layer.%zu.norm1.gain", l);
        e->bias1 = smurf_params_add(params, START_ZERO, 0, d, 0, "layer.%zu.norm1.bias", l);
        e->inner = smurf_params_add(params, START_FAN_IN, d, s->inner, d, "layer.%zu.inner.weight", l);
        e->inner_bias = smurf_params_add(params, START_FAN_IN, d, s->inner, 0, "layer.%zu.inner.bias", l);
        e->outer = smurf_params_add(params, START_FAN_IN, s->inner, d, s->inner, "layer.%zu.outer.weight", l);
        e->outer_bias = smurf_params_add(params, START_FAN_IN, s->inner, d, 0, "layer.%zu.outer.bias", l);
        e->gain2 = smurf_params_add(params, START_ONE, 0, d, 0, "layer.%zu.norm2.gain", l);
        e->bias2 = smurf_params_add(params, START_ZERO, 0, d, 0, "layer.%zu.norm2.bias", l);
    }
}
