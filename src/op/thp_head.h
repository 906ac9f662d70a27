/*
 * thp_head.h - intensities of the Transformer Hawkes Process, one per type, as functions of the gap:
 *
 *     lambda_k(tau) = softplus_beta(x_k)      x_k = z_k + s tau      softplus_beta(x) = ln(1 + e^{beta x}) / beta
 *
 * z (types) and s belong to one event; beta is shared. Derivatives: with q = 1 / (1 + e^{-beta x}),
 *
 *     d lambda/dz = q      d lambda/ds = tau q      d lambda/d beta = (x q - lambda) / beta      lambda' = s q
 *
 * All types share s and beta, so at any gap their intensities are ordered as z is, and the total is monotone.
 */
#ifndef SMURF_OP_THP_HEAD_H
#define SMURF_OP_THP_HEAD_H

#include "op/intensity.h"

/* Short names; see op.h. */
#define thp_integral    OP(thp_integral)
#define thp_total       OP(thp_total)
#define thp_total_slope OP(thp_total_slope)
#define thp_types       OP(thp_types)

/* The number of points of an integral is a multiple of this: pad with points of weight 0. */
enum { THP_BLOCK = 16 };
/* beta is unconstrained in training. Below this bound it counts as the bound, with the gradient there, so that it can
   recover. */
#define THP_BETA_LEAST 0.01

struct thp_head {
    size_t types;
    const real *z; /* (types) */
    real slope;    /* s */
    real beta;
};

/* Gradients are added to. */
struct thp_gradient {
    real *z; /* (types) */
    double slope, beta;
};

/* x, lambda and q of type k. */
struct thp_point {
    real x, lambda, q;
};
static inline struct thp_point thp_at(const struct thp_head *head, size_t k, real tau)
{
    real x = head->z[k] + head->slope * tau;
    struct intensity i = intensity_at(head->beta * x);
    return (struct thp_point){x, i.lambda / head->beta, i.q};
}

/* Adds the gradient of d * lambda_k(tau). */
static inline void thp_add(const struct thp_head *head, size_t k, real tau, const struct thp_point *at, double d,
                           struct thp_gradient *g)
{
    g->z[k] += (real)(d * (double)at->q);
    g->slope += d * (double)(at->q * tau);
    g->beta += d * (double)((at->x * at->q - at->lambda) / head->beta);
}

/* Sum over points and types of w[i] lambda_k(tau[i]), n a multiple of THP_BLOCK. Adds its gradient times scale to g
   unless NULL. */
double thp_integral(const struct thp_head *head, size_t n, const real *tau, const real *w, double scale,
                    struct thp_gradient *g);

/* For laws, in double: the total intensity and its slope at n points, and lambda_k, out (n x types). tau and out may be
   the same array, except for the types. */
void thp_total(const struct thp_head *head, const double *tau, double *out, size_t n);
void thp_total_slope(const struct thp_head *head, const double *tau, double *out, size_t n);
void thp_types(const struct thp_head *head, const double *tau, double *out, size_t n);

#endif
