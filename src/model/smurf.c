/* Compiled twice, for float and for double: see op/op.h. */
/* smurf.c - SMURF as a model class. See smurf_class.h. */
#include "model/smurf_class.h"

#include "model/gap_law.h"
#include "op/linear.h"
#include "op/softplus.h"

#include <string.h>

static void params(struct model *m)
{
    struct smurf_offsets *at = (void *)m->own;
    smurf_encoder_params(&m->shape, &m->params, &at->encoder);
    smurf_head_params(m->shape.types, m->shape.width, &m->params, &at->head);
    smurf_repeat_params(&m->shape, &m->params, &at->repeat);
    if (m->shape.ending) smurf_ending_params(m->shape.width, &m->params, &at->end);
    if (m->shape.clock.on) smurf_clock_params(&m->shape.clock, m->shape.width, &m->params, &at->clock);
}

static size_t coefficients(const struct model *m)
{
    return smurf_clock_at(m) + clock_coefficients(&m->shape.clock);
}

/* Memory of the encoder; the coefficients of the heads follow, in four or five separate arrays. */
static size_t encoder_part(const struct model *m, size_t n, int threads)
{
    return (encoder_encode_memory(&m->shape, n, threads) + 15) & ~(size_t)15;
}

static size_t encode_memory(const struct model *m, size_t n, int threads)
{
    return encoder_part(m, n, threads) + n * (3 * m->shape.width + m->shape.ending + CLOCK_MOST * m->shape.clock.on);
}

/* The coefficients of repeat.h of row i. */
static void repeats(const struct model *m, const real *slab, const real *h, const struct count_rows *rows, size_t i,
                    real *out)
{
    const struct repeat_params *at = &smurf_offsets(m)->repeat;
    real v[COUNT_SCALES];
    linear_forward(1, m->shape.width, COUNT_SCALES, h + i * m->shape.width, slab + at->v, slab + at->v_bias, v);
    repeat_terms(rows, i, v, out);
}

static void encode(const struct op_run *run, const struct model *m, const real *slab, const struct encoder_input *input,
                   real *memory, real *out)
{
    const struct smurf_offsets *at = smurf_offsets(m);
    size_t n = input->n, d = m->shape.width, half = d / 2;
    real *a = memory + encoder_part(m, n, run->threads), *b = a + n * d, *type_a = b + n * d,
         *type_b = type_a + n * half, *s = type_b + n * half, *clock = s + n * m->shape.ending;
    const real *h = encoder_encode(run, &m->shape, &at->encoder, slab, input, memory);
    head_forward(&at->head, slab, d, 0, n, h, &(struct head_coefficients){a, b, type_a, type_b});
    if (m->shape.ending) ending_forward(&at->end, slab, d, n, h, s);
    if (m->shape.clock.on) {
        struct clock_seen seen = encoder_clock(&m->shape, n, memory);
        clock_head(&m->shape.clock, &at->clock, slab, d, 0, n, h, &seen, clock, out + smurf_clock_at(m),
                   coefficients(m));
    }
    struct count_rows rows = {0};
    if (m->shape.counts) rows = encoder_counts(&m->shape, n, memory);
    for (size_t i = 0; i < n; i++, out += coefficients(m)) {
        struct head_coefficients c = smurf_coefficients(m, out);
        memcpy(c.a, a + i * d, d * sizeof *a);
        memcpy(c.b, b + i * d, d * sizeof *b);
        memcpy(c.type_a, type_a + i * half, half * sizeof *type_a);
        memcpy(c.type_b, type_b + i * half, half * sizeof *type_b);
        if (m->shape.counts) repeats(m, slab, h, &rows, i, smurf_repeat_at(m, out));
        if (m->shape.ending) out[smurf_ending_at(m)] = s[i];
    }
}

static double never(const struct model *m, const float *c)
{
    return m->shape.ending ? logistic((double)c[smurf_ending_at(m)]) : 0;
}

const struct model_class OP(model_smurf) = {
    .name = "smurf",
    .about = "intensities or scores of a Transformer, by likelihood or score matching",
    .scales = 1u << SMURF_SCALE_NONE | 1u << SMURF_SCALE_MEAN | 1u << SMURF_SCALE_LOG,
    .objectives = true,
    .counts = true,
    .further = true,
    .clock = true,
    .params = params,
    .coefficients = coefficients,
    .encode_memory = encode_memory,
    .encode = encode,
    .loss_memory = smurf_loss_memory,
    .loss = smurf_loss,
    .history = &smurf_history_cached,
    .law_memory = smurf_gap_law_memory,
    .law = smurf_gap_law,
    .types = smurf_gap_law_types,
    .never = never,
};
