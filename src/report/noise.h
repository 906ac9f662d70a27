/* noise.h - sampling error of counts. */
#ifndef SMURF_REPORT_NOISE_H
#define SMURF_REPORT_NOISE_H

#include <stddef.h>

/* The shares of n draws that lie between the 5% and the 95% quantile of the binomial law of probability p. */
struct span {
    double low, high;
};
struct span smurf_binomial_span(size_t n, double p);

#endif
