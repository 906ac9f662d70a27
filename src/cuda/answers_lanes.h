/*
 * answers_lanes.h - what is asked of a gap's law in the user's unit: levels, density, CRPS, spread and quantiles, by
 * lanes.
 *
 * The distributions are those of law/scaled.c and law/recalibrate.c over a table; the integrals those of law/dist.c, by
 * five Gauss nodes in each cell between the same edges. Edges of no width add nothing, so duplicates are kept.
 */
#ifndef SMURF_CUDA_ANSWERS_LANES_H
#define SMURF_CUDA_ANSWERS_LANES_H

#include "cuda/table_lanes.h"

#include <float.h>

enum { MAP_CELLS = 32, TAIL_EDGES_MOST = 24, EXTRA_EDGES = MAP_CELLS, EDGES_ALL = 4096, LEVELS_MOST = 64 };
enum { AXIS_NONE, AXIS_MEAN, AXIS_LOG }; /* as smurf_scale_kind */

/* What lanes look up in different places, and therefore not in constant memory. */
struct answers_tables {
    double level[MAP_CELLS + 1], slope[MAP_CELLS + 1]; /* the map of levels, if there is one */
    double quantile[LEVELS_MOST];                      /* levels asked for, through the inverse of the map */
};

/* What all laws of a call have in common. */
struct answers_plan {
    const struct panel_maps *map;
    const float *w; /* (width) of the head */
    float c;
    int width;
    double lo, hi;
    bool whole, multiplicative;
    double sigma; /* noise to remove; 0: none */
    int axis;
    double mean, mu, sd;                     /* of the axis */
    double tail_from, tail_share, tail_mean; /* tail_from 0: no bound */
    double tick;                             /* 0: none */
    bool mapped;                             /* recalibrated by the map of the tables */
    int levels;
    const struct answers_tables *tables;
};

/* The answers about one gap; NULL: not wanted. */
struct answer {
    double *mass, *density, *crps, *spread, *quantile;
};

/* struct scaled of wrap.h. */
struct lanes_scaled {
    double hi, end, end_level, keep, rest, rate;
};

/* ---- The axis -------------------------------------------------------------------------------------------------------
 */

LANES_CODE double axis_forward(const struct answers_plan *plan, double gap)
{
    if (plan->axis == AXIS_MEAN) return gap / plan->mean;
    return plan->axis == AXIS_LOG ? (log(gap / plan->mean + 1e-9) - plan->mu) / plan->sd : gap;
}

LANES_CODE double axis_backward(const struct answers_plan *plan, double y)
{
    double gap = y;
    if (plan->axis == AXIS_MEAN) gap = plan->mean * y;
    if (plan->axis == AXIS_LOG) gap = plan->mean * (exp(plan->sd * y + plan->mu) - 1e-9);
    return gap < 0 ? 0 : gap;
}

/* dy/dgap */
LANES_CODE double axis_slope(const struct answers_plan *plan, double gap)
{
    if (plan->axis == AXIS_MEAN) return 1 / plan->mean;
    return plan->axis == AXIS_LOG ? 1 / (plan->sd * (gap + 1e-9 * plan->mean)) : 1;
}

/* ---- The law in the user's unit -------------------------------------------------------------------------------------
 */

LANES_CODE struct lanes_scaled scaled_of(const struct answers_plan *plan, const struct lanes_table *t)
{
    struct lanes_scaled s;
    s.hi = t->x[t->n - 1];
    s.end = axis_backward(plan, s.hi);
    s.keep = 1;
    s.rate = 0;
    s.end_level = t->f[t->n - 1];
    s.rest = t->rest > 0 ? t->rest : 1 - s.end_level;
    if (s.rest > 0) {
        double slow = s.end > 0 ? 1 / s.end : 1 / plan->mean, hazard = t->hazard * axis_slope(plan, s.end);
        s.rate = hazard > slow && isfinite(hazard) ? hazard : slow;
    }
    if (!(plan->tail_from > 0 && plan->tail_from < s.end)) return s;
    double hi = axis_forward(plan, plan->tail_from), level = table_cdf(t, hi);
    if (!(level >= 1e-6)) return s;
    s.hi = hi;
    s.end = plan->tail_from;
    s.rest = fmin(1 - level, plan->tail_share);
    s.end_level = 1 - s.rest;
    s.keep = s.end_level / level;
    s.rate = 1 / plan->tail_mean;
    return s;
}

LANES_CODE double scaled_survival(const struct lanes_scaled *s, double gap)
{
    return s->rate > 0 ? s->rest * exp(-s->rate * (gap - s->end)) : s->rest;
}

LANES_CODE double scaled_cdf(const struct answers_plan *plan, const struct lanes_table *t, const struct lanes_scaled *s,
                             double gap)
{
    if (gap < 0) return 0;
    if (gap >= s->end) return 1 - scaled_survival(s, gap);
    return s->keep * table_cdf(t, axis_forward(plan, gap));
}

LANES_CODE double scaled_quantile(const struct answers_plan *plan, const struct lanes_table *t,
                                  const struct lanes_scaled *s, double level)
{
    if (s->rate > 0 && level >= s->end_level && level <= 1)
        return s->end - fmin(log((1 - level) / s->rest), 0.0) / s->rate;
    double gap = axis_backward(plan, table_quantile(t, level <= 1 ? level / s->keep : NAN));
    return gap > s->end ? s->end : gap;
}

/* smurf_recalibration_map and its derivative. */
LANES_CODE double map_level(const struct answers_plan *plan, double level, double *slope)
{
    if (!(level > 0 && level < 1) && !slope) return isnan(level) ? NAN : level > 0;
    double at = isnan(level) ? 0 : fmin(fmax(level, 0.0), 1.0);
    int k = at < 1 ? (int)(at * MAP_CELLS) : MAP_CELLS - 1;
    const double *from = plan->tables->level + k, *bend = plan->tables->slope + k;
    double rise = from[1] - from[0], s0 = bend[0] / MAP_CELLS;
    double s1 = bend[1] / MAP_CELLS, a = s0, b = 3 * rise - 2 * s0 - s1, c = s0 + s1 - 2 * rise;
    double t = at * MAP_CELLS - (double)k;
    if (slope) *slope = isnan(level) ? NAN : (a + t * (2 * b + 3 * t * c)) * MAP_CELLS;
    return fmin(fmax(from[0] + t * (a + t * (b + t * c)), from[0]), from[1]);
}

LANES_CODE double answer_cdf(const struct answers_plan *plan, const struct lanes_table *t, const struct lanes_scaled *s,
                             double gap)
{
    double f = scaled_cdf(plan, t, s, gap);
    return plan->mapped ? map_level(plan, f, 0) : f;
}

LANES_CODE double answer_density(const struct answers_plan *plan, const struct lanes_table *t,
                                 const struct lanes_scaled *s, double gap)
{
    double out = isnan(gap) ? NAN : 0, factor;
    if (gap >= 0 && gap < s->end)
        out = s->keep * table_density(t, axis_forward(plan, gap)) * axis_slope(plan, gap);
    else if (gap >= s->end)
        out = s->rate > 0 ? s->rate * scaled_survival(s, gap) : 0;
    if (!plan->mapped) return out;
    map_level(plan, scaled_cdf(plan, t, s, gap), &factor);
    return out * factor;
}

/* ---- Edges of the integrals -----------------------------------------------------------------------------------------
 */

/* The knots of scaled.c, into edge (most). Returns how many, more than `most` if there is no room. */
LANES_CODE int scaled_edges(const struct answers_plan *plan, const struct lanes_table *t, const struct lanes_scaled *s,
                            double *edge, int most)
{
    double least = 0;
    if (plan->axis == AXIS_LOG) least = 1e-9 * axis_backward(plan, table_quantile(t, 0.5 * s->end_level / s->keep));
    double first = axis_forward(plan, least);
    int made = 1;
    LANES_LOOP
    for (int from = 0; from < t->knots; from += LANES) {
        int i = from + lane_id(), all;
        double y = i < t->knots ? t->x[t->knot[i]] : INFINITY, cuts = 0;
        double before = i > 0 && i < t->knots ? fmax(first, t->x[t->knot[i - 1]]) : first;
        if (y < s->hi && y > before)
            cuts =
                plan->axis == AXIS_LOG && i > 0 ? fmin(fmax(ceil(plan->sd * (y - before)), 1.0), (double)EDGES_ALL) : 1;
        int at = made + lanes_running_sum((int)cuts, &all);
        LANES_LOOP
        for (int k = 1; k <= (int)cuts; k++, at++)
            if (at < most) edge[at] = fmin(axis_backward(plan, before + (y - before) * ((double)k / cuts)), s->end);
        made += all;
    }
    if (lane_id() == 0) {
        edge[0] = 0;
        if (made < most) edge[made] = s->end;
    }
    made++;
    int tail = 0;
    if (s->rate > 0) {
        double left = s->rest, shrink = exp(-2.0);
        LANES_LOOP
        for (; left > 1e-16 && tail < TAIL_EDGES_MOST; left *= shrink, tail++)
            if (lane_id() == 0 && made + tail < most) edge[made + tail] = s->end + (double)(tail + 1) * 2 / s->rate;
    }
    made += tail;
    lanes_meet();
    if (made > most) return made;
    double highest = 0;
    LANES_LOOP
    for (int from = 0; from < made; from += LANES) { /* rounding must not turn them round */
        int i = from + lane_id();
        double last, x = lanes_running_max(i < made ? edge[i] : 0, &last);
        if (i < made) edge[i] = fmax(x, highest);
        highest = fmax(highest, last);
    }
    lanes_meet();
    bool empty = edge[made - 1] == 0; /* all mass is in the atom */
    lanes_meet();
    if (empty) {
        if (lane_id() == 0) edge[made - 1] = plan->mean > 0 ? plan->mean : 1;
        lanes_meet();
    }
    return made;
}

LANES_CODE int edges_below(const double *edge, int n, double x, bool upto)
{
    int low = 0, high = n; /* edge[low - 1] is below, edge[high] is not */
    LANES_LOOP
    while (low < high) {
        int middle = (low + high) / 2;
        if (upto ? edge[middle] <= x : edge[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merges edge (n) with the gaps at the knots of the map and with `gap`; all (n + EXTRA_EDGES), extra (EXTRA_EDGES).
   Returns how many. */
LANES_CODE int merged_edges(const struct answers_plan *plan, const struct lanes_table *t, const struct lanes_scaled *s,
                            const double *edge, int n, double gap, double *extra, double *all)
{
    double end = edge[n - 1];
    int more = plan->mapped ? MAP_CELLS - 1 : 0;
    LANES_LOOP
    for (int k = lane_id(); k < more; k += LANES) {
        double x = scaled_quantile(plan, t, s, (double)(k + 1) / MAP_CELLS);
        extra[k] = fmin(fmax(x, 0.0), end);
    }
    lanes_meet();
    double place = 0;
    LANES_LOOP
    for (int k = lane_id(); k < more; k += LANES) place += extra[k] < gap;
    int before = (int)lanes_sum(place, LANES);
    LANES_LOOP
    for (int k = lane_id(); k < more; k += LANES)
        all[edges_below(edge, n, extra[k], true) + k + (k >= before)] = extra[k];
    if (lane_id() == 0) all[edges_below(edge, n, gap, true) + before] = gap;
    LANES_LOOP
    for (int i = lane_id(); i < n; i += LANES)
        all[i + edges_below(extra, more, edge[i], false) + (gap < edge[i])] = edge[i];
    lanes_meet();
    return n + more + 1;
}

/* ---- Answers --------------------------------------------------------------------------------------------------------
 */

LANES_CODE double gauss_node(int j)
{
    return j == 0   ? 0.046910077030668003601
           : j == 1 ? 0.23076534494715845448
           : j == 2 ? 0.5
           : j == 3 ? 0.76923465505284154552
                    : 0.9530899229693319964;
}

LANES_CODE double gauss_weight(int j)
{
    return j == 0 || j == 4 ? 0.11846344252809454376 : j == 2 ? 0.28444444444444444444 : 0.23931433524968323402;
}

/* CRPS and spread over the cells between n edges; cells from `gap` on are past it. */
LANES_CODE void answer_integrals(const struct answers_plan *plan, const struct lanes_table *t,
                                 const struct lanes_scaled *s, const double *edge, int n, double gap, double *crps,
                                 double *spread)
{
    double miss = 0, variance = 0;
    LANES_LOOP
    for (int i = lane_id(); i < 5 * (n - 1); i += LANES) {
        int cell = i / 5, j = i % 5;
        double from = edge[cell], width = edge[cell + 1] - from;
        if (!(width > 0)) continue;
        double f = answer_cdf(plan, t, s, from + width * gauss_node(j)), mass = width * gauss_weight(j);
        double far = from >= gap ? 1 - f : f;
        miss = fma(mass * far, far, miss);
        variance = fma(mass * f, 1 - f, variance);
    }
    *crps = lanes_sum(miss, LANES);
    *spread = lanes_sum(variance, LANES);
}

/* smurf_ticks_mass, and the density of measure.c: of the tick if its mass is told precisely. */
LANES_CODE void answer_levels(const struct answers_plan *plan, const struct lanes_table *t,
                              const struct lanes_scaled *s, double gap, const struct answer *out)
{
    double half = plan->tick > 0 ? 0.5 * plan->tick : 0, from = gap - half, mass[2];
    LANES_LOOP
    for (int i = 0; i < 2; i++) {
        double x = i                      ? gap + half
                   : half > 0 && from > 0 ? from
                                          : nextafter(half > 0 ? fmin(gap, 0.0) : gap, -(double)INFINITY);
        mass[i] = answer_cdf(plan, t, s, x);
    }
    double density = NAN, inside = mass[1] - (from > 0 ? mass[0] : 0);
    if (half > 0 && inside >= 1e-6) density = inside / (gap + half - fmax(from, 0.0));
    if (isnan(density)) density = answer_density(plan, t, s, gap);
    if (lane_id()) return;
    out->mass[0] = mass[0];
    out->mass[1] = mass[1];
    *out->density = density;
}

/* Scratch of the last part; may overlap what only integration needs. */
struct answer_room {
    double *edge, *all, *extra; /* (most), (most + EXTRA_EDGES + 1), (EXTRA_EDGES) */
    int most;
};

/* False: there is no room for the edges. */
LANES_CODE bool answer(const struct answers_plan *plan, const struct lanes_table *t, const struct answer_room *room,
                       double gap, const struct answer *out)
{
    struct lanes_scaled s = scaled_of(plan, t);
    if (out->crps) {
        int n = scaled_edges(plan, t, &s, room->edge, room->most);
        if (n > room->most) return false;
        double end = room->edge[n - 1], inside = gap >= 0 ? fmin(gap, end) : 0, crps, spread;
        n = merged_edges(plan, t, &s, room->edge, n, inside, room->extra, room->all);
        answer_integrals(plan, t, &s, room->all, n, inside, &crps, &spread);
        if (gap < 0) crps -= gap;
        if (gap > end) {
            double f = answer_cdf(plan, t, &s, end);
            crps += (gap - end) * f * f;
        }
        if (!isfinite(gap)) crps = isnan(gap) ? NAN : INFINITY;
        if (lane_id() == 0) {
            *out->crps = crps;
            *out->spread = spread;
        }
    }
    LANES_LOOP
    for (int i = lane_id(); i < plan->levels; i += LANES)
        out->quantile[i] = scaled_quantile(plan, t, &s, plan->tables->quantile[i]);
    answer_levels(plan, t, &s, gap, out);
    lanes_meet();
    return true;
}

#endif
