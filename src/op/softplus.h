/*
 * softplus.h - softplus and the logistic function in double, as laws use them; for loops compiled with -ffast-math.
 *
 *     softplus(u) = ln(1 + e^u) = max(u, 0) + ln(1 + e^-|u|)
 *
 * log1p, not log: 1 + e would lose the digits of a small e. Arguments of exp are clamped to within 700, so nothing
 * overflows.
 */
#ifndef SMURF_OP_SOFTPLUS_H
#define SMURF_OP_SOFTPLUS_H

#include <math.h>

static inline double softplus(double u)
{
    double size = fabs(u);
    return (u > 0 ? u : 0) + log1p(exp(-(size < 700 ? size : 700)));
}

static inline double logistic(double u)
{
    double below = u < -700 ? -700 : u;
    return 1 / (1 + exp(-below));
}

#endif
