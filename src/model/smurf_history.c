/* smurf_history.c - see history.h: SMURF's history, a cache of its encoder. */
#include "model/encoder_cache.h"
#include "model/smurf_class.h"

#include <stdlib.h>

static void close(void *history)
{
    if (!history) return;
    smurf_encoder_cache_release(history);
    free(history);
}

static smurf_status open(void **out, const struct model *model, const float *slab, size_t bound, smurf_error *err)
{
    struct encoder_cache *cache = calloc(1, sizeof *cache);
    *out = NULL;
    smurf_status status = cache ? smurf_encoder_cache_init(cache, model, slab, bound, err) : smurf_fail_memory(err);
    if (status)
        free(cache);
    else
        *out = cache;
    return status;
}

static void clear(void *history)
{
    smurf_encoder_cache_clear(history);
}

/* Computes c from the encoder's last vector. */
static void coefficients(const struct encoder_cache *cache, const float *h, float *c)
{
    const struct model *m = cache->model;
    struct head_coefficients to = smurf_coefficients(m, c);
    smurf_head_forward_f32(&smurf_offsets(m)->head, cache->slab, m->shape.width, 0, 1, h, &to);
    if (m->shape.ending)
        smurf_ending_forward_f32(&smurf_offsets(m)->end, cache->slab, m->shape.width, 1, h, c + smurf_ending_at(m));
    if (m->shape.counts) smurf_encoder_cache_repeats(cache, h, smurf_repeat_at(m, c));
    if (m->shape.clock.on) smurf_encoder_cache_clock(cache, h, c + smurf_clock_at(m));
}

static smurf_status append(void *history, uint32_t type, double time, float gap, float *c, smurf_error *err)
{
    const float *h;
    smurf_status status = smurf_encoder_cache_append(history, type, time, gap, &h, err);
    if (!status) coefficients(history, h, c);
    return status;
}

static void further(void *history, const float *columns)
{
    smurf_encoder_cache_further(history, columns);
}

static smurf_status fill(void *history, const uint32_t *type, const double *time, const float *gap, size_t n, float *c,
                         smurf_error *err)
{
    const float *h;
    smurf_status status = smurf_encoder_cache_fill(history, type, time, gap, n, &h, err);
    if (!status) coefficients(history, h, c);
    smurf_encoder_cache_trim(history);
    return status;
}

static smurf_status copy(void *to, const void *from, bool branch, smurf_error *err)
{
    if (branch && smurf_encoder_cache_seen(from) && smurf_encoder_cache_rewind(to, from)) return SMURF_OK;
    return smurf_encoder_cache_copy(to, from, err);
}

static size_t pack(const void *history, void *out)
{
    return smurf_encoder_cache_pack(history, out);
}

static smurf_status unpack(void *history, const void *bytes, size_t n, size_t events, smurf_error *err)
{
    return smurf_encoder_cache_unpack(history, bytes, n, events, err);
}

static void begin(void *history, double base)
{
    smurf_encoder_cache_begin(history, base);
}

static size_t size(const void *history)
{
    return smurf_encoder_cache_size(history);
}

const struct history_class smurf_history_cached = {open, close, clear,  append, further, fill,
                                                   copy, pack,  unpack, begin,  size};
