/*
 * recency.h - a naive law of types: how recently each occurred in its sequence.
 *
 * Types are ranked by their last occurrence, the last event's type having rank 0. Train counts how often the next type
 * was one of a group of ranks (0 .. 7, then groups that double), or had not occurred before. The share of a rank is
 *
 *     w_r = (hits of its group + 1/2) / (times a rank of the group was there + 1),
 *
 * likewise w_new, which unseen types divide as they are frequent in train; probabilities are these, scaled to sum to 1.
 */
#ifndef SMURF_NAIVE_RECENCY_H
#define SMURF_NAIVE_RECENCY_H

#include "smurf.h"

#include <stdbool.h>

enum { RECENCY_GROUPS = 32 };

struct recency {
    uint32_t types;
    double share[RECENCY_GROUPS]; /* of each rank of the group */
    double fresh;                 /* of all types that have not occurred */
    double *common;               /* (types) shares of types in train, all above 0 */
};

/* Fits it on the scored events of train. */
smurf_status smurf_recency_init(struct recency *out, const smurf_data *train, smurf_error *err);
void smurf_recency_release(struct recency *recency);

/* The types of one sequence, the latest first. */
struct recent_types {
    uint32_t types, n;
    uint32_t *type; /* (types) */
};

bool smurf_recent_types_init(struct recent_types *list, uint32_t types); /* false: out of memory */
void smurf_recent_types_release(struct recent_types *list);
/* Moves a type to the front. Types from list->types on are ignored. */
void smurf_recent_types_push(struct recent_types *list, uint32_t type);
/* Probabilities of the next type, out (types). */
void smurf_recency_shares(const struct recency *recency, const struct recent_types *list, double *out);

#endif
