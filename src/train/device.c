/* device.c - see device.h. */
#include "train/device.h"

#include "model/smurf_class.h"
#include "train/adam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct train_device {
    struct cuda_training *session;
    size_t rows, sequences; /* at most, of a pass */
    size_t *first, *length; /* (sequences) of the next pass */
    smurf_error failure;
    smurf_status status; /* of the steps so far */
};

smurf_status smurf_device_parse(enum device *out, const char *name, smurf_error *err)
{
    static const char *const names[] = {"cpu", "cuda", "auto"};
    for (int i = 0; i < 3; i++)
        if (!name || strcmp(name, names[i]) == 0) {
            *out = (enum device)i;
            return SMURF_OK;
        }
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "device '%s' is not one of: cpu, cuda, auto", name);
}

/* ---- The model ------------------------------------------------------------------------------------- */

static void describe_encoder(struct cuda_model *out, const struct model *model)
{
    const struct encoder_shape *s = &model->shape;
    const struct encoder_params *at = &smurf_offsets(model)->encoder;
    out->types = s->types, out->inputs = encoder_inputs(s), out->width = s->width;
    out->heads = s->heads, out->head_width = s->head_width, out->layers = s->layers, out->inner = s->inner;
    out->total = model->params.total;
    out->relu = s->activation == ACTIVATION_RELU;
    out->gap_feature = s->gap_feature, out->gap_units = GAP_UNITS;
    out->counts = s->counts, out->ending = s->ending;
    out->norm_eps = NORM_EPS;
    if (s->counts) {
        out->count_inputs = counts_inputs(s->types), out->count_slots = counts_slots(s->types);
        memcpy(out->count_rate, s->count_rate, sizeof out->count_rate);
    }
    out->embedding = at->embedding, out->counts_weight = at->counts;
    out->gap_v = at->gap_v, out->gap_c = at->gap_c, out->gap_table = at->gap_table;
    for (size_t l = 0; l < s->layers; l++) {
        const struct encoder_layer *e = &at->layer[l];
        out->layer[l] =
            (struct cuda_layer){e->query, e->key,   e->value, e->out,        e->out_bias, e->gain1,     e->bias1,
                                e->gain2, e->bias2, e->inner, e->inner_bias, e->outer,    e->outer_bias};
    }
}

static void describe_heads(struct cuda_model *out, const struct model *model)
{
    const struct smurf_offsets *at = smurf_offsets(model);
    const struct head_params *h = &at->head;
    out->a = h->a, out->a_bias = h->a_bias, out->b = h->b, out->b_bias = h->b_bias, out->w = h->w, out->c = h->c;
    out->type_a = h->type_a, out->type_a_bias = h->type_a_bias;
    out->type_b = h->type_b, out->type_b_bias = h->type_b_bias;
    out->type_w = h->type_w, out->type_c = h->type_c;
    out->end_w = at->end.w, out->end_b = at->end.b;
    out->repeat_v = at->repeat.v, out->repeat_v_bias = at->repeat.v_bias;
}

/* Returns why not, or NULL. */
static const char *describe_objective(struct cuda_model *out, const struct loss_config *loss)
{
    static const char *const names[] = {"dsm", "sm", "wsm", "mle"};
    const struct objective_config *c = &loss->objective;
    int which = 0;
    while (which < 4 && strcmp(names[which], c->class->name) != 0) which++;
    if (which == 4) return "its objective is not written for a GPU";
    out->objective = (enum cuda_objective)which;
    out->score = c->param == PARAM_SCORE;
    out->multiplicative = c->multiplicative, out->stop = c->stop, out->log_axis = c->log_axis;
    out->at_truth = !c->class->perturbed || loss->type_at_truth;
    out->points = which == CUDA_DSM || which == CUDA_MLE ? c->points : 1, out->sigmas = c->sigmas;
    out->low = c->low, out->alpha = loss->alpha, out->smoothing = loss->smoothing;
    memcpy(out->sigma, c->sigma, sizeof out->sigma);
    memcpy(out->node, c->node, sizeof out->node);
    memcpy(out->weight, c->weight, sizeof out->weight);
    return NULL;
}

_Static_assert((int)CUDA_LAYERS == (int)LAYERS_MOST && (int)CUDA_SCALES == (int)COUNT_SCALES &&
                   (int)CUDA_SIGMAS == (int)SIGMAS_MOST && (int)CUDA_POINTS == (int)POINTS_MOST,
               "the same limits");

const char *smurf_device_describe(struct cuda_model *out, const struct model *model, const struct loss_config *loss)
{
    memset(out, 0, sizeof *out);
    if (strcmp(model->class->name, "smurf") != 0) return "models of this class are not written for a GPU";
    if (model->shape.further.columns) return "further columns are not written for a GPU";
    if (model->shape.clock.on) return "a clock on the wall is not written for a GPU";
    describe_encoder(out, model);
    describe_heads(out, model);
    const char *why = describe_objective(out, loss);
    return why ? why : smurf_cuda_refuses(out);
}

/* Starting the card takes about a second. */
bool smurf_device_pays(const struct feed *train, size_t epochs)
{
    const double least = 1e6; /* events */
    return (double)train->events * (double)epochs >= least;
}

/* ---- Opening ----------------------------------------------------------------------------------------- */

/* The reason, as an error. */
static smurf_status failed(int code, const char *why, smurf_error *err)
{
    smurf_status status = code == CUDA_MEMORY ? SMURF_ERROR_MEMORY : SMURF_ERROR_UNSUPPORTED;
    return smurf_fail(err, status, "%s", why);
}

static smurf_status send_events(struct train_device *device, enum cuda_part part, const struct feed *f,
                                smurf_error *err)
{
    size_t n = f->events;
    char why[CUDA_TEXT];
    double *gap = calloc(n + 1, sizeof *gap), *limit = calloc(n + 1, sizeof *limit);
    uint32_t *type = calloc(n + 1, sizeof *type), *kind = calloc(n + 1, sizeof *kind);
    uint64_t *id = calloc(n + 1, sizeof *id);
    smurf_status status = gap && limit && type && kind && id ? SMURF_OK : smurf_fail_memory(err);
    for (size_t s = 0; s < f->sequences && !status; s++)
        for (size_t k = f->target_offset[s]; k < f->target_offset[s + 1]; k++) {
            const struct target *t = &f->target[k];
            size_t i = f->offset[s] + t->row;
            gap[i] = t->gap, limit[i] = t->limit, type[i] = t->type, id[i] = t->id;
            kind[i] = t->censored ? CUDA_CENSORED : CUDA_EVENT;
        }
    const struct cuda_events events = {n, f->type, f->time, f->gap, gap, limit, type, kind, id};
    int code = status ? CUDA_OK : smurf_cuda_events(device->session, part, &events, why);
    if (code) status = failed(code, why, err);
    free(gap), free(limit), free(type), free(kind), free(id);
    return status;
}

/* Dev runs in passes of about so many rows. */
enum { DEV_ROWS = 8192, DEV_SEQUENCES = 1024 };

static void measure(struct train_device *device, const struct feed *train, const struct feed *dev)
{
    device->rows = train->longest_batch_events;
    device->sequences = train->batch < train->ordered ? train->batch : train->ordered;
    if (!dev) return;
    size_t rows = dev->events < DEV_ROWS ? dev->events : DEV_ROWS;
    size_t sequences = dev->ordered < DEV_SEQUENCES ? dev->ordered : DEV_SEQUENCES;
    for (size_t i = 0; i < dev->ordered; i++) {
        size_t length = dev->offset[dev->order[i] + 1] - dev->offset[dev->order[i]];
        if (length > rows) rows = length;
    }
    if (rows > device->rows) device->rows = rows;
    if (sequences > device->sequences) device->sequences = sequences;
}

smurf_status smurf_train_device_open(struct train_device **out, const struct model *model,
                                     const struct loss_config *loss, bool average, const struct feed *train,
                                     const struct feed *dev, smurf_error *err)
{
    char why[CUDA_TEXT];
    *out = NULL;
    struct cuda_model *card = malloc(sizeof *card);
    struct train_device *device = calloc(1, sizeof *device);
    smurf_status status = card && device ? SMURF_OK : smurf_fail_memory(err);
    const char *refused = status ? NULL : smurf_device_describe(card, model, loss);
    if (refused) status = smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "%s", refused);
    if (!status) {
        measure(device, train, dev);
        device->first = malloc((device->sequences + 1) * sizeof *device->first);
        device->length = malloc((device->sequences + 1) * sizeof *device->length);
        if (!device->first || !device->length) status = smurf_fail_memory(err);
    }
    int code =
        status ? CUDA_OK : smurf_cuda_open(&device->session, card, device->rows, device->sequences, average, why);
    if (code) status = failed(code, why, err);
    if (!status) status = send_events(device, CUDA_TRAIN, train, err);
    if (!status && dev) status = send_events(device, CUDA_DEV, dev, err);
    free(card);
    if (status)
        smurf_train_device_close(device);
    else
        *out = device;
    return status;
}

void smurf_train_device_close(struct train_device *device)
{
    if (!device) return;
    smurf_cuda_close(device->session);
    free(device->first), free(device->length);
    free(device);
}

smurf_status smurf_train_device_put(struct train_device *device, enum cuda_slab slab, const float *from,
                                    smurf_error *err)
{
    char why[CUDA_TEXT];
    int code = smurf_cuda_put(device->session, slab, from, why);
    return code ? failed(code, why, err) : SMURF_OK;
}

smurf_status smurf_train_device_get(struct train_device *device, enum cuda_slab slab, float *to, smurf_error *err)
{
    char why[CUDA_TEXT];
    int code = smurf_cuda_get(device->session, slab, to, why);
    return code ? failed(code, why, err) : SMURF_OK;
}

struct cuda_training *smurf_train_device_session(struct train_device *device)
{
    return device->session;
}

/* ---- Steps ---------------------------------------------------------------------------------------------- */

smurf_status smurf_train_device_status(const struct train_device *device, smurf_error *err)
{
    return device->status ? smurf_fail(err, device->status, "%s", device->failure.message) : SMURF_OK;
}

static void remember(struct train_device *device, int code, const char *why)
{
    if (code && !device->status) device->status = failed(code, why, &device->failure);
}

static struct loss run_pass(struct train_device *device, const struct op_run *run, const struct feed *f,
                            const struct cuda_batch *how, double *square)
{
    char why[CUDA_TEXT];
    struct cuda_loss out;
    struct cuda_batch batch = *how;
    batch.first = device->first, batch.length = device->length;
    batch.seed = run->seed, batch.step = run->step, batch.dropout = run->dropout;
    batch.mask = f->mask, batch.other = f->other, batch.epoch = f->epoch;
    *square = NAN;
    if (device->status) return (struct loss){.time = NAN};
    int code = smurf_cuda_pass(device->session, &batch, &out, why);
    remember(device, code, why);
    if (code) return (struct loss){.time = NAN};
    *square = out.square;
    return (struct loss){out.time, out.type, out.right, (size_t)out.gaps, (size_t)out.typed};
}

static void add_sequence(struct train_device *device, const struct feed *f, size_t sequence, size_t at)
{
    device->first[at] = f->offset[sequence];
    device->length[at] = f->offset[sequence + 1] - f->offset[sequence];
}

struct loss smurf_train_device_gradient(struct train_device *device, const struct op_run *run, const struct feed *train,
                                        size_t index, double *norm)
{
    size_t first, last;
    smurf_feed_members(train, index, &first, &last);
    for (size_t i = first; i < last; i++) add_sequence(device, train, train->order[i], i - first);
    const struct cuda_batch how = {
        .part = CUDA_TRAIN, .sequences = last - first, .weights = CUDA_WEIGHT, .backward = 1};
    struct loss loss = run_pass(device, run, train, &how, norm);
    *norm = sqrt(*norm);
    return loss;
}

void smurf_train_device_update(struct train_device *device, uint64_t t, double rate, double factor, double decay)
{
    char why[CUDA_TEXT];
    const struct adam_rates r = smurf_adam_rates(t, rate, factor);
    if (!device->status)
        remember(device, smurf_cuda_update(device->session, r.factor, r.rate, r.inverse, (float)decay, why), why);
}

struct loss smurf_train_device_dev(struct train_device *device, const struct op_run *run, enum cuda_slab slab,
                                   const struct feed *dev)
{
    struct loss sum = {0};
    size_t rows = 0, n = 0;
    double square;
    for (size_t i = 0; i <= dev->ordered; i++) {
        size_t s = i < dev->ordered ? dev->order[i] : 0,
               length = i < dev->ordered ? dev->offset[s + 1] - dev->offset[s] : 0;
        if (n && (i == dev->ordered || n == device->sequences || rows + length > device->rows)) {
            const struct cuda_batch how = {.part = CUDA_DEV, .sequences = n, .weights = slab};
            struct loss part = run_pass(device, run, dev, &how, &square);
            loss_add(&sum, &part);
            rows = n = 0;
            if (op_stopped(run)) break;
        }
        if (i < dev->ordered) add_sequence(device, dev, s, n++), rows += length;
    }
    return sum;
}
