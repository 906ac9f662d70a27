/*
 * encoder_cache.h - the encoder, one event at a time: keys and values of each layer are kept, so that one more event of
 * a history of n costs O(n width + width^2) a layer, and not a new pass.
 *
 * The same vectors as encoder_forward without dropout (encoder.h), up to rounding: h_j has seen events 1..j, so that
 * nothing that is kept ever changes. In float only.
 *
 * With a bound on the history, only the keys and values of the last `history` events are kept. In one layer h_j is then
 * that of the encoder on these events alone. In deeper ones the keys that are kept were made with events in sight that
 * have since been forgotten, so that h_j still holds something of them: up to layers * (history - 1) events back.
 *
 * A cache belongs to one thread at a time; the model and its slab are borrowed, and may be shared. Nothing is allocated
 * but to make room for more events than there ever were; no call leaves a cache changed when it fails.
 */
#ifndef SMURF_MODEL_ENCODER_CACHE_H
#define SMURF_MODEL_ENCODER_CACHE_H

#include "model/model.h"

/* Fields are private. */
struct encoder_cache {
    const struct model *model;
    const float *slab;
    size_t history; /* most events that are attended to; 0: all */
    size_t seen;    /* events since the cache was empty; number i is in slot i % history */
    size_t slots;   /* that there is room for */
    float *store;   /* blocks of slots, each (layers x heads) parts as in op/recall.h */
    float *score;   /* (slots) scratch */
    size_t rows;    /* that `work` has room for */
    float *work;    /* activations of rows that are on their way */
};

/* history: the most events that are attended to, those before them are forgotten; 0: all, the cache grows. The model
   and its slab must outlive the cache, unchanged. */
smurf_status smurf_encoder_cache_init(struct encoder_cache *cache, const struct model *model, const float *slab,
                                      size_t history, smurf_error *err);
/* Also of a cache that is all zero. */
void smurf_encoder_cache_release(struct encoder_cache *cache);

/* Forgets all events; memory is kept. */
void smurf_encoder_cache_clear(struct encoder_cache *cache);

/* One more event: its type, its time as the temporal encoding sees it, and the standardised log gap before it (NaN for
   none; not looked at without gap feature). *h (width) is the encoder's output for it, valid until the next call. */
smurf_status smurf_encoder_cache_append(struct encoder_cache *cache, uint32_t type, double time, float gap,
                                        const float **h, smurf_error *err);

/* All that is kept is forgotten; then n events at once, faster than one by one. gap may be NULL without gap feature. *h
   is that of the last event, NULL if n is 0. Of more events than the bound on the history only the last `history` are
   looked at, as if the sequence began there. BLAS is held on one thread meanwhile. */
smurf_status smurf_encoder_cache_fill(struct encoder_cache *cache, const uint32_t *type, const double *time,
                                      const float *gap, size_t n, const float **h, smurf_error *err);

/* `to` becomes what `from` is, to branch a future off. Both were initialised with the same model, slab and history.
   Costs a copy of the keys and values; `from` is only read, so that many may be copied from it side by side. */
smurf_status smurf_encoder_cache_copy(struct encoder_cache *to, const struct encoder_cache *from, smurf_error *err);

/* Events since the cache was empty, those forgotten since included. A fill counts those it looked at. */
size_t smurf_encoder_cache_seen(const struct encoder_cache *cache);

/* Back to the first n events that were seen, so that futures can take turns in one cache. False, with the cache
   untouched, where that cannot be: fewer were seen, or some were forgotten since (seen is beyond the bound on the
   history), unless nothing is to be done. */
bool smurf_encoder_cache_rewind(struct encoder_cache *cache, size_t n);

/* The keys and values as bytes; returns how many. out NULL: only counts them. */
size_t smurf_encoder_cache_pack(const struct encoder_cache *cache, void *out);
/* Reads them into a cache of the same model and history, which was given `events` events in all. SMURF_ERROR_INPUT
   where the bytes cannot be that. */
smurf_status smurf_encoder_cache_unpack(struct encoder_cache *cache, const void *bytes, size_t n, size_t events,
                                        smurf_error *err);

#endif
