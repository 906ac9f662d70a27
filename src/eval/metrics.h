/*
 * metrics.h - from arrays over gaps to numbers, and the numbers by name.
 */
#ifndef SMURF_EVAL_METRICS_H
#define SMURF_EVAL_METRICS_H

#include "eval/tally.h"

/* A number of smurf_metrics by its name, for tables, JSON and loops over all of them. */
struct metric_field {
    const char *name;  /* as in smurf.h: "cs_pit" */
    size_t offset;     /* of the double in smurf_metrics */
    const char *unit;  /* "%"; "time": the data's unit of time; "": none */
    const char *about; /* one line */
    int better;        /* -1: small values are better, 1: large ones, 0: neither */
};

/* NULL past the last. */
const struct metric_field *smurf_metric_field(size_t index);

static inline double *smurf_metric_at(smurf_metrics *metrics, const struct metric_field *field)
{
    return (double *)(void *)((char *)metrics + field->offset);
}

/* Nothing measured: n and sequences 0, all else NaN. */
void smurf_metrics_clear(smurf_metrics *out);

/* The metrics of a row of the evaluation, from its arrays. n_dev: see tally.h. */
smurf_status smurf_metrics_of_row(smurf_metrics *out, const struct evaluation *evaluation, const struct row_values *row,
                                  size_t n_dev, smurf_error *err);

/* As the paper defines them, from `draws` draws of each of n gaps: samples (n x draws) in any order, which are sorted
   row by row. level (SMURF_LEVELS), increasing; cs and cer take level[9] for the half. Types are NaN. */
smurf_status smurf_metrics_of_samples(smurf_metrics *out, double *samples, size_t draws, const double *truth, size_t n,
                                      const double *level, smurf_error *err);

/* Kolmogorov-Smirnov distance of n values from the uniform distribution on [0, 1]; sorts them. */
double smurf_ks_distance(double *value, size_t n);
/* The probability of a larger one by chance: Kolmogorov's limit at D (sqrt n + 0.12 + 0.11 / sqrt n) (Stephens 1970),
   good to a percent from n = 5 on. */
double smurf_ks_probability(double distance, size_t n);

/* Smallest first, NaN last. */
void smurf_sort(double *value, size_t n);
/* E |X - X'| / 2 of the n sorted values, X and X' drawn with replacement: sum (2i - n + 1) x_i / n^2, i from 0. */
double smurf_sorted_spread(const double *sorted, size_t n);

#endif
