/* show_forecast.c - see show_forecast.h. */
#include "show_forecast.h"

#include "json_out.h"
#include "show_summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

smurf_moment moment_after(smurf_moment from, double gap)
{
    double whole = floor(gap), fraction = from.fraction + (gap - whole);
    if (fraction >= 1) whole += 1, fraction -= 1;
    if (!(fabs(whole) < 9e18)) return (smurf_moment){INT64_MAX, 0};
    return (smurf_moment){from.whole + (int64_t)whole, fraction};
}

static const char *type_text(char out[24], const smurf_model *model, int64_t type)
{
    const char *name = smurf_model_type_name(model, (uint32_t)type);
    if (name) return name;
    snprintf(out, 24, "%" PRId64, type);
    return out;
}

/* ---- Table ----------------------------------------------------------------------------------- */

enum { NAME_WIDTH = 14, GAP_WIDTH = 10 };

/* Four digits, without an exponent where that is readable. */
static const char *gap_text(char out[32], double x)
{
    if (!isfinite(x))
        snprintf(out, 32, "inf");
    else if (x == 0 || (x >= 1e-3 && x < 1e6))
        snprintf(out, 32, "%.*f", x >= 1000 ? 0 : x >= 100 ? 1 : x >= 10 ? 2 : x >= 1 ? 3 : 4, x);
    else
        snprintf(out, 32, "%.3g", x);
    return out;
}

static void put_gap(FILE *out, double x)
{
    char text[32];
    fprintf(out, " %*s", GAP_WIDTH, gap_text(text, x));
}

static void put_range(FILE *out, const struct interval *i)
{
    char low[32], high[32], text[72];
    snprintf(text, sizeof text, "%s..%s", gap_text(low, i->low), gap_text(high, i->high));
    fprintf(out, " %*s", 2 * GAP_WIDTH, text);
}

static void range_title(FILE *out, double level, const char *kind)
{
    char text[64];
    snprintf(text, sizeof text, "%g%%%s", 100 * level, kind);
    fprintf(out, " %*s", 2 * GAP_WIDTH, text);
}

static void table_header(FILE *out, const struct question *q, const smurf_model *model)
{
    char text[96], name[24];
    fprintf(out, "next event, in %s after %s\n", q->unit[0] ? q->unit : "the data's unit of time",
            q->now ? "now" : "the last event");
    fprintf(out, "%-*s %6s %*s", NAME_WIDTH, "sequence", "events", GAP_WIDTH, "median");
    for (size_t i = 0; i < q->levels; i++) range_title(out, q->level[i], "");
    for (size_t i = 0; q->conformal && i < q->levels; i++) range_title(out, q->level[i], " conformal");
    for (size_t i = 0; i < q->horizons; i++) {
        snprintf(text, sizeof text, "P(<%g)", q->horizon[i]);
        fprintf(out, " %9s", text);
    }
    if (q->target >= 0) {
        snprintf(text, sizeof text, "next %s", type_text(name, model, q->target));
        fprintf(out, " %*s", GAP_WIDTH, text);
        for (size_t i = 0; i < q->levels; i++) range_title(out, q->level[i], "");
    }
    fputs(q->top ? "  types\n" : "\n", out);
}

static void table_row(FILE *out, const struct question *q, const struct answer *a)
{
    fprintf(out, "%-*s %6zu", NAME_WIDTH, a->sequence, a->events);
    put_gap(out, a->median);
    for (size_t i = 0; i < q->levels; i++) put_range(out, &a->interval[i]);
    for (size_t i = 0; q->conformal && i < q->levels; i++) put_range(out, &a->conformal[i]);
    for (size_t i = 0; i < q->horizons; i++) fprintf(out, " %8.1f%%", 100 * a->within[i]);
    if (q->target >= 0) {
        put_gap(out, a->target_median);
        for (size_t i = 0; i < q->levels; i++) put_range(out, &a->target_interval[i]);
    }
    for (size_t i = 0; i < a->types; i++) fprintf(out, "%s%s %.0f%%", i ? ", " : "  ", a->type[i], 100 * a->share[i]);
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

static void csv_number(FILE *out, double x)
{
    fputc(',', out);
    if (isfinite(x))
        put_number(out, x);
    else
        fputs("inf", out);
}

static void csv_header(FILE *out, const struct question *q)
{
    fputs("sequence,events,last,from,median_time,median,mean", out);
    for (size_t i = 0; i < q->levels; i++) fprintf(out, ",low_%g,high_%g", q->level[i], q->level[i]);
    for (size_t i = 0; q->conformal && i < q->levels; i++)
        fprintf(out, ",conformal_low_%g,conformal_high_%g", q->level[i], q->level[i]);
    for (size_t i = 0; i < q->horizons; i++) fprintf(out, ",within_%g", q->horizon[i]);
    if (q->target >= 0) {
        fputs(",target_median", out);
        for (size_t i = 0; i < q->levels; i++) fprintf(out, ",target_low_%g,target_high_%g", q->level[i], q->level[i]);
        for (size_t i = 0; i < q->horizons; i++) fprintf(out, ",target_within_%g", q->horizon[i]);
    }
    for (size_t i = 1; i <= q->top; i++) fprintf(out, ",type_%zu,share_%zu", i, i);
    fputc('\n', out);
}

static void csv_intervals(FILE *out, const struct interval *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        csv_number(out, x[i].low);
        csv_number(out, x[i].high);
    }
}

static void csv_row(FILE *out, const struct question *q, const struct answer *a)
{
    char text[MOMENT_TEXT];
    put_csv_text(out, a->sequence);
    fprintf(out, ",%zu,%s", a->events, a->has_last ? moment_text(text, a->last, q->calendar) : "");
    fprintf(out, ",%s", a->has_last ? moment_text(text, a->from, q->calendar) : "");
    fprintf(out, ",%s", a->has_last ? moment_text(text, moment_after(a->from, a->median), q->calendar) : "");
    csv_number(out, a->median);
    csv_number(out, a->mean);
    csv_intervals(out, a->interval, q->levels);
    if (q->conformal) csv_intervals(out, a->conformal, q->levels);
    for (size_t i = 0; i < q->horizons; i++) csv_number(out, a->within[i]);
    if (q->target >= 0) {
        csv_number(out, a->target_median);
        csv_intervals(out, a->target_interval, q->levels);
        for (size_t i = 0; i < q->horizons; i++) csv_number(out, a->target_within[i]);
    }
    for (size_t i = 0; i < q->top; i++) {
        fputc(',', out);
        if (i < a->types) put_csv_text(out, a->type[i]);
        fputc(',', out);
        if (i < a->types) put_number(out, a->share[i]);
    }
    fputc('\n', out);
}

/* ---- JSON Lines ------------------------------------------------------------------------------ */

static void json_moment(FILE *out, const char *key, smurf_moment moment, int calendar)
{
    char text[MOMENT_TEXT];
    fprintf(out, calendar ? ",\"%s\":\"%s\"" : ",\"%s\":%s", key, moment_text(text, moment, calendar));
}

static void json_number(FILE *out, const char *key, double x)
{
    fprintf(out, ",\"%s\":", key);
    put_number(out, x);
}

static void json_intervals(FILE *out, const char *key, const struct question *q, const struct interval *x)
{
    fprintf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < q->levels; i++) {
        fprintf(out, "%s{\"level\":%g,\"low\":", i ? "," : "", q->level[i]);
        put_number(out, x[i].low);
        fputs(",\"high\":", out);
        put_number(out, x[i].high);
        fputc('}', out);
    }
    fputc(']', out);
}

static void json_within(FILE *out, const char *key, const struct question *q, const double *p)
{
    if (!q->horizons) return;
    fprintf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < q->horizons; i++) {
        fprintf(out, "%s{\"horizon\":", i ? "," : "");
        put_number(out, q->horizon[i]);
        fputs(",\"p\":", out);
        put_number(out, p[i]);
        fputc('}', out);
    }
    fputc(']', out);
}

static void json_target(FILE *out, const struct question *q, const smurf_model *model, const struct answer *a)
{
    char name[24];
    if (q->target < 0) return;
    fputs(",\"target\":{\"type\":", out);
    put_string(out, type_text(name, model, q->target));
    json_number(out, "median", a->target_median);
    json_intervals(out, "intervals", q, a->target_interval);
    json_within(out, "within", q, a->target_within);
    json_number(out, "seen", a->target_seen);
    fputc('}', out);
}

static void json_line(FILE *out, const struct question *q, const smurf_model *model, const struct answer *a)
{
    fputs("{\"sequence\":", out);
    put_string(out, a->sequence);
    fprintf(out, ",\"events\":%zu", a->events);
    if (a->has_last) {
        json_moment(out, "last", a->last, q->calendar);
        json_moment(out, "from", a->from, q->calendar);
        json_moment(out, "median_time", moment_after(a->from, a->median), q->calendar);
    }
    json_number(out, "median", a->median);
    json_number(out, "mean", a->mean);
    json_intervals(out, "intervals", q, a->interval);
    if (q->conformal) json_intervals(out, "conformal", q, a->conformal);
    json_within(out, "within", q, a->within);
    json_target(out, q, model, a);
    fputs(",\"types\":[", out);
    for (size_t i = 0; i < a->types; i++) {
        fputs(i ? ",{\"type\":" : "{\"type\":", out);
        put_string(out, a->type[i]);
        json_number(out, "p", a->share[i]);
        fputc('}', out);
    }
    fputs("]}\n", out);
}

/* ---- All ------------------------------------------------------------------------------------- */

void show_forecast_header(FILE *out, const struct question *q, const smurf_model *model)
{
    if (q->format == SHOW_TABLE) table_header(out, q, model);
    if (q->format == SHOW_CSV) csv_header(out, q);
}

void show_forecast(FILE *out, const struct question *q, const smurf_model *model, const struct answer *a)
{
    if (q->format == SHOW_TABLE)
        table_row(out, q, a);
    else if (q->format == SHOW_CSV)
        csv_row(out, q, a);
    else
        json_line(out, q, model, a);
}
