/*
 * layout.cu - where a session's arrays are in the card's memory, and which gradients are sums over rows of which
 * arrays.
 */
#include "cuda/session.cuh"

#include <stdlib.h>

/* ---- Memory ------------------------------------------------------------------------------------------- */

struct place {
    char *base;
    size_t used;
};

template <typename T> static void take(struct place *p, T **out, size_t n)
{
    *out = p->base ? (T *)(p->base + p->used) : NULL;
    p->used += (n * sizeof(T) + 255) & ~(size_t)255;
}

static void take_layer(struct place *p, const struct cuda_model *m, struct layer *l, size_t n)
{
    size_t d = m->width, hw = m->heads * m->head_width;
    take(p, &l->in, n * d), take(p, &l->q, n * hw), take(p, &l->k, n * hw), take(p, &l->v, n * hw);
    take(p, &l->o, n * hw), take(p, &l->lse, n * m->heads), take(p, &l->s1, n * d), take(p, &l->x1, n * d);
    take(p, &l->f, n * m->inner), take(p, &l->g, n * m->inner), take(p, &l->s2, n * d);
    take(p, &l->norm1.mean, n), take(p, &l->norm1.inverse, n), take(p, &l->norm2.mean, n);
    take(p, &l->norm2.inverse, n);
    take(p, &l->dx, n * d), take(p, &l->dx1, n * d), take(p, &l->dy1, n * d), take(p, &l->dy2, n * d);
    take(p, &l->df, n * m->inner), take(p, &l->dq, n * hw), take(p, &l->dk, n * hw), take(p, &l->dv, n * hw);
}

static void take_heads(struct place *p, const struct cuda_training *t, struct coefficients *c, size_t n)
{
    const struct cuda_model *m = &t->m;
    size_t d = m->width, half = d / 2;
    take(p, &c->a, n * d), take(p, &c->b, n * d), take(p, &c->type_a, n * half), take(p, &c->type_b, n * half);
    take(p, &c->da, n * d), take(p, &c->db, n * d), take(p, &c->type_da, n * half), take(p, &c->type_db, n * half);
    take(p, &c->gw, n * d), take(p, &c->gc, n);
    take(p, &c->time, n), take(p, &c->type_loss, n), take(p, &c->right, n);
    if (m->ending) take(p, &c->s, n), take(p, &c->ds, n);
    if (m->counts) take(p, &c->v, n * CUDA_SCALES), take(p, &c->dv, n * CUDA_SCALES);
    if (m->at_truth)
        take(p, &c->units, n * half), take(p, &c->logits, n * m->types);
    else
        take(p, &c->type_part, (size_t)t->blocks * (m->types * half + m->types));
}

static void take_rows(struct place *p, struct rows *r, size_t n)
{
    take(p, &r->type, n), take(p, &r->start, n), take(p, &r->end, n), take(p, &r->id, n), take(p, &r->time, n);
    take(p, &r->gap, n), take(p, &r->target, n), take(p, &r->target_type, n), take(p, &r->target_gap, n);
    take(p, &r->target_limit, n), take(p, &r->target_id, n);
}

/* At most 2^26 floats of splits. */
static int splits_most(const struct cuda_training *t)
{
    size_t fit = ((size_t)1 << 26) / t->m.total, rows = (t->rows_most + 63) / 64;
    if (fit > SPLITS_MOST) fit = SPLITS_MOST;
    if (fit > rows) fit = rows;
    return fit ? (int)fit : 1;
}

size_t smurf_cuda_lay_out(struct cuda_training *t, char *base)
{
    const struct cuda_model *m = &t->m;
    struct place p = {base, 0};
    size_t n = t->rows_most, d = m->width, hw = m->heads * m->head_width, total = m->total;
    size_t run = (sizeof(struct run) + 63) & ~(size_t)63, sequences = t->sequences_most;
    t->header_bytes = run + sequences * sizeof(uint64_t) + (sequences + 1) * sizeof(uint32_t);
    take(&p, &t->header, t->header_bytes);
    if (base) {
        t->rows.run = (const struct run *)t->header;
        t->rows.first = (uint64_t *)(t->header + run);
        t->rows.offset = (uint32_t *)(t->rows.first + sequences);
    }
    take(&p, &t->card, 1), take(&p, &t->loss, 1), take(&p, &t->period, d / 2 + 1);
    for (int s = 0; s < CUDA_SLABS; s++)
        if (s != CUDA_AVERAGE || t->average) take(&p, &t->slab[s], total);
    t->splits.count = splits_most(t);
    t->splits.total = total;
    take(&p, &t->splits.slab, (size_t)t->splits.count * total);
    take(&p, &t->square, (total + REDUCE_BLOCK - 1) / REDUCE_BLOCK);
    take(&p, &t->task, (size_t)t->tasks), take(&p, &t->column, (size_t)t->columns);
    take_rows(&p, &t->rows, n);
    for (size_t l = 0; l < m->layers; l++) take_layer(&p, m, &t->layer[l], n);
    take(&p, &t->z, n * d), take(&p, &t->h, n * d);
    take(&p, &t->ds2, n * d), take(&p, &t->ds1, n * d), take(&p, &t->dout, n * hw), take(&p, &t->delta, n * m->heads);
    take(&p, &t->dx_in, n * d);
    if (m->gap_feature)
        take(&p, &t->gap_h, n * m->gap_units), take(&p, &t->gap_dh, n * m->gap_units),
            take(&p, &t->gap_de, n * m->gap_units);
    if (m->counts) {
        take(&p, &t->input, n * m->count_inputs);
        if (m->count_inputs == CUDA_SCALES && m->types > 0)
            take(&p, &t->slot, n * m->count_slots * CUDA_SCALES), take(&p, &t->slot_type, n * m->count_slots);
    }
    take_heads(&p, t, &t->c, n);
    return p.used;
}

/* ---- Sums over rows -------------------------------------------------------------------------------------- */

enum { TASKS_MOST = 6 * CUDA_LAYERS + 10, COLUMNS_MOST = 5 * CUDA_LAYERS + 16 };

struct lists {
    struct gradient_task task[TASKS_MOST];
    struct column_task column[COLUMNS_MOST];
    int tasks, tiles, columns, column_tiles;
};

static void product_of(struct lists *l, const float *dy, const float *x, size_t out, size_t in, size_t to)
{
    l->task[l->tasks++] = {dy, x, (int)out, (int)in, to, l->tiles};
    l->tiles += smurf_cuda_gradient_tiles((int)out, (int)in);
}

static void add_column(struct lists *l, struct column_task c)
{
    c.tile = l->column_tiles;
    l->column[l->columns++] = c;
    l->column_tiles += smurf_cuda_column_tiles(c.n);
}

static void sum_of(struct lists *l, const float *x, size_t n, size_t to)
{
    struct column_task c = {};
    c.x = x, c.n = c.ld = (int)n, c.to = to;
    add_column(l, c);
}

static void norm_of(struct lists *l, const float *dy, const float *x, struct moments m, size_t n, size_t gain,
                    size_t bias)
{
    struct column_task c = {};
    c.x = x, c.dy = dy, c.mean = m.mean, c.inverse = m.inverse, c.n = c.ld = (int)n, c.to = bias, c.gain = gain;
    add_column(l, c);
}

static void map_of(struct lists *l, const float *dy, const float *x, size_t out, size_t in, size_t w, size_t bias)
{
    product_of(l, dy, x, out, in, w);
    sum_of(l, dy, out, bias);
}

static void list_layer(struct lists *l, const struct cuda_training *t, size_t i)
{
    const struct cuda_model *m = &t->m;
    const struct cuda_layer *at = &m->layer[i];
    const struct layer *a = &t->layer[i];
    size_t d = m->width, hw = m->heads * m->head_width;
    product_of(l, a->dq, a->in, hw, d, at->query);
    product_of(l, a->dk, a->in, hw, d, at->key);
    product_of(l, a->dv, a->in, hw, d, at->value);
    map_of(l, a->dy1, a->o, d, hw, at->out, at->out_bias);
    map_of(l, a->df, a->x1, m->inner, d, at->inner, at->inner_bias);
    map_of(l, a->dy2, a->g, d, m->inner, at->outer, at->outer_bias);
    norm_of(l, a->dx1, a->s1, a->norm1, d, at->gain1, at->bias1);
    norm_of(l, a->dx, a->s2, a->norm2, d, at->gain2, at->bias2);
}

static void list_heads(struct lists *l, const struct cuda_training *t)
{
    const struct cuda_model *m = &t->m;
    const struct coefficients *c = &t->c;
    size_t d = m->width, half = d / 2;
    map_of(l, c->da, t->h, d, d, m->a, m->a_bias);
    map_of(l, c->db, t->h, d, d, m->b, m->b_bias);
    map_of(l, c->type_da, t->h, half, d, m->type_a, m->type_a_bias);
    map_of(l, c->type_db, t->h, half, d, m->type_b, m->type_b_bias);
    sum_of(l, c->gw, d, m->w);
    sum_of(l, c->gc, 1, m->c);
    if (m->counts) map_of(l, c->dv, t->h, CUDA_SCALES, d, m->repeat_v, m->repeat_v_bias);
    if (m->ending) map_of(l, c->ds, t->h, 1, d, m->end_w, m->end_b);
    if (m->at_truth) {
        map_of(l, c->logits, c->units, m->types, half, m->type_w, m->type_c);
        return;
    }
    struct column_task part = {};
    part.x = c->type_part, part.n = (int)(m->types * half), part.ld = (int)(m->types * half + m->types);
    part.rows = (uint32_t)t->blocks, part.to = m->type_w;
    add_column(l, part);
    part.x += part.n, part.n = (int)m->types, part.to = m->type_c;
    add_column(l, part);
}

static void list_all(struct lists *l, const struct cuda_training *t)
{
    const struct cuda_model *m = &t->m;
    l->tasks = l->tiles = l->columns = l->column_tiles = 0;
    for (size_t i = 0; i < m->layers; i++) list_layer(l, t, i);
    list_heads(l, t);
    if (m->gap_feature) {
        product_of(l, t->dx_in, t->gap_h, m->width, m->gap_units, m->gap_table);
        sum_of(l, t->gap_dh, m->gap_units, m->gap_v);
        sum_of(l, t->gap_de, m->gap_units, m->gap_c);
    }
    if (m->counts) product_of(l, t->dx_in, t->input, m->width, m->count_inputs, m->counts_weight);
}

int smurf_cuda_list(struct cuda_training *t)
{
    struct lists *l = (struct lists *)malloc(sizeof *l);
    if (!l) return 1;
    list_all(l, t);
    t->tasks = l->tasks, t->tiles = l->tiles, t->columns = l->columns, t->column_tiles = l->column_tiles;
    int failed = 0;
    if (t->memory)
        failed = cudaMemcpy(t->task, l->task, (size_t)l->tasks * sizeof *l->task, cudaMemcpyHostToDevice) ||
                 cudaMemcpy(t->column, l->column, (size_t)l->columns * sizeof *l->column, cudaMemcpyHostToDevice);
    free(l);
    return failed;
}
