/*
 * repeating.c - types that repeat: with probability `repeat` the next event has the type of one of the last `last`
 * events, each of them as likely; otherwise it is drawn by the weights. Times are those of a Poisson process.
 *
 *     P(k) = (1 - p) w_k + p n_k / n          n_k of the last n events have type k; n <= `last`
 *
 * A type's trace is a set of bits: bit j is 1 if the event j back from the last one has that type.
 */
#include "simulate/process.h"

enum { RATE, REPEAT, LAST, LAST_MOST = 32 };

static uint64_t window(const smurf_process *process)
{
    return ((uint64_t)1 << (int)*smurf_process_values(process, LAST)) - 1;
}

static void step(struct history *history, double gap, uint32_t type)
{
    (void)gap;
    uint64_t all = window(history->process);
    for (uint32_t k = 0; k < history->process->types; k++)
        history->trace[k] = (double)(((uint64_t)history->trace[k] << 1 | (k == type)) & all);
}

static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    return smurf_random_exponential(random) / smurf_history_value(history, RATE);
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    (void)gap;
    for (size_t i = 0; i < n; i++) out[i] = smurf_history_value(self, RATE);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    (void)self, (void)gap;
    for (size_t i = 0; i < n; i++) out[i] = 0;
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = smurf_history_value(self, RATE) * gap[i];
}

static void types(const void *self, const double *gap, double *out, size_t n)
{
    (void)gap;
    const struct history *history = self;
    const smurf_process *process = history->process;
    double rate = smurf_history_value(self, RATE), seen = fmin(history->count, floor(smurf_history_value(self, LAST)));
    double repeat = seen > 0 ? smurf_history_value(self, REPEAT) : 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < process->types; k++) {
            double times = __builtin_popcountll((uint64_t)history->trace[k]);
            double share = (1 - repeat) * process->values[process->share + k];
            out[i * process->types + k] = rate * (share + (seen > 0 ? repeat * times / seen : 0));
        }
}

/* What repeats was once drawn by the weights. */
static smurf_status rates(const smurf_process *process, double *out, smurf_error *err)
{
    (void)err;
    for (uint32_t k = 0; k < process->types; k++)
        out[k] = *smurf_process_values(process, RATE) * process->values[process->share + k];
    return SMURF_OK;
}

const struct process_class smurf_repeating = {
    .name = "repeating",
    .about = "types that repeat: the next is that of one of the last events, or drawn anew",
    .parameter =
        {{"rate", "events per unit of time (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
         {"repeat",
          "probability that the type is that of one of the last events (default 0.8)",
          0.8,
          SHAPE_ONE,
          {0, 1, false}},
         {"last", "how many events are the last ones, from 1 to 32 (default 5)", 5, SHAPE_ONE, {1, LAST_MOST, false}},
         PARAMETER_WEIGHTS},
    .draw = draw,
    .step = step,
    .law = {"repeating", intensity, slope, compensator, NULL, types, NULL, NULL},
    .rates = rates,
};
