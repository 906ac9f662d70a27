/*
 * http.h - a request, its answer, and what requests share.
 */
#ifndef HTTP_H
#define HTTP_H

#include "loaded.h"
#include "service.h"
#include "show_forecast.h"
#include "standing.h"
#include "store.h"

#include <signal.h>
#include <stdatomic.h>

struct alarm_log;
struct guard;

enum { PATH_MOST = 2048 };

struct service {
    const struct serve_options *o;
    const smurf_model *model;
    int calendar;
    struct store *store;
    struct standing *standing;
    struct alarm_log *alarms; /* NULL: none */
    struct guard *guard;
    struct types *types;
    int64_t started;  /* seconds since 1970 */
    sigset_t signals; /* blocked before the service started its threads */
    atomic_bool draining;
    atomic_size_t running; /* requests */
    atomic_size_t bodies;  /* bytes of bodies in memory */
    /* Since the start. */
    atomic_size_t answers[6]; /* by the first digit of their status */
    atomic_size_t taken, duplicates, forecasts;
    atomic_size_t overdue_running;
};

/* ---- Answers (http_reply.c) -------------------------------------------------------------------- */

struct reply {
    unsigned status;
    FILE *out; /* the body; NULL: out of memory */
    char *bytes;
    size_t size;
    const char *type;  /* of the content */
    const char *allow; /* for 405 */
};

void reply_begin(struct reply *reply);
/* Discards what was written and answers with an error: what is wrong, with which field (NULL: none), what to do. */
void reply_error(struct reply *reply, unsigned status, const char *field, const char *what_to_do, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
void reply_memory(struct reply *reply);
void reply_broken_store(struct reply *reply);
/* An error of the library about what was asked: 400, or 500. */
void reply_library(struct reply *reply, const smurf_error *err, const char *field, const char *what_to_do);
struct request;
/* Why a sequence has no forecast. */
void reply_standing(struct request *request, enum standing_outcome outcome, const char *name, const smurf_error *err);
/* Hands the answer to the connection and frees it. */
enum MHD_Result reply_send(struct reply *reply, struct MHD_Connection *connection, bool close);

/* ---- Requests ---------------------------------------------------------------------------------- */

struct request {
    struct service *service;
    struct MHD_Connection *connection;
    const char *method, *path;
    const struct route *route;
    const char *rest; /* of the path, after the route's */
    char *body;       /* ends with a NUL */
    size_t size, room, thrown_away;
    bool too_large, no_room;
    int64_t started; /* seconds of a steady clock */
    struct reply reply;
};

typedef void handler(struct request *request);
struct route {
    const char *path; /* ends with '/': the rest is an argument */
    const char *method;
    handler *answer;
    const char *parameters; /* names, separated by spaces */
    bool open;              /* needs no token */
};

/* http_route.c: finds the handler, or answers 404, 405 or 400. False: it has answered. */
bool route_find(struct request *request);

/* http_guard.c: tokens, origins, rates. */
int guard_new(struct guard **out, const struct serve_options *options, bool loopback);
void guard_free(struct guard *guard);
/* False: it has answered. */
bool guard_admits(struct guard *guard, struct request *request);

/* http_query.c: parameters of an address. False: it has answered 400. */
bool query_names(struct request *request);
const char *query_text(const struct request *request, const char *name); /* NULL: not given */
bool query_count(struct request *request, const char *name, size_t most, size_t *out);
bool query_moment(struct request *request, const char *name, smurf_moment *out, bool *given);
/* levels, within, now, top; a question whose arrays and moment are inside. */
bool query_question(struct request *request, struct question *out);

/* http_events.c: the events of a body, as JSON. False: it has answered. */
struct types *types_new(const smurf_model *model);
void types_free(struct types *types);
/* The number of a type; the number of types if it is not known. */
uint32_t types_find(const struct types *types, const char *name);
bool events_read(struct request *request, struct store_batch *out);
void events_release(struct store_batch *batch);

/* The handlers. */
handler answer_events, answer_forecast, answer_history, answer_sequences, answer_overdue, answer_alarms, answer_model,
    answer_health, answer_metrics, answer_openapi;

/* http_server.c */
int server_run(struct service *service);

#endif
