/* model_predictor.c - see model_predictor.h. */
#include "forecast/model_predictor.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- One law --------------------------------------------------------------------------------- */

/* Several scales of noise act like one of their mean square. */
double smurf_model_noise(const smurf_train_config *c)
{
    double sum = 0;
    int n = 0;
    for (; strcmp(c->objective, "dsm") == 0 && n < SMURF_SIGMAS && c->sigma[n] > 0; n++)
        sum += c->sigma[n] * c->sigma[n];
    return n ? sqrt(sum / n) : 0;
}

smurf_status smurf_law_desk_init(struct law_desk *desk, const smurf_model *model, smurf_error *err)
{
    *desk = (struct law_desk){.model = model,
                              .sigma = smurf_model_noise(&model->config),
                              .mass = strcmp(model->config.objective, "mle") == 0 ? EXACT_REST : EXACT_ONE};
    desk->memory = malloc(smurf_gap_law_memory(&model->model) * sizeof *desk->memory);
    desk->type_scratch = malloc(smurf_gap_law_type_scratch(&model->model, TYPE_POINTS) * sizeof *desk->type_scratch);
    desk->type_rows = model->types < 10000 ? TYPE_POINTS : 8;
    desk->type_room = malloc(desk->type_rows * model->types * sizeof *desk->type_room);
    smurf_status status = smurf_exact_init(&desk->exact, err);
    if (!status && (!desk->memory || !desk->type_scratch || !desk->type_room)) status = smurf_fail_memory(err);
    if (status) smurf_law_desk_release(desk);
    return status;
}

void smurf_law_desk_release(struct law_desk *desk)
{
    free(desk->memory);
    free(desk->type_scratch);
    free(desk->type_room);
    smurf_exact_release(&desk->exact);
    *desk = (struct law_desk){0};
}

void smurf_law_desk_set(struct law_desk *desk, const struct head_coefficients *c, size_t i)
{
    const smurf_model *m = desk->model;
    desk->built = false;
    if (m->model.rival) {
        const float *own = (const float *)c->a + i * m->model.rival->coefficients(&m->model);
        desk->rival_law = (struct rival_law){&m->model, m->slab, own};
        desk->law = (struct law){m->model.rival->law, &desk->rival_law, m->types, m->low, m->high};
        return;
    }
    desk->law = smurf_gap_law(&desk->gap_law, &m->model, m->slab, c, i, m->low, m->high, desk->memory);
}

struct dist smurf_law_desk_dist(struct law_desk *desk, int raw)
{
    const smurf_model *m = desk->model;
    if (!desk->built) {
        smurf_exact_build(&desk->exact, &desk->law, desk->mass);
        if (desk->sigma > 0) smurf_tweedie_apply(&desk->exact, &desk->law, desk->sigma, m->config.multiplicative);
        desk->built = true;
    }
    struct dist dist = smurf_scaled(&desk->scaled, &desk->exact, &m->view.scale);
    if (raw || !m->notes.calibration.recalibrated) return dist;
    return smurf_recalibrated(&desk->recalibrated, dist, &m->notes.map);
}

/* From a classifier, or shares of the intensities. */
static void rival_types(struct law_desk *desk, const double *y, double *out, size_t n)
{
    const smurf_model *m = desk->model;
    if (m->model.rival->types) {
        m->model.rival->types(&desk->rival_law, y, out, n);
        return;
    }
    m->model.rival->law->types(&desk->rival_law, y, out, n);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, *row = out + i * m->types;
        for (uint32_t k = 0; k < m->types; k++) sum += row[k];
        for (uint32_t k = 0; k < m->types; k++) row[k] = sum > 0 ? row[k] / sum : 1.0 / m->types;
    }
}

/* Gaps before or beyond what the law knows have the types of its ends. */
void smurf_law_desk_types(struct law_desk *desk, const double *gap, double *out, size_t n)
{
    const smurf_model *m = desk->model;
    double y[TYPE_POINTS];
    for (size_t i = 0; i < n; i += TYPE_POINTS) {
        size_t part = n - i < TYPE_POINTS ? n - i : TYPE_POINTS;
        for (size_t j = 0; j < part; j++)
            y[j] = fmin(fmax(smurf_scale_forward(&m->view.scale, gap[i + j]), m->low), m->high);
        if (m->model.rival)
            rival_types(desk, y, out + i * m->types, part);
        else
            smurf_gap_law_types(&desk->gap_law, y, out + i * m->types, part, desk->type_scratch);
    }
}

void smurf_law_desk_mean_types(struct law_desk *desk, const double *gap, size_t n, double *out)
{
    size_t types = desk->model->types;
    for (size_t k = 0; k < types; k++) out[k] = 0;
    for (size_t i = 0; i < n; i += desk->type_rows) {
        size_t rows = n - i < desk->type_rows ? n - i : desk->type_rows;
        smurf_law_desk_types(desk, gap + i, desk->type_room, rows);
        for (size_t j = 0; j < rows; j++)
            for (size_t k = 0; k < types; k++) out[k] += desk->type_room[j * types + k] / (double)n;
    }
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

static struct model without_dropout(const smurf_model *m)
{
    struct model still = m->model;
    still.shape.dropout = 0;
    return still;
}

size_t smurf_model_encode_memory(const smurf_model *m, size_t n)
{
    struct model still = without_dropout(m);
    struct rival_config config = smurf_rival_config(&m->config);
    return still.rival ? still.rival->memory(&still, &config, n, 1) : smurf_encoder_memory_f32(&still.shape, n, 1);
}

void smurf_model_encode(const smurf_model *m, const struct encoder_input *input, float *memory,
                        const struct head_coefficients *out)
{
    struct model still = without_dropout(m);
    struct op_run run = {1, 0, 0};
    if (still.rival) {
        struct rival_config config = smurf_rival_config(&m->config);
        still.rival->encode(&run, &still, &config, m->slab, input, memory, out->a);
        return;
    }
    const float *h = smurf_encoder_forward_f32(&run, &still.shape, &still.encoder, m->slab, input, memory);
    smurf_head_forward_f32(&still.head, m->slab, still.shape.width, 0, input->n, h, out);
}

/* ---- A sequence ------------------------------------------------------------------------------ */

struct desk {
    struct law_desk law;
    uint32_t *type;
    double *time;
    float *gap, *memory;
    struct head_coefficients c;
    size_t *offset;  /* (windows + 1): where windows begin in the arrays above */
    size_t *seen_at; /* (events): where the law of each event lies */
    size_t row;      /* whose law is set; SIZE_MAX: none */
};

/* Windows of a sequence, and the events of all of them together: those at their beginnings are in two. */
static size_t windows_of(const smurf_model *m, size_t events)
{
    return m->config.context ? events / smurf_window_events(m->config.context) + 1 : 1;
}

static void desk_free(void *desk)
{
    struct desk *d = desk;
    if (!d) return;
    smurf_law_desk_release(&d->law);
    free(d->type), free(d->time), free(d->gap), free(d->memory);
    free(d->c.a), free(d->c.b), free(d->c.type_a), free(d->c.type_b);
    free(d->offset), free(d->seen_at);
    free(d);
}

static void *desk_new(const void *self, size_t events)
{
    const smurf_model *m = self;
    struct desk *d = calloc(1, sizeof *d);
    size_t n = (events ? events : 1) + windows_of(m, events) * m->config.context, width = m->model.shape.width;
    if (!d) return NULL;
    d->offset = malloc((windows_of(m, events) + 1) * sizeof *d->offset);
    d->seen_at = malloc((events + 1) * sizeof *d->seen_at);
    d->type = malloc(n * sizeof *d->type);
    d->time = malloc(n * sizeof *d->time);
    d->gap = malloc(n * sizeof *d->gap);
    d->memory = malloc(smurf_model_encode_memory(m, n) * sizeof *d->memory);
    if (m->model.rival && m->model.rival->coefficients(&m->model) > width)
        width = m->model.rival->coefficients(&m->model);
    d->c = (struct head_coefficients){malloc(n * width * sizeof(float)), malloc(n * width * sizeof(float)),
                                      malloc(n * width * sizeof(float)), malloc(n * width * sizeof(float))};
    if (!smurf_law_desk_init(&d->law, m, NULL) && d->type && d->time && d->gap && d->memory && d->c.a && d->c.b &&
        d->c.type_a && d->c.type_b && d->offset && d->seen_at)
        return d;
    desk_free(d);
    return NULL;
}

/* One window: the events from `start` on, of which those from `first` on have their laws here. Returns where it ends.
 */
static size_t lay_window(const smurf_model *m, struct desk *d, const smurf_sequence *s, size_t start, size_t first,
                         size_t end, size_t at)
{
    smurf_sequence window = {
        .time = s->time + start, .type = s->type + start, .length = end - start, .origin = s->origin};
    for (size_t i = 0; i < window.length; i++, at++) {
        d->type[at] = window.type[i];
        d->time[at] = smurf_view_time(&m->view, &window, i);
        d->gap[at] = smurf_view_gap(&m->view, &window, i);
        if (start + i >= first) d->seen_at[start + i] = at;
    }
    return at;
}

static void read_sequence(const void *self, void *desk, const smurf_sequence *s)
{
    const smurf_model *m = self;
    struct desk *d = desk;
    size_t n = 0, windows = 0, step = m->config.context ? smurf_window_events(m->config.context) : s->length;
    d->row = SIZE_MAX;
    d->offset[0] = 0;
    for (size_t first = 0; first < s->length; first += step) {
        size_t end = s->length - first < step ? s->length : first + step;
        n = lay_window(m, d, s, smurf_window_start(m->config.context, first), first, end, n);
        d->offset[++windows] = n;
    }
    if (n == 0) return;
    struct encoder_input input = {{windows, d->offset}, n, d->type, d->time, d->gap};
    smurf_model_encode(m, &input, d->memory, &d->c);
}

static struct desk *at_row(void *desk, size_t row)
{
    struct desk *d = desk;
    if (d->row != row) smurf_law_desk_set(&d->law, &d->c, d->seen_at[row]);
    d->row = row;
    return d;
}

static struct dist dist_of(const void *self, void *desk, size_t row, int raw)
{
    (void)self;
    return smurf_law_desk_dist(&at_row(desk, row)->law, raw);
}

static void types_of(const void *self, void *desk, size_t row, const double *gap, double *out, size_t n)
{
    (void)self;
    smurf_law_desk_types(&at_row(desk, row)->law, gap, out, n);
}

static struct law law_of(const void *self, void *desk, size_t row, const smurf_scale **scale)
{
    *scale = &((const smurf_model *)self)->view.scale;
    return at_row(desk, row)->law.law;
}

static const struct predictor_class class = {"smurf", desk_new, desk_free, read_sequence, dist_of, types_of, law_of};

struct predictor smurf_model_predictor(const smurf_model *model)
{
    return (struct predictor){&class, model, model->types};
}
