/*
 * threads.h - how many threads a call uses.
 */
#ifndef SMURF_BASE_THREADS_H
#define SMURF_BASE_THREADS_H

#include <stddef.h>

/* For `work` independent pieces of work, where `wanted` threads were asked for; 0: all cores that OpenMP may use. At
   least 1, and no more than 256 or than there is work for. */
int smurf_threads(int wanted, size_t work);

#endif
