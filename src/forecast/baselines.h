/*
 * baselines.h - baselines that need only train: the naive laws, the most frequent successor of a type, the mean gap.
 */
#ifndef SMURF_FORECAST_BASELINES_H
#define SMURF_FORECAST_BASELINES_H

#include "eval/evaluate.h"
#include "eval/naive.h"

struct baselines {
    struct naive *naive;
    struct predictor marginal, recent, same_hour, last;
    bool dated; /* the last two apply */
    struct markov markov;
    struct recency recency;
    double mean_gap; /* NaN without train */
};

/* train may be NULL: then there are no baselines. Release even after a failure. */
smurf_status smurf_baselines_init(struct baselines *out, const smurf_data *train, smurf_error *err);
void smurf_baselines_release(struct baselines *baselines);

#endif
