/*
 * sampler.h - drawing gaps from a law by its score, one sampler a file.
 *
 * All work on the law's own axis, on n draws at once, and are functions of (law, config, seed, stream): the same at any
 * number of threads. To add one: write the file, and add its name to SMURF_SAMPLERS.
 *
 *     langevin  t <- t + 1/2 eps psi(t) + sqrt(eps) z, from a uniform start
 *     mirror    the same through y = ln t, whose score is t psi(t) + 1; needs a start above 0, and an axis whose gaps
 * are positive (none, mean) reject    langevin that refuses steps to t <= 0 (or below the law's lower end, on the log
 * axis)
 *
 * The law's score is looked up in a table of it (score_table.h) with a bounded error.
 */
#ifndef SMURF_LAW_SAMPLER_H
#define SMURF_LAW_SAMPLER_H

#include "law/law.h"

struct sampler_config {
    size_t steps;
    double step;     /* eps */
    double start[2]; /* draws start uniform between these */
    double denoise;  /* sigma of Tweedie's last step t + sigma^2 psi(t); 0: none. multiplicative noise: none */
    double floor;    /* reject: draws stay above this */
    uint64_t seed;
};

struct sampler_class {
    const char *name;
    /* out (n), in no order. stream tells laws apart. */
    void (*draw)(const struct law *law, const struct sampler_config *config, uint64_t stream, double *out, size_t n);
};

#define SMURF_SAMPLERS(X)     X(langevin) X(mirror) X(reject)
#define SAMPLER_DECLARE(name) extern const struct sampler_class smurf_sampler_##name;
SMURF_SAMPLERS(SAMPLER_DECLARE)

/* NULL past the last; NULL if there is none of that name. */
const struct sampler_class *smurf_sampler_at(size_t index);
const struct sampler_class *smurf_sampler_named(const char *name);

#endif
