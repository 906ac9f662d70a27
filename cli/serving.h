/*
 * serving.h - the model that a service answers with, and what depends on it: types, forecasts, alarms.
 *
 * Each request holds on to the one it began with. A new model takes its place for the requests that follow, and the old
 * one goes with its last request.
 */
#ifndef SERVING_H
#define SERVING_H

#include "smurf_lab.h"

#include <stdbool.h>

struct service;

struct serving {
    smurf_model *model;
    struct types *types;
    struct standing *standing;
    struct alarm_log *alarms; /* NULL: none */
    size_t users;             /* under the service's lock */
};

/* The first one, and its alarms, which need the service's listeners. Takes over the model. Both return 0, or the exit
   status after reporting the error. */
int serving_begin(struct service *service, smurf_model *model);
int serving_begin_alarms(struct service *service);
void serving_end_alarms(struct service *service);
void serving_end(struct service *service);

struct serving *serving_take(struct service *service);
void serving_drop(struct service *service, struct serving *serving);

/* Reads the model's file again and answers with it from now on. False: it cannot be read, or it does not fit the events
   that are stored, or --keep-events; see err. The old one then stays. Tells the log either way. */
bool serving_reload(struct service *service, smurf_error *err);

#endif
