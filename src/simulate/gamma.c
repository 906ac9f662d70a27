/* gamma.c - renewal process with gamma gaps: p(x) = x^(shape-1) e^-x / Gamma(shape), x = gap / scale. */
#include "simulate/process.h"

#include "law/special.h"

enum { SHAPE, SCALE };

/* Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; shape >= 1. */
static double draw_unit(double shape, struct random *random)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = smurf_random_normal(random), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        if (log(smurf_random_uniform(random)) < x * x / 2 + d * (1 - v + log(v))) return d * v;
    }
}

/* A shape below 1 is a shape above 1 times u^(1/shape). */
static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    double shape = smurf_history_value(history, SHAPE), scale = smurf_history_value(history, SCALE);
    if (shape >= 1) return scale * draw_unit(shape, random);
    double boost = pow(smurf_random_uniform(random), 1 / shape);
    return scale * draw_unit(shape + 1, random) * boost;
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    double shape = smurf_history_value(self, SHAPE), scale = smurf_history_value(self, SCALE);
    for (size_t i = 0; i < n; i++) out[i] = smurf_gamma_hazard(shape, gap[i] / scale) / scale;
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    double shape = smurf_history_value(self, SHAPE), scale = smurf_history_value(self, SCALE);
    for (size_t i = 0; i < n; i++) out[i] = smurf_gamma_hazard_slope(shape, gap[i] / scale) / scale / scale;
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    double shape = smurf_history_value(self, SHAPE), scale = smurf_history_value(self, SCALE);
    for (size_t i = 0; i < n; i++) out[i] = smurf_gamma_cumulative_hazard(shape, gap[i] / scale);
}

static void score(const void *self, const double *gap, double *out, size_t n)
{
    double shape = smurf_history_value(self, SHAPE), scale = smurf_history_value(self, SCALE);
    for (size_t i = 0; i < n; i++) out[i] = (shape == 1 ? 0 : (shape - 1) / gap[i]) - 1 / scale;
}

static double rate(const smurf_process *process)
{
    return 1 / (*smurf_process_values(process, SHAPE) * *smurf_process_values(process, SCALE));
}

const struct process_class smurf_gamma = {
    .name = "gamma",
    .about = "renewal process: gamma gaps, clustered for shapes below 1, regular above",
    .parameter = {{"shape",
                   "shape of the gaps, from 0.01 to 1e+06 (default 2)",
                   2,
                   SHAPE_ONE,
                   {SMURF_GAMMA_SHAPE_MIN, SMURF_GAMMA_SHAPE_MAX, false}},
                  {"scale", "scale of the gaps, whose mean is shape x scale (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
                  PARAMETER_WEIGHTS},
    .draw = draw,
    .law = {"gamma", intensity, slope, compensator, score, smurf_history_types, NULL, NULL},
    .rate = rate,
};
