/*
 * plan.cu - a pass as a list of launches: the encoder forward, heads and objective, and backward.
 *
 * The order is that of model/encoder.c and model/smurf_loss.c. Gradients of weights wait until the end, where one
 * launch makes those of all maps: a launch for each layer, beside the way back, took longer.
 */
#include "cuda/session.cuh"

/* ---- Forward ------------------------------------------------------------------------------------------------- */

/* What a pass needs everywhere. */
struct pass {
    struct cuda_training *t;
    cudaStream_t s;
    int cap;
    const float *w; /* weights */
    struct splits splits;
};

/* Between the two, launches may go beside each other: to the stream that is returned, and to p->s. */
static cudaStream_t begin_beside(const struct pass *p)
{
    cudaEventRecord(p->t->fork, p->s);
    cudaStreamWaitEvent(p->t->beside, p->t->fork, 0);
    return p->t->beside;
}

static void end_beside(const struct pass *p)
{
    cudaEventRecord(p->t->join, p->t->beside);
    cudaStreamWaitEvent(p->s, p->t->join, 0);
}

static void one_map(const struct pass *p, enum after after, const float *x, size_t in, size_t out, const float *w,
                    const float *bias, struct product what)
{
    struct maps maps = {};
    maps.count = 1;
    maps.map[0] = {w, bias, what.y, (int)out, 0};
    what.in = (int)in;
    smurf_cuda_forward(p->s, p->cap, p->t->rows, after, x, maps, what);
}

static struct heads heads_of(const struct pass *p, size_t layer)
{
    struct cuda_training *t = p->t;
    struct layer *a = &t->layer[layer];
    return {
        (int)t->m.heads, (int)t->m.head_width,          a->q, a->k, a->v, a->o, a->lse, t->dout, t->delta, a->dq, a->dk,
        a->dv,           layer * DROPS + DROP_ATTENTION};
}

/* The rows of a layer, for layer.cu. */
static struct row_layer rows_of(const struct pass *p, size_t l, bool back)
{
    struct cuda_training *t = p->t;
    const struct cuda_model *m = &t->m;
    const struct cuda_layer *at = &m->layer[l];
    struct layer *a = &t->layer[l];
    struct row_layer out = {};
    bool last = l + 1 == m->layers;
    out.hw = (int)(m->heads * m->head_width), out.inner = (int)m->inner, out.relu = m->relu;
    out.ld = (out.inner > 3 * out.hw ? out.inner : 3 * out.hw) + 4;
    out.eps = (float)m->norm_eps, out.place = l * DROPS;
    out.out = p->w + at->out, out.out_bias = p->w + at->out_bias, out.gain1 = p->w + at->gain1;
    out.bias1 = p->w + at->bias1, out.inner_w = p->w + at->inner, out.inner_bias = p->w + at->inner_bias;
    out.outer = p->w + at->outer, out.outer_bias = p->w + at->outer_bias, out.gain2 = p->w + at->gain2;
    out.bias2 = p->w + at->bias2;
    out.in = a->in, out.o = a->o, out.s1 = a->s1, out.x1 = a->x1, out.f = a->f, out.g = a->g, out.s2 = a->s2;
    out.norm1 = a->norm1, out.norm2 = a->norm2;
    out.dx = a->dx, out.dy2 = a->dy2, out.df = a->df, out.dx1 = a->dx1, out.ds1 = t->ds1, out.dy1 = a->dy1;
    out.dout = t->dout;
    out.z = last ? NULL : t->z;
    out.x = last ? t->h : t->layer[l + 1].in;
    if (last) return out;
    struct layer *next = &t->layer[l + 1];
    out.qkv = p->w + m->layer[l + 1].query;
    out.q = back ? next->dq : next->q, out.k = back ? next->dk : next->k, out.v = back ? next->dv : next->v;
    return out;
}

static void queries(const struct pass *p, size_t l)
{
    struct cuda_training *t = p->t;
    const struct cuda_layer *at = &t->m.layer[l];
    struct layer *a = &t->layer[l];
    int hw = (int)(t->m.heads * t->m.head_width);
    struct maps maps = {};
    struct product what = {};
    maps.count = 3;
    maps.map[0] = {p->w + at->query, NULL, a->q, hw, 0};
    maps.map[1] = {p->w + at->key, NULL, a->k, hw, 0};
    maps.map[2] = {p->w + at->value, NULL, a->v, hw, 0};
    what.in = (int)t->m.width;
    smurf_cuda_forward(p->s, p->cap, t->rows, AFTER_MAPS, a->in, maps, what);
}

/* From attention's output to that of the layer. */
static void finish_layer(const struct pass *p, size_t l)
{
    struct cuda_training *t = p->t;
    const struct cuda_model *m = &t->m;
    const struct cuda_layer *at = &m->layer[l];
    struct layer *a = &t->layer[l];
    size_t d = m->width, hw = m->heads * m->head_width;
    bool last = l + 1 == m->layers;
    struct product what = {};
    what.place = l * DROPS + DROP_OUT, what.other = a->in, what.y = a->s1;
    one_map(p, AFTER_RESIDUAL, a->o, hw, d, p->w + at->out, p->w + at->out_bias, what);
    smurf_cuda_norm(p->s, p->cap, t->rows, (int)d, (float)m->norm_eps, a->s1, p->w + at->gain1, p->w + at->bias1, NULL,
                    a->norm1, a->x1);
    what = {}, what.place = l * DROPS + DROP_INNER, what.relu = m->relu, what.y = a->f, what.y2 = a->g;
    one_map(p, AFTER_ACTIVATION, a->x1, d, m->inner, p->w + at->inner, p->w + at->inner_bias, what);
    what = {}, what.place = l * DROPS + DROP_OUTER, what.other = a->x1, what.y = a->s2;
    one_map(p, AFTER_RESIDUAL, a->g, m->inner, d, p->w + at->outer, p->w + at->outer_bias, what);
    smurf_cuda_norm(p->s, p->cap, t->rows, (int)d, (float)m->norm_eps, a->s2, p->w + at->gain2, p->w + at->bias2,
                    last ? NULL : t->z, a->norm2, last ? t->h : t->layer[l + 1].in);
}

static void layers_forward(const struct pass *p)
{
    struct cuda_training *t = p->t;
    for (size_t l = 0; l < t->m.layers; l++) {
        if (!t->fused || l == 0) queries(p, l);
        smurf_cuda_attention(p->s, p->cap, t->rows, heads_of(p, l));
        if (t->fused)
            smurf_cuda_layer_forward(p->s, p->cap, t->rows, rows_of(p, l, false));
        else
            finish_layer(p, l);
    }
}

static void encoder_forward(const struct pass *p, enum cuda_part part)
{
    struct cuda_training *t = p->t;
    const struct cuda_model *m = &t->m;
    smurf_cuda_gather(p->s, p->cap, t->rows, t->events[part]);
    if (m->counts) {
        size_t most = t->sequences_most < (size_t)p->cap ? t->sequences_most : (size_t)p->cap;
        smurf_cuda_counts(p->s, (int)most, t->rows, m, t->input, t->slot, t->slot_type);
    }
    smurf_cuda_start(p->s, p->cap, t->rows, m, p->w, t->period, t->z, t->gap_h, t->layer[0].in);
    if (m->counts) {
        struct product what = {};
        what.y = t->layer[0].in;
        one_map(p, AFTER_ADD, t->input, m->count_inputs, m->width, p->w + m->counts_weight, NULL, what);
    }
    layers_forward(p);
}

static void types_forward(const struct pass *p, int backward)
{
    struct cuda_training *t = p->t;
    const struct cuda_model *m = &t->m;
    if (!m->at_truth) {
        smurf_cuda_perturbed(p->s, t->blocks, t->rows, m, t->card, p->w, backward, t->c);
        return;
    }
    struct product what = {};
    struct repeat repeat = {};
    what.y = t->c.logits;
    smurf_cuda_units(p->s, p->cap, t->rows, (int)m->width / 2, t->c);
    one_map(p, AFTER_MAPS, t->c.units, m->width / 2, m->types, p->w + m->type_w, p->w + m->type_c, what);
    if (m->counts)
        repeat = {t->slot ? t->slot : t->input + CUDA_SCALES, t->slot_type, (int)m->count_slots,
                  t->slot ? m->count_slots * CUDA_SCALES : m->count_inputs};
    smurf_cuda_types(p->s, p->cap, t->rows, (int)m->types, (float)m->smoothing, repeat, t->c);
}

static void heads_forward(const struct pass *p, int backward)
{
    struct cuda_training *t = p->t;
    const struct cuda_model *m = &t->m;
    const struct coefficients *c = &t->c;
    int d = (int)m->width, half = d / 2;
    struct maps maps = {};
    struct product what = {};
    maps.map[maps.count++] = {p->w + m->a, p->w + m->a_bias, c->a, d, 1};
    maps.map[maps.count++] = {p->w + m->b, p->w + m->b_bias, c->b, d, 0};
    maps.map[maps.count++] = {p->w + m->type_a, p->w + m->type_a_bias, c->type_a, half, 1};
    maps.map[maps.count++] = {p->w + m->type_b, p->w + m->type_b_bias, c->type_b, half, 0};
    if (m->counts) maps.map[maps.count++] = {p->w + m->repeat_v, p->w + m->repeat_v_bias, c->v, CUDA_SCALES, 0};
    if (m->ending) maps.map[maps.count++] = {p->w + m->end_w, p->w + m->end_b, c->s, 1, 0};
    what.in = d;
    smurf_cuda_forward(p->s, p->cap, t->rows, AFTER_MAPS, t->h, maps, what);
    smurf_cuda_objective(begin_beside(p), p->cap, t->rows, m, t->card, p->w, backward, *c);
    types_forward(p, backward);
    end_beside(p);
}

/* ---- Backward ------------------------------------------------------------------------------------------------- */

static void one_pair(const struct pass *p, enum after after, const float *dy, size_t k, size_t out, const float *w,
                     struct product what)
{
    struct pairs pairs = {};
    pairs.count = 1;
    pairs.pair[0] = {dy, w, (int)k};
    what.out = (int)out;
    smurf_cuda_backward(p->s, p->cap, p->t->rows, after, pairs, what);
}

static void heads_backward(const struct pass *p)
{
    struct cuda_training *t = p->t;
    const struct cuda_model *m = &t->m;
    const struct coefficients *c = &t->c;
    int d = (int)m->width, half = d / 2;
    struct pairs pairs = {};
    struct product what = {};
    if (m->at_truth) {
        what.other = c->units, what.other2 = c->type_a, what.y = c->type_db, what.y2 = c->type_da;
        one_pair(p, AFTER_UNITS, c->logits, m->types, (size_t)half, p->w + m->type_w, what);
    }
    pairs.pair[pairs.count++] = {c->da, p->w + m->a, d};
    pairs.pair[pairs.count++] = {c->db, p->w + m->b, d};
    pairs.pair[pairs.count++] = {c->type_da, p->w + m->type_a, half};
    pairs.pair[pairs.count++] = {c->type_db, p->w + m->type_b, half};
    if (m->counts) pairs.pair[pairs.count++] = {c->dv, p->w + m->repeat_v, CUDA_SCALES};
    if (m->ending) pairs.pair[pairs.count++] = {c->ds, p->w + m->end_w, 1};
    what = {}, what.out = d, what.y = t->layer[m->layers - 1].dx;
    smurf_cuda_backward(p->s, p->cap, t->rows, AFTER_BACK, pairs, what);
}

/* From the gradient of the layer's output to that of attention's. */
static void unfinish_layer(const struct pass *p, size_t l)
{
    struct cuda_training *t = p->t;
    const struct cuda_model *m = &t->m;
    const struct cuda_layer *at = &m->layer[l];
    struct layer *a = &t->layer[l];
    size_t d = m->width, hw = m->heads * m->head_width;
    struct product what = {};
    smurf_cuda_norm_back(p->s, p->cap, t->rows, (int)d, l * DROPS + DROP_OUTER, a->s2, p->w + at->gain2, a->norm2,
                         a->dx, t->ds2, a->dy2);
    what.relu = m->relu, what.place = l * DROPS + DROP_INNER, what.other = a->f, what.y = a->df;
    one_pair(p, AFTER_UNACTIVATE, a->dy2, d, m->inner, p->w + at->outer, what);
    what = {}, what.other = t->ds2, what.y = a->dx1;
    one_pair(p, AFTER_BACK, a->df, m->inner, d, p->w + at->inner, what);
    smurf_cuda_norm_back(p->s, p->cap, t->rows, (int)d, l * DROPS + DROP_OUT, a->s1, p->w + at->gain1, a->norm1, a->dx1,
                         t->ds1, a->dy1);
    what = {}, what.y = t->dout;
    one_pair(p, AFTER_BACK, a->dy1, d, hw, p->w + at->out, what);
}

/* From the gradients of queries, keys and values to that of the layer's input. */
static void unproject(const struct pass *p, size_t l)
{
    struct cuda_training *t = p->t;
    const struct cuda_layer *at = &t->m.layer[l];
    struct layer *a = &t->layer[l];
    int hw = (int)(t->m.heads * t->m.head_width);
    struct product what = {};
    struct pairs pairs = {};
    pairs.count = 3;
    pairs.pair[0] = {a->dq, p->w + at->query, hw};
    pairs.pair[1] = {a->dk, p->w + at->key, hw};
    pairs.pair[2] = {a->dv, p->w + at->value, hw};
    what.out = (int)t->m.width, what.other = t->ds1, what.y = l ? t->layer[l - 1].dx : t->dx_in;
    smurf_cuda_backward(p->s, p->cap, t->rows, AFTER_BACK, pairs, what);
}

static void layers_backward(const struct pass *p)
{
    struct cuda_training *t = p->t;
    for (size_t l = t->m.layers; l-- > 0;) {
        if (t->fused)
            smurf_cuda_layer_backward(p->s, p->cap, t->rows, rows_of(p, l, true));
        else
            unfinish_layer(p, l);
        smurf_cuda_attention_back(p->s, p->cap, t->rows, heads_of(p, l));
        if (!t->fused || l == 0) unproject(p, l);
    }
}

/* Gradients of the input's weights, and all sums over rows. */
static void sums(const struct pass *p)
{
    struct cuda_training *t = p->t;
    const struct cuda_model *m = &t->m;
    if (m->gap_feature) {
        struct product what = {};
        what.y = t->gap_dh;
        one_pair(p, AFTER_BACK, t->dx_in, m->width, m->gap_units, p->w + m->gap_table, what);
        smurf_cuda_gap_back(p->s, p->cap, t->rows, (int)m->gap_units, t->gap_h, t->gap_dh, t->gap_de);
    }
    cudaStream_t beside = begin_beside(p);
    smurf_cuda_gradients(p->s, t->rows, t->task, t->tasks, t->tiles, p->splits);
    smurf_cuda_columns(beside, t->rows, t->column, t->columns, t->column_tiles, p->splits);
    smurf_cuda_embed_gradient(beside, t->rows, m, t->dx_in, p->splits);
    end_beside(p);
    smurf_cuda_reduce(p->s, p->splits, t->slab[CUDA_GRADIENT], t->square);
}

/* Sums of the batch are taken in parts: as many for any batch of a capacity. */
static struct splits splits_of(const struct cuda_training *t, int cap)
{
    struct splits splits = t->splits;
    int most = (cap + 63) / 64;
    if (splits.count > most) splits.count = most;
    splits.each = (uint32_t)((cap + splits.count - 1) / splits.count);
    return splits;
}

void smurf_cuda_launch(struct cuda_training *t, int cap, enum cuda_part part, enum cuda_slab weights, int backward)
{
    const struct pass p = {t, t->stream, cap, t->slab[weights], splits_of(t, cap)};
    size_t squares = backward ? (t->m.total + REDUCE_BLOCK - 1) / REDUCE_BLOCK : 0;
    encoder_forward(&p, part);
    heads_forward(&p, backward);
    if (backward) {
        heads_backward(&p);
        layers_backward(&p);
        sums(&p);
    }
    smurf_cuda_result(p.s, t->rows, t->m.objective == CUDA_MLE, t->c, t->square, squares, t->loss);
}
