/*
 * conformal.h - intervals whose guarantee does not depend on the law being correct.
 *
 * The score of a gap is its level F(gap) under the raw law. Take the scores of n gaps not used in training, one per
 * sequence. Then the gap of a random event of a new sequence lies below the law's quantile at the ceil((n+1) q)-th
 * smallest score with probability at least q. If that rank exceeds n, there is too little data for the guarantee and
 * the bound is infinite.
 */
#ifndef SMURF_LAW_CONFORMAL_H
#define SMURF_LAW_CONFORMAL_H

#include <stddef.h>

/* ceil((n + 1) level), with the level rounded to nine decimals so that 0.9 of 9 + 1 scores is the 9th. */
size_t smurf_conformal_rank(size_t n, double level);
/* score (n) is sorted. Returns the level whose quantile bounds the gap from above, or INFINITY. */
double smurf_conformal_upper(const double *score, size_t n, double level);
/* Lower bound: the gap is larger with probability at least `level`; 0 if there is too little data. */
double smurf_conformal_lower(const double *score, size_t n, double level);

#endif
