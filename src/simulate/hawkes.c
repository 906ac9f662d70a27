/* hawkes.c - self-exciting process with K types:
       lambda_k(t) = base[k] + sum over events i of excitation[k][k_i] decay[k] exp(-decay[k] (t - t_i))
   excitation[k][j] is the expected number of direct children of type k of an event of type j.
   trace[k] is that sum just after the last event, so K numbers summarise the whole history. */
#include "simulate/process.h"

#include "base/error.h"

#include <stdlib.h>

enum { BASE, EXCITATION, DECAY };

struct hawkes {
    uint32_t types;
    const double *base, *excitation, *decay, *trace;
};

static struct hawkes hawkes_of(const void *self)
{
    const struct history *history = self;
    const smurf_process *process = history->process;
    return (struct hawkes){process->types, smurf_process_values(process, BASE),
                           smurf_process_values(process, EXCITATION), smurf_process_values(process, DECAY),
                           history->trace};
}

static double total_at(const struct hawkes *h, double gap)
{
    double sum = 0;
    for (uint32_t k = 0; k < h->types; k++) sum += h->base[k] + h->trace[k] * exp(-h->decay[k] * gap);
    return sum;
}

/* Ogata's thinning: the intensity falls between events, so its current value is an upper bound. */
static double draw(const struct history *history, struct random *random, double left)
{
    struct hawkes h = hawkes_of(history);
    double gap = 0, bound = total_at(&h, 0);
    while (gap <= left) {
        gap += smurf_random_exponential(random) / bound;
        double lambda = total_at(&h, gap);
        if (smurf_random_uniform(random) * bound <= lambda) break;
        bound = lambda;
    }
    return gap;
}

static void step(struct history *history, double gap, uint32_t type)
{
    struct hawkes h = hawkes_of(history);
    for (uint32_t k = 0; k < h.types; k++)
        history->trace[k] = h.trace[k] * exp(-h.decay[k] * gap) + h.excitation[(size_t)k * h.types + type] * h.decay[k];
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    struct hawkes h = hawkes_of(self);
    for (size_t i = 0; i < n; i++) out[i] = total_at(&h, gap[i]);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    struct hawkes h = hawkes_of(self);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < h.types; k++) sum -= h.decay[k] * h.trace[k] * exp(-h.decay[k] * gap[i]);
        out[i] = sum;
    }
}

static void compensator(const void *self, const double *gap, double *out, size_t n)
{
    struct hawkes h = hawkes_of(self);
    for (size_t i = 0; i < n; i++) {
        double base = 0, excited = 0;
        for (uint32_t k = 0; k < h.types; k++) {
            base += h.base[k];
            excited -= h.trace[k] * expm1(-h.decay[k] * gap[i]) / h.decay[k];
        }
        out[i] = base * gap[i] + excited;
    }
}

static void types(const void *self, const double *gap, double *out, size_t n)
{
    struct hawkes h = hawkes_of(self);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < h.types; k++)
            out[i * h.types + k] = h.base[k] + h.trace[k] * exp(-h.decay[k] * gap[i]);
}

/* ---- Long-run rates ------------------------------------------------------------------------------- */

/* Solves (I - A) x = b in place of b; a: (n x n), overwritten. False if the spectral radius of the non-negative A is 1
   or more. Elimination needs no pivoting: I - A is an M-matrix, with all pivots positive, exactly if the radius is
   below 1. */
static bool solve(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n * n; i++) a[i] = (i / n == i % n) - a[i];
    for (size_t p = 0; p < n; p++) {
        if (!(a[p * n + p] > 0)) return false;
        for (size_t i = p + 1; i < n; i++) {
            double factor = a[i * n + p] / a[p * n + p];
            if (factor == 0) continue;
            for (size_t j = p + 1; j < n; j++) a[i * n + j] -= factor * a[p * n + j];
            b[i] -= factor * b[p];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
    return true;
}

/* Approximate spectral radius of A, for the error message: powers of I + A, which has no other eigenvalue on its
   spectral circle. scratch: (2 n). */
static double radius(const double *a, double *scratch, size_t n)
{
    double *x = scratch, *y = scratch + n, norm = 1;
    for (size_t i = 0; i < n; i++) x[i] = 1.0 / (double)n;
    for (int round = 0; round < 100; round++) {
        norm = 0;
        for (size_t i = 0; i < n; i++) {
            y[i] = x[i];
            for (size_t j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
            norm += y[i];
        }
        for (size_t i = 0; i < n; i++) x[i] = y[i] / norm;
    }
    return norm - 1;
}

static smurf_status rates(const smurf_process *process, double *out, smurf_error *err)
{
    size_t n = process->types;
    const double *base = smurf_process_values(process, BASE);
    const double *excitation = smurf_process_values(process, EXCITATION);
    double *a = malloc((n * n + 2 * n) * sizeof *a), some = 0;
    if (!a) return smurf_fail_memory(err);
    for (size_t i = 0; i < n * n; i++) a[i] = excitation[i];
    for (size_t k = 0; k < n; k++) some += out[k] = base[k];

    smurf_status status = SMURF_OK;
    if (!(some > 0 && isfinite(some)))
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT,
                            "the values of parameter 'base' of process 'hawkes' sum to %g: give at least one above 0, "
                            "with a finite sum",
                            some);
    else if (!solve(a, out, n))
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT,
                            "parameter 'excitation' of process 'hawkes' has spectral radius %.4g, so the number of "
                            "events explodes: give smaller values, with a radius below 1",
                            fmax(1, radius(excitation, a, n)));
    free(a);
    return status;
}

const struct process_class smurf_hawkes = {
    .name = "hawkes",
    .about = "self-exciting process: each event triggers further events, with exponentially decaying intensity",
    .parameter =
        {
            {"base", "spontaneous events per unit of time: one value for all types or one per type (default 0.2)", 0.2,
             SHAPE_TYPES, RANGE_WEIGHT},
            {"excitation",
             "mean number of children per event: one value, spread evenly over the types of the children; one "
             "per type, for children of the same type; or types x types values, one row per type of child "
             "(default 0.5)",
             0.5, SHAPE_MATRIX, RANGE_WEIGHT},
            {"decay",
             "decay rate of the excitation, 1 / mean delay of children: one value or one per type of child (default 1)",
             1, SHAPE_TYPES, RANGE_POSITIVE},
        },
    .draw = draw,
    .step = step,
    .law = {"hawkes", intensity, slope, compensator, NULL, types, NULL, NULL},
    .rates = rates,
};
