/*
 * schedule.h - the learning rate of a step.
 */
#ifndef SMURF_TRAIN_SCHEDULE_H
#define SMURF_TRAIN_SCHEDULE_H

#include "model/config.h"

/* epoch and step (over the whole run) count from 1. halvings: number of plateaus so far. The cosine falls by epochs, as
   in the published program. */
double smurf_schedule_rate(const smurf_settings *config, size_t epoch, uint64_t step, unsigned halvings);

#endif
