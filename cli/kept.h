/*
 * kept.h - the sequences of a stream, each with its history, found by name. No more than so many are kept: the one that
 * has been silent longest makes room for a new one.
 */
#ifndef KEPT_H
#define KEPT_H

#include "smurf_lab.h"

#include <stddef.h>

struct kept {
    char *name;
    smurf_forecast *forecast;
    int64_t origin; /* of the first piece */
    double last;    /* time of the last event, from origin */
    size_t number;  /* in order of arrival */
    struct kept *older, *newer;
};

struct kept_set {
    const smurf_model *model;
    size_t history; /* of the forecasts; 0: all */
    int raw;        /* forecasts without recalibration */
    size_t most;    /* sequences to keep; 0: all */
    void *tree;     /* by name, of tsearch() */
    struct kept *oldest, *newest;
    size_t count, arrived;
};

/* The sequence of that name, from now on the most recent one. A new one starts empty. When the set is full, *dropped is
   the sequence that left it, the caller's to free; else NULL. Returns NULL where memory runs out. */
struct kept *kept_find(struct kept_set *set, const char *name, int64_t origin, struct kept **dropped);
void kept_free(struct kept *kept);
/* All sequences in order of arrival, an array the caller frees; NULL where memory runs out. */
struct kept **kept_list(const struct kept_set *set);
void kept_release(struct kept_set *set);

#endif
