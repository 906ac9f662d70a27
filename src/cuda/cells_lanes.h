/*
 * cells_lanes.h - the score tables of law/score_table.c and their range as in law/langevin.c, by lanes.
 *
 * The same cells, decisions and cubics; scores differ by rounding. A room for few cells fits into shared memory: a
 * table that needs more is made again in a room for SCORE_TABLE_FINE.
 */
#ifndef SMURF_CUDA_CELLS_LANES_H
#define SMURF_CUDA_CELLS_LANES_H

#include "cuda/units_lanes.h"

enum { CELLS_COARSE = 128, CELLS_FINE = 16384, CELLS_GHOSTS = 4, CELLS_FAR = 10 };
#define CELLS_BOUND  1e-4
#define CELLS_DIRECT 1e30f
#define CELLS_MOST   1e18

/* Scratch for a table of up to `most` cells, a power of two times CELLS_COARSE. */
struct cells_room {
    int most;
    double *node;    /* (most + 1 + 2 CELLS_GHOSTS): psi at the nodes, from node -CELLS_GHOSTS */
    bool *open;      /* (most) */
    bool *missed;    /* (most / 2 + 2) */
    uint16_t *asked; /* (most + 4): nodes to be evaluated, counted from -CELLS_GHOSTS */
};

/* As struct score_table. The cubics are (cells + 2) x 4 floats. */
struct cells_table {
    double origin, width;
    int cells;
};

/* The starts of draws and the time they walk, on the axis of the walk; floor: -INFINITY if there is none. */
struct cells_range {
    double start[2], floor, step;
    double time; /* step times steps */
};

/* The score at the `asked` nodes. Common: n. */
LANES_CODE void cells_ask(const struct cells_table *table, const struct cells_room *room, const struct units *units,
                          int n)
{
    double left = table->origin + table->width;
    lanes_meet();
    for (int from = 0; from < n;) {
        int rest = n - from, split = lanes_split(rest), i = from + lane_id() / split;
        int at = room->asked[i < n ? i : n - 1];
        double score = units_score(units, left + table->width * (double)(at - CELLS_GHOSTS), split);
        if (i < n) room->node[at] = score;
        from += LANES / split;
    }
    lanes_meet();
}

LANES_CODE double cells_slope(const double *p, int stride)
{
    return (p[-2 * stride] - 8 * p[-stride] + 8 * p[stride] - p[2 * stride]) / 12;
}

LANES_CODE double cells_middle(const double *p, int stride)
{
    return (p[0] + p[stride]) / 2 + (cells_slope(p, stride) - cells_slope(p + stride, stride)) / 8;
}

LANES_CODE double cells_allowed(double score, double scale)
{
    return fmax(fabs(score), 1 / scale);
}

/* Node i becomes node 2 i; from the right, so that nothing is overwritten before it is read. */
LANES_CODE void cells_spread(double *node, int cells)
{
    for (int from = cells + 2; from > 0; from -= LANES) {
        int i = from - lane_id();
        double value = i > 0 ? node[i] : 0;
        lanes_meet();
        if (i > 0) node[2 * i] = value;
        lanes_meet();
    }
    if (lane_id() == 0) {
        node[-4] = node[-2];
        node[-2] = node[-1];
    }
    lanes_meet();
}

LANES_CODE void cells_halve(struct cells_table *table, const struct cells_room *room, const struct units *units)
{
    double *node = room->node + CELLS_GHOSTS;
    int cells = table->cells, asked = 0;
    cells_spread(node, cells);
    table->origin += table->width / 2;
    table->width /= 2;
    table->cells *= 2;
    for (int from = -2; from < cells + 2; from += LANES) {
        int k = from + lane_id(), more;
        bool inside = k >= 0 && k < cells, ask = k < cells + 2 && (!inside || room->open[k]);
        int place = asked + lanes_before(ask, &more);
        if (ask)
            room->asked[place] = (uint16_t)(2 * k + 1 + CELLS_GHOSTS);
        else if (inside)
            node[2 * k + 1] = cells_middle(node + 2 * k, 2);
        asked += more;
    }
    cells_ask(table, room, units, asked);
}

/* Closes the cells before the last halving that are within the bound; true if none is left open. */
LANES_CODE bool cells_check(const struct cells_table *table, const struct cells_room *room, double scale)
{
    int cells = table->cells / 2;
    bool any = false;
    for (int k = lane_id(); k < cells; k += LANES) {
        const double *p = room->node + CELLS_GHOSTS + 2 * k;
        double miss = room->open[k] ? fabs(cells_middle(p, 2) - p[1]) / cells_allowed(p[1], scale) : 0;
        room->missed[k + 1] = !(miss <= CELLS_BOUND);
    }
    if (lane_id() == 0) room->missed[0] = room->missed[cells + 1] = false;
    lanes_meet();
    for (int to = cells; to > 0; to -= LANES) {
        int k = to - 1 - lane_id();
        bool open = k >= 0 && room->open[k] && (room->missed[k] || room->missed[k + 1] || room->missed[k + 2]);
        lanes_meet();
        if (k >= 0) room->open[2 * k] = room->open[2 * k + 1] = open;
        any = any || open;
        lanes_meet();
    }
    return !lanes_any(any);
}

LANES_CODE void cells_put(float *c, double c0, double c1, double c2, double c3)
{
    c[0] = (float)c0, c[1] = (float)c1, c[2] = (float)c2, c[3] = (float)c3;
}

LANES_CODE void cells_cubics(const struct cells_table *table, const struct cells_room *room, float *coefficient)
{
    for (int k = lane_id(); k < table->cells; k += LANES) {
        const double *p = room->node + CELLS_GHOSTS + k;
        double d0 = cells_slope(p, 1), d1 = cells_slope(p + 1, 1), rise = p[1] - p[0];
        double size = fmax(fmax(fabs(p[0]), fabs(p[1])), fmax(fabs(d0), fabs(d1)));
        bool finite = isfinite(p[0] + p[1] + d0 + d1) && size < CELLS_MOST;
        float *c = coefficient + 4 * (k + 1);
        if (finite && !room->open[k])
            cells_put(c, p[0], d0, 3 * rise - 2 * d0 - d1, d0 + d1 - 2 * rise);
        else
            cells_put(c, (double)CELLS_DIRECT, 0, 0, 0);
    }
}

/* The score beyond both ends of the first table, if it is constant there. */
LANES_CODE void cells_beyond(const struct cells_table *table, const struct units *units, double from, double to,
                             double scale, float *coefficient)
{
    enum { POINTS = CELLS_FAR + 2 };
    double length = table->width * (double)table->cells;
    for (int side = 0; side < 2; side++) {
        double end = side ? to : from, sign = side ? 1 : -1;
        double first = units_score(units, end, LANES);
        bool bent = !(fabs(first) < CELLS_MOST);
        for (int i = 0; i < POINTS - 1; i += LANES / 2 + 1) { /* two lanes a point */
            int split = LANES > 1 ? 2 : 1, at = i + lane_id() / split;
            if (at > POINTS - 2) at = POINTS - 2;
            double score = units_score(units, end + sign * length * (double)(1 << at), split);
            bent = bent || !(fabs(score - first) <= CELLS_BOUND * cells_allowed(first, scale));
        }
        bent = lanes_any(bent);
        if (lane_id() == 0)
            cells_put(coefficient + (side ? 4 * (table->cells + 1) : 0), bent ? (double)CELLS_DIRECT : first, 0, 0, 0);
    }
}

/* A table as smurf_score_table_init makes it, into coefficient ((room->most + 2) x 4). False: it needs more cells than
   there is room for. */
LANES_CODE bool cells_make(struct cells_table *table, const struct cells_room *room, const struct units *units,
                           double from, double to, double scale, float *coefficient)
{
    double width = (to - from) / CELLS_COARSE;
    table->origin = isfinite(from) ? from : 0;
    table->width = 1;
    table->cells = 0;
    if (!(isfinite(width) && width > 1e-9 * (fabs(from) + fabs(to)))) {
        for (int i = lane_id(); i < 8; i += LANES) coefficient[i] = i % 4 == 0 ? CELLS_DIRECT : 0;
        return true;
    }
    table->origin = from - width;
    table->width = width;
    table->cells = CELLS_COARSE;
    for (int k = lane_id(); k < CELLS_COARSE; k += LANES) room->open[k] = true;
    for (int i = lane_id(); i < CELLS_COARSE + 5; i += LANES) room->asked[i] = (uint16_t)(i - 2 + CELLS_GHOSTS);
    cells_ask(table, room, units, CELLS_COARSE + 5);
    bool good;
    do {
        if (table->cells == room->most) return false;
        cells_halve(table, room, units);
        good = cells_check(table, room, scale);
    } while (!good && table->cells < CELLS_FINE);
    cells_cubics(table, room, coefficient);
    cells_beyond(table, units, from, to, scale, coefficient);
    lanes_meet();
    return true;
}

/* Where drift alone carries the two starts: y[0] to the left, y[1] to the right. */
LANES_CODE void cells_drift(const struct units *units, double time, double reach, double y[2])
{
    enum { PIECES = 16 };
    bool goes[2] = {true, true};
    for (int i = 0; i < PIECES && (goes[0] || goes[1]); i++)
        for (int side = 0; side < 2; side++) {
            double sign = side ? 1 : -1, move = sign * units_score(units, y[side], LANES) * time / 2 / PIECES;
            goes[side] = goes[side] && move > 0;
            if (goes[side]) y[side] += sign * fmin(move, reach / 2);
        }
}

/* The table of a walk, as make_table in law/langevin.c. */
LANES_CODE bool cells_make_for(struct cells_table *table, const struct cells_room *room, const struct units *units,
                               const struct cells_range *range, float *coefficient)
{
    double low = fmin(range->start[0], range->start[1]), high = fmax(range->start[0], range->start[1]);
    double reach = 4 * sqrt(range->time), scale = high > low ? high - low : sqrt(range->time), end[2] = {low, high};
    cells_drift(units, range->time, reach, end);
    low = end[0] - reach;
    high = end[1] + reach;
    if (low < range->floor && range->floor < high) low = range->floor;
    return cells_make(table, room, units, low, high, scale, coefficient);
}

#endif
