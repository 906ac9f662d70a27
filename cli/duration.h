/*
 * duration.h - parses durations and moments for commands that use a model: --within 1h,2d, --silence 3h, --now now.
 */
#ifndef DURATION_H
#define DURATION_H

#include "smurf_lab.h"

#include <stdbool.h>

/* The unit of the model's times; "": none was given. */
const char *model_unit(const smurf_model *model);

/* Whether durations in this unit can be shown in others: "s" or "days", not "" or "steps". */
bool unit_is_known(const char *unit);
/* A duration for a table, at most 10 columns wide: "3.4 min" if the unit is known, else four digits; "inf" or "-" if
   not finite. */
const char *gap_text(char out[SMURF_DURATION_TEXT], double x, const char *unit);

/* Parses a duration, in the model's unit unless it names one. Otherwise a usage error naming the option. */
double parse_duration(const char *option, const char *text, const smurf_model *model);

/* Parses comma-separated durations: up to `most`. label receives each as given, with the unit if it has none. Returns
   how many; otherwise a usage error. */
enum { DURATION_LABEL = 32 };
size_t parse_durations(const char *option, const char *text, const smurf_model *model, double *out,
                       char (*label)[DURATION_LABEL], size_t most);

/* Parses --now: a moment on the model's clock, or "now" for the present moment. Otherwise a usage error. */
smurf_moment parse_now(const char *text, const smurf_model *model);

#endif
