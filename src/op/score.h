/*
 * score.h - psi and psi' of a law at one point, and gradients of functions of them with respect to (u, u', u'').
 *
 * With an intensity, the formulas of intensity.h. Without, psi = u and psi' = u'.
 */
#ifndef SMURF_OP_SCORE_H
#define SMURF_OP_SCORE_H

#include "op/intensity.h"

#include <stdbool.h>

struct score {
    bool intensity;
    real psi, slope;                  /* psi' */
    real psi_u, psi_u1;               /* d psi / du, du' */
    real slope_u, slope_u1, slope_u2; /* d psi' / du, du', du'' */
};

static inline struct score score_at(bool intensity, real u, real u1, real u2)
{
    if (!intensity) return (struct score){false, u, u1, 1, 0, 0, 1, 0};
    struct intensity l = intensity_at(u);
    real p = l.kappa * u1 - l.q, rest = 1 - l.q;
    real kappa2 = l.r * ((rest - l.r) * (rest - 2 * l.r) - l.q * rest);
    return (struct score){true,
                          l.r * u1 - l.lambda,
                          l.r * u2 + p * u1,
                          p,
                          l.r,
                          l.kappa * u2 + kappa2 * u1 * u1 - l.q * rest * u1,
                          2 * l.kappa * u1 - l.q,
                          l.r};
}

/* The same with an intensity lambda e^beta (model/clock.h): with E = e^beta,
 *
 *     psi  = r u' + beta' - E lambda
 *     psi' = r u'' + kappa u'^2 + beta'' - E (q u' + lambda beta')
 */
struct score_clocked {
    struct score by_u;
    real psi_b;             /* d psi / d beta; by beta' it is 1 */
    real slope_b, slope_b1; /* d psi' / d beta, d beta'; by beta'' it is 1 */
};

static inline struct score_clocked score_clocked_at(real u, real u1, real u2, real b, real b1, real b2)
{
    struct intensity l = intensity_at(u);
    real rest = 1 - l.q, kappa2 = l.r * ((rest - l.r) * (rest - 2 * l.r) - l.q * rest);
    real e = exp_real(b), q = e * l.q, lambda = e * l.lambda;
    struct score s = {true,
                      l.r * u1 + b1 - lambda,
                      l.r * u2 + l.kappa * u1 * u1 + b2 - q * u1 - lambda * b1,
                      l.kappa * u1 - q,
                      l.r,
                      l.kappa * u2 + kappa2 * u1 * u1 - q * rest * u1 - q * b1,
                      2 * l.kappa * u1 - q,
                      l.r};
    return (struct score_clocked){s, -lambda, -q * u1 - lambda * b1, -lambda};
}

/* Gradient of f with respect to (u, u', u''), given df/dpsi and df/dpsi'. */
static inline void score_gradient(const struct score *s, real by_psi, real by_slope, real *g0, real *g1, real *g2)
{
    *g0 = by_psi * s->psi_u + by_slope * s->slope_u;
    *g1 = by_psi * s->psi_u1 + by_slope * s->slope_u1;
    if (s->intensity) *g2 = by_slope * s->slope_u2;
}

#endif
