/*
 * naive.h - laws that anyone could write down, hard to beat: the bar for every model.
 *
 *     marginal  the distribution of the train gaps, whatever came before
 *     recent    the same among train gaps with about the same mean of the (up to) 8 gaps before: 40 bins of equal
 * count, 4 where train has fewer than 5,000 gaps. Gaps with no gap before them are a bin of their own; where train has
 * none of those: marginal.
 *
 * Gaps are the scored ones of train; what came before counts as history whether it is scored or not. The distribution
 * is that of struct empirical (law/wrap.h), with its CRPS in O(log n). Its density is an estimate and not the
 * derivative of the CDF, which has steps: a histogram of bins with about equal counts, with 1/(n+1) of the mass spread
 * exponentially, so that it is positive and finite at every gap >= 0.
 */
#ifndef SMURF_EVAL_NAIVE_H
#define SMURF_EVAL_NAIVE_H

#include "law/predictor.h"

struct naive;

/* Fits both on train. Train without gaps is SMURF_ERROR_INPUT. */
smurf_status smurf_naive_new(struct naive **out, const smurf_data *train, smurf_error *err);
void smurf_naive_free(struct naive *naive);

/* The naive outlives them. They know no types. */
struct predictor smurf_naive_marginal(const struct naive *naive);
struct predictor smurf_naive_recent(const struct naive *naive);

/* E |X - X'| / 2 where dist is of a naive law: known beforehand. Else NaN. */
double smurf_naive_spread(const struct dist *dist);

#endif
