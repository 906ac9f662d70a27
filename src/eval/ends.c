/*
 * ends.c - see ends.h.
 *
 * Of an event at t in a sequence that was observed until T, the forecast says that nothing follows until T with
 * probability S(T - t). Whether that is so is known of every event: it is of the last one of each sequence alone. With
 * forecasts p and outcomes o, the Brier score is the mean of (p - o)^2; always to say the share of the last ones, s,
 * has the score s (1 - s).
 */
#include "eval/ends.h"

#include "base/progress.h"
#include "base/threads.h"
#include "data/data.h"
#include "data/sum.h"

#include <math.h>
#include <stdlib.h>

/* ---- Forecasts --------------------------------------------------------------------------------------- */

double smurf_ends_forecast(const struct predictor *model, void *workspace, const smurf_sequence *s, size_t row,
                           const struct dist *dist)
{
    double left = s->end - s->time[row];
    if (!(left > 0) || !model->class->never) return NAN;
    double never = model->class->never(model->self, workspace, row);
    return never + (1 - never) * (1 - smurf_dist_cdf(dist, left));
}

static double last_of(const struct evaluation_plan *plan, const struct adaptation *adaptation, void *workspace,
                      size_t sequence)
{
    const smurf_sequence *s = &plan->test->sequence[sequence];
    struct adaptation_cursor cursor = {0};
    struct adapted adapted;
    const struct predictor *model = &plan->model;
    if (!s->length || s->length < s->first || !(s->end > s->time[s->length - 1])) return NAN;
    model->class->read(model->self, workspace, s);
    struct dist dist = model->class->dist(model->self, workspace, s->length - 1, 0);
    if (adaptation)
        dist = smurf_adapted(&adapted, dist, &smurf_adaptation_at(&cursor, adaptation, sequence, s->length)->levels);
    return smurf_ends_forecast(model, workspace, s, s->length - 1, &dist);
}

static size_t longest(const smurf_data *data)
{
    size_t most = 0;
    for (size_t s = 0; s < data->sequences; s++)
        if (data->sequence[s].length > most) most = data->sequence[s].length;
    return most;
}

smurf_status smurf_ends_measure(double *out, const struct evaluation_plan *plan, const struct adaptation *adaptation,
                                smurf_error *err)
{
    const smurf_data *test = plan->test;
    const struct predictor *model = &plan->model;
    const size_t most = longest(test), count = test->sequences;
    const int threads = smurf_threads(plan->threads, count);
    struct progress progress = {plan->progress,
                                plan->progress_context,
                                {.what = "evaluating ends", .unit = "sequences", .total = (double)count}};
    struct stop stop;
    atomic_size_t left = count;
    bool failed = false;
    (void)threads; /* without OpenMP */
    smurf_stop_init(&stop, &progress);
#pragma omp parallel num_threads(threads)
    {
        void *workspace = model->class->workspace_new(model->self, most, &stop);
        if (!workspace) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(dynamic) nowait
        for (size_t s = 0; s < count; s++) {
            if (workspace && !smurf_stop_asked(&stop)) out[s] = last_of(plan, adaptation, workspace, s);
            atomic_fetch_sub(&left, 1);
        }
        smurf_stop_linger(&stop, &left);
        model->class->workspace_free(workspace);
    }
    if (failed) return smurf_fail_memory(err);
    return stop.asked ? smurf_stop_fail(&stop, err) : SMURF_OK;
}

/* ---- Summary ----------------------------------------------------------------------------------------- */

struct pair {
    double forecast;
    size_t index; /* ties keep their order */
    bool last;
};

static int by_forecast(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->forecast != b->forecast) return a->forecast < b->forecast ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static size_t add(struct pair *pair, size_t at, const double *forecast, size_t n, bool last)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(forecast[i])) pair[at] = (struct pair){forecast[i], at, last}, at++;
    return at;
}

static void curve(smurf_ends *out, const struct pair *pair)
{
    for (size_t k = 0; k < SMURF_END_GROUPS; k++) {
        size_t from = k * out->n / SMURF_END_GROUPS, to = (k + 1) * out->n / SMURF_END_GROUPS;
        struct sum forecast = {0};
        size_t last = 0;
        for (size_t i = from; i < to; i++) {
            smurf_sum_add(&forecast, pair[i].forecast);
            last += pair[i].last;
        }
        out->group[k] = to - from;
        out->group_forecast[k] = smurf_sum_value(&forecast) / (double)(to - from);
        out->group_share[k] = (double)last / (double)(to - from);
    }
}

smurf_status smurf_ends_fill(smurf_ends *out, const double *followed, size_t n, const double *last, size_t m,
                             smurf_error *err)
{
    struct pair *pair = malloc((n + m + 1) * sizeof *pair);
    if (!pair) return smurf_fail_memory(err);
    struct sum forecast = {0}, miss = {0};
    size_t came = add(pair, 0, followed, n, false);
    *out = (smurf_ends){.n = add(pair, came, last, m, true)};
    out->last = out->n - came;
    qsort(pair, out->n, sizeof *pair, by_forecast);
    for (size_t i = 0; i < out->n; i++) {
        double d = pair[i].forecast - pair[i].last;
        smurf_sum_add(&forecast, pair[i].forecast);
        smurf_sum_add(&miss, d * d);
    }
    out->share = (double)out->last / (double)out->n;
    out->forecast = smurf_sum_value(&forecast) / (double)out->n;
    out->brier = smurf_sum_value(&miss) / (double)out->n;
    out->brier_constant = out->share * (1 - out->share);
    curve(out, pair);
    free(pair);
    return SMURF_OK;
}
