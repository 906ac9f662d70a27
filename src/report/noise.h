/*
 * noise.h - what chance alone produces: the grey bands of the figures, and the tests behind every claim of a page.
 *
 * Bands and tests of calibration are those of a true law in 95 of 100 cases. The interval of a difference between two
 * laws is a 90% interval: each side is missed in 5 of 100 cases.
 */
#ifndef SMURF_REPORT_NOISE_H
#define SMURF_REPORT_NOISE_H

#include <stdbool.h>
#include <stddef.h>

/* The central 95% range of the share of n independent events that occur with probability p. */
struct span {
    double low, high;
};
struct span smurf_binomial_span(size_t n, double p);

/* The calibration score (tally.h) of a true law, in percent: exceeded in 5 of 100 cases. 1 / n is `inverse`. */
double smurf_calibration_limit(double inverse);

/* The probability of a larger sum of n squared standard normals (Wilson and Hilferty 1931: within 0.01 for n >= 2). */
double smurf_chi_square_tail(double sum, size_t n);

/* The mean of n differences and its 90% interval. Differences of one unit (a sequence) belong together; with fewer than
   20 units, blocks of consecutive differences take their place. unit NULL: all are one unit. False if a difference is
   not finite or there are too few. */
bool smurf_paired_span(struct span *out, const double *difference, const unsigned *unit, size_t n);

#endif
