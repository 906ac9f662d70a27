/* figure_residuals.c - -ln(1 - PIT), exponential under the true law, against the quantiles of the exponential law. */
#include "report/figure.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 300 };

static bool is_probability(double u)
{
    return u >= 0 && u <= 1;
}

static size_t panels(const struct evaluation *evaluation)
{
    const double *pit = evaluation->row[ROW_MODEL].pit;
    if (!is_measured(evaluation, ROW_MODEL) || !pit) return 0;
    for (size_t i = 0; i < evaluation->n; i++)
        if (is_probability(pit[i])) return 1;
    return 0;
}

/* The valid PIT values, sorted; NULL: out of memory. */
static double *sorted(const double *pit, size_t n, size_t *out)
{
    double *copy = malloc((n ? n : 1) * sizeof *copy);
    *out = 0;
    for (size_t i = 0; copy && i < n; i++)
        if (is_probability(pit[i])) copy[(*out)++] = pit[i];
    if (copy) smurf_sort(copy, *out);
    return copy;
}

static double exponential(double u)
{
    return -log1p(-u);
}

/* Order statistic i of n: its expected value and its range by chance. */
static double expected(size_t i, size_t n)
{
    return exponential(((double)i + 0.5) / (double)n);
}

static void draw_band(struct chart *chart, size_t n, const struct style *style)
{
    double x[POINTS], low[POINTS], high[POINTS], end = chart->x.high;
    for (int k = 0; k < POINTS; k++) {
        x[k] = end * k / (POINTS - 1);
        double u = -expm1(-x[k]), half = 1.96 * sqrt(u * (1 - u) / (double)n);
        low[k] = exponential(fmax(0, u - half));
        high[k] = u + half < 1 ? exponential(u + half) : chart->y.high;
    }
    smurf_chart_band(chart, x, low, high, POINTS, style);
}

/* At most POINTS points, evenly along the axis, so that both tails are drawn in full. */
static void draw_points(struct chart *chart, const double *pit, size_t n)
{
    const struct style dot = {.fill = COLOUR_MODEL, .opacity = 0.8};
    const struct style off = {.fill = COLOUR_PAPER, .line = COLOUR_TRUTH, .width = 1.5};
    double end = expected(n - 1, n), last = -1;
    for (int k = 0; k < POINTS; k++) {
        double rank = -expm1(-end * (k + 0.5) / POINTS) * (double)n;
        size_t i = k == POINTS - 1 ? n - 1 : (size_t)fmin(rank, (double)(n - 1));
        if ((double)i <= last) continue;
        last = (double)i;
        double y = exponential(fmin(pit[i], 1 - 0x1p-53));
        if (y > chart->y.high)
            smurf_chart_dot(chart, expected(i, n), chart->y.high * 0.985, 3, &off);
        else
            smurf_chart_dot(chart, expected(i, n), y, 2.2, &dot);
    }
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    (void)panel;
    const struct style band = {.fill = COLOUR_BAND, .opacity = 0.55}, diagonal = {.line = COLOUR_MUTED};
    size_t n;
    double *pit = sorted(evaluation->row[ROW_MODEL].pit, evaluation->n, &n);
    if (!pit || n == 0) {
        canvas->no_memory |= !pit;
        free(pit);
        return;
    }
    double end = fmax(1, 1.08 * expected(n - 1, n)), top = exponential(fmin(pit[n - 1], 1 - 0x1p-53));
    const struct style dot = {.fill = COLOUR_MODEL};
    struct key key[2] = {{evaluation->row[ROW_MODEL].name, dot, KEY_DOT}, {"chance, 95%", band, KEY_BOX}};
    struct chart_plan plan = {.width = 440, .height = 330, .key = key, .keys = 2};
    plan.x = (struct axis){.label = "expected under the true law", .low = 0, .high = end};
    plan.y = (struct axis){.label = "residual, −ln(1 − PIT)", .low = 0, .high = fmax(end, fmin(1.05 * top, 1.6 * end))};
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    draw_band(&chart, n, &band);
    const double ends[2] = {0, chart.x.high};
    smurf_chart_line(&chart, ends, ends, 2, &diagonal);
    draw_points(&chart, pit, n);
    smurf_chart_close(&chart);
    free(pit);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    double p = evaluation->row[ROW_MODEL].metrics.ks_p, d = evaluation->row[ROW_MODEL].metrics.ks;
    if (!isfinite(p) || !isfinite(d)) return;
    smurf_words_add(
        words,
        "The largest distance of the PIT from uniform is %s points; under the true law it is larger in %s%% of cases. ",
        smurf_fixed(100 * d, 2).text, p < 0.001 ? "less than 0.1" : smurf_fixed(100 * p, p < 0.1 ? 1 : 0).text);
}

const struct figure smurf_figure_residuals = {
    .name = "residuals",
    .title = "Are long gaps forecast correctly?",
    .caption =
        "Each gap is turned into a residual that is exponentially distributed if the forecast is correct. Sorted "
        "residuals are plotted against their expected values; a correct law lies on the line. Points above it at the "
        "upper end: very long gaps are more frequent than predicted; below it, less frequent. Orange circles at the "
        "upper edge lie outside the frame.",
    .width = 440,
    .height = 330,
    .columns = 1,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
