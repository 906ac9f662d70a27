/*
 * tick.c - detects the step of the clock that the times were read from.
 *
 * Times are rounded twice: by the clock (1 s, 1 ms, a week) and by the file (9 decimals, a float). So:
 * 1. Find the last decimal in use, 10^-d, such that 10^d t is whole for all times but one in 1000. The gaps
 *    are then whole multiples of that unit, and their greatest common divisor is the step.
 * 2. If the divisor is 1, or there is no last decimal, the clock may still be a ratio such as 1/60000 min
 *    or 1/52 year. Euclid's algorithm finds it among noisy gaps; the noise is that of the last decimal, or of
 *    double or float rounding. The step must be well above that noise.
 * A step coarser than the last decimal is accepted only if EVIDENCE gaps other than the most common one agree:
 * equal gaps, or a handful of gaps, say nothing about the clock.
 */
#include "data/data.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 100000, EVIDENCE = 20, LAST_DECIMAL = 22 }; /* 10^22 is the last exact power of ten */

/* A step must be at least this many times the noise. */
static const double well_above = 20;

struct pair {
    double from, to; /* times of two consecutive events */
};

/* A step known to within error. */
struct step {
    double size, error;
};

/* About SAMPLE gaps, or all if there are fewer. Multiples of the golden ratio pick them evenly, with no period that
   sequences could share. */
static size_t sample_pairs(struct pair *out, const smurf_data *data)
{
    uint64_t limit = UINT64_MAX;
    if (data->events > SAMPLE) limit = (uint64_t)(0x1p64 * SAMPLE / (double)data->events);
    uint64_t weyl = 0;
    size_t n = 0;
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *s = &data->sequence[i];
        for (size_t j = 1; j < s->length && n < SAMPLE; j++, weyl += 0x9e3779b97f4a7c15)
            if (weyl <= limit) out[n++] = (struct pair){s->time[j - 1], s->time[j]};
    }
    return n;
}

static double farthest(const struct pair *pair, size_t n)
{
    double far = 0;
    for (size_t i = 0; i < n; i++) far = fmax(far, fmax(fabs(pair[i].from), fabs(pair[i].to)));
    return far;
}

/* Floats are all multiples of the last bit of the smallest: a grid, but not a clock. */
static bool are_floats(const struct pair *pair, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pair[i].from != (float)pair[i].from || pair[i].to != (float)pair[i].to) return false;
    return true;
}

/* Is t a whole number of units, up to a few roundings of t and of the product? */
static bool is_whole(double t, double units)
{
    double x = t * units;
    return fabs(x - rint(x)) <= fmin(0x1p-50 * fabs(x), 0x1p-5);
}

/* The smallest power of ten that makes all times whole, except one in 1000; 0 if none. Beyond `reach`, is_whole would
   accept too many numbers that are not: 1 in 16, or 1 in 500 with few gaps. */
static double last_decimal(const struct pair *pair, size_t n)
{
    double far = farthest(pair, n), reach = n < 8 ? 0x1p40 : 0x1p45, units = 1;
    for (int d = 0; d <= LAST_DECIMAL && (d == 0 || far * units < reach); d++, units *= 10) {
        size_t off = 0;
        for (size_t i = 0; i < n && off <= n / 1000; i++)
            off += !is_whole(pair[i].from, units) || !is_whole(pair[i].to, units);
        if (off <= n / 1000) return units;
    }
    return 0;
}

/* The gaps in ascending order: in whole units, without those off the grid; unchanged if units is 0. */
static size_t sorted_gaps(double *x, const struct pair *pair, size_t n, double units)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        double from = pair[i].from, to = pair[i].to;
        if (units <= 0) {
            x[kept++] = to - from;
        } else if (is_whole(from, units) && is_whole(to, units)) {
            x[kept++] = rint(to * units) - rint(from * units);
        }
    }
    smurf_sort(x, kept);
    return kept;
}

/* Do enough gaps differ from the most common one? Neighbours within noise of each other count as one value. */
static bool have_evidence(const double *x, size_t n, double noise)
{
    size_t most = 0, run = 0;
    for (size_t i = 0; i < n; i++) {
        run = i > 0 && x[i] - x[i - 1] <= noise ? run + 1 : 1;
        if (run > most) most = run;
    }
    return n - most >= EVIDENCE;
}

/* Greatest common divisor of integer gaps, at least one of them positive. */
static double whole_step(const double *x, size_t n)
{
    double divisor = 0;
    for (size_t i = 0; i < n && divisor != 1; i++)
        for (double a = x[i], b = divisor; a > 0;) {
            divisor = a;
            a = fmod(b, a);
            b = divisor;
        }
    return divisor;
}

/* Euclid's algorithm on a and b, each known to within its error; stops at a remainder that may be 0. */
static struct step noisy_divisor(struct step a, struct step b)
{
    while (b.size > b.error) {
        double k = rint(a.size / b.size);
        struct step rest = {fabs(a.size - k * b.size), a.error + k * b.error};
        a = b;
        b = rest;
    }
    return a;
}

/* Walks up the gaps, each accurate to within noise, refining the step as they grow: a gap of k steps gives it to within
   noise/k. Stops at the first gap that is not a multiple and sets *rest to the remainder; else returns n. Gaps too long
   for the current accuracy are skipped and counted in *unjudged. */
static size_t sharpen(struct step *step, const double *x, size_t n, double noise, struct step *rest, size_t *unjudged)
{
    *unjudged = 0;
    for (size_t i = 0; i < n; i++) {
        double k = rint(x[i] / step->size), error = noise + k * step->error;
        if (error > step->size / 8) {
            ++*unjudged;
            continue;
        }
        *rest = (struct step){fabs(x[i] - k * step->size), error};
        if (rest->size > error) return i;
        if (noise < k * step->error) *step = (struct step){x[i] / k, noise / k};
    }
    return n;
}

/* The largest step that all positive gaps are multiples of, to within noise. Size 0: none. */
static struct step ratio_step(const double *x, size_t n, double noise)
{
    static const struct step none = {0, 0};
    while (n > 0 && *x == 0) x++, n--;
    if (n == 0) return none;
    struct step step = {*x, noise}, rest = none;
    while (step.size >= well_above * noise) {
        size_t unjudged, k = (size_t)rint(*x / step.size);
        step = (struct step){*x / (double)k, noise / (double)k};
        if (sharpen(&step, x, n, noise, &rest, &unjudged) == n) return unjudged <= n / 10 ? step : none;
        step = noisy_divisor(step, rest);
    }
    return none;
}

/* The fraction with the smallest denominator in [low, high], 0 < low < high, by their common continued fraction. */
static double simplest_between(double low, double high)
{
    double whole = floor(low);
    if (whole == low) return low;
    if (whole + 1 <= high) return whole + 1;
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole));
}

/* The simplest fraction within the step's error: 1/52 rather than 0.019230769. */
static double simplest_fraction(struct step step)
{
    double error = fmax(step.error, 0x1p-50 * step.size);
    return simplest_between(step.size - error, step.size + error);
}

/* x: room for n numbers. */
static double find_tick(const struct pair *pair, double *x, size_t n)
{
    double units = last_decimal(pair, n), one = units > 0 ? units : 1;
    const double noise[] = {units > 0 ? 1.01 : 0x1p-48 * farthest(pair, n), 0x1p-23 * farthest(pair, n) * one};
    int kind = units <= 0 && are_floats(pair, n) ? 1 : 0; /* 0: last decimal or double, 1: float */
    n = sorted_gaps(x, pair, n, units);
    if (n == 0 || x[n - 1] <= 0) return 0;
    if (units > 0 && have_evidence(x, n, 0)) {
        double divisor = whole_step(x, n);
        if (divisor > 1) return divisor / units;
    }
    for (; kind < 2; kind++) {
        struct step step = ratio_step(x, n, fmax(noise[0], noise[kind]));
        if (step.size > 0 && have_evidence(x, n, noise[kind]))
            return simplest_fraction((struct step){step.size / one, step.error / one});
    }
    return units > 0 ? 1 / units : 0;
}

double smurf_data_tick(const smurf_data *data)
{
    size_t room = data->events < SAMPLE ? data->events : SAMPLE;
    struct pair *pair = malloc((room + 1) * sizeof *pair);
    double *x = malloc((room + 1) * sizeof *x), tick = NAN;
    if (pair && x) {
        size_t n = sample_pairs(pair, data);
        tick = n > 0 ? find_tick(pair, x, n) : 0;
    }
    free(x);
    free(pair);
    return tick;
}
