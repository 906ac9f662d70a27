/*
 * comparison.c - a page that compares several models: the table, coverage and interval length over all levels.
 */
#include "report/chart.h"
#include "report/markup.h"
#include "report/noise.h"
#include "report/page.h"

#include "base/error.h"

#include <math.h>

/* Most lines in a figure; the table shows all rows. */
enum { LINES_MOST = 24 };
#define PANEL_WIDTH  520.0
#define PANEL_HEIGHT 400.0

/* ---- Figures ----------------------------------------------------------------------------------- */

/* Cycles through colours, then dashes. References are thin and dotted. */
static struct style style_of(const smurf_comparison *c, size_t row)
{
    static const enum colour colour[] = {COLOUR_MODEL,    COLOUR_TRUTH, COLOUR_RECENT, COLOUR_RAW,
                                         COLOUR_MARGINAL, COLOUR_INK,   COLOUR_SAMPLED};
    static const enum dash dash[] = {DASH_SOLID, DASH_LONG, DASH_SHORT, DASH_DOTS};
    enum { COUNT = sizeof colour / sizeof *colour };
    struct style style = {.line = colour[row % COUNT], .width = 2.2, .dash = dash[row / COUNT % 4]};
    if (c->row[row].reference) style.width = 1.3, style.dash = DASH_DOTS;
    return style;
}

static size_t lines_of(const smurf_comparison *c)
{
    return c->rows < LINES_MOST ? c->rows : LINES_MOST;
}

static size_t keys_of(const smurf_comparison *c, struct key key[LINES_MOST])
{
    for (size_t i = 0; i < lines_of(c); i++) key[i] = (struct key){c->row[i].name, style_of(c, i), KEY_LINE};
    return lines_of(c);
}

static void fill_levels(double level[SMURF_LEVELS])
{
    for (int i = 0; i < SMURF_LEVELS; i++) level[i] = 100 * smurf_levels[i];
}

/* Half of the second panel's height: fits all rows, at most 30 points. */
static double deviation_limit(const smurf_comparison *c)
{
    double most = 1;
    for (size_t r = 0; r < lines_of(c); r++)
        for (int i = 0; i < SMURF_LEVELS; i++) {
            double miss = 100 * fabs(c->row[r].mean.coverage[i] - smurf_levels[i]);
            if (miss > most) most = miss;
        }
    return fmin(most, 30);
}

/* Panel 0: coverage; panel 1: coverage minus level. */
static void draw_coverage(struct canvas *canvas, const smurf_comparison *c, int panel)
{
    const struct style band = {.fill = COLOUR_BAND, .opacity = 0.55}, zero = {.line = COLOUR_MUTED, .width = 1};
    double level[SMURF_LEVELS], low[SMURF_LEVELS], high[SMURF_LEVELS], y[SMURF_LEVELS], limit = deviation_limit(c);
    struct key key[LINES_MOST + 1];
    size_t keys = keys_of(c, key);
    key[keys++] = (struct key){"chance, 95%", band, KEY_BOX};
    struct chart_plan plan = {.width = PANEL_WIDTH, .height = PANEL_HEIGHT, .key = key, .keys = keys};
    plan.x = (struct axis){.label = "nominal level (%)", .low = 0, .high = 100};
    plan.y = (struct axis){.label = "coverage: gaps inside (%)", .low = 0, .high = 100};
    if (panel)
        plan.y = (struct axis){.label = "coverage − level (points)", .low = -limit, .high = limit, .round = true};
    fill_levels(level);
    for (int i = 0; i < SMURF_LEVELS; i++) {
        struct span span = smurf_binomial_span(c->row[0].mean.n, smurf_levels[i]);
        low[i] = 100 * span.low - (panel ? level[i] : 0);
        high[i] = 100 * span.high - (panel ? level[i] : 0);
    }
    struct chart chart;
    const double ends[2] = {0, 100}, flat[2] = {0, 0};
    smurf_chart_open(&chart, canvas, &plan);
    smurf_chart_band(&chart, level, low, high, SMURF_LEVELS, &band);
    smurf_chart_line(&chart, ends, panel ? flat : ends, 2, &zero);
    for (size_t r = lines_of(c); r-- > 0;) {
        struct style style = style_of(c, r);
        for (int i = 0; i < SMURF_LEVELS; i++) y[i] = 100 * c->row[r].mean.coverage[i] - (panel ? level[i] : 0);
        smurf_chart_line(&chart, level, y, SMURF_LEVELS, &style);
    }
    smurf_chart_close(&chart);
}

static void range(const smurf_comparison *c, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (size_t r = 0; r < lines_of(c); r++)
        for (int i = 0; i < SMURF_LEVELS; i++) {
            double length = c->row[r].mean.interval_length[i];
            if (!isfinite(length)) continue;
            if (length > 0) *low = fmin(*low, length);
            *high = fmax(*high, length);
        }
    if (!(*low < *high)) *low = 0.5, *high = 1;
}

static void draw_length(struct canvas *canvas, const smurf_comparison *c, int panel)
{
    (void)panel;
    double low, high, level[SMURF_LEVELS];
    range(c, &low, &high);
    bool log = high > 100 * low;
    struct key key[LINES_MOST];
    struct words label = {0};
    smurf_words_add(&label, c->unit[0] ? "mean length (%s)" : "mean length", c->unit);
    struct chart_plan plan = {.width = PANEL_WIDTH, .height = PANEL_HEIGHT, .key = key, .keys = keys_of(c, key)};
    plan.x = (struct axis){.label = "level (%)", .low = 0, .high = 100};
    plan.y = (struct axis){
        .label = label.text, .low = log ? low / 1.2 : 0, .high = log ? high * 1.2 : high, .log = log, .round = !log};
    fill_levels(level);
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    for (size_t r = lines_of(c); r-- > 0;) {
        struct style style = style_of(c, r);
        smurf_chart_line(&chart, level, c->row[r].mean.interval_length, SMURF_LEVELS, &style);
    }
    smurf_chart_close(&chart);
}

/* ---- The page ------------------------------------------------------------------------------------ */

static void write_cell(struct sink *sink, const smurf_comparison *c, size_t row, size_t column)
{
    const smurf_metric *shown = smurf_comparison_column(column);
    smurf_mark mark = smurf_comparison_mark(c, row, column);
    double sd, x = smurf_comparison_value(c, row, column, &sd);
    smurf_sink_text(sink, mark == SMURF_MARK_BEST ? "<td class=\"best\"><b>" : "<td>");
    smurf_markup_text(sink, smurf_fixed(x, shown->places).text);
    if (mark == SMURF_MARK_BEST) smurf_sink_text(sink, "</b>");
    if (mark == SMURF_MARK_NEAR) smurf_sink_text(sink, " ~");
    if (isfinite(sd) && isfinite(x)) {
        smurf_markup_between(sink, "<small>± ", smurf_fixed(sd, shown->places).text, "</small>");
    }
    smurf_sink_text(sink, "</td>");
}

static void write_table(struct sink *sink, const smurf_comparison *c)
{
    smurf_sink_text(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Metrics\"><table>\n"
                          "<thead><tr><th scope=\"col\">law</th>");
    for (size_t k = 0; smurf_comparison_column(k); k++) {
        smurf_markup_between(sink, "<th scope=\"col\" title=\"", smurf_comparison_column(k)->about, "\">");
        smurf_markup_text(sink, smurf_comparison_column(k)->head);
        smurf_sink_text(sink, "</th>");
    }
    smurf_sink_text(sink, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < c->rows; r++) {
        smurf_markup_between(sink, "<tr><th scope=\"row\">", c->row[r].name, "</th>");
        for (size_t k = 0; smurf_comparison_column(k); k++) write_cell(sink, c, r, k);
        smurf_sink_text(sink, "</tr>\n");
    }
    smurf_sink_text(sink, "</tbody></table></div>\n");
}

static void write_notes(struct sink *sink, const smurf_comparison *c)
{
    struct words notes = {0};
    smurf_words_add(&notes, "Noise floor of CS, the score of the true law by chance: %s%%. ",
                    smurf_fixed(c->row[0].mean.cs_floor, 2).text);
    if (isfinite(c->markov))
        smurf_words_add(&notes, "The most frequent successor of the last type is correct for %s%% of events. ",
                        smurf_fixed(c->markov, 2).text);
    if (c->size > offsetof(smurf_comparison, recency) && isfinite(c->recency))
        smurf_words_add(&notes, "The most probable type by how recently each occurred is correct for %s%%. ",
                        smurf_fixed(c->recency, 2).text);
    smurf_words_add(&notes,
                    "Mean ± standard deviation over seeds. Bold: best. ~: within the larger of the two standard "
                    "deviations of the best. ");
    if (c->note) smurf_words_add(&notes, "%s", c->note);
    smurf_sink_text(sink, "<details class=\"notes\" open><summary>Columns</summary><dl>\n");
    for (size_t k = 0; smurf_comparison_column(k); k++) {
        smurf_markup_between(sink, "<div><dt>", smurf_comparison_column(k)->head, "</dt><dd>");
        smurf_markup_text(sink, smurf_comparison_column(k)->about);
        smurf_sink_text(sink, "</dd></div>\n");
    }
    smurf_markup_between(sink, "</dl><p>", notes.text, "</p></details>\n");
}

/* A figure of one or two panels. */
static void write_figure(struct sink *sink, const smurf_comparison *c, const char *name, const char *title,
                         const char *caption, int panels,
                         void (*draw)(struct canvas *canvas, const smurf_comparison *c, int panel))
{
    smurf_sink_text(sink, panels > 1 ? "<figure class=\"wide\" id=\"" : "<figure id=\"");
    smurf_sink_text(sink, name);
    smurf_markup_between(sink, "\">\n<h2>", title,
                         panels > 1 ? "</h2>\n<div class=\"panels\">\n" : "</h2>\n<div class=\"panels one\">\n");
    for (int i = 0; i < panels; i++) {
        struct svg svg;
        draw(smurf_svg_open(&svg, sink, PANEL_WIDTH, PANEL_HEIGHT, title, true), c, i);
        smurf_svg_close(&svg);
    }
    smurf_markup_between(sink, "</div>\n<figcaption>", caption, "</figcaption>\n</figure>\n");
}

/* The best laws, in a sentence. */
static void add_verdict(struct words *words, const smurf_comparison *c)
{
    enum { CS, CRPS };
    for (size_t r = 0; r < c->rows; r++)
        if (smurf_comparison_mark(c, r, CRPS) == SMURF_MARK_BEST)
            smurf_words_add(words, "%s has the best CRPS, %s. ", c->row[r].name,
                            smurf_significant(c->row[r].mean.crps, 4).text);
    for (size_t r = 0; r < c->rows; r++)
        if (smurf_comparison_mark(c, r, CS) == SMURF_MARK_BEST)
            smurf_words_add(words, "%s has the best calibrated intervals: off by %s points; chance alone gives %s. ",
                            c->row[r].name, smurf_fixed(c->row[r].mean.cs, 2).text,
                            smurf_fixed(c->row[r].mean.cs_floor, 2).text);
}

static void write_page(struct sink *sink, const smurf_comparison *c)
{
    struct words about = {0}, verdict = {0};
    add_verdict(&verdict, c);
    smurf_words_add(&about, "Data: %s: %s gaps of %s sequences", c->data, smurf_count(c->row[0].mean.n).text,
                    smurf_count(c->row[0].mean.sequences).text);
    if (c->unit[0]) smurf_words_add(&about, "; CRPS and IL in %s", c->unit);
    smurf_page_begin(sink, "Comparison: ", c->data);
    smurf_markup_between(sink, "<header>\n<h1>Comparison of models</h1>\n<p class=\"about\">", about.text,
                         "</p>\n<p class=\"verdict\">");
    smurf_markup_text(sink, verdict.text);
    smurf_sink_text(sink, "</p>\n</header>\n<section>\n<h2>The numbers</h2>\n");
    write_table(sink, c);
    write_notes(sink, c);
    smurf_sink_text(sink, "</section>\n<section class=\"figures\">\n");
    write_figure(
        sink, c, "coverage", "Are the intervals calibrated?",
        "How often the event occurred by the time that each law predicts for a level; a calibrated law lies on "
        "the diagonal. Second panel: the difference, enlarged. Inside the grey band it is no more than chance.",
        2, draw_coverage);
    write_figure(sink, c, "length", "How long are the intervals?",
                 "Mean length of the interval from now to the time of each level. Of two calibrated laws, the one with "
                 "shorter intervals is better.",
                 1, draw_length);
    smurf_sink_text(sink, "</section>\n");
    smurf_page_end(sink, "");
}

smurf_status smurf_comparison_report(const smurf_comparison *comparison, const char *path, smurf_error *err)
{
    struct sink sink;
    if (!comparison->rows) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "no laws to compare");
    smurf_status status = smurf_sink_open(&sink, path, false, err);
    if (status) return status;
    write_page(&sink, comparison);
    return smurf_sink_commit(&sink, err);
}
