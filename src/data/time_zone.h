/*
 * time_zone.h - local times of IANA zones, from the system's zoneinfo files (TZif, RFC 8536).
 *
 * Files are looked up in $TZDIR or the usual folders; a name cannot lead out of them. UTC is always known.
 */
#ifndef SMURF_DATA_TIME_ZONE_H
#define SMURF_DATA_TIME_ZONE_H

#include "smurf_lab.h"

struct time_zone;

/* An unknown name is SMURF_ERROR_INPUT with similar names in the message. */
smurf_status smurf_time_zone_open(struct time_zone **out, const char *name, smurf_error *err);
void smurf_time_zone_free(struct time_zone *zone); /* may be NULL */

/* Seconds east of UTC at a UTC time in seconds since 1970. zone NULL: 0. */
int smurf_time_zone_offset(const struct time_zone *zone, int64_t seconds);

/* The same; it is constant for from <= seconds < until. */
int smurf_time_zone_span(const struct time_zone *zone, int64_t seconds, int64_t *from, int64_t *until);

/* The UTC times of a local time, in order. Returns how many: 1, or 2 where clocks are set back. A time that clocks skip
   is the instant of the change. */
int smurf_time_zone_utc(const struct time_zone *zone, int64_t local, int64_t utc[2]);

#endif
