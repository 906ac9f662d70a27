/* Compiled twice, for float and for double: see op/op.h. */
/*
 * gap_head.c - see gap_head.h.
 *
 * No value here is legitimately infinite or NaN; the trainer checks for those elsewhere.
 *
 * Loops run over the points of one unit d, so each sum over points is one number and only z has size n x d. z of one
 * event (64 units x 100 points in float) fits in the first-level cache.
 */
#include "op/gap_head.h"

#include "base/clones.h"
#include "op/real.h"

/* z of one unit, and its contribution to u, u', u''. */
OP_CLONES
static void unit(int order, size_t n, real a, real b, real w, const real *restrict tau, real *restrict z,
                 real *restrict u, real *restrict u1, real *restrict u2)
{
    const real wa = w * a, wa2 = -2 * wa * a;
    if (order == 0) {
        for (size_t i = 0; i < n; i++) {
            z[i] = tanh_real(a * tau[i] + b);
            u[i] += w * z[i];
        }
    } else if (order == 1) {
        for (size_t i = 0; i < n; i++) {
            real y = tanh_real(a * tau[i] + b);
            z[i] = y;
            u[i] += w * y;
            u1[i] += wa * (1 - y * y);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            real y = tanh_real(a * tau[i] + b), s = 1 - y * y;
            z[i] = y;
            u[i] += w * y;
            u1[i] += wa * s;
            u2[i] += wa2 * y * s;
        }
    }
}

void gap_head_forward(int order, size_t d, const real *a, const real *b, const real *w, real c, const real *tau,
                      size_t n, real *z, real *u, real *u1, real *u2)
{
    for (size_t i = 0; i < n; i++) u[i] = c;
    for (size_t i = 0; order >= 1 && i < n; i++) u1[i] = 0;
    for (size_t i = 0; order >= 2 && i < n; i++) u2[i] = 0;
    for (size_t k = 0; k < d; k++) unit(order, n, a[k], b[k], w[k], tau, z + k * n, u, u1, u2);
}

/* Sums over points for the gradients of one unit. */
struct unit_sums {
    real z;    /* g0 z */
    real s;    /* g1 s */
    real zs;   /* g2 z s */
    real e;    /* s e, e the derivative of (g0 u + g1 u' + g2 u'') by the argument of tanh, over w s */
    real etau; /* s e tau */
};

OP_CLONES
static struct unit_sums gather(int order, size_t n, real a, const real *restrict tau, const real *restrict z,
                               const real *restrict g0, const real *restrict g1, const real *restrict g2)
{
    real sum_z = 0, sum_s = 0, sum_zs = 0, sum_e = 0, sum_etau = 0;
    if (order == 0) {
#pragma omp simd reduction(+ : sum_z, sum_e, sum_etau)
        for (size_t i = 0; i < n; i++) {
            real e = g0[i] * (1 - z[i] * z[i]);
            sum_z += g0[i] * z[i];
            sum_e += e;
            sum_etau += e * tau[i];
        }
    } else if (order == 1) {
#pragma omp simd reduction(+ : sum_z, sum_s, sum_e, sum_etau)
        for (size_t i = 0; i < n; i++) {
            real s = 1 - z[i] * z[i], e = s * (g0[i] - 2 * a * g1[i] * z[i]);
            sum_z += g0[i] * z[i];
            sum_s += g1[i] * s;
            sum_e += e;
            sum_etau += e * tau[i];
        }
    } else {
#pragma omp simd reduction(+ : sum_z, sum_s, sum_zs, sum_e, sum_etau)
        for (size_t i = 0; i < n; i++) {
            real z2 = z[i] * z[i], s = 1 - z2;
            real e = s * (g0[i] - 2 * a * (g1[i] * z[i] + a * g2[i] * (1 - 3 * z2)));
            sum_z += g0[i] * z[i];
            sum_s += g1[i] * s;
            sum_zs += g2[i] * z[i] * s;
            sum_e += e;
            sum_etau += e * tau[i];
        }
    }
    return (struct unit_sums){sum_z, sum_s, sum_zs, sum_e, sum_etau};
}

void gap_head_backward(int order, size_t d, const real *a, const real *b, const real *w, const real *tau, size_t n,
                       const real *z, const real *g0, const real *g1, const real *g2, real *da, real *db, real *dw,
                       real *dc)
{
    (void)b;
    real sum = 0;
    for (size_t i = 0; i < n; i++) sum += g0[i];
    *dc += sum;
    for (size_t k = 0; k < d; k++) {
        struct unit_sums t = gather(order, n, a[k], tau, z + k * n, g0, g1, g2);
        dw[k] += t.z + a[k] * (t.s - 2 * a[k] * t.zs);
        db[k] = w[k] * t.e;
        da[k] = w[k] * (t.etau + t.s - 4 * a[k] * t.zs);
    }
}
