/*
 * reject.c - Langevin that rejects steps to the floor or below: a rejected draw does not move in that step.
 *
 * For p with a constant score above the floor, an exponential, this is the Metropolis rule and exact for any eps. Other
 * laws have an error of order eps near the floor. Scores that diverge at the floor (a gamma's 1/t) throw draws far
 * away: use mirror for those. Draws that would start at or below the floor start just above it.
 */
#include "law/langevin.h"

static bool draw(const struct law *law, const struct sampler_config *config, uint64_t stream, double *out, size_t n)
{
    struct langevin langevin = {.law = law, .walked = law, .floor = config->floor};
    return smurf_langevin_draw(&langevin, config, stream, out, n);
}

const struct sampler_class smurf_sampler_reject = {"reject", "Langevin steps; steps to negative gaps are rejected",
                                                   NULL, draw};
