/*
 * service.h - a running service: what its requests share. serve.c has the command.
 *
 *     http_server.c      connections, limits, from bytes to requests      http_guard.c    who may ask
 *     http_route.c       from paths to handlers                           http_reply.c    answers and errors
 *     http_query.c       parameters of an address                         http_events.c   events of a body
 *     http_forecast.c, http_lists.c, http_about.c                         the answers themselves
 *     standing.c         the sequences' forecasts                         alarm_log.c     the alarms
 */
#ifndef SERVICE_H
#define SERVICE_H

#include "smurf_lab.h"

#include <stdbool.h>
#include <stdio.h>

struct serve_options {
    const char *store, *listen, *token_file, *per_day, *day;
    size_t sequences, history, body_mb, connections, rate, timeout;
    int no_auth, raw;
};

/* Runs until it is told to stop. Returns the exit status. */
int service_run(const struct serve_options *options, smurf_model *model);
/* What the program was built with: " serve" or "". */
const char *service_feature(void);

#endif
