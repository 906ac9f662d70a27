/*
 * loss.h - settings of the loss of a batch.
 *
 *     loss = sum over targets of  alpha * (time) + (type)
 *
 * time is SMURF's objective, or another class's equivalent; type is the cross-entropy of the type.
 */
#ifndef SMURF_MODEL_LOSS_H
#define SMURF_MODEL_LOSS_H

#include "model/objective.h"

struct loss_config {
    double alpha;     /* weight of the time loss */
    double smoothing; /* of type labels, if there is a classifier */
    size_t points;    /* draws or nodes of the integral, for classes with their own loss */
    const double *u;  /* (targets x points) in (0, 1), for tests: draws to use; NULL: a function of the run's seed and
                         step and the target's id */
    struct objective_config objective; /* for classes that take one */
    bool type_at_truth;                /* type loss at the observed gap, not at the perturbed ones */
    struct objective_config likelihood; /* for models with a probability of an end: that of objective mle */
    double high;                        /* upper end of the law's support */
};

/* Fills the config from the settings. low, high: the ends of the law's support. */
void smurf_loss_config(struct loss_config *out, const smurf_settings *settings, double low, double high);

#endif
