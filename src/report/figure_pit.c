/* figure_pit.c - histogram of the PIT values, flat for a calibrated model. */
#include "report/figure.h"
#include "report/noise.h"

#include <math.h>

enum { BINS = 20 };

static size_t count(size_t bin[BINS], const double *pit, size_t n)
{
    size_t all = 0;
    for (int b = 0; b < BINS; b++) bin[b] = 0;
    for (size_t i = 0; pit && i < n; i++) {
        if (!(pit[i] >= 0 && pit[i] <= 1)) continue;
        int b = (int)(pit[i] * BINS);
        bin[b < BINS ? b : BINS - 1]++;
        all++;
    }
    return all;
}

static size_t panels(const struct evaluation *evaluation)
{
    size_t bin[BINS];
    return is_measured(evaluation, ROW_MODEL) && count(bin, evaluation->row[ROW_MODEL].pit, evaluation->n) > 0;
}

/* Relative to a flat histogram. */
static double height(size_t count_of_bin, size_t all)
{
    return BINS * (double)count_of_bin / (double)all;
}

static void draw_steps(struct chart *chart, const size_t bin[BINS], size_t all, const struct style *style)
{
    double x[2 * BINS], y[2 * BINS];
    for (int b = 0; b < BINS; b++) {
        x[2 * b] = 100.0 * b / BINS;
        x[2 * b + 1] = 100.0 * (b + 1) / BINS;
        y[2 * b] = y[2 * b + 1] = height(bin[b], all);
    }
    smurf_chart_line(chart, x, y, 2 * BINS, style);
}

static void draw_level(struct chart *chart, double level, const struct style *style)
{
    const double ends[2] = {0, 100}, flat[2] = {level, level};
    smurf_chart_line(chart, ends, flat, 2, style);
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    (void)panel;
    const struct style bar = {.fill = COLOUR_MODEL, .line = COLOUR_PAPER, .width = 1.5, .opacity = 0.6};
    const struct style band = {.fill = COLOUR_BAND, .opacity = 0.6}, one = {.line = COLOUR_INK, .dash = DASH_SHORT};
    const struct style edge = {.line = COLOUR_MUTED, .width = 0.8};
    const struct row_values *raw = &evaluation->row[ROW_RAW];
    size_t bin[BINS], raw_bin[BINS], all = count(bin, evaluation->row[ROW_MODEL].pit, evaluation->n);
    size_t raw_all = raw->name ? count(raw_bin, raw->pit, evaluation->n) : 0;
    struct span span = smurf_binomial_span(all, 1.0 / BINS);
    double top = fmax(1.5, 1.05 * BINS * span.high);
    for (int b = 0; b < BINS; b++) top = fmax(top, height(bin[b], all));
    for (int b = 0; b < BINS && raw_all; b++) top = fmax(top, height(raw_bin[b], raw_all));
    struct key key[3] = {{evaluation->row[ROW_MODEL].name, bar, KEY_BOX}, {"chance, 95%", band, KEY_BOX}};
    if (raw_all) key[2] = (struct key){raw->name, smurf_row_style[ROW_RAW], KEY_LINE};
    struct chart_plan plan = {.width = 440, .height = 330, .key = key, .keys = raw_all ? 3 : 2};
    plan.x = (struct axis){.label = "PIT: probability of a shorter gap (%)", .low = 0, .high = 100};
    plan.y = (struct axis){.label = "gaps, relative to a flat histogram", .low = 0, .high = top, .round = true};
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    smurf_chart_bar(&chart, 0, 100, BINS * span.low, BINS * span.high, &band);
    for (int b = 0; b < BINS; b++)
        smurf_chart_bar(&chart, 100.0 * b / BINS, 100.0 * (b + 1) / BINS, 0, height(bin[b], all), &bar);
    draw_level(&chart, BINS * span.low, &edge);
    draw_level(&chart, BINS * span.high, &edge);
    draw_level(&chart, 1, &one);
    if (raw_all) draw_steps(&chart, raw_bin, raw_all, &smurf_row_style[ROW_RAW]);
    smurf_chart_close(&chart);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    size_t bin[BINS], all = count(bin, evaluation->row[ROW_MODEL].pit, evaluation->n), outside = 0;
    struct span span = smurf_binomial_span(all, 1.0 / BINS);
    for (int b = 0; b < BINS; b++) {
        double share = (double)bin[b] / (double)all;
        outside += share < span.low || share > span.high;
    }
    smurf_words_add(words, "%zu of 20 bars end outside the grey band; about 1 is expected by chance. ", outside);
}

const struct figure smurf_figure_pit = {
    .name = "pit",
    .title = "Is the PIT uniform?",
    .caption =
        "The PIT of a gap is the probability that its law gave to shorter gaps. If the laws are correct, all bars "
        "have about the same height. High at both ends: laws are too narrow. High in the middle: too wide. A slope: "
        "events occur sooner (high on the left) or later than predicted.",
    .width = 440,
    .height = 330,
    .columns = 1,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
