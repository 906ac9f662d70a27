/*
 * history.h - a history that grows event by event, as a class of models reads it.
 *
 * Events are given as the encoder sees them: type, time, and the gap feature before the event. `c` receives the
 * coefficients of the law of the gap after the last event. A call that fails leaves the history as it was. In float
 * only. One thread at a time; the model and its slab are borrowed.
 */
#ifndef SMURF_MODEL_HISTORY_H
#define SMURF_MODEL_HISTORY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct history_class {
    /* bound: the most events that are attended to, where the class can forget; 0: all. */
    smurf_status (*open)(void **out, const struct model *model, const float *slab, size_t bound, smurf_error *err);
    void (*close)(void *history); /* also of NULL */
    void (*clear)(void *history); /* forgets all events; memory is kept */
    smurf_status (*append)(void *history, uint32_t type, double time, float gap, float *c, smurf_error *err);
    /* n events, one or more, in place of those that were there. */
    smurf_status (*fill)(void *history, const uint32_t *type, const double *time, const float *gap, size_t n, float *c,
                         smurf_error *err);
    /* `to` becomes what `from` is. branch: `to` was a copy of `from`, or of what it was before, and events were
       appended since; then only these need to go. */
    smurf_status (*copy)(void *to, const void *from, bool branch, smurf_error *err);
    /* Writes all that further events depend on; returns its size in bytes. out NULL: only counts them. */
    size_t (*pack)(const void *history, void *out);
    /* Reads what was packed after `events` events (one or more, since the last clear or fill began) by a history of the
       same model and bound. SMURF_ERROR_INPUT where the bytes cannot be that. */
    smurf_status (*unpack)(void *history, const void *bytes, size_t n, size_t events, smurf_error *err);
};

/* Keeps the events and encodes all of them again for each that comes. Has no bound. */
extern const struct history_class smurf_history_reread;
/* SMURF's: keeps keys and values (encoder_cache.h). */
extern const struct history_class smurf_history_cached;

#endif
