/*
 * alarm_log.h - the alarms of a service. A thread follows the events of the store in the order in which they came, and
 * the time; a service that starts again goes through the stored events anew. The last alarms are kept.
 */
#ifndef ALARM_LOG_H
#define ALARM_LOG_H

#include "store.h"

#include <stdio.h>

struct alarm_log;
struct types;
struct serve_options;

/* Returns 0, or the exit status after reporting the error. */
int alarm_log_new(struct alarm_log **out, const smurf_model *model, const struct types *types, struct store *store,
                  const struct serve_options *options);
/* Ends the thread. NULL is fine. */
void alarm_log_free(struct alarm_log *log);
/* {"alarms": [...], "next": N, "behind": events that are stored but not looked at}, those after number `after`. */
void alarm_log_show(struct alarm_log *log, FILE *out, size_t after, size_t limit);
/* Alarms so far. */
size_t alarm_log_count(struct alarm_log *log);

#endif
