/*
 * progress.h - report progress to the caller and ask whether to continue.
 */
#ifndef SMURF_BASE_PROGRESS_H
#define SMURF_BASE_PROGRESS_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct progress {
    smurf_progress_fn *report; /* NULL: no reports */
    void *context;
    smurf_progress state; /* what and unit are set by the caller of smurf_progress_tell */
};

/* SMURF_OK to continue, else SMURF_ERROR_CANCELLED with the message in err. */
smurf_status smurf_progress_tell(struct progress *progress, double done, smurf_error *err);

/* For loops that run long between calls of smurf_progress_tell, on one thread or several: they poll this and leave
   early. The callback is called several times per second, on the thread that initialised the struct, with the state
   last reported. */
struct stop {
    struct progress *progress;
    pthread_t owner;
    atomic_size_t *done; /* units done, for the callback; NULL: as last reported. Set after _init */
    double told;         /* when the callback was last called; used by the owner only */
    atomic_bool asked;
};

void smurf_stop_init(struct stop *stop, struct progress *progress);
/* Whether to leave; the result is then discarded. Cheap enough for every 10 microseconds of work. NULL: never. */
bool smurf_stop_asked(struct stop *stop);
/* At the end of a parallel loop without a barrier: the owner waits here, and keeps calling the callback, until no items
   are left or a stop is requested. left: unfinished items. */
void smurf_stop_linger(struct stop *stop, atomic_size_t *left);
/* The error for an operation that left early. */
smurf_status smurf_stop_fail(const struct stop *stop, smurf_error *err);

#endif
