/*
 * pairs.h - a naive law of types: what followed the last type in train.
 *
 *     P(k | j) = (c_jk + d_j P(k)) / (c_j + d_j),    P(k) = (c_k + 1/2) / (c + K/2),
 *
 * where c_jk of the c_j events of train after one of type j were of type k, d_j is the number of different types that
 * came after j (Witten and Bell), and c_k, c count those of type k and all.
 */
#ifndef SMURF_NAIVE_PAIRS_H
#define SMURF_NAIVE_PAIRS_H

#include "smurf.h"

#include <stdbool.h>

enum { PAIRS_MOST = 1 << 14 };

/* One line of the table. */
struct pair {
    uint32_t from, to;
    uint64_t count;
};

struct pairs {
    uint32_t types;
    size_t n;          /* pairs that occurred; 0: no table */
    struct pair *pair; /* (n), sorted by from and to */
    double *common;    /* (types) P(k), all above 0 */
};

/* Counts the scored events of train by the type of the previous event. More than PAIRS_MOST different pairs are too
   many to keep: there is no table then. */
smurf_status smurf_pairs_init(struct pairs *out, const smurf_data *train, smurf_error *err);
/* From n pairs, which are copied. *right is false if they are not sorted or have other types. */
smurf_status smurf_pairs_set(struct pairs *out, uint32_t types, const struct pair *pair, size_t n, bool *right,
                             smurf_error *err);
void smurf_pairs_release(struct pairs *pairs);
/* Probabilities of the type after `last`, out (types). */
void smurf_pairs_shares(const struct pairs *pairs, uint32_t last, double *out);

#endif
