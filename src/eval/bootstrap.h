/*
 * bootstrap.h - how far chance could have moved each metric: whole sequences are drawn again and again, with
 * replacement, since the gaps of one sequence hang together.
 */
#ifndef SMURF_EVAL_BOOTSTRAP_H
#define SMURF_EVAL_BOOTSTRAP_H

#include "eval/evaluate.h"

/* Fills low and high of the row with the 5% and 95% quantiles over `resamplings`, each field and each level for itself.
   NaN for ks and ks_p, which are no sums, for what was not measured, and for all with fewer than two sequences. Scores
   of distance (cs, cer) can only grow by more chance, so that their intervals lie high where they are near the floor.
   Resamplings are the same ones for every row. More than 2^14 sequences are drawn in groups of neighbours. */
smurf_status smurf_bootstrap_row(struct row_values *row, const struct evaluation *evaluation, size_t resamplings,
                                 size_t n_dev, uint64_t seed, int threads, struct stop *stop, smurf_error *err);

#endif
