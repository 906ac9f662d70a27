/*
 * metrics.h - computes metrics from arrays over gaps, and lists them by name.
 */
#ifndef SMURF_EVAL_METRICS_H
#define SMURF_EVAL_METRICS_H

#include "eval/tally.h"

/* The metrics by number: X(field of smurf_metrics, heading, unit, which values are better, decimals, about). This is
   the only list of metrics; code that shows, stores or resamples them uses smurf_metric_at. */
/* clang-format off */
#define SMURF_METRICS(X)                                                                                               \
    X(cs, "CS%", PERCENT, -1, 2, "calibration score: root mean square of coverage - level over 0.50 to 0.95")          \
    X(cs_all, "CSall%", PERCENT, -1, 2, "the same over all levels")                                                    \
    X(cs_pit, "CSpit%", PERCENT, -1, 2, "calibration score with gaps spread at random within a tick of the clock")     \
    X(cs_floor, "floor%", PERCENT, 0, 2, "expected calibration score of the true law")                                 \
    X(cer, "CER%", PERCENT, -1, 2, "|coverage - level| at 0.50")                                                       \
    X(il, "IL", TIME, -1, 4, "mean length of the interval [0, median]; of two calibrated laws the shorter is better")  \
    X(crps, "CRPS", TIME, -1, 4, "continuous ranked probability score: mean error of the law, in the unit of time")    \
    X(pinball, "pinball", TIME, -1, 4, "mean pinball loss over the levels")                                            \
    X(spread, "spread", TIME, -1, 4, "sharpness: the expected CRPS under the law itself")                              \
    X(log_likelihood, "log-lik", PLAIN, 1, 3, "mean log density of the gaps")                                          \
    X(ks, "KS", PLAIN, -1, 4, "Kolmogorov-Smirnov distance of the PIT from uniform")                                   \
    X(ks_p, "KS p", PLAIN, 0, 3, "probability of a larger Kolmogorov-Smirnov distance under the true law")             \
    X(acc, "acc%", PERCENT, 1, 2, "types correct, time unknown")                                                       \
    X(acc_draws, "drawn%", PERCENT, 1, 2, "types correct by the mode of drawn types")                                  \
    X(acc_true_time, "at time%", PERCENT, 1, 2, "types correct, time given")                                           \
    X(type_loss, "type loss", PLAIN, -1, 4, "mean -ln of the true type's probability, time unknown")                   \
    X(brier, "Brier", PLAIN, -1, 4, "squared distance of the types' probabilities from the truth")                     \
    X(ece, "ECE%", PERCENT, -1, 2, "expected calibration error of the most probable type")
/* clang-format on */

#define METRIC_NUMBER(field, head, unit, better, places, about) METRIC_##field,
enum metric { SMURF_METRICS(METRIC_NUMBER) METRICS };
#undef METRIC_NUMBER

/* An extra column of tables: the gain in CRPS over the naive law of recent gaps, in percent. It compares two laws, so
   it is not a field of smurf_metrics. */
extern const smurf_metric smurf_metric_skill;

static inline double *smurf_metric_place(smurf_metrics *metrics, const smurf_metric *metric)
{
    return (double *)(void *)((char *)metrics + metric->offset);
}

/* Nothing measured: n and sequences 0, all else NaN. */
void smurf_metrics_clear(smurf_metrics *out);

/* The metrics of a row of the evaluation, from its arrays. n_dev: see tally.h. */
smurf_status smurf_metrics_of_row(smurf_metrics *out, const struct evaluation *evaluation, const struct row_values *row,
                                  size_t n_dev, smurf_error *err);

/* Coverage of what is shown, from the row's mass and pit. */
void smurf_coverage_of_row(smurf_coverage *out, const struct evaluation *evaluation, const struct row_values *row);

/* As the paper defines them, from `draws` draws for each of n gaps: samples (n x draws) in any order, sorted row by row
   by this call. level (SMURF_LEVELS), increasing; cs and cer use level[9] as the half. Types are NaN. */
smurf_status smurf_metrics_of_samples(smurf_metrics *out, double *samples, size_t draws, const double *truth, size_t n,
                                      const double *level, smurf_error *err);

/* Kolmogorov-Smirnov distance of n values from the uniform distribution on [0, 1]; sorts them. */
double smurf_ks_distance(double *value, size_t n);
/* The probability of a larger distance by chance: Kolmogorov's limit at D (sqrt n + 0.12 + 0.11 / sqrt n) (Stephens
   1970), accurate to one percent for n >= 5. */
double smurf_ks_probability(double distance, size_t n);

/* E |X - X'| / 2 of n sorted values, X and X' drawn with replacement: sum (2i - n + 1) x_i / n^2, i from 0. */
double smurf_sorted_spread(const double *sorted, size_t n);

#endif
