/*
 * time_zone.c - see time_zone.h.
 *
 * A zone is a list of changes of its offset, and a rule (the POSIX string at the end of the file) for the time after
 * the last one.
 */
#include "data/time_zone.h"
#include "base/error.h"
#include "data/calendar.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_LIMIT = 1 << 20, NAME_LIMIT = 64, PATH_LIMIT = 1024, DAY = 86400, WEEK = 7 * DAY, NEAR = 26 * 3600 };

/* When clocks change in a year: month, week (5: the last), weekday (0: Sunday); or a day of the year: 1 to 365 without
   February 29 (month -1), 0 to 365 with it (month 0). */
struct change {
    int month, week, day;
    int time; /* seconds of local time */
};

struct rule {
    bool known, summer;      /* summer: clocks change twice a year */
    int offset[2];           /* winter, summer */
    struct change change[2]; /* to winter, to summer */
};

struct time_zone {
    struct rule rule;
    int before; /* offset before the first change */
    size_t n;
    int64_t *at;     /* (n), in order */
    int32_t *offset; /* (n), from at[i] on */
};

/* ---- The rule -------------------------------------------------------------------------------- */

static const char *scan_int(const char *p, int *out, int limit)
{
    if (!isdigit((unsigned char)*p)) return NULL;
    for (*out = 0; isdigit((unsigned char)*p); p++)
        if ((*out = *out * 10 + (*p - '0')) > limit) return NULL;
    return p;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static const char *scan_hms(const char *p, int *out)
{
    int sign = *p == '-' ? -1 : 1, part[3] = {0};
    if (*p == '+' || *p == '-') p++;
    for (int i = 0; i < 3; i++) {
        if (!(p = scan_int(p, &part[i], i ? 59 : 167))) return NULL;
        if (*p != ':') break;
        if (i < 2) p++;
    }
    *out = sign * (part[0] * 3600 + part[1] * 60 + part[2]);
    return p;
}

static const char *skip_name(const char *p)
{
    if (*p == '<') return (p = strchr(p, '>')) ? p + 1 : NULL;
    const char *start = p;
    while (isalpha((unsigned char)*p)) p++;
    return p - start >= 3 ? p : NULL;
}

static const char *scan_change(const char *p, struct change *out)
{
    *out = (struct change){.time = 7200};
    if (*p++ != ',') return NULL;
    if (*p == 'M') {
        if (!(p = scan_int(p + 1, &out->month, 12)) || *p++ != '.' || out->month < 1) return NULL;
        if (!(p = scan_int(p, &out->week, 5)) || *p++ != '.' || out->week < 1) return NULL;
        p = scan_int(p, &out->day, 6);
    } else {
        if (*p == 'J') out->month = -1, p++;
        p = scan_int(p, &out->day, 365);
    }
    if (p && *p == '/') p = scan_hms(p + 1, &out->time);
    return p;
}

/* CET-1CEST,M3.5.0,M10.5.0/3 */
static bool scan_rule(const char *p, struct rule *out)
{
    *out = (struct rule){.known = true};
    int west;
    if (!(p = skip_name(p)) || !(p = scan_hms(p, &west))) return false;
    out->offset[0] = out->offset[1] = -west;
    if (*p == '\0') return true;
    out->summer = true;
    out->offset[1] += 3600;
    if (!(p = skip_name(p))) return false;
    if (*p != ',') {
        if (!(p = scan_hms(p, &west))) return false;
        out->offset[1] = -west;
    }
    if (!(p = scan_change(p, &out->change[1])) || !(p = scan_change(p, &out->change[0]))) return false;
    return *p == '\0';
}

/* The local time of a change. */
static int64_t change_in(const struct change *c, int64_t year)
{
    int64_t days;
    if (c->month > 0) {
        int64_t first = smurf_calendar_days(year, c->month, 1);
        int weekday = (smurf_calendar_weekday(first) + 1) % 7; /* 0: Sunday */
        int day = (c->day - weekday + 7) % 7 + 7 * (c->week - 1);
        if (day >= smurf_calendar_month_days(year, c->month)) day -= 7;
        days = first + day;
    } else {
        bool after = c->month < 0 && c->day >= 60 && smurf_calendar_month_days(year, 2) == 29;
        days = smurf_calendar_days(year, 1, 1) + c->day - (c->month < 0) + after;
    }
    return days * DAY + c->time;
}

/* The offset by the rule, and since and until when. */
static int by_rule(const struct rule *r, int64_t seconds, int64_t *from, int64_t *until)
{
    *from = INT64_MIN, *until = INT64_MAX;
    if (!r->summer) return r->offset[0];
    int64_t year = 1970 + seconds / (365 * DAY + DAY / 4);
    int now = 0;
    for (int64_t y = year - 1; y <= year + 1; y++)
        for (int to = 0; to < 2; to++) {
            int64_t at = change_in(&r->change[to], y) - r->offset[!to];
            if (at <= seconds && (at > *from || (at == *from && to == 1))) *from = at, now = to;
            if (at > seconds && at < *until) *until = at;
        }
    return r->offset[now];
}

/* ---- Queries --------------------------------------------------------------------------------- */

int smurf_time_zone_span(const struct time_zone *zone, int64_t seconds, int64_t *from, int64_t *until)
{
    *from = INT64_MIN, *until = INT64_MAX;
    if (!zone) return 0;
    size_t low = 0, high = zone->n; /* the number of changes up to now */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (zone->at[middle] <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->n && zone->rule.known) {
        int offset = by_rule(&zone->rule, seconds, from, until);
        if (low && *from < zone->at[low - 1]) *from = zone->at[low - 1];
        return offset;
    }
    if (low) *from = zone->at[low - 1];
    if (low < zone->n) *until = zone->at[low];
    return low ? zone->offset[low - 1] : zone->before;
}

int smurf_time_zone_offset(const struct time_zone *zone, int64_t seconds)
{
    int64_t from, until;
    return smurf_time_zone_span(zone, seconds, &from, &until);
}

int smurf_time_zone_utc(const struct time_zone *zone, int64_t local, int64_t utc[2])
{
    int found = 0;
    int64_t from, until = local - NEAR;
    do { /* every span near the time */
        int offset = smurf_time_zone_span(zone, until, &from, &until);
        int64_t at = local - offset;
        if (at < from) { /* clocks skipped it */
            if (!found) utc[found++] = from;
            break;
        }
        if (at < until) {
            utc[found > 0] = at;
            found = found ? 2 : 1;
        }
    } while (until <= local + NEAR);
    return found;
}

/* ---- The file -------------------------------------------------------------------------------- */

static int64_t big_endian(const unsigned char *p, int bytes)
{
    uint64_t value = p[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | p[i];
    return (int64_t)value;
}

/* Sizes of one block of a TZif file. */
struct block {
    size_t times, types, size;
    int width; /* bytes of a time */
};

static bool scan_header(const unsigned char *p, size_t n, int width, struct block *out)
{
    if (n < 44 || memcmp(p, "TZif", 4) != 0) return false;
    size_t count[6]; /* isut, isstd, leap, time, type, char */
    for (int i = 0; i < 6; i++) {
        int64_t c = big_endian(p + 20 + 4 * i, 4);
        if (c < 0 || c > FILE_LIMIT) return false;
        count[i] = (size_t)c;
    }
    size_t w = (size_t)width;
    *out = (struct block){.times = count[3],
                          .types = count[4],
                          .width = width,
                          .size = 44 + count[3] * (w + 1) + count[4] * 6 + count[5] + count[2] * (w + 4) + count[1] +
                                  count[0]};
    return out->types > 0 && out->size <= n;
}

/* False: not a valid file. *memory: out of memory. */
static bool scan_block(struct time_zone *zone, const unsigned char *p, const struct block *b, bool *memory)
{
    const unsigned char *times = p + 44, *index = times + b->times * (size_t)b->width, *types = index + b->times;
    zone->before = (int)big_endian(types, 4);
    zone->at = malloc((b->times + 1) * sizeof *zone->at);
    zone->offset = malloc((b->times + 1) * sizeof *zone->offset);
    if (!zone->at || !zone->offset) {
        *memory = true;
        return false;
    }
    for (size_t i = 0; i < b->times; i++) {
        if (index[i] >= b->types) return false;
        zone->at[i] = big_endian(times + i * (size_t)b->width, b->width);
        zone->offset[i] = (int32_t)big_endian(types + 6 * (size_t)index[i], 4);
        if (i && zone->at[i] <= zone->at[i - 1]) return false;
        if (zone->offset[i] <= -NEAR || zone->offset[i] >= NEAR) return false;
    }
    zone->n = b->times;
    return zone->before > -NEAR && zone->before < NEAR;
}

static bool scan_file(struct time_zone *zone, const unsigned char *p, size_t n, bool *memory)
{
    struct block b;
    if (!scan_header(p, n, 4, &b)) return false;
    if (p[4] < '2') return scan_block(zone, p, &b, memory);
    p += b.size, n -= b.size;
    if (!scan_header(p, n, 8, &b) || !scan_block(zone, p, &b, memory)) return false;
    p += b.size, n -= b.size;
    char text[128];
    const unsigned char *newline = n > 1 ? memchr(p + 1, '\n', n - 1) : NULL;
    if (!newline || *p != '\n' || newline - p > (ptrdiff_t)sizeof text) return false;
    size_t length = (size_t)(newline - p) - 1;
    memcpy(text, p + 1, length);
    text[length] = '\0';
    return length == 0 || scan_rule(text, &zone->rule);
}

/* Letters, digits, _ + - and slashes between them: nothing leads out of the folder. */
static bool is_name(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++) {
        bool slash = name[i] == '/';
        if (slash ? i == 0 || i + 1 == n || name[i - 1] == '/'
                  : !isalnum((unsigned char)name[i]) && !strchr("_+-", name[i]))
            return false;
    }
    return n > 0 && n < NAME_LIMIT;
}

/* Opens a file of the zoneinfo folder. NULL: there is none, or out of memory. */
static FILE *open_in_folder(const char *name, bool *memory)
{
    const char *folders[] = {getenv("TZDIR"), "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo"};
    char path[PATH_LIMIT];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (!folders[i] || !*folders[i]) continue;
        int n = snprintf(path, sizeof path, "%s/%s", folders[i], name);
        errno = 0;
        FILE *file = n > 0 && n < PATH_LIMIT ? fopen(path, "rb") : NULL;
        if (file) return file;
        if (errno == ENOMEM) *memory = true;
    }
    return NULL;
}

/* Case does not count, nor do blanks and underscores. */
static bool same_word(const char *a, size_t n, const char *b, size_t m)
{
    if (n != m) return false;
    for (size_t i = 0; i < n; i++) {
        int x = a[i] == '_' ? ' ' : tolower((unsigned char)a[i]), y = b[i] == '_' ? ' ' : tolower((unsigned char)b[i]);
        if (x != y) return false;
    }
    return true;
}

/* Whether `zone` may be meant by `name`: the same town, or a town that starts alike. */
static bool is_similar(const char *zone, const char *name)
{
    const char *a = strrchr(zone, '/'), *b = strrchr(name, '/');
    a = a ? a + 1 : zone, b = b ? b + 1 : name;
    size_t n = strlen(a), m = strlen(b);
    if (same_word(a, n, b, m)) return true;
    return n >= 4 && m >= 4 && same_word(a, 4, b, 4);
}

static smurf_status fail_unknown(const char *name, smurf_error *err)
{
    char similar[200] = "", line[512], zone[NAME_LIMIT];
    int count = 0;
    bool memory = false;
    FILE *file = open_in_folder("zone.tab", &memory);
    if (memory) return smurf_fail_memory(err);
    if (!file)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "unknown time zone '%.60s': no zone files found (install tzdata, or set TZDIR)", name);
    while (count < 3 && fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%*s %*s %63s", zone) != 1 || !is_similar(zone, name)) continue;
        size_t used = strlen(similar);
        snprintf(similar + used, sizeof similar - used, "%s%s", count++ ? ", " : "", zone);
    }
    fclose(file);
    if (!count)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "unknown time zone '%.60s': use an IANA name, such as Europe/Berlin or UTC", name);
    return smurf_fail(err, SMURF_ERROR_INPUT, "unknown time zone '%.60s': did you mean %s?", name, similar);
}

smurf_status smurf_time_zone_open(struct time_zone **out, const char *name, smurf_error *err)
{
    *out = NULL;
    struct time_zone *zone = calloc(1, sizeof *zone);
    if (!zone) return smurf_fail_memory(err);
    if (strcmp(name, "UTC") == 0) {
        *out = zone;
        return SMURF_OK;
    }
    smurf_status status = SMURF_OK;
    unsigned char *bytes = NULL;
    bool memory = false;
    FILE *file = is_name(name) ? open_in_folder(name, &memory) : NULL;
    if (!file) {
        status = memory ? smurf_fail_memory(err) : fail_unknown(name, err);
        goto done;
    }
    bytes = malloc(FILE_LIMIT);
    memory = !bytes;
    size_t n = bytes ? fread(bytes, 1, FILE_LIMIT, file) : 0; /* a folder reads as nothing */
    if (memory || !scan_file(zone, bytes, n, &memory))
        status = memory ? smurf_fail_memory(err) : fail_unknown(name, err);
done:
    if (file) fclose(file);
    free(bytes);
    if (status)
        smurf_time_zone_free(zone);
    else
        *out = zone;
    return status;
}

void smurf_time_zone_free(struct time_zone *zone)
{
    if (!zone) return;
    free(zone->at);
    free(zone->offset);
    free(zone);
}
