/*
 * clock_score.h - weighted score matching at the observed gap, 1/2 h psi^2 + h psi' + h' psi, of a law with a clock.
 */
#ifndef SMURF_MODEL_CLOCK_SCORE_H
#define SMURF_MODEL_CLOCK_SCORE_H

#include "model/objective.h"
#include "op/score.h"

/* The loss at point i, where h has this value and slope; sets its gradient by u, u', u'' and by beta, beta', beta''. */
static inline double clock_score_loss(double h, double h_slope, size_t i, const real *u, const real *u1, const real *u2,
                                      real *g0, real *g1, real *g2, const struct clock_points *clock)
{
    struct score_clocked s = score_clocked_at(u[i], u1[i], u2[i], clock->b[i], clock->b1[i], clock->b2[i]);
    double psi = (double)s.by_u.psi;
    real by_psi = (real)(h * psi + h_slope), by_slope = (real)h;
    score_gradient(&s.by_u, by_psi, by_slope, &g0[i], &g1[i], &g2[i]);
    clock->g0[i] = by_psi * s.psi_b + by_slope * s.slope_b;
    clock->g1[i] = by_psi + by_slope * s.slope_b1;
    clock->g2[i] = by_slope;
    return 0.5 * h * psi * psi + h * (double)s.by_u.slope + h_slope * psi;
}

/* h of objective wsm at a gap (objective_wsm.c), and its slope. */
static inline void clock_score_weight(const struct objective_config *config, const struct target *target, double *h,
                                      double *slope)
{
    double tau = target->gap, limit = target->limit;
    *h = config->log_axis ? 1 : tau;
    *slope = config->log_axis ? 0 : 1;
    if (limit - tau < *h) { /* false if the limit is unknown */
        *h = limit - tau;
        *slope = -1;
    }
}

#endif
