/* show_summary.c - see show_summary.h. One function per paragraph. */
#include "show_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TEXT = SMURF_DURATION_TEXT,
    TOP_TYPES = 12,
    NAME_COLUMNS = 24,
    BAR_COLUMNS = 20,
    CELL = 8,
    INDENT = 2,
    ROWS = 6
};

/* Shared by all paragraphs. */
struct page {
    FILE *out;
    const smurf_data *data;
    const smurf_summary *s;
    int width, utf8;
    int in_words; /* the unit is known: durations are shown as such */
};

/* ---- Numbers --------------------------------------------------------------------------------- */

/* 1234567 as "1,234,567". */
static const char *count_text(char out[TEXT], size_t n)
{
    char digits[TEXT];
    int length = snprintf(digits, sizeof digits, "%zu", n), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

static void strip_zeros(char *text)
{
    if (!strchr(text, '.')) return;
    size_t n = strlen(text);
    while (text[n - 1] == '0') n--;
    if (text[n - 1] == '.') n--;
    text[n] = '\0';
}

/* x to three digits or to its last whole digit, in at most CELL - 1 columns: "0.0123", "52100", "1.67e-5". */
static const char *number_text(char out[TEXT], double x)
{
    if (isnan(x)) return strcpy(out, "-");
    double size = fabs(x);
    if (x == 0 || (size >= 0.000995 && size < 999999.5)) {
        int lead = x == 0 ? 0 : (int)floor(log10(size) + 1e-9);
        snprintf(out, TEXT, "%.*f", lead >= 2 ? 0 : 2 - lead, x);
        strip_zeros(out);
        return out;
    }
    snprintf(out, TEXT, "%.2e", x);
    int exponent = atoi(strchr(out, 'e') + 1);
    *strchr(out, 'e') = '\0';
    strip_zeros(out);
    snprintf(out + strlen(out), TEXT - strlen(out), "e%d", exponent);
    return out;
}

/* A gap: "3.4 min" if the unit is known, else a number. */
static const char *gap_text(char out[TEXT], const struct page *p, double x)
{
    return p->in_words ? smurf_duration_text(out, x, smurf_data_unit(p->data)) : number_text(out, x);
}

/* A percentage, with more digits if small. */
static const char *percent_text(char out[TEXT], size_t part, size_t whole)
{
    double percent = whole > 0 ? 100 * (double)part / (double)whole : 0;
    snprintf(out, TEXT, "%.*f%%", part > 0 && percent < 0.1 ? 3 : 1, percent);
    return out;
}

const char *moment_text(char out[MOMENT_TEXT], smurf_moment moment, int calendar)
{
    char fraction[16];
    snprintf(fraction, sizeof fraction, "%.9f", moment.fraction);
    if (fraction[0] == '1') snprintf(fraction, sizeof fraction, "0.999999999");
    strip_zeros(fraction);
    time_t seconds = (time_t)moment.whole;
    struct tm date;
    if (calendar && gmtime_r(&seconds, &date)) {
        size_t n = strftime(out, MOMENT_TEXT, "%Y-%m-%dT%H:%M:%S", &date);
        snprintf(out + n, MOMENT_TEXT - n, "%sZ", fraction + 1);
    } else if (moment.whole >= 0 || moment.fraction <= 0) {
        snprintf(out, MOMENT_TEXT, "%" PRId64 "%s", moment.whole, fraction + 1);
    } else {
        snprintf(fraction, sizeof fraction, "%.9f", 1 - moment.fraction);
        strip_zeros(fraction);
        snprintf(out, MOMENT_TEXT, "-%" PRIu64 "%s", ~(uint64_t)moment.whole, fraction + 1);
    }
    return out;
}

/* ---- Text ------------------------------------------------------------------------------------ */

int name_columns(const char *name)
{
    int length = 0;
    for (const char *c = name; *c; c++) length += ((unsigned char)*c & 0xc0) != 0x80;
    return length;
}

void put_name(FILE *out, const char *name, int columns)
{
    int length = name_columns(name), used = 0;
    int keep = length > columns ? columns - 1 : length;
    for (const char *c = name; *c; c++) {
        if (((unsigned char)*c & 0xc0) != 0x80 && used++ == keep) break;
        putc((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c, out);
    }
    if (keep < length) putc('~', out);
    for (int i = keep < length ? columns : length; i < columns; i++) putc(' ', out);
}

/* A bar of `eighths` eighths of a column, after two spaces. */
static void put_bar(const struct page *p, int eighths)
{
    static const char *const part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (eighths >= (p->utf8 ? 1 : 8)) fputs("  ", p->out);
    for (int i = 0; i < eighths / 8; i++) fputs(p->utf8 ? "█" : "#", p->out);
    if (p->utf8) fputs(part[eighths % 8], p->out);
}

/* Wraps text at the width of the page; continuation lines are indented. */
static void put_words(const struct page *p, const char *text, int column, int indent)
{
    while (*text) {
        size_t n = strcspn(text, " ");
        int columns = 0;
        for (size_t i = 0; i < n; i++) columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (column > indent && column + 1 + columns > p->width) {
            fprintf(p->out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putc(' ', p->out);
            column++;
        }
        fwrite(text, 1, n, p->out);
        column += columns;
        text += n + (text[n] == ' ');
    }
    putc('\n', p->out);
}

/* ---- Paragraphs ------------------------------------------------------------------------------ */

static void put_counts(const struct page *p)
{
    const smurf_summary *s = p->s;
    char a[TEXT], b[TEXT], c[TEXT], d[TEXT];
    double least = s->length[0], most = s->length[SMURF_QUANTILES - 1];
    fprintf(p->out, "  sequences  %s", count_text(a, s->sequences));
    if (least < most) {
        fprintf(p->out, " of %s to %s events (median %s, mean %s)", count_text(a, (size_t)least),
                count_text(b, (size_t)most), number_text(c, s->length[SMURF_QUANTILES / 2]),
                number_text(d, s->length_mean));
    } else if (s->sequences > 1) {
        fprintf(p->out, " of %s event%s each", count_text(a, (size_t)most), most == 1 ? "" : "s");
    }
    if (s->empty_sequences > 0) fprintf(p->out, ", %s empty", count_text(a, s->empty_sequences));
    fprintf(p->out, "\n  events     %s\n  gaps       %s", count_text(a, s->events), count_text(b, s->scored));
    if (s->history > 0)
        fprintf(p->out, "\n  history    %s event%s before the scored ones, not included here",
                count_text(a, s->history), s->history == 1 ? "" : "s");
    putc('\n', p->out);
}

static void put_time(const struct page *p)
{
    const smurf_summary *s = p->s;
    const char *unit = smurf_data_unit(p->data);
    int calendar = smurf_data_is_calendar(p->data);
    char from[MOMENT_TEXT], to[MOMENT_TEXT], a[TEXT], b[TEXT];
    if (s->events == 0) return;
    fprintf(p->out, "  time       %s to %s", moment_text(from, s->earliest, calendar),
            moment_text(to, s->latest, calendar));
    fprintf(p->out, "%s%s\n  observed   ", *unit && !calendar ? " " : "", calendar ? "" : unit);
    smurf_moment until;
    if (smurf_data_observed(p->data, &until)) {
        int last = until.whole == s->latest.whole && until.fraction == s->latest.fraction;
        fprintf(p->out, "until %s%s\n", moment_text(from, until, calendar), last ? ", the last event" : "");
    } else if (s->windows_known == 0) {
        fputs("end of observation unknown\n", p->out);
    } else if (s->windows_known == s->sequences) {
        fputs("end of observation known\n", p->out);
    } else {
        fprintf(p->out, "end of observation known for %s of %s sequences\n", count_text(a, s->windows_known),
                count_text(b, s->sequences));
    }
}

static void put_clock(const struct page *p)
{
    const smurf_summary *s = p->s;
    const char *unit = smurf_data_unit(p->data);
    char a[TEXT], b[TEXT];
    if (s->scored == 0) return;
    fputs("  clock      ", p->out);
    if (s->tick > 0 && p->in_words) {
        fprintf(p->out, "ticks of %s", gap_text(a, p, s->tick));
    } else if (s->tick > 0) {
        int letters = (int)strlen(unit);
        if (s->tick == 1 && letters > 3 && unit[letters - 1] == 's') letters--; /* 1 day, but 1 s and 1 ms */
        fprintf(p->out, "ticks of %s%s%.*s", number_text(a, s->tick), *unit ? " " : "", letters, unit);
        double per = 1 / s->tick;
        if (per > 1.5 && per < 1e6 && fabs(per - rint(per)) < 1e-9 * per) fprintf(p->out, " (1/%.0f)", per);
    } else {
        fputs("no ticks found", p->out);
    }
    if (s->ties == 0) {
        fputs(", no ties\n", p->out);
    } else {
        fprintf(p->out, ", %s tie%s (%s of the gaps)\n", count_text(a, s->ties), s->ties == 1 ? "" : "s",
                percent_text(b, s->ties, s->scored));
    }
}

/* Narrow pages omit the 1% and 99% quantiles. */
static int is_omitted(const struct page *p, int q)
{
    return p->width < INDENT + SMURF_QUANTILES * CELL && (q == 1 || q == SMURF_QUANTILES - 2);
}

static void put_quantiles(const struct page *p)
{
    const smurf_summary *s = p->s;
    const char *unit = p->in_words ? "" : smurf_data_unit(p->data);
    char a[TEXT];
    if (s->scored == 0) return;
    fprintf(p->out, "\n  gaps%s%s: mean %s", *unit ? " in " : "", unit, gap_text(a, p, s->gap_mean));
    if (!isnan(s->gap_sd)) fprintf(p->out, ", standard deviation %s", gap_text(a, p, s->gap_sd));
    fputs("\n  ", p->out);
    for (int q = 0; q < SMURF_QUANTILES; q++) {
        snprintf(a, sizeof a, "%.0f%%", 100 * smurf_quantile_levels[q]);
        const char *name = q == 0 ? "min" : q == SMURF_QUANTILES - 1 ? "max" : q == SMURF_QUANTILES / 2 ? "median" : a;
        if (!is_omitted(p, q)) fprintf(p->out, "%*s", CELL, name);
    }
    fputs("\n  ", p->out);
    for (int q = 0; q < SMURF_QUANTILES; q++)
        if (!is_omitted(p, q)) fprintf(p->out, "%*s", CELL, gap_text(a, p, s->gap[q]));
    putc('\n', p->out);
}

/* The axis below the histogram, and its labels. */
static const double mantissa[] = {1, 2, 5};
struct axis {
    unsigned char mark[2 * SMURF_BINS];
    char label[3 * SMURF_BINS + 1];
    int columns, used, labels;
};

/* Marks the column of a gap of x and writes x below it, unless that would overlap the previous label. */
static void mark_axis(struct axis *axis, const struct page *p, int at, double x)
{
    char text[TEXT];
    int n = (int)strlen(gap_text(text, p, x)), start = at < (n - 1) / 2 ? 0 : at - (n - 1) / 2;
    axis->mark[at] = 1;
    if (axis->labels > 0 && start <= axis->used) return;
    memset(axis->label + axis->used, ' ', (size_t)(start - axis->used));
    memcpy(axis->label + start, text, (size_t)n);
    axis->used = start + n;
    axis->label[axis->used] = '\0';
    axis->labels++;
}

static void mark_if_inside(struct axis *axis, const struct page *p, double x)
{
    double low = p->s->bin_low, high = p->s->bin_high;
    double place = (log10(x) - low) * axis->columns / (high - low) + 1e-9;
    if (place >= 0 && place < axis->columns) mark_axis(axis, p, (int)place, x);
}

/* Marks at 1, 10, 100, ... of each unit, such as 10 min, 1 h, 10 h, 1 d; with `fine` also at 2 and 5, but not close to
   the next unit. */
static void mark_durations(struct axis *axis, const struct page *p, int fine)
{
    static const char *const one[] = {"1ns", "1us", "1ms", "1s", "1min", "1h", "1d", "1y"};
    enum { UNITS = sizeof one / sizeof *one };
    const char *unit = smurf_data_unit(p->data);
    double size, next;
    for (int i = 0; i < UNITS; i++) {
        if (smurf_duration_parse(&size, one[i], unit, NULL)) return;
        if (i + 1 == UNITS || smurf_duration_parse(&next, one[i + 1], unit, NULL)) next = INFINITY;
        for (double x = size; x < next && x < 1e6 * size; x *= 10)
            for (int m = 0; m < (fine ? 3 : 1); m++)
                if (mantissa[m] * x < 0.6 * next) mark_if_inside(axis, p, mantissa[m] * x);
    }
}

/* Marks at 1, 10, 100, ...; at 1, 2, 5, 10, ... if a decade is wide; at the ends if there are fewer than two. */
static void put_axis(const struct page *p, int columns)
{
    double low = p->s->bin_low, high = p->s->bin_high;
    int fine = columns / (high - low) >= 15;
    struct axis axis = {.columns = columns};
    if (p->in_words) mark_durations(&axis, p, fine);
    for (int e = (int)floor(low); e <= (int)ceil(high) && !p->in_words; e++)
        for (int m = 0; m < (fine ? 3 : 1); m++) mark_if_inside(&axis, p, mantissa[m] * pow(10, e));
    if (axis.labels < 2) {
        axis = (struct axis){.columns = columns};
        mark_axis(&axis, p, 0, pow(10, low));
        mark_axis(&axis, p, columns - 1, pow(10, high));
    }
    fputs("    ", p->out);
    for (int i = 0; i < columns; i++) fputs(p->utf8 ? (axis.mark[i] ? "┴" : "─") : (axis.mark[i] ? "+" : "-"), p->out);
    fprintf(p->out, "\n    %s\n", axis.label);
}

static void put_histogram(const struct page *p)
{
    static const char *const block[] = {"", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const smurf_summary *s = p->s;
    const char *unit = p->in_words ? "" : smurf_data_unit(p->data);
    int each = p->width >= 2 * SMURF_BINS + 8 ? 2 : 1;
    size_t most = 0;
    for (int i = 0; i < SMURF_BINS; i++) most = s->bin[i] > most ? s->bin[i] : most;
    if (most == 0) return;
    fprintf(p->out, "\n  distribution of gaps%s%s%s\n", *unit ? ", in " : "", unit,
            s->ties > 0 ? " (logarithmic, without ties)" : " (logarithmic)");
    for (int row = ROWS - 1; row >= 0; row--) {
        int blanks = 4;
        for (int i = 0; i < SMURF_BINS * each; i++) {
            size_t count = s->bin[i / each];
            int eighths = (int)ceil(8.0 * ROWS * (double)count / (double)most) - 8 * row;
            eighths = eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
            if (!p->utf8) eighths = eighths >= 4 || (row == 0 && count > 0) ? 8 : 0;
            if (eighths == 0) {
                blanks++;
                continue;
            }
            fprintf(p->out, "%*s%s", blanks, "", p->utf8 ? block[eighths] : "#");
            blanks = 0;
        }
        putc('\n', p->out);
    }
    put_axis(p, SMURF_BINS * each);
    if (s->bin_beyond > 0) fputs("    the outermost bars include all gaps beyond\n", p->out);
}

/* Indices of the most frequent types, most frequent first; returns how many. */
static int find_top_types(const smurf_summary *s, uint32_t top[TOP_TYPES])
{
    int n = 0;
    for (uint32_t k = 0; k < s->types; k++) {
        int at = n;
        while (at > 0 && s->type_count[top[at - 1]] < s->type_count[k]) at--;
        if (at == TOP_TYPES || s->type_count[k] == 0) continue;
        if (n < TOP_TYPES) n++;
        memmove(top + at + 1, top + at, (size_t)(n - 1 - at) * sizeof *top);
        top[at] = k;
    }
    return n;
}

static void put_type(const struct page *p, uint32_t type, int columns, int digits, size_t most)
{
    char a[TEXT], b[TEXT];
    size_t count = p->s->type_count[type];
    const char *name = smurf_data_type_name(p->data, type);
    fputs("    ", p->out);
    if (name) {
        put_name(p->out, name, columns);
    } else {
        fprintf(p->out, "%*" PRIu32, columns, type);
    }
    fprintf(p->out, "  %*s  %6s", digits, count_text(a, count), percent_text(b, count, p->s->events - p->s->history));
    put_bar(p, (int)rint(8.0 * BAR_COLUMNS * (double)count / (double)most));
    putc('\n', p->out);
}

static void put_types(const struct page *p)
{
    const smurf_summary *s = p->s;
    uint32_t top[TOP_TYPES];
    int n = find_top_types(s, top), columns = 4, digits;
    char a[TEXT], b[TEXT];
    fprintf(p->out, "\n  types      %s", count_text(a, s->types));
    if (s->types_seen < s->types)
        fprintf(p->out, ", of which %s occur%s", count_text(a, s->types_seen), s->types_seen == 1 ? "s" : "");
    putc('\n', p->out);
    if (n == 0 || (n == 1 && !smurf_data_type_name(p->data, 0))) return; /* a single unnamed type is not worth a line */
    for (int i = 0; i < n; i++) {
        const char *name = smurf_data_type_name(p->data, top[i]);
        int length = name ? 0 : snprintf(a, sizeof a, "%" PRIu32, top[i]);
        for (const char *c = name ? name : ""; *c; c++) length += ((unsigned char)*c & 0xc0) != 0x80;
        if (length > columns) columns = length < NAME_COLUMNS ? length : NAME_COLUMNS;
    }
    size_t most = s->type_count[top[0]], rest = s->events - s->history;
    digits = (int)strlen(count_text(a, most));
    for (int i = 0; i < n; i++) {
        put_type(p, top[i], columns, digits, most);
        rest -= s->type_count[top[i]];
    }
    if (s->types_seen > (uint32_t)n)
        fprintf(p->out, "    ... and %s more with %s event%s\n", count_text(a, s->types_seen - (uint32_t)n),
                count_text(b, rest), rest == 1 ? "" : "s");
}

/* Further columns: those that were read, and those that could be. A text that is too long is cut off. */
static void show_columns(const struct page *page, const smurf_reading *reading)
{
    char text[2048] = "";
    size_t n = smurf_data_columns(page->data), used = 0;
    for (size_t i = 0; i < n && used < sizeof text; i++) {
        size_t words = 0;
        while (smurf_data_column_word(page->data, i, words)) words++;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "",
                                 smurf_data_column_name(page->data, i));
        if (words && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " (%zu words)", words);
    }
    if (n) {
        fputs("  features   ", page->out);
        put_words(page, text, 13, 13);
    }
    if (!reading || !reading->others) return;
    snprintf(text, sizeof text, "other columns that --features can use: %s", reading->others);
    fputs("             ", page->out);
    put_words(page, text, 13, 13);
}

void show_summary(FILE *out, const char *title, const smurf_data *data, const smurf_summary *s, int width, int utf8)
{
    double size;
    struct page page = {out, data, s, width, utf8, smurf_duration_unit(1, smurf_data_unit(data), &size) != NULL};
    const char *source = smurf_data_source(data);
    const smurf_reading *reading = smurf_data_reading(data);
    fprintf(out, strcmp(title, source) ? "%s: %s\n\n" : "%s\n\n", title, source);
    if (reading && (reading->table || reading->query)) {
        fputs(reading->table ? "  table      " : "  query      ", out);
        put_words(&page, reading->table ? reading->table : reading->query, 13, 13);
    }
    if (reading) {
        fputs("  columns    ", out);
        put_words(&page, reading->text, 13, 13);
    }
    show_columns(&page, reading);
    put_counts(&page);
    put_time(&page);
    put_clock(&page);
    put_types(&page);
    put_quantiles(&page);
    put_histogram(&page);
    if (s->warnings > 0) putc('\n', out);
    for (size_t i = 0; i < s->warnings; i++) {
        fputs("  warning:", out);
        put_words(&page, s->warning[i], 10, 4);
    }
}
