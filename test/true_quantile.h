/*
 * true_quantile.h - quantiles of the known law of a simulated process, for tests of recovery.
 */
#ifndef SMURF_TEST_TRUE_QUANTILE_H
#define SMURF_TEST_TRUE_QUANTILE_H

#include "smurf.h"

/* The gap at which the true law reaches a level, by bisection. */
static inline double true_quantile(const smurf_law *law, double level)
{
    double low = 0, high = 1, f;
    for (smurf_law_cdf(law, &high, &f, 1); f < level && high < 1e9; smurf_law_cdf(law, &high, &f, 1)) high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        smurf_law_cdf(law, &middle, &f, 1);
        if (f < level)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

#endif
