/* figure_reliability.c - confidence and accuracy of type predictions. */
#include "report/figure.h"
#include "report/noise.h"

#include <math.h>

enum { BINS = 10, WIDTH = 440, HEIGHT = 400, COUNTS = 96 };

struct bins {
    size_t n[BINS], all, most;
    double sure[BINS], right[BINS]; /* means */
};

static void fill(struct bins *b, const struct evaluation *evaluation)
{
    const struct row_values *row = &evaluation->row[ROW_MODEL];
    *b = (struct bins){0};
    for (size_t i = 0; i < evaluation->n; i++) {
        double share = (double)row->top_share[i];
        if (!(share >= 0 && share <= 1.001) || !evaluation_is_typed(evaluation, i)) continue;
        int bin = share < 1 ? (int)(share * BINS) : BINS - 1;
        b->n[bin]++;
        b->all++;
        b->sure[bin] += share;
        b->right[bin] += row->top[i] == evaluation->type[i];
    }
    for (int k = 0; k < BINS; k++) {
        b->sure[k] /= (double)b->n[k];
        b->right[k] /= (double)b->n[k];
        if (b->n[k] > b->most) b->most = b->n[k];
    }
}

static size_t panels(const struct evaluation *evaluation)
{
    const struct row_values *row = &evaluation->row[ROW_MODEL];
    struct bins b;
    if (evaluation->types < 2 || !row->name || !row->top || !row->top_share || !evaluation->type) return 0;
    fill(&b, evaluation);
    return b.all > 0;
}

static void draw_whiskers(struct chart *chart, const struct bins *b)
{
    const struct style whisker = {.line = COLOUR_BAND, .width = 7};
    for (int k = 0; k < BINS; k++) {
        if (!b->n[k]) continue;
        struct span span = smurf_binomial_span(b->n[k], fmin(b->sure[k], 0.9999));
        double x[2] = {100 * b->sure[k], 100 * b->sure[k]}, y[2] = {100 * span.low, 100 * span.high};
        smurf_chart_line(chart, x, y, 2, &whisker);
    }
}

static void draw_dots(struct chart *chart, const struct bins *b)
{
    const struct style dot = {.fill = COLOUR_MODEL};
    for (int k = 0; k < BINS; k++)
        if (b->n[k]) smurf_chart_dot(chart, 100 * b->sure[k], 100 * b->right[k], 4.5, &dot);
}

static void draw_counts(struct canvas *canvas, const struct bins *b, double left)
{
    const struct style bar = {.fill = COLOUR_MODEL, .line = COLOUR_PAPER, .opacity = 0.6};
    const struct font font = {.size = CHART_SMALL, .colour = COLOUR_MUTED, .anchor = ANCHOR_MIDDLE};
    struct chart chart;
    struct chart_plan plan = {.left = left - 14, .top = HEIGHT - COUNTS, .width = WIDTH - left + 14, .height = COUNTS};
    plan.x = (struct axis){.label = "probability of the predicted type (%)", .low = 0, .high = 100};
    plan.y = (struct axis){.low = 0, .high = 1.55 * (double)b->most, .bare = true};
    smurf_chart_open(&chart, canvas, &plan);
    for (int k = 0; k < BINS; k++) {
        double y = (double)b->n[k], x = 100.0 * k / BINS, step = 100.0 / BINS;
        smurf_chart_bar(&chart, x, x + step, 0, y, &bar);
        struct words text = {0};
        if (b->n[k] < 10000)
            smurf_words_add(&text, "%s", smurf_count(b->n[k]).text);
        else
            smurf_words_add(&text, "%sk", smurf_significant((double)b->n[k] / 1000, 2).text);
        if (b->n[k])
            smurf_canvas_text(canvas, smurf_chart_x(&chart, x + step / 2), smurf_chart_y(&chart, y) - 4, 0, text.text,
                              &font);
    }
    smurf_chart_close(&chart);
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    (void)panel;
    const struct style diagonal = {.line = COLOUR_MUTED};
    struct bins b;
    fill(&b, evaluation);
    struct key key[2] = {{evaluation->row[ROW_MODEL].name, {.fill = COLOUR_MODEL}, KEY_DOT},
                         {"chance, 95%", {.fill = COLOUR_BAND}, KEY_BOX}};
    struct chart_plan plan = {.width = WIDTH, .height = HEIGHT - COUNTS, .key = key, .keys = 2};
    plan.x = (struct axis){.low = 0, .high = 100};
    plan.y = (struct axis){.label = "predicted type correct (%)", .low = 0, .high = 100};
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    const double ends[2] = {0, 100};
    smurf_chart_line(&chart, ends, ends, 2, &diagonal);
    draw_whiskers(&chart, &b);
    smurf_chart_close(&chart); /* dots on the frame are not cut */
    draw_dots(&chart, &b);
    draw_counts(canvas, &b, chart.left);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    double ece = evaluation->row[ROW_MODEL].metrics.ece;
    if (isfinite(ece))
        smurf_words_add(words, "On average, confidence and accuracy differ by %s points. ", smurf_fixed(ece, 1).text);
}

const struct figure smurf_figure_reliability = {
    .name = "reliability",
    .title = "Are type probabilities calibrated?",
    .caption =
        "Predictions are grouped by their probability. Of those with a probability of 70%, 70% should be correct: "
        "points on the diagonal. Below it the model is overconfident, above it underconfident. Grey bars: the range "
        "of chance for a calibrated model. The bars at the bottom count the predictions.",
    .width = WIDTH,
    .height = HEIGHT,
    .columns = 1,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
