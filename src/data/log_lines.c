/* log_lines.c - see log_lines.h. */
#include "data/log_lines.h"

#include "data/calendar.h"
#include "data/sniff.h"

#include <string.h>

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && *p == ' ') p++;
    return p;
}

/* A word up to a blank; *p moves behind it and its blanks. */
static struct field word(const char **p, const char *end)
{
    const char *from = *p, *blank = memchr(from, ' ', (size_t)(end - from));
    const char *to = blank ? blank : end;
    *p = skip_blanks(to, end);
    return (struct field){from, (size_t)(to - from)};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* hh:mm:ss, perhaps with a fraction. */
static bool is_clock(const char *p, size_t n)
{
    return n >= 8 && is_digit(p[0]) && is_digit(p[1]) && p[2] == ':' && is_digit(p[3]) && is_digit(p[4]) &&
           p[5] == ':' && is_digit(p[6]) && is_digit(p[7]);
}

/* ---- Syslog ------------------------------------------------------------------------------------ */

/* The message with every word that has a digit, or one of the marks before its end, replaced by '#': what is left is
   the kind of message. */
static struct field template_of(const char *p, const char *end, const char *marks, char *room)
{
    size_t n = 0;
    while (p < end && n + 1 < LOG_TEMPLATE) {
        struct field w = word(&p, end);
        bool number = false;
        for (size_t i = 0; i < w.n; i++)
            number = number || is_digit(w.text[i]) || (i + 1 < w.n && strchr(marks, w.text[i]));
        if (number) w = (struct field){"#", 1};
        if (n && n + 1 < LOG_TEMPLATE) room[n++] = ' ';
        size_t copied = w.n < LOG_TEMPLATE - 1 - n ? w.n : LOG_TEMPLATE - 1 - n;
        memcpy(room + n, w.text, copied);
        n += copied;
    }
    while (n && ((unsigned char)room[n - 1] & 0x80)) n--; /* no part of a character at the cut */
    room[n] = '\0';
    return (struct field){room, n};
}

static bool is_iso(struct field w)
{
    return w.n >= 19 && w.text[10] == 'T' && smurf_calendar_scan(&(struct calendar_time){0}, w.text, w.n);
}

/* What follows "<34>1 ": time host program pid message-id, then - or [id name="value" ...]..., then the message. */
static bool split_rfc5424(const char *p, const char *end, struct field *out, char *room)
{
    struct field time = word(&p, end), host = word(&p, end), program = word(&p, end), pid = word(&p, end);
    word(&p, end);
    if (!is_iso(time) || p == end) return false;
    if (*p == '[')
        for (bool inside = true, quoted = false; p < end && (inside || *p == '['); p++) {
            quoted = quoted != (*p == '"' && p[-1] != '\\');
            inside = quoted || *p != ']';
        }
    else
        word(&p, end);
    struct field message = template_of(skip_blanks(p, end), end, "", room);
    const struct field all[] = {time, host, program, pid, message};
    memcpy(out, all, sizeof all);
    return true;
}

/* <13>Dec 10 06:55:46 host program[24200]: message, or with an ISO time. */
static bool split_syslog(const char *p, const char *end, struct field *out, char *room)
{
    if (p < end && *p == '<') {
        const char *close = memchr(p, '>', (size_t)(end - p));
        if (!close || close - p > 5) return false;
        p = close + 1;
        if (end - p > 2 && memcmp(p, "1 ", 2) == 0) return split_rfc5424(p + 2, end, out, room);
    }
    const char *from = p;
    struct field w = word(&p, end);
    if (w.n == 3 && smurf_sniff_is_month(w.text, w.n)) {
        struct field day = word(&p, end), clock = word(&p, end);
        if (day.n < 1 || day.n > 2 || !is_digit(day.text[0]) || !is_clock(clock.text, clock.n)) return false;
        w = (struct field){from, (size_t)(clock.text + clock.n - from)};
    } else if (!is_iso(w)) {
        return false;
    }
    struct field host = word(&p, end), program = {p, 0}, pid = {p, 0};
    const char *stop = p;
    while (stop < end && *stop != ' ' && *stop != ':' && *stop != '[') stop++;
    if (stop < end && *stop != ' ') {
        program.n = (size_t)(stop - p);
        const char *close = *stop == '[' ? memchr(stop, ']', (size_t)(end - stop)) : NULL;
        if (close) pid = (struct field){stop + 1, (size_t)(close - stop - 1)}, stop = close + 1;
        p = skip_blanks(stop < end && *stop == ':' ? stop + 1 : stop, end);
    }
    struct field message = template_of(p, end, "", room);
    const struct field all[] = {w, host, program, pid, message};
    memcpy(out, all, sizeof all);
    return host.n > 0;
}

/* ---- Web servers ------------------------------------------------------------------------------- */

/* host ident user [10/Oct/2000:13:55:36 -0700] "GET /path HTTP/1.0" 200 2326, perhaps more; perhaps the virtual host
   first. */
static bool split_common(const char *p, const char *end, struct field *out, char *room)
{
    (void)room;
    struct field host = word(&p, end), ident = word(&p, end), user = word(&p, end);
    if (p < end && *p != '[') host = ident, ident = user, user = word(&p, end);
    if (!ident.n || !user.n || p == end || *p != '[') return false;
    const char *close = memchr(p, ']', (size_t)(end - p));
    if (!close) return false;
    struct field time = {p + 1, (size_t)(close - p - 1)};
    p = skip_blanks(close + 1, end);
    if (p == end || *p != '"') return false;
    const char *quote = ++p;
    while (quote < end && (*quote != '"' || quote[-1] == '\\')) quote++;
    if (quote == end) return false;
    struct field method = word(&p, quote), path = word(&p, quote);
    p = skip_blanks(quote + 1, end);
    struct field status = word(&p, end), bytes = word(&p, end);
    if (status.n != 3 || !is_digit(status.text[0])) return false;
    const struct field all[] = {time, host, user, status, method, path, bytes};
    memcpy(out, all, sizeof all);
    return host.n > 0;
}

/* ---- Programs ---------------------------------------------------------------------------------- */

/* 2026-11-19, 2026/11/19 or 2026.11.19. */
static bool is_date(const char *p, size_t n)
{
    for (size_t i = 0; i < 10 && i < n; i++)
        if (i != 4 && i != 7 && !is_digit(p[i])) return false;
    return n >= 10 && strchr("-/.", p[4]) && p[7] == p[4];
}

/* A word in capitals, perhaps in brackets or before a colon, that says how serious a message is. */
static bool is_level(struct field w)
{
    static const char level[][9] = {"TRACE",   "DEBUG", "INFO",     "NOTICE", "WARN",
                                    "WARNING", "ERROR", "CRITICAL", "FATAL",  "SEVERE"};
    for (size_t i = 0; i < sizeof level / sizeof *level; i++)
        if (strlen(level[i]) == w.n && memcmp(level[i], w.text, w.n) == 0) return true;
    return false;
}

static struct field bare(struct field w)
{
    while (w.n && strchr("[(<|", *w.text)) w.text++, w.n--;
    while (w.n && strchr("])>|:", w.text[w.n - 1])) w.n--;
    return w;
}

/* 2026-11-19 18:00:00,123 anything: what most programs write. A zone may follow the time; a level is looked for among
   the next words. With a T between date and time and no level, it is syslog, which has no comma in its times. */
static bool split_dated(const char *p, const char *end, struct field *out, char *room)
{
    const bool bracket = p < end && *p == '[';
    const char *from = p += bracket, *clock = p + 11, *to = clock + 8;
    if (end - p < 21 || !is_date(p, 10) || (p[10] != ' ' && p[10] != 'T') || !is_clock(clock, (size_t)(end - clock)))
        return false;
    if ((*to == '.' || *to == ',') && is_digit(to[1]))
        for (to++; to < end && is_digit(*to);) to++;
    int east;
    const char *zone = to < end && *to == ' ' ? to + 1 : to;
    const char *behind = smurf_calendar_scan_offset(zone, end, &(struct calendar_time){0}, &east);
    if (behind && behind > zone && (behind == end || *behind == ' ' || *behind == ']')) to = behind;
    if (bracket && (to == end || *to++ != ']')) return false;
    if (to >= end || *to != ' ') return false;
    struct field time = {from, (size_t)(to - bracket - from)}, level = {to, 0};
    p = skip_blanks(to, end);
    const char *next = p;
    for (int i = 0; i < 4 && next < end && !level.n; i++) {
        struct field w = bare(word(&next, end));
        if (is_level(w)) level = w;
    }
    if (clock[-1] == 'T' && clock[8] != ',' && !level.n) return false;
    const struct field all[] = {time, level, template_of(p, end, ":/=@", room)};
    memcpy(out, all, sizeof all);
    return true;
}

/* Seconds since the start, as the kernel writes them, or a date as in Thu Oct 11 14:32:52 2000. */
static bool is_bracketed_time(struct field w)
{
    size_t n = 0, points = 0;
    while (n < w.n && (is_digit(w.text[n]) || w.text[n] == '.')) points += w.text[n++] == '.';
    if (n && n == w.n && points == 1) return true;
    return w.n >= 24 && w.text[3] == ' ' && smurf_sniff_is_month(w.text + 4, 3) && is_clock(w.text + 11, w.n - 11);
}

/* [   12.345678] message, or [Thu Oct 11 14:32:52 2000] message: the kernel and Apache. */
static bool split_bracketed(const char *p, const char *end, struct field *out, char *room)
{
    const char *close = p < end && *p == '[' ? memchr(p, ']', (size_t)(end - p)) : NULL;
    if (!close || end - close < 3 || close[1] != ' ') return false;
    p = skip_blanks(p + 1, close);
    struct field time = {p, (size_t)(close - p)};
    if (!is_bracketed_time(time)) return false;
    const struct field all[] = {time, template_of(skip_blanks(close + 1, end), end, "/=@", room)};
    memcpy(out, all, sizeof all);
    return true;
}

/* ---- Which ------------------------------------------------------------------------------------- */

static const struct log_syntax syntaxes[] = {
    {"dated log", {"time", "level", "message"}, split_dated, .ragged = true},
    {"bracketed log", {"time", "message"}, split_bracketed, .ragged = false},
    {"syslog", {"time", "host", "program", "pid", "message"}, split_syslog, .ragged = false},
    {"common log", {"time", "host", "remote user", "status", "method", "path", "bytes"}, split_common, .ragged = false},
};

static size_t count_words(const char *p, const char *end)
{
    size_t n = 0;
    while (p < end) word(&p, end), n++;
    return n;
}

/* Do nine in ten of the first lines have this syntax? */
static bool is_syntax(const struct log_syntax *syntax, const char *p, const char *end, bool whole)
{
    enum { LINES = 50 };
    size_t lines = 0, right = 0, words = 0;
    bool ragged = !syntax->ragged;
    while (p < end && lines < LINES) {
        struct field field[LOG_FIELDS];
        char room[LOG_TEMPLATE];
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;
        if (!newline && !whole && lines) break;
        while (stop > p && (stop[-1] == '\r' || stop[-1] == ' ')) stop--;
        if (*p == ' ' || *p == '\t') stop = p; /* the line before goes on */
        bool good = stop > p && syntax->split(p, stop, field, room);
        if (stop > p && !good && !lines) return false;
        lines += stop > p;
        right += good;
        if (good && !ragged) {
            size_t n = count_words(p, stop);
            ragged = words && n != words;
            words = n;
        }
        p = newline ? newline + 1 : end;
    }
    return ragged && lines && 10 * right >= 9 * lines;
}

const struct log_syntax *smurf_log_syntax(const char *p, const char *end, bool whole)
{
    for (size_t i = 0; i < sizeof syntaxes / sizeof *syntaxes; i++)
        if (is_syntax(&syntaxes[i], p, end, whole)) return &syntaxes[i];
    return NULL;
}
