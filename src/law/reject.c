/*
 * reject.c - Langevin that refuses steps to the floor or below: a refused draw stays where it is for that step.
 *
 * For p with a constant score above the floor, an exponential, this is Metropolis's rule and exact at any eps; others
 * are off by an order of eps near the floor, and scores that grow without end towards it (a gamma's 1/t) throw draws
 * far away: mirror is for those. Draws that would start at or below the floor start just above it.
 */
#include "law/langevin.h"

static void draw(const struct law *law, const struct sampler_config *config, uint64_t stream, double *out, size_t n)
{
    struct langevin langevin = {.law = law, .walked = law, .floor = config->floor};
    smurf_langevin_draw(&langevin, config, stream, out, n);
}

const struct sampler_class smurf_sampler_reject = {
    "reject", "Langevin steps, of which those to negative gaps are refused", NULL, draw};
