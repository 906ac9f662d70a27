/*
 * config.h - the settings of a model and its training as the library sees them. Programs see them by name (smurf.h).
 */
#ifndef SMURF_MODEL_CONFIG_H
#define SMURF_MODEL_CONFIG_H

#include "base/error.h"

#include <stdbool.h>

enum { SMURF_SIGMAS = 8 };

struct smurf_settings {
    char model[16]; /* name of its class: model_class.h */
    /* the encoder */
    size_t width, heads, head_width, layers, inner;
    int relu; /* 1: ReLU in place of GELU */
    double dropout;
    double settle;   /* share of the epochs, at the end, that go without dropout */
    int gap_feature; /* 1: events also show the gap before them */
    int raw_clock;   /* 1: the encoder sees the user's own time, not the time since a sequence's first event */
    size_t context;  /* events that are looked back at, at least; longer sequences are cut into windows. 0: all */
    int score;       /* 1: the head is the score itself, with no intensity behind it */
    smurf_scale_kind scale;
    /* the objective */
    char objective[16];         /* a name of OBJECTIVES (objective.h) */
    size_t points;              /* dsm: perturbations of each event */
    size_t nodes;               /* mle: nodes of the quadrature */
    double sigma[SMURF_SIGMAS]; /* dsm: noise, on the scaled axis; unused ones are 0 */
    int multiplicative;         /* dsm: noise that multiplies */
    int stop_gradient;          /* dsm: lambda'/lambda is not differentiated */
    double alpha;               /* weight of the objective beside the type loss */
    double smoothing;           /* of type labels */
    int type_at_truth;          /* 1: type loss at the observed gap, not at the perturbed ones */
    size_t sampler_steps;       /* Langevin: steps, and their size on the axis of the law; for evaluation by draws */
    double sampler_step;
    double dither; /* tick to spread gaps within while training; 0: none */
    /* the optimiser */
    size_t batch; /* sequences in a step */
    double rate;
    int schedule;         /* 0: constant, 1: cosine, 2: halved where dev stops improving */
    size_t cosine_epochs; /* the cosine reaches 0 here; 0: at the last epoch */
    size_t warmup;        /* steps over which the rate rises from 0 */
    double clip;          /* largest norm of the gradient; 0: none */
    double average;       /* decay of the average of the weights; 0: none */
    size_t epochs;
    size_t patience; /* stop after this many epochs without a better dev loss; 0: never */
    uint64_t seed;
    int threads; /* 0: all cores. Results do not depend on it. */
};

/* The settings of a small general model. */
void smurf_settings_init(smurf_settings *settings);
/* Those of a preset; seed and threads stay. On failure nothing changes. */
smurf_status smurf_settings_preset(smurf_settings *settings, const char *name, const smurf_data *train,
                                   smurf_error *err);
/* Whether a setting belongs to the run alone (threads) or is kept beside the settings (seed): not part of a model's
   list of settings. */
bool smurf_setting_is_of_run(size_t index);

#endif
