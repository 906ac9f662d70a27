/*
 * time_guess.c - finds the format of a column; see time_format.h.
 *
 * Every cell is scanned by every candidate of a table. The candidate that reads most cells wins; among those that read
 * the same cells differently, the one with fewer steps back in time, then the one with smaller gaps.
 */
#include "base/error.h"
#include "data/time_format.h"
#include "data/time_op.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CELL_LIMIT = 80, TRIAL = 256, FIRST_YEAR = 1800, LAST_YEAR = 2200 };

/* In order of preference. %~ stands for any clock time. */
static const struct candidate {
    const char *pattern;
    const char *words; /* how it differs from candidates that may read the same cells */
} candidates[] = {
    {"iso", NULL},
    {"epoch-s", NULL},
    {"epoch-ms", NULL},
    {"epoch-us", NULL},
    {"epoch-ns", NULL},
    {"number", NULL},
    {"%m/%d/%Y%~", "month first"},
    {"%d/%m/%Y%~", "day first"},
    {"%m/%d/%y%~", "month first"},
    {"%d/%m/%y%~", "day first"},
    {"%y/%m/%d%~", "year first"},
    {"%d.%m.%Y%~", "day first"},
    {"%m.%d.%Y%~", "month first"},
    {"%d.%m.%y%~", "day first"},
    {"%d-%m-%Y%~", "day first"},
    {"%m-%d-%Y%~", "month first"},
    {"%d-%m-%y%~", "day first"},
    {"%m-%d-%y%~", "month first"},
    {"%y-%m-%d%~", "year first"},
    {"%Y-%m-%d%~", NULL},
    {"%Y/%m/%d%~", NULL},
    {"%Y.%m.%d%~", NULL},
    {"%Y%m%d%~", NULL},
    {"%d-%b-%Y%~", NULL},
    {"%d-%b-%y%~", NULL},
    {"%d/%b/%Y%~", NULL},
    {"%d/%b/%y%~", NULL},
    {"%d %b %Y%~", NULL},
    {"%d %b %y%~", NULL},
    {"%b %d, %Y%~", NULL},
    {"%b %d %Y%~", NULL},
    {"%Y-%b-%d%~", NULL},
    {"%b %d%~ %Y", NULL},
    {"%b %d%~", NULL},
    {"%d %b%~", NULL},
    {"%m/%d%~", "month first"},
    {"%d/%m%~", "day first"},
    {"%m-%d%~", "month first"},
    {"%~ %d/%m/%Y", "day first"},
    {"%~ %m/%d/%Y", "month first"},
    {"%~", NULL},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };
_Static_assert((int)CANDIDATES <= (int)TIME_CANDIDATES && TIME_CANDIDATES <= 64, "struct time_guess has no room");

static struct time_format compiled[CANDIDATES];
static uint64_t with_number, with_digit, with_letter; /* candidates by the start of a cell */
static pthread_once_t compiled_once = PTHREAD_ONCE_INIT;

static void compile_candidates(void)
{
    for (size_t i = 0; i < CANDIDATES; i++) {
        smurf_time_format_parse(&compiled[i], candidates[i].pattern, NULL);
        uint64_t bit = (uint64_t)1 << i;
        if (compiled[i].kind != TIME_PATTERN) with_number |= bit;
        if (compiled[i].kind == TIME_PATTERN && compiled[i].op[0].code == OP_MONTH_NAME)
            with_letter |= bit;
        else if (compiled[i].kind == TIME_PATTERN || compiled[i].kind == TIME_ISO)
            with_digit |= bit;
    }
}

void smurf_time_guess_init(struct time_guess *guess)
{
    pthread_once(&compiled_once, compile_candidates);
    memset(guess, 0, sizeof *guess);
    guess->live = ~(uint64_t)0;
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Whether candidate i reads the cell; the time is tally->last, and *step its distance from the cell before. */
static bool try(struct time_tally *tally, size_t i, const char *text, size_t n, double *step)
{
    const struct time_format *f = &compiled[i];
    struct time_cell c;
    int64_t seconds;
    if (f->kind == TIME_ISO) {
        if (!smurf_calendar_scan(&c.time, text, n)) return false;
        c.found = n > 10 ? OP_BIT(OP_HOUR) : 0;
        c.colon = 0;
        seconds = c.time.seconds;
    } else {
        if (!smurf_time_cell_scan(&c, f, text, n)) return false;
        if (!(c.found & OP_CLOCKS) && !(f->parts & TIME_YEAR)) return false; /* 10/12 is no time */
        if ((c.found & OP_BIT(OP_YEAR_2)) && c.separator[0] == ':')
            return false; /* the 10 of 20 Nov 10:21 is no year */
        if (f->parts & TIME_YEAR) {
            if (c.year < FIRST_YEAR || c.year > LAST_YEAR) return false;
        } else if (f->parts & TIME_DATE) {
            smurf_time_follow_year(&tally->year, &tally->month, c.month);
            c.year = 1970 + tally->year;
            if (c.month == 2 && c.day == 29 && !tally->leap_year) tally->leap_year = c.year;
        } else if (c.colon != ':') {
            return false; /* 1.2.3 is no time */
        } else {
            c.year = 1970;
        }
        if (!smurf_time_cell_seconds(&c)) return false;
        seconds = c.time.seconds;
    }
    *step = tally->read ? (double)(seconds - tally->last) : 0;
    tally->last = seconds;
    tally->found |= c.found;
    if (c.colon && !tally->colon) {
        tally->colon = c.colon;
        memcpy(tally->separator, c.separator, sizeof c.separator);
    }
    return true;
}

/* A cell that is a number: only its size matters. Returns whether it is read. */
static bool see_number(struct time_guess *g, const struct decimal *d, const char *text, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < CANDIDATES; i++) {
        if (!(with_number >> i & 1)) continue;
        int kind = compiled[i].kind;
        struct calendar_time time;
        bool read = kind == TIME_PLAIN;
        if (kind >= TIME_EPOCH_S && kind <= TIME_EPOCH_NS) read = smurf_time_is_epoch(d, 3 * (kind - TIME_EPOCH_S));
        if (kind == TIME_ISO) /* digits alone: 20240131, 20240131120000 */
            read = n >= 8 && (text[0] == '1' || text[0] == '2') && smurf_calendar_scan(&time, text, n) &&
                   time.seconds >= INT64_C(-2208988800) && time.seconds < INT64_C(4102444800);
        g->tally[i].read += read;
        if (read && kind == TIME_ISO && n > 8) g->tally[i].found |= OP_BIT(OP_HOUR);
        any |= read;
    }
    return any;
}

static bool see_text(struct time_guess *g, uint64_t try_these, const char *text, size_t n)
{
    bool any = false, iso = false, other = false, differ = false;
    int64_t seconds = 0;
    for (size_t i = 0; i < CANDIDATES; i++) {
        if (!(try_these >> i & 1)) continue;
        struct time_tally *t = &g->tally[i];
        double step;
        if (try(t, i, text, n, &step)) {
            any = true;
            t->read++;
            t->back += step < 0;
            t->way += fabs(step);
            if (compiled[i].kind == TIME_ISO) iso = true;
            if (candidates[i].words) {
                differ |= other && t->last != seconds;
                other = true;
                seconds = t->last;
            }
        } else {
            t->iso += iso;
        }
    }
    if (differ && !g->sample[0]) snprintf(g->sample, sizeof g->sample, "%.*s", (int)n, text);
    return any;
}

bool smurf_time_guess_see(struct time_guess *guess, const char *text, size_t n)
{
    while (n && (*text == ' ' || *text == '[')) text++, n--;
    while (n && (text[n - 1] == ' ' || text[n - 1] == ']')) n--;
    if (n == 0) return false;
    if (guess->cells++ == TRIAL)
        for (size_t i = 0; i < CANDIDATES; i++)
            if (!guess->tally[i].read) guess->live &= ~((uint64_t)1 << i);
    if (n > CELL_LIMIT) return false;
    char c = *text;
    if (is_digit(c) || c == '-' || c == '+' || c == '.') {
        struct decimal d;
        if (smurf_decimal_scan(&d, text) == text + n) return see_number(guess, &d, text, n);
        return is_digit(c) && see_text(guess, guess->live & with_digit, text, n);
    } else if ((unsigned char)((c | 32) - 'a') < 26 && (is_digit(text[n - 1]) || (text[n - 1] | 32) == 'm' || n > 8)) {
        for (size_t i = 3; i < n; i++)
            if (is_digit(text[i])) return see_text(guess, guess->live & (with_letter | with_digit), text, n);
    }
    return false;
}

/* ---- The choice ------------------------------------------------------------------------------ */

/* Cells read, less a little for plain numbers: those in an epoch column are better read as dates. */
static double weight(const struct time_guess *g, size_t i)
{
    const struct time_tally *t = &g->tally[i];
    return compiled[i].kind == TIME_PLAIN ? 0.95 * t->read : (double)t->read + t->iso;
}

static bool is_better(const struct time_guess *g, size_t i, size_t best)
{
    double more = weight(g, i) - weight(g, best);
    if (more != 0) return more > 0;
    if (!candidates[i].words || !candidates[best].words) return false;
    const struct time_tally *a = &g->tally[i], *b = &g->tally[best];
    return a->back != b->back ? a->back < b->back : a->way < b->way;
}

/* The pattern of a candidate with the clock as it was seen. */
static void write_pattern(char out[TIME_TEXT], size_t i, const struct time_tally *t)
{
    const char *pattern = candidates[i].pattern, *clock = strstr(pattern, "%~");
    char seen[32] = "";
    if (t->found & OP_CLOCKS) {
        bool half = t->found & OP_BIT(OP_HALF), minute = t->found & OP_BIT(OP_MINUTE);
        char colon[2] = {t->colon ? t->colon : ':', '\0'};
        snprintf(seen, sizeof seen, "%s%s%s%s%s%s%s%s", t->separator, half ? "%I" : "%H", minute ? colon : "",
                 minute ? "%M" : "", t->found & OP_BIT(OP_SECOND) ? colon : "",
                 t->found & OP_BIT(OP_SECOND) ? "%S" : "", half ? " %p" : "",
                 t->found & OP_BIT(OP_OFFSET) ? " %z" : "");
    }
    int year = 0;
    if (t->leap_year && t->leap_year % 4) year = 1970 + ((1972 - t->leap_year) % 4 + 4) % 4;
    int n = snprintf(out, TIME_TEXT, "%.*s%s%s", (int)(clock - pattern), pattern, seen, clock + 2);
    if (year && n > 0 && n < TIME_TEXT) snprintf(out + n, (size_t)(TIME_TEXT - n), " @%d", year);
}

/* Another candidate that reads the same cells as other times, or CANDIDATES. */
static size_t find_rival(const struct time_guess *g, size_t best)
{
    if (!candidates[best].words) return CANDIDATES;
    for (size_t i = 0; i < CANDIDATES; i++) {
        const struct time_tally *a = &g->tally[i], *b = &g->tally[best];
        if (i == best || !candidates[i].words || a->read != b->read || weight(g, i) != weight(g, best)) continue;
        if (a->last != b->last || a->way != b->way) return i;
    }
    return CANDIDATES;
}

static void write_note(const struct time_guess *g, size_t best, const struct time_format *f, char note[TIME_NOTE])
{
    size_t rival = find_rival(g, best);
    if (rival < CANDIDATES) {
        const struct time_tally *a = &g->tally[best], *b = &g->tally[rival];
        const char *why = a->back != b->back ? "taken, rows are then more in order"
                          : a->way != b->way ? "taken, gaps are then smaller"
                                             : "assumed";
        snprintf(note, TIME_NOTE, "'%s' could be %s or %s: %s is %s", g->sample, candidates[best].words,
                 candidates[rival].words, candidates[best].words, why);
    } else if (f->kind == TIME_PATTERN && !(f->parts & TIME_YEAR)) {
        if (f->parts & TIME_DATE)
            snprintf(note, TIME_NOTE, "times have no year: the first is taken to be in %d", f->year);
        else
            snprintf(note, TIME_NOTE, "times have no date: the first day is taken to be 1970-01-01");
    }
}

double smurf_time_guess_best(const struct time_guess *guess, struct time_format *out, char note[TIME_NOTE])
{
    note[0] = '\0';
    *out = (struct time_format){0};
    size_t best = 0;
    for (size_t i = 1; i < CANDIDATES; i++)
        if (is_better(guess, i, best)) best = i;
    const struct time_tally *t = &guess->tally[best];
    if (t->read == 0) return 0;
    char text[TIME_TEXT];
    if (compiled[best].kind == TIME_PATTERN)
        write_pattern(text, best, t);
    else
        snprintf(text, sizeof text, "%s", candidates[best].pattern);
    if (smurf_time_format_parse(out, text, NULL)) return 0;
    if (out->kind == TIME_ISO && !t->found) out->parts &= ~(unsigned)TIME_CLOCK;
    write_note(guess, best, out, note);
    return (double)(t->read + t->iso) / (double)guess->cells;
}

bool smurf_time_guess_mixed(const struct time_guess *guess)
{
    uint64_t all = 0, most = 0;
    for (size_t i = 0; i < CANDIDATES; i++) {
        if (compiled[i].kind < TIME_EPOCH_S || compiled[i].kind > TIME_EPOCH_NS) continue;
        all += guess->tally[i].read;
        if (guess->tally[i].read > most) most = guess->tally[i].read;
    }
    return 20 * all >= 19 * guess->cells && 20 * most < 19 * all;
}
