/*
 * time_format.c - see time_format.h. A pattern is compiled to a list of operations, one per part or literal byte.
 */
#include "data/time_format.h"
#include "base/error.h"
#include "data/time_op.h"

#include <string.h>

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static bool is_letter(char c)
{
    return (unsigned char)((c | 32) - 'a') < 26;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* ---- From text to operations ----------------------------------------------------------------- */

static const char *const kinds[] = {
    [TIME_PLAIN] = "number",      [TIME_EPOCH_S] = "epoch-s",   [TIME_EPOCH_MS] = "epoch-ms",
    [TIME_EPOCH_US] = "epoch-us", [TIME_EPOCH_NS] = "epoch-ns", [TIME_ISO] = "iso",
    [TIME_EXCEL] = "excel",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct conversion {
    char letter;
    unsigned char code;
    const char *expands;
} conversions[] = {
    {'Y', OP_YEAR, NULL},        {'y', OP_YEAR_2, NULL},     {'m', OP_MONTH, NULL},      {'d', OP_DAY, NULL},
    {'e', OP_DAY, NULL},         {'b', OP_MONTH_NAME, NULL}, {'B', OP_MONTH_NAME, NULL}, {'h', OP_MONTH_NAME, NULL},
    {'j', OP_DAY_OF_YEAR, NULL}, {'a', OP_WEEKDAY, NULL},    {'A', OP_WEEKDAY, NULL},    {'H', OP_HOUR, NULL},
    {'k', OP_HOUR, NULL},        {'I', OP_HOUR_12, NULL},    {'l', OP_HOUR_12, NULL},    {'M', OP_MINUTE, NULL},
    {'S', OP_SECOND, NULL},      {'f', OP_FRACTION, NULL},   {'p', OP_HALF, NULL},       {'z', OP_OFFSET, NULL},
    {'Z', OP_OFFSET, NULL},      {'s', OP_EPOCH, NULL},      {'n', OP_BLANK, NULL},      {'t', OP_BLANK, NULL},
    {'~', OP_CLOCK, NULL},       {'T', 0, "%H:%M:%S"},       {'F', 0, "%Y-%m-%d"},       {'D', 0, "%m/%d/%y"},
    {'R', 0, "%H:%M"},           {'r', 0, "%I:%M:%S %p"},
};
enum { CONVERSIONS = sizeof conversions / sizeof *conversions };

static const struct conversion *find_conversion(char letter)
{
    for (size_t i = 0; i < CONVERSIONS; i++)
        if (conversions[i].letter == letter) return &conversions[i];
    return NULL;
}

/* Appends the operations of n bytes of pattern. False: no room, or *bad is the letter of an unknown conversion. */
static bool compile(struct time_format *f, int *ops, const char *p, size_t n, char *bad)
{
    for (const char *end = p + n; p < end; p++) {
        struct time_op op = {OP_LITERAL, (unsigned char)*p};
        if (is_blank(*p)) {
            op.code = OP_BLANK;
        } else if (*p == '%' && p + 1 < end && p[1] == '%') {
            p++;
        } else if (*p == '%') {
            const struct conversion *c = p + 1 < end ? find_conversion(p[1]) : NULL;
            if (!c) {
                *bad = p + 1 < end ? p[1] : '%';
                return false;
            }
            p++;
            if (c->expands) {
                if (!compile(f, ops, c->expands, strlen(c->expands), bad)) return false;
                continue;
            }
            op.code = c->code;
        }
        struct time_op *last = f->op + *ops - 1;
        if (op.code == OP_BLANK && *ops && last->code == OP_BLANK) continue;
        if (op.code == OP_FRACTION && *ops > 1 && last[-1].code == OP_SECOND && last->code == OP_LITERAL &&
            strchr(".,:", last->argument)) { /* implied by the seconds */
            --*ops;
            continue;
        }
        if (*ops == TIME_OPS - 1) return false;
        f->op[(*ops)++] = op;
    }
    f->op[*ops].code = OP_END;
    return true;
}

static unsigned codes_of(const struct time_format *f)
{
    unsigned codes = 0;
    for (const struct time_op *op = f->op; op->code != OP_END; op++) codes |= OP_BIT(op->code);
    return codes;
}

/* " @2019" at the end of a pattern. Returns the length without it. */
static size_t take_year(struct time_format *f, const char *text)
{
    size_t n = strlen(text);
    f->year = 1970;
    if (n < 6 || text[n - 5] != '@') return n;
    int year = 0;
    for (size_t i = n - 4; i < n; i++) {
        if (!is_digit(text[i])) return n;
        year = 10 * year + (text[i] - '0');
    }
    f->year = year;
    for (n -= 5; n > 0 && is_blank(text[n - 1]);) n--;
    return n;
}

static smurf_status parse_pattern(struct time_format *f, const char *text, smurf_error *err)
{
    static const char use[] = "use iso, number, epoch-s, epoch-ms, epoch-us, epoch-ns, excel or a pattern such as "
                              "'%d/%m/%Y %H:%M'";
    if (!strchr(text, '%')) return smurf_fail(err, SMURF_ERROR_INPUT, "unknown time format '%.63s': %s", text, use);
    size_t n = take_year(f, text);
    while (n && (*text == '[' || is_blank(*text))) text++, n--;
    while (n && (text[n - 1] == ']' || is_blank(text[n - 1]))) n--;
    char bad = 0;
    int ops = 0;
    if (!compile(f, &ops, text, n, &bad))
        return bad ? smurf_fail(
                         err, SMURF_ERROR_INPUT,
                         "time format '%.63s': unknown conversion '%%%c' (known: %%Y %%y %%m %%d %%b %%j %%H %%I %%M "
                         "%%S %%f %%p %%z %%s %%a %%T %%F %%D %%R)",
                         f->text, bad)
                   : smurf_fail(err, SMURF_ERROR_INPUT, "time format '%.63s' has too many parts", f->text);
    unsigned codes = codes_of(f);
    if (codes & OP_BIT(OP_HOUR_12) && !(codes & OP_BIT(OP_HALF)))
        return smurf_fail(err, SMURF_ERROR_INPUT, "time format '%.63s': %%I needs %%p (use %%H for 24 hours)", f->text);
    if (codes & (OP_BIT(OP_YEAR) | OP_BIT(OP_YEAR_2))) f->parts |= TIME_YEAR;
    if (codes & OP_DATES) f->parts |= TIME_DATE;
    if (codes & OP_CLOCKS) f->parts |= TIME_CLOCK;
    if (codes & OP_BIT(OP_OFFSET)) f->parts |= TIME_OFFSET;
    if (codes & OP_BIT(OP_EPOCH)) f->parts |= TIME_YEAR | TIME_DATE | TIME_CLOCK | TIME_OFFSET;
    if (f->parts & (TIME_YEAR | TIME_DATE | TIME_CLOCK)) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_INPUT, "time format '%.63s' has neither a date nor a clock: %s", f->text, use);
}

smurf_status smurf_time_format_parse(struct time_format *out, const char *text, smurf_error *err)
{
    *out = (struct time_format){.kind = TIME_PATTERN};
    size_t n = strlen(text);
    if (n >= TIME_TEXT)
        return smurf_fail(err, SMURF_ERROR_INPUT, "time format '%.63s...' is longer than %d bytes", text,
                          TIME_TEXT - 1);
    memcpy(out->text, text, n + 1);
    for (int kind = TIME_PLAIN; kind < KINDS; kind++) {
        if (strcmp(text, kinds[kind]) != 0) continue;
        out->kind = kind;
        out->parts = kind == TIME_PLAIN ? TIME_NUMBER : TIME_YEAR | TIME_DATE | TIME_CLOCK;
        return SMURF_OK;
    }
    return parse_pattern(out, text, err);
}

const char *smurf_time_format_order(const struct time_format *format)
{
    const char *order = "";
    for (const struct time_op *op = format->op; op->code != OP_END && format->kind == TIME_PATTERN; op++) {
        if (op->code == OP_MONTH_NAME) return "";
        if (op->code == OP_YEAR || op->code == OP_YEAR_2) break;
        if (op->code == OP_DAY && !*order) order = "day first";
        if (op->code == OP_MONTH && !*order) order = "month first";
    }
    return order;
}

/* ---- Scanning a cell ------------------------------------------------------------------------- */

/* 1 to `most` digits. */
static const char *scan_int(const char *p, const char *end, int most, int *out)
{
    int value = 0;
    const char *start = p;
    for (; p < end && p - start < most && is_digit(*p); p++) value = 10 * value + (*p - '0');
    *out = value;
    return p == start ? NULL : p;
}

/* At least three letters of one of the names, and no other letter. */
static const char *scan_name(const char *p, const char *end, const char *const *names, int count, int *out)
{
    if (end - p < 3) return NULL;
    for (int i = 0; i < count; i++) {
        if ((p[0] | 32) != names[i][0] || (p[1] | 32) != names[i][1] || (p[2] | 32) != names[i][2]) continue;
        size_t n = 3;
        while (p + n < end && names[i][n] && (p[n] | 32) == names[i][n]) n++;
        if (p + n < end && is_letter(p[n])) return NULL;
        *out = i;
        return p + n;
    }
    return NULL;
}

static const char *scan_month(const char *p, const char *end, int *out)
{
    static const char *const names[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    p = scan_name(p, end, names, 12, out);
    ++*out;
    return p && p < end && *p == '.' ? p + 1 : p;
}

static const char *scan_weekday(const char *p, const char *end)
{
    static const char *const names[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
    int day;
    return scan_name(p, end, names, 7, &day);
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) p++;
    return p;
}

/* AM, PM, a.m., p.m. */
static const char *scan_half(const char *p, const char *end, int *half)
{
    p = skip_blanks(p, end);
    if (p >= end || ((*p | 32) != 'a' && (*p | 32) != 'p')) return NULL;
    *half = (*p++ | 32) == 'p';
    bool point = p < end && *p == '.';
    p += point;
    if (p >= end || (*p | 32) != 'm') return NULL;
    p++;
    return p + (point && p < end && *p == '.');
}

/* The fraction that may follow seconds: .25, ,25 or :250. */
static const char *scan_rest_of_second(const char *p, const char *end, struct time_cell *c)
{
    if (end - p < 2 || !is_digit(p[1])) return p;
    bool long_enough = end - p >= 4 && is_digit(p[2]) && is_digit(p[3]);
    if (*p != '.' && *p != ',' && !(*p == ':' && long_enough)) return p;
    return smurf_calendar_scan_fraction(p + 1, end, &c->time);
}

static const char *scan_offset(const char *p, const char *end, struct time_cell *c)
{
    const char *q = smurf_calendar_scan_offset(p, end, &c->time, &c->east);
    if (q && q != p) c->found |= OP_BIT(OP_OFFSET);
    return q;
}

/* Any clock time, with what separates it from a date before it; or nothing. */
static const char *scan_clock(const char *p, const char *end, bool first, struct time_cell *c)
{
    if (p == end) return p;
    const char *start = p;
    if (!first && (*p == 'T' || *p == ':' || *p == '-' || *p == '_' || *p == ',')) c->separator[0] = *p++;
    const char *word = skip_blanks(p, end);
    if (word > p) c->separator[c->separator[0] ? 1 : 0] = ' ';
    if ((p = word) == start && !first) return NULL;
    if (!(p = scan_int(p, end, 2, &c->hour)) || p >= end) return NULL;
    c->found |= OP_BIT(OP_HOUR);
    if (*p == ':' || *p == '.') {
        c->colon = *p++;
        if (!(p = scan_int(p, end, 2, &c->minute))) return NULL;
        c->found |= OP_BIT(OP_MINUTE);
        if (end - p >= 2 && *p == c->colon && is_digit(p[1])) {
            c->found |= OP_BIT(OP_SECOND);
            if (!(p = scan_int(p + 1, end, 2, &c->second))) return NULL;
            p = scan_rest_of_second(p, end, c);
        }
    }
    const char *half = scan_half(p, end, &c->half);
    if (half) c->found |= OP_BIT(OP_HALF), p = half;
    if (!half && !(c->found & OP_BIT(OP_MINUTE))) return NULL;
    return scan_offset(p, end, c);
}

/* One operation at p; returns the end of what it read. */
static const char *scan_op(const struct time_op *op, const char *p, const char *end, bool first, struct time_cell *c)
{
    const char *start = p;
    switch (op->code) {
    case OP_LITERAL: return p < end && (unsigned char)*p == op->argument ? p + 1 : NULL;
    case OP_BLANK: return skip_blanks(p, end);
    case OP_YEAR: p = scan_int(p, end, 4, &c->year); return p && p - start == 4 ? p : NULL;
    case OP_YEAR_2:
        p = scan_int(p, end, 2, &c->year);
        c->year += c->year < 69 ? 2000 : 1900;
        return p && p - start == 2 ? p : NULL;
    case OP_MONTH: return scan_int(p, end, 2, &c->month);
    case OP_MONTH_NAME: return scan_month(p, end, &c->month);
    case OP_DAY: return scan_int(skip_blanks(p, end), end, 2, &c->day);
    case OP_DAY_OF_YEAR: return scan_int(p, end, 3, &c->day_of_year);
    case OP_WEEKDAY: return scan_weekday(p, end);
    case OP_HOUR:
    case OP_HOUR_12: return scan_int(skip_blanks(p, end), end, 2, &c->hour);
    case OP_MINUTE: return scan_int(p, end, 2, &c->minute);
    case OP_SECOND: p = scan_int(p, end, 2, &c->second); return p ? scan_rest_of_second(p, end, c) : NULL;
    case OP_FRACTION: return smurf_calendar_scan_fraction(p, end, &c->time);
    case OP_HALF: return scan_half(p, end, &c->half);
    case OP_OFFSET: return scan_offset(p, end, c);
    case OP_CLOCK: return scan_clock(p, end, first, c);
    case OP_EPOCH: {
        bool minus = p < end && *p == '-';
        p += minus;
        for (start = p; p < end && is_digit(*p) && p - start < 12; p++) c->epoch = 10 * c->epoch + (*p - '0');
        if (minus) c->epoch = -c->epoch;
        return p == start ? NULL : minus ? p : scan_rest_of_second(p, end, c);
    }
    default: return NULL;
    }
}

/* Whether a cell may end before op: parts of the clock may be missing. */
static bool may_end(const struct time_op *op, unsigned found)
{
    unsigned left = 0;
    for (; op->code != OP_END; op++) left |= OP_BIT(op->code);
    if (left & OP_DATES || !found) return false;
    if (!(found & OP_CLOCKS)) return true;
    return !(left & (OP_BIT(OP_HOUR) | OP_BIT(OP_HOUR_12) | OP_BIT(OP_MINUTE) | OP_BIT(OP_HALF)));
}

/* Without blanks and brackets around the cell. */
static const char *strip(const char *p, const char **end)
{
    while (p < *end && (is_blank(*p) || *p == '[')) p++;
    while (p < *end && (is_blank((*end)[-1]) || (*end)[-1] == ']')) --*end;
    return p;
}

static bool scan_cell(struct time_cell *out, const struct time_format *format, const char *text, size_t n)
{
    *out = (struct time_cell){.month = 1, .day = 1};
    const char *end = text + n, *p = strip(text, &end), *start;
    if (p < end && is_letter(*p) && format->op[0].code != OP_WEEKDAY) {
        const char *after = scan_weekday(p, end);
        while (after && after < end && (*after == '.' || *after == ',' || is_blank(*after))) after++;
        if (after) p = after;
    }
    start = p;
    for (const struct time_op *op = format->op; op->code != OP_END; op++) {
        if (p == end && may_end(op, out->found)) break;
        if (!(p = scan_op(op, p, end, p == start, out))) return false;
        if (op->code != OP_OFFSET && op->code != OP_CLOCK) out->found |= OP_BIT(op->code);
    }
    if (p < end && out->found & OP_CLOCKS && !out->time.zoned && !(p = scan_offset(p, end, out))) return false;
    p = skip_blanks(p, end);
    if (p < end && *p == '(' && end[-1] == ')' && out->time.zoned) p = end; /* a comment, as in mail */
    return p == end;
}

/* Copies a cell of n bytes with blanks for no-break spaces: U+00A0, thin (U+2009) and narrow (U+202F), which browsers
   write before AM and PM. Returns its length; 0 if there are none, or the cell is too long. */
static size_t plain_blanks(char *out, size_t room, const char *text, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const char *p = text + i;
        size_t wide = n - i >= 2 && memcmp(p, "\xC2\xA0", 2) == 0                                              ? 2
                      : n - i >= 3 && (memcmp(p, "\xE2\x80\xAF", 3) == 0 || memcmp(p, "\xE2\x80\x89", 3) == 0) ? 3
                                                                                                               : 0;
        if (used == room) return 0;
        out[used++] = wide ? ' ' : *p;
        i += wide ? wide - 1 : 0;
    }
    return used < n ? used : 0;
}

bool smurf_time_cell_scan(struct time_cell *out, const struct time_format *format, const char *text, size_t n)
{
    char plain[80];
    if (scan_cell(out, format, text, n)) return true;
    if (!memchr(text, '\xC2', n) && !memchr(text, '\xE2', n)) return false;
    return (n = plain_blanks(plain, sizeof plain, text, n)) && scan_cell(out, format, plain, n);
}

bool smurf_time_cell_seconds(struct time_cell *c)
{
    if (c->found & OP_BIT(OP_EPOCH)) {
        c->time.seconds = c->epoch;
        return c->time.zoned = true;
    }
    int hour = c->hour;
    if (c->found & OP_BIT(OP_HALF)) {
        if (hour > 12) return false;
        hour = hour % 12 + 12 * c->half;
    }
    if (c->minute > 59 || c->second > 60) return false;
    if (hour > 23 && (hour > 24 || c->minute || c->second || c->time.fraction)) return false;
    bool year = c->found & (OP_BIT(OP_YEAR) | OP_BIT(OP_YEAR_2));
    int64_t leap = year ? c->year : 2000, days;
    if (year && c->year == 0) return false;
    if (c->found & OP_BIT(OP_DAY_OF_YEAR)) {
        if (c->day_of_year < 1 || c->day_of_year > 337 + smurf_calendar_month_days(leap, 2)) return false;
        days = smurf_calendar_days(c->year, 1, 1) + c->day_of_year - 1;
    } else {
        if (c->month < 1 || c->month > 12 || c->day < 1 || c->day > smurf_calendar_month_days(leap, c->month))
            return false;
        days = smurf_calendar_days(c->year, c->month, c->day); /* without a year, February 29 may be March 1 */
    }
    c->time.seconds = days * 86400 + hour * 3600 + c->minute * 60 + c->second - c->east;
    return true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

smurf_status smurf_time_reader_init(struct time_reader *reader, const struct time_format *format, const char *zone,
                                    smurf_error *err)
{
    *reader = (struct time_reader){.format = *format, .year = format->year};
    return zone ? smurf_time_zone_open(&reader->zone, zone, err) : SMURF_OK;
}

void smurf_time_reader_release(struct time_reader *reader)
{
    smurf_time_zone_free(reader->zone);
    reader->zone = NULL;
}

void smurf_time_follow_year(int *year, int *last, int month)
{
    if (*last >= 11 && month <= 2) ++*year;
    if (*last && *last <= 2 && month >= 11) --*year;
    *last = month;
}

static bool scan_pattern(struct time_reader *r, struct calendar_time *out, const char *text, size_t n)
{
    struct time_cell c;
    if (!smurf_time_cell_scan(&c, &r->format, text, n)) return false;
    unsigned parts = r->format.parts;
    int year = r->year, month = r->month;
    if (!(parts & TIME_YEAR)) {
        if (parts & TIME_DATE)
            smurf_time_follow_year(&year, &month, c.found & OP_BIT(OP_DAY_OF_YEAR) ? c.day_of_year / 31 + 1 : c.month);
        c.year = year;
    }
    if (!smurf_time_cell_seconds(&c)) return false;
    r->year = year, r->month = month;
    if (!(parts & (TIME_YEAR | TIME_DATE))) { /* a clock alone */
        int64_t step = r->started ? c.time.seconds - r->clock : 0;
        r->clock = c.time.seconds;
        r->day += step < -43200 ? 1 : step > 43200 ? -1 : 0;
        c.time.seconds += r->day * 86400;
    }
    *out = c.time;
    return true;
}

/* Local time to UTC. Where clocks are set back, times stay in order; times that clocks skip become the change. */
static void to_utc(struct time_reader *r, struct calendar_time *t)
{
    enum { NEAR = 3 * 3600, FAR = 2 * 86400 };
    int64_t utc[2] = {t->seconds - r->offset};
    if (!r->started || utc[0] < r->from || utc[0] >= r->until) {
        if (smurf_time_zone_utc(r->zone, t->seconds, utc) == 2) {
            bool later =
                r->descending ? r->last >= utc[1] || r->last < utc[0] : r->last > utc[0] && r->last < utc[1] + NEAR;
            if (r->started && later) utc[0] = utc[1];
        }
        r->offset = smurf_time_zone_span(r->zone, utc[0], &r->from, &r->until);
        if (utc[0] + r->offset != t->seconds) t->fraction = 0; /* skipped */
        if (r->from > INT64_MIN) r->from += FAR;
        if (r->until < INT64_MAX) r->until -= FAR;
    }
    t->seconds = utc[0];
}

/* The decimal with 18 places at most and no positive exponent. False if it is too large. */
static bool settle(struct decimal *d)
{
    for (; d->exponent > 0; d->exponent--)
        if (__builtin_mul_overflow(d->mantissa, 10u, &d->mantissa)) return false;
    for (; d->exponent < -18; d->exponent++)
        if (!(d->mantissa /= 10)) d->exponent = -19;
    d->cut = false;
    return true;
}

/* Whether a number looks like the time of a year from 1990 to 2100 in units of 10^-shift seconds. */
bool smurf_time_is_epoch(const struct decimal *d, int shift)
{
    static const uint64_t power[] = {1, 1000, 1000000, 1000000000};
    if (d->exponent == 0 && shift % 3 == 0 && shift < 12) { /* the common case, quickly */
        uint64_t unit = power[shift / 3];
        return !d->negative && d->mantissa / unit >= 631152000 && d->mantissa / unit < 4102444800;
    }
    double value = smurf_decimal_value(d) / smurf_pow10[shift];
    return value >= 631152000 && value < 4102444800;
}

static bool read_epoch(struct decimal *d, int shift)
{
    if (!smurf_time_is_epoch(d, shift)) /* a time of another unit among these is an error, not a year 52672 */
        for (int other = 0; other <= 9; other += 3)
            if (smurf_time_is_epoch(d, other)) return false;
    if (d->mantissa == 0) d->exponent = shift;
    if (d->exponent > 100) return false;
    d->exponent -= shift;
    d->calendar = true;
    return settle(d) && ((d->integer = d->exponent == 0), true);
}

static bool read_excel(struct calendar_time *out, struct decimal *d)
{
    enum { LAST = 2958466, EPOCH = 25569 }; /* 10000-01-01, 1970-01-01 */
    if (d->exponent > 10 || !settle(d)) return false;
    __extension__ typedef unsigned __int128 wide;
    uint64_t unit = smurf_pow10_int[-d->exponent];
    if (d->mantissa / unit >= LAST) return false;
    int64_t ms = (int64_t)(((wide)d->mantissa * 86400000u + unit / 2) / unit);
    ms = (d->negative ? -ms : ms) - EPOCH * INT64_C(86400000);
    int64_t seconds = ms / 1000 - (ms % 1000 < 0);
    *out = (struct calendar_time){.seconds = seconds, .fraction = (uint64_t)(ms - seconds * 1000)};
    out->places = out->fraction ? 3 : 0;
    return true;
}

static bool scan_number(struct decimal *out, const char *text, size_t n)
{
    uint64_t mantissa;
    int places;
    if (smurf_decimal_simple(text, &mantissa, &places) == text + n) {
        *out = (struct decimal){
            .mantissa = mantissa, .exponent = -places, .integer = places == 0, .text = text, .length = n};
        return true;
    }
    return smurf_decimal_scan(out, text) == text + n;
}

/* Spreadsheets write 42024,354 where decimals have a comma. The decimal's text is not kept. */
static bool scan_day_number(struct decimal *out, const char *text, size_t n)
{
    char plain[41];
    const char *comma = memchr(text, ',', n);
    if (!comma) return scan_number(out, text, n);
    if (n >= sizeof plain) return false;
    memcpy(plain, text, n);
    plain[n] = '\0';
    plain[comma - text] = '.';
    return scan_number(out, plain, n);
}

static bool finish(struct time_reader *r, struct decimal *out, struct calendar_time *t, const char *text, size_t n)
{
    if (r->zone) {
        if (!t->zoned) to_utc(r, t);
        if (t->seconds != r->last) r->descending = r->started && t->seconds < r->last;
        r->last = t->seconds;
    }
    r->started = true;
    smurf_calendar_decimal(out, t, text, n);
    return true;
}

bool smurf_time_read(struct time_reader *reader, struct decimal *out, const char *text, size_t n)
{
    struct calendar_time time;
    int kind = reader->format.kind;
    if (kind == TIME_PATTERN && scan_pattern(reader, &time, text, n)) return finish(reader, out, &time, text, n);
    const char *end = text + n;
    text = strip(text, &end);
    n = (size_t)(end - text);
    if (n == 0) return false;
    switch (kind) {
    case TIME_PATTERN:
    case TIME_ISO: return smurf_calendar_scan(&time, text, n) && finish(reader, out, &time, text, n);
    case TIME_EXCEL:
        return scan_day_number(out, text, n) && read_excel(&time, out) && finish(reader, out, &time, text, n);
    case TIME_PLAIN: return scan_number(out, text, n);
    default: return scan_number(out, text, n) && read_epoch(out, 3 * (kind - TIME_EPOCH_S));
    }
}
