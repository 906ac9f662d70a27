/*
 * http.h - a request, its answer, and what requests share.
 */
#ifndef HTTP_H
#define HTTP_H

#include "loaded.h"
#include "service.h"
#include "serving.h"
#include "show_forecast.h"
#include "standing.h"
#include "store.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

struct clients;
struct guard;
struct live;

enum { PATH_MOST = 2048 };

struct service {
    const struct serve_options *o;
    int calendar;
    struct store *store;
    struct serving *serving; /* the one in use; serving_take() */
    pthread_mutex_t lock, reloading, counting;
    size_t servings; /* the one in use, the next one, and old ones that still answer; under counting */
    struct live *live;
    struct guard *guard;
    struct clients *clients;
    int64_t started;  /* seconds since 1970 */
    sigset_t signals; /* blocked before the service started its threads */
    atomic_bool draining;
    atomic_size_t running; /* requests */
    atomic_size_t busy;    /* those that are being computed */
    atomic_size_t bodies;  /* bytes of bodies in memory */
    /* Since the start. */
    atomic_size_t answers[6]; /* by the first digit of their status */
    atomic_size_t taken, duplicates, forecasts, reloads;
    atomic_size_t overdue_running, futures_running;
};

/* ---- Answers (http_reply.c) -------------------------------------------------------------------- */

struct reply {
    unsigned status;
    FILE *out; /* the body; NULL: out of memory */
    char *bytes;
    size_t size;
    const char *type;              /* of the content */
    const char *allow;             /* for 405 */
    struct MHD_Response *response; /* instead of the body; NULL: the body */
    const char *policy;            /* of the content's security; NULL: nothing is allowed */
};

void reply_begin(struct reply *reply);
/* Discards what was written and answers with an error: what is wrong, with which field (NULL: none), what to do. */
void reply_error(struct reply *reply, unsigned status, const char *field, const char *what_to_do, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
void reply_memory(struct reply *reply);
void reply_ending(struct reply *reply); /* the service */
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
    const char *rest;        /* of the path, after the route's */
    struct serving *serving; /* while it is answered */
    struct client *client;
    char *body; /* ends with a NUL */
    size_t size, room, thrown_away;
    bool too_large, no_room;
    bool answered;   /* as far as libmicrohttpd takes answers */
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

/* http_query.c: parameters of an address. Functions that return false have answered 400. */
bool query_names(struct request *request);
/* Replaces %20 and the like, in place; returns the length. */
size_t query_unescape(char *text);
const char *query_text(const struct request *request, const char *name); /* NULL: not given */
bool query_count(struct request *request, const char *name, size_t most, size_t *out);
bool query_moment(struct request *request, const char *name, smurf_moment *out, bool *given);
/* levels, within, now, top and curve: a question whose arrays and moment are inside. */
bool query_question(struct request *request, struct question *out);
/* The question that is asked where nothing is given. */
void question_begin(struct question *out, const struct service *service, const smurf_model *model);
/* Adds the n - 1 quantiles at 1/n, 2/n, ..; n is even, 4 to CURVE_MOST. Once, after the levels. */
void question_curve(struct question *out, size_t n);

/* http_each.c: calls `visit` with each stored sequence. It returns false if it has answered, as this does. */
typedef bool sequence_visit(void *context, const char *name, const struct store_sequence *sequence);
bool each_sequence(struct request *request, sequence_visit *visit, void *context);
/* The present or, where times are numbers, the last event of all. False: it has answered. */
bool present(struct request *request, smurf_moment *out);

/* http_coming.c: a sequence as in the list of /v1/next, as a JSON object. type: of the last event. */
void put_coming(FILE *out, const struct question *question, const char *name, const smurf_answer *answer,
                uint32_t type);

/* http_connections.c: the connections there are, for limits that libmicrohttpd does not have. */
struct clients *clients_new(size_t most, unsigned timeout);
void clients_free(struct clients *clients);
/* Begins and ends with a connection: for MHD_OPTION_NOTIFY_CONNECTION, with the clients. */
void clients_notify(void *clients, struct MHD_Connection *connection, void **own,
                    enum MHD_ConnectionNotificationCode code);
enum client_phase {
    CLIENT_ASKS,    /* its next request is awaited */
    CLIENT_WAITS,   /* for the answer */
    CLIENT_IS_TOLD, /* the answer is sent */
};
/* The connection of a request; NULL: unknown. */
struct client *client_of(struct MHD_Connection *connection);
void client_enters(struct clients *clients, struct client *client, enum client_phase phase);
/* Whether there were too many connections when it came. */
bool client_is_beyond(const struct client *client);
/* Closes the connections that send a header, or take an answer, for longer than twice the timeout. */
void clients_sweep(struct clients *clients);
size_t clients_count(struct clients *clients);

/* http_next.c: the events that follow, by sampling. */
enum { FOLLOWING_MOST = 20 };
/* Continues the object that was written with "next". False: it has answered an error. */
bool next_show(struct request *request, const struct question *question, smurf_forecast *forecast,
               const smurf_answer *answer, size_t events);

/* http_events.c: the events of a body, as JSON. False: it has answered. */
struct types *types_new(const smurf_model *model);
void types_free(struct types *types);
/* The number of a type; the number of types if it is not known. */
uint32_t types_find(const struct types *types, const char *name);
enum { EVENT_NAME_MOST = 512, EVENT_MOST = 64 << 10 /* bytes; most take far less */ };
bool events_read(struct request *request, struct store_batch *out);
/* http_plain.c: where the body is plain. False: it is not, or there is something wrong; nothing is changed. */
bool events_read_plain(const struct request *request, struct store_batch *out);
void events_release(struct store_batch *batch);

/* http_table.c: a body that is a file of events, read as the data of training was. events_read_table: to be stored, in
   the order of time. False: it has answered. */
bool body_is_json(const struct request *request);
smurf_status body_data(const struct request *request, smurf_data **out, smurf_error *err);
bool events_read_table(struct request *request, struct store_batch *out);

/* The handlers. */
handler answer_events, answer_forecast, answer_history, answer_sequences, answer_overdue, answer_alarms, answer_model,
    answer_health, answer_metrics, answer_openapi, answer_reload, answer_coming, answer_past, answer_held,
    answer_stream, answer_page;

/* http_server.c. server_run: until it is told to stop. */
int server_run(struct service *service);

#endif
