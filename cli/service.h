/*
 * service.h - a running service: what its requests share. serve.c has the command.
 *
 *     http_server.c       connections, limits, from bytes to requests
 *     http_connections.c  slow and surplus connections
 *     http_tls.c          certificate and key
 *     http_guard.c        who may ask
 *     http_route.c        from paths to handlers
 *     http_query.c        parameters of an address
 *     http_events.c       events of a body; http_plain.c likewise, most of them; http_table.c files
 *     http_reply.c        answers and errors
 *     http_each.c         all sequences, one after the other
 *     http_about.c, http_coming.c, http_forecast.c, http_lists.c, http_next.c, http_overdue.c, http_page.c
 *                         the answers themselves
 *     page/               the page at /
 *     serving.c           the model, which can be replaced
 *     standing.c          the sequences' forecasts
 *     alarm_log.c         the alarms
 *     held.c              how well forecasts have held
 *     live.c              /v1/stream: who listens; live_follow.c what is told
 *     store.c             the events (store.h)
 */
#ifndef SERVICE_H
#define SERVICE_H

#include "smurf_lab.h"

#include <stdbool.h>
#include <stdio.h>

struct serve_options {
    const char *model; /* its file */
    const char *store, *listen, *token_file, *per_day, *day, *tls_cert, *tls_key;
    size_t sequences, history, body_mb, memory_mb, connections, rate, timeout;
    int no_auth, raw;
    const char *late; /* "refuse" or "insert" */
    size_t keep;      /* events of a sequence; SIZE_MAX: all */
};

/* Runs until it is told to stop. Takes over the model. Returns the exit status. */
int service_run(const struct serve_options *options, smurf_model *model);
/* What the program was built with: " serve" or "". */
const char *service_feature(void);

#endif
