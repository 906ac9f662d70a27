/*
 * forecast.c - see forecast.h: appending events, and queries about the next one.
 *
 * The model has no law for an empty history: the quantiles of the train gaps are used instead, and types are equally
 * likely.
 */
#include "forecast/forecast.h"

#include "base/error.h"
#include "base/random.h"
#include "eval/adaptation.h"
#include "law/conformal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_SAMPLE = 0x73616d70 };

/* ---- Creation --------------------------------------------------------------------------------- */

void smurf_forecast_free(smurf_forecast *f)
{
    if (!f) return;
    f->model->model.class->history->close(f->state);
    smurf_law_workspace_release(&f->workspace);
    smurf_pool_state_release(&f->past);
    smurf_past_columns_release(&f->past_columns);
    free(f->c), free(f->time), free(f->type), free(f->further), free(f->row);
    free(f);
}

smurf_forecast *smurf_forecast_new_settled(const smurf_model *model, size_t history)
{
    smurf_forecast *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->model = model;
    f->history = history;
    smurf_adaptive_init(&f->adaptive, model->notes.calibration.adaptive);
    smurf_model_blend(model, &f->blend);
    f->c = malloc(model->model.class->coefficients(&model->model) * sizeof *f->c);
    f->columns = smurf_view_columns(&model->view);
    f->further = f->columns ? malloc(f->columns * sizeof *f->further) : NULL;
    f->row = f->columns ? malloc(f->columns * sizeof *f->row) : NULL;
    bool past = smurf_pool_state_init(&f->past, model->notes.pool);
    past = smurf_past_columns_init(&f->past_columns, f->columns) && (!f->columns || (f->further && f->row)) && past;
    if (past && f->c) return f;
    smurf_forecast_free(f);
    return NULL;
}

smurf_status smurf_forecast_new(smurf_forecast **out, const smurf_model *model, size_t history, smurf_error *err)
{
    *out = NULL;
    smurf_forecast *f = smurf_forecast_new_settled(model, history);
    if (!f) return smurf_fail_memory(err);
    smurf_status status = smurf_forecast_room(f, 1, err);
    if (!status) status = model->model.class->history->open(&f->state, &model->model, model->slab, history, err);
    if (status)
        smurf_forecast_free(f);
    else
        *out = f;
    return status;
}

void smurf_forecast_clear(smurf_forecast *f, int64_t origin)
{
    if (f->state) f->model->model.class->history->clear(f->state);
    smurf_pool_state_clear(&f->past, origin);
    f->past_columns.events = 0;
    f->events = f->start = f->before = 0;
    f->origin = origin;
    f->since = 0;
    f->ready = false;
    smurf_adaptive_init(&f->adaptive, f->adaptive.gamma);
    smurf_blend_init(&f->blend, f->blend.rate, f->blend.there);
}

void smurf_forecast_rest(smurf_forecast *f)
{
    smurf_law_workspace_release(&f->workspace);
    f->ready = false;
}

smurf_status smurf_forecast_wake(smurf_forecast *f, bool *finite, smurf_error *err)
{
    *finite = true;
    smurf_status status = f->workspace.model ? SMURF_OK : smurf_law_workspace_init(&f->workspace, f->model, err);
    if (status || !f->events) return status;
    if (!f->ready) f->ready = *finite = smurf_law_workspace_set(&f->workspace, f->c);
    smurf_law_workspace_pool(&f->workspace, f->raw ? NULL : &f->past);
    smurf_law_workspace_blend(&f->workspace, &f->blend);
    return SMURF_OK;
}

void smurf_forecast_recalibrate(smurf_forecast *f, int on)
{
    f->raw = !on;
}

size_t smurf_forecast_events(const smurf_forecast *f)
{
    return f->events;
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Takes in the coefficients of an event at `last`. */
static void take_in(smurf_forecast *f, double last)
{
    f->last = last;
    f->since = 0;
    f->ready = false;
}

smurf_status smurf_forecast_room(smurf_forecast *f, size_t n, smurf_error *err)
{
    if (n <= f->room) return SMURF_OK;
    size_t room = 2 * n;
    double *time = realloc(f->time, room * sizeof *time);
    if (time) f->time = time;
    uint32_t *type = realloc(f->type, room * sizeof *type);
    if (type) f->type = type;
    float *further = f->columns ? realloc(f->further, room * f->columns * sizeof *further) : NULL;
    if (further) f->further = further;
    if (!time || !type || (f->columns && !further)) return smurf_fail_memory(err);
    f->room = room;
    return SMURF_OK;
}

void smurf_forecast_begin(smurf_forecast *f, double first)
{
    const struct history_class *history = f->model->model.class->history;
    const smurf_sequence window = {.time = &first, .length = 1, .origin = f->origin};
    if (history->begin) history->begin(f->state, smurf_view_base(&f->model->view, &window));
}

/* Reads the events of a window in one pass of the encoder. */
static smurf_status fill(smurf_forecast *f, const double *time, const uint32_t *type, const float *further, size_t n,
                         smurf_error *err)
{
    const smurf_sequence window = {.time = time, .type = type, .length = n, .origin = f->origin};
    double *seen = malloc(n * sizeof *seen);
    float *gap = malloc(n * sizeof *gap);
    smurf_status status = seen && gap ? SMURF_OK : smurf_fail_memory(err);
    for (size_t i = 0; i < n && !status; i++) {
        seen[i] = smurf_view_time(&f->model->view, &window, i);
        gap[i] = smurf_view_gap(&f->model->view, &window, i);
    }
    if (!status) smurf_forecast_begin(f, time[0]);
    if (further) f->model->model.class->history->further(f->state, further);
    if (!status) status = f->model->model.class->history->fill(f->state, type, seen, gap, n, f->c, err);
    if (!status) {
        f->first = time[0];
        take_in(f, time[n - 1]);
    } else if (f->events) {
        smurf_forecast_begin(f, f->first);
    }
    free(seen);
    free(gap);
    return status;
}

/* The next event starts a new window, which begins with the events it shares with the current one. */
static smurf_status next_window(smurf_forecast *f, double time, uint32_t type, const float *further, smurf_error *err)
{
    size_t start = smurf_window_start(&f->model->config, f->before, f->events), skipped = start - f->start;
    size_t n = f->events - start + 1;
    smurf_status status = smurf_forecast_room(f, skipped + n, err);
    if (status) return status;
    f->time[skipped + n - 1] = time;
    f->type[skipped + n - 1] = type;
    float *rows = f->columns ? f->further + skipped * f->columns : NULL;
    if (rows) memcpy(rows + (n - 1) * f->columns, further, f->columns * sizeof *rows);
    status = fill(f, f->time + skipped, f->type + skipped, rows, n, err);
    if (status) return status;
    memmove(f->time, f->time + skipped, n * sizeof *f->time);
    memmove(f->type, f->type + skipped, n * sizeof *f->type);
    if (rows) memmove(f->further, rows, n * f->columns * sizeof *rows);
    f->start = start;
    return SMURF_OK;
}

/* Appends an event to the same window. */
static smurf_status same_window(smurf_forecast *f, double time, uint32_t type, const float *further, smurf_error *err)
{
    const double near[2] = {f->last, time}, far[2] = {f->first, time};
    const smurf_sequence last = {.time = near, .length = 2, .origin = f->origin};
    const smurf_sequence whole = {.time = far, .length = 2, .origin = f->origin};
    const struct view *view = &f->model->view;
    smurf_status status = f->model->config.context ? smurf_forecast_room(f, f->events - f->start + 1, err) : SMURF_OK;
    if (!status && f->columns) f->model->model.class->history->further(f->state, further);
    if (!status)
        status = f->model->model.class->history->append(f->state, type, smurf_view_time(view, &whole, 1),
                                                        smurf_view_gap(view, &last, 1), f->c, err);
    if (status) return status;
    if (f->model->config.context) {
        f->time[f->events - f->start] = time;
        f->type[f->events - f->start] = type;
        if (f->columns) memcpy(f->further + (f->events - f->start) * f->columns, further, f->columns * sizeof *further);
    }
    take_in(f, time);
    return SMURF_OK;
}

smurf_status smurf_forecast_push(smurf_forecast *f, double time, uint32_t type, const float *further, smurf_error *err)
{
    if (f->columns && !further) {
        smurf_further_view_see(f->model->view.further, NULL, f->row);
        further = f->row;
    }
    bool begins = f->events == 0 || smurf_window_start(&f->model->config, f->before, f->events) != f->start;
    smurf_status status = begins ? next_window(f, time, type, further, err) : same_window(f, time, type, further, err);
    if (status) return status;
    f->events++;
    smurf_past_columns_add(&f->past_columns, type, further);
    smurf_pool_state_push(&f->past, time, type);
    return SMURF_OK;
}

void smurf_forecast_copy_law(smurf_forecast *to, const smurf_forecast *from)
{
    const struct model *model = &from->model->model;
    memcpy(to->c, from->c, model->class->coefficients(model) * sizeof *to->c);
    smurf_pool_state_copy(&to->past, &from->past);
    smurf_past_columns_copy(&to->past_columns, &from->past_columns);
    to->events = from->events;
    to->before = from->before;
    to->start = from->start;
    to->origin = from->origin;
    to->first = from->first;
    to->last = from->last;
    to->since = from->since;
    to->raw = from->raw;
    to->adaptive = from->adaptive;
    to->blend = from->blend;
    to->ready = false;
}

smurf_status smurf_forecast_copy(smurf_forecast *to, const smurf_forecast *from, smurf_error *err)
{
    bool branch = to->start == from->start && to->before == from->before && to->first == from->first;
    smurf_status status = from->model->model.class->history->copy(to->state, from->state, branch, err);
    if (status) return status;
    if (from->model->config.context) {
        status = smurf_forecast_room(to, from->events - from->start, err);
        if (status) return status;
        memcpy(to->time, from->time, (from->events - from->start) * sizeof *to->time);
        memcpy(to->type, from->type, (from->events - from->start) * sizeof *to->type);
        if (to->columns)
            memcpy(to->further, from->further, (from->events - from->start) * to->columns * sizeof *to->further);
    }
    smurf_forecast_copy_law(to, from);
    return SMURF_OK;
}

smurf_status smurf_forecast_check_event(const smurf_forecast *f, double time, uint32_t type, smurf_error *err)
{
    if (!f->state) return smurf_forecast_fail_settled(err);
    if (!isfinite(time)) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "time %g of an event is not finite", time);
    if (f->events && time < f->last)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "time %.17g lies before the last event, at %.17g", time, f->last);
    if (type > f->model->types)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "type %u is unknown to the model: it has types 0 to %u, and %u stands for any other",
                          (unsigned)type, (unsigned)(f->model->types - 1), (unsigned)f->model->types);
    return SMURF_OK;
}

smurf_status smurf_forecast_read(smurf_forecast *f, const smurf_sequence *s, size_t events, smurf_error *err)
{
    smurf_forecast_clear(f, s->origin);
    if (events > s->length)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the sequence has %zu events, not %zu", s->length, events);
    if (events == 0) return SMURF_OK;
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < events && !status; i++) {
        status = smurf_forecast_check_event(f, s->time[i], s->type[i], err);
        if (!status && i && s->time[i] < s->time[i - 1])
            status =
                smurf_fail(err, SMURF_ERROR_ARGUMENT, "event %zu of the sequence lies before the one before it", i);
    }
    if (status) return status;
    const size_t all = events; /* with a bound on the history, levels follow the laws that have it */
    bool moves = smurf_followed_moves(&(struct followed){f->adaptive, f->blend});
    if (moves && f->history && f->history < all) events = smurf_adaptation_begin(all);
    size_t start = smurf_window_start(&f->model->config, s->before, events - 1), n = events - start;
    if (f->model->config.context) {
        status = smurf_forecast_room(f, n, err);
        if (status) return status;
        memcpy(f->time, s->time + start, n * sizeof *f->time);
        memcpy(f->type, s->type + start, n * sizeof *f->type);
    }
    float *further;
    status = smurf_forecast_read_columns(f, s, start, events, &further, err);
    if (!status) status = fill(f, s->time + start, s->type + start, further, n, err);
    free(further);
    if (status) return status;
    for (size_t i = 0; i < events; i++) smurf_pool_state_push(&f->past, s->time[i], s->type[i]);
    f->start = start;
    f->events = events;
    f->before = s->before;
    if (events == all) return smurf_forecast_adapt(f, s, err);
    for (size_t i = events; i < all && !status; i++)
        status = smurf_forecast_append_with(f, s->time[i], s->type[i], smurf_forecast_columns_of(f, s, i), err);
    return status;
}

smurf_status smurf_forecast_silence(smurf_forecast *f, double since, smurf_error *err)
{
    if (!isfinite(since) || since < 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "silence of %g cannot be: give the time since the last event, 0 or more", since);
    f->since = since;
    return SMURF_OK;
}

/* ---- The law --------------------------------------------------------------------------------- */

static struct dist law_of_next(smurf_forecast *f)
{
    if (!f->events) return smurf_empirical(&f->marginal, f->model->notes.marginal, MARGINAL_LEVELS);
    struct dist dist = smurf_law_workspace_dist(&f->workspace, f->raw);
    return f->raw ? dist : smurf_adapted(&f->adapted, dist, &f->adaptive);
}

static bool may_end(const smurf_forecast *f)
{
    return f->events && f->model->config.ending;
}

struct dist smurf_forecast_dist(smurf_forecast *f)
{
    struct dist dist = law_of_next(f);
    if (may_end(f)) dist = smurf_may_end(&f->ending, dist, smurf_law_workspace_never(&f->workspace));
    return smurf_silent(&f->silent, dist, f->since);
}

struct dist smurf_forecast_coming(smurf_forecast *f)
{
    return smurf_silent(&f->silent, law_of_next(f), f->since);
}

double smurf_forecast_never(smurf_forecast *f)
{
    if (!may_end(f)) return NAN;
    struct dist dist = smurf_forecast_dist(f);
    return 1 - smurf_dist_cdf(&dist, INFINITY);
}

smurf_status smurf_forecast_check(smurf_forecast *f, smurf_error *err)
{
    if (!f->events && !f->model->notes.has_marginal)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the history is empty, and the model file predates support for that: append an event");
    bool finite;
    smurf_status status = smurf_forecast_wake(f, &finite, err);
    if (status || finite) return status;
    return smurf_fail(err, SMURF_ERROR_INPUT,
                      "the model gives no finite law after the event at %g: its weights, or the times, are too large",
                      f->last);
}

/* Answers must be numbers; infinite only where adaptive levels are. */
static smurf_status check_answer(const smurf_forecast *f, const double *x, size_t n, const char *what, smurf_error *err)
{
    bool open = f->events && !f->raw && smurf_adaptive_is_open(&f->adaptive);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]) && !(open && x[i] == INFINITY))
            return smurf_fail(err, SMURF_ERROR_INPUT,
                              "the %s after the event at %g%s is not finite: the times or the model's weights are too "
                              "large",
                              what, f->last, f->since > 0 ? " and the silence since" : "");
    return SMURF_OK;
}

/* A gap is infinite where no further event may come. */
static smurf_status check_gap(const smurf_forecast *f, double gap, const char *what, smurf_error *err)
{
    return may_end(f) && gap == INFINITY ? SMURF_OK : check_answer(f, &gap, 1, what, err);
}

static smurf_status check_gaps(const double *gap, size_t n, smurf_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(gap[i])) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "a gap to be asked about is not a number");
    return SMURF_OK;
}

smurf_status smurf_forecast_quantile(smurf_forecast *f, const double *level, double *gap, size_t n, smurf_error *err)
{
    smurf_status status = smurf_forecast_check(f, err);
    for (size_t i = 0; i < n && !status; i++)
        if (!(level[i] >= 0 && level[i] <= 1))
            status = smurf_fail(err, SMURF_ERROR_ARGUMENT, "level %g is not between 0 and 1", level[i]);
    if (status) return status;
    struct dist dist = smurf_forecast_dist(f);
    dist.class->quantile(dist.self, level, gap, n);
    for (size_t i = 0; i < n && !status; i++)
        if (!(level[i] == 1 && isinf(gap[i]))) status = check_gap(f, gap[i], "quantile", err);
    return status;
}

smurf_status smurf_forecast_ends(smurf_forecast *f, const double level[2], double gap[2], smurf_error *err)
{
    gap[0] = gap[1] = NAN;
    smurf_status status = smurf_forecast_check(f, err);
    if (status) return status;
    struct dist dist = smurf_forecast_dist(f);
    gap[0] = smurf_ticks_low(&dist, f->model->notes.tick, level[0]);
    gap[1] = smurf_ticks_high(&dist, f->model->notes.tick, level[1]);
    status = check_gap(f, gap[0], "quantile", err);
    return status ? status : check_gap(f, gap[1], "quantile", err);
}

smurf_status smurf_forecast_within(smurf_forecast *f, double gap, double *level, smurf_error *err)
{
    smurf_status status = smurf_forecast_check(f, err);
    if (!status) status = check_gaps(&gap, 1, err);
    if (status) return status;
    struct dist dist = smurf_forecast_dist(f);
    *level = smurf_ticks_cdf(&dist, f->model->notes.tick, gap);
    return check_answer(f, level, 1, "probability", err);
}

smurf_status smurf_forecast_cdf(smurf_forecast *f, const double *gap, double *level, size_t n, smurf_error *err)
{
    smurf_status status = smurf_forecast_check(f, err);
    if (!status) status = check_gaps(gap, n, err);
    if (status) return status;
    struct dist dist = smurf_forecast_dist(f);
    dist.class->cdf(dist.self, gap, level, n);
    return check_answer(f, level, n, "probability", err);
}

smurf_status smurf_forecast_density(smurf_forecast *f, const double *gap, double *density, size_t n, smurf_error *err)
{
    smurf_status status = smurf_forecast_check(f, err);
    if (!status) status = check_gaps(gap, n, err);
    if (status) return status;
    struct dist dist = smurf_forecast_dist(f);
    dist.class->density(dist.self, gap, density, n);
    return check_answer(f, density, n, "density", err);
}

smurf_status smurf_forecast_mean(smurf_forecast *f, double *gap, smurf_error *err)
{
    smurf_status status = smurf_forecast_check(f, err);
    if (status) return status;
    struct dist dist = smurf_forecast_coming(f);
    *gap = smurf_dist_mean(&dist);
    return check_answer(f, gap, 1, "mean", err);
}

smurf_status smurf_forecast_sample(smurf_forecast *f, uint64_t seed, double *gap, size_t n, smurf_error *err)
{
    smurf_status status = smurf_forecast_check(f, err);
    if (status) return status;
    struct dist dist = smurf_forecast_dist(f);
    struct random random;
    smurf_random_init(&random, seed, STREAM_SAMPLE);
    for (size_t i = 0; i < n; i++) gap[i] = smurf_random_uniform(&random);
    smurf_dist_draw(&dist, gap, gap, n);
    for (size_t i = 0; i < n && !status; i++) status = check_gap(f, gap[i], "draw", err);
    return status;
}

/* ---- Types ----------------------------------------------------------------------------------- */

static void equal_shares(const smurf_forecast *f, double *share)
{
    for (uint32_t k = 0; k < f->model->types; k++) share[k] = 1.0 / f->model->types;
}

/* Mean over the law, at the midpoints of LEVELS equal parts of its mass. */
static void type_shares(smurf_forecast *f, const struct dist *dist, double *out)
{
    enum { LEVELS = 32 };
    double gap[LEVELS];
    for (int i = 0; i < LEVELS; i++) gap[i] = (i + 0.5) / LEVELS;
    dist->class->quantile(dist->self, gap, gap, LEVELS);
    smurf_law_workspace_mean_types(&f->workspace, gap, LEVELS, out);
}

smurf_status smurf_forecast_types(smurf_forecast *f, double *share, smurf_error *err)
{
    if (!f->events) {
        equal_shares(f, share);
        return SMURF_OK;
    }
    smurf_status status = smurf_forecast_check(f, err);
    if (status) return status;
    struct dist dist = smurf_forecast_coming(f);
    type_shares(f, &dist, share);
    return check_answer(f, share, f->model->types, "probability of a type", err);
}

smurf_status smurf_forecast_types_at(smurf_forecast *f, double gap, double *share, smurf_error *err)
{
    if (!(gap >= 0)) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "gap %g cannot be: give one of 0 or more", gap);
    if (!f->events) {
        equal_shares(f, share);
        return SMURF_OK;
    }
    smurf_status status = smurf_forecast_check(f, err);
    if (status) return status;
    smurf_law_workspace_types(&f->workspace, &gap, share, 1);
    return check_answer(f, share, f->model->types, "probability of a type", err);
}

/* ---- Conformal intervals --------------------------------------------------------------------- */

smurf_status smurf_forecast_conformal(smurf_forecast *f, double level, int sides, double gap[2], smurf_error *err)
{
    const struct model_notes *n = &f->model->notes;
    if (!(level > 0 && level < 1) || (sides != 1 && sides != 2))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "a conformal interval needs a level between 0 and 1 and 1 or 2 sides");
    if (f->since > 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "conformal intervals hold for all gaps together, not given a silence: ask without one");
    if (!f->events) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the history is empty: append an event");
    double each = sides == 2 ? 1 - (1 - level) / 2 : level;
    double upper = smurf_conformal_upper(n->conformal, n->calibration.conformal, each);
    double lower = sides == 2 ? smurf_conformal_lower(n->conformal, n->calibration.conformal, each) : 0;
    smurf_status status = smurf_forecast_check(f, err);
    if (status) return status;
    bool raw = f->raw;
    f->raw = true;
    struct dist dist = law_of_next(f);
    gap[0] = lower > 0 ? smurf_dist_quantile(&dist, lower) : 0;
    gap[1] = isfinite(upper) ? smurf_dist_quantile(&dist, upper) : INFINITY;
    f->raw = raw;
    return check_answer(f, gap, isfinite(upper) ? 2 : 1, "conformal interval", err);
}
