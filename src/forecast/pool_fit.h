/*
 * pool_fit.h - chooses the naive laws that a model is pooled with, and their weights, on data that training has not
 * seen.
 */
#ifndef SMURF_FORECAST_POOL_FIT_H
#define SMURF_FORECAST_POOL_FIT_H

#include "base/progress.h"
#include "model/model_file.h"

enum { POOL_FOLDS = 10 };

/* What a pool of the model's law with naive ones is worth on each gap; exposed for tests. */
struct pool_scores {
    size_t n;                 /* gaps, in the order of the data */
    size_t stride;            /* every stride-th gap of the data is one of them */
    uint32_t *unit;           /* (n) the sequence, or block of time, of each gap: increasing */
    int *fold;                /* (n) for cross-fitting, below POOL_FOLDS */
    double *crps;             /* (n) of the model */
    double *naive[POOL_LAWS]; /* (n) CRPS of a naive law; NULL: not a candidate */
    double *both[POOL_LAWS];  /* (n) CRPS of the pool with weight 1/2 */
    double *share;            /* (n) the model's probability of the type; NaN: the type is not scored */
    double *naive_share[POOL_TYPES];
    bool selected; /* these gaps selected the model's epoch, too */
};

struct pool_choice {
    int which; /* of the candidates; 0: none */
    double weight;
    double gain; /* cross-fitted, per gap */
    double mean; /* of the model's scores */
};

/* The best law and its weight, where its cross-fitted gain exceeds its standard error or the gaps selected the model;
   and the best types, where their gain does. */
struct pool_choice smurf_pool_choose_law(const struct pool_scores *scores);
struct pool_choice smurf_pool_choose_types(const struct pool_scores *scores);
/* The rate per event at which the weights of that pool of types, and of naive laws, follow what came, with the lowest
   loss. Gaps are those of one sequence. */
double smurf_pool_choose_follow(const struct pool_scores *scores, const struct pool_choice *types);

/* All naive laws of train, in a zeroed pool; its law and types are those that ask for most. Free it even after a
   failure. */
smurf_status smurf_pool_laws(struct pool *pool, const smurf_data *train, uint32_t types, smurf_error *err);

/* Replaces the model's pool by the one that data, whose events training has not seen, asks for; NULL if that is none.
   The laws themselves are fitted on train. follow: on one log, weights of types are to follow what comes. selected:
   data selected the model's epoch. */
smurf_status smurf_model_pool_fit(smurf_model *model, const smurf_data *data, const smurf_data *train, bool follow,
                                  bool selected, int threads, struct stop *stop, smurf_error *err);

#endif
