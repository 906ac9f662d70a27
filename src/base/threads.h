/*
 * threads.h - how many threads a call uses.
 */
#ifndef SMURF_BASE_THREADS_H
#define SMURF_BASE_THREADS_H

#include <stddef.h>

/* The number of threads for `work` independent items when `wanted` threads are requested (0: all cores OpenMP may use).
   At least 1, at most 256 and at most `work`. */
int smurf_threads(int wanted, size_t work);

/* Number of the calling thread in a parallel loop, from 0. */
size_t smurf_thread_number(void);

#endif
