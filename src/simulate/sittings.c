/*
 * sittings.c - renewal process with two time scales: events of a sitting follow each other fast, and sittings are far
 * apart. A gap is exponential with mean `short` or, with probability `share`, `long`.
 *
 *     S(tau) = sum_i p_i exp(-r_i tau),  i = 1, 2      Lambda = -ln S
 *
 * All is computed with the slower of the two rates r taken out, S = exp(-r tau) (1 + sum_i p_i expm1(-(r_i - r) tau)),
 * so nothing underflows and short gaps keep their digits.
 */
#include "simulate/process.h"

enum { SHORT, LONG, SHARE };

/* The two parts: p_i, r_i - r, and r. */
struct parts {
    double p[2], faster[2], rate;
};

static struct parts parts_of(const void *self)
{
    double a = 1 / smurf_history_value(self, SHORT), b = 1 / smurf_history_value(self, LONG);
    double share = smurf_history_value(self, SHARE), rate = fmin(a, b);
    return (struct parts){{1 - share, share}, {a - rate, b - rate}, rate};
}

/* -(r_i - r) tau, also for an infinite tau. */
static double decay(const struct parts *s, int i, double gap)
{
    return s->faster[i] > 0 ? -s->faster[i] * gap : 0;
}

/* S, -S' and S'' without the factor exp(-r tau). */
struct values {
    double survival, density, slope;
};

static struct values values_at(const struct parts *s, double gap)
{
    struct values v = {0, 0, 0};
    for (int i = 0; i < 2; i++) {
        double r = s->rate + s->faster[i], part = s->p[i] * exp(decay(s, i, gap));
        v.survival += part;
        v.density += r * part;
        v.slope += r * r * part;
    }
    return v;
}

static double draw(const struct history *history, struct random *random, double left)
{
    (void)left;
    bool is_long = smurf_random_uniform(random) < smurf_history_value(history, SHARE);
    return smurf_history_value(history, is_long ? LONG : SHORT) * smurf_random_exponential(random);
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    const struct parts s = parts_of(self);
    for (size_t i = 0; i < n; i++) {
        struct values v = values_at(&s, gap[i]);
        out[i] = v.density / v.survival;
    }
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    const struct parts s = parts_of(self);
    for (size_t i = 0; i < n; i++) {
        struct values v = values_at(&s, gap[i]);
        double lambda = v.density / v.survival;
        out[i] = lambda * lambda - v.slope / v.survival;
    }
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    const struct parts s = parts_of(self);
    for (size_t i = 0; i < n; i++) {
        double left = 0;
        for (int k = 0; k < 2; k++) left += s.p[k] * expm1(decay(&s, k, gap[i]));
        out[i] = s.rate * gap[i] - log1p(left);
    }
}

static double rate(const smurf_process *process)
{
    double share = *smurf_process_values(process, SHARE);
    return 1 / ((1 - share) * *smurf_process_values(process, SHORT) + share * *smurf_process_values(process, LONG));
}

const struct process_class smurf_sittings = {
    .name = "sittings",
    .about = "renewal process with two time scales: short gaps within a sitting, long ones between sittings",
    .parameter = {{"short", "mean gap within a sitting (default 1)", 1, SHAPE_ONE, RANGE_POSITIVE},
                  {"long", "mean gap between sittings (default 1e+06)", 1e6, SHAPE_ONE, RANGE_POSITIVE},
                  {"share",
                   "share of the long gaps, from 1e-06 to 0.999999 (default 0.05)",
                   0.05,
                   SHAPE_ONE,
                   {1e-6, 0.999999, false}},
                  PARAMETER_WEIGHTS},
    .draw = draw,
    .law = {"sittings", intensity, slope, compensator, NULL, smurf_history_types, NULL, NULL},
    .rate = rate,
};
