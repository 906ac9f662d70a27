/*
 * chart.h - axes for plots: 1-2-5 ticks, decades on log axes, a light grid, and a legend above the frame.
 *
 *     struct chart chart;
 *     smurf_chart_open(&chart, canvas, &(struct chart_plan){.width = 440, .height = 300, .x = {...}, .y = {...}});
 *     smurf_chart_line(&chart, x, y, n, &style);
 *     smurf_chart_close(&chart);
 *
 * The legend and the y label are above the frame and the x label is below it: nothing covers data. What is drawn
 * between open and close is clipped to the frame.
 */
#ifndef SMURF_REPORT_CHART_H
#define SMURF_REPORT_CHART_H

#include "report/canvas.h"
#include "report/words.h"

#define CHART_FONT  12.0 /* of labels */
#define CHART_SMALL 10.5

struct tick {
    double at;
    struct label label;
};

struct axis {
    const char *label;
    double low, high; /* any values: an invalid axis is replaced by a valid one */
    bool log;
    bool round;              /* extend the ends to ticks */
    bool whole;              /* ticks at integers only */
    bool bare;               /* no ticks, no grid, no room for tick labels */
    const struct tick *tick; /* these ticks instead of found ones */
    size_t ticks;
};

/* A legend entry: a line, a filled box, or a dot. */
enum key_shape { KEY_LINE, KEY_BOX, KEY_DOT };
struct key {
    const char *name;
    struct style style;
    enum key_shape shape;
};

struct chart_plan {
    double left, top, width, height; /* of the whole chart, labels included */
    struct axis x, y;
    const struct key *key;
    size_t keys;
};

struct chart {
    struct canvas *canvas;
    double left, top, right, bottom; /* the frame */
    struct axis x, y;
};

void smurf_chart_open(struct chart *chart, struct canvas *canvas, const struct chart_plan *plan);
void smurf_chart_close(struct chart *chart);

/* Position of a value on the canvas. */
double smurf_chart_x(const struct chart *chart, double x);
double smurf_chart_y(const struct chart *chart, double y);

void smurf_chart_line(struct chart *chart, const double *x, const double *y, size_t n, const struct style *style);
/* The area between low and high. n at most 500. */
void smurf_chart_band(struct chart *chart, const double *x, const double *low, const double *high, size_t n,
                      const struct style *style);
void smurf_chart_bar(struct chart *chart, double x1, double x2, double y1, double y2, const struct style *style);
void smurf_chart_dot(struct chart *chart, double x, double y, double radius, const struct style *style);

#endif
