/*
 * sum.h - compensated summation (Neumaier): the error does not grow with the number of terms.
 *
 *     struct sum s = {0};
 *     smurf_sum_add(&s, x); ...
 *     mean = smurf_sum_value(&s) / n;
 */
#ifndef SMURF_DATA_SUM_H
#define SMURF_DATA_SUM_H

#include <math.h>

struct sum {
    double total, lost;
};

static inline void smurf_sum_add(struct sum *sum, double x)
{
    double total = sum->total + x;
    sum->lost += fabs(sum->total) >= fabs(x) ? (sum->total - total) + x : (x - total) + sum->total;
    sum->total = total;
}

static inline double smurf_sum_value(const struct sum *sum)
{
    return sum->total + sum->lost;
}

#endif
