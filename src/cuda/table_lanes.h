/*
 * table_lanes.h - the table of law/exact.h made from panels, and its distribution, by lanes; Tweedie's map of it.
 *
 * As law/exact_integrate.c, law/exact.c and law/tweedie.c: a lane a cell, a node or a query. What is serial there
 * (pooling nodes that would pass each other) one lane does, if it is needed at all.
 */
#ifndef SMURF_CUDA_TABLE_LANES_H
#define SMURF_CUDA_TABLE_LANES_H

#include "cuda/panels_lanes.h"

enum { TABLE_NODES_ALL = 2048, TABLE_SPARE = 2 * PANEL_CELLS_MOST, TABLE_DEPTH_ALL = 60 };

struct lanes_table {
    double *x, *f, *slope, *psi; /* (most) */
    uint16_t *knot;              /* (knots_most) */
    double *scratch;             /* (PANEL_POINTS) */
    struct lanes_panel *halves;  /* (2 depth_most) */
    int n, most, knots, knots_most, depth_most;
    bool scored; /* psi is wanted */
    double rest, hazard;
};

/* ---- Filling ----------------------------------------------------------------------------------------------------- */

LANES_CODE void table_finish_value(const struct panels *in, double *f, double *slope)
{
    double factor = 1 / in->total, cdf = -expm1(-*f);
    *slope = *slope > 0 ? *slope * factor : 0;
    *slope *= 1 - cdf;
    *f = cdf * factor;
}

/* As grid() and cells(): which of the panel_cells_count; PANEL_CELLS_LEAST: finer than any. */
LANES_CODE int table_grid(const struct panels *in, const struct lanes_table *t, const struct lanes_panel *p)
{
    const double tolerance = 2e-8, least_mass = 1e-14, folds_most = 8;
    double width = p->b - p->a, bend = 0, most = 0, least = INFINITY;
    for (int j = lane_id(); j < PANEL_POINTS; j += LANES) {
        double f = p->start + width * panel_dot(in->map->integral + j, PANEL_POINTS, p->value), slope = p->value[j];
        table_finish_value(in, &f, &slope);
        t->scratch[j] = slope;
    }
    lanes_meet();
    for (int j = lane_id(); j < PANEL_POINTS; j += LANES)
        bend = fmax(bend, fabs(panel_dot(in->map->third + j, PANEL_POINTS, t->scratch)));
    bend = lanes_max(bend);
    for (int j = 0; j < PANEL_POINTS; j++) {
        most = fmax(most, t->scratch[j]);
        least = fmin(least, t->scratch[j]);
    }
    lanes_meet();
    double folds = log((most * width + least_mass) / (least * width + least_mass));
    double m = fmax(sqrt(sqrt(width * bend / (384 * tolerance))), fmin(folds, folds_most));
    return m > 48   ? 10
           : m > 24 ? 9
           : m > 16 ? 8
           : m > 12 ? 7
           : m > 8  ? 6
           : m > 6  ? 5
           : m > 4  ? 4
           : m > 3  ? 3
           : m > 2  ? 2
           : m > 1  ? 1
                    : 0;
}

LANES_CODE int table_cells_of(int grid)
{
    return grid < 4 ? grid + 1 : grid == 4 ? 6 : grid == 5 ? 8 : grid == 6 ? 12 : grid == 7 ? 16 : grid == 8 ? 24 : 48;
}

/* False: there is no room, and the whole table has more. */
LANES_CODE bool table_add_cells(struct lanes_table *t, const struct panels *in, const struct lanes_panel *p, int grid)
{
    int m = table_cells_of(grid);
    double width = p->b - p->a;
    if (t->n + m > t->most || t->knots == t->knots_most) {
        if (t->most < TABLE_NODES_ALL || m > 1) return false;
        t->n = t->most - 1; /* replaces the last node */
        if (t->knots > 0 && t->knot[t->knots - 1] == t->n) t->knots--;
    }
    lanes_meet();
    LANES_LOOP
    for (int i = lane_id(); i < m; i += LANES) {
        double f = p->start + width * panel_dot(in->map->grid_integral[grid] + i, m, p->value);
        double slope = panel_dot(in->map->grid_value[grid] + i, m, p->value);
        if (t->scored) t->psi[t->n + i] = panel_dot(in->map->grid_slope[grid] + i, m, p->value) / width / slope - slope;
        table_finish_value(in, &f, &slope);
        t->x[t->n + i] = i + 1 == m ? p->b : p->a + width * ((double)(i + 1) / (double)m);
        t->f[t->n + i] = f;
        t->slope[t->n + i] = slope;
    }
    if (lane_id() == 0) t->knot[t->knots] = (uint16_t)(t->n + m - 1);
    t->knots++;
    t->n += m;
    lanes_meet();
    return true;
}

/* The halves of a panel, from its polynomial alone. */
LANES_CODE void table_halve(const struct panels *in, const struct lanes_panel *p, struct lanes_panel half[2])
{
    double width = p->b - p->a, middle = p->a + 0.5 * width;
    double to_middle = fmax(width * panel_dot(in->map->middle, 1, p->value), 0.0);
    for (int i = lane_id(); i < 2 * PANEL_POINTS; i += LANES) {
        int which = i / PANEL_POINTS, j = i % PANEL_POINTS;
        half[which].value[j] = fmax(panel_dot(in->map->half[which] + j, PANEL_POINTS, p->value), 0.0);
    }
    lanes_meet();
    LANES_LOOP
    for (int which = lane_id(); which < 2; which += LANES) {
        struct lanes_panel *q = half + which;
        q->a = which ? middle : p->a;
        q->b = which ? p->b : middle;
        q->start = p->start + (which ? to_middle : 0);
        q->rise = fmax(0.5 * width * panel_dot(in->map->weight, 1, q->value), 0.0);
    }
    lanes_meet();
}

/* Adds all nodes of a panel but the first. after: panels that follow. */
LANES_CODE bool table_fill(struct lanes_table *t, const struct panels *in, const struct lanes_panel *panel, int after)
{
    const double lambda_most = 40, rise_most = 2;
    const struct lanes_panel *p = panel;
    uint64_t right = 0; /* by depth: the half at hand is the right one */
    int depth = 0;
    LANES_LOOP
    for (;;) {
        int taken = t->n + after, room = taken < TABLE_NODES_ALL ? TABLE_NODES_ALL - taken : 0;
        bool over = p->start > lambda_most, roomy = room > TABLE_SPARE, heavy = p->rise > rise_most;
        int grid = over || heavy || !roomy ? 0 : table_grid(in, t, p);
        if (!over && roomy && (heavy || grid == PANEL_CELLS_LEAST) && depth < TABLE_DEPTH_ALL &&
            panels_is_wide(in, p)) {
            if (depth == t->depth_most) return false;
            table_halve(in, p, t->halves + 2 * depth);
            p = t->halves + 2 * depth;
            right &= ~((uint64_t)1 << depth++);
            after++;
            continue;
        }
        if (!table_add_cells(t, in, p, grid < PANEL_CELLS_LEAST ? grid : PANEL_CELLS_LEAST - 1)) return false;
        LANES_LOOP
        while (depth > 0 && right >> (depth - 1) & 1) depth--;
        if (depth == 0) return true;
        right |= (uint64_t)1 << (depth - 1);
        p = t->halves + 2 * (depth - 1) + 1;
        after--;
    }
}

LANES_CODE void table_add_first(struct lanes_table *t, const struct panels *in)
{
    const struct lanes_panel *p = in->panel;
    double slope = 0; /* the rule is for the right end: of the panel's mirror image */
    if (t->scored)
        for (int j = 0; j < PANEL_POINTS; j++) slope = fma(-in->map->grid_slope[0][PANEL_LAST - j], p->value[j], slope);
    if (lane_id() == 0) {
        t->x[0] = p->a;
        t->f[0] = 0;
        t->slope[0] = p->value[0] / in->total;
        if (t->scored) t->psi[0] = slope / (p->b - p->a) / p->value[0] - p->value[0];
        t->knot[0] = 0;
    }
    t->n = t->knots = 1;
}

/* F non-decreasing in [0, 1], slopes limited. */
LANES_CODE void table_finish(struct lanes_table *t)
{
    double most = 0;
    LANES_LOOP
    for (int from = 0; from < t->n; from += LANES) {
        int i = from + lane_id();
        double last, f = lanes_running_max(i < t->n ? fmax(fmin(t->f[i], 1.0), 0.0) : 0, &last);
        if (i < t->n) t->f[i] = fmax(f, most);
        most = fmax(most, last);
    }
    lanes_meet();
    LANES_LOOP
    for (int i = lane_id(); i < t->n; i += LANES) {
        double limit = INFINITY, slope = t->slope[i];
        if (i > 0) limit = 3 * (t->f[i] - t->f[i - 1]) / (t->x[i] - t->x[i - 1]);
        if (i + 1 < t->n) limit = fmin(limit, 3 * (t->f[i + 1] - t->f[i]) / (t->x[i + 1] - t->x[i]));
        t->slope[i] = slope > 0 ? fmin(slope, limit) : 0;
    }
    lanes_meet();
}

/* Tabulates the law; false: there is no room. */
LANES_CODE bool table_make(struct lanes_table *t, struct panels *in)
{
    if (!panels_integrate(in)) return false;
    t->n = t->knots = 0;
    t->rest = exp(-in->sum);
    t->hazard = in->panel[in->n - 1].value[PANEL_LAST];
    if (in->total > 0) {
        table_add_first(t, in);
        LANES_LOOP
        for (int i = 0; i < in->n; i++)
            if (!table_fill(t, in, in->panel + i, in->n - i - 1)) return false;
    } else { /* uniform; only as EXACT_ONE */
        if (lane_id() == 0) {
            t->x[0] = in->lo, t->x[1] = in->hi;
            t->f[0] = 0, t->f[1] = 1;
            t->slope[0] = t->slope[1] = 1 / (in->hi - in->lo);
            if (t->scored) t->psi[0] = t->psi[1] = NAN;
            t->knot[0] = 0, t->knot[1] = 1;
        }
        t->n = t->knots = 2;
    }
    lanes_meet();
    table_finish(t);
    if (!in->whole) return true;
    t->rest = t->hazard = 0;
    if (lane_id() == 0) t->f[t->n - 1] = 1;
    lanes_meet();
    return true;
}

/* ---- Tweedie's map ------------------------------------------------------------------------------------------------
 */

LANES_CODE double tweedie_moved(double q, double psi, double sigma, bool multiplicative)
{
    double half = 0.5 * sigma * sigma;
    double to = multiplicative ? q * exp(half * (q * psi + 1)) : q + half * psi;
    return isfinite(to) && (!multiplicative || q > 0) ? to : q;
}

/* The non-decreasing sequence nearest to y (n), in place. weight (n) and count (n) are scratch; one lane. */
LANES_CODE void tweedie_pool(const struct lanes_table *t, double *y, double *weight, uint16_t *count)
{
    int pools = 0;
    LANES_LOOP
    for (int i = 0; i < t->n; i++, pools++) {
        double left = i > 0 ? t->f[i] - t->f[i - 1] : 0, right = i + 1 < t->n ? t->f[i + 1] - t->f[i] : 0;
        y[pools] = y[i];
        weight[pools] = left + right + 1e-12;
        count[pools] = 1;
        LANES_LOOP
        while (pools > 0 && y[pools - 1] > y[pools]) {
            double both = weight[pools - 1] + weight[pools];
            y[pools - 1] = (weight[pools - 1] * y[pools - 1] + weight[pools] * y[pools]) / both;
            weight[pools - 1] = both;
            count[pools - 1] = (uint16_t)(count[pools - 1] + count[pools]);
            pools--;
        }
    }
    LANES_LOOP
    for (int p = pools - 1, at = t->n; p >= 0; p--) {
        double mean = y[p];
        LANES_LOOP
        for (int k = 0; k < count[p]; k++) y[--at] = mean;
    }
}

LANES_CODE double tweedie_stretch(const double *x, const double *y, int i, int n)
{
    if (i == 0) return (y[1] - y[0]) / (x[1] - x[0]);
    double before = x[i] - x[i - 1], left = (y[i] - y[i - 1]) / before;
    if (i + 1 == n) return left;
    double after = x[i + 1] - x[i], right = (y[i + 1] - y[i]) / after;
    return (left * after + right * before) / (before + after);
}

LANES_CODE bool tweedie_falls(const double *y, int n, double step)
{
    bool falls = false;
    LANES_LOOP
    for (int i = lane_id(); i + 1 < n; i += LANES) falls = falls || !(y[i + 1] > y[i] + step);
    return lanes_any(falls);
}

/* weight (n) and count (n): scratch. */
LANES_CODE void table_remove_noise(struct lanes_table *t, double sigma, bool multiplicative, double *weight,
                                   uint16_t *count)
{
    const double least_step = 1e-12;
    double *y = t->psi;
    int n = t->n;
    LANES_LOOP
    for (int i = lane_id(); i < n; i += LANES) y[i] = tweedie_moved(t->x[i], y[i], sigma, multiplicative);
    lanes_meet();
    if (tweedie_falls(y, n, 0)) {
        if (lane_id() == 0) tweedie_pool(t, y, weight, count);
        lanes_meet();
    }
    double step = least_step * fmax(y[n - 1] - y[0], fmax(fabs(y[0]), fabs(y[n - 1])));
    if (!(step > 0)) step = least_step;
    if (tweedie_falls(y, n, step)) {
        if (lane_id() == 0) LANES_LOOP
        for (int i = 1; i < n; i++)
            if (!(y[i] > y[i - 1] + step)) y[i] = y[i - 1] + step;
        lanes_meet();
    }
    LANES_LOOP
    for (int i = lane_id(); i < n; i += LANES) t->slope[i] /= tweedie_stretch(t->x, y, i, n);
    lanes_meet();
    LANES_LOOP
    for (int i = lane_id(); i < n; i += LANES) t->x[i] = y[i];
    lanes_meet();
    table_finish(t);
}

/* ---- The distribution, each lane alone ------------------------------------------------------------------------------
 */

struct table_cubic {
    double a, b, c;
};

LANES_CODE struct table_cubic table_cubic(const struct lanes_table *t, int i)
{
    double d = t->x[i + 1] - t->x[i], mass = t->f[i + 1] - t->f[i], s0 = d * t->slope[i], s1 = d * t->slope[i + 1];
    struct table_cubic p = {s0, 3 * mass - 2 * s0 - s1, s0 + s1 - 2 * mass};
    return p;
}

/* The cell i of v (n) with v[i] <= key < v[i+1], or with `upper` v[i] < key <= v[i+1]. */
LANES_CODE int table_locate(const double *v, int n, double key, bool upper)
{
    int low = 0, high = n - 1;
    LANES_LOOP
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (upper ? v[middle] < key : v[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

LANES_CODE double table_cdf(const struct lanes_table *t, double x)
{
    int last = t->n - 1;
    if (!(x > t->x[0])) return isnan(x) ? NAN : x == t->x[0] ? t->f[0] : 0;
    if (x >= t->x[last]) return t->f[last];
    int i = table_locate(t->x, t->n, x, false);
    struct table_cubic p = table_cubic(t, i);
    double s = (x - t->x[i]) / (t->x[i + 1] - t->x[i]), f = t->f[i] + s * (p.a + s * (p.b + s * p.c));
    return fmin(fmax(f, t->f[i]), t->f[i + 1]);
}

LANES_CODE double table_density(const struct lanes_table *t, double x)
{
    int last = t->n - 1;
    if (!(x >= t->x[0] && x <= t->x[last])) return isnan(x) ? NAN : 0;
    if (x == t->x[last]) return t->slope[last];
    int i = table_locate(t->x, t->n, x, false);
    struct table_cubic p = table_cubic(t, i);
    double d = t->x[i + 1] - t->x[i], s = (x - t->x[i]) / d;
    return fmax((p.a + s * (2 * p.b + 3 * s * p.c)) / d, 0.0);
}

LANES_CODE double table_solve(struct table_cubic p, double mass, double t)
{
    double low = 0, high = 1;
    LANES_LOOP
    for (int step = 0; step < 100; step++) {
        double miss = t * (p.a + t * (p.b + t * p.c)) - mass;
        if (miss > 0)
            high = t;
        else
            low = t;
        double next = t - miss / (p.a + t * (2 * p.b + 3 * t * p.c));
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        if (fabs(next - t) <= 1e-15 * next) return next;
        t = next;
    }
    return t;
}

LANES_CODE double table_quantile(const struct lanes_table *t, double level)
{
    int last = t->n - 1;
    if (!(level > t->f[0])) return level >= 0 ? t->x[0] : NAN;
    if (level > t->f[last]) return level <= 1 ? INFINITY : NAN;
    int i = table_locate(t->f, t->n, level, true);
    double mass = level - t->f[i], all = t->f[i + 1] - t->f[i], d = t->x[i + 1] - t->x[i];
    return fmin(t->x[i] + d * table_solve(table_cubic(t, i), mass, mass / all), t->x[i + 1]);
}

#endif
