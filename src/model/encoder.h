/*
 * encoder.h - the Transformer that encodes a history as a vector: h_j depends on events 1..j.
 *
 *     x = embedding(type) [+ gap feature] [+ C counts] [+ further columns] [+ T clock];   for each layer:
 *         in = x + z(t)
 *         x1 = norm(in + drop(attention(in) Wo^T + bo))
 *         x  = norm(x1 + drop(drop(f(x1 W1^T + b1)) W2^T + b2))
 *
 * z(t) is added to the input of every layer. drop(): dropout at the rate of the run (op.h). counts: ln(1 + S) of the
 * decayed counts of counts.h, which begin anew with each sequence. further.h has the columns. clock: B(t), the clock on
 * the wall (clock.h).
 */
#ifndef SMURF_MODEL_ENCODER_H
#define SMURF_MODEL_ENCODER_H

#include "model/clock.h"
#include "model/params.h"
#include "op/activation.h"
#include "op/counts.h"
#include "op/further.h"
#include "op/op.h"

/* Short names; see op.h. */
#define encoder_memory        OP(encoder_memory)
#define encoder_encode        OP(encoder_encode)
#define encoder_encode_memory OP(encoder_encode_memory)
#define encoder_forward       OP(encoder_forward)
#define encoder_backward      OP(encoder_backward)
#define layers_forward        OP(layers_forward)
#define layers_backward       OP(layers_backward)
#define encoder_counts        OP(encoder_counts)
#define encoder_clock         OP(encoder_clock)

enum { GAP_UNITS = 16, LAYERS_MOST = 24 };
/* Granularity: least rows per chunk, outputs per block of a weight's gradient, dropout factors generated at once. */
enum { ENCODER_CHUNK = 36, ENCODER_BLOCK = 32, ENCODER_FACTORS = 2048 };
#define NORM_EPS 1e-6 /* of both norms */

struct encoder_shape {
    size_t types, width, heads, head_width, layers, inner;
    enum activation activation;
    bool gap_feature;
    bool unknown; /* one more embedding, for unknown types; without it, theirs is 0 */
    bool counts;
    double count_rate[COUNT_SCALES]; /* of the counts: 1/s_m, in the encoder's time */
    bool ending;                     /* not of the encoder: the model has a probability of no further event */
    struct further_layout further;   /* columns {0}: none */
    struct clock clock;
};

/* Rows of the embedding. */
static inline size_t encoder_inputs(const struct encoder_shape *shape)
{
    return shape->types + shape->unknown;
}

/* Offsets of the parameters in the slab. */
struct encoder_layer {
    size_t query, key, value;          /* (heads*head_width x width) */
    size_t out, out_bias;              /* (width x heads*head_width), (width) */
    size_t gain1, bias1, gain2, bias2; /* (width) */
    size_t inner, inner_bias;          /* (inner x width), (inner) */
    size_t outer, outer_bias;          /* (width x inner), (width) */
};
struct encoder_params {
    size_t embedding; /* (inputs x width) */
    size_t gap_v, gap_c, gap_table;
    size_t counts;  /* (width x counts_inputs) */
    size_t further; /* (further.rows x width) */
    size_t clock;   /* (width x clock_inputs) */
    struct encoder_layer layer[LAYERS_MOST];
};

/* Adds the encoder's entries to a table. */
void smurf_encoder_params(const struct encoder_shape *shape, struct params *params, struct encoder_params *out);

/* Input: n events, packed. */
struct encoder_input {
    struct op_rows rows;
    size_t n;
    const uint32_t *type; /* the number of types: unknown */
    const double *time;   /* as the temporal encoding sees it */
    const void *gap;      /* (n) real: standardised log of the gap before, NaN for none; NULL without the gap feature */
    const void *further;  /* (n x columns) real: further columns, as further.h has them; NULL: nothing is added */
    const double *base;   /* (sequences) UTC, in seconds since 1970, of time 0; NULL without a clock */
};

/* Memory for a forward and backward pass over up to n events, in reals. */
size_t encoder_memory(const struct encoder_shape *shape, size_t n, int threads);

/* Returns h (n x width), in `memory`, which must not change until the backward pass. */
const real *encoder_forward(const struct op_run *run, const struct encoder_shape *shape,
                            const struct encoder_params *at, const real *slab, const struct encoder_input *input,
                            real *memory);
/* The same without a backward pass, in less memory: that of one layer. */
size_t encoder_encode_memory(const struct encoder_shape *shape, size_t n, int threads);
const real *encoder_encode(const struct op_run *run, const struct encoder_shape *shape, const struct encoder_params *at,
                           const real *slab, const struct encoder_input *input, real *memory);
/* The counts that a pass over n events left in its memory, which are the first thing there. */
struct count_rows encoder_counts(const struct encoder_shape *shape, size_t n, real *memory);
/* The same of the clock. */
struct clock_seen encoder_clock(const struct encoder_shape *shape, size_t n, real *memory);
/* dh (n x width) is overwritten; gradients are added to grad (a slab). */
void encoder_backward(const struct op_run *run, const struct encoder_shape *shape, const struct encoder_params *at,
                      const real *slab, const struct encoder_input *input, real *memory, real *dh, real *grad);

/* The layers alone, for models with another input: x (n x width) is used as it is, and z(t) is not added. Only rows and
   n of the input, and the layers' parameters, are used. */
const real *layers_forward(const struct op_run *run, const struct encoder_shape *shape, const struct encoder_params *at,
                           const real *slab, const struct encoder_input *input, const real *x, real *memory);
/* Returns the gradient of x, in `memory` or in place of dh. */
real *layers_backward(const struct op_run *run, const struct encoder_shape *shape, const struct encoder_params *at,
                      const real *slab, const struct encoder_input *input, real *memory, real *dh, real *grad);

#endif
