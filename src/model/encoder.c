/* Compiled twice, for float and for double: see op/op.h. */
/*
 * encoder.c - see encoder.h.
 *
 * Rows are independent except in attention, so a layer is two parallel loops forward (rows up to queries, keys and
 * values; attention by sequence and head; then rows again, fused with the next layer's first part) and three backward.
 * Rows are divided into chunks that depend on n only. Gradients of weights are sums over all rows: each block of
 * outputs is one product on one thread, so every sum has a fixed order.
 */
#include "model/encoder.h"

#include "base/clones.h"
#include "op/attention.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/gemm.h"
#include "op/linear.h"
#include "op/norm.h"

#include <string.h>

enum { CHUNK = ENCODER_CHUNK, BLOCK = ENCODER_BLOCK };

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Activations of one layer. */
struct layer_memory {
    real *in;            /* (n x width) */
    real *q, *k, *v, *o; /* (n x heads*head_width) */
    real *lse;           /* (n x heads) */
    real *s1, *x1;       /* (n x width): before and after the first norm */
    real *f;             /* (n x inner): before the activation */
    real *s2;            /* (n x width): before the second norm */
};

struct memory {
    struct count_rows counts;
    struct clock_seen clock;
    struct layer_memory layer[LAYERS_MOST];
    real *z, *x;                      /* (n x width): temporal encoding; output of the last layer */
    real *gap_h;                      /* (n x GAP_UNITS) */
    real *dx, *dx1, *ds1, *dy1, *dy2; /* (n x width) */
    real *g, *df;                     /* (n x inner) */
    real *dq, *dk, *dv, *dout;        /* (n x heads*head_width) */
    real *delta;                      /* (n x heads) */
    real *scratch;                    /* of attention */
};

/* Returns the number of reals used; with base NULL it only counts. Without a backward pass, all layers use the same
   memory: a layer's rows are done with before the next layer's are written. */
static size_t lay_out(struct memory *m, const struct encoder_shape *s, size_t n, int threads, bool backward, real *base)
{
    size_t d = s->width, hw = s->heads * s->head_width;
    struct workspace w = {base, 0};
    if (s->counts) m->counts = counts_take(&w, s->types, n);
    m->clock = clock_seen_take(&w, &s->clock, n);
    for (size_t l = 0; l < s->layers; l++) {
        struct layer_memory *a = &m->layer[l];
        if (l > 0 && !backward) {
            *a = m->layer[0];
            continue;
        }
        a->in = op_take(&w, n * d);
        a->q = op_take(&w, n * hw);
        a->k = op_take(&w, n * hw);
        a->v = op_take(&w, n * hw);
        a->o = op_take(&w, n * hw);
        a->lse = op_take(&w, n * s->heads);
        a->s1 = op_take(&w, n * d);
        a->x1 = op_take(&w, n * d);
        a->f = op_take(&w, n * s->inner);
        a->s2 = op_take(&w, n * d);
    }
    m->z = op_take(&w, n * d);
    m->x = op_take(&w, n * d);
    m->gap_h = op_take(&w, s->gap_feature ? n * GAP_UNITS : 0);
    if (!backward) {
        m->g = op_take(&w, n * s->inner);
        m->scratch = op_take(&w, attention_scratch(s->heads, s->head_width, threads));
        return op_taken(&w);
    }
    m->dx = op_take(&w, n * d);
    m->dx1 = op_take(&w, n * d);
    m->ds1 = op_take(&w, n * d);
    m->dy1 = op_take(&w, n * d);
    m->dy2 = op_take(&w, n * d);
    m->g = op_take(&w, n * s->inner);
    m->df = op_take(&w, n * s->inner);
    m->dq = op_take(&w, n * hw);
    m->dk = op_take(&w, n * hw);
    m->dv = op_take(&w, n * hw);
    m->dout = op_take(&w, n * hw);
    m->delta = op_take(&w, n * s->heads);
    m->scratch = op_take(&w, attention_scratch(s->heads, s->head_width, threads));
    return op_taken(&w);
}

size_t encoder_memory(const struct encoder_shape *shape, size_t n, int threads)
{
    struct memory m;
    return lay_out(&m, shape, n, threads, true, NULL);
}

size_t encoder_encode_memory(const struct encoder_shape *shape, size_t n, int threads)
{
    struct memory m;
    return lay_out(&m, shape, n, threads, false, NULL);
}

struct count_rows encoder_counts(const struct encoder_shape *shape, size_t n, real *memory)
{
    struct workspace w = {memory, 0};
    return counts_take(&w, shape->types, n);
}

struct clock_seen encoder_clock(const struct encoder_shape *shape, size_t n, real *memory)
{
    struct workspace w = {memory, 0};
    if (shape->counts) counts_take(&w, shape->types, n);
    return clock_seen_take(&w, &shape->clock, n);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Context of the row-wise parts of a pass. */
struct pass {
    const struct op_run *run;
    const struct encoder_shape *s;
    const struct encoder_params *at;
    const real *slab;
    struct memory *m;
    const struct op_rows *rows;
    size_t n;
    bool timed; /* z is added to the input of every layer */
};

/* Dropped tensors: three per layer, and the attention weights. */
enum drop { DROP_ATTENTION, DROP_OUT, DROP_INNER, DROP_OUTER, DROPS };

static struct op_dropout drop_of(const struct pass *p, size_t layer, enum drop which)
{
    return (struct op_dropout){p->run->dropout, layer * DROPS + which};
}

/* x (r x c, rows ld apart) times factor (r x c). */
OP_CLONES static void scale_rows(size_t r, size_t c, const real *restrict factor, real *restrict x, size_t ld)
{
    for (size_t j = 0; j < r; j++)
        for (size_t l = 0; l < c; l++) x[j * ld + l] *= factor[j * c + l];
}

/* Multiplies x (n rows, d wide) by the mask from row number `id` on, some rows at a time, and also `also` unless NULL.
   In the mask, rows start at multiples of 8 elements. */
static void drop_some(const struct pass *p, struct op_dropout drop, uint64_t id, size_t n, size_t d, real *x,
                      real *also)
{
    enum { PIECE = ENCODER_FACTORS };
    real factor[PIECE];
    size_t stride = (d + 7) & ~(size_t)7, columns = d < PIECE ? d : PIECE, rows = PIECE / columns;
    for (size_t i = 0; i < n; i += rows)
        for (size_t k = 0; k < d; k += columns) {
            size_t r = n - i < rows ? n - i : rows, c = d - k < columns ? d - k : columns;
            dropout_tile(p->run, drop, (id + i) * stride + k, stride, r, c, factor, c);
            scale_rows(r, c, factor, x + i * d + k, d);
            if (also) scale_rows(r, c, factor, also + i * d + k, d);
        }
}

/* The sequence of row i. */
static size_t sequence_of(const struct op_rows *rows, size_t i)
{
    size_t low = 0, high = rows->sequences;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (rows->offset[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Drops from rows i0 .. i0+n-1 of a tensor. Sequences that follow each other in the data set are one run. */
static void drop_rows(const struct pass *p, struct op_dropout drop, size_t i0, size_t n, size_t d, real *x, real *also)
{
    const struct op_rows *rows = p->rows;
    if (!(drop.rate > 0)) return;
    for (size_t s = sequence_of(rows, i0), i = i0, end; i < i0 + n; i = end) {
        uint64_t id = op_row_id(rows, s, i - rows->offset[s]);
        do end = rows->offset[++s];
        while (end < i0 + n && op_row_id(rows, s, 0) == id + (end - i));
        if (end > i0 + n) end = i0 + n;
        drop_some(p, drop, id, end - i, d, x + (i - i0) * d, also ? also + (i - i0) * d : NULL);
    }
}

OP_CLONES static void add_rows(size_t n, const real *restrict a, real *restrict x)
{
    for (size_t i = 0; i < n; i++) x[i] += a[i];
}

/* in = x [+ z], then queries, keys and values; rows i0 .. i0+n-1. x may be in. */
static void project_rows(const struct pass *p, size_t layer, size_t i0, size_t n, const real *x)
{
    const struct encoder_layer *e = &p->at->layer[layer];
    struct layer_memory *a = &p->m->layer[layer];
    size_t d = p->s->width, hw = p->s->heads * p->s->head_width;
    real *in = a->in + i0 * d;
    if (p->timed)
        for (size_t i = 0; i < n * d; i++) in[i] = x[i] + p->m->z[i0 * d + i];
    else
        memcpy(in, x, n * d * sizeof *in);
    linear_forward(n, d, hw, in, p->slab + e->query, NULL, a->q + i0 * hw);
    linear_forward(n, d, hw, in, p->slab + e->key, NULL, a->k + i0 * hw);
    linear_forward(n, d, hw, in, p->slab + e->value, NULL, a->v + i0 * hw);
}

/* From the output of attention to that of the layer, for rows i0 .. i0+n-1 of x. */
static void finish_rows(const struct pass *p, size_t layer, size_t i0, size_t n)
{
    const struct encoder_layer *e = &p->at->layer[layer];
    struct layer_memory *a = &p->m->layer[layer];
    size_t d = p->s->width, hw = p->s->heads * p->s->head_width, inner = p->s->inner;
    real *s1 = a->s1 + i0 * d, *x1 = a->x1 + i0 * d, *s2 = a->s2 + i0 * d, *g = p->m->g + i0 * inner;
    linear_forward(n, hw, d, a->o + i0 * hw, p->slab + e->out, p->slab + e->out_bias, s1);
    drop_rows(p, drop_of(p, layer, DROP_OUT), i0, n, d, s1, NULL);
    add_rows(n * d, a->in + i0 * d, s1);
    norm_forward(n, d, NORM_EPS, s1, p->slab + e->gain1, p->slab + e->bias1, x1);

    linear_forward(n, d, inner, x1, p->slab + e->inner, p->slab + e->inner_bias, a->f + i0 * inner);
    activation_forward(p->s->activation, n * inner, a->f + i0 * inner, g);
    drop_rows(p, drop_of(p, layer, DROP_INNER), i0, n, inner, g, NULL);
    linear_forward(n, inner, d, g, p->slab + e->outer, p->slab + e->outer_bias, s2);
    drop_rows(p, drop_of(p, layer, DROP_OUTER), i0, n, d, s2, NULL);
    add_rows(n * d, x1, s2);
    norm_forward(n, d, NORM_EPS, s2, p->slab + e->gain2, p->slab + e->bias2, p->m->x + i0 * d);
}

/* ---- Forward --------------------------------------------------------------------------------- */

/* Counts the events of each sequence. */
static void count_events(const struct pass *p, const struct encoder_input *input)
{
    const struct encoder_shape *s = p->s;
#pragma omp parallel for schedule(dynamic) num_threads(p->run->threads)
    for (size_t q = 0; q < p->rows->sequences; q++) {
        struct counts counts = {0};
        for (size_t i = p->rows->offset[q]; i < p->rows->offset[q + 1]; i++)
            counts_add(&counts, s->count_rate, s->types, input->type[i], input->time[i], &p->m->counts, i);
    }
}

/* When the events of each sequence were. */
static void see_clock(const struct pass *p, const struct encoder_input *input)
{
#pragma omp parallel for schedule(dynamic) num_threads(p->run->threads)
    for (size_t q = 0; q < p->rows->sequences; q++) {
        size_t from = p->rows->offset[q], n = p->rows->offset[q + 1] - from;
        clock_see(&p->s->clock, input->base[q], input->time, from, n, &p->m->clock);
    }
}

static void start_rows(const struct pass *p, const struct encoder_input *input, size_t i0, size_t n)
{
    size_t d = p->s->width;
    real *x = p->m->x + i0 * d;
    temporal_forward(n, d, input->time + i0, p->m->z + i0 * d);
    embed_forward(n, d, encoder_inputs(p->s), input->type + i0, p->slab + p->at->embedding, x);
    if (p->s->gap_feature)
        gap_feature_forward(n, d, GAP_UNITS, (const real *)input->gap + i0, p->slab + p->at->gap_v,
                            p->slab + p->at->gap_c, p->slab + p->at->gap_table, p->m->gap_h + i0 * GAP_UNITS, x);
    if (p->s->counts) {
        size_t inputs = p->m->counts.inputs;
        gemm(0, 1, n, d, inputs, 1, p->m->counts.input + i0 * inputs, inputs, p->slab + p->at->counts, inputs, 1, x, d);
    }
    if (input->further)
        further_forward(&p->s->further, n, d, (const real *)input->further + i0 * p->s->further.columns,
                        p->slab + p->at->further, x);
    if (p->s->clock.on) {
        size_t inputs = clock_inputs(p->s->clock.shape);
        gemm(0, 1, n, d, inputs, 1, p->m->clock.row + i0 * inputs, inputs, p->slab + p->at->clock, inputs, 1, x, d);
    }
}

/* Runs all layers; the first one's input is x, or computed from the events if x is NULL. */
static const real *all_layers(const struct pass *p, const struct encoder_input *input, const real *x)
{
    const struct encoder_shape *shape = p->s;
    const struct memory *m = p->m;
    size_t chunks = op_chunks(p->n, CHUNK), d = shape->width;
    if (shape->counts && !x) count_events(p, input);
    if (shape->clock.on && !x) see_clock(p, input);
    for (size_t l = 0; l <= shape->layers; l++) {
        const real *in = l == 0 && x ? x : m->x;
#pragma omp parallel for schedule(static) num_threads(p->run->threads)
        for (size_t c = 0; c < chunks; c++) {
            size_t i0 = op_chunk_start(p->n, chunks, c), n = op_chunk_start(p->n, chunks, c + 1) - i0;
            if (op_stopped(p->run)) continue;
            if (l > 0)
                finish_rows(p, l - 1, i0, n);
            else if (!x)
                start_rows(p, input, i0, n);
            if (l < shape->layers) project_rows(p, l, i0, n, in + i0 * d);
        }
        if (op_stopped(p->run)) break;
        if (l < shape->layers)
            attention_forward(p->run, &input->rows, shape->heads, shape->head_width, drop_of(p, l, DROP_ATTENTION),
                              m->layer[l].q, m->layer[l].k, m->layer[l].v, m->layer[l].o, m->layer[l].lse, m->scratch);
    }
    return m->x;
}

const real *encoder_forward(const struct op_run *run, const struct encoder_shape *shape,
                            const struct encoder_params *at, const real *slab, const struct encoder_input *input,
                            real *memory)
{
    struct memory m;
    lay_out(&m, shape, input->n, run->threads, true, memory);
    const struct pass p = {run, shape, at, slab, &m, &input->rows, input->n, true};
    return all_layers(&p, input, NULL);
}

const real *encoder_encode(const struct op_run *run, const struct encoder_shape *shape, const struct encoder_params *at,
                           const real *slab, const struct encoder_input *input, real *memory)
{
    struct memory m;
    lay_out(&m, shape, input->n, run->threads, false, memory);
    const struct pass p = {run, shape, at, slab, &m, &input->rows, input->n, true};
    return all_layers(&p, input, NULL);
}

const real *layers_forward(const struct op_run *run, const struct encoder_shape *shape, const struct encoder_params *at,
                           const real *slab, const struct encoder_input *input, const real *x, real *memory)
{
    struct memory m;
    lay_out(&m, shape, input->n, run->threads, true, memory);
    const struct pass p = {run, shape, at, slab, &m, &input->rows, input->n, false};
    return all_layers(&p, input, x);
}

/* ---- Backward -------------------------------------------------------------------------------- */

/* From the gradient of the layer's output (dx) to that of attention's output (dout), for rows i0 .. i0+n-1. */
static void unfinish_rows(const struct pass *p, size_t layer, size_t i0, size_t n)
{
    const struct encoder_layer *e = &p->at->layer[layer];
    struct memory *m = p->m;
    struct layer_memory *a = &m->layer[layer];
    size_t d = p->s->width, hw = p->s->heads * p->s->head_width, inner = p->s->inner;
    real *dx1 = m->dx1 + i0 * d, *ds1 = m->ds1 + i0 * d, *dy1 = m->dy1 + i0 * d, *dy2 = m->dy2 + i0 * d;
    real *df = m->df + i0 * inner, *g = m->g + i0 * inner;

    norm_backward(n, d, NORM_EPS, a->s2 + i0 * d, p->slab + e->gain2, m->dx + i0 * d, dx1); /* gradient of s2 */
    memcpy(dy2, dx1, n * d * sizeof *dy2);
    drop_rows(p, drop_of(p, layer, DROP_OUTER), i0, n, d, dy2, NULL);
    linear_backward(n, inner, d, dy2, p->slab + e->outer, 0, df);
    /* g is recomputed: the input of the outer map. */
    activation_backward(p->s->activation, n * inner, a->f + i0 * inner, df, g);
    drop_rows(p, drop_of(p, layer, DROP_INNER), i0, n, inner, df, g);
    linear_backward(n, d, inner, df, p->slab + e->inner, 1, dx1); /* now the gradient of x1 */

    norm_backward(n, d, NORM_EPS, a->s1 + i0 * d, p->slab + e->gain1, dx1, ds1);
    memcpy(dy1, ds1, n * d * sizeof *dy1);
    drop_rows(p, drop_of(p, layer, DROP_OUT), i0, n, d, dy1, NULL);
    linear_backward(n, hw, d, dy1, p->slab + e->out, 0, m->dout + i0 * hw);
}

/* From the gradients of queries, keys and values to that of the layer's input, in dnext. */
static void unproject_rows(const struct pass *p, size_t layer, size_t i0, size_t n, real *dnext)
{
    const struct encoder_layer *e = &p->at->layer[layer];
    struct memory *m = p->m;
    size_t d = p->s->width, hw = p->s->heads * p->s->head_width;
    real *dx = dnext + i0 * d;
    memcpy(dx, m->ds1 + i0 * d, n * d * sizeof *dx);
    linear_backward(n, d, hw, m->dq + i0 * hw, p->slab + e->query, 1, dx);
    linear_backward(n, d, hw, m->dk + i0 * hw, p->slab + e->key, 1, dx);
    linear_backward(n, d, hw, m->dv + i0 * hw, p->slab + e->value, 1, dx);
}

/* Gradient of one linear map, to be divided into blocks of outputs. */
struct weight_work {
    const real *x, *dy;
    size_t in, out;
    real *dw, *db;
};

enum { WORKS = 6 };
static void list_works(const struct pass *p, size_t layer, real *grad, struct weight_work work[WORKS])
{
    const struct encoder_layer *e = &p->at->layer[layer];
    const struct memory *m = p->m;
    const struct layer_memory *a = &m->layer[layer];
    size_t d = p->s->width, hw = p->s->heads * p->s->head_width, inner = p->s->inner;
    work[0] = (struct weight_work){a->in, m->dq, d, hw, grad + e->query, NULL};
    work[1] = (struct weight_work){a->in, m->dk, d, hw, grad + e->key, NULL};
    work[2] = (struct weight_work){a->in, m->dv, d, hw, grad + e->value, NULL};
    work[3] = (struct weight_work){a->o, m->dy1, hw, d, grad + e->out, grad + e->out_bias};
    work[4] = (struct weight_work){a->x1, m->df, d, inner, grad + e->inner, grad + e->inner_bias};
    work[5] = (struct weight_work){m->g, m->dy2, inner, d, grad + e->outer, grad + e->outer_bias};
}

static void norm_gradients(const struct pass *p, size_t layer, int which, real *grad)
{
    const struct encoder_layer *e = &p->at->layer[layer];
    const struct memory *m = p->m;
    const struct layer_memory *a = &m->layer[layer];
    if (which == 0)
        norm_gradient(p->n, p->s->width, NORM_EPS, a->s1, m->dx1, grad + e->gain1, grad + e->bias1);
    else
        norm_gradient(p->n, p->s->width, NORM_EPS, a->s2, m->dx, grad + e->gain2, grad + e->bias2);
}

/* All sums over rows, and the gradient of the layer below, in parallel: none depends on another. */
static void gradients(const struct pass *p, size_t layer, real *grad, real *dnext)
{
    struct weight_work work[WORKS];
    list_works(p, layer, grad, work);
    size_t chunks = op_chunks(p->n, CHUNK), blocks[WORKS + 1] = {0};
    for (int w = 0; w < WORKS; w++) blocks[w + 1] = blocks[w] + (work[w].out + BLOCK - 1) / BLOCK;
    size_t items = 2 + chunks + blocks[WORKS];
#pragma omp parallel for schedule(dynamic) num_threads(p->run->threads)
    for (size_t i = 0; i < items; i++) {
        if (op_stopped(p->run)) continue;
        if (i < 2) {
            norm_gradients(p, layer, (int)i, grad);
        } else if (i < 2 + chunks) {
            size_t i0 = op_chunk_start(p->n, chunks, i - 2), i1 = op_chunk_start(p->n, chunks, i - 1);
            unproject_rows(p, layer, i0, i1 - i0, dnext);
        } else {
            size_t b = i - 2 - chunks, w = 0;
            while (b >= blocks[w + 1]) w++;
            size_t from = (b - blocks[w]) * BLOCK, to = from + BLOCK < work[w].out ? from + BLOCK : work[w].out;
            linear_gradient(p->n, work[w].in, work[w].out, work[w].x, work[w].dy, from, to, work[w].dw, work[w].db);
        }
    }
}

real *layers_backward(const struct op_run *run, const struct encoder_shape *shape, const struct encoder_params *at,
                      const real *slab, const struct encoder_input *input, real *memory, real *dh, real *grad)
{
    struct memory m;
    lay_out(&m, shape, input->n, run->threads, true, memory);
    const struct pass p = {
        .run = run, .s = shape, .at = at, .slab = slab, .m = &m, .rows = &input->rows, .n = input->n};
    size_t chunks = op_chunks(input->n, CHUNK);
    real *other = m.dx;
    m.dx = dh; /* the two buffers alternate */
    for (size_t l = shape->layers; l-- > 0;) {
#pragma omp parallel for schedule(static) num_threads(run->threads)
        for (size_t c = 0; c < chunks; c++) {
            size_t i0 = op_chunk_start(input->n, chunks, c), i1 = op_chunk_start(input->n, chunks, c + 1);
            if (!op_stopped(run)) unfinish_rows(&p, l, i0, i1 - i0);
        }
        if (op_stopped(run)) break;
        attention_backward(run, &input->rows, shape->heads, shape->head_width, drop_of(&p, l, DROP_ATTENTION),
                           m.layer[l].q, m.layer[l].k, m.layer[l].v, m.layer[l].o, m.layer[l].lse, m.dout, m.dq, m.dk,
                           m.dv, m.delta, m.scratch);
        gradients(&p, l, grad, other);
        real *swap = m.dx;
        m.dx = other;
        other = swap;
    }
    return m.dx;
}

void encoder_backward(const struct op_run *run, const struct encoder_shape *shape, const struct encoder_params *at,
                      const real *slab, const struct encoder_input *input, real *memory, real *dh, real *grad)
{
    const real *dx = layers_backward(run, shape, at, slab, input, memory, dh, grad);
    embed_gradient(input->n, shape->width, input->type, dx, grad + at->embedding);
    struct memory m;
    lay_out(&m, shape, input->n, run->threads, true, memory);
    if (shape->gap_feature) {
        real dgap[GAP_UNITS];
        gap_feature_gradient(input->n, shape->width, GAP_UNITS, input->gap, slab + at->gap_table, m.gap_h, dx,
                             grad + at->gap_v, grad + at->gap_c, grad + at->gap_table, dgap);
    }
    if (input->further)
        further_gradient(&shape->further, input->n, shape->width, input->further, dx, grad + at->further);
    if (shape->clock.on)
        linear_gradient(input->n, clock_inputs(shape->clock.shape), shape->width, m.clock.row, dx, 0, shape->width,
                        grad + at->clock, NULL);
    if (!shape->counts) return;
    size_t d = shape->width, blocks = (d + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) num_threads(run->threads)
    for (size_t b = 0; b < blocks; b++) {
        size_t to = (b + 1) * BLOCK < d ? (b + 1) * BLOCK : d;
        linear_gradient(input->n, m.counts.inputs, d, m.counts.input, dx, b * BLOCK, to, grad + at->counts, NULL);
    }
}
