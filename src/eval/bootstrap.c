/* bootstrap.c - see bootstrap.h. The sums of each sequence are computed once (tally.h); a resample adds up those it
   drew. */
#include "eval/bootstrap.h"

#include "base/error.h"
#include "base/random.h"
#include "base/sort.h"
#include "eval/measure.h"
#include "eval/metrics.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS_MOST = 1 << 14 };

/* Sums of sequences, or of groups of them. */
struct units {
    size_t count;
    double (*tally)[TALLY_SLOTS]; /* (count) */
};

static size_t count_sequences(const struct evaluation *e)
{
    size_t count = 0;
    for (size_t i = 0; i < e->n; i++) count += i == 0 || e->sequence[i] != e->sequence[i - 1];
    return count;
}

static bool units_init(struct units *units, const struct evaluation *e, const struct row_values *row)
{
    size_t sequences = count_sequences(e), done = 0;
    units->count = sequences < UNITS_MOST ? sequences : UNITS_MOST;
    units->tally = calloc(units->count, sizeof *units->tally);
    if (!units->tally) return false;
    for (size_t i = 0, to; i < e->n; i = to, done++) {
        for (to = i + 1; to < e->n && e->sequence[to] == e->sequence[i];) to++;
        smurf_tally_row(units->tally[done * units->count / sequences], e, row, i, to);
    }
    return true;
}

static void resample(smurf_metrics *out, const struct units *units, size_t index, size_t n_dev, uint64_t seed)
{
    double tally[TALLY_SLOTS] = {0};
    struct random random;
    smurf_random_init(&random, seed, measure_stream(STREAM_BOOTSTRAP, index));
    for (size_t u = 0; u < units->count; u++) {
        const double *add = units->tally[smurf_random_below(&random, units->count)];
        for (size_t s = 0; s < TALLY_SLOTS; s++) tally[s] += add[s];
    }
    smurf_tally_metrics(out, tally, smurf_levels, n_dev);
}

/* The quantile at `level` of n sorted values, by linear interpolation. */
static double between(const double *sorted, size_t n, double level)
{
    double at = level * (double)(n - 1);
    size_t low = (size_t)at;
    if (low + 1 >= n) return sorted[n - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

/* The interval of the double at `offset` of the metrics. room: (n). */
static void ends_of(const smurf_metrics *each, size_t n, size_t offset, double *room, double *low, double *high)
{
    *low = *high = NAN;
    for (size_t b = 0; b < n; b++) {
        memcpy(&room[b], (const char *)&each[b] + offset, sizeof *room);
        if (isnan(room[b])) return;
    }
    smurf_sort(room, n);
    *low = between(room, n, 0.05);
    *high = between(room, n, 0.95);
}

static void all_ends(struct row_values *row, const smurf_metrics *each, size_t n, double *room)
{
    const smurf_metric *metric;
    for (size_t k = 0; (metric = smurf_metric_at(k)); k++)
        ends_of(each, n, metric->offset, room, smurf_metric_place(&row->low, metric),
                smurf_metric_place(&row->high, metric));
    for (size_t l = 0; l < SMURF_LEVELS; l++) {
        size_t step = l * sizeof(double);
        ends_of(each, n, offsetof(smurf_metrics, coverage) + step, room, &row->low.coverage[l], &row->high.coverage[l]);
        ends_of(each, n, offsetof(smurf_metrics, interval_length) + step, room, &row->low.interval_length[l],
                &row->high.interval_length[l]);
    }
}

smurf_status smurf_bootstrap_row(struct row_values *row, const struct evaluation *e, size_t resamplings, size_t n_dev,
                                 uint64_t seed, int threads, struct stop *stop, smurf_error *err)
{
    smurf_metrics_clear(&row->low);
    smurf_metrics_clear(&row->high);
    row->low.n = row->high.n = row->metrics.n;
    row->low.sequences = row->high.sequences = row->metrics.sequences;
    if (resamplings == 0 || count_sequences(e) < 2) return SMURF_OK;
    struct units units = {0};
    smurf_metrics *each = malloc(resamplings * sizeof *each);
    double *room = malloc(resamplings * sizeof *room);
    bool ok = each && room && units_init(&units, e, row);
    (void)threads; /* without OpenMP */
    if (ok) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (size_t b = 0; b < resamplings; b++)
            if (!smurf_stop_asked(stop)) resample(&each[b], &units, b, n_dev, seed);
    }
    bool stopped = smurf_stop_asked(stop);
    if (ok && !stopped) {
        all_ends(row, each, resamplings, room);
    }
    free(units.tally);
    free(each);
    free(room);
    if (stopped) return smurf_stop_fail(stop, err);
    return ok ? SMURF_OK : smurf_fail_memory(err);
}

/* ---- Against the best naive row ------------------------------------------------------------------ */

enum { PAIRED_RESAMPLES = 1000, GROUPS_MOST = 1000, SEQUENCES_FEW = 20, BLOCKS_MOST = 100, BLOCK_LEAST = 10 };
enum { UNITS_LEAST = 5 };

double smurf_student(double df)
{
    return 1.6448536 + (1.5241 + 1.4202 / df) / df;
}

/* The level of the lower end. Resamples of few units vary too little: the 5% quantile of the normal law is replaced by
   that of Student's, with the deviation of a sample (the expanded percentile interval, Hesterberg 2015). */
static double end_level(size_t units)
{
    double u = (double)units;
    return 0.5 * erfc(smurf_student(u - 1) * sqrt(u / (u - 1)) / sqrt(2));
}

static enum row best_naive(const struct evaluation *e)
{
    enum row best = ROWS;
    for (enum row r = ROW_MARGINAL; r <= ROW_LAST; r++) {
        double crps = e->row[r].metrics.crps;
        if (e->row[r].name && crps > 0 && (best == ROWS || crps < e->row[best].metrics.crps)) best = r;
    }
    return best;
}

/* Sums of the CRPS of the model and of the naive row over each unit. Returns the number of units. */
static size_t pair_units(double (*pair)[2], const struct evaluation *e, const double *naive)
{
    size_t sequences = count_sequences(e), blocks = e->n / BLOCK_LEAST < BLOCKS_MOST ? e->n / BLOCK_LEAST : BLOCKS_MOST;
    size_t groups = sequences < GROUPS_MOST ? sequences : GROUPS_MOST, done = 0;
    bool by_sequence = sequences >= SEQUENCES_FEW;
    for (size_t i = 0; i < e->n; i++) {
        done += i > 0 && e->sequence[i] != e->sequence[i - 1];
        size_t unit = by_sequence ? done * groups / sequences : i * blocks / e->n;
        pair[unit][0] += e->row[ROW_MODEL].crps[i];
        pair[unit][1] += naive[i];
    }
    return by_sequence ? groups : blocks;
}

smurf_status smurf_bootstrap_advantage(struct advantage *out, const struct evaluation *e, uint64_t seed,
                                       smurf_error *err)
{
    enum row best = best_naive(e);
    const double *model = e->row[ROW_MODEL].crps, *naive = best < ROWS ? e->row[best].crps : NULL;
    *out = (struct advantage){best, NAN, NAN, NAN};
    if (!e->row[ROW_MODEL].name || !model || !naive) return SMURF_OK;
    out->value = 100 * (1 - e->row[ROW_MODEL].metrics.crps / e->row[best].metrics.crps);
    double(*pair)[2] = calloc(GROUPS_MOST, sizeof *pair), *each = malloc(PAIRED_RESAMPLES * sizeof *each);
    size_t units = pair && each ? pair_units(pair, e, naive) : 0;
    for (size_t b = 0; b < PAIRED_RESAMPLES && units >= UNITS_LEAST; b++) {
        double sum[2] = {0};
        struct random random;
        smurf_random_init(&random, seed, measure_stream(STREAM_BOOTSTRAP, b));
        for (size_t u = 0; u < units; u++) {
            const double *add = pair[smurf_random_below(&random, units)];
            sum[0] += add[0], sum[1] += add[1];
        }
        each[b] = 100 * (1 - sum[0] / sum[1]);
    }
    if (units >= UNITS_LEAST) {
        smurf_sort(each, PAIRED_RESAMPLES);
        out->low = between(each, PAIRED_RESAMPLES, end_level(units));
        out->high = between(each, PAIRED_RESAMPLES, 1 - end_level(units));
    }
    bool ok = pair && each;
    free(pair);
    free(each);
    return ok ? SMURF_OK : smurf_fail_memory(err);
}
