/*
 * train_log.h - the training log: one JSON object per line, one per epoch.
 */
#ifndef TRAIN_LOG_H
#define TRAIN_LOG_H

#include "smurf_lab.h"

#include <stdbool.h>
#include <stdio.h>

/* Opens the log of a new run or, with resume, of one that continues: its lines stay. NULL on failure, with errno set. */
FILE *train_log_open(const char *path, bool resume);
/* Truncates the log before the line of this epoch: a killed run may have logged an epoch it did not save. */
void train_log_rewind(FILE *log, size_t epoch);
/* False on a write error, with errno set. log may be NULL. */
bool train_log_epoch(FILE *log, const smurf_epoch *epoch);

#endif
