/*
 * panels_lanes.h - the panels of law/exact_integrate.c, for an intensity, by lanes: a lane a point, then a lane a
 * panel.
 *
 * The same panels, decisions and tolerances; intensities differ by rounding. A room for few panels fits into shared
 * memory: a law that needs more is integrated again in a room of the processor's sizes.
 */
#ifndef SMURF_CUDA_PANELS_LANES_H
#define SMURF_CUDA_PANELS_LANES_H

#include "cuda/units_lanes.h"

enum { PANEL_LAST = 8, PANEL_POINTS = 9, PANEL_CELLS_LEAST = 10, PANEL_CELLS_MOST = 48, PANEL_ROUNDS = 60 };
enum { PANELS_ALL = 512, PANELS_AT_START = 8, PANELS_FEW = 4 };

/* The layout of struct panel_rules in law/exact_table.h, which is copied to the card. */
struct panel_maps {
    double node[PANEL_POINTS];
    double coefficient[PANEL_POINTS * PANEL_POINTS], integral[PANEL_POINTS * PANEL_POINTS];
    double third[PANEL_POINTS * PANEL_POINTS], half[2][PANEL_POINTS * PANEL_POINTS];
    double weight[PANEL_POINTS], middle[PANEL_POINTS];
    double grid_value[PANEL_CELLS_LEAST][PANEL_POINTS * PANEL_CELLS_MOST];
    double grid_slope[PANEL_CELLS_LEAST][PANEL_POINTS * PANEL_CELLS_MOST];
    double grid_integral[PANEL_CELLS_LEAST][PANEL_POINTS * PANEL_CELLS_MOST];
};

/* An odd number of doubles, so that lanes that read one panel each do not meet in a bank. */
struct lanes_panel {
    double a, b, start, rise, error;
    double value[PANEL_POINTS];
    int8_t suspect, rough, from, to; /* points from .. to-1 are still to be evaluated */
};

struct panels {
    const struct panel_maps *map;
    const struct units *units;
    double lo, hi;
    bool whole;                /* EXACT_ONE */
    struct lanes_panel *panel; /* (most) */
    uint16_t *pending;         /* (most) */
    int n, most;
    double total; /* divisor of F */
    double sum;   /* the integral over all panels */
};

LANES_CODE double panel_dot(const double *map, int stride, const double *value)
{
    double sum = map[0] * value[0];
    for (int j = 1; j < PANEL_POINTS; j++) sum = fma(map[j * stride], value[j], sum);
    return sum;
}

LANES_CODE double panel_sane(double value)
{
    return value > 0 ? fmin(value, 1e100) : 0;
}

/* Evaluates all pending points; eight places a panel. */
LANES_CODE void panels_evaluate(struct panels *in)
{
    int pending = 0, places;
    LANES_LOOP
    for (int from = 0; from < in->n; from += LANES) {
        int i = from + lane_id(), more;
        bool asks = i < in->n && in->panel[i].from < in->panel[i].to;
        int at = pending + lanes_before(asks, &more);
        if (asks) in->pending[at] = (uint16_t)i;
        pending += more;
    }
    lanes_meet();
    if (pending == 0) return;
    if (in->panel[0].from == 0 && in->panel[0].to > 0) {
        double value = panel_sane(units_intensity(in->units, in->panel[0].a, LANES));
        if (lane_id() == 0) in->panel[0].value[0] = value;
    }
    places = 8 * pending;
    LANES_LOOP
    for (int from = 0; from < places;) {
        int split = lanes_split(places - from), i = from + lane_id() / split, at = i < places ? i : places - 1;
        struct lanes_panel *p = in->panel + in->pending[at / 8];
        int j = 1 + at % 8;
        double x = j == PANEL_LAST ? p->b : p->a + (p->b - p->a) * in->map->node[j];
        double value = panel_sane(units_intensity(in->units, x, split));
        if (i < places && j < p->to) p->value[j] = value;
        from += LANES / split;
    }
    lanes_meet();
}

LANES_CODE bool panel_may_hide(const struct lanes_panel *p)
{
    double width = p->b - p->a;
    bool hides = false;
    for (int j = 0; j < PANEL_LAST; j++) {
        double high = fmax(p->value[j], p->value[j + 1]), low = fmin(p->value[j], p->value[j + 1]);
        if (high > 20 * low) hides = hides || high * (high / fmax(low, 1e-100)) * width > 1e-10;
    }
    return hides;
}

LANES_CODE void panel_measure(const struct panels *in, struct lanes_panel *p)
{
    double c[4], width = p->b - p->a;
    for (int k = 0; k < 4; k++)
        c[k] = fabs(panel_dot(in->map->coefficient + PANEL_LAST - 3 + k, PANEL_POINTS, p->value));
    double before = c[0] + c[1], last = c[2] + c[3], fall = last < before ? fmax(last / before, 0.02) : 1;
    p->rise = fmax(width * panel_dot(in->map->weight, 1, p->value), 0.0);
    p->error = width / (2 * PANEL_LAST) * last * fall;
    p->suspect = panel_may_hide(p);
    p->from = p->to = 0;
}

LANES_CODE void panels_update(struct panels *in)
{
    panels_evaluate(in);
    LANES_LOOP
    for (int i = lane_id(); i < in->n; i += LANES) {
        struct lanes_panel *p = in->panel + i;
        if (p->from == 1 && p->to == PANEL_POINTS) p->value[0] = in->panel[i - 1].value[PANEL_LAST];
        if (p->from < p->to) panel_measure(in, p);
    }
    lanes_meet();
    double sum = 0;
    LANES_LOOP
    for (int i = 0; i < in->n; i++) {
        if (lane_id() == 0) in->panel[i].start = sum;
        sum += in->panel[i].rise;
    }
    in->sum = sum;
    in->total = in->whole ? -expm1(-sum) : 1;
    lanes_meet();
}

LANES_CODE bool panels_append(struct panels *in, double a, double b)
{
    if (in->n == in->most) return false;
    if (lane_id() == 0) {
        struct lanes_panel *p = in->panel + in->n;
        p->a = a;
        p->b = b;
        p->from = in->n > 0;
        p->to = PANEL_POINTS;
    }
    in->n++;
    return true;
}

LANES_CODE bool panels_lay_out(struct panels *in)
{
    const double first_width = 1.25, uniform_most = 20, lambda_most = 40;
    double range = in->hi - in->lo, width = first_width, grow = 1, x = in->lo;
    if (range <= uniform_most * first_width)
        width = range / fmax(ceil(range / first_width), (double)PANELS_FEW);
    else
        grow = 1.3;
    if (range / width > 1e6) grow = 2;
    in->n = 0;
    LANES_LOOP
    while (x < in->hi) {
        LANES_LOOP
        for (int i = 0; i < PANELS_AT_START && x < in->hi; i++) {
            bool last = x + 1.5 * width >= in->hi || in->n + 1 == PANELS_ALL / 2;
            double next = last ? in->hi : x + width;
            if (!panels_append(in, x, next)) return false;
            x = next;
            width *= grow;
        }
        lanes_meet();
        panels_update(in);
        if (in->sum > lambda_most && x < in->hi) {
            if (!panels_append(in, x, in->hi)) return false;
            lanes_meet();
            panels_update(in);
            return true;
        }
    }
    return true;
}

LANES_CODE bool panels_is_rough(const struct panels *in, const struct lanes_panel *p)
{
    const double tolerance = 4e-9, lambda_most = 40;
    if (p->start > lambda_most) return false;
    if (!(in->total > 0)) return p->suspect;
    double weight = exp(-p->start) / in->total;
    return p->error * weight > tolerance || (p->suspect && weight > tolerance);
}

LANES_CODE bool panels_is_wide(const struct panels *in, const struct lanes_panel *p)
{
    double middle = 0.5 * (p->a + p->b);
    return p->b - p->a > (in->hi - in->lo) * 0x1p-46 && middle > p->a && middle < p->b;
}

/* Puts the halves of panel i at `to` and to + 1, i <= to. */
LANES_CODE void panels_split(struct panels *in, int i, int to)
{
    const struct lanes_panel *p = in->panel + i;
    double a = p->a, b = p->b, end[3] = {p->value[0], p->value[PANEL_LAST / 2], p->value[PANEL_LAST]};
    double middle = a + 0.5 * (b - a);
    lanes_meet();
    LANES_LOOP
    for (int which = lane_id(); which < 2; which += LANES) {
        struct lanes_panel *q = in->panel + to + which;
        q->a = which ? middle : a;
        q->b = which ? b : middle;
        q->value[0] = which ? end[1] : end[0];
        q->value[PANEL_LAST] = which ? end[2] : end[1];
        q->rough = 0;
        q->from = 1;
        q->to = PANEL_LAST;
    }
    lanes_meet();
}

LANES_CODE void panels_move(struct panels *in, int i, int to)
{
    if (i == to) return;
    LANES_LOOP
    for (int k = lane_id(); k < (int)(sizeof(struct lanes_panel) / sizeof(double)); k += LANES)
        ((double *)(void *)(in->panel + to))[k] = ((const double *)(const void *)(in->panel + i))[k];
    lanes_meet();
}

/* Halves the panels that are not accurate enough. *any: there were some. False: there is no room. */
LANES_CODE bool panels_refine(struct panels *in, bool *any)
{
    int made = 0;
    LANES_LOOP
    for (int i = lane_id(); i < in->n; i += LANES)
        in->panel[i].rough = panels_is_rough(in, in->panel + i) && panels_is_wide(in, in->panel + i);
    lanes_meet();
    LANES_LOOP
    for (int i = 0; i < in->n; i++) {
        bool split = in->panel[i].rough && made + (in->n - i) < PANELS_ALL;
        lanes_meet();
        if (!split && lane_id() == 0) in->panel[i].rough = 0;
        made += split ? 2 : 1;
    }
    lanes_meet();
    *any = made > in->n;
    if (made > in->most) return false;
    LANES_LOOP
    for (int i = in->n - 1, to = made; i >= 0 && to > i + 1; i--) {
        bool split = in->panel[i].rough;
        to -= split ? 2 : 1;
        if (split)
            panels_split(in, i, to);
        else
            panels_move(in, i, to);
    }
    in->n = made;
    return true;
}

/* Lays out and refines; false: there is no room. */
LANES_CODE bool panels_integrate(struct panels *in)
{
    bool any = true;
    if (!panels_lay_out(in)) return false;
    LANES_LOOP
    for (int round = 0; round < PANEL_ROUNDS; round++) {
        if (!panels_refine(in, &any)) return false;
        if (!any) break;
        panels_update(in);
    }
    return true;
}

#endif
