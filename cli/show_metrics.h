/*
 * show_metrics.h - an evaluation as a table, as JSON, as CSV.
 */
#ifndef SHOW_METRICS_H
#define SHOW_METRICS_H

#include "smurf.h"

#include <stdio.h>

/* The numbers of smurf_metrics by name, NULL past the last. */
struct metric {
    const char *name;
    size_t at;
    int length; /* in units of time */
};
const struct metric *metric_at(size_t index);
/* One of them; lengths are divided by `per`. */
double metric_value(const smurf_metrics *metrics, const struct metric *metric, double per);

/* What the numbers are of. */
struct shown {
    const char *model, *data, *part;
    const char *unit; /* of the data; "" unknown */
    double per;       /* lengths are divided by this: 1, or the mean gap */
};

void show_metrics(FILE *out, const smurf_evaluation *evaluation, const struct shown *shown);
void show_metrics_json(FILE *out, const smurf_evaluation *evaluation, const struct shown *shown);
void show_metrics_csv(FILE *out, const smurf_evaluation *evaluation, const struct shown *shown);

#endif
