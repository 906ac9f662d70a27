/*
 * futures.c - futures many steps ahead: draws a gap from the law, a type given the gap, and continues.
 *
 * Path i draws only from stream i of the seed, so results do not depend on threads. Each thread has its own forecast,
 * which is reset to the history before each path.
 * Gaps are on ticks of the clock, if it has any, as those of the history are; a silence that ends within one is over.
 * Levels that adapt (adapt.c) stay as they are after the history: draws tell them nothing.
 */
#include "forecast/forecast.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/sized.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A path of this length is assumed never to end. */
enum { EVENTS_MOST = 1000000 };

struct path {
    size_t n, room;
    double *time;
    uint32_t *type;
};

struct smurf_futures {
    size_t paths;
    struct path *path;
};

static const smurf_futures_config defaults = {
    .size = sizeof defaults, .paths = 200, .until = INFINITY, .events = 10, .stop_at = -1, .seed = 1};

void smurf_futures_config_init_sized(smurf_futures_config *config, size_t size)
{
    smurf_sized_init(config, size, &defaults, sizeof defaults);
}

void smurf_futures_free(smurf_futures *futures)
{
    if (!futures) return;
    for (size_t i = 0; futures->path && i < futures->paths; i++) {
        free(futures->path[i].time);
        free(futures->path[i].type);
    }
    free(futures->path);
    free(futures);
}

size_t smurf_futures_paths(const smurf_futures *futures)
{
    return futures->paths;
}

size_t smurf_futures_path(const smurf_futures *futures, size_t path, const double **time, const uint32_t **type)
{
    *time = futures->path[path].time;
    *type = futures->path[path].type;
    return futures->path[path].n;
}

/* ---- One path -------------------------------------------------------------------------------- */

static bool keep(struct path *path, double time, uint32_t type)
{
    if (path->n == path->room) {
        size_t room = path->room ? 2 * path->room : 16;
        double *times = realloc(path->time, room * sizeof *times);
        if (times) path->time = times;
        uint32_t *types = realloc(path->type, room * sizeof *types);
        if (types) path->type = types;
        if (!times || !types) return false;
        path->room = room;
    }
    path->time[path->n] = time;
    path->type[path->n++] = type;
    return true;
}

static uint32_t draw_type(smurf_forecast *f, double gap, double u, double *share)
{
    uint32_t last = f->model->types - 1;
    smurf_law_workspace_types(&f->workspace, &gap, share, 1);
    for (uint32_t k = 0; k < last; k++) {
        u -= share[k];
        if (u < 0) return k;
    }
    return last;
}

/* In whole ticks, and no shorter than the silence so far. */
static double on_ticks(const smurf_forecast *f, double gap)
{
    double tick = f->model->notes.tick, rounded = smurf_ticks_round(gap, tick);
    return rounded < f->since ? rounded + tick : rounded;
}

static smurf_status run_path(smurf_forecast *f, const smurf_forecast *base, const smurf_futures_config *c, size_t i,
                             double *share, struct stop *stop, struct path *out, smurf_error *err)
{
    struct random random;
    smurf_random_init(&random, c->seed, i);
    smurf_status status = smurf_forecast_copy(f, base, err);
    for (double time = 0; !status;) {
        if (smurf_stop_asked(stop)) return smurf_stop_fail(stop, err);
        status = smurf_forecast_check(f, err);
        if (status) return status;
        struct dist dist = smurf_forecast_dist(f);
        double u = smurf_random_uniform(&random), gap = on_ticks(f, smurf_dist_quantile(&dist, u));
        time += gap;
        if (!(time <= c->until) || !isfinite(time)) return SMURF_OK;
        uint32_t type = draw_type(f, gap, smurf_random_uniform(&random), share);
        if (!keep(out, time, type)) return smurf_fail_memory(err);
        if ((c->events && out->n >= c->events) || (int64_t)type == c->stop_at) return SMURF_OK;
        if (out->n == EVENTS_MOST)
            return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                              "a future has %d events and has not reached its end: ask for a nearer one", EVENTS_MOST);
        const float *further = NULL; /* of a past event */
        if (f->columns) further = smurf_past_columns_draw(&base->past_columns, type, smurf_random_uniform(&random));
        status = smurf_forecast_push(f, base->last + time, type, further, err);
    }
    return status;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static smurf_status check(const smurf_forecast *f, const smurf_futures_config *c, smurf_error *err)
{
    if (!f->state) return smurf_forecast_fail_settled(err);
    if (!f->events) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the history is empty: append an event first");
    if (c->paths == 0) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "futures need at least one path");
    if (isnan(c->until) || c->until < 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "futures cannot end at %g: give a time after the last event",
                          c->until);
    if (isinf(c->until) && c->events == 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "futures need an end: a horizon or a number of events");
    if (c->stop_at >= (int64_t)f->model->types)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "type %lld is unknown to the model", (long long)c->stop_at);
    return SMURF_OK;
}

/* State of one thread. */
struct worker {
    smurf_forecast *forecast;
    double *share; /* (types) */
    smurf_status status;
    smurf_error err;
};

/* Runs paths in blocks, so that the calling thread can report progress. */
static smurf_status run_block(const smurf_forecast *base, const smurf_futures_config *c, int threads,
                              struct worker *worker, struct stop *stop, smurf_futures *out, size_t from, size_t to,
                              smurf_error *err)
{
    atomic_size_t left = to - from;
#pragma omp parallel num_threads(threads)
    {
        struct worker *w = &worker[smurf_thread_number()];
#pragma omp for schedule(dynamic) nowait
        for (size_t i = from; i < to; i++) {
            if (!w->status) w->status = run_path(w->forecast, base, c, i, w->share, stop, &out->path[i], &w->err);
            atomic_fetch_sub(&left, 1);
        }
        if (to - from > 1) smurf_stop_linger(stop, &left);
    }
    for (int t = 0; t < threads; t++)
        if (worker[t].status) {
            if (err) *err = worker[t].err;
            return worker[t].status;
        }
    return SMURF_OK;
}

static smurf_status run_all(const smurf_forecast *base, const smurf_futures_config *c, int threads, smurf_futures *out,
                            smurf_error *err)
{
    struct worker *worker = calloc((size_t)threads, sizeof *worker);
    smurf_status status = worker ? SMURF_OK : smurf_fail_memory(err);
    for (int t = 0; t < threads && !status; t++) {
        worker[t].share = malloc(base->model->types * sizeof *worker[t].share);
        status = worker[t].share ? smurf_forecast_new(&worker[t].forecast, base->model, base->history, err)
                                 : smurf_fail_memory(err);
    }
    struct progress progress = {.report = c->progress,
                                .context = c->progress_context,
                                .state = {"drawing futures", "paths", 0, (double)c->paths}};
    struct stop stop;
    smurf_stop_init(&stop, &progress);
    size_t block = 16 * (size_t)threads;
    for (size_t i = 0; i < c->paths && !status; i += block) {
        size_t to = i + block < c->paths ? i + block : c->paths;
        status = smurf_progress_tell(&progress, (double)i, err);
        if (!status) status = run_block(base, c, threads, worker, &stop, out, i, to, err);
    }
    for (int t = 0; worker && t < threads; t++) {
        smurf_forecast_free(worker[t].forecast);
        free(worker[t].share);
    }
    free(worker);
    return status;
}

smurf_status smurf_forecast_futures(smurf_forecast *forecast, const smurf_futures_config *given, smurf_futures **out,
                                    smurf_error *err)
{
    *out = NULL;
    smurf_futures_config c = defaults;
    smurf_status status = smurf_sized_take(&c, sizeof c, given, "smurf_futures_config", err);
    if (!status) status = check(forecast, &c, err);
    if (status) return status;
    int threads = smurf_threads(c.threads, c.paths);
    smurf_futures *f = calloc(1, sizeof *f);
    if (f) f->path = calloc(c.paths, sizeof *f->path);
    if (!f || !f->path) {
        free(f);
        return smurf_fail_memory(err);
    }
    f->paths = c.paths;
    status = run_all(forecast, &c, threads, f, err);
    if (status)
        smurf_futures_free(f);
    else
        *out = f;
    return status;
}
