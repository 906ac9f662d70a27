/*
 * conformal.h - intervals with a guarantee that does not rest on the law being right.
 *
 * The score of a gap is its level F(gap) under the raw law. With the scores of n gaps that training has not seen, one
 * from each sequence, the gap of a random event of a new sequence lies below the law's quantile at the ceil((n+1) q)-th
 * smallest score with probability q at least. Where that rank exceeds n, the data cannot give the guarantee: infinity.
 */
#ifndef SMURF_LAW_CONFORMAL_H
#define SMURF_LAW_CONFORMAL_H

#include <stddef.h>

/* ceil((n + 1) level), the level taken to nine decimals so that 0.9 of 9 + 1 scores is the 9th. */
size_t smurf_conformal_rank(size_t n, double level);
/* score (n) is sorted. The level of the law whose quantile bounds the gap from above, or INFINITY. */
double smurf_conformal_upper(const double *score, size_t n, double level);
/* From below: the gap is larger with probability level at least; 0 where the data cannot tell. */
double smurf_conformal_lower(const double *score, size_t n, double level);

#endif
