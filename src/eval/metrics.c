/* metrics.c - see metrics.h. Sums run in the order of the gaps, so they do not depend on the number of threads. */
#include "eval/metrics.h"

#include "base/error.h"
#include "base/sort.h"
#include "data/sum.h"
#include "law/wrap.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- By name ------------------------------------------------------------------------------------- */

#define ENTRY(field, head, unit, better, places, about)                                                                \
    {#field, head, about, SMURF_METRIC_##unit, better, places, offsetof(smurf_metrics, field)},
static const smurf_metric table[METRICS] = {SMURF_METRICS(ENTRY)};
#undef ENTRY

const smurf_metric smurf_metric_skill = {
    "skill", "skill%", "gain in CRPS over the naive law of recent gaps", SMURF_METRIC_PERCENT, 1, 2, SIZE_MAX};

const smurf_metric *smurf_metric_at(size_t index)
{
    return index < METRICS ? &table[index] : NULL;
}

double smurf_metric_value(const smurf_metrics *metrics, const smurf_metric *metric)
{
    double x = NAN;
    if (metric->offset < sizeof *metrics) memcpy(&x, (const char *)metrics + metric->offset, sizeof x);
    return x;
}

void smurf_metrics_clear(smurf_metrics *out)
{
    *out = (smurf_metrics){0};
    for (size_t i = 0; i < METRICS; i++) *smurf_metric_place(out, &table[i]) = NAN;
    for (size_t l = 0; l < SMURF_LEVELS; l++) out->coverage[l] = out->interval_length[l] = NAN;
}

/* ---- Order statistics ---------------------------------------------------------------------------- */

double smurf_sorted_spread(const double *x, size_t n)
{
    struct sum sum = {0};
    for (size_t i = 0; i < n; i++) smurf_sum_add(&sum, (2 * (double)i + 1 - (double)n) * x[i]);
    return smurf_sum_value(&sum) / (double)n / (double)n;
}

double smurf_ks_distance(double *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(value[i])) return NAN;
    smurf_sort(value, n);
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double below = value[i] - (double)i / (double)n, above = (double)(i + 1) / (double)n - value[i];
        most = fmax(most, fmax(below, above));
    }
    return n ? most : NAN;
}

/* Q(x) = 2 sum (-1)^(k-1) exp(-2 k^2 x^2); for small x by its theta transform 1 - sqrt(2 pi)/x sum exp(-(2k-1)^2 pi^2 /
   (8 x^2)). */
static double kolmogorov(double x)
{
    const double pi = 3.14159265358979323846;
    if (isnan(x)) return NAN;
    if (x < 0.04) return 1;
    double sum = 0;
    if (x < 1.18) {
        for (int k = 1; k <= 7; k += 2) sum += exp(-k * k * pi * pi / (8 * x * x));
        return 1 - sqrt(2 * pi) / x * sum;
    }
    for (int k = 1; k <= 5; k++) sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * x * x);
    return sum;
}

double smurf_ks_probability(double distance, size_t n)
{
    double root = sqrt((double)n);
    return kolmogorov(distance * (root + 0.12 + 0.11 / root));
}

/* ---- Metrics ------------------------------------------------------------------------------------- */

static smurf_status add_ks(smurf_metrics *out, const double *pit, size_t n, smurf_error *err)
{
    if (!pit || !n) return SMURF_OK;
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted) return smurf_fail_memory(err);
    memcpy(sorted, pit, n * sizeof *sorted);
    out->ks = smurf_ks_distance(sorted, n);
    out->ks_p = smurf_ks_probability(out->ks, n);
    free(sorted);
    return SMURF_OK;
}

smurf_status smurf_metrics_of_row(smurf_metrics *out, const struct evaluation *e, const struct row_values *row,
                                  size_t n_dev, smurf_error *err)
{
    double tally[TALLY_SLOTS] = {0}, part[TALLY_SLOTS];
    size_t sequences = 0;
    for (size_t i = 0, to; i < e->n;
         i = to, sequences++) { /* one sequence at a time: short sums keep rounding errors small */
        for (to = i + 1; to < e->n && e->sequence[to] == e->sequence[i];) to++;
        memset(part, 0, sizeof part);
        smurf_tally_row(part, e, row, i, to);
        for (size_t s = 0; s < TALLY_SLOTS; s++) tally[s] += part[s];
    }
    smurf_tally_metrics(out, tally, smurf_levels, n_dev);
    out->sequences = sequences;
    return add_ks(out, row->pit, e->n, err);
}

smurf_status smurf_metrics_of_samples(smurf_metrics *out, double *samples, size_t draws, const double *truth, size_t n,
                                      const double *level, smurf_error *err)
{
    smurf_metrics_clear(out);
    if (n == 0 || draws == 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%zu gaps with %zu draws each: give at least one of each", n,
                          draws);
    double tally[TALLY_SLOTS] = {0};
    for (size_t i = 0; i < n; i++) {
        double *x = samples + i * draws, quantile[SMURF_LEVELS];
        struct empirical empirical;
        smurf_sort(x, draws);
        struct dist dist = smurf_empirical(&empirical, x, draws);
        dist.class->quantile(dist.self, level, quantile, SMURF_LEVELS);
        struct gap_values values = {
            .gap = truth[i],
            .pit = NAN,
            .crps = smurf_dist_crps(&dist, truth[i]),
            .spread = smurf_sorted_spread(x, draws),
            .log_density = NAN,
            .level = level,
            .quantile = quantile,
            .right = NAN,
            .right_draws = NAN,
            .right_at = NAN,
            .top_share = NAN,
            .true_share = NAN,
            .brier = NAN,
        };
        smurf_tally_gap(tally, &values);
    }
    smurf_tally_metrics(out, tally, level, 0);
    return SMURF_OK;
}
