/*
 * model_file.c - see model_file.h.
 *
 * The file is safetensors: weights as F32 under their names, and the metadata entry "smurf", a JSON object with
 * everything else.
 */
#include "model/model_file.h"

#include "base/hash.h"
#include "data/data.h"
#include "data/json_tree.h"
#include "data/rare.h"
#include "data/reading.h"
#include "model/config.h"
#include "model/model_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1 };

void smurf_model_free(smurf_model *model)
{
    if (!model) return;
    for (uint32_t k = 0; model->type_name && k < model->types; k++) free(model->type_name[k]);
    free(model->type_name);
    free(model->unit);
    free(model->slab);
    smurf_further_view_free(model->view.further);
    smurf_model_notes_release(&model->notes);
    smurf_wall_clock_release(&model->wall_clock);
    smurf_arena_release(&model->text);
    free(model);
}

size_t smurf_model_parameters(const smurf_model *model)
{
    size_t n = 0;
    for (size_t i = 0; i < model->model.params.count; i++) n += model->model.params.entry[i].size;
    return n;
}

const smurf_settings *smurf_model_settings(const smurf_model *model)
{
    return &model->config;
}

const smurf_scale *smurf_model_scale(const smurf_model *model)
{
    return &model->view.scale;
}

uint32_t smurf_model_types(const smurf_model *model)
{
    return model->types;
}

const char *smurf_model_type_name(const smurf_model *model, uint32_t type)
{
    return model->type_name && type < model->types ? model->type_name[type] : NULL;
}

const char *smurf_model_unit(const smurf_model *model)
{
    return model->unit;
}

int smurf_model_is_calendar(const smurf_model *model)
{
    return model->calendar;
}

size_t smurf_model_columns(const smurf_model *model)
{
    return smurf_view_columns(&model->view);
}

const char *smurf_model_column_name(const smurf_model *model, size_t column)
{
    return column < smurf_model_columns(model) ? model->view.further->further.column[column].name : NULL;
}

const char *smurf_model_column_word(const smurf_model *model, size_t column, size_t word)
{
    if (column >= smurf_model_columns(model)) return NULL;
    const struct names *words = &model->view.further->further.column[column].word;
    return word < words->count ? words->name[word] : NULL;
}

const smurf_calibration *smurf_model_calibration(const smurf_model *model)
{
    return &model->notes.calibration;
}

const char *smurf_model_split(const smurf_model *model)
{
    return model->notes.split;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t hash_events(const smurf_data *data, bool ends)
{
    uint64_t h = HASH_START ^ data->events;
    for (size_t s = 0; s < data->sequences; s++) {
        const smurf_sequence *q = &data->sequence[s];
        h = smurf_hash(h, (uint64_t)q->origin ^ q->length);
        h = smurf_hash(h, bits_of(isnan(q->end) || !ends ? -1 : q->end) ^ q->first);
        for (size_t i = 0; i < q->length; i++) h = smurf_hash(h, bits_of(q->time[i]) ^ q->type[i]);
    }
    return h;
}

/* An end of observation counts if the data said so itself: commands that need none do not assume it. */
uint64_t smurf_data_fingerprint(const smurf_data *data)
{
    return hash_events(data, !data->observed);
}

/* Where training assumed ends of observation, those of a cut in time count as assumed, too. */
static bool is_train_data(const smurf_model *model, const smurf_data *data)
{
    return model->fingerprint == hash_events(data, true) || model->fingerprint == hash_events(data, false);
}

int smurf_model_trained_on(const smurf_model *model, const smurf_data *data)
{
    if (is_train_data(model, data)) return 1;
    smurf_data *known; /* numbered as in training */
    smurf_status status = smurf_model_match(model, data, &known, NULL);
    if (status) return status == SMURF_ERROR_MEMORY ? -1 : 0;
    bool same = is_train_data(model, known);
    smurf_data_free(known);
    return same;
}

/* ---- To JSON --------------------------------------------------------------------------------- */

static json_t *scale_to_json(const smurf_scale *s)
{
    return json_pack("{s:i, s:f, s:f, s:f}", "kind", (int)s->kind, "mean", s->mean, "mu", s->mu, "sd", s->sd);
}

/* Drops an incomplete value. */
static json_t *give_up(json_t *json)
{
    json_decref(json);
    return NULL;
}

static json_t *settings_to_json(const smurf_settings *config)
{
    json_t *out = json_object();
    for (size_t i = 0; smurf_setting_name(i); i++) {
        const char *name = smurf_setting_name(i);
        char text[512];
        if (smurf_setting_is_of_run(i)) continue;
        if (smurf_settings_get(config, name, text, sizeof text, NULL) ||
            json_object_set_new(out, name, json_string(text)))
            return give_up(out);
    }
    return out;
}

static json_t *names_to_json(const smurf_model *m)
{
    if (!m->type_name) return json_null();
    json_t *out = json_array();
    for (uint32_t k = 0; k < m->types; k++)
        if (json_array_append_new(out, json_string(m->type_name[k]))) return give_up(out);
    return out;
}

json_t *smurf_model_to_json(const smurf_model *m)
{
    char print[24];
    snprintf(print, sizeof print, "%016llx", (unsigned long long)m->fingerprint);
    json_t *json = json_pack(
        "{s:i, s:s, s:o, s:I, s:o, s:s, s:b, s:o, s:o, s:f, s:f, s:f, s:s, s:I, s:I, s:o}", "format", FORMAT_VERSION,
        "version", smurf_version(), "settings", settings_to_json(&m->config), "types", (json_int_t)m->types,
        "type_names", names_to_json(m), "unit", m->unit ? m->unit : "", "calendar", m->calendar, "scale",
        scale_to_json(&m->view.scale), "feature", scale_to_json(&m->view.feature), "clock_unit", m->view.clock_unit,
        "low", m->low, "high", m->high, "fingerprint", print, "seed", (json_int_t)m->config.seed, "epoch",
        (json_int_t)m->epoch, "dev_loss", isfinite(m->dev_loss) ? json_real(m->dev_loss) : json_null());
    bool done = json && smurf_model_notes_to_json(&m->notes, json);
    if (done && m->config.counts)
        done = json_object_set_new(json, "counts", json_pack("[f, f]", m->view.count_low, m->view.count_high)) == 0;
    if (done && m->view.further)
        done = json_object_set_new(json, "further", smurf_further_view_to_json(m->view.further)) == 0;
    if (done && m->config.wall_clock)
        done = json_object_set_new(json, "wall_clock", smurf_wall_clock_to_json(&m->wall_clock)) == 0;
    if (done && smurf_model_reading(m))
        done = json_object_set_new(json, "reading", smurf_model_reading_to_json(&m->reading)) == 0;
    return done ? json : give_up(json);
}

/* ---- From JSON ------------------------------------------------------------------------------- */

smurf_status smurf_json_parse(json_t **out, const char *text, smurf_error *err)
{
    struct json_fault fault;
    *out = NULL;
    if (text && smurf_json_tree(out, text, strlen(text), &fault) == SMURF_ERROR_MEMORY) return smurf_fail_memory(err);
    return SMURF_OK;
}

static smurf_status broken(const char *file, const char *what, smurf_error *err)
{
    return smurf_fail_at(err, file, 0, "its metadata has no valid '%s': not a smurf model, or damaged", what);
}

static bool scale_from_json(smurf_scale *out, smurf_scale_kind kind, const json_t *json)
{
    *out =
        (smurf_scale){kind, json_number_value(json_object_get(json, "mean")),
                      json_number_value(json_object_get(json, "mu")), json_number_value(json_object_get(json, "sd"))};
    return json_integer_value(json_object_get(json, "kind")) == (json_int_t)kind;
}

static bool is_time(double x)
{
    return x >= 1 / MODEL_TIME_MOST && x <= MODEL_TIME_MOST;
}

/* mu and sd are those of ln(gap / mean + 1e-9), whatever the kind (scale.c). */
static bool is_scale(const smurf_scale *s)
{
    return is_time(s->mean) && fabs(s->mu) <= 1000 && s->sd >= 1e-9 && s->sd <= 1000;
}

const char *smurf_model_check(const smurf_model *m)
{
    const struct view *v = &m->view;
    if (!is_scale(&v->scale)) return "scale";
    if (!is_scale(&v->feature)) return "feature";
    if (!is_time(v->clock_unit)) return "clock_unit";
    if (m->config.counts && !(is_time(v->count_low) && is_time(v->count_high) && v->count_low <= v->count_high))
        return "counts";
    if (!(m->low < m->high) || !(fabs(m->low) <= MODEL_TIME_MOST) || !is_time(smurf_scale_backward(&v->scale, m->high)))
        return "low' and 'high";
    return NULL;
}

static smurf_status settings_from_json(smurf_settings *config, const json_t *json, const char *file, smurf_error *err)
{
    const char *key;
    json_t *value;
    smurf_error why;
    smurf_status status = SMURF_OK;
    smurf_settings_init(config);
    if (!json_is_object(json)) return broken(file, "settings", err);
    json_object_foreach((json_t *)json, key, value)
    {
        if (!json_is_string(value)) return broken(file, key, err);
        status = smurf_settings_set(config, key, json_string_value(value), &why);
        if (status) break;
    }
    if (!status) status = smurf_settings_check(config, &why);
    return status ? smurf_fail_at(err, file, 0, "%.900s", why.message) : SMURF_OK;
}

static smurf_status names_from_json(smurf_model *m, const json_t *json, const char *file, smurf_error *err)
{
    if (!json || json_is_null(json)) return SMURF_OK;
    if (json_array_size(json) != m->types) return broken(file, "type_names", err);
    m->type_name = calloc(m->types + 1, sizeof *m->type_name);
    if (!m->type_name) return smurf_fail_memory(err);
    for (uint32_t k = 0; k < m->types; k++) {
        const char *name = json_string_value(json_array_get(json, k));
        if (!name) return broken(file, "type_names", err);
        if (!(m->type_name[k] = strdup(name))) return smurf_fail_memory(err);
    }
    return SMURF_OK;
}

uint32_t smurf_model_other(const smurf_model *m)
{
    return smurf_other_type((const char *const *)m->type_name, m->types);
}

static struct clock clock_of(const smurf_model *m)
{
    const struct wall_clock *w = &m->wall_clock;
    return (struct clock){m->config.wall_clock != 0, w->shape, w->zone, w->cut, m->view.clock_unit, m->view.scale};
}

void smurf_model_shape(smurf_model *m)
{
    const smurf_settings *c = &m->config;
    struct encoder_shape shape = {m->types,
                                  c->width,
                                  c->heads,
                                  c->head_width,
                                  c->layers,
                                  c->inner,
                                  c->relu ? ACTIVATION_RELU : ACTIVATION_GELU,
                                  c->gap_feature != 0,
                                  c->mask > 0 && smurf_model_other(m) == m->types,
                                  c->counts != 0,
                                  {0},
                                  c->ending != 0,
                                  {0},
                                  clock_of(m)};
    shape.further = smurf_further_view_layout(m->view.further);
    if (shape.counts) smurf_view_count_rates(&m->view, shape.count_rate);
    smurf_model_init_f32(&m->model, smurf_model_class_named_f32(c->model), &shape,
                         c->score ? PARAM_SCORE : PARAM_INTENSITY);
}

static smurf_status read_json(smurf_model *m, const json_t *json, const char *file, smurf_error *err)
{
    if (json_integer_value(json_object_get(json, "format")) != FORMAT_VERSION)
        return smurf_fail_at(err, file, 0, "model format %lld is not supported by this version of smurf (%d is)",
                             (long long)json_integer_value(json_object_get(json, "format")), FORMAT_VERSION);
    smurf_status status = settings_from_json(&m->config, json_object_get(json, "settings"), file, err);
    if (status) return status;
    json_int_t types = json_integer_value(json_object_get(json, "types"));
    if (types < 1 || types > 1 << 24) return broken(file, "types", err);
    m->types = (uint32_t)types;
    if (!scale_from_json(&m->view.scale, m->config.scale, json_object_get(json, "scale")))
        return broken(file, "scale", err);
    if (!scale_from_json(&m->view.feature, SMURF_SCALE_LOG, json_object_get(json, "feature")))
        return broken(file, "feature", err);
    m->view.raw_clock = m->config.raw_clock != 0;
    m->view.clock_unit = json_number_value(json_object_get(json, "clock_unit"));
    const json_t *counts = json_object_get(json, "counts"); /* shortest and longest scale */
    m->view.count_low = json_number_value(json_array_get(counts, 0));
    m->view.count_high = json_number_value(json_array_get(counts, 1));
    m->low = json_number_value(json_object_get(json, "low"));
    m->high = json_number_value(json_object_get(json, "high"));
    const char *wrong = smurf_model_check(m);
    if (wrong) return broken(file, wrong, err);
    m->config.seed = (uint64_t)json_integer_value(json_object_get(json, "seed"));
    json_int_t epoch = json_integer_value(json_object_get(json, "epoch"));
    if (epoch < 0) return broken(file, "epoch", err);
    m->epoch = (size_t)epoch;
    m->dev_loss =
        json_is_number(json_object_get(json, "dev_loss")) ? json_number_value(json_object_get(json, "dev_loss")) : NAN;
    m->calendar = json_is_true(json_object_get(json, "calendar"));
    const char *print = json_string_value(json_object_get(json, "fingerprint"));
    m->fingerprint = print ? strtoull(print, NULL, 16) : 0;
    const char *unit = json_string_value(json_object_get(json, "unit"));
    if (!(m->unit = strdup(unit ? unit : ""))) return smurf_fail_memory(err);
    status = smurf_model_notes_from_json(&m->notes, json, &wrong, err);
    if (!status && wrong) status = broken(file, wrong, err);
    bool right = true;
    if (!status && m->config.wall_clock)
        status = smurf_wall_clock_from_json(&m->wall_clock, json_object_get(json, "wall_clock"), file, &right, err);
    if (!status && !right) return broken(file, "wall_clock", err);
    const json_t *pool = json_object_get(json, "pool");
    if (!status && pool) status = smurf_model_pool_from_json(&m->notes.pool, pool, m->types, file, &right, err);
    if (!status && !right) status = broken(file, "pool", err);
    const json_t *further = json_object_get(json, "further");
    if (!status && further) status = smurf_further_view_from_json(&m->view.further, further, &right, err);
    if (!status && (!right || (further && !smurf_model_class_named_f32(m->config.model)->further)))
        status = broken(file, "further", err);
    if (!status) status = smurf_model_reading_from_json(m, json_object_get(json, "reading"), &right, err);
    if (!status && !right) status = broken(file, "reading", err);
    return status ? status : names_from_json(m, json_object_get(json, "type_names"), file, err);
}

smurf_status smurf_model_from_json(smurf_model **out, const json_t *json, const char *file, smurf_error *err)
{
    *out = NULL;
    smurf_model *m = calloc(1, sizeof *m);
    if (!m) return smurf_fail_memory(err);
    smurf_status status = read_json(m, json, file, err);
    if (status) {
        smurf_model_free(m);
        return status;
    }
    smurf_model_shape(m);
    *out = m;
    return SMURF_OK;
}

smurf_status smurf_model_allocate(smurf_model *m, smurf_error *err)
{
    m->slab = calloc(m->model.params.total, sizeof *m->slab);
    return m->slab ? SMURF_OK : smurf_fail_memory(err);
}

/* A copy of an array of n elements of `size` bytes; NULL if out of memory. */
static void *copy_array(const void *array, size_t n, size_t size)
{
    void *copy = malloc(n ? n * size : 1);
    if (copy && n) memcpy(copy, array, n * size);
    return copy;
}

static bool copy_names(smurf_model *to, const smurf_model *from)
{
    if (!from->type_name) return true;
    to->type_name = calloc(from->types + 1, sizeof *to->type_name);
    for (uint32_t k = 0; to->type_name && k < from->types; k++)
        if (!(to->type_name[k] = strdup(from->type_name[k]))) return false;
    return to->type_name != NULL;
}

smurf_status smurf_model_copy(smurf_model **out, const smurf_model *from, smurf_error *err)
{
    smurf_model *m = *out = copy_array(from, 1, sizeof *from);
    if (!m) return smurf_fail_memory(err);
    m->type_name = NULL;
    m->text = (struct arena){0};
    m->unit = strdup(from->unit);
    m->slab = from->slab ? copy_array(from->slab, from->model.params.total, sizeof *m->slab) : NULL;
    m->notes.history = copy_array(from->notes.history, from->notes.epochs, sizeof *m->notes.history);
    m->notes.conformal = copy_array(from->notes.conformal, from->notes.calibration.conformal, sizeof(double));
    m->notes.split = from->notes.split ? strdup(from->notes.split) : NULL;
    bool seen = !smurf_further_view_copy(&m->view.further, from->view.further, NULL);
    bool pooled = !smurf_pool_copy(&m->notes.pool, from->notes.pool, NULL);
    bool clocked = !smurf_wall_clock_copy(&m->wall_clock, &from->wall_clock, NULL);
    m->model.shape.clock.zone = m->wall_clock.zone;
    bool read = !smurf_reading_copy(&m->reading, &from->reading, &m->text, NULL);
    if (copy_names(m, from) && read && seen && pooled && clocked && m->unit && (m->slab || !from->slab) &&
        m->notes.history && m->notes.conformal && (m->notes.split || !from->notes.split))
        return SMURF_OK;
    smurf_model_free(m);
    *out = NULL;
    return smurf_fail_memory(err);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static struct tensor tensor_of(const struct param *p, const char *name, const void *data)
{
    return (struct tensor){name, TENSOR_F32, p->columns ? 2 : 1, {p->rows, p->columns}, data};
}

static const char *prefixed(const char *prefix, const char *name, struct arena *arena)
{
    char text[128];
    int n = snprintf(text, sizeof text, "%s%s", prefix, name);
    return smurf_arena_text(arena, text, (size_t)n);
}

smurf_status smurf_model_list(const struct model *model, const float *slab, const char *prefix, struct tensor *tensors,
                              struct arena *arena, smurf_error *err)
{
    for (size_t i = 0; i < model->params.count; i++) {
        const struct param *p = &model->params.entry[i];
        const char *name = prefixed(prefix, p->name, arena);
        if (!name) return smurf_fail_memory(err);
        tensors[i] = tensor_of(p, name, slab + p->at);
    }
    return SMURF_OK;
}

static bool all_finite(const float *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(value[i])) return false;
    return true;
}

smurf_status smurf_model_fetch(const struct model *model, const struct tensor_file *file, const char *prefix,
                               float *slab, smurf_error *err)
{
    for (size_t i = 0; i < model->params.count; i++) {
        const struct param *p = &model->params.entry[i];
        char name[128];
        snprintf(name, sizeof name, "%s%s", prefix, p->name);
        struct tensor wanted = tensor_of(p, name, NULL);
        const void *data;
        smurf_status status = smurf_tensors_need(file, &wanted, &data, err);
        if (status) return status;
        if (!all_finite(data, p->size))
            return smurf_fail_at(
                err, file->name, 0,
                "tensor '%s' has a value that is not finite: the file is damaged (copy it again, or retrain)", name);
        if (slab) memcpy(slab + p->at, data, p->size * sizeof *slab);
    }
    return SMURF_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Destination of a model: the file at `path`, or memory if that is NULL. */
struct destination {
    const char *path;
    void **bytes;
    size_t *size;
};

static smurf_status write_model(const smurf_model *model, const struct destination *to, smurf_error *err)
{
    struct arena arena = {0};
    struct tensor tensors[PARAMS_MOST];
    size_t n = model->model.params.count;
    json_t *json = smurf_model_to_json(model);
    char *text = smurf_json_text(json);
    const struct tensor_text about = {"smurf", text};
    smurf_status status =
        text ? smurf_model_list(&model->model, model->slab, "", tensors, &arena, err) : smurf_fail_memory(err);
    if (!status)
        status = to->path ? smurf_tensors_write(to->path, tensors, n, &about, 1, err)
                          : smurf_tensors_write_memory(to->bytes, to->size, tensors, n, &about, 1, err);
    free(text);
    json_decref(json);
    smurf_arena_release(&arena);
    return status;
}

smurf_status smurf_model_save(const smurf_model *model, const char *path, smurf_error *err)
{
    return write_model(model, &(struct destination){.path = path}, err);
}

smurf_status smurf_model_save_memory(const smurf_model *model, void **bytes, size_t *size, smurf_error *err)
{
    *bytes = NULL;
    *size = 0;
    return write_model(model, &(struct destination){.bytes = bytes, .size = size}, err);
}

smurf_status smurf_model_open(smurf_model **out, const struct tensor_file *file, smurf_error *err)
{
    *out = NULL;
    const char *text = smurf_tensors_text(file, "smurf");
    json_t *json = NULL;
    smurf_status status = smurf_json_parse(&json, text, err);
    if (status) return status;
    if (!json) return smurf_fail_at(err, file->name, 0, "not a smurf model: it has no JSON metadata 'smurf'");
    status = smurf_model_from_json(out, json, file->name, err);
    if (!status) status = smurf_model_fetch(&(*out)->model, file, "", NULL, err);
    if (!status) status = smurf_model_allocate(*out, err);
    if (!status) status = smurf_model_fetch(&(*out)->model, file, "", (*out)->slab, err);
    if (status) {
        smurf_model_free(*out);
        *out = NULL;
    }
    json_decref(json);
    return status;
}

/* Reads the model of an open file, and closes the file. */
static smurf_status take_model(smurf_model **out, struct tensor_file *file, smurf_status opened, smurf_error *err)
{
    *out = NULL;
    if (opened) return opened;
    smurf_status status = smurf_model_open(out, file, err);
    smurf_tensors_close(file);
    return status;
}

smurf_status smurf_model_load(smurf_model **out, const char *path, smurf_error *err)
{
    struct tensor_file file;
    return take_model(out, &file, smurf_tensors_open(&file, path, err), err);
}

smurf_status smurf_model_load_memory(smurf_model **out, const void *bytes, size_t size, const char *name,
                                     smurf_error *err)
{
    struct tensor_file file;
    return take_model(out, &file, smurf_tensors_open_memory(&file, bytes, size, name ? name : "memory", err), err);
}
