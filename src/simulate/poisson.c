/* poisson.c - constant rates: lambda_k = rate[k]. */
#include "simulate/process.h"

static double total(const void *self)
{
    const struct history *history = self;
    return history->process->weight;
}

static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    return smurf_random_exponential(random) / total(history);
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    (void)gap;
    for (size_t i = 0; i < n; i++) out[i] = total(self);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    (void)self, (void)gap;
    for (size_t i = 0; i < n; i++) out[i] = 0;
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = total(self) * gap[i];
}

static double rate(const smurf_process *process)
{
    return process->weight;
}

const struct process_class smurf_poisson = {
    .name = "poisson",
    .about = "independent events at a constant rate",
    .parameter = {{"rate", "events per unit of time: one value for all types or one per type (default 1)", 1,
                   SHAPE_WEIGHTS, RANGE_WEIGHT}},
    .draw = draw,
    .law = {"poisson", intensity, slope, compensator, NULL, smurf_history_types, NULL, NULL},
    .rate = rate,
};
