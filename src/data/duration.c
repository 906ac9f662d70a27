/* duration.c - durations as people read and write them: "3.4 min", "1h30m". */
#include "base/error.h"
#include "data/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Units of time, longest first: size in seconds, and the names that users give them. Durations are shown in the first
   name. A week is read but not shown: people count days. */
static const struct unit {
    double seconds;
    int shown;
    const char *name[9];
} units[] = {
    {365.25 * 86400, 1, {"y", "yr", "yrs", "year", "years"}},
    {7 * 86400, 0, {"w", "week", "weeks"}},
    {86400, 1, {"d", "day", "days"}},
    {3600, 1, {"h", "hr", "hrs", "hour", "hours"}},
    {60, 1, {"min", "m", "mins", "minute", "minutes"}},
    {1, 1, {"s", "sec", "secs", "second", "seconds"}},
    {1e-3, 1, {"ms", "msec", "millisecond", "milliseconds"}},
    {1e-6, 1, {"us", "µs", "usec", "microsecond", "microseconds"}},
    {1e-9, 1, {"ns", "nsec", "nanosecond", "nanoseconds"}},
};
enum { UNITS = sizeof units / sizeof *units };

static const struct unit *find(const char *name, size_t n)
{
    if (n == 1 && *name == 'M') return NULL; /* a month? */
    for (size_t i = 0; i < UNITS; i++)
        for (const char *const *known = units[i].name; *known; known++)
            if (strlen(*known) == n && strncasecmp(*known, name, n) == 0) return &units[i];
    return NULL;
}

/* ---- Showing ------------------------------------------------------------------------------------ */

/* x to two digits, or to its last whole digit: 3.4, 30, 160. */
static double rounded(double x)
{
    return x < 9.95 ? rint(10 * x) / 10 : rint(x);
}

/* Whether seconds, or what is shown of them in units of `in`, fill `unit`. */
static bool is_at_least(double seconds, double in, double unit)
{
    return fmax(seconds, rounded(seconds / in) * in) >= unit * (1 - 1e-9);
}

const char *smurf_duration_unit(double gap, const char *unit, double *size)
{
    const struct unit *own = find(unit, strlen(unit));
    *size = 1;
    if (!own) return NULL;
    const struct unit *best = own;
    double seconds = fabs(gap) * own->seconds;
    if (seconds == 0 && own->seconds > 1) best = find("s", 1);
    if (seconds > 0 && isfinite(seconds)) {
        best = &units[UNITS - 1];
        for (size_t i = UNITS; i-- > 0;) /* 59.9 s are 60 s, which is 1 min */
            if (units[i].shown && is_at_least(seconds, best->seconds, units[i].seconds)) best = &units[i];
    }
    *size = best->seconds / own->seconds;
    return best->name[0];
}

/* x to three digits or to its last whole digit. */
static double three_digits(double x)
{
    double digits = x != 0 ? pow(10, 2 - floor(log10(fabs(x)))) : 1;
    if (!isfinite(digits) || digits == 0) return x;
    return digits < 1 ? rint(x * digits) * rint(1 / digits) : rint(x * digits) / digits;
}

const char *smurf_duration_text(char out[SMURF_DURATION_TEXT], double gap, const char *unit)
{
    double size;
    char number[NUMBER_TEXT];
    const char *known = smurf_duration_unit(gap, unit, &size), *name = known ? known : unit;
    if (!isfinite(gap)) {
        snprintf(out, SMURF_DURATION_TEXT, "%s", isnan(gap) ? "-" : gap > 0 ? "inf" : "-inf");
        return out;
    }
    double x = gap / size;
    bool round = known && fabs(x) < 1e6;
    size_t n = smurf_number_write(number, round ? copysign(rounded(fabs(x)), x) : three_digits(x));
    int letters = (int)strnlen(name, SMURF_DURATION_TEXT - NUMBER_TEXT - 2);
    if (!known && x == 1 && letters > 3 && name[letters - 1] == 's') letters--; /* 1 tick, 2 ticks */
    snprintf(out, SMURF_DURATION_TEXT, "%.*s%s%.*s", (int)n, number, *name ? " " : "", letters, name);
    return out;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static smurf_status fail(smurf_error *err, const char *text)
{
    return smurf_fail(
        err, SMURF_ERROR_ARGUMENT,
        "'%.100s' is not a duration: write a number, or numbers with units such as 90s, 1.5h, 1h30m or 2d", text);
}

/* Takes a number of 0 or more, and the spaces after it, off the front of *text. */
static bool take_number(const char **text, double *out)
{
    struct decimal d;
    const char *end = smurf_decimal_scan(&d, *text);
    if (!end || d.negative) return false;
    *out = smurf_decimal_value(&d);
    *text = end + strspn(end, " ");
    return isfinite(*out);
}

smurf_status smurf_duration_parse(double *out, const char *text, const char *unit, smurf_error *err)
{
    const struct unit *own = find(unit, strlen(unit));
    const char *at = text;
    double x, seconds = 0, last = INFINITY;
    *out = 0;
    if (!take_number(&at, &x)) return fail(err, text);
    if (!*at) {
        *out = x;
        return SMURF_OK;
    }
    for (;;) {
        size_t n = strcspn(at, "0123456789. ");
        const struct unit *named = find(at, n);
        if (!named || !(named->seconds < last)) return fail(err, text);
        seconds += x * named->seconds;
        last = named->seconds;
        at += n + strspn(at + n, " ");
        if (!*at) break;
        if (!take_number(&at, &x)) return fail(err, text);
    }
    if (!own)
        return smurf_fail(
            err, SMURF_ERROR_ARGUMENT,
            "'%.100s' has a unit, but the data's unit of time is %s%.40s%s: give a plain number, or train "
            "with --unit (s, ms, min, h or d)",
            text, *unit ? "'" : "unknown", unit, *unit ? "', which is unknown" : "");
    *out = seconds / own->seconds;
    return SMURF_OK;
}
