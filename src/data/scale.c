/*
 * scale.c - maps from gaps to the axis of a law.
 *
 *     none   y = gap
 *     mean   y = gap / m
 *     log    y = (ln(gap / m + e) - mu) / s,   gap = m (exp(s y + mu) - e),   e = 1e-9
 *
 * m is the mean gap; mu and s are the mean and standard deviation of ln(gap / m + e). e avoids ln 0 for ties. All three
 * are computed over the scored gaps (index >= first), so a gap in the history of several windows counts once.
 */
#include "base/error.h"
#include "data/data.h"
#include "data/sum.h"

#include <math.h>

static const double epsilon = 1e-9;
/* A smaller deviation of the logarithms is rounding error: the gaps are constant. */
static const double least_sd = 1e-9;

typedef double gap_function(double gap, const smurf_scale *scale);

static double as_is(double gap, const smurf_scale *scale)
{
    (void)scale;
    return gap;
}

static double logarithm(double gap, const smurf_scale *scale)
{
    return log(gap / scale->mean + epsilon);
}

static double squared_deviation(double gap, const smurf_scale *scale)
{
    double x = logarithm(gap, scale) - scale->mu;
    return x * x;
}

/* Mean of f over the scored gaps; NaN if there are none. */
static double mean_over(const smurf_data *data, gap_function *f, const smurf_scale *scale)
{
    struct sum sum = {0};
    size_t n = 0;
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *s = &data->sequence[i];
        for (size_t j = s->first; j < s->length; j++, n++) smurf_sum_add(&sum, f(s->time[j] - s->time[j - 1], scale));
    }
    return n > 0 ? smurf_sum_value(&sum) / (double)n : NAN;
}

smurf_status smurf_scale_fit(smurf_scale *out, smurf_scale_kind kind, const smurf_data *train, smurf_error *err)
{
    *out = (smurf_scale){.kind = kind, .mean = 1, .mu = 0, .sd = 1};
    if (kind != SMURF_SCALE_NONE && kind != SMURF_SCALE_MEAN && kind != SMURF_SCALE_LOG)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "there is no time scale %d (none, mean, log)", (int)kind);
    smurf_scale fit = *out;
    fit.mean = mean_over(train, as_is, &fit);
    if (isnan(fit.mean))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "'%s' has no gaps to fit a time scale on: give sequences with two events or more",
                          train->source);
    if (!(fit.mean > 0))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "all gaps of '%s' are 0: check the time column, or read times with more decimals",
                          train->source);
    fit.mu = mean_over(train, logarithm, &fit);
    fit.sd = sqrt(mean_over(train, squared_deviation, &fit));
    if (fit.sd < least_sd) fit.sd = 1;
    *out = fit;
    return SMURF_OK;
}

double smurf_scale_forward(const smurf_scale *scale, double gap)
{
    switch (scale->kind) {
    case SMURF_SCALE_MEAN: return gap / scale->mean;
    case SMURF_SCALE_LOG: return (logarithm(gap, scale) - scale->mu) / scale->sd;
    default: return gap;
    }
}

/* Never below 0: rounding, or a y below that of any gap, must not give a negative gap. */
double smurf_scale_backward(const smurf_scale *scale, double y)
{
    double gap = y;
    if (scale->kind == SMURF_SCALE_MEAN) gap = scale->mean * y;
    if (scale->kind == SMURF_SCALE_LOG) gap = scale->mean * (exp(scale->sd * y + scale->mu) - epsilon);
    return gap < 0 ? 0 : gap;
}

/* dy/dgap = 1, 1/m, 1 / (s (gap + e m)). */
double smurf_scale_log_slope(const smurf_scale *scale, double gap)
{
    switch (scale->kind) {
    case SMURF_SCALE_MEAN: return -log(scale->mean);
    case SMURF_SCALE_LOG: return -log(scale->sd * (gap + epsilon * scale->mean));
    default: return 0;
    }
}
