/* inhomogeneous.c - Poisson process with a periodic rate:
   lambda(t) = rate (1 + amplitude sin(w t)), w = 2 pi / period, t counted from time 0. */
#include "simulate/process.h"

enum { RATE, AMPLITUDE, PERIOD };

static const double two_pi = 6.28318530717958647692;

struct wave {
    double rate, amplitude, period;
    double phase; /* w t at the last event */
};

/* w t modulo whole turns. fmod is exact, so large times keep their phase. */
static double angle(double t, double period)
{
    return two_pi * (fmod(t, period) / period);
}

static struct wave wave_of(const void *self)
{
    const struct history *history = self;
    double period = smurf_history_value(self, PERIOD);
    return (struct wave){smurf_history_value(self, RATE), smurf_history_value(self, AMPLITUDE), period,
                         angle(history->time, period)};
}

static double rate_after(const struct wave *v, double gap)
{
    return v->rate * (1 + v->amplitude * sin(v->phase + angle(gap, v->period)));
}

/* By thinning a Poisson process of the maximum rate. */
static double draw(const struct history *history, struct random *random, double left)
{
    struct wave v = wave_of(history);
    double bound = v.rate * (1 + v.amplitude), gap = 0;
    while (gap <= left) {
        gap += smurf_random_exponential(random) / bound;
        if (smurf_random_uniform(random) * bound <= rate_after(&v, gap)) break;
    }
    return gap;
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    struct wave v = wave_of(self);
    for (size_t i = 0; i < n; i++) out[i] = rate_after(&v, gap[i]);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    struct wave v = wave_of(self);
    double steepest = v.rate * v.amplitude * (two_pi / v.period);
    for (size_t i = 0; i < n; i++) out[i] = steepest * cos(v.phase + angle(gap[i], v.period));
}

/* Lambda = rate (tau + amplitude (cos(w t) - cos(w (t + tau))) / w); the difference of cosines is written as a product
   of sines, so that short gaps keep full precision. */
static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    struct wave v = wave_of(self);
    for (size_t i = 0; i < n; i++) {
        double half = angle(gap[i], v.period) / 2;
        double swing = isinf(gap[i]) ? 0 : 2 * v.period / two_pi * sin(v.phase + half) * sin(half);
        out[i] = v.rate * (gap[i] + v.amplitude * swing);
    }
}

static double rate(const smurf_process *process)
{
    return *smurf_process_values(process, RATE);
}

const struct process_class smurf_inhomogeneous = {
    .name = "inhomogeneous",
    .about = "Poisson process with a periodic rate: rate (1 + amplitude sin(2 pi t / period))",
    .parameter =
        {{"rate", "mean events per unit of time, all types together (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
         {"amplitude", "relative amplitude of the rate, from 0 to 1 (default 0.8)", 0.8, SHAPE_ONE, {0, 1, false}},
         {"period", "time from peak to peak (default 10)", 10, SHAPE_ONE, RANGE_POSITIVE},
         PARAMETER_WEIGHTS},
    .draw = draw,
    .law = {"inhomogeneous", intensity, slope, compensator, NULL, smurf_history_types, NULL, NULL},
    .rate = rate,
};
