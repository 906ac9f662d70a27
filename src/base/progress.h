/*
 * progress.h - telling the caller how far we are, and asking whether to go on.
 */
#ifndef SMURF_BASE_PROGRESS_H
#define SMURF_BASE_PROGRESS_H

#include "base/error.h"

struct progress {
    smurf_progress_fn *report; /* may be NULL: then nothing is told */
    void *context;
    smurf_progress state; /* what and unit belong to the caller of smurf_progress_tell */
};

/* SMURF_OK to go on, else SMURF_ERROR_CANCELLED with the message in err. */
smurf_status smurf_progress_tell(struct progress *progress, double done, smurf_error *err);

#endif
