/*
 * walk.h - the inner loop of Langevin sampling: steps of many draws at once, in float.
 *
 * A place u counts cells of a score table: t = origin + width u. One step of all lanes is
 *
 *     u <- u + drift psi(u) + noise z,   drift = eps / (2 width),  noise = sqrt(eps) / width
 *
 * unless the result is `floor` or below. Lanes are draws. They come in whole groups, because the last bits of vector
 * functions must not depend on the number of draws.
 */
#ifndef SMURF_LAW_WALK_H
#define SMURF_LAW_WALK_H

#include "law/score_table.h"

#include <stdbool.h>

enum { WALK_LANES = 128, WALK_GROUP = 16, WALK_BLOCK = 4 };
#define WALK_FAR 1e18f /* places stay within this of 0 */

struct walk_step {
    float drift, noise;
    float floor; /* -2 WALK_FAR: none */
};

/* z[j][i]: the normal of step WALK_BLOCK * block + j of draw `first` + i. By Box-Muller from smurf_philox(seed, stream,
   draw << 32 | block + 1): radius from words 0 and 2, angle from 1 and 3; cosines first. Counter draw << 32 is reserved
   for the start. lanes: whole groups, at most WALK_LANES. */
void smurf_walk_normals(uint64_t seed, uint64_t stream, uint32_t first, uint32_t block, size_t lanes,
                        float z[WALK_BLOCK][WALK_LANES]);

/* One step of the places u. Lanes where the table defers to the law do not move and are marked in direct (0 or 1);
   true if there are any. */
bool smurf_walk_step(const struct score_table *table, const struct walk_step *step, size_t lanes, const float *z,
                     float *u, int32_t *direct);

#endif
