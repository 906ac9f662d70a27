/* random.c - see random.h. The generator is Random123's; only the distributions are implemented here. */
#include "base/random.h"

#include <Random123/philox.h>

#include <math.h>

static const double two_pi = 6.28318530717958647692;

void smurf_philox(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t counter)
{
    philox4x32_ctr_t ctr = {{(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    ctr = philox4x32(ctr, key);
    for (int i = 0; i < 4; i++) out[i] = ctr.v[i];
}

void smurf_random_init(struct random *random, uint64_t seed, uint64_t stream)
{
    *random = (struct random){.seed = seed, .stream = stream};
}

uint64_t smurf_random_bits(struct random *random)
{
    if (random->left == 0) {
        smurf_philox(random->word, random->seed, random->stream, random->counter++);
        random->left = 2;
    }
    const uint32_t *pair = random->word + 2 * (2 - random->left--);
    return (uint64_t)pair[1] << 32 | pair[0];
}

double smurf_random_uniform(struct random *random)
{
    return smurf_random_unit(smurf_random_bits(random));
}

double smurf_random_exponential(struct random *random)
{
    return -log(smurf_random_uniform(random));
}

double smurf_random_normal(struct random *random)
{
    double radius = sqrt(2 * smurf_random_exponential(random));
    return radius * cos(two_pi * smurf_random_uniform(random));
}

/* Lemire's multiplication method, rejecting the short first interval. */
uint64_t smurf_random_below(struct random *random, uint64_t n)
{
    uint64_t reject = -n % n;
    for (;;) {
        unsigned __int128 wide = (unsigned __int128)smurf_random_bits(random) * n;
        if ((uint64_t)wide >= reject) return (uint64_t)(wide >> 64);
    }
}
