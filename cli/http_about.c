/* http_about.c - what a service says of itself: its model, its health, its figures. */
#include "http.h"

#include "alarm_log.h"
#include "json_out.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* As in the texts of /metrics and /v1/model. */
enum { API = 1 };

void answer_model(struct request *q)
{
    const smurf_model *model = q->serving->model;
    FILE *out = q->reply.out;
    char number[24], value[256];
    fprintf(out, "{\"api\":%d,\"smurf\":", API);
    put_string(out, smurf_version());
    fprintf(out, ",\"alarms\":%s,\"times\":\"%s\",\"unit\":", q->serving->alarms ? "true" : "false",
            q->service->calendar ? "dates" : "numbers");
    put_string(out, model_unit(model));
    fprintf(out, ",\"parameters\":%zu,\"types\":[", smurf_model_parameters(model));
    for (uint32_t k = 0; k < smurf_model_types(model); k++) {
        if (k) putc(',', out);
        put_string(out, type_text(number, model, k));
    }
    fputs("],\"settings\":{", out);
    for (size_t i = 0; smurf_setting_name(i); i++) {
        const char *name = smurf_setting_name(i);
        if (smurf_settings_get(smurf_model_settings(model), name, value, sizeof value, NULL)) continue;
        if (i) putc(',', out);
        put_string(out, name);
        putc(':', out);
        put_string(out, value);
    }
    fputs("}}\n", out);
}

void answer_reload(struct request *q)
{
    smurf_error err;
    if (serving_reload(q->service, &err))
        fputs("{\"reloaded\":true}\n", q->reply.out);
    else if (err.status == SMURF_ERROR_MEMORY)
        reply_memory(&q->reply);
    else
        reply_error(&q->reply, MHD_HTTP_CONFLICT, NULL,
                    "put a model of the same times and types in its place; another one needs a service of its own",
                    "the model is not replaced: %s", err.message);
}

void answer_health(struct request *q)
{
    fprintf(q->reply.out, "{\"status\":\"ok\",\"durable\":%s}\n", q->service->o->store ? "true" : "false");
}

static void put_figure(FILE *out, const char *name, const char *kind, const char *about, double value)
{
    fprintf(out, "# HELP smurf_%s %s\n# TYPE smurf_%s %s\nsmurf_%s %.17g\n", name, about, name, kind, name, value);
}

void answer_metrics(struct request *q)
{
    struct service *v = q->service;
    struct standing_figures standing = standing_figures(q->serving->standing);
    FILE *out = q->reply.out;
    q->reply.type = "text/plain; version=0.0.4; charset=utf-8";
    fputs("# HELP smurf_answers_total Answers, by status.\n# TYPE smurf_answers_total counter\n", out);
    for (int i = 2; i < 6; i++)
        if (i != 3) fprintf(out, "smurf_answers_total{status=\"%dxx\"} %zu\n", i, (size_t)v->answers[i]);
    put_figure(out, "events_accepted_total", "counter", "Events stored since the start.", (double)v->taken);
    put_figure(out, "events_duplicate_total", "counter", "Events left out because their id was known.",
               (double)v->duplicates);
    put_figure(out, "forecasts_total", "counter", "Forecasts answered.", (double)v->forecasts);
    put_figure(out, "requests_running", "gauge", "Requests that are being answered.", (double)v->running);
    put_figure(out, "connections", "gauge", "Connections.", (double)clients_count(v->clients));
    put_figure(out, "forecasts_kept", "gauge", "Forecasts that are kept ready.", (double)standing.kept);
    put_figure(out, "forecasts_whole", "gauge", "Those of them that can take a further event.", (double)standing.whole);
    put_figure(out, "forecasts_bytes", "gauge", "Memory that they take.", (double)standing.bytes);
    put_figure(out, "model_reloads_total", "counter", "How often the model was replaced.", (double)v->reloads);
    put_figure(out, "sequences", "gauge", "Sequences in the store.", (double)store_sequences(v->store));
    put_figure(out, "events", "gauge", "Events in the store.", (double)store_events(v->store));
    struct alarm_log *alarms = q->serving->alarms;
    if (alarms) put_figure(out, "alarms_total", "counter", "Alarms raised.", (double)alarm_log_count(alarms));
    put_figure(out, "start_time_seconds", "gauge", "When the service started, in seconds since 1970.",
               (double)v->started);
}
