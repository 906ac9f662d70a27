/* show_summary_json.c - see show_summary.h. */
#include "show_summary.h"

#include "json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_numbers(FILE *out, const char *key, const double *x, int n)
{
    fprintf(out, ",\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        if (i > 0) putc(',', out);
        put_number(out, x[i]);
    }
    putc(']', out);
}

static void put_field(FILE *out, const char *key, double x)
{
    fprintf(out, ",\"%s\":", key);
    put_number(out, x);
}

static void put_count(FILE *out, const char *key, size_t n)
{
    fprintf(out, ",\"%s\":%zu", key, n);
}

static void put_moment(FILE *out, const char *key, const smurf_data *data, const smurf_summary *s, smurf_moment m)
{
    char text[MOMENT_TEXT];
    int calendar = smurf_data_is_calendar(data);
    fprintf(out, ",\"%s\":", key);
    if (s->events == 0) {
        fputs("null", out);
    } else if (calendar) {
        put_string(out, moment_text(text, m, calendar));
    } else if (m.whole > -(1 << 20) && m.whole < 1 << 20) {
        put_number(out, (double)m.whole + m.fraction);
    } else {
        fputs(moment_text(text, m, calendar), out);
    }
}

static void put_type_list(FILE *out, const smurf_data *data, const smurf_summary *s)
{
    if (s->types > 0 && smurf_data_type_name(data, 0)) {
        fputs(",\"type_names\":[", out);
        for (uint32_t k = 0; k < s->types; k++) {
            if (k > 0) putc(',', out);
            put_string(out, smurf_data_type_name(data, k));
        }
        putc(']', out);
    } else {
        fputs(",\"type_names\":null", out);
    }
    fputs(",\"type_count\":[", out);
    for (uint32_t k = 0; k < s->types; k++) fprintf(out, "%s%zu", k > 0 ? "," : "", s->type_count[k]);
    putc(']', out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "%s\"%s\":", strcmp(key, "format") == 0 ? "" : ",", key);
    if (text)
        put_string(out, text);
    else
        fputs("null", out);
}

/* How a table was read; null: not a table. */
static void put_reading(FILE *out, const smurf_reading *r)
{
    fputs(",\"reading\":", out);
    if (!r) {
        fputs("null", out);
        return;
    }
    putc('{', out);
    put_text(out, "format", r->format);
    put_text(out, "time_column", r->time_column);
    put_text(out, "time_format", r->time_format);
    put_text(out, "timezone", r->timezone);
    put_text(out, "sequence_column", r->sequence_column);
    put_text(out, "type_column", r->type_column);
    put_text(out, "missing", r->missing);
    put_text(out, "table", r->table);
    put_text(out, "query", r->query);
    put_text(out, "features", r->features);
    put_text(out, "others", r->others);
    put_text(out, "text", r->text);
    putc('}', out);
}

void show_summary_json(FILE *out, const char *title, const smurf_data *data, const smurf_summary *s)
{
    fputs("{\"title\":", out);
    put_string(out, title);
    fputs(",\"source\":", out);
    put_string(out, smurf_data_source(data));
    put_reading(out, smurf_data_reading(data));
    fputs(",\"unit\":", out);
    put_string(out, smurf_data_unit(data));
    fprintf(out, ",\"calendar\":%s", smurf_data_is_calendar(data) ? "true" : "false");
    put_count(out, "sequences", s->sequences);
    put_count(out, "empty_sequences", s->empty_sequences);
    put_count(out, "windows_known", s->windows_known);
    put_count(out, "events", s->events);
    put_count(out, "history", s->history);
    put_count(out, "scored", s->scored);
    put_moment(out, "earliest", data, s, s->earliest);
    put_moment(out, "latest", data, s, s->latest);
    smurf_moment until;
    if (smurf_data_observed(data, &until))
        put_moment(out, "observed_until", data, s, until);
    else
        fputs(",\"observed_until\":null", out);
    put_count(out, "types", s->types);
    put_count(out, "types_seen", s->types_seen);
    put_type_list(out, data, s);
    put_numbers(out, "quantile_levels", smurf_quantile_levels, SMURF_QUANTILES);
    put_numbers(out, "length", s->length, SMURF_QUANTILES);
    put_field(out, "length_mean", s->length_mean);
    put_numbers(out, "gap", s->gap, SMURF_QUANTILES);
    put_field(out, "gap_mean", s->gap_mean);
    put_field(out, "gap_sd", s->gap_sd);
    put_count(out, "ties", s->ties);
    put_field(out, "tick", s->tick);
    put_field(out, "bin_low", s->bin_low);
    put_field(out, "bin_high", s->bin_high);
    fputs(",\"bin\":[", out);
    for (int i = 0; i < SMURF_BINS; i++) fprintf(out, "%s%zu", i > 0 ? "," : "", s->bin[i]);
    putc(']', out);
    put_count(out, "bin_beyond", s->bin_beyond);
    fputs(",\"warnings\":[", out);
    for (size_t i = 0; i < s->warnings; i++) {
        if (i > 0) putc(',', out);
        put_string(out, s->warning[i]);
    }
    fputs("]}", out);
}
