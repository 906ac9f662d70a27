/*
 * calendar.h - dates as seconds since 1970, and ISO-8601 text.
 */
#ifndef SMURF_DATA_CALENDAR_H
#define SMURF_DATA_CALENDAR_H

#include "data/number.h"

struct calendar_time {
    int64_t seconds;   /* since 1970, rounded down: UTC if zoned, otherwise local time */
    uint64_t fraction; /* of a second, in units of 10^-places */
    int places;        /* 9 at most */
    bool zoned;        /* the text gave an offset from UTC */
};

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar. */
int64_t smurf_calendar_days(int64_t year, int month, int day);
int smurf_calendar_month_days(int64_t year, int month);
/* 0: Monday. */
int smurf_calendar_weekday(int64_t days);

/* Scans all n bytes as ISO-8601. Date: 2024-01-31, 2024/01/31, 20240131, 2024-031, 2024-W05-3 or 2024W053. Then
   optionally 'T' or a space and a clock time: 12:00:00.25, 12:00, 1200; 24:00 is the next midnight. Then optionally
   an offset. */
bool smurf_calendar_scan(struct calendar_time *out, const char *text, size_t n);

/* Parts of it, for other forms. Each returns the end of what it read, or NULL. `fraction`: digits. `offset`: Z, UTC,
   GMT, +hh, +hhmm or +hh:mm; p itself if there is none. */
const char *smurf_calendar_scan_fraction(const char *p, const char *end, struct calendar_time *out);
const char *smurf_calendar_scan_offset(const char *p, const char *end, struct calendar_time *out, int *east);

/* The time as a decimal; local time is taken as UTC. */
void smurf_calendar_decimal(struct decimal *out, const struct calendar_time *time, const char *text, size_t n);

#endif
