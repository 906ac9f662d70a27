/* exponential.c - renewal process with exponential gaps: a Poisson process given by its mean gap, with types by weight.
   lambda = 1 / mean. */
#include "simulate/process.h"

enum { MEAN };

static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    return smurf_random_exponential(random) * smurf_history_value(history, MEAN);
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    (void)gap;
    double mean = smurf_history_value(self, MEAN);
    for (size_t i = 0; i < n; i++) out[i] = 1 / mean;
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    (void)self, (void)gap;
    for (size_t i = 0; i < n; i++) out[i] = 0;
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    double mean = smurf_history_value(self, MEAN);
    for (size_t i = 0; i < n; i++) out[i] = gap[i] / mean;
}

static double rate(const smurf_process *process)
{
    return 1 / *smurf_process_values(process, MEAN);
}

const struct process_class smurf_exponential = {
    .name = "exponential",
    .about = "renewal process: exponential gaps (a Poisson process given by its mean gap)",
    .parameter = {{"mean", "mean gap (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE}, PARAMETER_WEIGHTS},
    .draw = draw,
    .law = {"exponential", intensity, slope, compensator, NULL, smurf_history_types, NULL, NULL},
    .rate = rate,
};
