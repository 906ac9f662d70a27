/* self_correcting.c - the intensity rises with time and falls with every event:
   lambda(t) = exp(mu t - alpha N(t)) with N events before t.
   With y the exponent at the last event: Lambda(tau) = e^y (e^(mu tau) - 1) / mu. */
#include "simulate/process.h"

enum { MU, ALPHA };

static double exponent(const struct history *history)
{
    return smurf_history_value(history, MU) * history->time - smurf_history_value(history, ALPHA) * history->count;
}

/* By inversion: mu tau = ln(1 + e^z), z = ln(mu E) - y, E standard exponential. */
static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    double mu = smurf_history_value(history, MU);
    double z = log(mu * smurf_random_exponential(random)) - exponent(history);
    return (z > 40 ? z : log1p(exp(z))) / mu;
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    double mu = smurf_history_value(self, MU), y = exponent(self);
    for (size_t i = 0; i < n; i++) out[i] = exp(y + mu * gap[i]);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    double mu = smurf_history_value(self, MU), y = exponent(self);
    for (size_t i = 0; i < n; i++) out[i] = mu * exp(y + mu * gap[i]);
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    double mu = smurf_history_value(self, MU), y = exponent(self);
    for (size_t i = 0; i < n; i++) out[i] = exp(y + mu * gap[i]) * -expm1(-mu * gap[i]) / mu;
}

static void score(const void *self, const double *gap, double *out, size_t n)
{
    double mu = smurf_history_value(self, MU), y = exponent(self);
    for (size_t i = 0; i < n; i++) out[i] = mu - exp(y + mu * gap[i]);
}

static double rate(const smurf_process *process)
{
    return *smurf_process_values(process, MU) / *smurf_process_values(process, ALPHA);
}

const struct process_class smurf_self_correcting = {
    .name = "self-correcting",
    .about = "intensity that rises with time and drops at each event: exp(mu t - alpha N(t))",
    .parameter = {{"mu", "growth of the log rate per unit of time (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
                  {"alpha", "drop of the log rate at each event (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
                  PARAMETER_WEIGHTS},
    .draw = draw,
    .law = {"self-correcting", intensity, slope, compensator, score, smurf_history_types, NULL, NULL},
    .rate = rate,
};
