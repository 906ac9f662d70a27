/*
 * serial.h - keeps BLAS on one thread while our own parallel loops run, and puts its setting back afterwards.
 *
 * OpenBLAS has one setting for the whole process: the first to enter saves it, the last to leave restores it. With
 * another CBLAS these do nothing.
 */
#ifndef SMURF_OP_SERIAL_H
#define SMURF_OP_SERIAL_H

#include "base/error.h"

#include <stddef.h>

void smurf_serial_enter(void);
void smurf_serial_leave(void);

/* OpenBLAS takes a large buffer per thread, and retries for ever where it cannot have one: whether there is room for
   those of `threads`. Call it before the first product. */
smurf_status smurf_blas_check(int threads, smurf_error *err);

/* Which thread of our own parallel loop this is, from 0. */
size_t smurf_thread_number(void);

#endif
