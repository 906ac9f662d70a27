/*
 * steps.c - equally likely gaps as a distribution with a density: a histogram with F = j/n at its edges.
 *
 * A cell holds at least CELL gaps and ends midway between two of them; the largest TOP gaps have cells of their own, as
 * a wide cell would move the mean. A value that CELL gaps or more share is a cell from half a tick below to half a tick
 * above it, a tie at 0 one from 0 to half a tick. Between edges F is linear.
 */
#include "law/wrap.h"

#include <math.h>

enum { CELL = 4, TOP = 4 };

/* Width of a shared value on a clock without ticks, as a share of the largest gap. */
static const double no_tick = 1e-9;

/* ---- Values ------------------------------------------------------------------------------------------ */

/* The cell i of v (n) with v[i] <= key < v[i+1], or with `upper` v[i] < key <= v[i+1]; v[0] <= key <= v[n-1]. */
static size_t cell_of(const double *v, size_t n, double key, bool upper)
{
    size_t low = 0, high = n - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (upper ? v[middle] < key : v[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double slope(const struct steps *s, size_t i)
{
    return (s->f[i + 1] - s->f[i]) / (s->x[i + 1] - s->x[i]);
}

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct steps *s = self;
    for (size_t i = 0; i < n; i++) {
        double x = in[i];
        if (!(x > s->x[0] && x < s->x[s->n - 1])) {
            out[i] = isnan(x) ? NAN : x > s->x[0];
            continue;
        }
        size_t k = cell_of(s->x, s->n, x, false);
        out[i] = s->f[k] + (x - s->x[k]) * slope(s, k);
    }
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct steps *s = self;
    for (size_t i = 0; i < n; i++) {
        double x = in[i];
        if (x >= s->x[0] && x <= s->x[s->n - 1])
            out[i] = slope(s, cell_of(s->x, s->n, x, false));
        else
            out[i] = isnan(x) ? NAN : 0;
    }
}

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct steps *s = self;
    for (size_t i = 0; i < n; i++) {
        double level = in[i];
        if (!(level >= 0 && level <= 1)) {
            out[i] = NAN;
            continue;
        }
        size_t k = cell_of(s->f, s->n, level, true);
        double rise = s->f[k + 1] - s->f[k], t = rise > 0 ? (level - s->f[k]) / rise : 0;
        out[i] = s->x[k] + t * (s->x[k + 1] - s->x[k]);
    }
}

static size_t knots(const void *self, double *out)
{
    const struct steps *s = self;
    for (size_t i = 0; i < s->n; i++) out[i] = s->x[i];
    return s->n;
}

static double mean(const void *self)
{
    const struct steps *s = self;
    double sum = 0;
    for (size_t i = 0; i + 1 < s->n; i++) sum += (s->f[i + 1] - s->f[i]) * (s->x[i] + (s->x[i + 1] - s->x[i]) / 2);
    return sum;
}

static const struct dist_class steps_class = {
    .name = "steps", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots, .mean = mean};

struct dist smurf_steps_dist(const struct steps *steps)
{
    return (struct dist){&steps_class, steps};
}

/* ---- Making ------------------------------------------------------------------------------------------ */

static void add(struct steps *s, double x, double f)
{
    if (s->n > 0 && !(x > s->x[s->n - 1])) {
        s->f[s->n - 1] = s->n > 1 ? f : 0; /* no room for a cell: the one before takes its mass */
        return;
    }
    if (s->n == STEPS_MOST) s->n--;
    s->x[s->n] = x;
    s->f[s->n++] = f;
}

/* The end of the gaps that are the same as gap i. */
static size_t same_as(const double *x, size_t n, size_t i, double half)
{
    size_t end = i + 1;
    while (end < n && x[end] - x[i] <= half) end++;
    return end;
}

struct dist smurf_steps(struct steps *out, const double *sorted, size_t n, double tick)
{
    double half = tick > 0 ? tick / 2 : no_tick * (sorted[n - 1] > 0 ? sorted[n - 1] : 1);
    double near = tick > 0 ? half : 0, all = (double)n;
    size_t done = 0;
    out->n = 0;
    add(out, fmax(sorted[0] - half, 0), 0);
    for (size_t i = 0, end; i < n; i = end) {
        end = same_as(sorted, n, i, near);
        bool shared = end - i >= CELL, next = end < n && same_as(sorted, n, end, near) - end >= CELL;
        if (shared && i > 0) add(out, sorted[i] - half, (double)i / all);
        if (shared || end == n)
            add(out, sorted[end - 1] + half, (double)end / all);
        else if (!next && (end - done >= CELL || end + TOP > n))
            add(out, sorted[end - 1] + (sorted[end] - sorted[end - 1]) / 2, (double)end / all);
        else
            continue;
        done = end;
    }
    if (out->n == 1) add(out, nextafter(out->x[0], INFINITY), 1);
    out->f[out->n - 1] = 1;
    return smurf_steps_dist(out);
}
