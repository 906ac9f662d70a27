/* chart.c - see chart.h. */
#include "report/chart.h"

#include "report/words.h"

#include <math.h>
#include <string.h>

enum { TICKS = 32, MARGIN = 14 };

struct ticks {
    size_t n;
    double at[TICKS];
    struct label label[TICKS];
    struct label factor; /* appended to the axis label: "×10⁶"; "" for none */
};

/* ---- Ticks ------------------------------------------------------------------------------------- */

/* The smallest of 1, 2, 5 times a power of ten that is at least x. */
static double step_above(double x)
{
    double power = pow(10, floor(log10(x)));
    const double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (steps[i] * power >= x * (1 - 1e-9)) return steps[i] * power;
    return 10 * power;
}

static double linear_step(const struct axis *axis, int want)
{
    double step = step_above((axis->high - axis->low) / want);
    return axis->whole && step < 1 ? 1 : step;
}

/* Replaces an invalid axis by one that can be drawn. */
static void mend(struct axis *axis)
{
    const double most = 1e250, least = 1e-250;
    if (!isfinite(axis->low) || fabs(axis->low) > most) axis->low = 0;
    if (!isfinite(axis->high) || fabs(axis->high) > most) axis->high = axis->low < most / 10 ? axis->low + 1 : most;
    if (axis->log && (axis->low < least || axis->high < least)) axis->log = false;
    if (axis->log) {
        if (axis->high < 2 * axis->low) axis->low /= 2, axis->high *= 2;
        return;
    }
    double size = fmax(fabs(axis->low), fabs(axis->high));
    if (axis->high - axis->low <= fmax(1e-9 * size, least)) {
        double room = size > least ? 0.5 * size : 0.5;
        axis->low -= room;
        axis->high += room;
    }
}

static void round_ends(struct axis *axis, int want)
{
    if (axis->log) {
        axis->low = pow(10, floor(log10(axis->low) + 1e-9));
        axis->high = pow(10, ceil(log10(axis->high) - 1e-9));
        return;
    }
    double step = linear_step(axis, want);
    axis->low = step * floor(axis->low / step + 1e-9);
    axis->high = step * ceil(axis->high / step - 1e-9);
}

static void linear_ticks(struct ticks *ticks, const struct axis *axis, int want)
{
    double step = linear_step(axis, want), size = fmax(fabs(axis->low), fabs(axis->high));
    int exponent = size >= 1e5 || size < 1e-2 ? 3 * (int)floor(log10(size) / 3) : 0;
    double factor = pow(10, exponent);
    int places = (int)-floor(log10(step / factor) + 1e-9);
    places = places < 0 ? 0 : places > 12 ? 12 : places;
    for (double k = ceil(axis->low / step - 1e-6); k * step <= axis->high + 1e-6 * step && ticks->n < TICKS; k++) {
        ticks->at[ticks->n] = k * step;
        ticks->label[ticks->n++] = smurf_fixed(k * step / factor, places);
    }
    if (exponent) ticks->factor = smurf_power_of_ten(exponent);
}

static struct label decade_label(int exponent)
{
    return exponent >= -3 && exponent <= 4 ? smurf_significant(pow(10, exponent), 1) : smurf_power_of_ten(exponent);
}

static void log_ticks(struct ticks *ticks, const struct axis *axis, int want)
{
    double decades = log10(axis->high / axis->low);
    int skip = (int)ceil(decades / want), first = (int)floor(log10(axis->low));
    skip = skip < 1 ? 1 : skip;
    for (int e = first; e <= log10(axis->high) + 1e-9 && ticks->n < TICKS; e += skip)
        for (int d = 1; d < 10 && ticks->n < TICKS; d += d == 2 ? 3 : d == 1 ? 1 : 5) {
            double at = d * pow(10, e);
            if (d > 1 && decades > 2.2) break;
            if (at < axis->low * (1 - 1e-9) || at > axis->high * (1 + 1e-9)) continue;
            ticks->at[ticks->n] = at;
            ticks->label[ticks->n++] = d == 1 ? decade_label(e) : smurf_significant(at, 1);
        }
}

static void find_ticks(struct ticks *ticks, const struct axis *axis, int want)
{
    memset(ticks, 0, sizeof *ticks);
    if (axis->bare) return;
    for (; ticks->n < axis->ticks && ticks->n < TICKS; ticks->n++) {
        ticks->at[ticks->n] = axis->tick[ticks->n].at;
        ticks->label[ticks->n] = axis->tick[ticks->n].label;
    }
    if (axis->ticks) return;
    if (axis->log)
        log_ticks(ticks, axis, want);
    else
        linear_ticks(ticks, axis, want);
}

/* ---- The frame --------------------------------------------------------------------------------- */

static const struct style grid = {.line = COLOUR_GRID, .width = 1};

static double position(const struct axis *axis, double value, double from, double to)
{
    if (axis->log && !(value > 0)) return value <= 0 ? from - 1e4 * (to > from ? 1 : -1) : NAN;
    double share = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
                             : (value - axis->low) / (axis->high - axis->low);
    return from + share * (to - from);
}

double smurf_chart_x(const struct chart *chart, double x)
{
    return position(&chart->x, x, chart->left, chart->right);
}

double smurf_chart_y(const struct chart *chart, double y)
{
    return position(&chart->y, y, chart->bottom, chart->top);
}

static void draw_key(struct canvas *canvas, double x, double y, const struct key *key)
{
    if (key->shape == KEY_BOX)
        smurf_canvas_rect(canvas, x + 3, y - 9, 14, 10, &key->style);
    else if (key->shape == KEY_DOT)
        smurf_canvas_circle(canvas, x + 10, y - 4, 3.5, &key->style);
    else
        smurf_canvas_line(canvas, x, y - 4, x + 20, y - 4, &key->style);
}

/* Returns the end of the legend. */
static double draw_legend(struct canvas *canvas, const struct chart_plan *plan)
{
    const struct font font = {.size = CHART_FONT, .colour = COLOUR_INK};
    double x = plan->left + 2, y = plan->top;
    for (size_t i = 0; i < plan->keys; i++) {
        char name[128];
        smurf_clean_to_width(name, sizeof name, plan->key[i].name, plan->width * 0.6 / font.size);
        double width = 26 + font.size * smurf_text_width(name) + 12;
        if (i && x + width > plan->left + plan->width) x = plan->left + 2, y += 17;
        draw_key(canvas, x, y + 12, &plan->key[i]);
        smurf_canvas_text(canvas, x + 26, y + 12, 0, name, &font);
        x += width;
    }
    return plan->keys ? y + 20 : y;
}

static void draw_axis_label(struct canvas *canvas, double x, double y, double width, const struct axis *axis,
                            const struct ticks *ticks, enum anchor anchor)
{
    struct words words = {0};
    const struct font font = {.size = CHART_FONT, .colour = COLOUR_MUTED, .anchor = anchor};
    if (!axis->label) return;
    smurf_words_add(&words, "%s%s%s", axis->label, ticks->factor.text[0] ? ", in " : "", ticks->factor.text);
    smurf_canvas_text(canvas, x, y, width, words.text, &font);
}

static void draw_x_ticks(struct chart *chart, const struct ticks *ticks)
{
    const struct font font = {.size = CHART_FONT, .colour = COLOUR_MUTED, .anchor = ANCHOR_MIDDLE};
    double free_from = -1e9;
    for (size_t i = 0; i < ticks->n; i++) {
        double at = smurf_chart_x(chart, ticks->at[i]), half = font.size * smurf_text_width(ticks->label[i].text) / 2;
        smurf_canvas_line(chart->canvas, at, chart->top, at, chart->bottom, &grid);
        double middle = fmin(at, chart->right + MARGIN - half); /* the last label stays inside */
        if (middle - half < free_from) continue;
        smurf_canvas_text(chart->canvas, middle, chart->bottom + 16, 0, ticks->label[i].text, &font);
        free_from = middle + half + 4;
    }
}

static void draw_y_ticks(struct chart *chart, const struct ticks *ticks)
{
    const struct font font = {.size = CHART_FONT, .colour = COLOUR_MUTED, .anchor = ANCHOR_END};
    for (size_t i = 0; i < ticks->n; i++) {
        double at = smurf_chart_y(chart, ticks->at[i]);
        smurf_canvas_line(chart->canvas, chart->left, at, chart->right, at, &grid);
        smurf_canvas_text(chart->canvas, chart->left - 6, at + 4, 0, ticks->label[i].text, &font);
    }
}

static double widest(const struct ticks *ticks)
{
    double width = 0;
    for (size_t i = 0; i < ticks->n; i++) width = fmax(width, smurf_text_width(ticks->label[i].text));
    return width;
}

void smurf_chart_open(struct chart *chart, struct canvas *canvas, const struct chart_plan *plan)
{
    struct ticks x, y;
    *chart = (struct chart){.canvas = canvas, .x = plan->x, .y = plan->y};
    mend(&chart->x);
    mend(&chart->y);
    int want_x = (int)fmax(2, plan->width / 70), want_y = (int)fmax(2, plan->height / 42);
    if (chart->x.round) round_ends(&chart->x, want_x);
    if (chart->y.round) round_ends(&chart->y, want_y);
    find_ticks(&x, &chart->x, want_x);
    find_ticks(&y, &chart->y, want_y);
    double below = (plan->x.bare ? 2 : 20) + (plan->x.label ? 18 : 0);
    chart->top = draw_legend(canvas, plan) + (plan->y.label ? 26 : 6);
    chart->bottom = plan->top + plan->height - below;
    chart->left = plan->left + (plan->y.bare ? 14 : 10 + CHART_FONT * widest(&y));
    chart->right = plan->left + plan->width - MARGIN;
    draw_axis_label(canvas, plan->left + 2, chart->top - 12, plan->width, &plan->y, &y, ANCHOR_START);
    draw_axis_label(canvas, (chart->left + chart->right) / 2, chart->bottom + 34, plan->width, &plan->x, &x,
                    ANCHOR_MIDDLE);
    draw_x_ticks(chart, &x);
    draw_y_ticks(chart, &y);
    smurf_canvas_clip(canvas, chart->left - 1, chart->top - 1, chart->right - chart->left + 2,
                      chart->bottom - chart->top + 2);
}

void smurf_chart_close(struct chart *chart)
{
    const struct style base = {.line = COLOUR_MUTED, .width = 1};
    smurf_canvas_pop(chart->canvas);
    smurf_canvas_line(chart->canvas, chart->left, chart->bottom, chart->right, chart->bottom, &base);
}

/* ---- Data -------------------------------------------------------------------------------------- */

void smurf_chart_line(struct chart *chart, const double *x, const double *y, size_t n, const struct style *style)
{
    struct point part[256];
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        part[used++] = (struct point){smurf_chart_x(chart, x[i]), smurf_chart_y(chart, y[i])};
        if (used < 256 && i + 1 < n) continue;
        smurf_canvas_polyline(chart->canvas, part, used, style);
        part[0] = part[used - 1];
        used = 1;
    }
}

void smurf_chart_band(struct chart *chart, const double *x, const double *low, const double *high, size_t n,
                      const struct style *style)
{
    struct point around[1000];
    if (n > 500) n = 500;
    for (size_t i = 0; i < n; i++) {
        double at = smurf_chart_x(chart, x[i]);
        around[i] = (struct point){at, smurf_chart_y(chart, low[i])};
        around[2 * n - 1 - i] = (struct point){at, smurf_chart_y(chart, high[i])};
    }
    smurf_canvas_area(chart->canvas, around, 2 * n, style);
}

void smurf_chart_bar(struct chart *chart, double x1, double x2, double y1, double y2, const struct style *style)
{
    double left = smurf_chart_x(chart, x1), top = smurf_chart_y(chart, y2);
    smurf_canvas_rect(chart->canvas, left, top, smurf_chart_x(chart, x2) - left, smurf_chart_y(chart, y1) - top, style);
}

void smurf_chart_dot(struct chart *chart, double x, double y, double radius, const struct style *style)
{
    smurf_canvas_circle(chart->canvas, smurf_chart_x(chart, x), smurf_chart_y(chart, y), radius, style);
}
