/*
 * roofline.c - each op of a training step against the machine's peaks, for each preset; one thread.
 *
 *     bench_roofline     prints one JSON object per line: peaks, then ops and whole steps
 *
 *     ideal = max(operations / sgemm + sum over functions of evaluations / peak, bytes / bandwidth)
 *     share = ideal / measured
 *
 * Peaks are measured in the same run (peaks.h). Operations (two per multiply-add), function evaluations and bytes are
 * computed from the shapes, below. Bytes are those of arrays that must be read or written once per call; the bandwidth
 * is that of the smallest memory level that holds the arrays of a call. Every op is called as often, and in the same
 * pieces, as in a step, forward and backward. Dropout masks are integer work, which no peak covers: only the bytes of
 * the tensors they apply to count.
 */
#define SMURF_REAL 32
#include "peaks.h"
#include "step.h"

#include "model/repeat.h"
#include "op/attention.h"
#include "op/counts.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/gap_head.h"
#include "op/gemm.h"
#include "op/linear.h"
#include "op/norm.h"
#include "op/type_head.h"
#include "train/adam.h"

/* ---- Shapes ---------------------------------------------------------------------------------- */

struct preset {
    const char *name;
    size_t types, length; /* of the data set: the mean length of a sequence */
    int rounds;
};

/* Sizes that the counts are computed from. All are integers. */
struct shape {
    double n, targets, pairs;                  /* events, predicted events, pairs in attention */
    double layers, d, hw, heads, inner, types; /* hw: of all heads together */
    double points, type_points;                /* of the gap head and of the type head, per target */
    double params;
    bool slope, gelu, gap_feature, averaged; /* slope: the objective needs u' */
    bool counts;
};

/* The work of an op in a step, over all its calls. */
struct count {
    double flops, function[FUNCTIONS], bytes, calls;
};

enum { FLOAT = sizeof(float), BLOCK = ENCODER_BLOCK };

/* Points rounded up to whole vectors, as in a step. */
static size_t filled(double points)
{
    return points > 1 ? op_filled((size_t)points) : 1;
}

/* Buffers of the ops, and the step they belong to. */
struct bench {
    struct step step;
    struct shape shape;
    float *x, *y, *u, *v, *dropped;           /* (n x widest): inputs x and u, outputs y and v; the target of dropout */
    float *w;                                 /* as many as parameters */
    float *q[8], *lse, *delta;                /* (n x hw), (n x heads) */
    float *scratch;                           /* of attention */
    float *tau, *at[6], *z, *h, *dh, *logits; /* of one target */
    float *gap_h;
    struct count_rows rows; /* of decayed counts */
    struct head_coefficients c, g;
};

static float *numbers(size_t n)
{
    float *x = room(n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = (float)((double)(i * 2654435761u % 1000) / 1000 - 0.5);
    return x;
}

static struct head_coefficients coefficients(size_t n, size_t d)
{
    return (struct head_coefficients){numbers(n * d), numbers(n * d), numbers(n * d / 2), numbers(n * d / 2)};
}

static struct count_rows take_counts(size_t types, size_t n)
{
    struct workspace none = {NULL, 0};
    counts_take(&none, types, n);
    struct workspace w = {room(none.used), 0};
    return counts_take(&w, types, n);
}

static void bench_open(struct bench *b, const struct preset *p)
{
    smurf_settings c = settings_of(p->name);
    step_open(&b->step, &c, p->types, c.batch, p->length, 1);
    const struct encoder_shape *e = &b->step.model.shape;
    struct target first = b->step.batch.target[0];
    size_t n = b->step.batch.input.n, hw = e->heads * e->head_width, widest = e->inner;
    size_t points = b->step.train.loss.objective.class->count(&b->step.train.loss.objective, &first);
    double length = (double)p->length;
    b->shape = (struct shape){.n = (double)n,
                              .targets = (double)b->step.batch.targets,
                              .pairs = (double)c.batch * length * (length + 1) / 2,
                              .layers = (double)e->layers,
                              .d = (double)e->width,
                              .hw = (double)hw,
                              .heads = (double)e->heads,
                              .inner = (double)e->inner,
                              .types = (double)e->types,
                              .points = (double)points,
                              .type_points = c.type_at_truth ? 1 : (double)points,
                              .params = (double)b->step.model.params.total,
                              .slope = b->step.train.loss.objective.class->order(&b->step.train.loss.objective) > 0,
                              .gelu = e->activation == ACTIVATION_GELU,
                              .gap_feature = e->gap_feature,
                              .counts = e->counts,
                              .averaged = b->step.average > 0};
    if (hw > widest) widest = hw;
    b->x = numbers(n * widest), b->y = numbers(n * widest), b->u = numbers(n * widest), b->v = numbers(n * widest);
    b->dropped = numbers(n * widest);
    b->w = numbers(b->step.model.params.total);
    for (int i = 0; i < 8; i++) b->q[i] = numbers(n * hw);
    b->lse = numbers(n * e->heads), b->delta = numbers(n * e->heads);
    b->scratch = numbers(smurf_attention_scratch_f32(e->heads, e->head_width, 1));
    size_t room = filled((double)points);
    b->tau = numbers(room);
    for (int i = 0; i < 6; i++) b->at[i] = numbers(room);
    b->z = numbers(e->width * room), b->h = numbers(e->width * room), b->dh = numbers(e->width * room);
    b->logits = numbers(e->types * room);
    b->gap_h = numbers(n * GAP_UNITS);
    b->rows = take_counts(e->types, n);
    b->c = coefficients(n, e->width), b->g = coefficients(n, e->width);
}

static const struct op_run still = {1, 1, 1, 0, NULL};

/* Rows per call of a map. */
static size_t pieces(const struct bench *b)
{
    return op_chunks(b->step.batch.input.n, ENCODER_CHUNK);
}

/* ---- Maps of the encoder ---------------------------------------------------------------------- */

static void one_map(struct bench *b, size_t in, size_t out, const float *w, const float *bias)
{
    size_t n = b->step.batch.input.n, chunks = pieces(b);
    for (size_t c = 0; c < chunks; c++) {
        size_t i = op_chunk_start(n, chunks, c), rows = op_chunk_start(n, chunks, c + 1) - i;
        smurf_linear_forward_f32(rows, in, out, b->x + i * in, w, bias, b->y + i * out);
    }
    for (size_t c = 0; c < chunks; c++) {
        size_t i = op_chunk_start(n, chunks, c), rows = op_chunk_start(n, chunks, c + 1) - i;
        smurf_linear_backward_f32(rows, in, out, b->u + i * out, w, 0, b->v + i * in);
    }
    for (size_t from = 0; from < out; from += BLOCK)
        smurf_linear_gradient_f32(n, in, out, b->x, b->u, from, from + BLOCK < out ? from + BLOCK : out,
                                  b->step.train.slab[SLAB_GRADIENT],
                                  bias ? b->step.train.slab[SLAB_GRADIENT] + in * out : NULL);
}

static void maps(void *data)
{
    struct bench *b = data;
    const struct encoder_shape *e = &b->step.model.shape;
    size_t d = e->width, hw = e->heads * e->head_width;
    for (size_t l = 0; l < e->layers; l++) {
        const struct encoder_layer *at = &smurf_offsets(&b->step.model)->encoder.layer[l];
        one_map(b, d, hw, b->w + at->query, NULL);
        one_map(b, d, hw, b->w + at->key, NULL);
        one_map(b, d, hw, b->w + at->value, NULL);
        one_map(b, hw, d, b->w + at->out, b->w + at->out_bias);
        one_map(b, d, e->inner, b->w + at->inner, b->w + at->inner_bias);
        one_map(b, e->inner, d, b->w + at->outer, b->w + at->outer_bias);
    }
}

/* Forward, backward and weight gradient: three products. Weights are read twice, their gradient read and written. */
static struct count map_count(double n, double in, double out)
{
    return (struct count){.flops = 6 * n * in * out, .bytes = FLOAT * (3 * n * (in + out) + 4 * in * out), .calls = 3};
}

static struct count maps_count(const struct shape *s)
{
    struct count a = map_count(s->n, s->d, s->hw), f = map_count(s->n, s->d, s->inner);
    return (struct count){.flops = s->layers * (4 * a.flops + 2 * f.flops),
                          .bytes = s->layers * (4 * a.bytes + 2 * f.bytes),
                          .calls = s->layers * 18};
}

/* ---- Attention -------------------------------------------------------------------------------- */

static void attention(void *data)
{
    struct bench *b = data;
    const struct encoder_shape *e = &b->step.model.shape;
    const struct op_rows *rows = &b->step.batch.input.rows;
    const struct op_dropout drop = {b->step.dropout, 3};
    float **q = b->q;
    for (size_t l = 0; l < e->layers; l++) {
        smurf_attention_forward_f32(&still, rows, e->heads, e->head_width, drop, q[0], q[1], q[2], q[3], b->lse,
                                    b->scratch);
        smurf_attention_backward_f32(&still, rows, e->heads, e->head_width, drop, q[0], q[1], q[2], q[3], b->lse, q[4],
                                     q[5], q[6], q[7], b->delta, b->scratch);
    }
}

/* Two products forward, five backward; weights are computed in both; q, k, v, out, then those, dout, three gradients.
 */
static struct count attention_count(const struct shape *s)
{
    return (struct count){.flops = s->layers * s->pairs * s->hw * 2 * 7,
                          .function[EXP] = s->layers * s->pairs * s->heads * 2,
                          .bytes = s->layers * FLOAT * s->n * s->hw * (4 + 8),
                          .calls = s->layers * 2};
}

/* ---- Elementwise ops -------------------------------------------------------------------------- */

static void activation(void *data)
{
    struct bench *b = data;
    const struct encoder_shape *e = &b->step.model.shape;
    size_t size = b->step.batch.input.n * e->inner;
    for (size_t l = 0; l < e->layers; l++) {
        smurf_activation_forward_f32(e->activation, size, b->x, b->y);
        smurf_activation_backward_f32(e->activation, size, b->x, b->u, b->v);
    }
}

static struct count activation_count(const struct shape *s)
{
    double size = s->layers * s->n * s->inner;
    return (struct count){.flops = s->gelu ? size * (4 + 11) : size * 3,
                          .function[ERF] = s->gelu ? 2 * size : 0,
                          .function[EXP] = s->gelu ? size : 0,
                          .bytes = FLOAT * size * (2 + 4),
                          .calls = 2 * s->layers};
}

static void norms(void *data)
{
    struct bench *b = data;
    size_t n = b->step.batch.input.n, d = b->step.model.shape.width;
    for (size_t i = 0; i < 2 * b->step.model.shape.layers; i++) {
        smurf_norm_forward_f32(n, d, NORM_EPS, b->x, b->w, b->w, b->y);
        smurf_norm_backward_f32(n, d, NORM_EPS, b->x, b->w, b->u, b->v);
        smurf_norm_gradient_f32(n, d, NORM_EPS, b->x, b->u, b->step.train.slab[SLAB_GRADIENT],
                                b->step.train.slab[SLAB_GRADIENT] + d);
    }
}

/* Mean and variance of a row are computed three times, 4 operations per element; then 4, 11 and 4. */
static struct count norms_count(const struct shape *s)
{
    double size = 2 * s->layers * s->n * s->d;
    return (struct count){
        .flops = size * (3 * 4 + 4 + 11 + 4), .bytes = FLOAT * size * (2 + 3 + 2), .calls = 6 * s->layers};
}

/* As drop_rows of encoder.c. */
static void drop(const struct bench *b, size_t d, float *x, float *also)
{
    enum { PIECE = ENCODER_FACTORS };
    float factor[PIECE];
    const struct op_dropout rate = {b->step.dropout, 3};
    size_t n = b->step.batch.input.n, rows = PIECE / d;
    if (!(rate.rate > 0)) return;
    for (size_t i = 0; i < n; i += rows) {
        size_t r = n - i < rows ? n - i : rows;
        smurf_dropout_tile_f32(&still, rate, i * d, d, r, d, factor, d);
        for (size_t k = 0; k < r * d; k++) x[i * d + k] *= factor[k];
        for (size_t k = 0; also && k < r * d; k++) also[i * d + k] *= factor[k];
    }
}

static void dropout(void *data)
{
    struct bench *b = data;
    for (size_t l = 0; l < b->step.model.shape.layers; l++) {
        for (int i = 0; i < 4; i++) drop(b, b->step.model.shape.width, b->dropped, NULL);
        drop(b, b->step.model.shape.inner, b->dropped, NULL);
        drop(b, b->step.model.shape.inner, b->dropped, b->y);
    }
}

static struct count dropout_count(const struct shape *s)
{
    double size = s->layers * s->n * (4 * s->d + 3 * s->inner);
    return (struct count){.flops = size, .bytes = FLOAT * size * 2, .calls = 6 * s->layers};
}

/* ---- Heads ------------------------------------------------------------------------------------ */

static void head_maps(void *data)
{
    struct bench *b = data;
    const struct head_params *at = &smurf_offsets(&b->step.model)->head;
    size_t n = b->step.batch.input.n, d = b->step.model.shape.width, chunks = pieces(b);
    for (size_t c = 0; c < chunks; c++) {
        size_t i = op_chunk_start(n, chunks, c), rows = op_chunk_start(n, chunks, c + 1) - i;
        smurf_head_forward_f32(at, b->w, d, i, rows, b->x, &b->c);
    }
    for (size_t c = 0; c < chunks; c++) {
        size_t i = op_chunk_start(n, chunks, c), rows = op_chunk_start(n, chunks, c + 1) - i;
        smurf_head_backward_f32(at, b->w, d, i, rows, &b->c, &b->g, b->v);
    }
    for (int which = 0; which < 4; which++)
        smurf_head_gradient_f32(at, d, n, which, b->x, &b->g, b->step.train.slab[SLAB_GRADIENT]);
}

static struct count head_maps_count(const struct shape *s)
{
    struct count wide = map_count(s->n, s->d, s->d), half = map_count(s->n, s->d, s->d / 2);
    return (struct count){.flops = 2 * wide.flops + 2 * half.flops + 3 * s->n * 1.5 * s->d,
                          .function[TANH] = s->n * 1.5 * s->d,
                          .bytes = 2 * wide.bytes + 2 * half.bytes,
                          .calls = 12};
}

static void gap_head(void *data)
{
    struct bench *b = data;
    size_t d = b->step.model.shape.width, n = filled(b->shape.points);
    const float *a = b->c.a, *c = b->c.b;
    float bias = 0;
    int order = b->shape.slope;
    for (size_t i = 0; i < b->step.batch.targets; i++) {
        smurf_gap_head_forward_f32(order, d, a + i * d, c + i * d, b->w, 0, b->tau, n, b->z, b->at[0], b->at[1], NULL);
        smurf_gap_head_backward_f32(order, d, a + i * d, c + i * d, b->w, b->tau, n, b->z, b->at[2], b->at[3], NULL,
                                    (float *)b->g.a + i * d, (float *)b->g.b + i * d, b->dh, &bias);
    }
}

/* An argument and two sums forward, four sums backward; without u', one and three. Points stay in the L1 cache. */
static struct count gap_head_count(const struct shape *s)
{
    double size = s->targets * s->points * s->d;
    return (struct count){.flops = size * (s->slope ? 2 + 6 + 13 : 2 + 2 + 8),
                          .function[TANH] = size,
                          .bytes = FLOAT * s->targets * 4 * s->d,
                          .calls = 2};
}

static void type_head(void *data)
{
    struct bench *b = data;
    size_t half = b->step.model.shape.width / 2, n = filled(b->shape.type_points), types = b->step.model.shape.types;
    const float *a = b->c.type_a, *c = b->c.type_b;
    double right;
    for (size_t i = 0; i < b->step.batch.targets; i++) {
        smurf_type_head_forward_f32(types, half, a + i * half, c + i * half, b->w, b->w, b->tau, n, b->h, b->logits);
        smurf_type_head_loss_f32(types, n, (size_t)b->shape.type_points, 1, b->step.train.loss.smoothing, 1, b->logits,
                                 &right);
        smurf_type_head_backward_f32(types, half, a + i * half, b->w, b->tau, n, b->h, b->logits, b->dh,
                                     (float *)b->g.type_a + i * half, (float *)b->g.type_b + i * half,
                                     b->step.train.slab[SLAB_GRADIENT], b->z);
    }
}

/* Three products; for each logit a maximum, difference, sum, scale and another sum. */
static struct count type_head_count(const struct shape *s)
{
    double points = s->targets * s->type_points, half = s->d / 2;
    return (struct count){.flops = points * (6 * s->types * half + 5 * s->types + (2 + 6) * half),
                          .function[TANH] = points * half,
                          .function[EXP] = points * s->types,
                          .function[LOG] = points,
                          .bytes = FLOAT * (s->targets * 4 * half + 4 * s->types * half),
                          .calls = 2};
}

static void objective(void *data)
{
    struct bench *b = data;
    const struct objective_config *config = &b->step.train.loss.objective;
    size_t n = (size_t)b->shape.points;
    for (size_t i = 0; i < b->step.batch.targets; i++) {
        const struct target *t = &b->step.batch.target[i];
        b->step.train.loss.objective.class->place(config, &still, t, n, b->tau);
        b->step.train.loss.objective.class->loss(config, t, n, b->tau, b->at[0], b->at[1], NULL, b->at[2], b->at[3],
                                                 NULL);
    }
}

/* softplus takes exp and log; normal noise half a log and one sine or cosine per number. */
static struct count objective_count(const struct shape *s)
{
    double size = s->targets * s->points;
    return (struct count){.flops = size * (s->slope ? 40 : 14),
                          .function[EXP] = size,
                          .function[LOG] = size * (s->slope ? 1.5 : 1),
                          .function[SINE] = s->slope ? size : 0,
                          .calls = 1};
}

/* ---- Encodings and Adam ----------------------------------------------------------------------- */

static void encodings(void *data)
{
    struct bench *b = data;
    const struct encoder_input *in = &b->step.batch.input;
    size_t d = b->step.model.shape.width;
    float dh[GAP_UNITS], *to = b->step.train.slab[SLAB_GRADIENT];
    smurf_temporal_forward_f32(in->n, d, in->time, b->y);
    smurf_embed_forward_f32(in->n, d, b->step.model.shape.types, in->type, b->w, b->v);
    smurf_embed_gradient_f32(in->n, d, in->type, b->u, to);
    if (!b->shape.gap_feature) return;
    smurf_gap_feature_forward_f32(in->n, d, GAP_UNITS, in->gap, b->w, b->w, b->w, b->gap_h, b->v);
    smurf_gap_feature_gradient_f32(in->n, d, GAP_UNITS, in->gap, b->w, b->gap_h, b->u, to, to, to, dh);
}

/* A sine or cosine in double per element; embeddings read and written, their gradient accumulated. */
static struct count encodings_count(const struct shape *s)
{
    double size = s->n * s->d, gap = s->gap_feature ? GAP_UNITS : 0;
    return (struct count){.flops = size * (2 + 6 * gap),
                          .function[SINE64] = size,
                          .function[TANH] = s->n * gap,
                          .bytes = FLOAT * size * (1 + 2 + 3 + (gap > 0 ? 3 : 0)),
                          .calls = gap > 0 ? 5 : 3};
}

/* The counts, their map to the first layer, and what repeats, added to the logits of the true gap. */
static void decayed(void *data)
{
    struct bench *b = data;
    const struct encoder_input *in = &b->step.batch.input;
    const struct encoder_shape *e = &b->step.model.shape;
    size_t d = e->width, m = COUNT_SCALES;
    if (!e->counts) return;
    for (size_t q = 0; q < in->rows.sequences; q++) {
        struct counts counts = {0};
        for (size_t i = in->rows.offset[q]; i < in->rows.offset[q + 1]; i++)
            counts_add(&counts, e->count_rate, e->types, in->type[i], in->time[i], &b->rows, i);
    }
    float *gradient = b->step.train.slab[SLAB_GRADIENT];
    gemm(0, 1, in->n, d, b->rows.inputs, 1, b->rows.input, b->rows.inputs, b->w, b->rows.inputs, 1, b->y, d);
    for (size_t from = 0; from < d; from += BLOCK)
        smurf_linear_gradient_f32(in->n, b->rows.inputs, d, b->rows.input, b->u, from,
                                  from + BLOCK < d ? from + BLOCK : d, gradient, NULL);
    smurf_linear_forward_f32(in->n, d, m, b->x, b->w, b->w, b->y);
    for (size_t i = 0; i < b->step.batch.targets; i++) {
        repeat_add(&b->rows, i, b->y + i * m, 1, b->logits);
        repeat_back(&b->rows, i, 1, b->logits, b->u + i * m);
    }
    smurf_linear_backward_f32(in->n, d, m, b->u, b->w, 0, b->v);
    smurf_linear_gradient_f32(in->n, d, m, b->x, b->u, 0, m, gradient, gradient + d * m);
}

/* All slots decay at each event. Two products of the inputs with the map, three of the hidden state; two multiply-adds
   per slot and scale. */
static struct count decayed_count(const struct shape *s)
{
    double m = COUNT_SCALES, inputs = (double)counts_inputs((size_t)s->types),
           slots = (double)counts_slots((size_t)s->types);
    if (!s->counts) return (struct count){.calls = 1};
    return (struct count){.flops = s->n * (4 * inputs * s->d + 6 * s->d * m + inputs) + s->targets * 4 * slots * m,
                          .function[EXP] = s->n * m,
                          .function[LOG] = s->n * inputs,
                          .bytes = FLOAT * s->n * (3 * inputs + 3 * s->d + 6 * m),
                          .calls = 6};
}

static void update(void *data)
{
    struct bench *b = data;
    struct step *s = &b->step;
    size_t n = s->model.params.total;
    float *gradient = s->train.slab[SLAB_GRADIENT];
    memset(gradient, 0, n * sizeof *gradient);
    double norm = smurf_gradient_norm(n, gradient);
    smurf_train_step_update(&s->train, ++s->done, 1e-4, norm > 1 ? 0.5 : 1, s->average);
}

/* Gradients zeroed and read for the norm; g, m, v, w read and three of them written; the average. */
static struct count update_count(const struct shape *s)
{
    return (struct count){.flops = s->params * (2 + 12 + (s->averaged ? 3 : 0)),
                          .bytes = FLOAT * s->params * (1 + 1 + 7 + (s->averaged ? 3 : 0)),
                          .calls = s->averaged ? 3 : 2};
}

/* ---- Whole steps ----------------------------------------------------------------------------- */

static const struct op {
    const char *name;
    void (*run)(void *bench);
    struct count (*count)(const struct shape *shape);
} ops[] = {
    {"encoder maps", maps, maps_count},           {"attention", attention, attention_count},
    {"activation", activation, activation_count}, {"layer norm", norms, norms_count},
    {"dropout", dropout, dropout_count},          {"coefficient maps", head_maps, head_maps_count},
    {"gap head", gap_head, gap_head_count},       {"type head", type_head, type_head_count},
    {"objective", objective, objective_count},    {"encodings", encodings, encodings_count},
    {"decayed counts", decayed, decayed_count},   {"Adam", update, update_count},
};
enum { OPS = sizeof ops / sizeof *ops };

struct ideal {
    double products, functions, memory; /* seconds */
};

static struct ideal ideal_of(const struct count *c, const struct peaks *peaks)
{
    struct ideal out = {.products = c->flops / (1e9 * peaks->gflops)};
    int store = NEAR;
    while (store < FAR && c->bytes / c->calls > (double)peaks->size[store]) store++;
    out.memory = c->bytes / peaks->bytes[store];
    for (int f = 0; f < FUNCTIONS; f++) out.functions += c->function[f] / peaks->per_second[f];
    return out;
}

static double least_of(const struct ideal *i)
{
    return fmax(i->products + i->functions, i->memory);
}

static const char *bound_of(const struct ideal *i)
{
    if (i->memory > i->products + i->functions) return "memory";
    return i->functions > i->products ? "functions" : "products";
}

static void one_preset(const struct preset *p, const struct peaks *peaks)
{
    static struct bench b;
    double ideal = 0, flops = 0;
    bench_open(&b, p);
    double step = fastest_of(p->rounds, (void (*)(void *))step_run, &b.step);
    for (size_t i = 0; i < OPS; i++) {
        struct count c = ops[i].count(&b.shape);
        struct ideal parts = ideal_of(&c, peaks);
        double least = least_of(&parts), seconds = fastest_of(p->rounds, ops[i].run, &b);
        ideal += least;
        flops += c.flops;
        printf("{\"kind\":\"op\",\"preset\":\"%s\",\"name\":\"%s\",\"flops\":%.0f,", p->name, ops[i].name, c.flops);
        for (int f = 0; f < FUNCTIONS; f++) printf("\"%s\":%.0f,", function_name[f], c.function[f]);
        printf("\"bytes\":%.0f,\"seconds\":%.9f,\"ideal\":%.9f,\"share\":%.4f,\"bound\":\"%s\"}\n", c.bytes, seconds,
               least, least / seconds, bound_of(&parts));
    }
    printf("{\"kind\":\"step\",\"preset\":\"%s\",\"events\":%.0f,\"seconds\":%.9f,\"ideal\":%.9f,\"share\":%.4f,"
           "\"gflops\":%.2f,\"sgemm_share\":%.4f}\n",
           p->name, b.shape.n, step, ideal, ideal / step, 1e-9 * flops / step, 1e-9 * flops / step / peaks->gflops);
    fflush(stdout);
}

int main(void)
{
    const struct preset presets[] = {{"default", 22, 73, 41},
                                     {"paper-stackoverflow", 22, 73, 41},
                                     {"paper-retweet", 3, 109, 15},
                                     {"paper-mimic", 75, 4, 101},
                                     {"paper-financial", 2, 3319, 1}};
    struct peaks peaks = measure_peaks();
    printf("{\"kind\":\"peaks\",\"gflops\":%.1f,\"small_gflops\":%.1f,", peaks.gflops, peaks.small_gflops);
    for (int f = 0; f < FUNCTIONS; f++) printf("\"%s\":%.0f,", function_name[f], peaks.per_second[f]);
    printf("\"near\":%.0f,\"shared\":%.0f,\"far\":%.0f}\n", peaks.bytes[NEAR], peaks.bytes[SHARED], peaks.bytes[FAR]);
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) one_preset(&presets[i], &peaks);
    return 0;
}
