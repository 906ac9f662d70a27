/*
 * serial.h - keeps BLAS single-threaded while our own parallel loops run, then restores its setting.
 *
 * OpenBLAS has one setting per process: the first to enter saves it, the last to leave restores it. No-ops with any
 * other CBLAS.
 */
#ifndef SMURF_OP_SERIAL_H
#define SMURF_OP_SERIAL_H

#include "base/error.h"

#include <stddef.h>

void smurf_serial_enter(void);
void smurf_serial_leave(void);

/* OpenBLAS takes a large buffer per thread, and retries forever if it cannot get one. Checks that there is memory for
   `threads` of them. Call before the first product. */
smurf_status smurf_blas_check(int threads, smurf_error *err);

/* Number of the calling thread in our own parallel loop, from 0. */
size_t smurf_thread_number(void);

#endif
