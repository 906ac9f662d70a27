/*
 * exact_table.h - internals of exact.h: filling the table by quadrature or from a compensator.
 *
 * A filler starts the table, adds nodes from left to right, and finishes it.
 */
#ifndef SMURF_LAW_EXACT_TABLE_H
#define SMURF_LAW_EXACT_TABLE_H

#include "law/exact.h"

#include <stdbool.h>

enum {
    PANEL_DEGREE = 8, /* of a panel's polynomial; even, so that the middle is a node */
    PANEL_NODES = PANEL_DEGREE + 1,
    PANEL_GRIDS = 10,  /* possible numbers of equal cells in a panel: exact_rules.c */
    PANEL_GRID = 48,   /* the largest */
    PANELS_MOST = 768, /* leaves some table nodes for each */
};

/* lambda, or the density of a law known by its score, on [a, b] at the Chebyshev nodes. */
struct panel {
    double a, b;
    double start; /* the integral from lo to a */
    double rise;  /* the integral from a to b */
    double error; /* estimated, of the integral to any point of the panel */
    bool suspect; /* the nodes may miss a feature between them */
    int from, to; /* nodes still to be evaluated */
    double value[PANEL_NODES];
    double log[PANEL_NODES]; /* laws known by their score: ln p before scaling */
};

/* Linear maps of the values at a panel's nodes, for width 1, each (PANEL_NODES x outputs). */
struct panel_rules {
    double node[PANEL_NODES];                                 /* in [0, 1] */
    double coefficient[PANEL_NODES * PANEL_NODES];            /* of the Chebyshev polynomials */
    double integral[PANEL_NODES * PANEL_NODES];               /* from 0 to each node */
    double third[PANEL_NODES * PANEL_NODES];                  /* third derivative at each node */
    double half[2][PANEL_NODES * PANEL_NODES];                /* values at the nodes of the left and the right half */
    double weight[PANEL_NODES];                               /* for the integral from 0 to 1 */
    double middle[PANEL_NODES];                               /* for the integral from 0 to 1/2 */
    double grid_value[PANEL_GRIDS][PANEL_NODES * PANEL_GRID]; /* values at 1/m, 2/m .. 1 */
    double grid_slope[PANEL_GRIDS][PANEL_NODES * PANEL_GRID]; /* derivatives there */
    double grid_integral[PANEL_GRIDS][PANEL_NODES * PANEL_GRID]; /* integrals from 0 to these points */
};
extern const int smurf_panel_cells[PANEL_GRIDS]; /* m, increasing */
void smurf_panel_rules(struct panel_rules *rules);
/* out (n) = map (PANEL_NODES x n) of value */
void smurf_panel_apply(const double *map, const double *value, double *out, size_t n);

/* Nodes of a table bisected from a compensator. */
struct bisection {
    double x[EXACT_NODES_MOST], f[EXACT_NODES_MOST], slope[EXACT_NODES_MOST];
    bool done[EXACT_NODES_MOST]; /* the cell to the right of the node is accurate enough */
};

struct exact_work {
    struct panel_rules rules;
    struct panel panel[2][PANELS_MOST];
    double point[PANELS_MOST * PANEL_NODES], value[PANELS_MOST * PANEL_NODES];
    double psi[EXACT_NODES_MOST];
    struct bisection bisection[2];
};

void smurf_exact_start(struct exact *exact);
/* Appends a node to the right; replaces the last one if the table is full. */
void smurf_exact_add(struct exact *exact, double x, double f, double slope, bool knot);
/* Makes the table a distribution: F non-decreasing in [0, 1], slopes limited to keep the cubics monotone. */
void smurf_exact_finish(struct exact *exact);

/* The two fillers, on a finite [lo, hi]. */
void smurf_exact_integrate(struct exact *exact, const struct law *law, enum exact_mass mass);
void smurf_exact_bisect(struct exact *exact, const struct law *law, enum exact_mass mass);

#endif
