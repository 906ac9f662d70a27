/*
 * number.h - decimal text to numbers and back, exact, fast and locale-independent.
 *
 * A decimal is kept as sign * mantissa * 10^exponent until it is known what to subtract from it: nanoseconds since 1970
 * lose digits as a double, but the distance from an origin does not.
 */
#ifndef SMURF_DATA_NUMBER_H
#define SMURF_DATA_NUMBER_H

#include "smurf_lab.h"

#include <stdbool.h>

struct decimal {
    uint64_t mantissa; /* the first 19 significant digits */
    int exponent;      /* value = mantissa * 10^exponent, except for digits cut off */
    bool negative;
    bool integer;     /* no point and no exponent in the text */
    bool cut;         /* there were more than 19 significant digits */
    bool calendar;    /* came from ISO-8601 text: seconds since 1970 */
    const char *text; /* its source text; not owned */
    size_t length;
};

/* Scans a decimal number at text: [+-] digits [. digits] [e [+-] digits]. Returns its end, or NULL if there is none.
   text must end in a byte that cannot continue a number (such as NUL). */
const char *smurf_decimal_scan(struct decimal *out, const char *text);

/* 10^0 .. 10^22, exact. */
extern const double smurf_pow10[23];
/* 10^0 .. 10^19. */
extern const uint64_t smurf_pow10_int[20];

/* The common case, for loops: up to 18 digits with at most one point, no sign, no exponent. Returns the end, or NULL if
   the text has another form; value = *mantissa / 10^*places. Reads at most 20 bytes, none after the first that cannot
   continue a number. */
static inline const char *smurf_decimal_simple(const char *text, uint64_t *mantissa, int *places)
{
    const char *p = text;
    uint64_t value = 0;
    while ((unsigned char)(*p - '0') < 10 && p - text < 19) value = 10 * value + (uint64_t)(*p++ - '0');
    ptrdiff_t digits = p - text, fraction = 0;
    if (digits == 0 || (*text == '0' && digits > 1)) return NULL;
    if (*p == '.') {
        const char *point = p++;
        while ((unsigned char)(*p - '0') < 10 && p - text < 20) value = 10 * value + (uint64_t)(*p++ - '0');
        fraction = p - point - 1;
        if (fraction == 0) return NULL;
    }
    if (digits + fraction > 18 || *p == 'e' || *p == 'E') return NULL;
    *mantissa = value;
    *places = (int)fraction;
    return p;
}

/* Scans all n bytes as a number or an ISO-8601 time: YYYY-MM-DD, then optionally 'T' or a space and
   hh:mm[:ss[.fraction]], then optionally Z or +hh:mm. UTC if no zone is given. False if it is neither; infinities and
   NaN are neither. text[n] must be readable and not a digit. */
bool smurf_decimal_scan_time(struct decimal *out, const char *text, size_t n);

/* The nearest double; infinite if out of range. */
double smurf_decimal_value(const struct decimal *d);

/* The origin of a sequence whose first time is d: 0 below 2^20, else the integer part, rounded down. False if it is
   beyond 2^63. */
bool smurf_decimal_origin(const struct decimal *d, int64_t *origin);

/* The nearest double to value - origin. False if it is 2^53 or more away from the origin, so that integers would not be
   exact, or if the value itself is beyond 2^63. */
bool smurf_decimal_offset(const struct decimal *d, int64_t origin, double *out);

/* Writes the decimal with the fewest places that reads back as x (with an exponent only beyond 17 places); returns its
   length. x is finite. No NUL is added. */
enum { NUMBER_TEXT = 40 };
size_t smurf_number_write(char out[NUMBER_TEXT], double x);
/* The same for origin + offset, without losing digits. */
size_t smurf_number_write_time(char out[NUMBER_TEXT], int64_t origin, double offset);
/* The same as ISO-8601 in UTC, "2024-01-31T12:00:00.25Z", up to nanoseconds. */
size_t smurf_number_write_calendar(char out[NUMBER_TEXT], int64_t origin, double offset);

#endif
