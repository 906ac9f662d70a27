/*
 * difference.h - gradients against finite differences, in double. For tests; include cmocka first.
 */
#ifndef SMURF_TEST_DIFFERENCE_H
#define SMURF_TEST_DIFFERENCE_H

#include "base/random.h"

#include <math.h>
#include <stddef.h>

/* Derivative of f by *x with five points: the error is h^4 f^(5) / 30 and rounding, about 1e-16 |f| / h. */
static inline double difference(double (*f)(void *), void *context, double *x, double h)
{
    static const double where[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
    double at = *x, sum = 0;
    for (int i = 0; i < 4; i++) {
        *x = at + where[i] * h;
        sum += weight[i] * f(context);
    }
    *x = at;
    return sum / (12 * h);
}

static inline double largest(const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most)) most = fabs(x[i]);
    return most;
}

/* gradient (n) against differences of f by x (n). An element may be off by tolerance times its size, or times
   a thousandth of the largest one if that is more. Fails where all are zero: then nothing would have been
   compared. */
static inline void check_gradient(const char *what, double (*f)(void *), void *context, double *x, size_t n,
                                  const double *gradient, double tolerance)
{
    double floor = 1e-3 * largest(gradient, n), seen = 0;
    if (!(floor > 0) || !isfinite(floor)) fail_msg("%s: no gradient to compare: largest %g", what, floor);
    for (size_t i = 0; i < n; i++) {
        double want = difference(f, context, &x[i], 1e-3), size = fmax(fabs(want), floor);
        if (!(fabs(gradient[i] - want) <= tolerance * size))
            fail_msg("%s, element %zu of %zu: %.12g, by differences %.12g", what, i, n, gradient[i], want);
        seen = fmax(seen, fabs(want));
    }
    if (!(seen > 0)) fail_msg("%s: the value does not depend on it", what);
}

static inline void check_values(const char *what, const double *got, const double *want, size_t n, double tolerance)
{
    double size = largest(want, n);
    if (!(size > 0) || !isfinite(size)) fail_msg("%s: nothing to compare: largest %g", what, size);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= tolerance * size))
            fail_msg("%s, element %zu of %zu: %.17g instead of %.17g", what, i, n, got[i], want[i]);
}

static inline void fill_normal(double *x, size_t n, uint64_t stream)
{
    struct random random;
    smurf_random_init(&random, 20, stream);
    for (size_t i = 0; i < n; i++) x[i] = smurf_random_normal(&random);
}

static inline void fill_value(double *x, size_t n, double value)
{
    for (size_t i = 0; i < n; i++) x[i] = value;
}

static inline double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

#endif
