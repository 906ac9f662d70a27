/* serve.c - smurf serve: a service that takes events and answers with forecasts, over HTTP. */
#include "commands.h"
#include "option.h"
#include "service.h"
#include "terminal.h"

#include <stdint.h>
#include <string.h>

/* Limits that make no sense beyond these. */
enum { BODY_MB_MOST = 1024, MEMORY_MB_LEAST = 16, CONNECTIONS_MOST = 100000, SECONDS_MOST = 3600 };

static void check(const struct serve_options *o)
{
    if (!o->body_mb || o->body_mb > BODY_MB_MOST) usage_error("--max-body takes a number from 1 to %d", BODY_MB_MOST);
    if (!o->connections || o->connections > CONNECTIONS_MOST)
        usage_error("--connections takes a number from 1 to %d", CONNECTIONS_MOST);
    if (!o->timeout || o->timeout > SECONDS_MOST) usage_error("--timeout takes a number from 1 to %d", SECONDS_MOST);
    if (o->memory_mb < MEMORY_MB_LEAST || o->memory_mb > SIZE_MAX >> 20)
        usage_error("--memory takes a number from %d, in MB", MEMORY_MB_LEAST);
    if (!o->tls_cert != !o->tls_key) usage_error("--tls-cert and --tls-key go together: give both files");
    if (!o->sequences) usage_error("--sequences takes a number above 0");
    if (o->store && (!*o->store || *o->store == ':'))
        usage_error("--store takes the name of a file, or postgresql://...");
    if (o->token_file && o->no_auth) usage_error("--token-file and --no-auth are mutually exclusive");
    if (strcmp(o->late, "refuse") != 0 && strcmp(o->late, "insert") != 0)
        usage_error("--late takes refuse or insert, not '%s'", o->late);
    if (o->day && !o->per_day) usage_error("--day is the length of a day for --alarms-per-day");
}

int command_serve(int argc, char **argv)
{
    struct serve_options o = {.listen = "127.0.0.1:8420",
                              .sequences = 100000,
                              .body_mb = 8,
                              .memory_mb = 1024,
                              .connections = 1000,
                              .timeout = 30,
                              .late = "refuse",
                              .keep = SIZE_MAX};
    /* clang-format off */
    const struct option options[] = {
        {0, "store", OPTION_TEXT, &o.store, "FILE", "keep the events in FILE, an SQLite database, or in postgresql://user@host/database (default: in memory only)"},
        {0, "late", OPTION_TEXT, &o.late, "WHAT", "refuse an event before the last one of its sequence, or insert it (default: refuse)"},
        {0, "keep-events", OPTION_COUNT, &o.keep, "N", "delete events that no forecast needs, but for the last N of each sequence (default: keep all)"},
        {0, "listen", OPTION_TEXT, &o.listen, "ADDRESS", "address and port; port 0: any that is free (default: 127.0.0.1:8420)"},
        {0, "token-file", OPTION_INPUT, &o.token_file, "FILE", "answer only requests with the token in FILE (Authorization: Bearer TOKEN)"},
        {0, "no-auth", OPTION_FLAG, &o.no_auth, NULL, "answer anybody, also on an address that others can reach"},
        {0, "tls-cert", OPTION_INPUT, &o.tls_cert, "FILE", "serve HTTPS with this certificate (PEM, with those that signed it)"},
        {0, "tls-key", OPTION_INPUT, &o.tls_key, "FILE", "its private key (PEM, without a password)"},
        {0, "alarms-per-day", OPTION_TEXT, &o.per_day, "N", "raise alarms, N a day on a healthy stream, as smurf watch does (default: none)"},
        {0, "day", OPTION_TEXT, &o.day, "TIME", "length of a day, for times whose unit is not known"},
        {0, "sequences", OPTION_COUNT, &o.sequences, "N", "sequences to accept (default: 100000)"},
        {0, "history", OPTION_COUNT, &o.history, "N", "use only the last N events, which bounds memory (default: all)"},
        {0, "no-recalibrate", OPTION_FLAG, &o.raw, NULL, "use the law as trained, without recalibration"},
        {0, "max-body", OPTION_COUNT, &o.body_mb, "MB", "longest body of a request (default: 8)"},
        {0, "memory", OPTION_COUNT, &o.memory_mb, "MB", "memory for forecasts that are kept ready (default: 1024)"},
        {0, "connections", OPTION_COUNT, &o.connections, "N", "connections at a time (default: 1000)"},
        {0, "timeout", OPTION_COUNT, &o.timeout, "SECONDS", "close a connection that is silent for that long, or takes twice as long to send a request or to take an answer (default: 30)"},
        {0, "rate", OPTION_COUNT, &o.rate, "N", "requests per second of one client; 0: no limit (default: 0)"},
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "serve",
        .arguments = "MODEL",
        .summary = "Runs a service: it takes events over HTTP and forecasts the next one of each sequence.",
        .about =
            "POST /v1/events takes events, GET /v1/forecast/SEQUENCE answers with what predict --format jsonl\n"
            "shows; /v1/openapi.json describes the rest, and / is a page that shows what comes next. With --store\n"
            "an event is on disk before its request is answered, and a service that starts again goes on from\n"
            "there. Only this machine is served, unless --token-file or --no-auth is given. Ctrl-C and SIGTERM\n"
            "finish what has begun and end the service; SIGHUP and POST /v1/model/reload replace the model by\n"
            "what is in its file now.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf serve model.safetensors --store events.db",
        .options = options,
        .least = 1,
        .most = 1,
        .inputs = 1,
    };
    parse_options(&usage, argc, argv);
    check(&o);
    smurf_model *model;
    smurf_error err;
    if (smurf_model_load(&model, argv[0], &err)) return report_error(&err);
    if (smurf_model_columns(model)) {
        report_failure("'%.300s' sees further columns, such as '%.100s', which the service does not take: train a "
                       "model without --features",
                       argv[0], smurf_model_column_name(model, 0));
        smurf_model_free(model);
        return 1;
    }
    o.model = argv[0];
    return service_run(&o, model);
}
