/* conformal.c - see conformal.h. */
#include "law/conformal.h"

#include <math.h>
#include <stdint.h>

/* Integer arithmetic, so that 10 * 0.9 is exactly 9. */
size_t smurf_conformal_rank(size_t n, double level)
{
    const uint64_t unit = 1000000000;
    uint64_t parts = (uint64_t)llround(level * (double)unit);
    return (size_t)(((uint64_t)(n + 1) * parts + unit - 1) / unit);
}

double smurf_conformal_upper(const double *score, size_t n, double level)
{
    size_t rank = smurf_conformal_rank(n, level);
    if (rank > n) return INFINITY;
    return rank ? score[rank - 1] : 0;
}

/* P(gap < the k-th smallest) <= k / (n + 1): the largest k with k / (n + 1) <= 1 - level. */
double smurf_conformal_lower(const double *score, size_t n, double level)
{
    size_t rank = n + 1 - smurf_conformal_rank(n, level);
    return rank ? score[rank - 1] : 0;
}
