/*
 * random.h - random numbers as a function of (seed, stream, counter).
 *
 * Philox4x32-10 from Random123: each (seed, stream, counter) gives four independent 32-bit words, the same on every
 * machine, thread and run. `struct random` walks the counter of one stream; draws made elsewhere do not affect its
 * results. One stream can be divided by starting counters far apart.
 */
#ifndef SMURF_BASE_RANDOM_H
#define SMURF_BASE_RANDOM_H

#include <stdint.h>

/* The four words of one block. */
void smurf_philox(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t counter);

/* 64 random bits as a number in (0, 1), never 0 or 1: (k + 1/2) / 2^52, exact as a double. */
static inline double smurf_random_unit(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

struct random {
    uint64_t seed, stream, counter; /* counter: next block to generate */
    uint32_t word[4];
    unsigned left; /* unused words of the current block, in pairs */
};

/* Starts at the first block of (seed, stream). */
void smurf_random_init(struct random *random, uint64_t seed, uint64_t stream);

uint64_t smurf_random_bits(struct random *random);
/* Uniform in (0, 1), as smurf_random_unit. */
double smurf_random_uniform(struct random *random);
/* Standard exponential, by inversion. */
double smurf_random_exponential(struct random *random);
/* Standard normal, by Box-Muller; one draw takes two uniforms. */
double smurf_random_normal(struct random *random);
/* Uniform in 0 .. n-1 without bias; n > 0. */
uint64_t smurf_random_below(struct random *random, uint64_t n);

#endif
