/* sort.c - see sort.h. */
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return isnan(x) || isnan(y) ? (isnan(x) != 0) - (isnan(y) != 0) : (x > y) - (x < y);
}

void smurf_sort(double *value, size_t n)
{
    qsort(value, n, sizeof *value, by_value);
}
