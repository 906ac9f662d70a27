/*
 * walk.h - the number of steps of a sampler, chosen by one walk.
 */
#ifndef WALK_H
#define WALK_H

#include <smurf_lab.h>

enum { LOOKS_MOST = 200 };

/* Calibration scores of draws after every, 2 every, ... steps. */
struct walk {
    size_t every, looks; /* looks 0: not walked */
    double cs[LOOKS_MOST];
    size_t steps; /* the number with the lowest score; the smallest on a tie */
};

/* Walks twice the model's steps on data, as config says, and looks every 20 steps, or about 20 times if the walk is
   short. Samplers' draws drift with the number of steps. */
smurf_status walk_choose(struct walk *out, const smurf_model *model, const smurf_data *data,
                         const smurf_eval_config *config, smurf_error *err);

#endif
