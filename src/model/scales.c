/*
 * scales.c - the scales of the decayed counts: geometric, from the 0.05% quantile of the positive train gaps, at least
 * a tick, to 20 times the 99.95% quantile.
 */
#include "base/error.h"
#include "base/sort.h"
#include "data/data.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

/* Gaps that the quantiles are taken from, if there are more. */
enum { SAMPLE = 1 << 23 };

smurf_status smurf_view_fit_counts(struct view *view, const smurf_data *train, double tick, smurf_error *err)
{
    const double rare = 0.0005, beyond = 20;
    size_t n = 0, seen = 0, every = 1 + smurf_data_gaps(train) / SAMPLE;
    double *gap = malloc((smurf_data_gaps(train) / every + 1) * sizeof *gap);
    if (!gap) return smurf_fail_memory(err);
    for (size_t s = 0; s < train->sequences; s++)
        for (size_t i = train->sequence[s].first; i < train->sequence[s].length; i++) {
            double x = train->sequence[s].time[i] - train->sequence[s].time[i - 1];
            if (x > 0 && ++seen % every == 0) gap[n++] = x;
        }
    smurf_sort(gap, n);
    size_t cut = (size_t)(rare * (double)n);
    view->count_low = fmax(tick, n ? gap[cut] : view->clock_unit);
    view->count_high = fmax(view->count_low, beyond * (n ? gap[n - 1 - cut] : view->clock_unit));
    free(gap);
    return SMURF_OK;
}

void smurf_view_count_rates(const struct view *view, double rate[COUNT_SCALES])
{
    double step = log(view->count_high / view->count_low) / (COUNT_SCALES - 1);
    for (size_t m = 0; m < COUNT_SCALES; m++) rate[m] = view->clock_unit / view->count_low * exp(-step * (double)m);
}
