/*
 * sort.h - sorting numbers.
 */
#ifndef SMURF_BASE_SORT_H
#define SMURF_BASE_SORT_H

#include <stddef.h>

/* Sorts n numbers, smallest first, NaN last. */
void smurf_sort(double *value, size_t n);

#endif
