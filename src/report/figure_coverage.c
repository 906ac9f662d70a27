/* figure_coverage.c - are the intervals calibrated? Coverage against level, and their difference. */
#include "report/figure.h"
#include "report/noise.h"

#include <math.h>

static size_t panels(const struct evaluation *evaluation)
{
    return evaluation->n > 0 && is_measured(evaluation, ROW_MODEL) ? 2 : 0;
}

/* The range of chance at each level, in percentage points around 0. */
static void noise_of(const struct evaluation *evaluation, double low[SMURF_LEVELS], double high[SMURF_LEVELS])
{
    for (int i = 0; i < SMURF_LEVELS; i++) {
        struct span span = smurf_binomial_span(evaluation->n, smurf_levels[i]);
        low[i] = 100 * (span.low - smurf_levels[i]);
        high[i] = 100 * (span.high - smurf_levels[i]);
    }
}

static double deviation(const struct row_values *row, int level)
{
    return 100 * (row->metrics.coverage[level] - smurf_levels[level]);
}

static double largest(const struct row_values *row, int *at)
{
    double most = 0;
    *at = 0;
    for (int i = 0; i < SMURF_LEVELS; i++)
        if (fabs(deviation(row, i)) > most) most = fabs(deviation(row, i)), *at = i;
    return most;
}

/* Fits all rows, except those so far off that they would flatten the model's line. */
static double deviation_limit(const struct evaluation *evaluation, const double *low, const double *high)
{
    int at;
    double near = fmax(1, largest(&evaluation->row[ROW_MODEL], &at)), all = near;
    for (int i = 0; i < SMURF_LEVELS; i++) near = fmax(near, fmax(-low[i], high[i]));
    for (enum row row = 0; row < ROWS; row++)
        if (is_measured(evaluation, row)) all = fmax(all, largest(&evaluation->row[row], &at));
    return fmin(100, fmin(6 * near, fmax(near, all)));
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    const struct style band = {.fill = COLOUR_BAND, .opacity = 0.55};
    const struct style zero = {.line = COLOUR_MUTED, .width = 1};
    double level[SMURF_LEVELS], low[SMURF_LEVELS], high[SMURF_LEVELS], y[SMURF_LEVELS];
    struct key key[ROWS + 1];
    size_t keys = smurf_row_keys(key, evaluation);
    key[keys++] = (struct key){"chance, 95%", band, KEY_BOX};
    noise_of(evaluation, low, high);
    double limit = deviation_limit(evaluation, low, high);
    struct chart_plan plan = {.width = 440, .height = 330, .key = key, .keys = keys};
    plan.x = (struct axis){.label = "nominal level (%)", .low = 0, .high = 100};
    plan.y = (struct axis){.label = "coverage: gaps inside (%)", .low = 0, .high = 100};
    if (panel)
        plan.y = (struct axis){.label = "coverage − level (points)", .low = -limit, .high = limit, .round = true};
    for (int i = 0; i < SMURF_LEVELS; i++) {
        level[i] = 100 * smurf_levels[i];
        if (panel) continue;
        low[i] += level[i];
        high[i] += level[i];
    }
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    smurf_chart_band(&chart, level, low, high, SMURF_LEVELS, &band);
    const double ends[2] = {0, 100}, flat[2] = {0, 0};
    smurf_chart_line(&chart, ends, panel ? flat : ends, 2, &zero);
    for (int row = ROWS - 1; row >= 0; row--) {
        const struct row_values *values = &evaluation->row[row];
        if (!values->name) continue;
        for (int i = 0; i < SMURF_LEVELS; i++) y[i] = deviation(values, i) + (panel ? 0 : level[i]);
        smurf_chart_line(&chart, level, y, SMURF_LEVELS, &smurf_row_style[row]);
    }
    smurf_chart_close(&chart);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    int at;
    double most = largest(&evaluation->row[ROW_MODEL], &at);
    if (!(most > 0)) return;
    struct span span = smurf_binomial_span(evaluation->n, smurf_levels[at]);
    smurf_words_add(words, "The largest difference is %s points, at %s%%; chance alone gives up to %s there. ",
                    smurf_fixed(most, 1).text, smurf_fixed(100 * smurf_levels[at], 0).text,
                    smurf_fixed(50 * (span.high - span.low), 1).text);
    if (evaluation->tick > 0)
        smurf_words_add(words, "Gaps are multiples of %s: clock ticks show as steps here, but not in the PIT. ",
                        smurf_duration(evaluation->tick, evaluation->unit).text);
}

const struct figure smurf_figure_coverage = {
    .name = "coverage",
    .title = "Are the intervals calibrated?",
    .caption =
        "For each level the law predicts a time by which the event occurs with that probability. First panel: how "
        "often it did; a calibrated law lies on the diagonal. Second panel: the difference, enlarged. Above zero, "
        "events occur sooner than predicted (intervals are too wide); below, later (too narrow). Inside the grey "
        "band a difference is no more than chance. Lines that are far off leave the second frame.",
    .width = 440,
    .height = 330,
    .columns = 2,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
