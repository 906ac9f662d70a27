/*
 * encoder_cache.c - see encoder_cache.h, and encoder.h for the formulas.
 *
 * Events pass through the layers as rows, one (append) or several at a time (fill): each layer stores their keys and
 * values, then each row attends to the slots up to its own. Attention does not depend on the order of slots, so a
 * bounded history is a ring buffer. In the last layer, only the row whose output is needed is computed beyond its keys
 * and values.
 */
#include "model/encoder_cache.h"

#include "model/smurf_class.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/norm.h"
#include "op/recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILL_ROWS = 128 };

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Activations of n rows. */
struct work {
    float *z, *x, *in, *s, *x1; /* (n x width) */
    float *q, *k, *v, *o;       /* (n x heads*head_width) */
    float *f;                   /* (n x inner) */
    float *gap_h;               /* (n x GAP_UNITS) */
    struct count_rows counts;
    struct clock_seen clock;
    size_t taken; /* total, in floats */
};

/* Lays out the memory; with base NULL it only counts. */
static struct work lay_out(const struct encoder_shape *s, size_t n, float *base)
{
    struct work w;
    struct workspace all = {base, 0};
    if (s->counts) w.counts = counts_take(&all, s->types, n);
    w.clock = clock_seen_take(&all, &s->clock, n);
    float **wide[] = {&w.z, &w.x, &w.in, &w.s, &w.x1}, **headed[] = {&w.q, &w.k, &w.v, &w.o};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) *wide[i] = op_take(&all, n * s->width);
    for (size_t i = 0; i < sizeof headed / sizeof *headed; i++)
        *headed[i] = op_take(&all, n * s->heads * s->head_width);
    w.f = op_take(&all, n * s->inner);
    w.gap_h = op_take(&all, s->gap_feature ? n * GAP_UNITS : 0);
    w.taken = op_taken(&all);
    return w;
}

/* n floats, aligned to cache lines; NULL if out of memory. */
static float *allocate(size_t n)
{
    if (n > (SIZE_MAX - WORKSPACE_ALIGN) / sizeof(float)) return NULL;
    return aligned_alloc(WORKSPACE_ALIGN, workspace_padded(n * sizeof(float)));
}

static smurf_status make_work(struct encoder_cache *cache, size_t rows, smurf_error *err)
{
    if (rows <= cache->rows) return SMURF_OK;
    float *work = allocate(lay_out(&cache->model->shape, rows, NULL).taken);
    if (!work) return smurf_fail_memory(err);
    free(cache->work);
    cache->work = work;
    cache->rows = rows;
    return SMURF_OK;
}

void smurf_encoder_cache_trim(struct encoder_cache *cache)
{
    float *work = cache->rows > 1 ? allocate(lay_out(&cache->model->shape, 1, NULL).taken) : NULL;
    if (!work) return;
    free(cache->work);
    cache->work = work;
    cache->rows = 1;
    cache->row = 0;
}

/* Size of a block of slots, in floats. */
static size_t block_size(const struct encoder_shape *s)
{
    return s->layers * s->heads * recall_size(s->head_width);
}

/* Slots in use. */
static size_t held(const struct encoder_cache *cache)
{
    return cache->history && cache->seen > cache->history ? cache->history : cache->seen;
}

/* Size of the blocks in use, in floats. */
static size_t store_used(const struct encoder_cache *cache)
{
    return recall_padded(held(cache)) / RECALL_BLOCK * block_size(&cache->model->shape);
}

/* Makes room for n slots: at least doubles, up to what the bound on the history needs. */
static smurf_status make_slots(struct encoder_cache *cache, size_t n, smurf_error *err)
{
    if (n <= cache->slots) return SMURF_OK;
    size_t slots = n > 2 * cache->slots ? n : 2 * cache->slots, block = block_size(&cache->model->shape);
    if (cache->history && slots > cache->history) slots = cache->history;
    if (slots > (SIZE_MAX / sizeof(float) - WORKSPACE_ALIGN) / block) return smurf_fail_memory(err);
    slots = recall_padded(slots);
    size_t size = slots / RECALL_BLOCK * block + RECALL_PAD, used = store_used(cache);
    float *store = allocate(size), *score = allocate(slots);
    if (!store || !score) {
        free(store), free(score);
        return smurf_fail_memory(err);
    }
    if (used) memcpy(store, cache->store, used * sizeof *store);
    memset(store + used, 0, (size - used) * sizeof *store);
    free(cache->store), free(cache->score);
    cache->store = store;
    cache->score = score;
    cache->slots = slots;
    return SMURF_OK;
}

size_t smurf_encoder_cache_size(const struct encoder_cache *cache)
{
    const struct encoder_shape *s = &cache->model->shape;
    size_t store = cache->slots / RECALL_BLOCK * block_size(s) + RECALL_PAD + cache->slots;
    return sizeof *cache + (store + lay_out(s, cache->rows, NULL).taken) * sizeof(float);
}

smurf_status smurf_encoder_cache_init(struct encoder_cache *cache, const struct model *model, const float *slab,
                                      size_t history, smurf_error *err)
{
    *cache = (struct encoder_cache){.model = model, .slab = slab, .history = history};
    smurf_status status = make_work(cache, 1, err);
    if (!status) status = make_slots(cache, 1, err);
    if (status) smurf_encoder_cache_release(cache);
    return status;
}

void smurf_encoder_cache_release(struct encoder_cache *cache)
{
    free(cache->store), free(cache->score), free(cache->work);
    *cache = (struct encoder_cache){0};
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* n rows in progress: events first .. first+n-1 since the cache was empty. */
struct pass {
    struct encoder_cache *cache;
    const struct encoder_shape *s;
    const struct encoder_params *at;
    struct work w;
    size_t first, n;
};

static void linear(size_t n, size_t in, size_t out, const float *x, const float *w, const float *b, float *y)
{
    if (n == 1)
        smurf_linear_row_f32(in, out, x, w, b, y);
    else
        smurf_linear_forward_f32(n, in, out, x, w, b, y);
}

static void add(size_t n, const float *a, float *x)
{
    for (size_t i = 0; i < n; i++) x[i] += a[i];
}

static void start_rows(const struct pass *p, const uint32_t *type, const double *time, const float *gap,
                       const float *further)
{
    const float *slab = p->cache->slab;
    smurf_temporal_forward_f32(p->n, p->s->width, time, p->w.z);
    smurf_embed_forward_f32(p->n, p->s->width, encoder_inputs(p->s), type, slab + p->at->embedding, p->w.x);
    if (p->s->gap_feature)
        smurf_gap_feature_forward_f32(p->n, p->s->width, GAP_UNITS, gap, slab + p->at->gap_v, slab + p->at->gap_c,
                                      slab + p->at->gap_table, p->w.gap_h, p->w.x);
    if (p->s->clock.on) {
        smurf_clock_see_f32(&p->s->clock, p->cache->base, time, 0, p->n, &p->w.clock);
        linear(p->n, clock_inputs(p->s->clock.shape), p->s->width, p->w.clock.row, slab + p->at->clock, NULL, p->w.s);
        add(p->n * p->s->width, p->w.s, p->w.x);
    }
    if (p->s->counts) {
        size_t d = p->s->width, inputs = p->w.counts.inputs;
        for (size_t i = 0; i < p->n; i++)
            smurf_counts_add_f32(&p->cache->counts, p->s->count_rate, p->s->types, type[i], time[i], &p->w.counts, i);
        linear(p->n, inputs, d, p->w.counts.input, slab + p->at->counts, NULL, p->w.s);
        add(p->n * d, p->w.s, p->w.x);
    }
    if (further) smurf_further_forward_f32(&p->s->further, p->n, p->s->width, further, slab + p->at->further, p->w.x);
}

/* Part of one head in the first block; those in later blocks are block_size apart. */
static float *part_of(const struct pass *p, size_t layer, size_t head)
{
    return p->cache->store + (layer * p->s->heads + head) * recall_size(p->s->head_width);
}

/* Stores row i's keys and values in its slot. */
static void store_row(const struct pass *p, size_t layer, size_t i)
{
    size_t history = p->cache->history, width = p->s->head_width, hw = p->s->heads * width;
    size_t slot = history ? (p->first + i) % history : p->first + i;
    size_t block = slot / RECALL_BLOCK * block_size(p->s);
    for (size_t h = 0; h < p->s->heads; h++) {
        size_t from = i * hw + h * width;
        smurf_recall_store_f32(width, part_of(p, layer, h) + block, slot % RECALL_BLOCK, p->w.k + from, p->w.v + from);
    }
}

/* in = x + z; stores keys and values of all rows. */
static void remember_rows(const struct pass *p, size_t layer)
{
    const struct encoder_layer *e = &p->at->layer[layer];
    const struct work *w = &p->w;
    size_t d = p->s->width, hw = p->s->heads * p->s->head_width;
    for (size_t i = 0; i < p->n * d; i++) w->in[i] = w->x[i] + w->z[i];
    linear(p->n, d, hw, w->in, p->cache->slab + e->key, NULL, w->k);
    linear(p->n, d, hw, w->in, p->cache->slab + e->value, NULL, w->v);
    for (size_t i = 0; i < p->n; i++) store_row(p, layer, i);
}

/* Attention of rows from `from` on: each sees the slots up to its own. */
static void attend_rows(const struct pass *p, size_t layer, size_t from)
{
    const struct encoder_cache *cache = p->cache;
    const struct work *w = &p->w;
    size_t d = p->s->width, width = p->s->head_width, hw = p->s->heads * width;
    linear(p->n - from, d, hw, w->in + from * d, cache->slab + p->at->layer[layer].query, NULL, w->q + from * hw);
    for (size_t h = 0; h < p->s->heads; h++)
        for (size_t i = from; i < p->n; i++) {
            size_t sees = p->first + i + 1, at = i * hw + h * width;
            if (cache->history && sees > cache->history) sees = cache->history;
            smurf_recall_attend_f32(sees, width, part_of(p, layer, h), block_size(p->s), w->q + at, w->o + at,
                                    cache->score);
        }
}

/* From attention's output to the layer's, x, for rows from `from` on. */
static void finish_rows(const struct pass *p, size_t layer, size_t from)
{
    const struct encoder_layer *e = &p->at->layer[layer];
    const float *slab = p->cache->slab;
    size_t n = p->n - from, d = p->s->width, hw = p->s->heads * p->s->head_width, inner = p->s->inner;
    float *s = p->w.s + from * d, *x1 = p->w.x1 + from * d, *f = p->w.f + from * inner;
    linear(n, hw, d, p->w.o + from * hw, slab + e->out, slab + e->out_bias, s);
    add(n * d, p->w.in + from * d, s);
    smurf_norm_forward_f32(n, d, NORM_EPS, s, slab + e->gain1, slab + e->bias1, x1);

    linear(n, d, inner, x1, slab + e->inner, slab + e->inner_bias, f);
    smurf_activation_forward_f32(p->s->activation, n * inner, f, f);
    linear(n, inner, d, f, slab + e->outer, slab + e->outer_bias, s);
    add(n * d, x1, s);
    smurf_norm_forward_f32(n, d, NORM_EPS, s, slab + e->gain2, slab + e->bias2, p->w.x + from * d);
}

/* Adds n events, for which there is room. Returns h of the last one. n > 1 only up to the bound on the history: a row
   must not overwrite a slot that an earlier row of the same pass still attends to. */
static const float *advance(struct encoder_cache *cache, const uint32_t *type, const double *time, const float *gap,
                            const float *further, size_t n)
{
    const struct encoder_shape *s = &cache->model->shape;
    const struct pass p = {cache, s, &smurf_offsets(cache->model)->encoder, lay_out(s, n, cache->work), cache->seen, n};
    start_rows(&p, type, time, gap, further);
    for (size_t l = 0; l < s->layers; l++) {
        size_t from = l + 1 < s->layers ? 0 : n - 1;
        remember_rows(&p, l);
        attend_rows(&p, l, from);
        finish_rows(&p, l, from);
    }
    cache->seen += n;
    cache->row = n - 1;
    return p.w.x + (n - 1) * s->width;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static smurf_status check_event(const struct encoder_cache *cache, uint32_t type, double time, smurf_error *err)
{
    if (type > cache->model->shape.types)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "type %u is not one of the model's %zu", (unsigned)type,
                          cache->model->shape.types);
    if (!isfinite(time)) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "time %g is not finite", time);
    return SMURF_OK;
}

smurf_status smurf_encoder_cache_append(struct encoder_cache *cache, uint32_t type, double time, float gap,
                                        const float **h, smurf_error *err)
{
    size_t need = cache->history && cache->seen >= cache->history ? cache->history : cache->seen + 1;
    smurf_status status = check_event(cache, type, time, err);
    if (!status) status = make_slots(cache, need, err);
    if (!status) *h = advance(cache, &type, &time, &gap, cache->further, 1);
    cache->further = NULL;
    return status;
}

smurf_status smurf_encoder_cache_fill(struct encoder_cache *cache, const uint32_t *type, const double *time,
                                      const float *gap, size_t n, const float **h, smurf_error *err)
{
    size_t start = cache->history && n > cache->history ? n - cache->history : 0;
    size_t columns = cache->model->shape.further.columns;
    const float *further = cache->further;
    cache->further = NULL;
    smurf_status status = make_work(cache, n < FILL_ROWS ? n : FILL_ROWS, err);
    for (size_t i = start; i < n && !status; i++) status = check_event(cache, type[i], time[i], err);
    if (!status) status = make_slots(cache, n - start, err);
    if (status) return status;
    smurf_encoder_cache_clear(cache);
    *h = NULL;
    for (size_t i = start; i < n; i += FILL_ROWS)
        *h = advance(cache, type + i, time + i, gap ? gap + i : NULL, further ? further + i * columns : NULL,
                     n - i < FILL_ROWS ? n - i : FILL_ROWS);
    return SMURF_OK;
}

void smurf_encoder_cache_further(struct encoder_cache *cache, const float *further)
{
    cache->further = cache->model->shape.further.columns ? further : NULL;
}

void smurf_encoder_cache_clear(struct encoder_cache *cache)
{
    cache->seen = 0;
    cache->counts = (struct counts){0};
}

smurf_status smurf_encoder_cache_copy(struct encoder_cache *to, const struct encoder_cache *from, smurf_error *err)
{
    if (to == from) return SMURF_OK;
    if (to->model != from->model || to->slab != from->slab || to->history != from->history)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the caches are not of the same model and history");
    smurf_status status = make_slots(to, held(from), err);
    if (status) return status;
    memcpy(to->store, from->store, store_used(from) * sizeof *to->store);
    to->seen = from->seen;
    to->counts = from->counts;
    to->base = from->base;
    return SMURF_OK;
}

void smurf_encoder_cache_begin(struct encoder_cache *cache, double base)
{
    cache->base = base;
}

size_t smurf_encoder_cache_seen(const struct encoder_cache *cache)
{
    return cache->seen;
}

bool smurf_encoder_cache_rewind(struct encoder_cache *cache, const struct encoder_cache *from)
{
    if (from->seen > cache->seen || (from->seen < cache->seen && cache->seen > held(cache))) return false;
    cache->seen = from->seen;
    cache->counts = from->counts;
    cache->base = from->base;
    return true;
}

void smurf_encoder_cache_repeats(const struct encoder_cache *cache, const float *h, float *out)
{
    const struct encoder_shape *s = &cache->model->shape;
    const struct repeat_params *at = &smurf_offsets(cache->model)->repeat;
    struct count_rows rows = smurf_encoder_counts_f32(s, cache->row + 1, cache->work);
    float v[COUNT_SCALES];
    smurf_linear_row_f32(s->width, COUNT_SCALES, h, cache->slab + at->v, cache->slab + at->v_bias, v);
    smurf_repeat_terms_f32(&rows, cache->row, v, out);
}

void smurf_encoder_cache_clock(const struct encoder_cache *cache, const float *h, float *out)
{
    const struct encoder_shape *s = &cache->model->shape;
    struct clock_seen seen = smurf_encoder_clock_f32(s, cache->row + 1, cache->work);
    float c[CLOCK_MOST];
    seen.utc += cache->row;
    seen.row += cache->row * clock_inputs(s->clock.shape);
    smurf_clock_head_f32(&s->clock, &smurf_offsets(cache->model)->clock, cache->slab, s->width, 0, 1, h, &seen, c, out,
                         0);
}

/* ---- As bytes -------------------------------------------------------------------------------- */

/* Size of the counts as bytes; 0: the model has none. */
static size_t counts_size(const struct encoder_cache *cache)
{
    return cache->model->shape.counts ? sizeof cache->counts : 0;
}

size_t smurf_encoder_cache_pack(const struct encoder_cache *cache, void *out)
{
    const uint64_t seen = cache->seen;
    size_t used = store_used(cache) * sizeof *cache->store, counts = counts_size(cache);
    if (out) {
        char *at = mempcpy(out, &seen, sizeof seen);
        at = mempcpy(at, &cache->counts, counts);
        memcpy(at, cache->store, used);
    }
    return sizeof seen + counts + used;
}

/* Whether counts that were read find their way in memory. */
static bool is_possible(const struct counts *c, size_t types)
{
    size_t slots = counts_slots(types);
    if (c->used > slots || (counts_have_all(types) && c->used % slots)) return false;
    for (size_t k = 0; k < c->used; k++)
        if (c->type[k] >= types) return false;
    return true;
}

smurf_status smurf_encoder_cache_unpack(struct encoder_cache *cache, const void *bytes, size_t n, size_t events,
                                        smurf_error *err)
{
    uint64_t seen = 0;
    size_t head = sizeof seen + counts_size(cache);
    struct counts counts = {0};
    if (n >= head) {
        memcpy(&seen, bytes, sizeof seen);
        memcpy(&counts, (const char *)bytes + sizeof seen, head - sizeof seen);
    }
    /* A fill counts only the events it looked at. */
    size_t least = cache->history && events > cache->history ? cache->history : events;
    struct encoder_cache as = *cache;
    as.seen = (size_t)seen;
    /* First the number of slots, each of which takes a float at least, so that nothing overflows. */
    if (n < head || seen < least || seen > events || held(&as) > n / sizeof *as.store ||
        store_used(&as) != (n - head) / sizeof *as.store || n % sizeof *as.store ||
        !is_possible(&counts, cache->model->shape.types))
        return smurf_fail(err, SMURF_ERROR_INPUT, "%zu bytes are not the keys and values of %zu events", n, events);
    smurf_status status = make_slots(cache, held(&as), err);
    if (status) return status;
    memcpy(cache->store, (const char *)bytes + head, n - head);
    cache->seen = as.seen;
    cache->counts = counts;
    return SMURF_OK;
}
