/* model_predictor.c - see model_predictor.h. */
#include "forecast/model_predictor.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- One law --------------------------------------------------------------------------------- */

double smurf_model_noise(const smurf_settings *settings)
{
    const struct objective_class *objective = smurf_objective_named_f32(settings->objective);
    /* A clock is learned without noise: Tweedie's step along its slopes would be wrong. */
    return objective->noise && !settings->wall_clock ? objective->noise(settings) : 0;
}

smurf_status smurf_law_workspace_init(struct law_workspace *workspace, const smurf_model *model, smurf_error *err)
{
    *workspace = (struct law_workspace){.model = model,
                                        .sigma = smurf_model_noise(&model->config),
                                        .mass = smurf_objective_named_f32(model->config.objective)->mass};
    workspace->memory = malloc(model->model.class->law_memory(&model->model));
    workspace->type_rows = model->types < 10000 ? TYPE_POINTS : 8;
    workspace->type_room = malloc(workspace->type_rows * model->types * sizeof *workspace->type_room);
    workspace->naive_share = malloc(POOL_TYPES * model->types * sizeof *workspace->naive_share);
    smurf_status status = smurf_exact_init(&workspace->exact, err);
    if (!status && (!workspace->memory || !workspace->type_room || !workspace->naive_share))
        status = smurf_fail_memory(err);
    if (status) smurf_law_workspace_release(workspace);
    return status;
}

void smurf_law_workspace_release(struct law_workspace *workspace)
{
    free(workspace->memory);
    free(workspace->type_room);
    free(workspace->naive_share);
    smurf_exact_release(&workspace->exact);
    *workspace = (struct law_workspace){0};
}

/* Used when coefficients are not finite: all values are NaN. */
static void no_number(const void *self, const double *in, double *out, size_t n)
{
    (void)self, (void)in;
    for (size_t i = 0; i < n; i++) out[i] = NAN;
}

static size_t no_knots(const void *self, double *out)
{
    (void)self;
    out[0] = 0;
    out[1] = 1;
    return 2;
}

static const struct dist_class no_law = {
    .name = "none", .cdf = no_number, .density = no_number, .quantile = no_number, .knots = no_knots};

bool smurf_law_workspace_set(struct law_workspace *workspace, const float *c)
{
    const smurf_model *m = workspace->model;
    workspace->built = workspace->stepped = workspace->shared = false;
    workspace->past = NULL;
    workspace->finite = true;
    workspace->c = c;
    workspace->law = m->model.class->law(&m->model, m->slab, c, m->low, m->high, workspace->memory);
    for (size_t i = m->model.class->coefficients(&m->model); i > 0; i--)
        workspace->finite = workspace->finite && isfinite(c[i - 1]);
    return workspace->finite;
}

void smurf_law_workspace_pool(struct law_workspace *workspace, const struct pool_state *past)
{
    workspace->past = past && past->pool ? past : NULL;
}

/* The pool of a law with the naive one. */
static struct dist pool(struct law_workspace *workspace, struct dist dist)
{
    const struct pool_state *past = workspace->past;
    if (!past || !past->pool->law) return dist;
    double gap[PAST_LAW];
    if (!workspace->stepped)
        smurf_steps(&workspace->steps, gap, smurf_pool_gaps(past, past->pool->law, gap), workspace->model->notes.tick);
    workspace->stepped = true;
    return smurf_pooled(&workspace->pooled, dist, smurf_steps_dist(&workspace->steps), past->pool->weight);
}

/* The table of the current law. */
static void build(struct law_workspace *workspace)
{
    if (workspace->built) return;
    smurf_exact_build(&workspace->exact, &workspace->law, workspace->mass);
    if (workspace->sigma > 0)
        smurf_tweedie_apply(&workspace->exact, &workspace->law, workspace->sigma,
                            workspace->model->config.multiplicative);
    workspace->built = true;
}

struct dist smurf_law_workspace_dist(struct law_workspace *workspace, int raw)
{
    const smurf_model *m = workspace->model;
    if (!workspace->finite) return (struct dist){&no_law, NULL};
    build(workspace);
    struct dist dist = smurf_scaled(&workspace->scaled, &workspace->exact, &m->view.scale, &m->notes.tail);
    if (raw) return dist;
    dist = pool(workspace, dist);
    if (!m->notes.calibration.recalibrated) return dist;
    return smurf_recalibrated(&workspace->recalibrated, dist, &m->notes.map);
}

_Static_assert((int)BLEND_LAWS == (int)POOL_TYPES, "the fitted pool, then the naive laws");

void smurf_law_workspace_blend(struct law_workspace *workspace, const struct blend *blend)
{
    workspace->blend = blend;
}

void smurf_model_blend(const smurf_model *model, struct blend *out)
{
    const struct pool *pool = model->notes.pool;
    unsigned there = 1;
    for (enum pool_types t = POOL_MARKOV; t < POOL_TYPES && pool; t++)
        if (smurf_pool_has_types(pool, t)) there |= 1u << t;
    smurf_blend_init(out, pool ? pool->type_follow : 0, there);
}

/* The naive laws that the pool knows, which are those that it uses. */
static const double *naive_shares(struct law_workspace *workspace, enum pool_types types)
{
    const struct pool_state *past = workspace->past;
    size_t n = workspace->model->types;
    for (enum pool_types t = POOL_MARKOV; t < POOL_TYPES && !workspace->shared; t++)
        if (smurf_pool_has_types(past->pool, t)) smurf_pool_shares(past, t, workspace->naive_share + t * n);
    workspace->shared = true;
    return workspace->naive_share + types * n;
}

/* Pools n rows of probabilities with the naive ones. */
static void pool_types(struct law_workspace *workspace, double *out, size_t n)
{
    const struct blend *blend = workspace->blend;
    size_t types = workspace->model->types;
    if (!workspace->past) return;
    const struct pool *pool = workspace->past->pool;
    double weight[POOL_TYPES] = {1 - pool->type_weight};
    weight[pool->types] += pool->type_weight;
    for (int t = 0; t < POOL_TYPES && blend && blend->rate > 0; t++)
        weight[t] = blend->weight[0] * weight[t] + (t ? blend->weight[t] : 0);
    for (size_t i = 0; i < n * types && weight[0] < 1; i++) out[i] *= weight[0];
    for (enum pool_types t = POOL_MARKOV; t < POOL_TYPES; t++) {
        if (!(weight[t] > 0)) continue;
        const double *share = naive_shares(workspace, t);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < types; k++) out[i * types + k] += weight[t] * share[k];
    }
}

void smurf_law_workspace_shares(struct law_workspace *workspace, double gap, uint32_t type, double out[BLEND_LAWS])
{
    const struct blend *blend = workspace->blend;
    for (int e = 0; e < BLEND_LAWS; e++) out[e] = NAN;
    if (type >= workspace->model->types || !workspace->past) return;
    workspace->blend = NULL;
    smurf_law_workspace_types(workspace, &gap, workspace->type_room, 1);
    workspace->blend = blend;
    out[0] = workspace->type_room[type];
    for (enum pool_types t = POOL_MARKOV; t < POOL_TYPES; t++)
        if (smurf_pool_has_types(workspace->past->pool, t)) out[t] = naive_shares(workspace, t)[type];
}

double smurf_law_workspace_never(struct law_workspace *workspace)
{
    const smurf_model *m = workspace->model;
    if (!m->config.ending) return 0;
    if (!workspace->finite) return NAN;
    struct scaled scaled; /* distributions that were handed out stay valid */
    build(workspace);
    smurf_scaled(&scaled, &workspace->exact, &m->view.scale, &m->notes.tail);
    double never = m->model.class->never(&m->model, workspace->c);
    return never + (1 - never) * scaled.taken;
}

/* Gaps outside the law's range have the types of its ends. */
void smurf_law_workspace_types(struct law_workspace *workspace, const double *gap, double *out, size_t n)
{
    const smurf_model *m = workspace->model;
    double y[TYPE_POINTS];
    for (size_t i = 0; i < n; i += TYPE_POINTS) {
        size_t part = n - i < TYPE_POINTS ? n - i : TYPE_POINTS;
        for (size_t j = 0; j < part; j++)
            y[j] = fmin(fmax(smurf_scale_forward(&m->view.scale, gap[i + j]), m->low), m->high);
        m->model.class->types(&workspace->law, y, out + i * m->types, part);
        pool_types(workspace, out + i * m->types, part);
    }
}

void smurf_law_workspace_mean_types(struct law_workspace *workspace, const double *gap, size_t n, double *out)
{
    size_t types = workspace->model->types;
    for (size_t k = 0; k < types; k++) out[k] = 0;
    for (size_t i = 0; i < n; i += workspace->type_rows) {
        size_t rows = n - i < workspace->type_rows ? n - i : workspace->type_rows;
        smurf_law_workspace_types(workspace, gap + i, workspace->type_room, rows);
        for (size_t j = 0; j < rows; j++)
            for (size_t k = 0; k < types; k++) out[k] += workspace->type_room[j * types + k] / (double)n;
    }
}

/* ---- A sequence ------------------------------------------------------------------------------ */

/* Windows are encoded in groups of about this many rows, so that memory does not grow with the sequence. */
enum { GROUP_ROWS = 1024 };

struct model_workspace {
    struct law_workspace law;
    struct stop *stop;
    const smurf_sequence *sequence;
    size_t first_row, end_row; /* of the sequence, whose coefficients are there */
    uint32_t *type;
    double *time;
    float *gap, *further, *memory; /* further: columns, NULL: none */
    float *c;                      /* coefficients of all events of the group */
    size_t *offset;                /* (windows + 1): starts of the windows in the arrays above */
    double *base;                  /* (windows) moments that their times count from */
    size_t *seen_at;               /* (end_row - first_row): position of each event's law */
    size_t row;                    /* row whose law is set; SIZE_MAX: none */
    struct pool_state past;
    size_t seen; /* events that it has seen */
};

/* Rows of a group: whole windows, counted from the true start of the sequence. SIZE_MAX: the model has no context. */
static size_t group_rows(const void *self)
{
    const smurf_settings *c = &((const smurf_model *)self)->config;
    size_t window = smurf_window_events(c);
    return !c->context ? SIZE_MAX : window >= GROUP_ROWS ? window : GROUP_ROWS / window * window;
}

static void workspace_free(void *workspace)
{
    struct model_workspace *d = workspace;
    if (!d) return;
    smurf_law_workspace_release(&d->law);
    smurf_pool_state_release(&d->past);
    free(d->type), free(d->time), free(d->gap), free(d->further), free(d->memory);
    free(d->c), free(d->offset), free(d->base), free(d->seen_at);
    free(d);
}

static void *workspace_new(const void *self, size_t events, struct stop *stop)
{
    const smurf_model *m = self;
    struct model_workspace *d = calloc(1, sizeof *d);
    size_t rows = events < group_rows(m) ? events : group_rows(m);
    /* A sequence that starts within a window has one more. */
    size_t windows = m->config.context ? rows / smurf_window_events(&m->config) + 2 : 1;
    size_t history = m->config.context < events ? m->config.context : events;
    size_t n = (rows ? rows : 1) + windows * history;
    if (!d) return NULL;
    d->stop = stop;
    d->offset = malloc((windows + 1) * sizeof *d->offset);
    d->base = malloc((windows + 1) * sizeof *d->base);
    d->seen_at = malloc((rows + 1) * sizeof *d->seen_at);
    d->type = malloc(n * sizeof *d->type);
    d->time = malloc(n * sizeof *d->time);
    d->gap = malloc(n * sizeof *d->gap);
    size_t columns = smurf_view_columns(&m->view);
    d->further = columns ? malloc(n * columns * sizeof *d->further) : NULL;
    d->memory = malloc(m->model.class->encode_memory(&m->model, n, 1) * sizeof *d->memory);
    d->c = malloc(n * m->model.class->coefficients(&m->model) * sizeof *d->c);
    bool past = smurf_pool_state_init(&d->past, m->notes.pool) && (d->further || !columns);
    if (!smurf_law_workspace_init(&d->law, m, NULL) && past && d->type && d->time && d->gap && d->memory && d->c &&
        d->offset && d->base && d->seen_at)
        return d;
    workspace_free(d);
    return NULL;
}

/* One window: the events from `start` to `end`; those from `first` on have their laws here. Returns its end. */
static size_t lay_window(const smurf_model *m, struct model_workspace *d, size_t start, size_t first, size_t end,
                         size_t at, double *base)
{
    const smurf_sequence *s = d->sequence;
    size_t columns = smurf_view_columns(&m->view);
    smurf_sequence window = {
        .time = s->time + start, .type = s->type + start, .length = end - start, .origin = s->origin};
    *base = smurf_view_base(&m->view, &window);
    for (size_t i = 0; i < window.length; i++, at++) {
        d->type[at] = window.type[i];
        d->time[at] = smurf_view_time(&m->view, &window, i);
        d->gap[at] = smurf_view_gap(&m->view, &window, i);
        if (columns) smurf_view_further(&m->view, s, start + i, d->further + at * columns);
        if (start + i >= first) d->seen_at[start + i - d->first_row] = at;
    }
    return at;
}

/* Encodes the group of windows that a row is in. */
static void read_group(const smurf_model *m, struct model_workspace *d, size_t row)
{
    const smurf_sequence *s = d->sequence;
    size_t group = group_rows(m), step = smurf_window_events(&m->config), before = s->before, n = 0, windows = 0;
    size_t inside = (before + row) % group; /* rows of the group before this one */
    d->first_row = row > inside ? row - inside : 0;
    d->end_row = s->length - row > group - inside ? row + (group - inside) : s->length;
    d->offset[0] = 0;
    for (size_t first = d->first_row, end; first < d->end_row; first = end) {
        size_t left = step - (before + first) % step;
        end = d->end_row - first > left ? first + left : d->end_row;
        n = lay_window(m, d, smurf_window_start(&m->config, before, first), first, end, n, &d->base[windows]);
        d->offset[++windows] = n;
    }
    struct encoder_input input = {{windows, d->offset, NULL}, n, d->type, d->time, d->gap, d->further, d->base};
    m->model.class->encode(&(struct op_run){.threads = 1, .stop = d->stop}, &m->model, m->slab, &input, d->memory,
                           d->c);
    /* Stopped: the coefficients are not used, but they are numbers. */
    if (d->stop && smurf_stop_asked(d->stop))
        memset(d->c, 0, n * m->model.class->coefficients(&m->model) * sizeof *d->c);
}

static void read_sequence(const void *self, void *workspace, const smurf_sequence *s)
{
    (void)self;
    struct model_workspace *d = workspace;
    d->sequence = s;
    d->row = SIZE_MAX;
    d->first_row = d->end_row = d->seen = 0;
}

/* The naive laws after event `row`. Asking in order is fastest. */
static const struct pool_state *past_at(struct model_workspace *d, size_t row)
{
    const smurf_sequence *s = d->sequence;
    if (!d->past.pool) return NULL;
    if (d->seen > row + 1) d->seen = 0;
    if (d->seen == 0) smurf_pool_state_clear(&d->past, s->origin);
    for (; d->seen <= row; d->seen++) smurf_pool_state_push(&d->past, s->time[d->seen], s->type[d->seen]);
    return &d->past;
}

static struct model_workspace *at_row(const smurf_model *m, void *workspace, size_t row)
{
    struct model_workspace *d = workspace;
    if (d->row == row) return d;
    if (row < d->first_row || row >= d->end_row) read_group(m, d, row);
    smurf_law_workspace_set(&d->law, d->c + d->seen_at[row - d->first_row] * m->model.class->coefficients(&m->model));
    smurf_law_workspace_pool(&d->law, past_at(d, row));
    d->row = row;
    return d;
}

const float *smurf_model_coefficients(const smurf_model *model, void *workspace, size_t row)
{
    return at_row(model, workspace, row)->law.c;
}

static struct dist dist_of(const void *self, void *workspace, size_t row, int raw)
{
    return smurf_law_workspace_dist(&at_row(self, workspace, row)->law, raw);
}

static void types_of(const void *self, void *workspace, size_t row, const double *gap, double *out, size_t n)
{
    smurf_law_workspace_types(&at_row(self, workspace, row)->law, gap, out, n);
}

static struct law law_of(const void *self, void *workspace, size_t row, const smurf_scale **scale)
{
    *scale = &((const smurf_model *)self)->view.scale;
    return at_row(self, workspace, row)->law.law;
}

static double never_of(const void *self, void *workspace, size_t row)
{
    return smurf_law_workspace_never(&at_row(self, workspace, row)->law);
}

static void shares_of(const void *self, void *workspace, size_t row, double gap, uint32_t type, double *out)
{
    smurf_law_workspace_shares(&at_row(self, workspace, row)->law, gap, type, out);
}

static void follow(void *workspace, const struct blend *blend)
{
    smurf_law_workspace_blend(&((struct model_workspace *)workspace)->law, blend);
}

static const struct predictor_class class = {"smurf", workspace_new, workspace_free, read_sequence, dist_of, types_of,
                                             law_of,  group_rows,    never_of,       shares_of,     follow};

struct predictor smurf_model_predictor(const smurf_model *model)
{
    return (struct predictor){&class, model, model->types};
}
