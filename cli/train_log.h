/*
 * train_log.h - the log of a training: one JSON object a line, one an epoch.
 */
#ifndef TRAIN_LOG_H
#define TRAIN_LOG_H

#include "smurf.h"

#include <stdbool.h>
#include <stdio.h>

/* For a run that begins, or (resume) goes on, with the lines there are kept. NULL: errno tells why. */
FILE *train_log_open(const char *path, bool resume);
/* Goes to where the line of an epoch belongs: a run that was killed may have logged one that it had not kept. */
void train_log_rewind(FILE *log, size_t epoch);
/* False where the line could not be written; errno tells why. log may be NULL. */
bool train_log_epoch(FILE *log, const smurf_epoch *epoch);

#endif
