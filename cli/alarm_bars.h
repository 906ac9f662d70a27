/* alarm_bars.h - alarms as options ask for them, and as JSON: shared by smurf watch and smurf serve. */
#ifndef ALARM_BARS_H
#define ALARM_BARS_H

#include "watched.h"

#include <stdio.h>

/* per_day, day: as given to --alarms-per-day and --day, of which the latter may be NULL. fixed: bars do not adapt. Ends
   the program on errors. */
smurf_alarms *alarm_bars(const smurf_model *model, const char *per_day, const char *day, int fixed);
/* The length of a day in the model's unit, as given to --day, which may be NULL. Likewise. */
double alarm_day(const smurf_model *model, const char *day);
/* An alarm as a JSON object. type NULL: none. */
void alarm_json(FILE *out, const struct alarm *alarm, const char *type, int calendar);

#endif
