/*
 * http_next.c - the events that follow, by sampling: "next" of a forecast.
 *
 * The futures are those of `smurf sample`: as many, from the same seed. For each of the events: quantiles of its time
 * over the futures, those that end before it count as infinite; how many have it; and its types in these.
 */
#include "http.h"

#include "json_out.h"
#include "option.h"

#include <math.h>
#include <stdlib.h>

enum { PATHS = 200, AT_ONCE = 4 };

static int smaller_first(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The smallest of the sorted numbers with a share of at least `level` at or below it. */
static double quantile_of(const double *x, size_t n, double level)
{
    size_t i = (size_t)ceil(level * (double)n);
    return x[i > n ? n - 1 : i ? i - 1 : 0];
}

struct telling {
    FILE *out;
    const struct question *question;
    const smurf_answer *answer;
    double since; /* from the last event to where the answer counts from */
    double *time; /* (PATHS) of one of the events, from where the answer counts from */
    size_t *seen; /* (types) */
};

/* Takes event k of each future; returns how many have one. */
static size_t gather(struct telling *t, const smurf_futures *futures, size_t k)
{
    size_t paths = smurf_futures_paths(futures), came = 0;
    for (uint32_t type = 0; type < smurf_model_types(t->question->model); type++) t->seen[type] = 0;
    for (size_t i = 0; i < paths; i++) {
        const double *time;
        const uint32_t *type;
        bool there = smurf_futures_path(futures, i, &time, &type) > k;
        t->time[i] = there ? fmax(time[k] - t->since, 0) : INFINITY;
        if (there) t->seen[type[k]]++;
        came += there;
    }
    qsort(t->time, paths, sizeof *t->time, smaller_first);
    return came;
}

static void put_intervals(const struct telling *t)
{
    const struct question *q = t->question;
    size_t levels = q->ask.levels - (q->curve ? q->curve / 2 - 1 : 0); /* the others are the curve's */
    fputs(",\"intervals\":[", t->out);
    for (size_t i = 0; i < levels; i++) {
        double level = q->level[i], low = quantile_of(t->time, PATHS, (1 - level) / 2),
               high = quantile_of(t->time, PATHS, 1 - (1 - level) / 2);
        fprintf(t->out, "%s{\"level\":%.12g", i ? "," : "", level);
        json_number(t->out, "low", low);
        json_number(t->out, "high", high);
        if (q->calendar) {
            json_at(t->out, "low_at", t->answer->from, low, 1);
            json_at(t->out, "high_at", t->answer->from, high, 1);
        }
        putc('}', t->out);
    }
    putc(']', t->out);
}

/* The most frequent ones first, as many as were asked for; ties by number. */
static void put_types(const struct telling *t, size_t came)
{
    const smurf_model *model = t->question->model;
    char name[24];
    fputs(",\"types\":[", t->out);
    for (size_t i = 0; i < t->question->ask.top; i++) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < smurf_model_types(model); k++)
            if (t->seen[k] > t->seen[best]) best = k;
        if (!t->seen[best]) break;
        fputs(i ? ",{\"type\":" : "{\"type\":", t->out);
        put_string(t->out, type_text(name, model, best));
        json_number(t->out, "p", (double)t->seen[best] / (double)came);
        putc('}', t->out);
        t->seen[best] = 0;
    }
    putc(']', t->out);
}

static void put_event(struct telling *t, const smurf_futures *futures, size_t k)
{
    double sum = 0;
    size_t came = gather(t, futures, k);
    for (size_t i = 0; i < PATHS; i++) sum += t->time[i];
    fprintf(t->out, "%s{\"event\":%zu", k ? "," : "", k + 1);
    double median = quantile_of(t->time, PATHS, 0.5);
    json_at(t->out, "median_time", t->answer->from, median, t->question->calendar);
    json_number(t->out, "median", median);
    json_number(t->out, "mean", sum / PATHS);
    put_intervals(t);
    json_number(t->out, "seen", (double)came / PATHS);
    put_types(t, came);
    putc('}', t->out);
}

static smurf_status draw(smurf_forecast *forecast, double since, size_t events, smurf_futures **out, smurf_error *err)
{
    smurf_futures_config config;
    smurf_futures_config_init(&config);
    config.paths = PATHS;
    config.events = events;
    config.seed = common.seed;
    config.threads = 1;
    smurf_status status = smurf_forecast_silence(forecast, since, err);
    return status ? status : smurf_forecast_futures(forecast, &config, out, err);
}

static bool tell(struct request *q, const struct question *question, smurf_forecast *forecast,
                 const smurf_answer *answer, size_t events)
{
    struct telling t = {.out = q->reply.out, .question = question, .answer = answer};
    smurf_futures *futures = NULL;
    smurf_error err;
    t.since = fmax(smurf_moment_gap(answer->last, answer->from), 0);
    smurf_status status = draw(forecast, t.since, events, &futures, &err);
    if (status) {
        reply_library(&q->reply, &err, "next", "ask without next");
        return false;
    }
    t.time = malloc(PATHS * sizeof *t.time);
    t.seen = malloc(smurf_model_types(question->model) * sizeof *t.seen);
    bool good = t.time && t.seen;
    if (good) {
        fseek(t.out, -2, SEEK_CUR); /* before "}\n" */
        fputs(",\"next\":[", t.out);
        for (size_t k = 0; k < events; k++) put_event(&t, futures, k);
        fputs("]}\n", t.out);
    } else {
        reply_memory(&q->reply);
    }
    free(t.time);
    free(t.seen);
    smurf_futures_free(futures);
    return good;
}

bool next_show(struct request *q, const struct question *question, smurf_forecast *forecast, const smurf_answer *answer,
               size_t events)
{
    struct service *v = q->service;
    bool good = false;
    if (v->futures_running++ < AT_ONCE)
        good = tell(q, question, forecast, answer, events);
    else
        reply_error(&q->reply, MHD_HTTP_SERVICE_UNAVAILABLE, "next", "ask again in a second, or without next",
                    "%d requests for further events are being answered", AT_ONCE);
    v->futures_running--;
    return good;
}
