/*
 * wall_clock.h - the clock of a trained model (clock.h), as its file keeps it: fitted on train, and opened with the
 * model.
 */
#ifndef SMURF_MODEL_WALL_CLOCK_H
#define SMURF_MODEL_WALL_CLOCK_H

#include "model/clock.h"

#include <jansson.h>

/* All 0: the model has no clock. */
struct wall_clock {
    struct clock_shape shape;
    double cut;     /* in seconds */
    char *timezone; /* of the log; NULL: UTC */
    struct time_zone *zone;
};

/* Whether train data has dates, with years, of long enough a time, and events enough to learn from. */
bool smurf_wall_clock_suits(const smurf_data *train);
/* Fits it on train data with dates: the week unless the dates lack a year; with `season` the year, from two years on;
   the cut is the 99.9% quantile of the gaps, within CLOCK_CUT_LEAST and CLOCK_CUT_MOST. Data without dates is an error.
 */
smurf_status smurf_wall_clock_fit(struct wall_clock *clock, const smurf_data *train, bool season, smurf_error *err);
void smurf_wall_clock_release(struct wall_clock *clock);
smurf_status smurf_wall_clock_copy(struct wall_clock *to, const struct wall_clock *from, smurf_error *err);
uint64_t smurf_wall_clock_hash(const struct wall_clock *clock, uint64_t h);

/* As JSON (NULL: out of memory); and back: *right is false if it is invalid. A zone that is not known here is an error
   that names the file. */
json_t *smurf_wall_clock_to_json(const struct wall_clock *clock);
smurf_status smurf_wall_clock_from_json(struct wall_clock *clock, const json_t *json, const char *file, bool *right,
                                        smurf_error *err);

#endif
