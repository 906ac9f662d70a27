/*
 * langevin.h - shared by the Langevin samplers: a walk along an axis, from a uniform start to Tweedie's step.
 */
#ifndef SMURF_LAW_LANGEVIN_H
#define SMURF_LAW_LANGEVIN_H

#include "law/sampler.h"

struct langevin {
    const struct law *law;    /* of t */
    const struct law *walked; /* of y = into(t), whose score drives the walk */
    double (*into)(double t); /* increasing; NULL: y = t, and walked is law */
    double (*back)(double y);
    double floor; /* of t: steps to it or below are rejected, including Tweedie's; -INFINITY: none */
};

/* Implements a sampler's draw. */
bool smurf_langevin_draw(const struct langevin *langevin, const struct sampler_config *config, uint64_t stream,
                         double *out, size_t n);

#endif
