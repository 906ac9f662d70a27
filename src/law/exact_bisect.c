/*
 * exact_bisect.c - fills the table of exact.h from a compensator.
 *
 *     F = 1 - exp(-Lambda),   dF/dx = lambda exp(-Lambda)
 *
 * Cells are halved until the cubic through their ends predicts F at their midpoint. An infinite intensity at an end (a
 * Weibull law of shape 1/2) gives a steep slope, which the table limits.
 */
#include "law/exact_table.h"

#include <math.h>

static const double tolerance = 5e-8;
/* Largest mass of a cell: detects a step even if it happens to pass through the predicted midpoint. */
static const double most_mass = 0.05;
static const double steepest = 1e200;

enum { CELLS_FIRST = 16 };

/* F and its slope at n points, not necessarily monotone. */
static void evaluate(struct exact *exact, const struct law *law, const double *x, double *f, double *slope, size_t n)
{
    law->class->compensator(law->self, x, f, n);
    law->class->intensity(law->self, x, slope, n);
    exact->evaluations += n;
    for (size_t i = 0; i < n; i++) {
        f[i] = f[i] > 0 ? -expm1(-f[i]) : 0;
        slope[i] = slope[i] > 0 ? fmin(slope[i] * (1 - f[i]), steepest) : 0;
        if (isnan(slope[i])) slope[i] = 0; /* infinity times 0 */
    }
}

static double limit(double slope, double secant)
{
    return fmin(slope, 3 * secant);
}

/* Whether the cubic between nodes i and i + 1 of `b` predicts the midpoint. */
static bool is_foretold(const struct bisection *b, size_t i, double middle, double total)
{
    double d = b->x[i + 1] - b->x[i], mass = b->f[i + 1] - b->f[i];
    if (!(mass > tolerance * total)) return true;
    double secant = mass / d, left = limit(b->slope[i], secant), right = limit(b->slope[i + 1], secant);
    double guess = 0.5 * (b->f[i] + b->f[i + 1]) + d * (left - right) / 8;
    return mass < most_mass * total && fabs(guess - middle) < tolerance * total;
}

/* Halves the unfinished cells, from `b` to `next`. Returns the number of nodes, unchanged if all cells are done. */
static size_t halve(struct exact *exact, const struct law *law, const struct bisection *b, struct bisection *next,
                    size_t n)
{
    double *x = exact->work->point, *f = exact->work->value, *slope = f + EXACT_NODES_MOST;
    size_t m = 0, made = 0, used = 0;
    for (size_t i = 0; i + 1 < n && n + m < EXACT_NODES_MOST; i++)
        if (!b->done[i]) x[m++] = b->x[i] + 0.5 * (b->x[i + 1] - b->x[i]);
    if (m == 0) return n;
    evaluate(exact, law, x, f, slope, m);
    double total = b->f[n - 1] > 0 ? b->f[n - 1] : 1;
    for (size_t i = 0; i < n; i++) {
        next->x[made] = b->x[i];
        next->f[made] = b->f[i];
        next->slope[made] = b->slope[i];
        next->done[made++] = true;
        if (i + 1 == n || b->done[i] || used == m) continue;
        double middle = x[used], at_middle = fmin(fmax(f[used], b->f[i]), b->f[i + 1]);
        bool done = is_foretold(b, i, at_middle, total);
        if (middle > b->x[i] && middle < b->x[i + 1]) {
            next->done[made - 1] = done;
            next->x[made] = middle;
            next->f[made] = at_middle;
            next->slope[made] = slope[used];
            next->done[made++] = done;
        }
        used++;
    }
    return made;
}

static size_t first_cells(struct exact *exact, const struct law *law, struct bisection *b)
{
    for (size_t i = 0; i <= CELLS_FIRST; i++) {
        b->x[i] = i < CELLS_FIRST ? law->lo + (law->hi - law->lo) * ((double)i / CELLS_FIRST) : law->hi;
        b->done[i] = i == CELLS_FIRST;
    }
    evaluate(exact, law, b->x, b->f, b->slope, CELLS_FIRST + 1);
    for (size_t i = 1; i <= CELLS_FIRST; i++) b->f[i] = fmax(b->f[i], b->f[i - 1]);
    return CELLS_FIRST + 1;
}

void smurf_exact_bisect(struct exact *exact, const struct law *law, enum exact_mass mass)
{
    struct bisection *b = exact->work->bisection, *next = b + 1;
    size_t n = first_cells(exact, law, b), made;
    while ((made = halve(exact, law, b, next, n)) > n) {
        struct bisection *swap = b;
        b = next;
        next = swap;
        n = made;
    }
    double total = mass == EXACT_ONE ? b->f[n - 1] : 1, end[2];
    if (!(total > 0)) return; /* an empty table: handled by the caller */
    /* cells are so small that one Gauss rule can span two */
    for (size_t i = 0; i < n; i++)
        smurf_exact_add(exact, b->x[i], b->f[i] / total, b->slope[i] / total, i % 2 == 0 || i + 1 == n);
    law->class->compensator(law->self, &law->hi, end, 1);
    law->class->intensity(law->self, &law->hi, end + 1, 1);
    exact->rest = end[0] > 0 ? exp(-end[0]) : 1;
    exact->hazard = end[1];
}
