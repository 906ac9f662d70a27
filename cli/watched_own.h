/* watched_own.h - what watched.c keeps of each sequence in kept.own, shared with watched_state.c. */
#ifndef WATCHED_OWN_H
#define WATCHED_OWN_H

#include "watched.h"

struct own {
    smurf_track track;
    smurf_moment last; /* event */
    smurf_moment due;  /* from when on the sequence is overdue */
    double level;      /* the probability of such a silence */
    uint32_t type;     /* of the last event */
    uint32_t waits;    /* 1: due is a moment */
    size_t place;      /* in the heap, if it waits */
};

static inline struct own *own_of(const struct kept *kept)
{
    return kept->own;
}

#endif
