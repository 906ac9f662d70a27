/*
 * progress.h - telling the caller how far we are, and asking whether to go on.
 */
#ifndef SMURF_BASE_PROGRESS_H
#define SMURF_BASE_PROGRESS_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct progress {
    smurf_progress_fn *report; /* may be NULL: then nothing is told */
    void *context;
    smurf_progress state; /* what and unit belong to the caller of smurf_progress_tell */
};

/* SMURF_OK to go on, else SMURF_ERROR_CANCELLED with the message in err. */
smurf_status smurf_progress_tell(struct progress *progress, double done, smurf_error *err);

/* For loops that run long between two calls of the above, on one thread or several: they look here and leave early. The
   callback is called on the thread that made the struct, with the state it was last told, several times a second. */
struct stop {
    struct progress *progress;
    pthread_t owner;
    atomic_size_t *done; /* units that are done, for the callback; NULL: those it was told last. Set after _init */
    double told;         /* when the callback was last called; the owner's */
    atomic_bool asked;
};

void smurf_stop_init(struct stop *stop, struct progress *progress);
/* Whether to leave: then the result is thrown away. Cheap enough for every 10 microseconds of work. NULL: never. */
bool smurf_stop_asked(struct stop *stop);
/* At the end of a parallel loop without a barrier: the owner waits here, and keeps calling the callback, until nothing
   is left to do or a stop was asked for. left: items that are not finished. */
void smurf_stop_linger(struct stop *stop, atomic_size_t *left);
/* The error of an operation that left early. */
smurf_status smurf_stop_fail(const struct stop *stop, smurf_error *err);

#endif
