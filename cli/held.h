/*
 * held.h - how well forecasts have held: where the gaps that came lay in their laws, counted by the hour.
 *
 * If a law is true, its PIT is uniform: the share of PITs within level/2 of 1/2 is the share of central intervals of
 * that level that held. Hours are those of the events' own clock, so a service that starts again finds the same.
 */
#ifndef HELD_H
#define HELD_H

#include "smurf_lab.h"

#include <stdio.h>

enum { HELD_HOURS = 168, HELD_BARS = 20 };

struct held_hour {
    int64_t number; /* hours since the clock's zero */
    size_t gaps, bar[HELD_BARS];
};

/* Of one thread at a time. Starts as 0, but for the length of an hour. */
struct held {
    double hour; /* in the data's unit */
    struct held_hour slot[HELD_HOURS];
    int64_t latest;
    size_t gaps; /* so far */
};

void held_add(struct held *held, smurf_moment at, double pit);
/* The last `hours` up to that of the latest gap, as a JSON object: gaps, from, to, levels, pit, hours. */
void held_show(const struct held *held, FILE *out, size_t hours, int calendar);

#endif
