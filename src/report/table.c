/* table.c - the table of metrics on a report page. Each line of `columns` is a column. */
#include "eval/metrics.h"
#include "report/figure.h"
#include "report/markup.h"
#include "report/page.h"

#include <math.h>

enum format { PERCENT_2, PERCENT_1, SIGNIFICANT, PROBABILITY };

/* SKILL is not a field of smurf_metrics; its number follows the last of them. */
enum { SKILL = METRICS };
static const struct column {
    unsigned metric;
    enum format format;
    bool types; /* only with several types */
} columns[] = {
    {METRIC_cs, PERCENT_2, false},
    {METRIC_cs_pit, PERCENT_2, false},
    {METRIC_crps, SIGNIFICANT, false},
    {SKILL, PERCENT_1, false},
    {METRIC_cer, PERCENT_2, false},
    {METRIC_il, SIGNIFICANT, false},
    {METRIC_log_likelihood, SIGNIFICANT, false},
    {METRIC_ks_p, PROBABILITY, false},
    {METRIC_acc, PERCENT_1, true},
    {METRIC_acc_true_time, PERCENT_1, true},
    {METRIC_type_loss, SIGNIFICANT, true},
    {METRIC_brier, SIGNIFICANT, true},
    {METRIC_ece, PERCENT_1, true},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const smurf_metric *metric_of(size_t column)
{
    return columns[column].metric == SKILL ? &smurf_metric_skill : smurf_metric_at(columns[column].metric);
}

/* Interval ends have fewer digits than the value. */
static struct label format(double x, enum format format, bool end)
{
    switch (format) {
    case PERCENT_2: return smurf_fixed(x, 2);
    case PERCENT_1: return smurf_fixed(x, 1);
    case PROBABILITY: return x < 0.001 ? (struct label){"<0.001"} : smurf_fixed(x, 3);
    default: return smurf_significant(x, end ? 3 : 4);
    }
}

static bool is_shown(const struct evaluation *evaluation, size_t column)
{
    return !columns[column].types || evaluation->types > 1;
}

static double value_of(const struct evaluation *evaluation, enum row row, size_t column)
{
    const smurf_metrics *metrics = &evaluation->row[row].metrics;
    if (columns[column].metric != SKILL) return smurf_metric_value(metrics, metric_of(column));
    if (!is_measured(evaluation, ROW_RECENT) || row == ROW_RECENT) return NAN;
    return 100 * (1 - metrics->crps / evaluation->row[ROW_RECENT].metrics.crps);
}

static void write_interval(struct sink *sink, const struct row_values *row, size_t column)
{
    const smurf_metric *metric = metric_of(column);
    double low = smurf_metric_value(&row->low, metric), high = smurf_metric_value(&row->high, metric);
    if (!isfinite(low) || !isfinite(high)) return;
    smurf_markup_between(sink, "<small>", format(low, columns[column].format, true).text, " … ");
    smurf_markup_text(sink, format(high, columns[column].format, true).text);
    smurf_sink_text(sink, "</small>");
}

static void write_cell(struct sink *sink, const struct evaluation *evaluation, enum row row, size_t column)
{
    const struct row_values *values = &evaluation->row[row];
    smurf_sink_text(sink, "<td>");
    smurf_markup_text(sink, format(value_of(evaluation, row, column), columns[column].format, false).text);
    if (evaluation->bootstrap) write_interval(sink, values, column);
    if (columns[column].metric == METRIC_cs && isfinite(values->metrics.cs_floor)) {
        smurf_markup_between(sink, "<small>floor ", smurf_fixed(values->metrics.cs_floor, 2).text, "</small>");
    }
    smurf_sink_text(sink, "</td>");
}

static void write_head(struct sink *sink, const struct evaluation *evaluation)
{
    smurf_sink_text(sink, "<thead><tr><th scope=\"col\">law</th>");
    for (size_t k = 0; k < COLUMNS; k++) {
        if (!is_shown(evaluation, k)) continue;
        smurf_markup_between(sink, "<th scope=\"col\" title=\"", metric_of(k)->about, "\">");
        smurf_markup_text(sink, metric_of(k)->head);
        smurf_sink_text(sink, "</th>");
    }
    smurf_sink_text(sink, "</tr></thead>\n");
}

static void write_row(struct sink *sink, const struct evaluation *evaluation, enum row row)
{
    smurf_markup_between(sink, row == ROW_MODEL ? "<tr class=\"model\"><th scope=\"row\">" : "<tr><th scope=\"row\">",
                         evaluation->row[row].name, "</th>");
    for (size_t k = 0; k < COLUMNS; k++)
        if (is_shown(evaluation, k)) write_cell(sink, evaluation, row, k);
    smurf_sink_text(sink, "</tr>\n");
}

/* A law of types alone; acc NaN: not measured. */
static void write_types_row(struct sink *sink, const struct evaluation *evaluation, const char *name, double acc)
{
    if (!isfinite(acc) || evaluation->types < 2) return;
    smurf_markup_between(sink, "<tr><th scope=\"row\">", name, "</th>");
    for (size_t k = 0; k < COLUMNS; k++)
        smurf_markup_between(sink, "<td>", columns[k].metric == METRIC_acc ? smurf_fixed(acc, 1).text : "–", "</td>");
    smurf_sink_text(sink, "</tr>\n");
}

static void write_notes(struct sink *sink, const struct evaluation *evaluation)
{
    smurf_sink_text(sink, "<details class=\"notes\" open><summary>Columns</summary><dl>\n");
    for (size_t k = 0; k < COLUMNS; k++) {
        if (!is_shown(evaluation, k)) continue;
        smurf_markup_between(sink, "<div><dt>", metric_of(k)->head, "</dt><dd>");
        smurf_markup_text(sink, metric_of(k)->about);
        smurf_sink_text(sink, "</dd></div>\n");
    }
    smurf_sink_text(sink,
                    "</dl><p>“floor” is the CS that the true law would have by chance on the same number of gaps.");
    if (evaluation->bootstrap) {
        smurf_markup_between(sink, " Small print: 90% intervals from ", smurf_count(evaluation->bootstrap).text,
                             " bootstrap resamples of whole sequences.");
    }
    if (evaluation->unit[0]) {
        smurf_sink_text(sink, " Unit of time: ");
        smurf_markup_text(sink, evaluation->unit);
        smurf_sink_char(sink, '.');
    }
    if (isfinite(evaluation->mean_gap)) {
        smurf_sink_text(sink, " Mean gap of train: ");
        smurf_markup_text(sink, smurf_duration(evaluation->mean_gap, evaluation->unit).text);
        smurf_sink_char(sink, '.');
    }
    smurf_sink_text(sink, "</p></details>\n");
}

void smurf_table_write(struct sink *sink, const struct evaluation *evaluation)
{
    smurf_sink_text(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Metrics\"><table>\n");
    write_head(sink, evaluation);
    smurf_sink_text(sink, "<tbody>\n");
    for (enum row row = 0; row < ROWS; row++)
        if (is_measured(evaluation, row)) write_row(sink, evaluation, row);
    write_types_row(sink, evaluation, "most frequent successor", evaluation->acc_markov);
    write_types_row(sink, evaluation, "by recency", evaluation->acc_recency);
    smurf_sink_text(sink, "</tbody></table></div>\n");
    write_notes(sink, evaluation);
}
