/*
 * config.h - settings of a model and its training, as the library sees them. Programs use them by name (smurf.h).
 */
#ifndef SMURF_MODEL_CONFIG_H
#define SMURF_MODEL_CONFIG_H

#include "base/error.h"

#include <stdbool.h>

enum { SMURF_SIGMAS = 8, SMURF_AUTO = -1 };
/* Values of the setting wall-clock. CLOCK_AUTO becomes one of the first two when training starts. */
enum { CLOCK_OFF, CLOCK_ON, CLOCK_SEASON, CLOCK_AUTO };

struct smurf_settings {
    char model[16]; /* name of its class (model_class.h) */
    /* the encoder */
    size_t width, heads, head_width, layers, inner;
    int relu; /* 1: ReLU instead of GELU */
    double dropout;
    double settle;   /* share of the epochs, at the end, run without dropout */
    int gap_feature; /* 1: the encoder also sees the gap before each event */
    int raw_clock;   /* 1: the encoder sees the user's own time, not time since the sequence's first event */
    size_t context;  /* minimum events of look-back; longer sequences are cut into windows. 0: all */
    size_t window;   /* events that a window predicts; 0: twice the context */
    int score;       /* 1: the head is the score itself, without an intensity */
    smurf_scale_kind scale;
    /* the objective */
    char objective[16];         /* a name from OBJECTIVES (objective.h) */
    size_t points;              /* dsm: perturbations per event */
    size_t nodes;               /* mle: quadrature nodes */
    double sigma[SMURF_SIGMAS]; /* dsm: noise, on the scaled axis; unused entries are 0 */
    int multiplicative;         /* dsm: multiplicative noise */
    int stop_gradient;          /* dsm: lambda'/lambda is not differentiated */
    double alpha;               /* weight of the objective relative to the type loss */
    double smoothing;           /* of type labels */
    int type_at_truth;          /* 1: type loss at the observed gap, not at the perturbed ones */
    size_t sampler_steps;       /* Langevin: number and size of steps, on the law's axis; for evaluation by draws */
    double sampler_step;
    double dither; /* tick within which gaps are spread in training; 0: none */
    /* the optimiser */
    double mask;  /* share of the input types that training hides, to learn "other"; 0: none */
    size_t batch; /* sequences per step */
    double rate;
    int schedule;         /* 0: constant, 1: cosine, 2: halved when the dev loss stops improving */
    size_t cosine_epochs; /* epoch at which the cosine reaches 0; 0: the last */
    size_t warmup;        /* steps over which the rate rises from 0 */
    double clip;          /* maximum norm of the gradient; 0: none */
    double average;       /* decay of the weight average; 0: none */
    size_t epochs;
    size_t patience; /* stop after this many epochs without a better dev loss; 0: never */
    uint64_t seed;
    int threads;     /* 0: all cores. Does not affect results. */
    int pool;        /* 1: laws are pooled with naive ones where dev gains by it */
    int tail;        /* 1: dev bounds what laws claim beyond the longest train gap */
    int ending;      /* 1: the model has a probability of no further event, learned from known ends of observation */
    double adaptive; /* step of adaptive levels (law/adaptive.h); 0: none, SMURF_AUTO: chosen on dev */
    int counts;      /* 1: the encoder and the types also see decayed counts of the events */
    int wall_clock;  /* whether the encoder and the law see the hour and the weekday (clock.h), and the season */
};

/* The settings of a small general model. */
void smurf_settings_init(smurf_settings *settings);
/* Settings of a preset; seed and threads are kept. Changes nothing on failure. */
smurf_status smurf_settings_preset(smurf_settings *settings, const char *name, const smurf_data *train,
                                   smurf_error *err);
/* Whether a setting belongs to the run alone (threads) or is stored separately (seed), and so is not in a model's list
   of settings. */
bool smurf_setting_is_of_run(size_t index);

#endif
