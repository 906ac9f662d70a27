/*
 * exact.h - an integrated law: its distribution on its own axis, as a table.
 *
 *     F(x) = 1 - exp(-Lambda(x)),   Lambda(x) = integral of lambda from lo to x
 *
 * For a law known by its score alone, F(x) = integral of exp(ln p) from lo to x, divided by that from lo to hi.
 * Panels are halved until the error of the CDF is about 1e-7 everywhere (1e-6 for laws with edges); between the table's
 * nodes it is a monotone cubic. If the class has a compensator, it replaces quadrature.
 */
#ifndef SMURF_LAW_EXACT_H
#define SMURF_LAW_EXACT_H

#include "law/dist.h"
#include "law/law.h"

/* Treatment of the mass beyond hi. */
enum exact_mass {
    EXACT_REST, /* likelihood: F(hi) < 1; the time scale's wrapper adds a tail */
    EXACT_ONE,  /* score matching, where the mass is unknown: all of it lies in [lo, hi], F is divided by F(hi) */
};

enum { EXACT_NODES_MOST = 2048 };

struct exact_work;

/* The table. Several hundred KB: allocate one per thread and reuse it. */
struct exact {
    size_t n;                /* at least 2 */
    double *x, *f, *slope;   /* (n): nodes, F and dF/dx at the nodes (slopes limited so that every cubic is monotone) */
    double *psi;             /* (n): the law's score at the nodes, from the panels; NULL: evaluate the law */
    size_t knots, *knot;     /* (knots): the nodes between which F is smooth, including the first and the last */
    double rest;             /* 1 - F(hi), precise even if tiny; 0 for EXACT_ONE */
    double hazard;           /* lambda(hi), the intensity with which the tail continues; 0 for EXACT_ONE */
    size_t evaluations;      /* of the law, in the last build */
    struct exact_work *work; /* integration panels and scratch: exact_table.h */
};

smurf_status smurf_exact_init(struct exact *exact, smurf_error *err);
void smurf_exact_release(struct exact *exact);

/* Integrates the law. A law with no mass in [lo, hi] (lambda = 0) has F = 0 as EXACT_REST and is uniform as EXACT_ONE.
   hi must be finite: the caller truncates an infinite support, at a quantile of about 1 - 1e-12. Invalid intensities
   (NaN, negative) count as 0. */
void smurf_exact_build(struct exact *exact, const struct law *law, enum exact_mass mass);

/* The table's distribution on the law's axis. Beyond hi, F stays at F(hi) and quantiles of higher levels are
   infinite. Its mean is that of min(gap, hi). */
struct dist smurf_exact_dist(const struct exact *exact);

#endif
