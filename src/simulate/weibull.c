/* weibull.c - renewal process with Weibull gaps: Lambda = x^shape, x = gap / scale. */
#include "simulate/process.h"

enum { SHAPE, SCALE };

static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    double shape = smurf_history_value(history, SHAPE), scale = smurf_history_value(history, SCALE);
    return scale * pow(smurf_random_exponential(random), 1 / shape);
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    double shape = smurf_history_value(self, SHAPE), scale = smurf_history_value(self, SCALE);
    for (size_t i = 0; i < n; i++) out[i] = shape / scale * pow(gap[i] / scale, shape - 1);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    double shape = smurf_history_value(self, SHAPE), scale = smurf_history_value(self, SCALE);
    double factor = shape * (shape - 1) / scale / scale;
    for (size_t i = 0; i < n; i++) out[i] = shape == 1 ? 0 : factor * pow(gap[i] / scale, shape - 2);
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    double shape = smurf_history_value(self, SHAPE), scale = smurf_history_value(self, SCALE);
    for (size_t i = 0; i < n; i++) out[i] = pow(gap[i] / scale, shape);
}

static void score(const void *self, const double *gap, double *out, size_t n)
{
    double shape = smurf_history_value(self, SHAPE), scale = smurf_history_value(self, SCALE);
    for (size_t i = 0; i < n; i++) {
        double lambda = shape / scale * pow(gap[i] / scale, shape - 1);
        out[i] = (shape == 1 ? 0 : (shape - 1) / gap[i]) - lambda;
    }
}

static double rate(const smurf_process *process)
{
    return 1 / (*smurf_process_values(process, SCALE) * tgamma(1 + 1 / *smurf_process_values(process, SHAPE)));
}

const struct process_class smurf_weibull = {
    .name = "weibull",
    .about = "renewal process: Weibull gaps, with a hazard that falls for shapes below 1 and rises above",
    .parameter = {{"shape", "shape of the gaps, from 0.01 to 1e+06 (default 1.5)", 1.5, SHAPE_ONE, {0.01, 1e6, false}},
                  {"scale", "scale of the gaps: 63% of them are shorter (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
                  PARAMETER_WEIGHTS},
    .draw = draw,
    .law = {"weibull", intensity, slope, compensator, score, smurf_history_types, NULL, NULL},
    .rate = rate,
};
