/*
 * schedule.h - the learning rate of a step.
 */
#ifndef SMURF_TRAIN_SCHEDULE_H
#define SMURF_TRAIN_SCHEDULE_H

#include "model/config.h"

/* epoch from 1; step over the whole run, from 1. halvings: how often a plateau was met. The cosine goes down by epochs,
   as the published program's does. */
double smurf_schedule_rate(const smurf_settings *config, size_t epoch, uint64_t step, unsigned halvings);

#endif
