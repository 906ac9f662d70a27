/*
 * ending.c - renewal process whose sequences end: after each event nothing follows with a probability that depends on
 * the event's type; otherwise the gap is exponential.
 *
 *     S(tau) = pi_k + (1 - pi_k) exp(-tau / mean)
 *
 * The law is that of a gap that comes, as with models: pi is kept apart (`never` of struct process_class).
 */
#include "simulate/process.h"

enum { MEAN, NEVER };

/* The trace's first element is the type of the last event. */
static void step(struct history *history, double gap, uint32_t type)
{
    (void)gap;
    history->trace[0] = type;
}

static double never(const struct history *history)
{
    return history->count > 0 ? smurf_process_values(history->process, NEVER)[(size_t)history->trace[0]] : 0;
}

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

/* 0 in the long run if any type that occurs can be the last. */
static double rate(const smurf_process *process)
{
    for (uint32_t k = 0; k < process->types; k++)
        if (smurf_process_values(process, NEVER)[k] > 0 && process->values[process->share + k] > 0) return 0;
    return 1 / *smurf_process_values(process, MEAN);
}

const struct process_class smurf_ending = {
    .name = "ending",
    .about = "renewal process of sequences that end: after each event, nothing follows with probability never",
    .parameter = {{"mean", "mean gap of those that come (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
                  {"never",
                   "probability that nothing follows an event: one value per type (default 0.1)",
                   0.1,
                   SHAPE_TYPES,
                   {0, 1, false}},
                  PARAMETER_WEIGHTS},
    .draw = draw,
    .step = step,
    .law = {"ending", intensity, slope, compensator, NULL, smurf_history_types, NULL, NULL},
    .rate = rate,
    .never = never,
};
