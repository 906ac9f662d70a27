/*
 * shown.c - coverage of the intervals that users see: on ticks of the clock, closed at both ends.
 *
 * With a and b the values of F just below and just above the tick of a gap (ticks.c), the gap is
 *
 *     at least the low end of level p     if b > p
 *     at most the high end of level p     if a < p
 */
#include "eval/metrics.h"

#include <math.h>

/* Index of the levels of the c-th central interval. */
static size_t low_of(size_t c)
{
    return SMURF_CENTRAL - 1 - c;
}

static size_t high_of(size_t c)
{
    return SMURF_LEVELS - SMURF_CENTRAL + c;
}

static void add_gap(smurf_coverage *sum, double below, double upto, double pit)
{
    bool known = !isnan(below) && !isnan(upto);
    for (size_t l = 0; l < SMURF_LEVELS; l++) sum->upto[l] += known ? below < smurf_levels[l] : NAN;
    for (size_t c = 0; c < SMURF_CENTRAL; c++) {
        double low = smurf_levels[low_of(c)], high = smurf_levels[high_of(c)];
        sum->central[c] += known ? upto > low && below < high : NAN;
        sum->central_pit[c] += isnan(pit) ? NAN : pit > low && pit < high;
    }
}

void smurf_coverage_of_row(smurf_coverage *out, const struct evaluation *e, const struct row_values *row)
{
    *out = (smurf_coverage){.tick = e->tick};
    for (size_t i = 0; i < e->n; i++)
        add_gap(out, row->mass ? row->mass[2 * i] : NAN, row->mass ? row->mass[2 * i + 1] : NAN,
                row->pit ? row->pit[i] : NAN);
    for (size_t l = 0; l < SMURF_LEVELS; l++) out->upto[l] /= (double)e->n;
    for (size_t c = 0; c < SMURF_CENTRAL; c++) {
        out->central[c] /= (double)e->n;
        out->central_pit[c] /= (double)e->n;
    }
}
