/*
 * exact.h - a law integrated: its distribution on its own axis, as a table.
 *
 *     F(x) = 1 - exp(-Lambda(x)),   Lambda(x) = integral of lambda from lo to x
 *
 * and where a law is known by its score alone, F(x) = integral of exp(ln p) from lo to x over that from lo to hi.
 * Panels are halved until the CDF is right to 1e-7 or so everywhere; between the table's nodes it is a monotone cubic.
 * Where the class has a compensator it is used instead of quadrature.
 */
#ifndef SMURF_LAW_EXACT_H
#define SMURF_LAW_EXACT_H

#include "law/dist.h"
#include "law/law.h"

/* What becomes of the mass beyond hi. */
enum exact_mass {
    EXACT_REST, /* likelihood: it is still to come, F(hi) < 1; the wrapper of the time scale gives it its tail */
    EXACT_ONE,  /* score matching, which does not know the mass: all lies in [lo, hi], F is divided by F(hi) */
};

enum { EXACT_NODES_MOST = 2048 };

struct exact_work;

/* The table. Several hundred KB: one for each thread, made once. */
struct exact {
    size_t n;              /* 2 at least */
    double *x, *f, *slope; /* (n): nodes, F there, dF/dx there (limited so that every cubic is monotone) */
    double *psi;           /* (n): the law's score there, as the panels have it; NULL: ask the law */
    size_t knots, *knot; /* (knots): those of the nodes between which F is smooth, the first and the last among them */
    double rest;         /* 1 - F(hi), precise also where it is tiny; 0 for EXACT_ONE */
    double hazard;       /* lambda(hi), the intensity with which the rest goes on; 0 for EXACT_ONE */
    size_t evaluations;  /* of the law, by the last build */
    struct exact_work *work; /* panels of the integration and scratch: exact_table.h */
};

smurf_status smurf_exact_init(struct exact *exact, smurf_error *err);
void smurf_exact_release(struct exact *exact);

/* Integrates. A law without any mass in [lo, hi] (lambda = 0) is EXACT_REST with F = 0; as EXACT_ONE it is uniform. hi
   must be finite: for laws with an infinite end the caller cuts, at a quantile of 1 - 1e-12 or so. Values of a law that
   are no intensities (NaN, negative) count as 0. */
void smurf_exact_build(struct exact *exact, const struct law *law, enum exact_mass mass);

/* The distribution of the table on the law's axis; beyond hi F stays at F(hi), and quantiles of higher levels are
   infinite. Its mean is that of min(gap, hi). */
struct dist smurf_exact_dist(const struct exact *exact);

#endif
