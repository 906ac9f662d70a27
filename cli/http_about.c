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
    const smurf_model *model = q->service->model;
    FILE *out = q->reply.out;
    char number[24], value[256];
    fprintf(out, "{\"api\":%d,\"smurf\":", API);
    put_string(out, smurf_version());
    fprintf(out, ",\"times\":\"%s\",\"unit\":", q->service->calendar ? "dates" : "numbers");
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
    put_figure(out, "sequences", "gauge", "Sequences in the store.", (double)store_sequences(v->store));
    put_figure(out, "events", "gauge", "Events in the store.", (double)store_events(v->store));
    if (v->alarms) put_figure(out, "alarms_total", "counter", "Alarms raised.", (double)alarm_log_count(v->alarms));
    put_figure(out, "start_time_seconds", "gauge", "When the service started, in seconds since 1970.",
               (double)v->started);
}

/* ---- OpenAPI ----------------------------------------------------------------------------------- */

#define ANSWER(what)                                                                                                   \
    "\"responses\":{\"200\":{\"description\":\"" what "\"},\"default\":{\"$ref\":\"#/components/responses/error\"}}"
#define PARAMETER(name, place, required, type, about)                                                                  \
    "{\"name\":\"" name "\",\"in\":\"" place "\",\"required\":" required ",\"schema\":{\"type\":\"" type               \
    "\"},\"description\":\"" about "\"}"
#define QUESTION                                                                                                       \
    PARAMETER("levels", "query", "false", "string", "levels of the intervals: 0.5,0.9")                                \
    "," PARAMETER("within", "query", "false", "string", "probability of an event within each: 1h,2d") "," PARAMETER(   \
        "now", "query", "false", "string",                                                                             \
        "no event has occurred up to this time") "," PARAMETER("top", "query", "false", "integer", "types to name")
#define EVENT "{\"$ref\":\"#/components/schemas/event\"}"

static const char openapi
    [] = "{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"smurf serve\",\"version\":\"1\",\"description\":\"Takes events "
         "and "
         "forecasts "
         "the next one of each sequence.\"},\"paths\":{"
         "\"/v1/events\":{\"post\":{\"summary\":\"Store events: one, an array, or JSON Lines. All or none are "
         "stored.\","
         "\"requestBody\":{\"required\":true,\"content\":{\"application/json\":{\"schema\":{\"oneOf\":[" EVENT
         ",{\"type\":\"array\",\"items\":" EVENT "}]}}}}," ANSWER(
             "how many were stored, and how many were known") "}},"
                                                              "\"/v1/forecast/"
                                                              "{sequence}\":{\"get\":{\"summary\":\"Forecast "
                                                              "the next event of a stored "
                                                              "sequence.\",\"parameters\":[" PARAMETER(
                                                                  "sequence", "path", "true", "string",
                                                                  "its name") "," QUESTION
                                                                              "]," ANSWER(
                                                                                  "the forecast") "}},"
                                                                                                  "\"/v1/"
                                                                                                  "forecast\":"
                                                                                                  "{\"post\":{"
                                                                                                  "\"summary\""
                                                                                                  ":"
                                                                                                  "\"Forecast "
                                                                                                  "the next "
                                                                                                  "event of "
                                                                                                  "the "
                                                                                                  "sequences "
                                                                                                  "in the "
                                                                                                  "body; "
                                                                                                  "nothing is "
                                                                                                  "stored.\","
                                                                                                  "\"parameter"
                                                                                                  "s\":"
                                                                                                  "[" QUESTION "],"
                                                                                                  "\"requestBo"
                                                                                                  "dy\":{"
                                                                                                  "\"required"
                                                                                                  "\":true,"
                                                                                                  "\"content\""
                                                                                                  ":{"
                                                                                                  "\"applicati"
                                                                                                  "on/"
                                                                                                  "json\":{"
                                                                                                  "\"schema\":"
                                                                                                  "{}},"
                                                                                                  "\"text/"
                                                                                                  "csv\":{"
                                                                                                  "\"schema\":"
                                                                                                  "{\"type\":"
                                                                                                  "\"string\"}"
                                                                                                  "}}"
                                                                                                  "}," ANSWER(
                                                                                                      "the "
                                                                                                      "forecas"
                                                                                                      "ts") "}"
                                                                                                            "}"
                                                                                                            ","
                                                                                                            "\"/v1/"
                                                                                                            "s"
                                                                                                            "e"
                                                                                                            "q"
                                                                                                            "u"
                                                                                                            "e"
                                                                                                            "n"
                                                                                                            "c"
                                                                                                            "e"
                                                                                                            "s"
                                                                                                            "\":{"
                                                                                                            "\"get\":{"
                                                                                                            "\"summary"
                                                                                                            "\":\"List "
                                                                                                            "t"
                                                                                                            "h"
                                                                                                            "e"
                                                                                                            " "
                                                                                                            "s"
                                                                                                            "t"
                                                                                                            "o"
                                                                                                            "r"
                                                                                                            "e"
                                                                                                            "d"
                                                                                                            " "
                                                                                                            "s"
                                                                                                            "e"
                                                                                                            "q"
                                                                                                            "u"
                                                                                                            "e"
                                                                                                            "n"
                                                                                                            "c"
                                                                                                            "e"
                                                                                                            "s"
                                                                                                            " "
                                                                                                            "b"
                                                                                                            "y"
                                                                                                            " "
                                                                                                            "n"
                                                                                                            "a"
                                                                                                            "m"
                                                                                                            "e"
                                                                                                            "."
                                                                                                            "\","
                                                                                                            "\"paramete"
                                                                                                            "rs\":"
                                                                                                            "[" PARAMETER("limit",
                                                                                                                          "query",
                                                                                                                          "false",
                                                                                                                          "integer", "how many, up to 1000") "," PARAMETER("after",
                                                                                                                                                                           "query",
                                                                                                                                                                           "false", "string", "only names after this one") "," PARAMETER("prefix", "query", "false", "string", "only names that begin so") "]," ANSWER("sequences; next: for after") "}},"
                                                                                                                                                                                                                                                                                                                                                     "\"/v1/overdue\":{\"get\":{\"summary\":\"Sequences that have been silent for longer than expected.\",\"parameters\":[" PARAMETER("top",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "query",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "false",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "integer",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "how many, up to 1000") "," PARAMETER("level",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "query", "false", "number", "an event is expected by then with this probability") "," PARAMETER("now",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "query", "false", "string", "until when they were silent") "]," ANSWER("the least probable first") "}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "\"/v1/alarms\":{\"get\":{\"summary\":\"Alarms, as smurf watch raises them.\",\"parameters\":[" PARAMETER(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "after",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "query", "false",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "integer",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "only those after this number") "," PARAMETER("limit",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "query",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "false",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "integer", "how many, up to 1000") "]," ANSWER("alarms; next: for after") "}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"/v1/model\":{\"get\":{\"summary\":\"The model: types, unit, settings.\"," ANSWER("the model") "}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\"/v1/openapi.json\":{\"get\":{\"summary\":\"This description.\"," ANSWER(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                "OpenAPI") "}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"/healthz\":{\"get\":{\"summary\":\"Whether the service answers.\",\"security\":[]," ANSWER(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "it does") "}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "\"/metrics\":{\"get\":{\"summary\":\"Figures for Prometheus.\"," ANSWER("text") "}}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}},\"schemas\":{"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"event\":{\"type\":\"object\",\"required\":[\"sequence\",\"time\"],\"additionalProperties\":false,\"properties\":{"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"sequence\":{\"type\":\"string\"},\"time\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"type\":{\"type\":\"string\"},\"id\":{\"type\":\"string\"}}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"error\":{\"type\":\"object\",\"properties\":{\"error\":{\"type\":\"object\",\"properties\":{\"message\":{\"type\":\"string\"},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"field\":{\"type\":\"string\",\"nullable\":true},\"do\":{\"type\":\"string\",\"nullable\":true}}}}}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"responses\":{\"error\":{\"description\":\"what is wrong, with which field, and what to do\",\"content\":"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/error\"}}}}}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "\"security\":[{},{\"token\":[]}]}\n";

void answer_openapi(struct request *q)
{
    fputs(openapi, q->reply.out);
}
