/*
 * score_table.h - a law's score as cubics on a uniform grid, with a bounded error.
 *
 * On [from, to] cut into `cells`, cell k = 1 .. cells holds the cubic
 *
 *     psi(x) ~ c0 + f (c1 + f (c2 + f c3)),   k = floor(u),  f = u - k,  u = (x - from) / width + 1
 *
 * through psi at both ends, with slopes by differences of fourth order. The cells are halved, all of them, until every
 * one has met a bound: the cubic may miss psi in the middle of the cell, and of its neighbours, by
 *
 *     SCORE_TABLE_BOUND max(|psi|, 1 / scale)
 *
 * at most. The law is asked where that is yet to be, so that steep places are dear and the rest is not. Each cell is
 * halved once more after it has met the bound, for its middle is at hand: what is used has some 16th of the error that
 * was checked. Integrated over a length `scale`, the bound moves densities by 1e-4. What is narrower than a 256th of
 * the table may be missed.
 *
 * Cells that miss the bound on the finest grid, or where psi is not finite, say SCORE_TABLE_DIRECT in c0: ask the law.
 * Cell 0 stands for all that is left of the table, cell cells + 1 for all right of it: the constant that psi has become
 * there, to within the bound, else SCORE_TABLE_DIRECT.
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
    double error;             /* largest at a middle, of the cells kept, over max(|psi|, 1 / scale) */
    size_t cells, direct;     /* cells, and how many of them ask the law */
    const float *coefficient; /* (cells + 2) x 4 */
    void *memory;
};

/* psi at any gaps, without regard to the support: the class's score, or what follows from slope and intensity. For laws
   that are defined everywhere, as learned ones are; others may give NaN or nonsense outside of [lo, hi]. gap and out
   may be the same array. */
void smurf_score_everywhere(const struct law *law, const double *gap, double *out, size_t n);

/* A table of at most SCORE_TABLE_FINE cells, which takes 400 KB. It has no cells, and asks the law everywhere,
   unless from < to are finite and some way apart. scale is positive. False: out of memory. */
enum { SCORE_TABLE_COARSE = 128, SCORE_TABLE_FINE = 16384 };
bool smurf_score_table_init(struct score_table *table, const struct law *law, double from, double to, double scale);
void smurf_score_table_release(struct score_table *table);
/* psi from the table, NaN where it asks the law. The plain form of what walk.c does. */
double smurf_score_table_at(const struct score_table *table, double x);

#endif
