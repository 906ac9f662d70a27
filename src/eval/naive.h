/*
 * naive.h - simple laws that are hard to beat: the baseline for every model.
 *
 *     marginal  the distribution of the train gaps, regardless of history
 *     recent    the same among train gaps with a similar mean of the (up to) 8 preceding gaps: 40 bins of equal
 *               count, 4 if train has fewer than 5,000 gaps. Gaps with no preceding gap have their own bin; if train
 *               has none of those: marginal.
 *
 *     same hour the last 100 gaps of the sequence that began in the same hour of the day (naive/past.h)
 *     last 100  the last 100 gaps of the sequence
 *
 * Gaps are the scored ones of train; unscored events still count as history. The distribution is that of struct
 * empirical (law/wrap.h), with its CRPS in O(log n). The CDF has steps, so the density is not its derivative but an
 * estimate: a histogram of bins with about equal counts, with 1/(n+1) of the mass spread exponentially, so that it is
 * positive and finite at every gap >= 0.
 */
#ifndef SMURF_EVAL_NAIVE_H
#define SMURF_EVAL_NAIVE_H

#include "law/predictor.h"

#include <stdbool.h>

struct naive;

/* Fits both on train. A train set without gaps is SMURF_ERROR_INPUT. */
smurf_status smurf_naive_new(struct naive **out, const smurf_data *train, smurf_error *err);
void smurf_naive_free(struct naive *naive);

/* `naive` must outlive them. They predict no types. */
struct predictor smurf_naive_marginal(const struct naive *naive);
struct predictor smurf_naive_recent(const struct naive *naive);

/* The edges between the bins of `recent`, one fewer than the bins, whose number is returned. */
size_t smurf_naive_bins(const struct naive *naive, const double **edge);
/* Order statistics, at even steps, of the gaps of a bin; of those with no previous gap (the number of bins), or of all
   (SIZE_MAX). Writes at most PAST_LAW (naive/past.h) to out and returns how many. */
size_t smurf_naive_gaps(const struct naive *naive, size_t bin, double *out);

/* Whether times are dates: then these two apply. Rows in increasing order are fastest. */
bool smurf_naive_is_dated(const struct naive *naive);
struct predictor smurf_naive_same_hour(const struct naive *naive);
struct predictor smurf_naive_last(const struct naive *naive);

/* E |X - X'| / 2 if dist is a naive law, precomputed. Else NaN. */
double smurf_naive_spread(const struct dist *dist);

#endif
