/* show_metrics.c - see show_metrics.h. */
#include "show_metrics.h"

#include "json_out.h"
#include "show_forecast.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Rows in table order: name in text and CSV, and suffix of the names in JSON. */
static const struct {
    smurf_row row;
    const char *name, *tail;
} rows[] = {
    {SMURF_ROW_MODEL, "model", ""},
    {SMURF_ROW_FIXED, "model, fixed", "_fixed"},
    {SMURF_ROW_RAW, "model, raw", "_raw"},
    {SMURF_ROW_SAMPLED, "model, drawn", "_sampled"},
    {SMURF_ROW_RECENT, "naive: recent", "_recent"},
    {SMURF_ROW_MARGINAL, "naive: marginal", "_marginal"},
    {SMURF_ROW_SAME_HOUR, "naive: same hour", "_same_hour"},
    {SMURF_ROW_LAST, "naive: last 100", "_last"},
};
enum { ROWS = sizeof rows / sizeof *rows };

double metric_value(const smurf_metrics *m, const smurf_metric *metric, double per)
{
    return smurf_metric_value(m, metric) / (metric->unit == SMURF_METRIC_TIME ? per : 1);
}

static const smurf_metrics *row_of(const smurf_evaluation *e, smurf_row row)
{
    return smurf_evaluation_row(e, row, NULL, NULL);
}

static double skill(const smurf_evaluation *e, const smurf_metrics *m, smurf_row against)
{
    const smurf_metrics *naive = row_of(e, against);
    return naive ? 1 - m->crps / naive->crps : NAN;
}

static const char *unit_of(const struct shown *s)
{
    if (s->mean_gaps) return "mean gaps";
    return s->unit[0] ? s->unit : "the data's unit";
}

/* The same in JSON and CSV. */
static const char *unit_word(const struct shown *s)
{
    return s->mean_gaps ? "mean gap" : s->unit[0] ? s->unit : "data";
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* A number in `width` columns, with fewer decimals or an exponent if it does not fit; a dash if not finite. */
static void cell(FILE *out, int width, int decimals, double x)
{
    char text[400] = "-";
    int digits = 4, n = width + 1;
    bool tiny = fabs(x) < 0.5 * pow(10, -decimals) && x != 0;
    for (; isfinite(x) && !tiny && n > width && decimals >= 0; decimals--)
        n = snprintf(text, sizeof text, "%.*f", decimals, x);
    while (isfinite(x) && n > width && --digits) n = snprintf(text, sizeof text, "%.*g", digits, x);
    fprintf(out, " %*s", width, text);
}

/* The columns of the table: offset in smurf_metrics and width. Skill has no offset: it compares two laws. */
#define AT(field) offsetof(smurf_metrics, field)
enum { NOWHERE = sizeof(smurf_metrics) };
static const struct {
    size_t offset;
    int width;
} columns[] = {{AT(cs), 6}, {AT(cs_pit), 6},         {AT(crps), 8}, {NOWHERE, 7},          {AT(cer), 6},
               {AT(il), 8}, {AT(log_likelihood), 8}, {AT(acc), 6},  {AT(acc_true_time), 7}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const smurf_metric *metric_of(size_t column)
{
    const smurf_metric *metric;
    for (size_t k = 0; (metric = smurf_metric_at(k)); k++)
        if (metric->offset == columns[column].offset) return metric;
    for (size_t k = 0; (metric = smurf_comparison_column(k)); k++)
        if (metric->offset >= NOWHERE) break;
    return metric;
}

static void text_head(FILE *out)
{
    fprintf(out, "%-16s", "");
    for (size_t k = 0; k < COLUMNS; k++) fprintf(out, " %*.*s", columns[k].width, columns[k].width, metric_of(k)->head);
    fputc('\n', out);
}

static double text_value(const smurf_evaluation *e, const struct shown *s, size_t row, size_t column)
{
    const smurf_metrics *m = row_of(e, rows[row].row);
    if (columns[column].offset == NOWHERE) return 100 * skill(e, m, SMURF_ROW_RECENT);
    bool drawn = columns[column].offset == AT(acc) && rows[row].row == SMURF_ROW_SAMPLED && isfinite(m->acc_draws);
    return drawn ? m->acc_draws : metric_value(m, metric_of(column), s->per);
}

static void text_row(FILE *out, const smurf_evaluation *e, const struct shown *s, size_t i)
{
    const smurf_metrics *low, *high, *m = smurf_evaluation_row(e, rows[i].row, &low, &high);
    if (!m) return;
    fprintf(out, "%-16s", rows[i].name);
    for (size_t k = 0; k < COLUMNS; k++) cell(out, columns[k].width, metric_of(k)->places, text_value(e, s, i, k));
    fputc('\n', out);
    if (!low || !isfinite(low->crps)) return;
    fprintf(out, "  90%% interval   %5.2f-%-5.2f", low->cs, high->cs);
    fprintf(out, "  crps %.4f-%.4f", low->crps / s->per, high->crps / s->per);
    if (isfinite(low->acc)) fprintf(out, "  acc %.2f-%.2f", low->acc, high->acc);
    fputc('\n', out);
}

static void text_coverage(FILE *out, const smurf_coverage *c, const char *unit)
{
    static const double wanted[] = {0.5, 0.8, 0.9, 0.95};
    char tick[SMURF_DURATION_TEXT];
    fputs("coverage of [0, quantile]:", out);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < SMURF_LEVELS; k++)
            if (fabs(smurf_levels[k] - wanted[i]) < 1e-9)
                fprintf(out, "%s %g%% -> %.1f%%", i ? "," : "", 100 * wanted[i], 100 * c->upto[k]);
    fputc('\n', out);
    if (!(c->tick > 0)) return;
    fprintf(out, "central intervals, on ticks of %s with both ends:", smurf_duration_text(tick, c->tick, unit));
    for (int k = 5; k <= 9; k += 2)
        fprintf(out, "%s %d%% -> %.1f%% (%.1f%%)", k > 5 ? "," : "", 10 * k, 100 * c->central[k - 1],
                100 * c->central_pit[k - 1]);
    fputs("; in brackets with ties at random\n", out);
}

/* "CRPS 2.1% below naive: recent (90% interval 0.9 to 3.3)" */
static void text_advantage(FILE *out, const smurf_evaluation *e)
{
    smurf_advantage a;
    if (!smurf_evaluation_advantage(e, &a) || !isfinite(a.value)) return;
    bool above = a.value < 0;
    fprintf(out, "\nCRPS %.1f%% %s naive: %s", fabs(a.value), above ? "above" : "below", a.name);
    if (isfinite(a.low))
        fprintf(out, " (90%% interval %.1f to %.1f)", above ? -a.high : a.low, above ? -a.low : a.high);
}

/* "pooled: times 41% of naive: same hour, types 20% of naive: recency" */
static void text_pool(FILE *out, const smurf_pool *p)
{
    if (!p) return;
    fputs("pooled:", out);
    if (p->law) fprintf(out, " times %.0f%% of naive: %s", 100 * p->weight, p->law);
    if (p->types) fprintf(out, "%s types %.0f%% of naive: %s", p->law ? "," : "", 100 * p->type_weight, p->types);
    if (p->law || p->types) fputs(", chosen on held-out gaps", out);
    if (p->type_follow > 0) fprintf(out, "%s weights of types follow what comes", p->law || p->types ? ";" : "");
    fputc('\n', out);
}

/* Whether anything follows: what came and what was forecast. */
static void text_ends(FILE *out, const smurf_evaluation *e)
{
    const smurf_ends *ends = smurf_evaluation_ends(e);
    if (!ends) return;
    fprintf(out, "no further event until the end of observation: after %zu of %zu events (%.1f%%; forecast %.1f%%); ",
            ends->last, ends->n, 100 * ends->share, 100 * ends->forecast);
    fprintf(out, "Brier score %.4f (%.4f for always %.1f%%)\n", ends->brier, ends->brier_constant, 100 * ends->share);
}

/* All lengths in the unit that suits the CRPS, so that they can be compared. */
static struct shown in_one_unit(const smurf_evaluation *e, const struct shown *given)
{
    struct shown out = *given;
    const char *unit = NULL;
    if (!given->mean_gaps) unit = smurf_duration_unit(row_of(e, SMURF_ROW_MODEL)->crps, given->unit, &out.per);
    if (unit) out.unit = unit;
    return out;
}

void show_metrics(FILE *out, const smurf_evaluation *e, const struct shown *given)
{
    const struct shown shown = in_one_unit(e, given), *s = &shown;
    const smurf_metrics *m = row_of(e, SMURF_ROW_MODEL);
    fprintf(out, "%s on %s%s%s: %zu gaps of %zu sequence%s; CRPS and IL in %s\n\n", s->model, s->data,
            s->part[0] ? ", " : "", s->part, m->n, m->sequences, m->sequences == 1 ? "" : "s", unit_of(s));
    text_head(out);
    for (size_t i = 0; i < ROWS; i++) text_row(out, e, s, i);
    if (isfinite(smurf_evaluation_markov(e)))
        fprintf(out, "%-16s %55s %6.2f\n", "naive: Markov", "", smurf_evaluation_markov(e));
    if (isfinite(smurf_evaluation_recency(e)))
        fprintf(out, "%-16s %55s %6.2f\n", "naive: recency", "", smurf_evaluation_recency(e));
    text_advantage(out, e);
    fprintf(out, "\nnoise floor of CS: %.2f%%; ", m->cs_floor);
    text_coverage(out, smurf_evaluation_coverage(e, SMURF_ROW_MODEL), given->unit);
    text_pool(out, s->pool);
    text_ends(out, e);
    if (!row_of(e, SMURF_ROW_RECENT)) fputs("no naive laws: they need train data (--train FILE)\n", out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_list(FILE *out, const char *name, const double *x, int n, double per)
{
    fprintf(out, ",\n \"%s\": [", name);
    for (int k = 0; k < n; k++) {
        fputs(k ? ", " : "", out);
        put_number(out, x[k] / per);
    }
    fputc(']', out);
}

static void put_member(FILE *out, const char *name, const char *tail, double x)
{
    fprintf(out, ",\n \"%s%s\": ", name, tail);
    put_number(out, x);
}

/* All metrics of a row, with the row's suffix on their names. */
static void json_row(FILE *out, const smurf_evaluation *e, const struct shown *s, size_t i, const char *tail)
{
    const smurf_metrics *m = row_of(e, rows[i].row);
    const smurf_metric *metric;
    for (size_t k = 0; m && (metric = smurf_metric_at(k)); k++)
        put_member(out, metric->name, tail, metric_value(m, metric, s->per));
}

static void json_intervals(FILE *out, const smurf_evaluation *e, const struct shown *s)
{
    const smurf_metrics *low, *high;
    const smurf_metric *metric;
    if (!smurf_evaluation_row(e, SMURF_ROW_MODEL, &low, &high) || !low || !isfinite(low->crps)) return;
    fputs(",\n \"bootstrap\": {", out);
    for (size_t k = 0, n = 0; (metric = smurf_metric_at(k)); k++) {
        if (!isfinite(metric_value(low, metric, 1))) continue;
        fprintf(out, "%s\"%s\": [", n++ ? ", " : "", metric->name);
        put_number(out, metric_value(low, metric, s->per));
        fputs(", ", out);
        put_number(out, metric_value(high, metric, s->per));
        fputc(']', out);
    }
    fputc('}', out);
}

/* The gain in CRPS over the best naive row, in %, with its 90% interval. */
static void json_advantage(FILE *out, const smurf_evaluation *e)
{
    smurf_advantage a;
    if (!smurf_evaluation_advantage(e, &a) || !isfinite(a.value)) return;
    fprintf(out, ",\n \"best_naive\": {\"law\": \"%s\", \"gain\": ", a.name);
    put_number(out, a.value);
    fputs(", \"low\": ", out);
    put_number(out, a.low);
    fputs(", \"high\": ", out);
    put_number(out, a.high);
    fputc('}', out);
}

static void json_pool(FILE *out, const smurf_pool *p)
{
    if (!p) return;
    fputs(",\n \"pool\": {", out);
    if (p->law) {
        fprintf(out, "\"law\": \"%s\", \"weight\": ", p->law);
        put_number(out, p->weight);
    }
    if (p->types) {
        fprintf(out, "%s\"types\": \"%s\", \"type_weight\": ", p->law ? ", " : "", p->types);
        put_number(out, p->type_weight);
    }
    if (p->type_follow > 0) {
        fprintf(out, "%s\"type_follow\": ", p->law || p->types ? ", " : "");
        put_number(out, p->type_follow);
    }
    fputc('}', out);
}

static void json_ends(FILE *out, const smurf_evaluation *e)
{
    const smurf_ends *ends = smurf_evaluation_ends(e);
    if (!ends) return;
    fprintf(out, ",\n \"ends\": {\"n\": %zu, \"last\": %zu, \"share\": ", ends->n, ends->last);
    put_number(out, ends->share);
    fputs(", \"forecast\": ", out);
    put_number(out, ends->forecast);
    fputs(", \"brier\": ", out);
    put_number(out, ends->brier);
    fputs(", \"brier_constant\": ", out);
    put_number(out, ends->brier_constant);
    fputs(", \"groups\": [", out);
    for (size_t k = 0, shown = 0; k < SMURF_END_GROUPS; k++) {
        if (!ends->group[k]) continue;
        fprintf(out, "%s{\"n\": %zu, \"forecast\": ", shown++ ? ", " : "", ends->group[k]);
        put_number(out, ends->group_forecast[k]);
        fputs(", \"share\": ", out);
        put_number(out, ends->group_share[k]);
        fputc('}', out);
    }
    fputs("]}", out);
}

static void json_mean_gaps(FILE *out, const smurf_evaluation *e)
{
    double mean = smurf_evaluation_mean_gap(e);
    if (!(mean > 0)) return;
    fputs(",\n \"in_mean_gaps\": {", out);
    for (size_t i = 0, n = 0; i < ROWS; i++) {
        const smurf_metrics *m = row_of(e, rows[i].row);
        if (!m) continue;
        fprintf(out, "%s\"crps%s\": ", n++ ? ", " : "", rows[i].tail);
        put_number(out, m->crps / mean);
        fprintf(out, ", \"il%s\": ", rows[i].tail);
        put_number(out, m->il / mean);
    }
    fputc('}', out);
}

void show_metrics_json(FILE *out, const smurf_evaluation *e, const struct shown *s)
{
    const smurf_metrics *m = row_of(e, SMURF_ROW_MODEL), *raw = row_of(e, SMURF_ROW_RAW);
    fputs("{\"model\": ", out);
    put_string(out, s->model);
    fputs(",\n \"data\": ", out);
    put_string(out, s->data);
    fputs(",\n \"part\": ", out);
    put_string(out, s->part);
    fprintf(out, ",\n \"n\": %zu,\n \"sequences\": %zu,\n \"unit\": ", m->n, m->sequences);
    put_string(out, unit_word(s));
    put_member(out, "mean_gap", "", smurf_evaluation_mean_gap(e));
    fprintf(out, ",\n \"recalibrated\": %s", raw ? "true" : "false");
    for (size_t i = 0; i < ROWS; i++) json_row(out, e, s, i, rows[i].tail);
    if (!raw) json_row(out, e, s, 0, "_raw");
    put_member(out, "skill_recent", "", skill(e, m, SMURF_ROW_RECENT));
    put_member(out, "skill_marginal", "", skill(e, m, SMURF_ROW_MARGINAL));
    put_member(out, "acc_markov", "", smurf_evaluation_markov(e));
    put_member(out, "acc_recency", "", smurf_evaluation_recency(e));
    json_advantage(out, e);
    json_pool(out, s->pool);
    put_list(out, "levels", smurf_levels, SMURF_LEVELS, 1);
    put_list(out, "coverage", m->coverage, SMURF_LEVELS, 1);
    put_list(out, "interval_length", m->interval_length, SMURF_LEVELS, s->per);
    if (raw) put_list(out, "coverage_raw", raw->coverage, SMURF_LEVELS, 1);
    const smurf_coverage *c = smurf_evaluation_coverage(e, SMURF_ROW_MODEL);
    put_member(out, "tick", "", c->tick / s->per);
    put_list(out, "coverage_on_ticks", c->upto, SMURF_LEVELS, 1);
    put_list(out, "central_on_ticks", c->central, SMURF_CENTRAL, 1);
    put_list(out, "central_pit", c->central_pit, SMURF_CENTRAL, 1);
    json_ends(out, e);
    json_mean_gaps(out, e);
    json_intervals(out, e, s);
    fputs("}\n", out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void show_metrics_csv(FILE *out, const smurf_evaluation *e, const struct shown *s)
{
    const smurf_metric *metric;
    fputs("row,n,sequences,unit", out);
    for (size_t k = 0; (metric = smurf_metric_at(k)); k++) fprintf(out, ",%s", metric->name);
    for (int k = 0; k < SMURF_LEVELS; k++) fprintf(out, ",coverage_%g", smurf_levels[k]);
    fputc('\n', out);
    for (size_t i = 0; i < ROWS; i++) {
        const smurf_metrics *m = row_of(e, rows[i].row);
        if (!m) continue;
        put_csv_text(out, rows[i].name);
        fprintf(out, ",%zu,%zu,", m->n, m->sequences);
        put_csv_text(out, unit_word(s));
        for (size_t k = 0; (metric = smurf_metric_at(k)); k++) {
            double x = metric_value(m, metric, s->per);
            if (isfinite(x))
                fprintf(out, ",%.10g", x);
            else
                fputc(',', out);
        }
        for (int k = 0; k < SMURF_LEVELS; k++) fprintf(out, ",%.10g", m->coverage[k]);
        fputc('\n', out);
    }
}
