/* table.c - the table of metrics. A column is a line of `columns`. */
#include "report/figure.h"
#include "report/markup.h"
#include "report/page.h"

#include <math.h>
#include <stddef.h>

enum format { PERCENT_2, PERCENT_1, SIGNIFICANT, PROBABILITY };
struct column {
    const char *head, *about;
    size_t offset; /* in smurf_metrics */
    enum format format;
    bool types; /* only where there are several */
};
#define FIELD(name) offsetof(smurf_metrics, name)
static const struct column columns[] = {
    {"CS %", "calibration score: root mean square of kept − promised over levels 50% to 95%", FIELD(cs), PERCENT_2,
     false},
    {"CS PIT %", "the same, with gaps spread within a step of the clock", FIELD(cs_pit), PERCENT_2, false},
    {"CRPS", "mean error of whole laws, in the unit of time; lower is better", FIELD(crps), SIGNIFICANT, false},
    {"skill %", "how much better in CRPS than the naive law of recent gaps", 0, PERCENT_1, false},
    {"CER %", "|kept − promised| at 50%", FIELD(cer), PERCENT_2, false},
    {"IL", "mean length of the 50% interval, in the unit of time", FIELD(il), SIGNIFICANT, false},
    {"log-lik.", "mean log density of the gaps; higher is better", FIELD(log_likelihood), SIGNIFICANT, false},
    {"KS p", "probability of a larger Kolmogorov-Smirnov distance, were the law true", FIELD(ks_p), PROBABILITY, false},
    {"types %", "types right, time unknown", FIELD(acc), PERCENT_1, true},
    {"at time %", "types right, time of the event given", FIELD(acc_true_time), PERCENT_1, true},
    {"type loss", "mean −ln of the true type's probability", FIELD(type_loss), SIGNIFICANT, true},
    {"Brier", "squared distance of the types' probabilities from the truth", FIELD(brier), SIGNIFICANT, true},
    {"ECE %", "mean difference of sureness and success of types", FIELD(ece), PERCENT_1, true},
};
enum { COLUMNS = sizeof columns / sizeof *columns, SKILL_COLUMN = 3, TYPES_COLUMN = 8 };

static double field(const smurf_metrics *metrics, const struct column *column)
{
    return *(const double *)(const void *)((const char *)metrics + column->offset);
}

/* Ends of intervals are given less closely than what they are around. */
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
    if (column != SKILL_COLUMN) return field(metrics, &columns[column]);
    if (!is_measured(evaluation, ROW_RECENT) || row == ROW_RECENT) return NAN;
    return 100 * (1 - metrics->crps / evaluation->row[ROW_RECENT].metrics.crps);
}

static void write_interval(struct sink *sink, const struct row_values *row, const struct column *column)
{
    double low = field(&row->low, column), high = field(&row->high, column);
    if (!isfinite(low) || !isfinite(high)) return;
    smurf_sink_text(sink, "<small>");
    smurf_markup_text(sink, format(low, column->format, true).text);
    smurf_sink_text(sink, " … ");
    smurf_markup_text(sink, format(high, column->format, true).text);
    smurf_sink_text(sink, "</small>");
}

static void write_cell(struct sink *sink, const struct evaluation *evaluation, enum row row, size_t column)
{
    const struct row_values *values = &evaluation->row[row];
    smurf_sink_text(sink, "<td>");
    smurf_markup_text(sink, format(value_of(evaluation, row, column), columns[column].format, false).text);
    if (evaluation->bootstrap && column != SKILL_COLUMN) write_interval(sink, values, &columns[column]);
    if (column == 0 && isfinite(values->metrics.cs_floor)) {
        smurf_sink_text(sink, "<small>floor ");
        smurf_markup_text(sink, smurf_fixed(values->metrics.cs_floor, 2).text);
        smurf_sink_text(sink, "</small>");
    }
    smurf_sink_text(sink, "</td>");
}

static void write_head(struct sink *sink, const struct evaluation *evaluation)
{
    smurf_sink_text(sink, "<thead><tr><th scope=\"col\">law</th>");
    for (size_t k = 0; k < COLUMNS; k++) {
        if (!is_shown(evaluation, k)) continue;
        smurf_sink_text(sink, "<th scope=\"col\" title=\"");
        smurf_markup_text(sink, columns[k].about);
        smurf_sink_text(sink, "\">");
        smurf_markup_text(sink, columns[k].head);
        smurf_sink_text(sink, "</th>");
    }
    smurf_sink_text(sink, "</tr></thead>\n");
}

static void write_row(struct sink *sink, const struct evaluation *evaluation, enum row row)
{
    smurf_sink_text(sink, row == ROW_MODEL ? "<tr class=\"model\"><th scope=\"row\">" : "<tr><th scope=\"row\">");
    smurf_markup_text(sink, evaluation->row[row].name);
    smurf_sink_text(sink, "</th>");
    for (size_t k = 0; k < COLUMNS; k++)
        if (is_shown(evaluation, k)) write_cell(sink, evaluation, row, k);
    smurf_sink_text(sink, "</tr>\n");
}

static void write_markov(struct sink *sink, const struct evaluation *evaluation)
{
    if (!isfinite(evaluation->acc_markov) || evaluation->types < 2) return;
    smurf_sink_text(sink, "<tr><th scope=\"row\">most frequent successor</th>");
    for (size_t k = 0; k < COLUMNS; k++) {
        smurf_sink_text(sink, "<td>");
        smurf_markup_text(sink, k == TYPES_COLUMN ? smurf_fixed(evaluation->acc_markov, 1).text : "–");
        smurf_sink_text(sink, "</td>");
    }
    smurf_sink_text(sink, "</tr>\n");
}

static void write_notes(struct sink *sink, const struct evaluation *evaluation)
{
    smurf_sink_text(sink, "<details class=\"notes\" open><summary>What the columns say</summary><dl>\n");
    for (size_t k = 0; k < COLUMNS; k++) {
        if (!is_shown(evaluation, k)) continue;
        smurf_sink_text(sink, "<div><dt>");
        smurf_markup_text(sink, columns[k].head);
        smurf_sink_text(sink, "</dt><dd>");
        smurf_markup_text(sink, columns[k].about);
        smurf_sink_text(sink, "</dd></div>\n");
    }
    smurf_sink_text(sink, "</dl><p>“floor” is the CS to be expected of the true law, by chance, on as many gaps.");
    if (evaluation->bootstrap) {
        smurf_sink_text(sink, " Small print: 90% intervals from ");
        smurf_markup_text(sink, smurf_count(evaluation->bootstrap).text);
        smurf_sink_text(sink, " resamplings of whole sequences.");
    }
    if (evaluation->unit[0]) {
        smurf_sink_text(sink, " Unit of time: ");
        smurf_markup_text(sink, evaluation->unit);
        smurf_sink_char(sink, '.');
    }
    if (isfinite(evaluation->mean_gap)) {
        smurf_sink_text(sink, " Mean gap of train: ");
        smurf_markup_text(sink, smurf_significant(evaluation->mean_gap, 3).text);
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
    write_markov(sink, evaluation);
    smurf_sink_text(sink, "</tbody></table></div>\n");
    write_notes(sink, evaluation);
}
