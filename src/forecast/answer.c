/*
 * answer.c - everything about the next event in one call.
 *
 * Times are on ticks of the clock, if it has any (ticks.c).
 * Given silence, the law counts from the last event but answers count from now: the next event is never before now,
 * whatever the rounding.
 */
#include "forecast/answer.h"

#include "base/sized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The question ---------------------------------------------------------------------------- */

static const double default_levels[] = {0.5, 0.9};
static const smurf_question defaults = {.size = sizeof defaults,
                                        .level = default_levels,
                                        .levels = 2,
                                        .top = SIZE_MAX,
                                        .next = -1,
                                        .paths = 500,
                                        .steps = 200,
                                        .seed = 1,
                                        .recalibrate = 1};

void smurf_question_init_sized(smurf_question *question, size_t size)
{
    smurf_sized_init(question, size, &defaults, sizeof defaults);
}

static smurf_status check_numbers(const smurf_question *q, smurf_error *err)
{
    for (size_t i = 0; i < q->levels; i++)
        if (!(q->level[i] > 0 && q->level[i] < 1))
            return smurf_fail(err, SMURF_ERROR_ARGUMENT, "level %g of an interval is not between 0 and 1", q->level[i]);
    for (size_t i = 0; i < q->horizons; i++)
        if (!(q->within[i] >= 0 && isfinite(q->within[i])))
            return smurf_fail(err, SMURF_ERROR_ARGUMENT, "a horizon of %g cannot be: give one of 0 or more",
                              q->within[i]);
    if (!(q->silence >= 0 && isfinite(q->silence)))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "silence of %g cannot be: give the time since the last event, 0 or more", q->silence);
    return SMURF_OK;
}

smurf_status smurf_question_take(smurf_question *out, const smurf_question *given, const smurf_model *model,
                                 smurf_error *err)
{
    *out = defaults;
    smurf_status status = smurf_sized_take(out, sizeof *out, given, "smurf_question", err);
    if (!status) status = check_numbers(out, err);
    if (status) return status;
    if (out->now && out->silence > 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "give either silence or now, not both");
    if (out->conformal && (out->now || out->silence > 0))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "conformal intervals hold for all gaps together, not given a silence: ask without one");
    if (out->next >= (int64_t)model->types || out->next < -1)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "type %lld is unknown to the model: it has types 0 to %u",
                          (long long)out->next, (unsigned)(model->types - 1));
    if (out->next >= 0 && (out->paths == 0 || out->steps == 0))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the next event of a type needs at least one path and one step");
    if (out->top > model->types) out->top = model->types;
    return SMURF_OK;
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* A type and its probability, for sorting. */
struct ranked {
    double share;
    uint32_t type;
};

/* The public part comes first. The arrays it points to follow in `room`. */
struct answer {
    smurf_answer public;
    smurf_interval *interval, *conformal, *next_interval;
    double *within, *next_within;
    double *share; /* of the named types */
    uint32_t *type;
    double *all;           /* (types of the model) */
    struct ranked *ranked; /* likewise */
    void *room;
};

void smurf_answer_free(smurf_answer *answer)
{
    if (!answer) return;
    struct answer *a = (struct answer *)answer;
    free(a->room);
    free(a);
}

/* All sizes are multiples of 8 bytes except that of the types, which come last. */
static void *carve(char **at, size_t n, size_t size)
{
    void *here = *at;
    *at += n * size;
    return here;
}

smurf_status smurf_answer_new(smurf_answer **out, const smurf_question *q, const smurf_model *model, smurf_error *err)
{
    size_t types = q->top ? model->types : 0;
    size_t levels = q->levels, horizons = q->horizons;
    *out = NULL;
    if (levels > SIZE_MAX / 256 || horizons > SIZE_MAX / 256) return smurf_fail_memory(err);
    struct answer *a = calloc(1, sizeof *a);
    char *at = malloc(3 * levels * sizeof *a->interval + 2 * horizons * sizeof *a->within +
                      types * (2 * sizeof *a->share + sizeof *a->ranked + sizeof *a->type) + 8);
    if (!a || !at) {
        free(a), free(at);
        return smurf_fail_memory(err);
    }
    a->room = at;
    a->interval = carve(&at, levels, sizeof *a->interval);
    a->conformal = carve(&at, levels, sizeof *a->conformal);
    a->next_interval = carve(&at, levels, sizeof *a->next_interval);
    a->within = carve(&at, horizons, sizeof *a->within);
    a->next_within = carve(&at, horizons, sizeof *a->next_within);
    a->share = carve(&at, types, sizeof *a->share);
    a->all = carve(&at, types, sizeof *a->all);
    a->ranked = carve(&at, types, sizeof *a->ranked);
    a->type = carve(&at, types, sizeof *a->type);
    a->public = (smurf_answer){.levels = levels,
                               .horizons = horizons,
                               .interval = a->interval,
                               .conformal = q->conformal ? a->conformal : NULL,
                               .within = a->within,
                               .type = a->type,
                               .share = a->share,
                               .next_interval = q->next >= 0 ? a->next_interval : NULL,
                               .next_within = q->next >= 0 ? a->next_within : NULL};
    *out = &a->public;
    return SMURF_OK;
}

/* ---- The next of a type ---------------------------------------------------------------------- */

static int smaller_first(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Quantile of sorted draws, some of which may be infinite: the smallest x with at least that share of draws at or below
   it. */
static double quantile_of(const double *x, size_t n, double level)
{
    size_t i = (size_t)ceil(level * (double)n);
    return x[i > n ? n - 1 : i ? i - 1 : 0];
}

/* Levels of the ends of an interval. */
static void ends_of(const smurf_question *q, size_t i, double out[2])
{
    out[0] = q->one_sided ? 0 : (1 - q->level[i]) / 2;
    out[1] = q->one_sided ? q->level[i] : 1 - out[0];
}

/* Time of the type's first event in each path, sorted and on ticks; INFINITY if it does not occur. Returns the number
   of paths in which it does. */
static size_t arrivals(const smurf_futures *futures, uint32_t wanted, double since, double tick, double *first)
{
    size_t n = smurf_futures_paths(futures), seen = 0;
    for (size_t i = 0; i < n; i++) {
        const double *time;
        const uint32_t *type;
        size_t events = smurf_futures_path(futures, i, &time, &type);
        bool came = events && type[events - 1] == wanted;
        first[i] = came ? fmax(smurf_ticks_round(time[events - 1], tick) - since, 0) : INFINITY;
        seen += came;
    }
    qsort(first, n, sizeof *first, smaller_first);
    return seen;
}

/* From futures that end with the first event of the type. */
static smurf_status ask_next(struct answer *a, smurf_forecast *f, const smurf_question *q, double since,
                             smurf_error *err)
{
    smurf_futures_config config;
    smurf_futures *futures;
    smurf_futures_config_init(&config);
    config.paths = q->paths;
    config.events = q->steps;
    config.stop_at = q->next;
    config.seed = q->seed;
    config.threads = q->threads;
    config.progress = q->progress;
    config.progress_context = q->progress_context;
    smurf_status status = smurf_forecast_futures(f, &config, &futures, err);
    if (status) return status;
    size_t n = smurf_futures_paths(futures);
    double *first = malloc(n * sizeof *first);
    if (first) {
        a->public.next_seen =
            (double)arrivals(futures, (uint32_t)q->next, since, f->model->notes.tick, first) / (double)n;
        a->public.next_median = quantile_of(first, n, 0.5);
        for (size_t i = 0; i < q->levels; i++) {
            double end[2];
            ends_of(q, i, end);
            a->next_interval[i].low = q->one_sided ? 0 : quantile_of(first, n, end[0]);
            a->next_interval[i].high = quantile_of(first, n, end[1]);
        }
        for (size_t i = 0; i < q->horizons; i++) {
            size_t before = 0;
            while (before < n && first[before] <= q->within[i]) before++;
            a->next_within[i] = (double)before / (double)n;
        }
    }
    free(first);
    smurf_futures_free(futures);
    return first ? SMURF_OK : smurf_fail_memory(err);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Most probable first; ties by lower number. */
static int likely_first(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->share != b->share) return a->share > b->share ? -1 : 1;
    return a->type < b->type ? -1 : a->type > b->type;
}

static smurf_status ask_types(struct answer *a, smurf_forecast *f, size_t top, smurf_error *err)
{
    uint32_t types = f->model->types;
    smurf_status status = smurf_forecast_types(f, a->all, err);
    if (status) return status;
    for (uint32_t k = 0; k < types; k++) a->ranked[k] = (struct ranked){a->all[k], k};
    qsort(a->ranked, types, sizeof *a->ranked, likely_first);
    for (size_t i = 0; i < top; i++) {
        a->type[i] = a->ranked[i].type;
        a->share[i] = a->ranked[i].share;
    }
    a->public.types = top;
    return SMURF_OK;
}

static smurf_status ask_intervals(struct answer *a, smurf_forecast *f, const smurf_question *q, double since,
                                  smurf_error *err)
{
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < q->levels && !status; i++) {
        double end[2], gap[2];
        ends_of(q, i, end);
        status = smurf_forecast_ends(f, end, gap, err);
        a->interval[i] = (smurf_interval){q->one_sided ? 0 : fmax(gap[0] - since, 0), fmax(gap[1] - since, 0)};
        if (status || !q->conformal || !f->events) continue;
        status = smurf_forecast_conformal(f, q->level[i], q->one_sided ? 1 : 2, gap, err);
        a->conformal[i] = (smurf_interval){smurf_ticks_outward(gap[0], f->model->notes.tick, false),
                                           smurf_ticks_outward(gap[1], f->model->notes.tick, true)};
    }
    return status;
}

/* The median gap in whole ticks. */
static smurf_status ask_median(struct answer *a, smurf_forecast *f, smurf_error *err)
{
    const double half[2] = {0.5, 0.5};
    double gap[2];
    smurf_status status = smurf_forecast_ends(f, half, gap, err);
    a->public.median = gap[1];
    return status;
}

static smurf_status ask_all(struct answer *a, smurf_forecast *f, const smurf_question *q, smurf_error *err)
{
    const double since = f->since;
    smurf_status status = ask_median(a, f, err);
    if (!status) status = smurf_forecast_mean(f, &a->public.mean, err);
    if (!status) status = ask_intervals(a, f, q, since, err);
    if (!status) a->public.never = smurf_forecast_never(f);
    a->public.median = fmax(a->public.median - since, 0);
    a->public.mean = fmax(a->public.mean - since, 0);
    for (size_t i = 0; i < q->horizons && !status; i++) {
        status = smurf_forecast_within(f, since + q->within[i], &a->within[i], err);
    }
    if (!status && q->top) status = ask_types(a, f, q->top, err);
    if (!status && q->next >= 0 && f->events) status = ask_next(a, f, q, since, err);
    return status;
}

/* The probability of no event until q->until, by the law of the whole gap. */
static smurf_status ask_survival(smurf_answer *a, smurf_forecast *f, const smurf_question *q, smurf_error *err)
{
    const double since = f->since;
    if (!q->until || !f->events) return SMURF_OK;
    a->silence = smurf_moment_gap(a->last, *q->until);
    double gap = fmax(a->silence, 0), level;
    f->since = 0;
    smurf_status status = smurf_forecast_cdf(f, &gap, &level, 1, err);
    f->since = since;
    if (!status) a->survival = 1 - level;
    return status;
}

/* An empty history has no conformal intervals and no futures. */
static void leave_open(struct answer *a, const smurf_question *q)
{
    a->public.silence = a->public.survival = a->public.never = NAN;
    a->public.next_median = a->public.next_seen = NAN;
    for (size_t i = 0; i < q->levels; i++) {
        a->conformal[i] = (smurf_interval){0, INFINITY};
        a->next_interval[i] = (smurf_interval){NAN, NAN};
    }
    for (size_t i = 0; i < q->horizons; i++) a->next_within[i] = NAN;
}

/* The time that the answer counts from, and the silence until then. */
static smurf_status place(smurf_answer *a, const smurf_forecast *f, const smurf_question *q, double *since,
                          smurf_error *err)
{
    *since = q->silence > 0 ? q->silence : f->since;
    a->events = f->events;
    a->last = a->from = (smurf_moment){0, 0};
    if (!f->events) return SMURF_OK;
    const smurf_moment origin = {f->origin, 0};
    if (!smurf_moment_after(&a->last, origin, f->last)) a->last = origin;
    if (!q->now) {
        if (!smurf_moment_after(&a->from, a->last, *since)) a->from = a->last;
        return SMURF_OK;
    }
    a->from = *q->now;
    *since = smurf_moment_gap(a->last, *q->now);
    if (*since >= 0) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the last event is after now: leave out events after now");
}

smurf_status smurf_answer_fill(smurf_answer *answer, smurf_forecast *f, const smurf_question *q, smurf_error *err)
{
    struct answer *a = (struct answer *)answer;
    const double before = f->since;
    const bool raw = f->raw;
    double since;
    smurf_status status = place(answer, f, q, &since, err);
    if (!status) status = smurf_forecast_silence(f, since, err);
    if (status) return status;
    if (!q->recalibrate) f->raw = true;
    leave_open(a, q);
    status = ask_all(a, f, q, err);
    if (!status) status = ask_survival(answer, f, q, err);
    f->since = before;
    f->raw = raw;
    return status;
}

smurf_status smurf_forecast_ask(smurf_forecast *f, const smurf_question *given, smurf_answer **out, smurf_error *err)
{
    smurf_question q;
    *out = NULL;
    smurf_status status = smurf_question_take(&q, given, f->model, err);
    if (!status) status = smurf_answer_new(out, &q, f->model, err);
    if (!status) status = smurf_answer_fill(*out, f, &q, err);
    if (status) {
        smurf_answer_free(*out);
        *out = NULL;
    }
    return status;
}
