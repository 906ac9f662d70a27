/*
 * bootstrap.h - sampling error of each metric, by resampling whole sequences with replacement, since the gaps of one
 * sequence are dependent.
 */
#ifndef SMURF_EVAL_BOOTSTRAP_H
#define SMURF_EVAL_BOOTSTRAP_H

#include "eval/evaluate.h"

/* Fills low and high of the row with the 5% and 95% quantiles over `resamplings`, separately for each field and level.
   NaN for ks and ks_p, which are not sums, for what was not measured, and for all with fewer than two sequences. Chance
   can only increase distance scores (cs, cer), so their intervals lie too high near the floor. Every row uses the same
   resamples. More than 2^14 sequences are drawn in groups of neighbours. */
smurf_status smurf_bootstrap_row(struct row_values *row, const struct evaluation *evaluation, size_t resamplings,
                                 size_t n_dev, uint64_t seed, int threads, struct stop *stop, smurf_error *err);

/* Compares ROW_MODEL with the best naive row. Units are sequences, in at most 1,000 groups of neighbours; with fewer
   than 20 sequences, equal blocks of time: at most 100, of 10 gaps or more. Fewer than 5 units give no interval. */
smurf_status smurf_bootstrap_advantage(struct advantage *out, const struct evaluation *evaluation, uint64_t seed,
                                       smurf_error *err);

/* The 95% quantile of Student's law with df >= 4 degrees of freedom, within 0.01. */
double smurf_student(double df);

#endif
