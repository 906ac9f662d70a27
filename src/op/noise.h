/*
 * noise.h - standard normal numbers as a function of (seed, step, place, element).
 */
#ifndef SMURF_OP_NOISE_H
#define SMURF_OP_NOISE_H

#include "op/op.h"

/* Short names; see op.h. */
#define noise_normal OP(noise_normal)

/* Maximum n of one call. */
enum { NOISE_MOST = 512 };

/* out (n) for item `item` of a tensor; n <= NOISE_MOST. Box-Muller on words of Philox. The same item always gets the
   same numbers, and the first ones do not depend on n. */
void noise_normal(const struct op_run *run, uint64_t place, uint64_t item, size_t n, real *out);

#endif
