/*
 * kept.h - the sequences of a stream, each with its history, by name. Their number is bounded: the least recently
 * active one is dropped to make room for a new one.
 */
#ifndef KEPT_H
#define KEPT_H

#include "smurf_lab.h"

#include <stddef.h>

struct kept {
    char *name;
    smurf_forecast *forecast;
    int64_t origin; /* of its first piece */
    double last;    /* time of the last event, from origin */
    size_t number;  /* order of arrival */
    void *own;      /* of the caller; freed with the rest */
    size_t before;  /* events of the sequence before those of the forecast */
    size_t away; /* events of its history that are to be read into the forecast before it is used; 0: it is complete */
    struct kept *older, *newer;
};

struct kept_set {
    const smurf_model *model;
    size_t history;        /* of the forecasts; 0: all */
    int raw;               /* forecasts without recalibration */
    size_t most;           /* sequences to keep; 0: all */
    smurf_forecast *spare; /* taken for the next new sequence; NULL: none */
    void *tree;            /* by name, for tsearch() */
    struct kept *oldest, *newest;
    size_t count, arrived;
};

/* Finds or adds the sequence of that name and marks it most recent. A new one starts empty. A sequence dropped from a
   full set is returned in *dropped, for the caller to free; otherwise that is NULL. Returns NULL if out of memory. */
struct kept *kept_find(struct kept_set *set, const char *name, int64_t origin, struct kept **dropped);
void kept_free(struct kept *kept);
/* Takes one out of the set and frees it. */
void kept_drop(struct kept_set *set, struct kept *kept);
/* All sequences in order of arrival, in an array the caller frees; NULL if out of memory. */
struct kept **kept_list(const struct kept_set *set);
void kept_release(struct kept_set *set);

#endif
