/*
 * alarm_log.h - the alarms of a service. A thread follows the events of the store in the order in which they came, and
 * the time. Its state is saved in the store every minute; a service that starts again goes on from there, and finds the
 * same alarms. The last alarms are kept.
 */
#ifndef ALARM_LOG_H
#define ALARM_LOG_H

#include "store.h"

#include <stdio.h>

struct alarm_log;
struct types;
struct serve_options;
struct live;

/* live: who is told of alarms. Both return 0, or the exit status after reporting the error. The thread runs from start
 * to stop. */
int alarm_log_new(struct alarm_log **out, const smurf_model *model, const struct types *types, struct store *store,
                  const struct serve_options *options, struct live *live);
int alarm_log_start(struct alarm_log *log);
/* What was found stays. */
void alarm_log_stop(struct alarm_log *log);
/* Stops it as well. NULL is fine. */
void alarm_log_free(struct alarm_log *log);
/* {"alarms": [...], "next": N, "behind": events that are stored but not looked at}, those after number `after`. */
void alarm_log_show(struct alarm_log *log, FILE *out, size_t after, size_t limit);
/* How well forecasts have held in the last hours, as held_show(). */
void alarm_log_held(struct alarm_log *log, FILE *out, size_t hours);
/* Alarms so far. */
size_t alarm_log_count(struct alarm_log *log);

#endif
