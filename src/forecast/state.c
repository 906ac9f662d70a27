/*
 * state.c - a forecast as bytes, and back.
 *
 *     struct head | coefficients of the last event | times, types and further columns of the window | columns of the
 * last events, if there are any | what the pooled naive laws know, if there are any | levels, if they adapt (q^ of
 * law/adaptive.h) | weights of types, if they follow (law/blend.h) | the history, packed by its class
 *
 * Events alone would not do: SMURF's keys and values depend on whether events came one by one or at once (by rounding)
 * and, where the history is bounded, on events that are forgotten. So what is kept is what the next event depends on.
 * Numbers are in the machine's own format; on a machine of the other byte order the version is not known.
 */
#include "base/error.h"
#include "base/hash.h"
#include "forecast/forecast.h"
#include "model/model_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "smurfsta";
enum { VERSION = 3 };

/* Without padding. */
struct head {
    char magic[8];
    uint32_t version, raw;
    uint64_t size;     /* of everything */
    uint64_t checksum; /* of everything, itself taken as 0 */
    uint64_t model;    /* model_hash */
    uint64_t events, before, history;
    uint64_t window; /* events kept of the window; 0 where the model has no context */
    int64_t origin;
    double first, last, since;
};
_Static_assert(sizeof(struct head) == 104, "the head has no padding");

/* Of all that answers depend on beside the events. */
static uint64_t model_hash(const smurf_model *m)
{
    const struct model_notes *notes = &m->notes;
    const smurf_scale *scale = &m->view.scale, *feature = &m->view.feature;
    const double number[] = {scale->mean, scale->mu, scale->sd,          feature->mean, feature->mu,
                             feature->sd, m->low,    m->view.clock_unit, m->high};
    const double counts[] = {m->view.count_low, m->view.count_high};
    uint64_t h = smurf_hash(HASH_START, m->types);
    for (size_t i = 0; smurf_setting_name(i); i++) {
        char text[512] = "";
        if (smurf_setting_is_of_run(i)) continue;
        smurf_settings_get(&m->config, smurf_setting_name(i), text, sizeof text, NULL);
        h = smurf_hash_bytes(h, text, strlen(text));
    }
    h = smurf_hash_bytes(h, number, sizeof number);
    h = smurf_hash_bytes(h, counts, m->config.counts ? sizeof counts : 0);
    if (m->config.wall_clock) h = smurf_wall_clock_hash(&m->wall_clock, h);
    h = smurf_hash_bytes(h, notes->marginal, notes->has_marginal ? sizeof notes->marginal : 0);
    h = smurf_hash_bytes(h, &notes->tail, sizeof notes->tail);
    h = smurf_hash_bytes(h, notes->map.level, notes->calibration.recalibrated ? sizeof notes->map.level : 0);
    h = smurf_hash_bytes(h, &notes->calibration.adaptive, sizeof notes->calibration.adaptive);
    h = smurf_hash_bytes(h, notes->conformal, notes->calibration.conformal * sizeof *notes->conformal);
    if (notes->pool) h = smurf_pool_hash(notes->pool, h);
    h = smurf_further_view_hash(m->view.further, h);
    return smurf_hash_bytes(h, m->slab, m->model.params.total * sizeof *m->slab);
}

static uint64_t checksum(struct head head, const char *rest, size_t n)
{
    head.checksum = 0;
    return smurf_hash_bytes(smurf_hash_bytes(HASH_START, &head, sizeof head), rest, n);
}

static size_t coefficient_bytes(const smurf_forecast *f)
{
    return f->model->model.class->coefficients(&f->model->model) * sizeof *f->c;
}

static size_t window_bytes(const smurf_forecast *f, size_t window)
{
    return window * (sizeof *f->time + sizeof *f->type + f->columns * sizeof *f->further);
}

static size_t adaptive_bytes(const smurf_forecast *f)
{
    return f->adaptive.gamma > 0 ? sizeof f->adaptive.q : 0;
}

static size_t blend_bytes(const smurf_forecast *f)
{
    return f->blend.rate > 0 ? sizeof f->blend.weight : 0;
}

/* ---- Saving ---------------------------------------------------------------------------------- */

smurf_status smurf_forecast_save(const smurf_forecast *f, void **bytes, size_t *size, smurf_error *err)
{
    const struct history_class *history = f->model->model.class->history;
    size_t window = f->model->config.context ? f->events - f->start : 0;
    size_t rest = 0;
    *size = 0;
    *bytes = NULL;
    if (!f->state) return smurf_forecast_fail_settled(err);
    if (f->events)
        rest = coefficient_bytes(f) + window_bytes(f, window) + smurf_past_columns_pack(&f->past_columns, NULL) +
               smurf_pool_state_pack(&f->past, NULL) + adaptive_bytes(f) + blend_bytes(f) +
               history->pack(f->state, NULL);
    struct head head = {.version = VERSION,
                        .raw = f->raw,
                        .size = sizeof head + rest,
                        .model = model_hash(f->model),
                        .events = f->events,
                        .before = f->before,
                        .history = f->history,
                        .window = window,
                        .origin = f->origin,
                        .first = f->events ? f->first : 0,
                        .last = f->events ? f->last : 0,
                        .since = f->since};
    memcpy(head.magic, magic, sizeof magic);
    char *all = *bytes = malloc(sizeof head + rest);
    if (!all) return smurf_fail_memory(err);
    if (f->events) {
        char *at = mempcpy(all + sizeof head, f->c, coefficient_bytes(f));
        at = mempcpy(at, f->time, window * sizeof *f->time);
        at = mempcpy(at, f->type, window * sizeof *f->type);
        if (f->columns) at = mempcpy(at, f->further, window * f->columns * sizeof *f->further);
        at += smurf_past_columns_pack(&f->past_columns, at);
        at += smurf_pool_state_pack(&f->past, at);
        at = mempcpy(at, f->adaptive.q, adaptive_bytes(f));
        at = mempcpy(at, f->blend.weight, blend_bytes(f));
        history->pack(f->state, at);
    }
    head.checksum = checksum(head, all + sizeof head, rest);
    memcpy(all, &head, sizeof head);
    *size = sizeof head + rest;
    return SMURF_OK;
}

/* ---- Restoring ------------------------------------------------------------------------------- */

static smurf_status damaged(smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_INPUT, "the saved forecast is damaged");
}

static smurf_status check_head(const struct head *head, const char *bytes, size_t size, const smurf_model *model,
                               smurf_error *err)
{
    if (size < sizeof *head || memcmp(head->magic, magic, sizeof magic) != 0)
        return smurf_fail(err, SMURF_ERROR_INPUT, "not a saved forecast");
    if (head->version != VERSION)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "the saved forecast has version %u, but this library reads version %d only",
                          (unsigned)head->version, VERSION);
    if (head->size != size || head->checksum != checksum(*head, bytes + sizeof *head, size - sizeof *head))
        return damaged(err);
    if (head->model != model_hash(model))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the saved forecast belongs to another model, or to this one before it was calibrated again");
    return SMURF_OK;
}

/* A right checksum proves nothing about bytes that were made up: what is used to find a way in memory is checked. */
static bool is_possible(const struct head *h, const smurf_model *m)
{
    size_t events = (size_t)h->events, before = (size_t)h->before;
    if (!isfinite(h->since) || h->since < 0 || h->events > SIZE_MAX / 4 || h->before > SIZE_MAX / 4 || h->raw > 1)
        return false;
    if (!events) return h->window == 0;
    if (!isfinite(h->first) || !isfinite(h->last) || h->first > h->last) return false;
    return h->window == (m->config.context ? events - smurf_window_start(&m->config, before, events - 1) : 0);
}

static bool take_window(smurf_forecast *f, const char *at, size_t n)
{
    memcpy(f->time, at, n * sizeof *f->time);
    memcpy(f->type, at + n * sizeof *f->time, n * sizeof *f->type);
    if (f->columns) {
        memcpy(f->further, at + n * (sizeof *f->time + sizeof *f->type), n * f->columns * sizeof *f->further);
        smurf_further_view_check(f->model->view.further, f->further, n);
    }
    for (size_t i = 0; i < n; i++)
        if (!isfinite(f->time[i]) || (i && f->time[i] < f->time[i - 1]) || f->type[i] > f->model->types) return false;
    return true;
}

static bool take_levels(smurf_forecast *f, const char *at)
{
    double q[ADAPTIVE_LEVELS];
    if (!adaptive_bytes(f)) return true;
    memcpy(q, at, sizeof q);
    return smurf_adaptive_set(&f->adaptive, q);
}

static bool take_weights(smurf_forecast *f, const char *at)
{
    double weight[BLEND_LAWS];
    if (!blend_bytes(f)) return true;
    memcpy(weight, at, sizeof weight);
    return smurf_blend_set(&f->blend, weight);
}

/* The events, from the n bytes at `at`. */
static smurf_status take_events(smurf_forecast *f, const struct head *head, const char *at, size_t n, smurf_error *err)
{
    size_t c = coefficient_bytes(f), window = (size_t)head->window;
    size_t taken = c + window_bytes(f, window);
    if (taken > n) return damaged(err);
    smurf_status status = smurf_forecast_room(f, window, err);
    if (status) return status;
    if (!take_window(f, at + c, window)) return damaged(err);
    if (f->columns) {
        size_t past = smurf_past_columns_unpack(&f->past_columns, at + taken, n - taken);
        if (past == 0) return damaged(err);
        smurf_further_view_check(f->model->view.further, f->past_columns.row, PAST_ROWS);
        taken += past;
    }
    if (f->past.pool) {
        smurf_pool_state_clear(&f->past, f->origin);
        size_t past = smurf_pool_state_unpack(&f->past, at + taken, n - taken);
        if (past == 0 || (f->past.past.events && f->past.past.last != head->last)) return damaged(err);
        taken += past;
    }
    if (n - taken < adaptive_bytes(f) || !take_levels(f, at + taken)) return damaged(err);
    taken += adaptive_bytes(f);
    if (n - taken < blend_bytes(f) || !take_weights(f, at + taken)) return damaged(err);
    taken += blend_bytes(f);
    memcpy(f->c, at, c);
    f->events = (size_t)head->events;
    f->before = (size_t)head->before;
    f->start = smurf_window_start(&f->model->config, f->before, f->events - 1);
    f->first = head->first;
    f->last = head->last;
    smurf_forecast_begin(f, f->first);
    return f->model->model.class->history->unpack(f->state, at + taken, n - taken, f->events - f->start, err);
}

smurf_status smurf_forecast_restore(smurf_forecast **out, const smurf_model *model, const void *bytes, size_t size,
                                    smurf_error *err)
{
    struct head head = {0};
    smurf_forecast *f;
    *out = NULL;
    if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
    smurf_status status = check_head(&head, bytes, size, model, err);
    if (status) return status;
    if (!is_possible(&head, model)) return damaged(err);
    status = smurf_forecast_new(&f, model, (size_t)head.history, err);
    if (status) return status;
    f->origin = head.origin;
    f->since = head.since;
    f->raw = head.raw;
    if (head.events)
        status = take_events(f, &head, (const char *)bytes + sizeof head, size - sizeof head, err);
    else if (size > sizeof head)
        status = damaged(err);
    if (status)
        smurf_forecast_free(f);
    else
        *out = f;
    return status;
}
