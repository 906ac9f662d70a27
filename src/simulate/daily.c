/*
 * daily.c - Poisson process with a daily and a weekly rhythm, on the calendar: t is UTC in seconds since 1970.
 *
 *     lambda(t) = rate (1 + day sin(v t)) (1 + week sin(w t)),   v = 2 pi / 1 day,  w = 2 pi / 7 days
 *
 * With `day` near 1 and a few events an hour, gaps that begin in the evening end soon or in the morning. In Lambda, the
 * product of sines is half the difference of cos((v - w) t) and cos((v + w) t); every integral is written as a product,
 *
 *     of sin(x t) from t0 to t0 + tau: 2/x sin(x (t0 + tau/2)) sin(x tau/2),   of cos(x t): 2/x cos(...) sin(x tau/2)
 *
 * so that short gaps keep full precision.
 */
#include "simulate/process.h"

enum { RATE, DAY, WEEK };

static const double two_pi = 6.28318530717958647692, day_length = 86400, week_length = 7 * 86400;

struct rhythm {
    double rate, day, week, time; /* time: of the last event, modulo a week */
};

static struct rhythm rhythm_of(const void *self)
{
    const struct history *history = self;
    return (struct rhythm){smurf_history_value(self, RATE), smurf_history_value(self, DAY),
                           smurf_history_value(self, WEEK), fmod(history->time, week_length)};
}

/* 2 pi t / period, modulo whole turns. */
static double angle(double t, double period)
{
    return two_pi * (fmod(t, period) / period);
}

static double rate_after(const struct rhythm *r, double gap)
{
    double t = r->time + gap;
    return r->rate * (1 + r->day * sin(angle(t, day_length))) * (1 + r->week * sin(angle(t, week_length)));
}

/* By thinning a Poisson process of the maximum rate. */
static double draw(const struct history *history, struct random *random, double left)
{
    struct rhythm r = rhythm_of(history);
    double bound = r.rate * (1 + r.day) * (1 + r.week), gap = 0;
    while (gap <= left) {
        gap += smurf_random_exponential(random) / bound;
        if (smurf_random_uniform(random) * bound <= rate_after(&r, gap)) break;
    }
    return gap;
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    struct rhythm r = rhythm_of(self);
    for (size_t i = 0; i < n; i++) out[i] = rate_after(&r, gap[i]);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    struct rhythm r = rhythm_of(self);
    for (size_t i = 0; i < n; i++) {
        double day = angle(r.time + gap[i], day_length), week = angle(r.time + gap[i], week_length);
        out[i] = r.rate * (r.day * (two_pi / day_length) * cos(day) * (1 + r.week * sin(week)) +
                           r.week * (two_pi / week_length) * cos(week) * (1 + r.day * sin(day)));
    }
}

/* The integral of sin(2 pi (t + shift) / period) over the gap; a quarter of the period as shift makes it a cosine. */
static double swing(const struct rhythm *r, double gap, double period, double shift)
{
    double half = angle(gap / 2, period);
    return 2 * period / two_pi * sin(angle(r->time + shift, period) + half) * sin(half);
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    struct rhythm r = rhythm_of(self);
    const double fast = 1 / (1 / day_length + 1 / week_length), slow = 1 / (1 / day_length - 1 / week_length);
    for (size_t i = 0; i < n; i++) {
        double sum = gap[i];
        if (!isinf(gap[i]))
            sum += r.day * swing(&r, gap[i], day_length, 0) + r.week * swing(&r, gap[i], week_length, 0) +
                   r.day * r.week / 2 * (swing(&r, gap[i], slow, slow / 4) - swing(&r, gap[i], fast, fast / 4));
        out[i] = r.rate * sum;
    }
}

static double rate(const smurf_process *process)
{
    return *smurf_process_values(process, RATE);
}

const struct process_class smurf_daily = {
    .name = "daily",
    .about = "Poisson process on the calendar, with a daily and a weekly rhythm: rate (1 + day sin(2 pi t / 1 day)) "
             "(1 + week sin(2 pi t / 7 days)), t in seconds since 1970",
    .parameter =
        {{"rate", "mean events per second, all types together (default 0.000277778, one an hour)", 1.0 / 3600,
          SHAPE_ONE, RANGE_POSITIVE},
         {"day", "relative amplitude of the daily rhythm, from 0 to 1 (default 0.9)", 0.9, SHAPE_ONE, {0, 1, false}},
         {"week", "relative amplitude of the weekly rhythm, from 0 to 1 (default 0.5)", 0.5, SHAPE_ONE, {0, 1, false}},
         PARAMETER_WEIGHTS},
    .calendar = true,
    .draw = draw,
    .law = {"daily", intensity, slope, compensator, NULL, smurf_history_types, NULL, NULL},
    .rate = rate,
};
