/*
 * encoder_cache.h - the encoder, one event at a time. Keys and values of each layer are kept, so that appending to a
 * history of n events costs O(n width + width^2) per layer, not a new pass.
 *
 * Gives the same vectors as encoder_forward without dropout (encoder.h), up to rounding: h_j depends on events 1..j, so
 * nothing that is kept ever changes. In float only. With counts (counts.h), those after the last event are kept too.
 *
 * With a bound on the history, only the keys and values of the last `history` events are kept. With one layer, h_j is
 * then that of the encoder on these events alone. In deeper layers the kept keys were computed from events since
 * forgotten, so h_j still depends on events up to layers * (history - 1) back. Counts forget nothing: they begin with
 * the first event, or with the first one that a fill read.
 *
 * A cache belongs to one thread at a time; the model and its slab are borrowed, and may be shared. Memory is allocated
 * only when a cache holds more events than ever before. A call that fails leaves the cache unchanged.
 */
#ifndef SMURF_MODEL_ENCODER_CACHE_H
#define SMURF_MODEL_ENCODER_CACHE_H

#include "model/model.h"

/* Fields are private. */
struct encoder_cache {
    const struct model *model;
    const float *slab;
    size_t history; /* most events attended to; 0: all */
    size_t seen;    /* events since the cache was empty; event i is in slot i % history */
    size_t slots;   /* capacity */
    float *store;   /* blocks of slots, each (layers x heads) parts as in op/recall.h */
    float *score;   /* (slots) scratch */
    size_t rows;    /* rows that `work` has room for */
    float *work;    /* activations of rows in progress; first the counts of these rows */
    size_t row;     /* the last event's row there */
    struct counts counts;
    const float *further; /* of the next events, (n x columns); NULL: nothing is added */
    double base;          /* of models with a clock: UTC, in seconds since 1970, of time 0 */
};

/* history: maximum number of events attended to, older ones are forgotten; 0: all, the cache grows. The model and its
   slab must outlive the cache, unchanged. */
smurf_status smurf_encoder_cache_init(struct encoder_cache *cache, const struct model *model, const float *slab,
                                      size_t history, smurf_error *err);
/* Accepts a cache that is all zero. */
void smurf_encoder_cache_release(struct encoder_cache *cache);
/* Gives back the memory that a fill took beside that of its events. What it returned is no longer valid. */
void smurf_encoder_cache_trim(struct encoder_cache *cache);
/* The memory it takes, in bytes. */
size_t smurf_encoder_cache_size(const struct encoder_cache *cache);

/* Forgets all events; keeps the memory. */
void smurf_encoder_cache_clear(struct encoder_cache *cache);
/* Sets the moment that times count from; for models with a clock, before the first event. A clear keeps it. */
void smurf_encoder_cache_begin(struct encoder_cache *cache, double base);

/* Appends an event: its type, its time as the temporal encoding sees it, and the standardised log of the gap before it
   (NaN for none; ignored without the gap feature). *h (width) is the encoder's output for it, valid until the next
   call. */
smurf_status smurf_encoder_cache_append(struct encoder_cache *cache, uint32_t type, double time, float gap,
                                        const float **h, smurf_error *err);

/* Further columns of the events of the next append or fill, as further.h has them: (n x columns), borrowed until then.
   NULL: nothing is added. */
void smurf_encoder_cache_further(struct encoder_cache *cache, const float *further);

/* Replaces the contents by n events, faster than appending them one by one. gap may be NULL without the gap feature. *h
   is that of the last event, NULL if n is 0. If n exceeds the bound on the history, only the last `history` events are
   read, as if the sequence began there. */
smurf_status smurf_encoder_cache_fill(struct encoder_cache *cache, const uint32_t *type, const double *time,
                                      const float *gap, size_t n, const float **h, smurf_error *err);

/* Makes `to` a copy of `from`, to branch off a future. Both must be initialised with the same model, slab and history.
   Copies the keys and values; `from` is only read, so that several copies may be made in parallel. */
smurf_status smurf_encoder_cache_copy(struct encoder_cache *to, const struct encoder_cache *from, smurf_error *err);

/* Events since the cache was empty, including forgotten ones. A fill counts those it read. */
size_t smurf_encoder_cache_seen(const struct encoder_cache *cache);

/* Makes a copy of `from`, to which events were appended, a copy again, so that futures can share one cache. Returns
   false and changes nothing if fewer events than in `from` were seen, or if some were forgotten since (seen exceeds the
   bound on the history). */
bool smurf_encoder_cache_rewind(struct encoder_cache *cache, const struct encoder_cache *from);

/* The coefficients of repeat.h after the last event, of a model with counts; valid right after an append or a fill.
   h: what that returned. */
void smurf_encoder_cache_repeats(const struct encoder_cache *cache, const float *h, float *out);

/* The coefficients of clock.h, likewise, of a model with a clock. */
void smurf_encoder_cache_clock(const struct encoder_cache *cache, const float *h, float *out);

/* The keys and values, and the counts, as bytes; returns how many. out NULL: only counts them. */
size_t smurf_encoder_cache_pack(const struct encoder_cache *cache, void *out);
/* Reads them into a cache of the same model and history, which was given `events` events in all. SMURF_ERROR_INPUT
   where the bytes cannot be that. */
smurf_status smurf_encoder_cache_unpack(struct encoder_cache *cache, const void *bytes, size_t n, size_t events,
                                        smurf_error *err);

#endif
