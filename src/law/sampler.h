/*
 * sampler.h - drawing gaps from a law by its score, one sampler a file.
 *
 * All work on the law's own axis, on n draws at once. Draw i is a function of (law, config, seed, stream, i) alone: the
 * same at any number of threads, and the first k of n draws are those of a call for k. To add one: write the file, and
 * add its name to SMURF_SAMPLERS.
 *
 *     langevin  t <- t + 1/2 eps psi(t) + sqrt(eps) z, from a uniform start
 *     mirror    the same through y = ln t, whose score is t psi(t) + 1. For axes whose gaps are positive (none, mean);
 *               a start of 0 or less is raised to a millionth of the upper one
 *     reject    langevin that refuses steps to `floor` or below: 0, or the law's lower end on the log axis
 *
 * then, with denoise sigma > 0, Tweedie's step t <- t + sigma^2 psi(t). langevin needs no support: learned laws are
 * defined on the whole axis, their intensity tends to a positive constant on the left, so that there is no stationary
 * law and draws drift left with the number of steps. That is the paper's sampler, and why it is not the default.
 *
 * psi is looked up in a table with a bounded error (score_table.h); where the table cannot hold the bound, and beyond
 * its ends, the law itself is asked. Positions are floats on the table's axis: 2^-24 of its width.
 *
 * Steps that would not give a finite number are refused, in the walk and at its end: draws are always finite, and one
 * that diverges keeps the last finite place, at most 1e18 cells of the table away. Without a step that is positive and
 * finite, draws are their starts. Starts must be finite.
 *
 * The memory a call takes is one table of 400 KB, for any n; without it every score is asked of the law: slow, and
 * equal up to the bound.
 */
#ifndef SMURF_LAW_SAMPLER_H
#define SMURF_LAW_SAMPLER_H

#include "law/law.h"

struct sampler_config {
    size_t steps;    /* below 2^34 */
    double step;     /* eps */
    double start[2]; /* draws start uniform between these */
    double denoise;  /* sigma of Tweedie's last step t + sigma^2 psi(t); 0: none. multiplicative noise: none */
    double floor;    /* reject: draws stay above this */
    uint64_t seed;
};

struct sampler_class {
    const char *name, *about;
    const char *not_on_log; /* why it cannot walk on the log axis, and what to use instead; NULL: it can */
    /* out (n), in no order; n below 2^32. stream tells laws apart. May run on many threads. NULL: not by the score but
       from the distribution of the law, which takes no steps. */
    void (*draw)(const struct law *law, const struct sampler_config *config, uint64_t stream, double *out, size_t n);
};

/* The first is the default. */
#define SMURF_SAMPLERS(X)     X(exact) X(langevin) X(mirror) X(reject)
#define SAMPLER_DECLARE(name) extern const struct sampler_class smurf_sampler_##name;
SMURF_SAMPLERS(SAMPLER_DECLARE)

/* NULL past the last. */
const struct sampler_class *smurf_sampler_at(size_t index);
/* By name; NULL: the default. An unknown name is an SMURF_ERROR_ARGUMENT. */
smurf_status smurf_sampler_find(const struct sampler_class **out, const char *name, smurf_error *err);

#endif
