/*
 * units_lanes.h - the gap head of one event at points of its axis, as in model/gap_law.c, by lanes.
 *
 *     r_k = 1 / (1 + e^{2 a_k y + 2 b_k})     u = c + sum w - 2 sum w r      u' = 4 sum w a r (1 - r)
 *     lambda = softplus(u)                    psi = q u' / (lambda + 1e-10) - lambda,   q = 1 / (1 + e^-u)
 *
 * in double. The exponential is 2^n p(x - n ln 2) with a Taylor polynomial of degree 11, the quotient two Newton steps:
 * an error of about 1e-14 of u, in 24 operations a unit and point, 26 with u'.
 */
#ifndef SMURF_CUDA_UNITS_LANES_H
#define SMURF_CUDA_UNITS_LANES_H

#include "cuda/lanes.h"

struct unit {
    double two_a, two_b, w, w_two_a;
};

struct units {
    struct unit *unit; /* (width) */
    int width;
    double c;      /* c + sum of w */
    bool is_score; /* u is psi itself */
    bool mirror;   /* psi is wanted of y = ln t: t psi(t) + 1 */
};

/* 1 / (1 + e^x) */
LANES_CODE double unit_rest(double x)
{
#ifdef __CUDACC__
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer, held in the low bits */
    x = x < -700 ? -700 : x;
    x = x > 700 ? 700 : x;
    double t = fma(x, 1.4426950408889634, magic), n = t - magic;
    double r = fma(n, -6.93147180369123816490e-01, x);
    r = fma(n, -1.90821492927058770002e-10, r);
    double p = 1.0 / 39916800;
    p = fma(p, r, 1.0 / 3628800);
    p = fma(p, r, 1.0 / 362880);
    p = fma(p, r, 1.0 / 40320);
    p = fma(p, r, 1.0 / 5040);
    p = fma(p, r, 1.0 / 720);
    p = fma(p, r, 1.0 / 120);
    p = fma(p, r, 1.0 / 24);
    p = fma(p, r, 1.0 / 6);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    double e = __hiloint2double(__double2hiint(p) + (__double2loint(t) << 20), __double2loint(p)), d = 1 + e, q;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(q) : "d"(d));
    q = fma(fma(-d, q, 1.0), q, q);
    return fma(fma(-d, q, 1.0), q, q);
#else
    x = x < -700 ? -700 : x;
    x = x > 700 ? 700 : x;
    return 1 / (1 + exp(x));
#endif
}

/* The law of coefficients a, b (width); w (width) is the model's, in float. */
LANES_CODE void units_set(struct units *units, const float *a, const float *b, const float *w, float c)
{
    double sum = 0;
    for (int k = lane_id(); k < units->width; k += LANES) {
        double two_a = 2 * (double)a[k], weight = (double)w[k];
        struct unit unit = {two_a, 2 * (double)b[k], weight, weight * two_a};
        units->unit[k] = unit;
        sum += weight;
    }
    units->c = (double)c + lanes_sum(sum, LANES);
    lanes_meet();
}

/* u at x, and u' unless it is NULL. The units are shared by `split` lanes that have the same x. */
LANES_CODE double units_at(const struct units *units, double x, int split, double *slope)
{
    double sum = 0, sum1 = 0;
    const struct unit *unit = units->unit;
    int width = units->width;
#ifdef __CUDACC__
#pragma unroll 4
#endif
    for (int k = lane_id() % split; k < width; k += split) {
        double r = unit_rest(fma(unit[k].two_a, x, unit[k].two_b));
        sum = fma(unit[k].w, r, sum);
        if (slope) sum1 = fma(unit[k].w_two_a, fma(-r, r, r), sum1);
    }
    if (slope) *slope = 2 * lanes_sum(sum1, split);
    return units->c - 2 * lanes_sum(sum, split);
}

LANES_CODE double units_softplus(double u)
{
    double size = fabs(u);
    return (u > 0 ? u : 0) + log1p(exp(-(size < 700 ? size : 700)));
}

LANES_CODE double units_intensity(const struct units *units, double x, int split)
{
    return units_softplus(units_at(units, x, split, 0));
}

/* psi at t, ignoring `mirror`. By value: a pointer would keep what is common out of registers. */
LANES_CALL double units_plain_score(struct units units, double t, int split)
{
    double u1, u = units_at(&units, t, split, &u1), lambda = units_softplus(u);
    if (units.is_score) return u;
    return unit_rest(-u) * u1 / (lambda + 1e-10) - lambda;
}

/* psi at x on the axis of the walk. */
LANES_CODE double units_score(const struct units *units, double x, int split)
{
    double t = units->mirror ? exp(x) : x, psi = units_plain_score(*units, t, split);
    return units->mirror ? t * psi + 1 : psi;
}

#endif
