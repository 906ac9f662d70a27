/* Compiled twice, for float and for double: see op/op.h. */
/*
 * objective_sm.c - score matching without noise: 1/2 psi^2 + psi' at the observed gap.
 *
 * Unbounded below if the density is positive at a boundary of its support: exponential gaps drive lambda to 0.
 */
#include "model/objective_at_gap.h"

#include "op/score.h"

static double loss(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                   const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2)
{
    (void)target, (void)n, (void)tau;
    struct score s = score_at(config->param == PARAM_INTENSITY, u[0], u1[0], u2[0]);
    score_gradient(&s, s.psi, 1, g0, g1, g2);
    return 0.5 * (double)s.psi * (double)s.psi + (double)s.slope;
}

const struct objective_class OP(objective_sm) = {
    .name = "sm",
    .about = "score matching without noise",
    .mass = EXACT_ONE,
    .prepare = prepare,
    .order = order,
    .count = count,
    .place = place,
    .loss = loss,
};
