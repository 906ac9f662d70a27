/* Compiled twice, for float and for double: see op/op.h. */
/*
 * objective_wsm.c - weighted score matching: 1/2 h psi^2 + h psi' + h' psi, with h zero where the density ends.
 *
 * h = tau; if the end of observation T is known, h = min(tau, T - t), whose slope is +1 up to half of T - t_{i-1} and
 * -1 beyond. On the log axis, which has no end on the left: h = min(1, y(T - t_{i-1}) - y). Censored gaps add nothing.
 */
#include "model/clock_score.h"
#include "model/objective_at_gap.h"

static double loss(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                   const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2)
{
    (void)n, (void)tau;
    double h, slope;
    clock_score_weight(config, target, &h, &slope);
    struct score s = score_at(config->param == PARAM_INTENSITY, u[0], u1[0], u2[0]);
    double psi = (double)s.psi;
    score_gradient(&s, (real)(h * psi + slope), (real)h, g0, g1, g2);
    return 0.5 * h * psi * psi + h * (double)s.slope + slope * psi;
}

static double clocked(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                      const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2,
                      const struct clock_points *clock)
{
    (void)n, (void)tau;
    double h, slope;
    clock_score_weight(config, target, &h, &slope);
    return clock_score_loss(h, slope, 0, u, u1, u2, g0, g1, g2, clock);
}

const struct objective_class OP(objective_wsm) = {
    .name = "wsm",
    .about = "weighted score matching, for densities with a bounded support",
    .mass = EXACT_ONE,
    .prepare = prepare,
    .order = order,
    .count = count,
    .place = place,
    .loss = loss,
    .clocked = clocked,
};
