/*
 * pool.h - the naive laws that a model's own are pooled with, and what they know of a sequence:
 *
 *     F = (1 - weight) F_model + weight F_naive,    P = (1 - type_weight) P_model + type_weight P_naive.
 *
 * A naive law of gaps is a set of at most PAST_LAW equally likely ones: order statistics, at even steps, of the train
 * gaps (marginal) or of those after a similar mean of the last 8 gaps (recent), or the last gaps of the sequence
 * (past.h). Types follow the last type (pairs.h) or come by recency (recency.h).
 */
#ifndef SMURF_NAIVE_POOL_H
#define SMURF_NAIVE_POOL_H

#include "naive/pairs.h"
#include "naive/past.h"
#include "naive/recency.h"

/* In the order of what they ask for: each needs what the ones before it need. */
enum pool_law { POOL_NO_LAW, POOL_MARGINAL, POOL_RECENT, POOL_LAST, POOL_SAME_HOUR, POOL_LAWS };
enum pool_types { POOL_NO_TYPES, POOL_MARKOV, POOL_RECENCY, POOL_TYPES };

enum { POOL_BINS_MOST = 64, POOL_RECENT_GAPS = 8, POOL_KNOWN_TYPES_MOST = 4096 };

struct pool_gaps {
    size_t n;
    double gap[PAST_LAW]; /* sorted */
};

struct pool {
    enum pool_law law;
    double weight;
    struct pool_gaps wide; /* all train gaps */
    size_t bins;           /* of `recent`; 0: none */
    double edge[POOL_BINS_MOST];
    struct pool_gaps *bin; /* (bins + 1); the last: gaps with no previous gap */
    char *timezone;        /* of `same hour`; NULL: UTC */
    struct time_zone *zone;
    enum pool_types types;
    double type_weight;
    double type_follow; /* rate at which the weights of types follow what came; 0: they are fixed */
    struct pairs pairs;
    struct recency recency;
    smurf_pool found; /* for the user */
};

const char *smurf_pool_law_name(enum pool_law law);
const char *smurf_pool_types_name(enum pool_types types);
/* Whether the pool knows these naive laws of types. */
bool smurf_pool_has_types(const struct pool *pool, enum pool_types types);

void smurf_pool_free(struct pool *pool); /* may be NULL */
/* Drops what the law and the types chosen do not need, and sets `found`, but for the gains. */
void smurf_pool_trim(struct pool *pool);
/* A deep copy; of NULL it is NULL. */
smurf_status smurf_pool_copy(struct pool **out, const struct pool *from, smurf_error *err);
/* Opens the zone that is named. */
smurf_status smurf_pool_open_zone(struct pool *pool, smurf_error *err);
uint64_t smurf_pool_hash(const struct pool *pool, uint64_t h);

/* What the laws know of the events of a sequence so far. Only `init` can fail. */
struct pool_state {
    const struct pool *pool; /* NULL: nothing is pooled, and all below is unused */
    struct past past;
    struct recent_types recent;
    uint32_t last_type;
};

bool smurf_pool_state_init(struct pool_state *state, const struct pool *pool); /* false: out of memory */
void smurf_pool_state_release(struct pool_state *state);
void smurf_pool_state_clear(struct pool_state *state, int64_t origin);
void smurf_pool_state_push(struct pool_state *state, double time, uint32_t type);
void smurf_pool_state_copy(struct pool_state *to, const struct pool_state *from);
/* As bytes: returns their number, and writes them unless out is NULL; and back: returns how many were used, 0: they are
   damaged. */
size_t smurf_pool_state_pack(const struct pool_state *state, void *out);
size_t smurf_pool_state_unpack(struct pool_state *state, const void *bytes, size_t size);

/* The naive laws after the last event: sorted gaps, out (PAST_LAW), and how many; probabilities of types, out (types).
 */
size_t smurf_pool_gaps(const struct pool_state *state, enum pool_law law, double *out);
void smurf_pool_shares(const struct pool_state *state, enum pool_types types, double *out);

#endif
