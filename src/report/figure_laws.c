/* figure_laws.c - single forecasts: the law of some events, and the observed gap. */
#include "report/figure.h"

#include <math.h>

enum { WIDTH = 320, HEIGHT = 270, ROW = 16, TITLE = 18, CAME = 18 };
enum { Q05 = 0, Q25 = 4, Q50 = 9, Q75 = 14, Q95 = 18 }; /* indices of these quantiles */

static size_t panels(const struct evaluation *evaluation)
{
    return evaluation->examples < EXAMPLES_MOST ? evaluation->examples : EXAMPLES_MOST;
}

/* ---- The law ----------------------------------------------------------------------------------- */

/* The lowest quantile above 0, up to the median; 0 if there is none. Those at 0 are of a law on ticks. */
static double lowest(const struct example *e)
{
    int i = Q05;
    while (i < Q50 && !(e->quantile[i] > 0)) i++;
    return e->quantile[i];
}

static bool wants_log(const struct example *e)
{
    return lowest(e) > 0 && e->quantile[Q95] > 100 * lowest(e);
}

/* The law's own range plus a margin; includes the observed gap unless it is far out. */
static struct axis gap_axis(const struct example *e, const char *label)
{
    struct axis axis = {.label = label, .log = wants_log(e), .low = 0, .high = 1.25 * e->quantile[Q95]};
    if (axis.log) {
        axis.low = lowest(e) / 3;
        axis.high = e->quantile[Q95] * 2;
        if (e->truth > 0) axis.low = fmax(axis.low / 1000, fmin(axis.low, e->truth / 1.5));
        axis.high = fmin(axis.high * 1000, fmax(axis.high, e->truth * 1.5));
    } else if (e->truth > axis.high) {
        axis.high = fmin(1.1 * e->truth, 3 * axis.high);
    }
    return axis;
}

/* Per unit of the axis, so that areas are probabilities: p on a linear axis, x p on a log axis. */
static double height_at(const struct example *e, size_t i, bool log)
{
    return log ? e->x[i] * e->density[i] : e->density[i];
}

static bool has_density(const struct example *e)
{
    for (size_t i = 0; i < e->points && i < EXAMPLE_POINTS; i++)
        if (e->density[i] > 0 && isfinite(e->density[i])) return true;
    return false;
}

/* The maximum height; a spike outside the middle 90% counts at most twice the maximum inside. */
static double highest(const struct example *e, bool log)
{
    double all = 0, inside = 0;
    for (size_t i = 0; i < e->points && i < EXAMPLE_POINTS; i++) {
        double y = height_at(e, i, log);
        if (!isfinite(y)) continue;
        all = fmax(all, y);
        if (e->x[i] >= e->quantile[Q05] && e->x[i] <= e->quantile[Q95]) inside = fmax(inside, y);
    }
    return 1.08 * (inside > 0 ? fmin(all, 2 * inside) : all);
}

/* The part of the law between two gaps. */
static size_t cut(const struct example *e, bool log, double from, double to, double *x, double *y)
{
    size_t n = 0;
    for (size_t i = 0; i < e->points && i < EXAMPLE_POINTS; i++) {
        if (i && n < EXAMPLE_POINTS + 2)
            for (int side = 0; side < 2; side++) {
                double at = side ? to : from, step = e->x[i] - e->x[i - 1];
                if (!(at > e->x[i - 1] && at < e->x[i])) continue;
                double share = (at - e->x[i - 1]) / step;
                x[n] = at;
                y[n++] = (1 - share) * height_at(e, i - 1, log) + share * height_at(e, i, log);
            }
        if (e->x[i] >= from && e->x[i] <= to) x[n] = e->x[i], y[n++] = height_at(e, i, log);
    }
    return n;
}

static void draw_part(struct chart *chart, const struct example *e, double from, double to, double opacity)
{
    double x[EXAMPLE_POINTS + 4], y[EXAMPLE_POINTS + 4], zero[EXAMPLE_POINTS + 4] = {0};
    size_t n = cut(e, chart->x.log, from, to, x, y);
    smurf_chart_band(chart, x, zero, y, n, &(struct style){.fill = COLOUR_MODEL, .opacity = opacity});
}

/* Without a density: the two intervals as boxes. */
static void draw_boxes(struct chart *chart, const struct example *e)
{
    smurf_chart_bar(chart, e->quantile[Q05], e->quantile[Q95], 0.35, 0.65,
                    &(struct style){.fill = COLOUR_MODEL, .opacity = 0.25});
    smurf_chart_bar(chart, e->quantile[Q25], e->quantile[Q75], 0.25, 0.75,
                    &(struct style){.fill = COLOUR_MODEL, .opacity = 0.45});
}

static void draw_truth(struct chart *chart, const struct example *e)
{
    const struct style line = {.line = COLOUR_TRUTH, .width = 2.2}, head = {.fill = COLOUR_TRUTH};
    double x = smurf_chart_x(chart, e->truth), side = 1;
    if (x >= chart->left && x <= chart->right) {
        smurf_canvas_line(chart->canvas, x, chart->top, x, chart->bottom, &line);
        return;
    }
    if (!isfinite(x)) return;
    if (x < chart->left) side = -1; /* outside the frame: an arrow points to it */
    double tip = side > 0 ? chart->right : chart->left, y = (chart->top + chart->bottom) / 2;
    struct point arrow[3] = {{tip, y}, {tip - 9 * side, y - 6}, {tip - 9 * side, y + 6}};
    smurf_canvas_line(chart->canvas, tip - 24 * side, y, tip - 8 * side, y, &line);
    smurf_canvas_area(chart->canvas, arrow, 3, &head);
}

static void draw_law(struct canvas *canvas, const struct evaluation *evaluation, const struct example *e, double height)
{
    struct label label = smurf_unit_label("gap", evaluation);
    bool dense = has_density(e);
    struct chart_plan plan = {.top = TITLE + CAME, .width = WIDTH, .height = height - TITLE - CAME};
    plan.x = gap_axis(e, label.text);
    plan.y = (struct axis){.low = 0, .high = dense ? highest(e, plan.x.log) : 1, .bare = true};
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    if (dense) {
        double x[EXAMPLE_POINTS + 4], y[EXAMPLE_POINTS + 4];
        draw_part(&chart, e, e->quantile[Q05], e->quantile[Q95], 0.2);
        draw_part(&chart, e, e->quantile[Q25], e->quantile[Q75], 0.35);
        size_t n = cut(e, chart.x.log, -INFINITY, INFINITY, x, y);
        smurf_chart_line(&chart, x, y, n, &(struct style){.line = COLOUR_MODEL, .width = 1.8});
    } else {
        draw_boxes(&chart, e);
    }
    draw_truth(&chart, e);
    smurf_chart_close(&chart);
}

/* ---- The types --------------------------------------------------------------------------------- */

static size_t shown_types(const struct evaluation *evaluation, const struct example *e)
{
    return evaluation->types < 2 ? 0 : e->types < EXAMPLE_TYPES ? e->types : EXAMPLE_TYPES;
}

static bool is_listed(const struct evaluation *evaluation, const struct example *e)
{
    for (size_t i = 0; i < shown_types(evaluation, e); i++)
        if (e->type[i] == e->true_type) return true;
    return false;
}

static size_t type_rows(const struct evaluation *evaluation, const struct example *e)
{
    size_t n = shown_types(evaluation, e);
    return n && !is_listed(evaluation, e) ? n + 1 : n;
}

static void draw_type(struct canvas *canvas, const struct evaluation *evaluation, double y, uint32_t type, double share,
                      bool came)
{
    const double from = 128, most = WIDTH - from - 48;
    const struct font name = {.size = CHART_SMALL, .colour = came ? COLOUR_TRUTH : COLOUR_INK, .bold = came};
    const struct font number = {.size = CHART_SMALL, .colour = COLOUR_MUTED};
    const struct style bar = {.fill = came ? COLOUR_TRUTH : COLOUR_MODEL, .opacity = came ? 1 : 0.6};
    struct words text = {0};
    smurf_canvas_text(canvas, 2, y + 11, from - 10, smurf_type_label(evaluation, type).text, &name);
    if (!isfinite(share)) {
        smurf_canvas_text(canvas, from, y + 11, 0, "observed, not among these", &number);
        return;
    }
    double length = most * fmax(0, fmin(1, share));
    smurf_canvas_rect(canvas, from, y + 3, fmax(length, 1), ROW - 6, &bar);
    smurf_words_add(&text, "%s%%", smurf_fixed(100 * share, share < 0.0995 ? 1 : 0).text);
    smurf_canvas_text(canvas, from + length + 5, y + 11, 0, text.text, &number);
}

static void draw_types(struct canvas *canvas, const struct evaluation *evaluation, const struct example *e, double y)
{
    size_t n = shown_types(evaluation, e);
    for (size_t i = 0; i < n; i++, y += ROW)
        draw_type(canvas, evaluation, y, e->type[i], e->share[i], e->type[i] == e->true_type);
    if (type_rows(evaluation, e) > n) draw_type(canvas, evaluation, y, e->true_type, NAN, true);
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    const struct example *e = &evaluation->example[panel];
    const struct font title = {.size = CHART_FONT, .colour = COLOUR_INK, .bold = true};
    const struct font came = {.size = CHART_SMALL, .colour = COLOUR_TRUTH};
    double types = ROW * (double)type_rows(evaluation, e), law = HEIGHT - (types > 0 ? types + 6 : 0);
    struct words words = {0};
    smurf_canvas_text(canvas, 2, 13, WIDTH - 16, e->title, &title);
    smurf_words_add(&words, "observed %s; median %s", smurf_duration(e->truth, evaluation->unit).text,
                    smurf_duration(e->quantile[Q50], evaluation->unit).text);
    smurf_canvas_text(canvas, 2, TITLE + 10, WIDTH - 16, words.text, &came);
    draw_law(canvas, evaluation, e, law);
    if (types > 0) draw_types(canvas, evaluation, e, law + 4);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    size_t inside = 0, n = panels(evaluation);
    for (size_t i = 0; i < n; i++) {
        const struct example *e = &evaluation->example[i];
        inside += e->truth >= e->quantile[Q05] && e->truth <= e->quantile[Q95];
    }
    smurf_words_add(words, "%zu of these %zu gaps fell inside the 90%% interval. ", inside, n);
}

const struct figure smurf_figure_laws = {
    .name = "laws",
    .title = "Single forecasts",
    .caption =
        "Each panel is one forecast, made before the event. Area is probability, on linear and on log axes. The dark "
        "part is the middle 50%, the lighter part the middle 90%; the orange line is the observed gap (an arrow: "
        "outside the frame). Bars are the most probable types; the observed one is orange.",
    .width = WIDTH,
    .height = HEIGHT,
    .columns = 3,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
