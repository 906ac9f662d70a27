/*
 * intensity.h - intensity and score from u(tau) and its derivatives, and their gradients.
 *
 *     lambda = softplus(u)      q = d lambda / du = 1 / (1 + e^-u)
 *     r = q / (lambda + 1e-10)  kappa = dr/du = r (1 - q - r)    P = kappa u' - q
 *     psi  = lambda'/lambda - lambda = r u' - lambda
 *     psi' = r u'' + P u'
 *
 * Derivatives with respect to (u, u', u''):
 *     d psi  = P du + r du'
 *     d psi' = [kappa u'' + kappa2 u'^2 - q (1-q) u'] du + (2 kappa u' - q) du' + r du'',
 *     kappa2 = d kappa / du = r [(1-q-r)(1-q-2r) - q (1-q)]
 */
#ifndef SMURF_OP_INTENSITY_H
#define SMURF_OP_INTENSITY_H

#include "op/op.h"
#include "op/real.h"

struct intensity {
    real lambda, q, r, kappa;
};

static inline struct intensity intensity_at(real u)
{
    real e = exp_real(-fabs_real(u)); /* never overflows */
    real soft = log1p_real(e);
    struct intensity out;
    out.lambda = u > 0 ? u + soft : soft;
    out.q = u > 0 ? 1 / (1 + e) : e / (1 + e);
    out.r = out.q / (out.lambda + (real)1e-10);
    out.kappa = out.r * (1 - out.q - out.r);
    return out;
}

#endif
