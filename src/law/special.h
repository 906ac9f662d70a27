/*
 * special.h - hazards of the normal and the gamma distribution, accurate far into both tails.
 *
 * For a density p with survival function Q, the hazard is h = p / Q and the cumulative hazard is H = -ln Q. Both are
 * computed without 1 - P where Q is small and without ln(1 - small) where P is small. The relative error stays near
 * 1e-13 until the tails underflow, on both sides.
 */
#ifndef SMURF_LAW_SPECIAL_H
#define SMURF_LAW_SPECIAL_H

/* Standard normal, any z. */
double smurf_normal_hazard(double z);
double smurf_normal_cumulative_hazard(double z);
/* h(z) - z, about 1/z for large z: the remainder in the derivative of ln h. */
double smurf_normal_hazard_excess(double z);

/* Gamma distribution with scale 1 at x >= 0. The shape lies between the limits below: smaller shapes put half of their
   gaps below the smallest double, larger ones need long sums. */
#define SMURF_GAMMA_SHAPE_MIN 0.01
#define SMURF_GAMMA_SHAPE_MAX 1e6
double smurf_gamma_hazard(double shape, double x);
double smurf_gamma_cumulative_hazard(double shape, double x);
/* dh/dx */
double smurf_gamma_hazard_slope(double shape, double x);

#endif
