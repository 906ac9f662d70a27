/*
 * history.h - a history that grows event by event, as a model class reads it.
 *
 * Events are given as the encoder sees them: type, time, and gap feature. `c` receives the coefficients of the law of
 * the gap after the last event. A call that fails leaves the history unchanged. In float only. One thread at a time;
 * the model and its slab are borrowed.
 */
#ifndef SMURF_MODEL_HISTORY_H
#define SMURF_MODEL_HISTORY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct history_class {
    /* bound: maximum number of events looked back at; 0: all. */
    smurf_status (*open)(void **out, const struct model *model, const float *slab, size_t bound, smurf_error *err);
    void (*close)(void *history); /* accepts NULL */
    void (*clear)(void *history); /* forgets all events; keeps the memory */
    smurf_status (*append)(void *history, uint32_t type, double time, float gap, float *c, smurf_error *err);
    /* Further columns of the events of the next append or fill (encoder_cache.h); NULL: the class sees none. */
    void (*further)(void *history, const float *further);
    /* Replaces the events by n events, n >= 1. */
    smurf_status (*fill)(void *history, const uint32_t *type, const double *time, const float *gap, size_t n, float *c,
                         smurf_error *err);
    /* Makes `to` a copy of `from`. branch: `to` is a copy of `from`, or of an earlier state of it, with events
       appended; only these need to be removed. */
    smurf_status (*copy)(void *to, const void *from, bool branch, smurf_error *err);
    /* Writes all that further events depend on; returns its size in bytes. out NULL: only counts them. */
    size_t (*pack)(const void *history, void *out);
    /* Reads what was packed after `events` events (one or more, since the last clear or fill began) by a history of the
       same model and bound. SMURF_ERROR_INPUT where the bytes cannot be that. */
    smurf_status (*unpack)(void *history, const void *bytes, size_t n, size_t events, smurf_error *err);
    /* Sets the moment, UTC in seconds since 1970, that the times of the next fill or unpack, and of what follows, count
       from. NULL: the class has no clock. */
    void (*begin)(void *history, double base);
    /* The memory it takes, in bytes. */
    size_t (*size)(const void *history);
};

/* Keeps the events, up to the bound, and re-encodes them after each append. */
extern const struct history_class smurf_history_reread;
/* SMURF's: keeps keys and values (encoder_cache.h). */
extern const struct history_class smurf_history_cached;

#endif
