/* pool.c - see pool.h. */
#include "naive/pool.h"

#include "base/error.h"
#include "base/hash.h"
#include "data/time_zone.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *smurf_pool_law_name(enum pool_law law)
{
    static const char *const name[POOL_LAWS] = {NULL, "marginal", "recent", "last 100", "same hour"};
    return (unsigned)law < POOL_LAWS ? name[law] : NULL;
}

const char *smurf_pool_types_name(enum pool_types types)
{
    static const char *const name[POOL_TYPES] = {NULL, "Markov", "recency"};
    return (unsigned)types < POOL_TYPES ? name[types] : NULL;
}

bool smurf_pool_has_types(const struct pool *pool, enum pool_types types)
{
    return types == POOL_MARKOV ? pool->pairs.n > 0 : types == POOL_RECENCY && pool->recency.common;
}

/* ---- The laws -------------------------------------------------------------------------------- */

static void drop_bins(struct pool *pool)
{
    free(pool->bin);
    pool->bin = NULL;
    pool->bins = 0;
}

static void drop_zone(struct pool *pool)
{
    smurf_time_zone_free(pool->zone);
    free(pool->timezone);
    pool->zone = NULL;
    pool->timezone = NULL;
}

void smurf_pool_free(struct pool *pool)
{
    if (!pool) return;
    drop_bins(pool);
    drop_zone(pool);
    smurf_pairs_release(&pool->pairs);
    smurf_recency_release(&pool->recency);
    free(pool);
}

void smurf_pool_trim(struct pool *pool)
{
    if (pool->law != POOL_RECENT) drop_bins(pool);
    if (pool->law != POOL_SAME_HOUR) drop_zone(pool);
    if (pool->law == POOL_NO_LAW || pool->law == POOL_RECENT) pool->wide.n = 0;
    const bool follows = pool->type_follow > 0;
    if (pool->types != POOL_MARKOV && !follows) smurf_pairs_release(&pool->pairs);
    if (pool->types != POOL_RECENCY && !follows) smurf_recency_release(&pool->recency);
    static const size_t reach[POOL_LAWS] = {0, 0, POOL_RECENT_GAPS + 1, PAST_GAPS + 1, SIZE_MAX};
    pool->found.reach = pool->types == POOL_RECENCY || follows ? SIZE_MAX : reach[pool->law];
    pool->found.law = smurf_pool_law_name(pool->law);
    pool->found.types = smurf_pool_types_name(pool->types);
    if (!pool->law) pool->weight = 0;
    if (!pool->types) pool->type_weight = 0;
    pool->found.weight = pool->weight;
    pool->found.type_weight = pool->type_weight;
    pool->found.type_follow = pool->type_follow;
}

smurf_status smurf_pool_open_zone(struct pool *pool, smurf_error *err)
{
    return pool->timezone ? smurf_time_zone_open(&pool->zone, pool->timezone, err) : SMURF_OK;
}

smurf_status smurf_pool_copy(struct pool **out, const struct pool *from, smurf_error *err)
{
    bool right = true;
    *out = NULL;
    if (!from) return SMURF_OK;
    struct pool *p = *out = malloc(sizeof *p);
    if (!p) return smurf_fail_memory(err);
    *p = *from;
    p->bin = NULL;
    p->timezone = NULL;
    p->zone = NULL;
    p->pairs = (struct pairs){0};
    p->recency.common = NULL;
    smurf_status status = SMURF_OK;
    if (from->bin && !(p->bin = malloc((from->bins + 1) * sizeof *p->bin))) status = smurf_fail_memory(err);
    if (p->bin) memcpy(p->bin, from->bin, (from->bins + 1) * sizeof *p->bin);
    if (!status && from->timezone && !(p->timezone = strdup(from->timezone))) status = smurf_fail_memory(err);
    if (!status) status = smurf_pool_open_zone(p, err);
    if (!status && from->pairs.n)
        status = smurf_pairs_set(&p->pairs, from->pairs.types, from->pairs.pair, from->pairs.n, &right, err);
    size_t common = from->recency.types * sizeof *p->recency.common;
    if (!status && from->recency.common && !(p->recency.common = malloc(common))) status = smurf_fail_memory(err);
    if (p->recency.common) memcpy(p->recency.common, from->recency.common, common);
    if (!status) return SMURF_OK;
    smurf_pool_free(p);
    *out = NULL;
    return status;
}

static uint64_t hash_gaps(const struct pool_gaps *g, uint64_t h)
{
    return smurf_hash_bytes(h, g->gap, g->n * sizeof *g->gap);
}

uint64_t smurf_pool_hash(const struct pool *p, uint64_t h)
{
    const double weight[] = {p->weight, p->type_weight, p->recency.fresh};
    h = smurf_hash(smurf_hash(h, p->law), p->types);
    h = hash_gaps(&p->wide, smurf_hash_bytes(h, weight, sizeof weight));
    h = smurf_hash_bytes(h, p->edge, p->bins ? (p->bins - 1) * sizeof *p->edge : 0);
    for (size_t b = 0; p->bin && b <= p->bins; b++) h = hash_gaps(&p->bin[b], h);
    if (p->type_follow > 0) h = smurf_hash_bytes(h, &p->type_follow, sizeof p->type_follow);
    h = smurf_hash_bytes(h, p->timezone, p->timezone ? strlen(p->timezone) : 0);
    h = smurf_hash_bytes(h, p->pairs.pair, p->pairs.n * sizeof *p->pairs.pair);
    h = smurf_hash_bytes(h, p->recency.share, p->recency.common ? sizeof p->recency.share : 0);
    return smurf_hash_bytes(h, p->recency.common, p->recency.common ? p->recency.types * sizeof(double) : 0);
}

/* ---- A sequence ------------------------------------------------------------------------------ */

bool smurf_pool_state_init(struct pool_state *state, const struct pool *pool)
{
    *state = (struct pool_state){.pool = pool};
    if (!pool) return true;
    smurf_past_init(&state->past, pool->law == POOL_SAME_HOUR, pool->zone);
    bool ok = smurf_past_reserve(&state->past);
    if (pool->recency.common) ok = smurf_recent_types_init(&state->recent, pool->recency.types) && ok;
    smurf_pool_state_clear(state, 0);
    if (!ok) smurf_pool_state_release(state);
    return ok;
}

void smurf_pool_state_release(struct pool_state *state)
{
    smurf_past_release(&state->past);
    smurf_recent_types_release(&state->recent);
    *state = (struct pool_state){0};
}

void smurf_pool_state_clear(struct pool_state *state, int64_t origin)
{
    if (!state->pool) return;
    smurf_past_clear(&state->past, origin);
    state->recent.n = 0;
    state->last_type = UINT32_MAX;
}

void smurf_pool_state_push(struct pool_state *state, double time, uint32_t type)
{
    if (!state->pool) return;
    if (state->pool->law >= POOL_RECENT) (void)smurf_past_push(&state->past, time); /* its memory is reserved */
    if (state->recent.type) smurf_recent_types_push(&state->recent, type);
    state->last_type = type;
}

void smurf_pool_state_copy(struct pool_state *to, const struct pool_state *from)
{
    if (!from->pool) return;
    (void)smurf_past_copy(&to->past, &from->past); /* likewise */
    if (to->recent.type) memcpy(to->recent.type, from->recent.type, from->recent.n * sizeof *to->recent.type);
    to->recent.n = from->recent.n;
    to->last_type = from->last_type;
}

/* The past, the last type, the types by recency after their number. */
size_t smurf_pool_state_pack(const struct pool_state *state, void *out)
{
    if (!state->pool) return 0;
    const uint32_t head[2] = {state->last_type, state->recent.n};
    size_t past = smurf_past_pack(&state->past, out), types = state->recent.n * sizeof *state->recent.type;
    if (out) {
        char *at = mempcpy((char *)out + past, head, sizeof head);
        if (types) memcpy(at, state->recent.type, types);
    }
    return past + sizeof head + types;
}

/* Whether n types are different ones of the list's. */
static bool are_different(const struct recent_types *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->type[i] >= list->types) return false;
        for (uint32_t k = 0; k < i; k++)
            if (list->type[k] == list->type[i]) return false;
    }
    return true;
}

size_t smurf_pool_state_unpack(struct pool_state *state, const void *bytes, size_t size)
{
    uint32_t head[2];
    size_t past = smurf_past_unpack(&state->past, bytes, size);
    if (past == 0 || size - past < sizeof head) return 0;
    memcpy(head, (const char *)bytes + past, sizeof head);
    size_t used = past + sizeof head, types = head[1] * sizeof *state->recent.type;
    if (head[1] > state->recent.types || size - used < types) return 0;
    state->last_type = head[0];
    state->recent.n = head[1];
    if (types) memcpy(state->recent.type, (const char *)bytes + used, types);
    return are_different(&state->recent) ? used + types : 0;
}

/* ---- Laws ------------------------------------------------------------------------------------ */

/* The bin of the mean of the last 8 gaps. */
static const struct pool_gaps *bin_of(const struct pool_state *state)
{
    const struct pool *p = state->pool;
    size_t bin = 0;
    double mean = smurf_past_mean(&state->past, POOL_RECENT_GAPS);
    if (!(mean >= 0)) return &p->bin[p->bins];
    while (bin + 1 < p->bins && p->edge[bin] <= mean) bin++;
    return &p->bin[bin];
}

size_t smurf_pool_gaps(const struct pool_state *state, enum pool_law law, double *out)
{
    const struct pool_gaps *wide = &state->pool->wide;
    if (law == POOL_LAST) return smurf_past_last(&state->past, wide->gap, wide->n, out);
    if (law == POOL_SAME_HOUR) return smurf_past_same_hour(&state->past, wide->gap, wide->n, out);
    const struct pool_gaps *gaps = law == POOL_RECENT ? bin_of(state) : wide;
    memcpy(out, gaps->gap, gaps->n * sizeof *out);
    return gaps->n;
}

void smurf_pool_shares(const struct pool_state *state, enum pool_types types, double *out)
{
    if (types == POOL_MARKOV)
        smurf_pairs_shares(&state->pool->pairs, state->last_type, out);
    else
        smurf_recency_shares(&state->pool->recency, &state->recent, out);
}
