/* Compiled twice, for float and for double: see op/op.h. */
/*
 * smurf_loss.c - the loss of a batch and its gradient: encoder, coefficients, objective and type loss.
 *
 * Targets are divided into chunks that depend on their number only. Each chunk has its own gradients of the shared
 * weights (w, c and the type map), which are added in the order of chunks. Within a chunk, targets are processed one at
 * a time: points, heads, losses and gradients stay in the cache of one core.
 *
 * With setting `ending`, the loss of gaps and that of their ends are a mixture (ending.h).
 *
 * With one type point per target and many types, the type map (types x width/2) does not fit in that cache: then the
 * types of TOGETHER targets are one product, and the map is read once for all of them.
 *
 * With counts, what repeats (repeat.h) is added to the logits of a target. With a clock, the law of a target has the
 * factor of clock.h.
 */
#include "model/smurf_class.h"

#include "op/gap_head.h"
#include "op/linear.h"
#include "base/threads.h"
#include "op/type_head.h"

#include <string.h>

enum { CHUNK = 8, ROWS_CHUNK = 36, TOGETHER = 16 };

static void fill_up(real *x, size_t n, real value)
{
    for (size_t i = n; i < op_filled(n); i++) x[i] = value;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Scratch of one thread, for one target at a time; for types, one target at its points, or several at one point each.
 */
struct scratch {
    real *tau, *u, *u1, *u2, *g0, *g1, *g2; /* (points) */
    real *z;                                /* (width x points) */
    real *h, *dh;                           /* (width/2 x points), or (TOGETHER x width/2) */
    real *logits;                           /* (types x points), or (TOGETHER x types) */
    struct clock_points clock;
};

struct memory {
    real *encoder;
    struct head_coefficients c, d; /* coefficients and their gradients */
    real *s, *ds;                  /* (n) likewise, with setting `ending` */
    real *dh;                      /* (n x width) */
    struct count_rows counts;
    real *v, *dv; /* (n x COUNT_SCALES): of repeat.h, and the gradient */
    struct clock_seen clock;
    real *weight, *turned, *dturned; /* of clock.h: (n x inputs), (n x coefficients); gradient, (n x inputs) */
    real *shared;                    /* (chunks x shared size): gradients of w, c, type map */
    real *scratch;                   /* (threads x scratch size) */
    size_t shared_size, scratch_size, points;
};

/* Takes the scratch of one thread. */
static struct scratch take_scratch(struct workspace *w, const struct model *model, size_t points, bool at_truth)
{
    struct scratch k;
    size_t width = model->shape.width, type_points = at_truth || points < TOGETHER ? TOGETHER : points;
    real **vectors[] = {&k.tau, &k.u, &k.u1, &k.u2, &k.g0, &k.g1, &k.g2};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = op_take(w, points);
    k.z = op_take(w, width * points);
    k.h = op_take(w, width / 2 * type_points);
    k.dh = op_take(w, width / 2 * type_points);
    k.logits = op_take(w, model->shape.types * type_points);
    k.clock = clock_points_take(w, &model->shape.clock, points);
    return k;
}

/* Returns the number of reals used; with base NULL it only counts. */
static size_t lay_out(struct memory *m, const struct model *model, const struct loss_config *config, size_t n,
                      int threads, real *base)
{
    size_t d = model->shape.width, half = d / 2, types = model->shape.types;
    struct workspace w = {base, 0}, one = {NULL, 0};
    const struct clock *clock = &model->shape.clock;
    size_t points = objective_points(&config->objective), rhythm = clock->on ? n * clock_inputs(clock->shape) : 0;
    bool ending = model->shape.ending;
    if (ending && objective_points(&config->likelihood) > points) points = objective_points(&config->likelihood);
    *m = (struct memory){.points = op_filled(points + 1)};
    m->encoder = op_take(&w, encoder_memory(&model->shape, n, threads));
    struct head_coefficients *both[] = {&m->c, &m->d};
    for (int i = 0; i < 2; i++) {
        both[i]->a = op_take(&w, n * d);
        both[i]->b = op_take(&w, n * d);
        both[i]->type_a = op_take(&w, n * half);
        both[i]->type_b = op_take(&w, n * half);
    }
    m->s = op_take(&w, ending ? n : 0);
    m->ds = op_take(&w, ending ? n : 0);
    m->dh = op_take(&w, n * d);
    if (model->shape.counts) {
        m->counts = encoder_counts(&model->shape, n, m->encoder);
        m->v = op_take(&w, n * COUNT_SCALES);
        m->dv = op_take(&w, n * COUNT_SCALES);
    }
    m->clock = encoder_clock(&model->shape, n, m->encoder);
    m->weight = op_take(&w, rhythm);
    m->turned = op_take(&w, n * clock_coefficients(clock));
    m->dturned = op_take(&w, rhythm);
    m->shared_size = (d + 1 + types * half + types + 15) & ~(size_t)15;
    m->shared = op_take(&w, TARGET_CHUNKS * m->shared_size);
    take_scratch(&one, model, m->points, config->type_at_truth);
    m->scratch_size = op_taken(&one);
    m->scratch = op_take(&w, (size_t)threads * m->scratch_size);
    return op_taken(&w);
}

size_t smurf_loss_memory(const struct model *model, const struct loss_config *config, size_t n, int threads)
{
    struct memory m;
    return lay_out(&m, model, config, n, threads, NULL);
}

/* ---- One target ------------------------------------------------------------------------------ */

/* Shared by all targets of a batch. */
struct pass {
    const struct op_run *run;
    const struct model *model;
    const struct head_params *head;
    const struct ending_params *end;
    const struct repeat_params *repeat;
    const struct clock_params *clock;
    const struct objective_class *objective;
    const struct loss_config *config;
    const real *slab;
    struct memory *m;
    bool backward;
};

/* Gradients of the shared weights, contiguous: w, c, type map, type bias. */
struct shared {
    real *w, *c, *type_w, *type_c;
};

static struct shared shared_of(const struct pass *p, real *base)
{
    size_t d = p->model->shape.width, types = p->model->shape.types;
    return (struct shared){base, base + d, base + d + 1, base + d + 1 + types * (d / 2)};
}

/* The loss of a target and of its end, given that of its gap: Lambda, if it is censored; and the derivative by that. */
static double with_end(const struct pass *p, const struct target *t, double gap, double *by_gap)
{
    double by_s, s = (double)p->m->s[t->row], out;
    *by_gap = 1;
    out = t->censored ? ending_none(s, gap, &by_s, by_gap) : gap + ending_event(s, &by_s);
    if (p->backward) p->m->ds[t->row] = (real)(p->config->alpha * by_s);
    return out;
}

/* The integral of the intensity of a target's law up to y, with a clock: the likelihood of no event until then. */
static double clocked_compensator(const struct pass *p, const struct target *t, const struct ending_head *head,
                                  double y, const struct scratch *k)
{
    const struct objective_config *config = &p->config->likelihood;
    const struct clock *clock = &p->model->shape.clock;
    const struct target none = {.row = t->row, .gap = y, .censored = true};
    size_t n = config->class->count(config, &none);
    config->class->place(config, p->run, &none, n, k->tau);
    fill_up(k->tau, n, k->tau[n - 1]);
    gap_head_forward(0, head->width, head->a, head->b, head->w, head->c, k->tau, op_filled(n), k->z, k->u, NULL, NULL);
    clock_factor(clock, 0, p->m->turned + t->row * clock_coefficients(clock), n, k->tau, &k->clock);
    return config->class->clocked(config, &none, n, k->tau, k->u, NULL, NULL, k->g0, NULL, NULL, &k->clock);
}

/* A censored target of an objective that does not use it: S0 is held constant. */
static void end_alone(const struct pass *p, const struct target *t, const struct scratch *k, struct loss *out)
{
    size_t d = p->model->shape.width;
    const struct ending_head head = {d, (const real *)p->m->c.a + t->row * d, (const real *)p->m->c.b + t->row * d,
                                     p->slab + p->head->w, p->slab[p->head->c]};
    double by_gap, gap;
    if (p->model->shape.clock.on)
        gap = ending_normalised(clocked_compensator(p, t, &head, t->gap, k),
                                clocked_compensator(p, t, &head, p->config->high, k));
    else
        gap = ending_compensator(&p->config->likelihood, &head, p->config->high, t->gap, k->tau, k->u, k->z);
    out->time += with_end(p, t, gap, &by_gap);
    out->gaps++;
}

/* The loss of a gap whose law has a clock. */
static double clocked_loss(const struct pass *p, const struct target *t, const struct scratch *k, size_t n)
{
    const struct objective_config *config = &p->config->objective;
    const struct clock *clock = &p->model->shape.clock;
    clock_factor(clock, p->objective->order(config), p->m->turned + t->row * clock_coefficients(clock), n, k->tau,
                 &k->clock);
    return p->objective->clocked(config, t, n, k->tau, k->u, k->u1, k->u2, k->g0, k->g1, k->g2, &k->clock);
}

static void clock_back(const struct pass *p, const struct target *t, const struct scratch *k, size_t n, real factor)
{
    const struct clock *clock = &p->model->shape.clock;
    int order = p->objective->order(&p->config->objective);
    for (size_t i = 0; i < n; i++) k->clock.g0[i] *= factor;
    for (size_t i = 0; order >= 1 && i < n; i++) k->clock.g1[i] *= factor;
    for (size_t i = 0; order >= 2 && i < n; i++) k->clock.g2[i] *= factor;
    clock_factor_back(clock, order, n, &k->clock, p->m->dturned + t->row * clock_inputs(clock->shape));
}

static void time_loss(const struct pass *p, const struct target *t, const struct scratch *k, size_t n,
                      const struct shared *g, struct loss *out)
{
    const struct objective_config *config = &p->config->objective;
    size_t d = p->model->shape.width;
    const real *a = (const real *)p->m->c.a + t->row * d, *b = (const real *)p->m->c.b + t->row * d;
    const real *w = p->slab + p->head->w;
    int order = p->objective->order(config);
    bool clock = p->model->shape.clock.on;
    gap_head_forward(order, d, a, b, w, p->slab[p->head->c], k->tau, op_filled(n), k->z, k->u, k->u1, k->u2);
    double by_time = 1, loss = clock
                                   ? clocked_loss(p, t, k, n)
                                   : p->objective->loss(config, t, n, k->tau, k->u, k->u1, k->u2, k->g0, k->g1, k->g2);
    out->time += p->model->shape.ending ? with_end(p, t, loss, &by_time) : loss;
    if (!p->backward) return;
    const real alpha = (real)(p->config->alpha * by_time);
    for (size_t i = 0; i < n; i++) k->g0[i] *= alpha;
    for (size_t i = 0; order >= 1 && i < n; i++) k->g1[i] *= alpha;
    for (size_t i = 0; order >= 2 && i < n; i++) k->g2[i] *= alpha;
    if (clock) clock_back(p, t, k, n, alpha);
    fill_up(k->g0, n, 0);
    fill_up(k->g1, n, 0);
    fill_up(k->g2, n, 0);
    gap_head_backward(order, d, a, b, w, k->tau, op_filled(n), k->z, k->g0, k->g1, k->g2,
                      (real *)p->m->d.a + t->row * d, (real *)p->m->d.b + t->row * d, g->w, g->c);
}

/* Adds what repeats to the logits (types x n) of a target; and its gradient from theirs. */
static void add_repeats(const struct pass *p, const struct target *t, size_t n, real *logits)
{
    if (p->m->v) repeat_add(&p->m->counts, t->row, p->m->v + t->row * COUNT_SCALES, n, logits);
}

static void repeats_back(const struct pass *p, const struct target *t, size_t n, const real *g)
{
    if (p->m->v) repeat_back(&p->m->counts, t->row, n, g, p->m->dv + t->row * COUNT_SCALES);
}

static void type_loss(const struct pass *p, const struct target *t, const struct scratch *k, size_t n,
                      const struct shared *g, struct loss *out)
{
    size_t all = n > 1 ? op_filled(n) : 1;
    size_t half = p->model->shape.width / 2, types = p->model->shape.types;
    const struct head_params *at = p->head;
    const real *a = (const real *)p->m->c.type_a + t->row * half, *b = (const real *)p->m->c.type_b + t->row * half;
    double right;
    type_head_forward(types, half, a, b, p->slab + at->type_w, p->slab + at->type_c, k->tau, all, k->h, k->logits);
    add_repeats(p, t, all, k->logits);
    out->type += type_head_loss(types, all, n, t->type, p->config->smoothing, 1, k->logits, &right);
    out->right += right;
    out->typed++;
    if (!p->backward) return;
    repeats_back(p, t, all, k->logits);
    type_head_backward(types, half, a, p->slab + at->type_w, k->tau, all, k->h, k->logits, k->dh,
                       (real *)p->m->d.type_a + t->row * half, (real *)p->m->d.type_b + t->row * half, g->type_w,
                       g->type_c);
}

/* Whether types are evaluated at the observed gap alone. */
static bool at_truth(const struct pass *p)
{
    return !p->objective->perturbed || p->config->type_at_truth;
}

static void one_target(const struct pass *p, const struct target *t, const struct scratch *k, const struct shared *g,
                       struct loss *out)
{
    if (t->censored && !p->objective->censored) {
        if (p->model->shape.ending) end_alone(p, t, k, out);
        return;
    }
    size_t n = p->objective->count(&p->config->objective, t);
    p->objective->place(&p->config->objective, p->run, t, n, k->tau);
    fill_up(k->tau, n, k->tau[n - 1]);
    time_loss(p, t, k, n, g, out);
    out->gaps++;
    if (t->censored) return;
    if (at_truth(p)) {
        if (p->model->shape.types >= TYPES_MANY) return; /* done later, together with others */
        k->tau[0] = (real)t->gap;
        n = 1;
    }
    type_loss(p, t, k, n, g, out);
}

/* ---- The types of several targets, at one point each ----------------------------------------- */

/* From the gradient of the units h (m x width/2) to that of a and b. */
static void units_back(const struct pass *p, const struct target *const *t, const struct scratch *k, size_t m)
{
    size_t half = p->model->shape.width / 2;
    for (size_t j = 0; j < m; j++) {
        real *da = (real *)p->m->d.type_a + t[j]->row * half, *db = (real *)p->m->d.type_b + t[j]->row * half;
        for (size_t i = 0; i < half; i++) {
            real h = k->h[j * half + i];
            db[i] = k->dh[j * half + i] * (1 - h * h);
            da[i] = db[i] * (real)t[j]->gap;
        }
    }
}

/* Targets t[0 .. m-1], m <= TOGETHER. Arrays here are ordered by target. */
static void type_losses(const struct pass *p, const struct target *const *t, size_t m, const struct scratch *k,
                        const struct shared *g, struct loss *out)
{
    size_t half = p->model->shape.width / 2, types = p->model->shape.types;
    const real *w = p->slab + p->head->type_w, *c = p->slab + p->head->type_c;
    for (size_t j = 0; j < m; j++) {
        size_t row = t[j]->row * half;
        const real *a = (const real *)p->m->c.type_a + row, *b = (const real *)p->m->c.type_b + row;
        type_head_units(half, a, b, (real)t[j]->gap, k->h + j * half);
    }
    linear_forward(m, half, types, k->h, w, c, k->logits);
    for (size_t j = 0; j < m; j++) {
        double right;
        add_repeats(p, t[j], 1, k->logits + j * types);
        out->type += type_head_loss(types, 1, 1, t[j]->type, p->config->smoothing, 1, k->logits + j * types, &right);
        out->right += right;
        out->typed++;
        if (p->backward) repeats_back(p, t[j], 1, k->logits + j * types);
    }
    if (!p->backward) return;
    linear_backward(m, half, types, k->logits, w, 0, k->dh);
    linear_gradient(m, half, types, k->h, k->logits, 0, types, g->type_w, g->type_c);
    units_back(p, t, k, m);
}

static void many_types(const struct pass *p, const struct target *t, size_t n, const struct scratch *k,
                       const struct shared *g, struct loss *out)
{
    const struct target *some[TOGETHER];
    size_t m = 0;
    for (size_t i = 0; i < n && !(i % TOGETHER == 0 && op_stopped(p->run)); i++) {
        if (!t[i].censored) some[m++] = &t[i];
        if (m == TOGETHER || (m && i + 1 == n)) type_losses(p, some, m, k, g, out), m = 0;
    }
}

/* ---- The batch ------------------------------------------------------------------------------- */

static struct loss all_targets(const struct pass *p, const struct batch *batch)
{
    struct memory *m = p->m;
    size_t chunks = target_chunks(batch->targets, CHUNK), types = p->model->shape.types;
    struct loss part[TARGET_CHUNKS] = {{0}}, sum = {0};
    if (p->backward) memset(m->shared, 0, chunks * m->shared_size * sizeof *m->shared);
#pragma omp parallel for schedule(static) num_threads(p->run->threads)
    for (size_t c = 0; c < chunks; c++) {
        struct workspace own = {m->scratch + smurf_thread_number() * m->scratch_size, 0};
        struct scratch scratch = take_scratch(&own, p->model, m->points, p->config->type_at_truth);
        struct shared shared = shared_of(p, m->shared + c * m->shared_size);
        size_t from = op_chunk_start(batch->targets, chunks, c), to = op_chunk_start(batch->targets, chunks, c + 1);
        for (size_t i = from; i < to && !(i % 16 == 0 && op_stopped(p->run)); i++)
            one_target(p, &batch->target[i], &scratch, &shared, &part[c]);
        if (types >= TYPES_MANY && at_truth(p))
            many_types(p, batch->target + from, to - from, &scratch, &shared, &part[c]);
    }
    for (size_t c = 0; c < chunks; c++) loss_add(&sum, &part[c]);
    return sum;
}

/* Adds the chunks' gradients of the shared weights, in order. */
static void add_shared(const struct pass *p, size_t targets, real *grad)
{
    const struct head_params *at = p->head;
    size_t d = p->model->shape.width, types = p->model->shape.types;
    for (size_t c = 0; c < target_chunks(targets, CHUNK); c++) {
        struct shared s = shared_of(p, p->m->shared + c * p->m->shared_size);
        for (size_t i = 0; i < d; i++) grad[at->w + i] += s.w[i];
        grad[at->c] += *s.c;
        for (size_t i = 0; i < types * (d / 2); i++) grad[at->type_w + i] += s.type_w[i];
        for (size_t i = 0; i < types; i++) grad[at->type_c + i] += s.type_c[i];
    }
}

/* From the gradients of the coefficients to those of the encoder's output and of the four maps. */
static void through_head(const struct pass *p, size_t n, const real *h, real *grad)
{
    struct memory *m = p->m;
    size_t d = p->model->shape.width, chunks = op_chunks(n, ROWS_CHUNK);
#pragma omp parallel for schedule(static) num_threads(p->run->threads)
    for (size_t c = 0; c < chunks; c++) {
        size_t i0 = op_chunk_start(n, chunks, c), i1 = op_chunk_start(n, chunks, c + 1);
        head_backward(p->head, p->slab, d, i0, i1 - i0, &m->c, &m->d, m->dh);
        if (m->v)
            linear_backward(i1 - i0, d, COUNT_SCALES, m->dv + i0 * COUNT_SCALES, p->slab + p->repeat->v, 1,
                            m->dh + i0 * d);
    }
    if (p->model->shape.ending) ending_backward(p->end, p->slab, d, n, h, m->ds, m->dh, grad);
    if (p->model->shape.clock.on)
        clock_head_back(&p->model->shape.clock, p->clock, p->slab, d, n, h, &m->clock, m->weight, m->dturned, m->dh,
                        grad);
#pragma omp parallel for schedule(dynamic) num_threads(p->run->threads)
    for (int which = 0; which < 4; which++) head_gradient(p->head, d, n, which, h, &m->d, grad);
    if (m->v)
        linear_gradient(n, d, COUNT_SCALES, h, m->dv, 0, COUNT_SCALES, grad + p->repeat->v, grad + p->repeat->v_bias);
}

struct loss smurf_loss(const struct op_run *run, const struct model *model, const struct loss_config *config,
                       const real *slab, const struct batch *batch, real *memory, real *grad)
{
    struct memory m;
    const struct smurf_offsets *at = smurf_offsets(model);
    size_t n = batch->input.n, d = model->shape.width, chunks = op_chunks(n, ROWS_CHUNK);
    lay_out(&m, model, config, n, run->threads, memory);
    const struct pass p = {run,    model, &at->head, &at->end,    &at->repeat, &at->clock, config->objective.class,
                           config, slab,  &m,        grad != NULL};
    const real *h = encoder_forward(run, &model->shape, &at->encoder, slab, &batch->input, m.encoder);
    if (op_stopped(run)) return (struct loss){0};
#pragma omp parallel for schedule(static) num_threads(run->threads)
    for (size_t c = 0; c < chunks; c++) {
        size_t i0 = op_chunk_start(n, chunks, c), i1 = op_chunk_start(n, chunks, c + 1);
        head_forward(&at->head, slab, d, i0, i1 - i0, h, &m.c);
        if (m.v)
            linear_forward(i1 - i0, d, COUNT_SCALES, h + i0 * d, slab + at->repeat.v, slab + at->repeat.v_bias,
                           m.v + i0 * COUNT_SCALES);
    }
    if (model->shape.ending) ending_forward(&at->end, slab, d, n, h, m.s);
    if (model->shape.clock.on)
        clock_head(&model->shape.clock, &at->clock, slab, d, 0, n, h, &m.clock, m.weight, m.turned,
                   clock_coefficients(&model->shape.clock));
    if (grad) { /* rows without a target have no gradient */
        if (model->shape.ending) memset(m.ds, 0, n * sizeof(real));
        memset(m.d.a, 0, n * d * sizeof(real));
        memset(m.d.b, 0, n * d * sizeof(real));
        memset(m.d.type_a, 0, n * (d / 2) * sizeof(real));
        memset(m.d.type_b, 0, n * (d / 2) * sizeof(real));
        if (m.v) memset(m.dv, 0, n * COUNT_SCALES * sizeof(real));
        if (model->shape.clock.on) memset(m.dturned, 0, n * clock_inputs(model->shape.clock.shape) * sizeof(real));
    }
    struct loss sum = all_targets(&p, batch);
    if (!grad || op_stopped(run)) return sum;
    add_shared(&p, batch->targets, grad);
    through_head(&p, n, h, grad);
    encoder_backward(run, &model->shape, &at->encoder, slab, &batch->input, m.encoder, m.dh, grad);
    return sum;
}
