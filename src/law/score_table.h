/*
 * score_table.h - a law's score as cubics on a uniform grid, with a bounded error.
 *
 * On [from, to] divided into `cells`, cell k = 1 .. cells holds the cubic
 *
 *     psi(x) ~ c0 + f (c1 + f (c2 + f c3)),   k = floor(u),  f = u - k,  u = (x - from) / width + 1
 *
 * through psi at both ends, with slopes by fourth-order differences. All cells are halved until each has met a bound:
 * at the midpoints of the cell and of its neighbours, the error of the cubic is at most
 *
 *     SCORE_TABLE_BOUND max(|psi|, 1 / scale)
 *
 * The law is evaluated only in cells that have not met the bound, so cost concentrates where psi is steep. Each cell is
 * halved once more after it has met the bound, because its midpoint is already known: the cubics in use have about 1/16
 * of the checked error. Integrated over a length `scale`, the bound changes densities by 1e-4. Features narrower than
 * 1/256 of the table may be missed.
 *
 * Cells that miss the bound on the finest grid, or where psi is not finite, have SCORE_TABLE_DIRECT in c0: evaluate the
 * law instead. Cell 0 covers everything left of the table, cell cells + 1 everything right of it: a constant if psi is
 * constant there to within the bound, else SCORE_TABLE_DIRECT.
 */
#ifndef SMURF_LAW_SCORE_TABLE_H
#define SMURF_LAW_SCORE_TABLE_H

#include "law/law.h"

#include <stdbool.h>

#define SCORE_TABLE_BOUND  1e-4
#define SCORE_TABLE_DIRECT 1e30f /* greater than any score in a table: those are below SCORE_TABLE_MOST */
#define SCORE_TABLE_MOST   1e18

struct score_table {
    double origin, width;     /* of a cell */
    double error;             /* largest at a midpoint, of the cells kept, relative to max(|psi|, 1 / scale) */
    size_t cells, direct;     /* cells, and how many of them defer to the law */
    const float *coefficient; /* (cells + 2) x 4 */
    void *memory;
};

/* psi at any gap, ignoring the support: the class's score, or derived from slope and intensity. For laws that are
   defined everywhere, as learned ones are; others may give NaN or meaningless values outside [lo, hi]. gap and out may
   be the same array. */
void smurf_score_everywhere(const struct law *law, const double *gap, double *out, size_t n);

/* A table of at most SCORE_TABLE_FINE cells, 400 KB. Unless from < to are finite and far enough apart, it has no cells
   and defers to the law everywhere. scale is positive. False: out of memory. */
enum { SCORE_TABLE_COARSE = 128, SCORE_TABLE_FINE = 16384 };
bool smurf_score_table_init(struct score_table *table, const struct law *law, double from, double to, double scale);
void smurf_score_table_release(struct score_table *table);
/* psi from the table, NaN where it defers to the law. The scalar version of walk.c. */
double smurf_score_table_at(const struct score_table *table, double x);

#endif
