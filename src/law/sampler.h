/*
 * sampler.h - draws gaps from a law by its score, one sampler per file.
 *
 * All samplers work on the law's own axis, on n draws at once. Draw i is a function of (law, config, seed, stream, i)
 * alone: it does not depend on the number of threads, and the first k of n draws equal those of a call for k. To add a
 * sampler: write its file and add its name to SMURF_SAMPLERS.
 *
 *     langevin  t <- t + 1/2 eps psi(t) + sqrt(eps) z, from a uniform start
 *     mirror    the same through y = ln t, whose score is t psi(t) + 1. For axes with positive gaps (none, mean);
 *               a start of 0 or less is raised to a millionth of the upper one
 *     reject    langevin that rejects steps to `floor` or below: 0, or the law's lower end on the log axis
 *
 * followed, with denoise sigma > 0, by Tweedie's step t <- t + sigma^2 psi(t). langevin ignores the support: learned
 * laws are defined on the whole axis and their intensity tends to a positive constant on the left, so there is no
 * stationary law and draws drift left with the number of steps. That is the paper's sampler, and why it is not the
 * default.
 *
 * psi is looked up in a table with a bounded error (score_table.h). Where the table cannot meet the bound, and beyond
 * its ends, the law itself is evaluated. Positions are floats on the table's axis: 2^-24 of its width.
 *
 * Steps to a non-finite number are rejected, during the walk and at its end: draws are always finite, and one that
 * diverges keeps the last finite place, at most 1e18 cells of the table away. Unless the step is positive and finite,
 * draws are their starts. Starts must be finite.
 *
 * A walk of more steps has a wider table, so the draws after k steps of a longer walk differ from those of a walk of k
 * steps by the table's error.
 *
 * A call allocates one table of 400 KB, for any n.
 */
#ifndef SMURF_LAW_SAMPLER_H
#define SMURF_LAW_SAMPLER_H

#include "law/law.h"

#include <stdbool.h>

struct sampler_config {
    size_t steps;    /* below 2^34 */
    double step;     /* eps */
    double start[2]; /* draws start uniform between these */
    double denoise;  /* sigma of Tweedie's last step t + sigma^2 psi(t); 0: none. multiplicative noise: none */
    double floor;    /* reject: draws stay above this */
    size_t every;    /* one walk, looked at after every so many steps; 0: at its end only */
    uint64_t seed;
};

struct sampler_class {
    const char *name, *about;
    const char *not_on_log; /* why it does not support the log axis, and what to use instead; NULL: it does */
    /* out (n), in no order; n below 2^32. With `every`: out (steps / every x n), the draws after every, 2 every, ...
       steps of the same walk, each with Tweedie's step. stream distinguishes laws. Thread-safe. NULL: draws from the
       law's distribution instead of by the score, without steps. False: out of memory. */
    bool (*draw)(const struct law *law, const struct sampler_config *config, uint64_t stream, double *out, size_t n);
};

/* The first is the default. */
#define SMURF_SAMPLERS(X)     X(exact) X(langevin) X(mirror) X(reject)
#define SAMPLER_DECLARE(name) extern const struct sampler_class smurf_sampler_##name;
SMURF_SAMPLERS(SAMPLER_DECLARE)

/* NULL past the last. */
const struct sampler_class *smurf_sampler_at(size_t index);
/* By name; NULL: the default. An unknown name is SMURF_ERROR_ARGUMENT. */
smurf_status smurf_sampler_find(const struct sampler_class **out, const char *name, smurf_error *err);

#endif
