/*
 * tally.h - sums over gaps, from which all metrics except the Kolmogorov-Smirnov distance are computed.
 *
 * Sums of whole sequences add up to those of a data set and of any resample of it, which makes the bootstrap cheap.
 * What was not measured is NaN and stays NaN.
 */
#ifndef SMURF_EVAL_TALLY_H
#define SMURF_EVAL_TALLY_H

#include "eval/evaluation.h"

/* Bins of equal width for the confidence of type predictions. */
enum { CONFIDENCE_BINS = 15 };

/* The slots of a tally. */
enum tally_slot {
    TALLY_N,
    TALLY_TYPED, /* gaps that end in an event of a known type */
    TALLY_CRPS,
    TALLY_PINBALL, /* mean over the levels */
    TALLY_SPREAD,
    TALLY_LOG_DENSITY,
    TALLY_RIGHT, /* types: most probable, mode of draws, most probable at the true gap */
    TALLY_RIGHT_DRAWS,
    TALLY_RIGHT_AT,
    TALLY_TYPE_LOSS,
    TALLY_BRIER,
    TALLY_COVERED,                                              /* (levels) gap < quantile */
    TALLY_PIT = TALLY_COVERED + SMURF_LEVELS,                   /* (levels) pit < level */
    TALLY_LENGTH = TALLY_PIT + SMURF_LEVELS,                    /* (levels) max(quantile, 0) */
    TALLY_CONFIDENCE = TALLY_LENGTH + SMURF_LEVELS,             /* (bins) probabilities of the most probable type */
    TALLY_CONFIDENT_RIGHT = TALLY_CONFIDENCE + CONFIDENCE_BINS, /* (bins) how often it was right */
    TALLY_SLOTS = TALLY_CONFIDENT_RIGHT + CONFIDENCE_BINS,
};

/* Values of a law for one gap. NaN: not measured; quantiles are measured all or none, and so are type shares. */
struct gap_values {
    double gap, pit, crps, spread, log_density;
    const double *level;                 /* (SMURF_LEVELS), those of the quantiles */
    const double *quantile;              /* (SMURF_LEVELS) or NULL */
    double right, right_draws, right_at; /* 0 or 1 */
    double top_share, true_share, brier;
    bool untyped; /* the type is not scored */
};

void smurf_tally_gap(double tally[TALLY_SLOTS], const struct gap_values *values);
/* The sums over gaps from .. to-1 of a row. */
void smurf_tally_row(double tally[TALLY_SLOTS], const struct evaluation *evaluation, const struct row_values *row,
                     size_t from, size_t to);
/* All metrics except ks, ks_p and sequences. n_dev: gaps the law was recalibrated on; 0: not recalibrated. */
void smurf_tally_metrics(smurf_metrics *out, const double tally[TALLY_SLOTS], const double *level, size_t n_dev);

#endif
