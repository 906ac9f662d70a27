/* calendar.c - see calendar.h. */
#include "data/calendar.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

int64_t smurf_calendar_days(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

int smurf_calendar_month_days(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

int smurf_calendar_weekday(int64_t days)
{
    return (int)(((days + 3) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
}

/* Reads exactly `count` digits; NULL if there are fewer. */
static const char *fixed(const char *p, const char *end, int count, int *out)
{
    int value = 0;
    for (; count > 0; count--, p++) {
        if (p >= end || !is_digit(*p)) return NULL;
        value = 10 * value + (*p - '0');
    }
    *out = value;
    return p;
}

const char *smurf_calendar_scan_fraction(const char *p, const char *end, struct calendar_time *out)
{
    const char *first = p;
    for (; p < end && is_digit(*p); p++)
        if (out->places < 9) out->fraction = out->fraction * 10 + (uint64_t)(*p - '0'), out->places++;
    return p == first ? NULL : p;
}

const char *smurf_calendar_scan_offset(const char *p, const char *end, struct calendar_time *out, int *east)
{
    const char *start = p;
    *east = 0;
    while (p < end && *p == ' ') p++;
    if (p >= end) return start;
    out->zoned = true;
    if (end - p >= 3 && (memcmp(p, "UTC", 3) == 0 || memcmp(p, "GMT", 3) == 0)) {
        p += 3;
        if (p == end || (*p != '+' && *p != '-')) return p;
    } else if (*p == 'Z' || *p == 'z') {
        return p + 1;
    }
    if (*p != '+' && *p != '-') {
        out->zoned = false;
        return start;
    }
    int sign = *p == '-' ? -1 : 1, hour = 0, minute = 0;
    if (!(p = fixed(p + 1, end, 2, &hour))) return NULL;
    bool colon = p < end && *p == ':';
    if (colon || (p < end && is_digit(*p))) p = fixed(p + colon, end, 2, &minute);
    if (!p || hour > 23 || minute > 59) return NULL;
    *east = sign * (hour * 3600 + minute * 60);
    return p;
}

/* The rest of a week date after "2024W" or "2024-W": "05-3", "053". */
static const char *scan_week(const char *p, const char *end, int year, int64_t *days)
{
    int week, day;
    if (!(p = fixed(p, end, 2, &week))) return NULL;
    if (p < end && *p == '-') p++;
    if (!(p = fixed(p, end, 1, &day)) || week < 1 || week > 53 || day < 1 || day > 7) return NULL;
    int64_t january4 = smurf_calendar_days(year, 1, 4); /* always in week 1 */
    *days = january4 - smurf_calendar_weekday(january4) + 7 * (week - 1) + day - 1;
    return p;
}

/* Days since 1970. *plain: no separators. */
static const char *scan_date(const char *p, const char *end, int64_t *days, bool *plain)
{
    int year, month, day;
    if (!(p = fixed(p, end, 4, &year)) || p >= end || year == 0) return NULL; /* a year 0 stands for nothing */
    char dash = *p;
    *plain = is_digit(dash) || dash == 'W';
    if (!*plain && dash != '-' && dash != '/') return NULL;
    p += !*plain;
    if (p < end && *p == 'W') return scan_week(p + 1, end, year, days);
    if (!(p = fixed(p, end, 2, &month)) || p >= end) return NULL;
    if (dash == '-' && is_digit(*p)) { /* a day of the year */
        if (!(p = fixed(p - 2, end, 3, &day)) || day < 1) return NULL;
        if (day > 337 + smurf_calendar_month_days(year, 2)) return NULL;
        *days = smurf_calendar_days(year, 1, 1) + day - 1;
        return p;
    }
    if (!*plain && *p++ != dash) return NULL;
    if (!(p = fixed(p, end, 2, &day))) return NULL;
    if (month < 1 || month > 12 || day < 1 || day > smurf_calendar_month_days(year, month)) return NULL;
    *days = smurf_calendar_days(year, month, day);
    return p;
}

/* hour_alone: "T12" is a time. */
static const char *scan_clock(const char *p, const char *end, bool hour_alone, struct calendar_time *out)
{
    int hour, minute = 0, second = 0;
    if (!(p = fixed(p, end, 2, &hour))) return NULL;
    bool more = p < end && *p != 'Z' && *p != 'z', colon = more && *p == ':';
    if (!more && !hour_alone) return NULL;
    if (more && !(p = fixed(p + colon, end, 2, &minute))) return NULL;
    if (more && p < end && (colon ? *p == ':' : is_digit(*p))) {
        if (!(p = fixed(p + colon, end, 2, &second))) return NULL;
        if (p < end && (*p == '.' || *p == ',') && !(p = smurf_calendar_scan_fraction(p + 1, end, out))) return NULL;
    }
    if (minute > 59 || second > 60) return NULL;
    if (hour > 23 && (hour > 24 || minute || second || out->fraction)) return NULL;
    out->seconds += hour * 3600 + minute * 60 + second;
    return p;
}

bool smurf_calendar_scan(struct calendar_time *out, const char *text, size_t n)
{
    const char *p = text, *end = text + n;
    int64_t days;
    bool plain;
    if (!(p = scan_date(p, end, &days, &plain))) return false;
    *out = (struct calendar_time){.seconds = days * 86400};
    if (p == end) return true;
    bool letter = *p == 'T' || *p == 't', mark = letter || *p == ' ';
    if (!mark && !(plain && is_digit(*p))) return false;
    int east;
    if (!(p = scan_clock(p + mark, end, letter, out)) || !(p = smurf_calendar_scan_offset(p, end, out, &east)))
        return false;
    out->seconds -= east;
    return p == end || (out->zoned && *p == '['); /* the name of the zone, which the offset makes superfluous */
}

void smurf_calendar_decimal(struct decimal *out, const struct calendar_time *time, const char *text, size_t n)
{
    int places = time->places;
    signed_wide value = (signed_wide)time->seconds * (int64_t)smurf_pow10_int[places] + (int64_t)time->fraction;
    wide size = (wide)(value < 0 ? -value : value);
    for (; size > UINT64_MAX; places--) size /= 10;
    *out = (struct decimal){.mantissa = (uint64_t)size,
                            .exponent = -places,
                            .negative = value < 0,
                            .integer = places == 0,
                            .calendar = true,
                            .text = text,
                            .length = n};
}
