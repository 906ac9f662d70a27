/* gauss_legendre.c - see gauss_legendre.h. Newton's method on the Legendre polynomials. */
#include "base/gauss_legendre.h"

#include <math.h>

/* P_n(x) and its derivative, by the three-term recurrence. */
static double legendre(size_t n, double x, double *slope)
{
    double before = 1, value = x;
    for (size_t k = 2; k <= n; k++) {
        double next = ((double)(2 * k - 1) * x * value - (double)(k - 1) * before) / (double)k;
        before = value;
        value = next;
    }
    *slope = (double)n * (x * value - before) / (x * x - 1);
    return value;
}

void smurf_gauss_legendre(size_t n, double *node, double *weight)
{
    if (n == 1) {
        node[0] = 0.5;
        weight[0] = 1;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double x = -cos(3.14159265358979323846 * ((double)i + 0.75) / ((double)n + 0.5)), slope = 1;
        for (int step = 0; step < 100; step++) {
            double dx = legendre(n, x, &slope) / slope;
            x -= dx;
            if (fabs(dx) < 1e-15) break;
        }
        legendre(n, x, &slope);
        node[i] = 0.5 * (1 + x);
        weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
}
