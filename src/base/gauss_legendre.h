/*
 * gauss_legendre.h - Gauss-Legendre quadrature on [0, 1]: n nodes are exact for polynomials of degree 2n - 1.
 */
#ifndef SMURF_BASE_GAUSS_LEGENDRE_H
#define SMURF_BASE_GAUSS_LEGENDRE_H

#include <stddef.h>

/* node and weight (n), nodes ascending; the weights sum to 1. */
void smurf_gauss_legendre(size_t n, double *node, double *weight);

#endif
