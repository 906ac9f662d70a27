/* lognormal.c - renewal process with log-normal gaps: z = (ln gap - mu) / sigma is standard normal.
   With the normal hazard h: lambda = h(z) / (sigma gap), Lambda = H(z),
   (ln lambda)' = ((h - z)/sigma - 1) / gap. */
#include "simulate/process.h"

#include "law/special.h"

enum { MU, SIGMA };

static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    return exp(smurf_history_value(history, MU) + smurf_history_value(history, SIGMA) * smurf_random_normal(random));
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    double mu = smurf_history_value(self, MU), sigma = smurf_history_value(self, SIGMA);
    for (size_t i = 0; i < n; i++) {
        double x = gap[i];
        out[i] = x == 0 || isinf(x) ? 0 : smurf_normal_hazard((log(x) - mu) / sigma) / (sigma * x);
    }
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    double mu = smurf_history_value(self, MU), sigma = smurf_history_value(self, SIGMA);
    for (size_t i = 0; i < n; i++) {
        double x = gap[i], z = (log(x) - mu) / sigma, hazard = smurf_normal_hazard(z);
        double growth = smurf_normal_hazard_excess(z) / sigma - 1;
        out[i] = hazard == 0 || isinf(x) ? 0 : hazard / (sigma * x) * (growth / x);
    }
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    double mu = smurf_history_value(self, MU), sigma = smurf_history_value(self, SIGMA);
    for (size_t i = 0; i < n; i++) out[i] = smurf_normal_cumulative_hazard((log(gap[i]) - mu) / sigma);
}

static void score(const void *self, const double *gap, double *out, size_t n)
{
    double mu = smurf_history_value(self, MU), sigma = smurf_history_value(self, SIGMA);
    for (size_t i = 0; i < n; i++) out[i] = isinf(gap[i]) ? 0 : -(1 + (log(gap[i]) - mu) / (sigma * sigma)) / gap[i];
}

static double rate(const smurf_process *process)
{
    double sigma = *smurf_process_values(process, SIGMA);
    return exp(-*smurf_process_values(process, MU) - sigma * sigma / 2);
}

const struct process_class smurf_lognormal = {
    .name = "lognormal",
    .about = "renewal process: log-normal gaps, with a hazard that rises and then falls",
    .parameter = {{"mu", "mean of ln gap (default 0)", 0, SHAPE_ONE, RANGE_REAL},
                  {"sigma", "standard deviation of ln gap (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
                  PARAMETER_WEIGHTS},
    .draw = draw,
    .law = {"lognormal", intensity, slope, compensator, score, smurf_history_types, NULL, NULL},
    .rate = rate,
};
