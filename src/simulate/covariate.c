/*
 * covariate.c - a rate that depends on further columns: each event has a number x, standard normal, and a word, "plain"
 * or "fast" with equal probability. Until the next event the rate is constant:
 *
 *     lambda = rate exp(slope x)            times `factor` after a fast one
 *
 * Before the first event, x is 0 and the word plain. The mean gap is exp(slope^2 / 2) (1 + 1 / factor) / 2 / rate.
 */
#include "simulate/process.h"

enum { RATE, SLOPE, FACTOR };
enum { NUMBER, WORD, PLAIN = 0, FAST = 1 };

static double lambda(const void *self)
{
    const struct history *history = self;
    double rate = smurf_history_value(self, RATE) * exp(smurf_history_value(self, SLOPE) * history->mark[NUMBER]);
    return history->mark[WORD] == FAST ? rate * smurf_history_value(self, FACTOR) : rate;
}

/* x in steps of 0.001, which files keep. */
static void mark(struct random *random, double out[MARKS])
{
    out[NUMBER] = round(1000 * smurf_random_normal(random)) / 1000;
    out[WORD] = smurf_random_uniform(random) < 0.5 ? PLAIN : FAST;
}

static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    return smurf_random_exponential(random) / lambda(history);
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    (void)gap;
    for (size_t i = 0; i < n; i++) out[i] = lambda(self);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    (void)self, (void)gap;
    for (size_t i = 0; i < n; i++) out[i] = 0;
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = lambda(self) * gap[i];
}

static double rate(const smurf_process *process)
{
    double b = *smurf_process_values(process, SLOPE), factor = *smurf_process_values(process, FACTOR);
    return *smurf_process_values(process, RATE) / (exp(b * b / 2) * (1 + 1 / factor) / 2);
}

static const char *const words[] = {[PLAIN] = "plain", [FAST] = "fast", NULL};

const struct process_class smurf_covariate = {
    .name = "covariate",
    .about = "constant rates between events that depend on a number and a word of the last one (columns 'x', 'word')",
    .parameter = {{"rate", "events per unit of time where x is 0 and the word 'plain' (default 1)", 1, SHAPE_ONE,
                   RANGE_POSITIVE},
                  {"slope",
                   "the logarithm of the rate rises by this much per unit of x (default 1)",
                   1,
                   SHAPE_ONE,
                   {-5, 5, false}},
                  {"factor", "what the word 'fast' multiplies the rate with (default 2)", 2, SHAPE_ONE, RANGE_POSITIVE},
                  PARAMETER_WEIGHTS},
    .draw = draw,
    .law = {"covariate", intensity, slope, compensator, NULL, smurf_history_types, NULL, NULL},
    .rate = rate,
    .column = {{"x", NULL}, {"word", words}},
    .mark = mark,
};
