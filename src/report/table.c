/* table.c - the table of metrics on a report page. Each line of `columns` is a column. */
#include "eval/metrics.h"
#include "report/figure.h"
#include "report/markup.h"
#include "report/page.h"

#include <math.h>

enum format { PERCENT_2, PERCENT_1, SIGNIFICANT, PROBABILITY };

/* Columns of the page alone; their numbers follow those of smurf_metrics. */
enum { INSIDE = METRICS, GAIN };
static const smurf_metric inside_metric = {
    .head = "in 90%", .about = "share of gaps inside the central 90% intervals, by the PIT, in percent"};
static const smurf_metric gain_metric = {.head = "gain%",
                                         .about = "gain in CRPS over the best of the naive laws, in percent"};

static const struct column {
    unsigned metric;
    enum format format;
    bool types;            /* only with several types */
    enum claim_name claim; /* whose finding the model's cell shows; CLAIMS: none. CLAIM_LEVELS: in one of two columns */
} columns[] = {
    {INSIDE, PERCENT_1, false, CLAIM_INSIDE},
    {METRIC_cs, PERCENT_2, false, CLAIM_LEVELS},
    {METRIC_cs_pit, PERCENT_2, false, CLAIM_LEVELS},
    {METRIC_crps, SIGNIFICANT, false, CLAIMS},
    {GAIN, PERCENT_1, false, CLAIM_CRPS},
    {METRIC_cer, PERCENT_2, false, CLAIMS},
    {METRIC_il, SIGNIFICANT, false, CLAIMS},
    {METRIC_log_likelihood, SIGNIFICANT, false, CLAIM_LIKELIHOOD},
    {METRIC_ks_p, PROBABILITY, false, CLAIMS},
    {METRIC_acc, PERCENT_1, true, CLAIM_TYPES},
    {METRIC_acc_true_time, PERCENT_1, true, CLAIMS},
    {METRIC_type_loss, SIGNIFICANT, true, CLAIMS},
    {METRIC_brier, SIGNIFICANT, true, CLAIMS},
    {METRIC_ece, PERCENT_1, true, CLAIMS},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const smurf_metric *metric_of(size_t column)
{
    if (columns[column].metric == INSIDE) return &inside_metric;
    return columns[column].metric == GAIN ? &gain_metric : smurf_metric_at(columns[column].metric);
}

/* "CRPS (min)" */
static void write_head_text(struct sink *sink, const struct evaluation *evaluation, size_t column)
{
    smurf_markup_text(sink, metric_of(column)->head);
    if (metric_of(column)->unit == SMURF_METRIC_TIME && evaluation->unit[0])
        smurf_markup_between(sink, " (", evaluation->unit, ")");
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
    if (columns[column].metric == INSIDE) return smurf_inside(evaluation, row);
    if (columns[column].metric == GAIN) return smurf_gain(evaluation, row);
    return smurf_metric_value(&evaluation->row[row].metrics, metric_of(column));
}

static void write_interval(struct sink *sink, const struct row_values *row, size_t column)
{
    const smurf_metric *metric = metric_of(column);
    if (columns[column].metric >= METRICS) return;
    double low = smurf_metric_value(&row->low, metric), high = smurf_metric_value(&row->high, metric);
    if (!isfinite(low) || !isfinite(high)) return;
    smurf_markup_between(sink, "<small>", format(low, columns[column].format, true).text, " … ");
    smurf_markup_text(sink, format(high, columns[column].format, true).text);
    smurf_sink_text(sink, "</small>");
}

/* The claim that the model's cell shows; CLAIMS: none. */
static enum claim_name claim_of(const struct evaluation *evaluation, enum row row, size_t column)
{
    enum claim_name name = columns[column].claim;
    if (row != ROW_MODEL || (name == CLAIM_LEVELS && metric_of(column) != smurf_fair_cs(evaluation))) return CLAIMS;
    return name;
}

static void write_cell(struct sink *sink, const struct evaluation *evaluation, enum row row, size_t column,
                       const struct claim claim[CLAIMS])
{
    const struct row_values *values = &evaluation->row[row];
    enum claim_name name = claim_of(evaluation, row, column);
    smurf_sink_text(sink, "<td");
    if (name < CLAIMS && isfinite(claim[name].value)) smurf_page_mark(sink, name, claim);
    smurf_markup_between(sink, ">", format(value_of(evaluation, row, column), columns[column].format, false).text, "");
    if (name < CLAIMS && claim[name].word.text[0])
        smurf_markup_between(sink, "<small class=\"word\">", claim[name].word.text, "</small>");
    if (evaluation->bootstrap) write_interval(sink, values, column);
    if (columns[column].metric == METRIC_cs && isfinite(values->metrics.cs_floor))
        smurf_markup_between(sink, "<small>floor ", smurf_fixed(values->metrics.cs_floor, 2).text, "</small>");
    smurf_sink_text(sink, "</td>");
}

static void write_head(struct sink *sink, const struct evaluation *evaluation)
{
    smurf_sink_text(sink, "<thead><tr><th scope=\"col\">law</th>");
    for (size_t k = 0; k < COLUMNS; k++) {
        if (!is_shown(evaluation, k)) continue;
        smurf_markup_between(sink, "<th scope=\"col\" title=\"", metric_of(k)->about, "\">");
        write_head_text(sink, evaluation, k);
        smurf_sink_text(sink, "</th>");
    }
    smurf_sink_text(sink, "</tr></thead>\n");
}

static void write_row(struct sink *sink, const struct evaluation *evaluation, enum row row,
                      const struct claim claim[CLAIMS])
{
    smurf_markup_between(sink, row == ROW_MODEL ? "<tr class=\"model\"><th scope=\"row\">" : "<tr><th scope=\"row\">",
                         evaluation->row[row].name, "</th>");
    for (size_t k = 0; k < COLUMNS; k++)
        if (is_shown(evaluation, k)) write_cell(sink, evaluation, row, k, claim);
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
    smurf_sink_text(sink, "</dl><p>“floor” is the CS that chance alone gives with so many gaps here, and so many to "
                          "calibrate on.");
    if (is_measured(evaluation, ROW_MARGINAL))
        smurf_sink_text(sink,
                        " Naive laws: “marginal”, all gaps of train; “recent”, those after gaps of a similar mean");
    if (is_measured(evaluation, ROW_LAST))
        smurf_sink_text(sink,
                        "; “last 100”, the last 100 gaps; “same hour”, those that began in the same hour of the day");
    if (is_measured(evaluation, ROW_MARGINAL)) smurf_sink_char(sink, '.');
    if (is_measured(evaluation, ROW_RAW))
        smurf_sink_text(sink, " “raw” is the model before it is pooled and recalibrated.");
    if (is_measured(evaluation, ROW_FIXED)) smurf_sink_text(sink, " “fixed” is the model before its levels adapt.");
    if (evaluation->bootstrap) {
        smurf_markup_between(sink, " Ranges in small print: 90% intervals from ",
                             smurf_count(evaluation->bootstrap).text, " bootstrap resamples of whole sequences.");
    }
    if (isfinite(evaluation->mean_gap)) {
        smurf_sink_text(sink, " Mean gap of train: ");
        smurf_markup_text(sink, smurf_duration(evaluation->mean_gap, evaluation->unit).text);
        smurf_sink_char(sink, '.');
    }
    smurf_sink_text(sink, " log-lik is per unit of time of the data.</p></details>\n");
}

void smurf_table_write(struct sink *sink, const struct evaluation *evaluation, const struct claim claim[CLAIMS])
{
    smurf_sink_text(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Metrics\"><table>\n");
    write_head(sink, evaluation);
    smurf_sink_text(sink, "<tbody>\n");
    for (enum row row = 0; row < ROWS; row++)
        if (is_measured(evaluation, row)) write_row(sink, evaluation, row, claim);
    write_types_row(sink, evaluation, "most frequent successor", evaluation->acc_markov);
    write_types_row(sink, evaluation, "by recency", evaluation->acc_recency);
    smurf_sink_text(sink, "</tbody></table></div>\n");
    write_notes(sink, evaluation);
}
