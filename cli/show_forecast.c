/* show_forecast.c - see show_forecast.h. */
#include "show_forecast.h"

#include "json_out.h"
#include "option.h"
#include "show_summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

bool moment_of(smurf_moment *out, smurf_moment from, double gap, int calendar)
{
    const int64_t year_10000 = 253402300800;
    return smurf_moment_after(out, from, gap) && !(calendar && out->whole >= year_10000);
}

const char *type_text(char out[24], const smurf_model *model, int64_t type)
{
    const char *name = smurf_model_type_name(model, (uint32_t)type);
    if (name) return name;
    if (type >= smurf_model_types(model)) return "other"; /* unknown to the model */
    snprintf(out, 24, "%" PRId64, type);
    return out;
}

bool type_is_only(const smurf_model *model)
{
    return smurf_model_types(model) == 1 && !smurf_model_type_name(model, 0);
}

enum show_format show_format_named(const char *word)
{
    if (strcmp(word, "table") == 0) return SHOW_TABLE;
    if (strcmp(word, "csv") == 0) return SHOW_CSV;
    if (strcmp(word, "jsonl") != 0) usage_error("--format takes table, csv or jsonl, not '%s'", word);
    return SHOW_JSONL;
}

int show_name_width(const smurf_data *data)
{
    enum { MOST = 40 };
    int most = SHOW_NAME_WIDTH;
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const char *name = smurf_data_sequence(data, i)->name;
        int width = name ? name_columns(name) : 0;
        if (width > most) most = width < MOST ? width : MOST;
    }
    return most;
}

const char *sequence_text(char out[24], const smurf_sequence *sequence, size_t number)
{
    if (sequence->name) return sequence->name;
    snprintf(out, 24, "%zu", number);
    return out;
}

/* ---- Table ----------------------------------------------------------------------------------- */

/* Columns: of numbers, and of durations with their unit. */
enum { NUMBER_WIDTH = 10, DURATION_WIDTH = 8, WITHIN_WIDTH = 9, NEVER_WIDTH = 10, TARGET_MOST = 24 };

static int gap_width(const struct question *q)
{
    return unit_is_known(q->unit) ? DURATION_WIDTH : NUMBER_WIDTH;
}

void put_right(FILE *out, const char *text, int width)
{
    int columns = name_columns(text);
    fprintf(out, " %*s", columns < width ? width - columns : 0, "");
    put_name(out, text, columns < width ? columns : width);
}

static void put_gap(FILE *out, const struct question *q, double x, int width)
{
    char text[SMURF_DURATION_TEXT];
    put_right(out, gap_text(text, x, q->unit), width);
}

/* "1.2..3.4 h", "45 min..3.4 h". */
static void put_range(FILE *out, const struct question *q, const smurf_interval *x)
{
    char low[SMURF_DURATION_TEXT], high[SMURF_DURATION_TEXT], text[2 * SMURF_DURATION_TEXT + 4];
    gap_text(low, x->low, q->unit);
    gap_text(high, x->high, q->unit);
    char *first = strchr(low, ' '), *second = strchr(high, ' ');
    if (first && second && strcmp(first, second) == 0) *first = '\0';
    snprintf(text, sizeof text, "%s..%s", low, high);
    put_right(out, text, 2 * gap_width(q));
}

static void put_ranges(FILE *out, const struct question *q, const smurf_interval *x)
{
    for (size_t i = 0; i < q->ask.levels; i++) put_range(out, q, &x[i]);
}

/* Intervals of the law, which may lie beyond what comes at all: "45 min..never", "never". */
static void put_law_ranges(FILE *out, const struct question *q, const smurf_interval *x)
{
    for (size_t i = 0; i < q->ask.levels; i++) {
        char low[SMURF_DURATION_TEXT], text[SMURF_DURATION_TEXT + 16];
        if (!q->ending || !isinf(x[i].high)) {
            put_range(out, q, &x[i]);
            continue;
        }
        snprintf(text, sizeof text, isinf(x[i].low) ? "never" : "%s..never", gap_text(low, x[i].low, q->unit));
        put_right(out, text, 2 * gap_width(q));
    }
}

static void put_law_median(FILE *out, const struct question *q, double median, int width)
{
    if (q->ending && isinf(median))
        put_right(out, "never", width);
    else
        put_gap(out, q, median, width);
}

static void put_never(FILE *out, double p)
{
    char text[32] = "-";
    if (!isnan(p)) snprintf(text, sizeof text, "never %.0f%%", 100 * p);
    put_right(out, text, NEVER_WIDTH);
}

static void put_range_titles(FILE *out, const struct question *q, const char *kind)
{
    for (size_t i = 0; i < q->ask.levels; i++) {
        char text[64];
        snprintf(text, sizeof text, "%.9g%%%s", 100 * q->ask.level[i], kind);
        put_right(out, text, 2 * gap_width(q));
    }
}

/* The heading of a horizon's probability; returns the width of its column. */
static int within_title(char out[48], const struct question *q, size_t i)
{
    int n = snprintf(out, 48, "P(<%s)", q->within_label[i]);
    return n > WITHIN_WIDTH ? n : WITHIN_WIDTH;
}

static void put_within_titles(FILE *out, const struct question *q)
{
    char text[48];
    for (size_t i = 0; i < q->ask.horizons; i++) {
        int width = within_title(text, q, i);
        put_right(out, text, width);
    }
}

static void put_within(FILE *out, const struct question *q, const double *p)
{
    char text[48];
    for (size_t i = 0; i < q->ask.horizons; i++) {
        int width = within_title(text, q, i);
        snprintf(text, sizeof text, isnan(p[i]) ? "-" : "%.1f%%", 100 * p[i]);
        put_right(out, text, width);
    }
}

/* The heading of the time to the target type; returns its width. */
static int target_title(char out[128], const struct question *q)
{
    char name[24];
    snprintf(out, 128, "next %s", type_text(name, q->model, q->ask.next));
    int columns = name_columns(out);
    return columns < NUMBER_WIDTH ? NUMBER_WIDTH : columns > TARGET_MOST ? TARGET_MOST : columns;
}

const char *date_text(char out[MOMENT_TEXT], smurf_moment moment, bool exact)
{
    struct tm date;
    time_t seconds = (time_t)moment.whole;
    if (!gmtime_r(&seconds, &date)) return "-";
    strftime(out, MOMENT_TEXT, exact ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", &date);
    return out;
}

static void table_title(FILE *out, const struct question *q)
{
    const char *from = q->now || q->ask.silence > 0 ? "now" : "the last event";
    if (!unit_is_known(q->unit))
        fprintf(out, "next event, in %s after %s\n", q->unit[0] ? q->unit : "the data's unit of time", from);
    else
        fprintf(out, "next event, counted from %s%s\n", from, q->calendar ? "; times in UTC" : "");
}

static void table_header(FILE *out, const struct question *q)
{
    char text[128];
    table_title(out, q);
    fprintf(out, "%-*s", q->name_width, "sequence");
    if (q->calendar)
        fprintf(out, " %-*s %*s %-*s", DATE_WIDTH, "last event", gap_width(q), "median", DATE_WIDTH, "at");
    else
        fprintf(out, " %6s %*s", "events", gap_width(q), "median");
    put_range_titles(out, q, "");
    if (q->ask.conformal) put_range_titles(out, q, " conformal");
    put_within_titles(out, q);
    if (q->ending) put_right(out, "no more", NEVER_WIDTH);
    if (q->ask.next >= 0) {
        int width = target_title(text, q);
        put_right(out, text, width);
        put_range_titles(out, q, "");
        put_within_titles(out, q);
    }
    fputs(q->ask.top && !type_is_only(q->model) ? "  types\n" : "\n", out);
}

/* The last event and the median. For dates also when that is, to the second if it is soon. */
static void put_median(FILE *out, const struct question *q, const smurf_answer *a)
{
    const double soon = 3600;
    char text[MOMENT_TEXT];
    smurf_moment median = {0, 0};
    if (!q->calendar) {
        fprintf(out, " %6zu", a->events);
        put_law_median(out, q, a->median, gap_width(q));
        return;
    }
    bool there = a->events && moment_of(&median, a->from, a->median, q->calendar);
    fprintf(out, " %-*s", DATE_WIDTH, a->events ? date_text(text, a->last, a->last.whole % 60 != 0) : "-");
    put_law_median(out, q, a->median, gap_width(q));
    fprintf(out, " %-*s", DATE_WIDTH, there ? date_text(text, median, a->median < soon) : "-");
}

static void table_row(FILE *out, const struct question *q, const char *sequence, const smurf_answer *a)
{
    char text[128];
    put_name(out, sequence, q->name_width);
    put_median(out, q, a);
    put_law_ranges(out, q, a->interval);
    if (q->ask.conformal) put_ranges(out, q, a->conformal);
    put_within(out, q, a->within);
    if (q->ending) put_never(out, a->never);
    if (q->ask.next >= 0) {
        put_law_median(out, q, a->next_median, target_title(text, q));
        put_law_ranges(out, q, a->next_interval);
        put_within(out, q, a->next_within);
    }
    for (size_t i = 0; i < a->types && !type_is_only(q->model); i++) {
        fputs(i ? ", " : "  ", out);
        const char *name = type_text(text, q->model, a->type[i]);
        put_name(out, name, name_columns(name));
        fprintf(out, " %.0f%%", 100 * a->share[i]);
    }
    fputc('\n', out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void put_csv_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void put_csv_number(FILE *out, double x)
{
    if (isfinite(x))
        put_rounded(out, x);
    else if (!isnan(x))
        fputs(x > 0 ? "inf" : "-inf", out);
}

void csv_number(FILE *out, double x)
{
    fputc(',', out);
    put_csv_number(out, x);
}

/* Column names of intervals and of probabilities. */
static void csv_level_names(FILE *out, const struct question *q, const char *before)
{
    for (size_t i = 0; i < q->ask.levels; i++) {
        fprintf(out, ",%slow_%.12g,%shigh_%.12g", before, q->ask.level[i], before, q->ask.level[i]);
        if (q->calendar)
            fprintf(out, ",%slow_at_%.12g,%shigh_at_%.12g", before, q->ask.level[i], before, q->ask.level[i]);
    }
}

static void csv_within_names(FILE *out, const struct question *q, const char *before)
{
    for (size_t i = 0; i < q->ask.horizons; i++) fprintf(out, ",%swithin_%.12g", before, q->ask.within[i]);
}

static void csv_header(FILE *out, const struct question *q)
{
    fputs("sequence,events,last,from,median_time,median,mean", out);
    if (q->ending) fputs(",never", out);
    csv_level_names(out, q, "");
    if (q->ask.conformal) csv_level_names(out, q, "conformal_");
    csv_within_names(out, q, "");
    if (q->ask.next >= 0) {
        fputs(",target_median", out);
        csv_level_names(out, q, "target_");
        csv_within_names(out, q, "target_");
        fputs(",target_seen", out);
    }
    for (size_t i = 1; i <= q->ask.top; i++) fprintf(out, ",type_%zu,share_%zu", i, i);
    fputc('\n', out);
}

static void csv_at(FILE *out, const struct question *q, const smurf_answer *a, double gap)
{
    char text[MOMENT_TEXT];
    smurf_moment at;
    bool there = a->events && moment_of(&at, a->from, gap, q->calendar);
    fprintf(out, ",%s", there ? moment_text(text, at, q->calendar) : "");
}

static void csv_intervals(FILE *out, const struct question *q, const smurf_answer *a, const smurf_interval *x)
{
    for (size_t i = 0; i < q->ask.levels; i++) {
        csv_number(out, x[i].low);
        csv_number(out, x[i].high);
        if (!q->calendar) continue;
        csv_at(out, q, a, x[i].low);
        csv_at(out, q, a, x[i].high);
    }
}

static void csv_row(FILE *out, const struct question *q, const char *sequence, const smurf_answer *a)
{
    char text[MOMENT_TEXT], name[24];
    put_csv_text(out, sequence);
    fprintf(out, ",%zu,%s", a->events, a->events ? moment_text(text, a->last, q->calendar) : "");
    fprintf(out, ",%s", a->events ? moment_text(text, a->from, q->calendar) : "");
    csv_at(out, q, a, a->median);
    csv_number(out, a->median);
    csv_number(out, a->mean);
    if (q->ending) csv_number(out, a->never);
    csv_intervals(out, q, a, a->interval);
    if (q->ask.conformal) csv_intervals(out, q, a, a->conformal);
    for (size_t i = 0; i < q->ask.horizons; i++) csv_number(out, a->within[i]);
    if (q->ask.next >= 0) {
        csv_number(out, a->next_median);
        csv_intervals(out, q, a, a->next_interval);
        for (size_t i = 0; i < q->ask.horizons; i++) csv_number(out, a->next_within[i]);
        csv_number(out, a->next_seen);
    }
    for (size_t i = 0; i < q->ask.top; i++) {
        fputc(',', out);
        if (i < a->types) put_csv_text(out, type_text(name, q->model, a->type[i]));
        fputc(',', out);
        if (i < a->types) put_csv_number(out, a->share[i]);
    }
    fputc('\n', out);
}

/* ---- JSON Lines ------------------------------------------------------------------------------ */

void json_moment(FILE *out, const char *key, smurf_moment moment, int calendar)
{
    char text[MOMENT_TEXT];
    fprintf(out, calendar ? ",\"%s\":\"%s\"" : ",\"%s\":%s", key, moment_text(text, moment, calendar));
}

void json_number(FILE *out, const char *key, double x)
{
    fprintf(out, ",\"%s\":", key);
    put_rounded(out, x);
}

void json_at(FILE *out, const char *key, smurf_moment from, double gap, int calendar)
{
    smurf_moment moment;
    if (moment_of(&moment, from, gap, calendar))
        json_moment(out, key, moment, calendar);
    else
        fprintf(out, ",\"%s\":null", key);
}

static size_t shown_levels(const struct question *q)
{
    return q->ask.levels - (q->curve ? q->curve / 2 - 1 : 0);
}

static void json_intervals(FILE *out, const char *key, const struct question *q, const smurf_answer *a,
                           const smurf_interval *x)
{
    fprintf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < shown_levels(q); i++) {
        fprintf(out, "%s{\"level\":%.12g", i ? "," : "", q->ask.level[i]);
        json_number(out, "low", x[i].low);
        json_number(out, "high", x[i].high);
        if (q->calendar && a->events) {
            json_at(out, "low_at", a->from, x[i].low, 1);
            json_at(out, "high_at", a->from, x[i].high, 1);
        }
        fputc('}', out);
    }
    fputc(']', out);
}

static void json_within(FILE *out, const char *key, const struct question *q, const double *p)
{
    if (!q->ask.horizons) return;
    fprintf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < q->ask.horizons; i++) {
        fprintf(out, "%s{\"horizon\":", i ? "," : "");
        put_number(out, q->ask.within[i]);
        fputs(",\"p\":", out);
        put_rounded(out, p[i]);
        fputc('}', out);
    }
    fputc(']', out);
}

static void json_target(FILE *out, const struct question *q, const smurf_answer *a)
{
    char name[24];
    if (q->ask.next < 0) return;
    fputs(",\"target\":{\"type\":", out);
    put_string(out, type_text(name, q->model, q->ask.next));
    json_number(out, "median", a->next_median);
    json_intervals(out, "intervals", q, a, a->next_interval);
    json_within(out, "within", q, a->next_within);
    json_number(out, "seen", a->next_seen);
    fputc('}', out);
}

/* The quantiles of the gap at 1/n, 2/n, ..: the low ends of ever narrower intervals, the median, the high ends. */
static void json_curve(FILE *out, const struct question *q, const smurf_answer *a)
{
    if (!q->curve) return;
    const smurf_interval *x = a->interval + shown_levels(q);
    size_t half = q->curve / 2;
    fputs(",\"curve\":[", out);
    for (size_t k = 1; k < q->curve; k++) {
        if (k > 1) putc(',', out);
        put_rounded(out, k < half ? x[k - 1].low : k == half ? a->median : x[q->curve - k - 1].high);
    }
    putc(']', out);
}

static void json_line(FILE *out, const struct question *q, const char *sequence, const smurf_answer *a)
{
    char name[24];
    fputs("{\"sequence\":", out);
    put_string(out, sequence);
    fprintf(out, ",\"events\":%zu", a->events);
    if (a->events) {
        json_moment(out, "last", a->last, q->calendar);
        json_moment(out, "from", a->from, q->calendar);
        json_at(out, "median_time", a->from, a->median, q->calendar);
    }
    json_number(out, "median", a->median);
    json_number(out, "mean", a->mean);
    if (q->ending) json_number(out, "never", a->never);
    json_intervals(out, "intervals", q, a, a->interval);
    json_curve(out, q, a);
    if (q->ask.conformal) json_intervals(out, "conformal", q, a, a->conformal);
    json_within(out, "within", q, a->within);
    json_target(out, q, a);
    fputs(",\"types\":[", out);
    for (size_t i = 0; i < a->types; i++) {
        fputs(i ? ",{\"type\":" : "{\"type\":", out);
        put_string(out, type_text(name, q->model, a->type[i]));
        json_number(out, "p", a->share[i]);
        fputc('}', out);
    }
    fputs("]}\n", out);
}

/* ---- Any format ------------------------------------------------------------------------------ */

void show_forecast_header(FILE *out, const struct question *q)
{
    if (q->format == SHOW_TABLE) table_header(out, q);
    if (q->format == SHOW_CSV) csv_header(out, q);
}

void show_forecast(FILE *out, const struct question *q, const char *sequence, const smurf_answer *a)
{
    if (q->format == SHOW_TABLE)
        table_row(out, q, sequence, a);
    else if (q->format == SHOW_CSV)
        csv_row(out, q, sequence, a);
    else
        json_line(out, q, sequence, a);
}
