/*
 * exact_table.h - inside of exact.h: how its table is filled, by quadrature or from a compensator.
 *
 * A filler starts the table, adds nodes from left to right, and finishes it.
 */
#ifndef SMURF_LAW_EXACT_TABLE_H
#define SMURF_LAW_EXACT_TABLE_H

#include "law/exact.h"

#include <stdbool.h>

enum {
    PANEL_DEGREE = 8, /* of the polynomial of a panel; even, so that the middle is a node */
    PANEL_NODES = PANEL_DEGREE + 1,
    PANEL_GRIDS = 10,  /* numbers of equal cells that a panel may be cut into: exact_rules.c */
    PANEL_GRID = 48,   /* the largest */
    PANELS_MOST = 512, /* leaves a few table nodes for each */
};

/* lambda, or the density of a law known by its score, on [a, b] at the Chebyshev nodes. */
struct panel {
    double a, b;
    double start; /* the integral from lo to a */
    double rise;  /* the integral from a to b */
    double error; /* of the integral to any point of the panel, estimated */
    bool suspect; /* there may be something between the nodes that they do not show */
    int from, to; /* nodes still to evaluate */
    double value[PANEL_NODES];
    double log[PANEL_NODES]; /* of laws known by their score: ln p before it is scaled */
};

/* Linear maps of the values at the nodes of a panel of width 1, each (PANEL_NODES x outputs). */
struct panel_rules {
    double node[PANEL_NODES];                                 /* in [0, 1] */
    double coefficient[PANEL_NODES * PANEL_NODES];            /* of the Chebyshev polynomials */
    double integral[PANEL_NODES * PANEL_NODES];               /* from 0 to each node */
    double third[PANEL_NODES * PANEL_NODES];                  /* third derivative at each node */
    double half[2][PANEL_NODES * PANEL_NODES];                /* values at the nodes of the left and the right half */
    double weight[PANEL_NODES];                               /* of the integral from 0 to 1 */
    double middle[PANEL_NODES];                               /* of the integral from 0 to 1/2 */
    double grid_value[PANEL_GRIDS][PANEL_NODES * PANEL_GRID]; /* values at 1/m, 2/m .. 1 */
    double grid_slope[PANEL_GRIDS][PANEL_NODES * PANEL_GRID]; /* derivatives there */
    double grid_integral[PANEL_GRIDS][PANEL_NODES * PANEL_GRID]; /* integrals from 0 to these */
};
extern const int smurf_panel_cells[PANEL_GRIDS]; /* m, increasing */
void smurf_panel_rules(struct panel_rules *rules);
/* out (n) = map (PANEL_NODES x n) of value */
void smurf_panel_apply(const double *map, const double *value, double *out, size_t n);

/* Nodes of a table that is bisected from a compensator. */
struct bisection {
    double x[EXACT_NODES_MOST], f[EXACT_NODES_MOST], slope[EXACT_NODES_MOST];
    bool done[EXACT_NODES_MOST]; /* the cell to the right of the node needs no more */
};

struct exact_work {
    struct panel_rules rules;
    struct panel panel[2][PANELS_MOST];
    double point[PANELS_MOST * PANEL_NODES], value[PANELS_MOST * PANEL_NODES];
    double psi[EXACT_NODES_MOST];
    struct bisection bisection[2];
};

void smurf_exact_start(struct exact *exact);
/* Adds a node right of all others; where there is no room for it, it replaces the last. */
void smurf_exact_add(struct exact *exact, double x, double f, double slope, bool knot);
/* Makes the table a distribution: F non-decreasing in [0, 1], slopes within what keeps cubics monotone. */
void smurf_exact_finish(struct exact *exact);

/* The two fillers, on a finite [lo, hi]. */
void smurf_exact_integrate(struct exact *exact, const struct law *law, enum exact_mass mass);
void smurf_exact_bisect(struct exact *exact, const struct law *law, enum exact_mass mass);

#endif
