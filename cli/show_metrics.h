/*
 * show_metrics.h - shows an evaluation as a table, JSON or CSV.
 */
#ifndef SHOW_METRICS_H
#define SHOW_METRICS_H

#include "smurf_lab.h"

#include <stdio.h>

/* One number of smurf_metrics; times are divided by `per`. */
double metric_value(const smurf_metrics *metrics, const smurf_metric *metric, double per);

/* What was evaluated, and the unit. */
struct shown {
    const char *model, *data, *part;
    const char *unit; /* of the data; "": unknown */
    double per;       /* lengths are divided by this: 1, or the mean gap */
    int mean_gaps;    /* it is the mean gap */
    const smurf_pool *pool; /* of the model; NULL: none */
};

/* As text, lengths are in a readable unit if that of the data is known. */
void show_metrics(FILE *out, const smurf_evaluation *evaluation, const struct shown *shown);
void show_metrics_json(FILE *out, const smurf_evaluation *evaluation, const struct shown *shown);
void show_metrics_csv(FILE *out, const smurf_evaluation *evaluation, const struct shown *shown);

#endif
