/*
 * true_quantile.h - sequences of a simulated process, and quantiles of its known law, for tests of recovery.
 */
#ifndef SMURF_TEST_TRUE_QUANTILE_H
#define SMURF_TEST_TRUE_QUANTILE_H

#include "smurf_lab.h"

#include <stdlib.h>

/* Sequences observed from 0 to 40. */
static inline smurf_data *observe(const smurf_process *process, size_t sequences, uint64_t seed)
{
    smurf_data *data;
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.until = 40;
    config.seed = seed;
    if (smurf_process_simulate(&data, process, &config, NULL)) abort();
    return data;
}

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
