/*
 * past.h - the recent gaps of a sequence, in order of size, for two naive laws that follow it:
 *
 *     last 100    its last 100 gaps
 *     same hour   its last 100 gaps that began in the same hour of the day, in the zone of the log (times are dates)
 *
 * An event costs one insertion into sorted arrays. The law of k < 100 gaps is completed by ceil((100 - k) / 10) evenly
 * spaced order statistics of the next wider law (same hour: last 100; last 100: all train gaps), so each is a set of at
 * most PAST_LAW equally likely gaps (struct empirical).
 */
#ifndef SMURF_NAIVE_PAST_H
#define SMURF_NAIVE_PAST_H

#include "smurf.h"

#include <stdbool.h>

enum { PAST_GAPS = 100, PAST_LAW = 110, PAST_HOURS = 24 };

struct time_zone;

/* Gaps in order of arrival, the oldest overwritten first, and sorted. */
struct gap_ring {
    size_t n, next;
    double arrival[PAST_GAPS], sorted[PAST_GAPS];
};

struct past {
    const struct time_zone *zone; /* borrowed; NULL: UTC */
    bool dated;                   /* times are seconds since 1970: hours of the day are kept apart */
    int64_t origin;
    size_t events;
    double last;         /* time of the last event, relative to origin */
    int now;             /* its hour of the day */
    int64_t from, until; /* the zone's offset is constant in between */
    int offset;          /* there */
    struct gap_ring all;
    struct gap_ring *hour[PAST_HOURS]; /* NULL: no gaps yet */
};

void smurf_past_init(struct past *past, bool dated, const struct time_zone *zone);
void smurf_past_release(struct past *past);
/* Makes room for the gaps of every hour, so that the next events cannot fail. False: out of memory. */
bool smurf_past_reserve(struct past *past);
void smurf_past_clear(struct past *past, int64_t origin);
/* The next event. False: out of memory. */
bool smurf_past_push(struct past *past, double time);
/* Both were initialised alike. False: out of memory. */
bool smurf_past_copy(struct past *to, const struct past *from);
/* The laws after the last event: writes sorted gaps to out (PAST_LAW) and returns how many. wide: (n) sorted gaps of
   train, n from 1 to PAST_LAW. */
size_t smurf_past_last(const struct past *past, const double *wide, size_t n, double *out);
size_t smurf_past_same_hour(const struct past *past, const double *wide, size_t n, double *out);

/* The mean of the last `most` gaps, or of as many as there are; NaN: none. */
double smurf_past_mean(const struct past *past, size_t most);

/* As bytes: returns their number, and writes them unless out is NULL. */
size_t smurf_past_pack(const struct past *past, void *out);
/* Reads them back into an initialised past. Returns how many were used; 0: they are damaged. */
size_t smurf_past_unpack(struct past *past, const void *bytes, size_t size);

#endif
