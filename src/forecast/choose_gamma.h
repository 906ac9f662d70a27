/*
 * choose_gamma.h - chooses the step of adaptive levels (law/adaptive.h) on held-out gaps.
 */
#ifndef SMURF_FORECAST_CHOOSE_GAMMA_H
#define SMURF_FORECAST_CHOOSE_GAMMA_H

#include "base/progress.h"
#include "forecast/model_predictor.h"

struct gamma_search {
    const smurf_model *model;
    const smurf_data *data;
    const size_t *offset; /* (sequences + 1) number of the first gap of each */
    const double *pit;    /* (gaps) under the model's laws, which have no map */
    /* The recalibration of a gap, which was not fitted on it; NULL: none. Levels start anew where it changes. */
    const struct recalibration *(*map)(const void *context, size_t sequence, size_t gap);
    const void *context;
    int threads;
    struct stop *stop;
    atomic_size_t *done; /* gaps, added to */
};

struct gamma_choice {
    double gamma;         /* 0: levels are best left alone */
    double before, after; /* mean pinball loss over the grid with gamma 0 and with the choice */
};

/* The calibration score, in %, of levels that follow the gaps by steps of gamma. */
double smurf_gamma_score(const struct gamma_search *search, double gamma);

smurf_status smurf_gamma_choose(struct gamma_choice *out, const struct gamma_search *search, smurf_error *err);

#endif
