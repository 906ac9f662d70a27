/*
 * tally.c - see tally.h. With c_q the share of gaps < the q-quantile, over the levels q:
 *
 *     CS  = sqrt(mean (c_q - q)^2)          over q = 0.50 .. 0.95
 *     CER = |c_q - q| at q = 0.5
 *     floor of CS = sqrt(mean q (1 - q) (1/n + 1/n_dev)),  the second term after recalibration only
 *     pinball = mean (q - 1[gap < quantile]) (gap - quantile)
 *     ECE = sum over bins of confidence |right - confidence| / n
 */
#include "eval/tally.h"

#include "data/sum.h"

#include <float.h>

/* Index of the level 0.50: the calibration score uses 0.50 .. 0.95. */
enum { HALF = 9 };

static void tally_quantiles(double *tally, const struct gap_values *v)
{
    struct sum pinball = {0};
    for (size_t l = 0; l < SMURF_LEVELS; l++) {
        double q = v->quantile ? v->quantile[l] : NAN;
        tally[TALLY_COVERED + l] += isnan(q) ? NAN : v->gap < q;
        tally[TALLY_LENGTH + l] += isnan(q) ? NAN : fmax(q, 0);
        tally[TALLY_PIT + l] += isnan(v->pit) ? NAN : v->pit < v->level[l];
        smurf_sum_add(&pinball, (v->level[l] - (v->gap < q)) * (v->gap - q));
    }
    tally[TALLY_PINBALL] += smurf_sum_value(&pinball) / SMURF_LEVELS;
}

static void tally_types(double *tally, const struct gap_values *v)
{
    if (v->untyped) return;
    tally[TALLY_TYPED] += 1;
    tally[TALLY_RIGHT] += v->right;
    tally[TALLY_RIGHT_DRAWS] += v->right_draws;
    tally[TALLY_RIGHT_AT] += v->right_at;
    tally[TALLY_TYPE_LOSS] -= log(v->true_share < FLT_MIN ? FLT_MIN : v->true_share);
    tally[TALLY_BRIER] += v->brier;
    size_t bin = 0;
    if (v->top_share > 0) bin = (size_t)(fmin(v->top_share, 1) * CONFIDENCE_BINS);
    if (bin == CONFIDENCE_BINS) bin--;
    tally[TALLY_CONFIDENCE + bin] += v->top_share;
    tally[TALLY_CONFIDENT_RIGHT + bin] += v->right;
}

void smurf_tally_gap(double tally[TALLY_SLOTS], const struct gap_values *v)
{
    tally[TALLY_N] += 1;
    tally[TALLY_CRPS] += v->crps;
    tally[TALLY_SPREAD] += v->spread;
    tally[TALLY_LOG_DENSITY] += v->log_density;
    tally_quantiles(tally, v);
    tally_types(tally, v);
}

void smurf_tally_row(double tally[TALLY_SLOTS], const struct evaluation *e, const struct row_values *row, size_t from,
                     size_t to)
{
    double quantile[SMURF_LEVELS];
    for (size_t i = from; i < to; i++) {
        if (row->quantile)
            for (size_t l = 0; l < SMURF_LEVELS; l++) quantile[l] = (double)row->quantile[i * SMURF_LEVELS + l];
        struct gap_values v = {
            .gap = e->gap[i],
            .pit = row->pit ? row->pit[i] : NAN,
            .crps = row->crps ? row->crps[i] : NAN,
            .spread = row->spread ? row->spread[i] : NAN,
            .log_density = row->log_density ? row->log_density[i] : NAN,
            .level = smurf_levels,
            .quantile = row->quantile ? quantile : NULL,
            .right = row->top ? row->top[i] == e->type[i] : NAN,
            .right_draws = row->top_draws ? row->top_draws[i] == e->type[i] : NAN,
            .right_at = row->top_at ? row->top_at[i] == e->type[i] : NAN,
            .top_share = row->top_share ? (double)row->top_share[i] : NAN,
            .true_share = row->true_share ? (double)row->true_share[i] : NAN,
            .brier = row->brier ? (double)row->brier[i] : NAN,
            .untyped = !evaluation_is_typed(e, i),
        };
        smurf_tally_gap(tally, &v);
    }
}

/* Root mean square of share - level, from level index `from` on. */
static double miscalibration(const double *count, double n, const double *level, size_t from)
{
    struct sum sum = {0};
    for (size_t l = from; l < SMURF_LEVELS; l++) {
        double d = count[l] / n - level[l];
        smurf_sum_add(&sum, d * d);
    }
    return sqrt(smurf_sum_value(&sum) / (double)(SMURF_LEVELS - from));
}

/* Its expected value under the true law, where 1/n is `inverse`. */
static double chance(const double *level, double inverse)
{
    double sum = 0;
    for (size_t l = HALF; l < SMURF_LEVELS; l++) sum += level[l] * (1 - level[l]) * inverse;
    return sqrt(sum / (SMURF_LEVELS - HALF));
}

static double calibration_of_types(const double *tally)
{
    struct sum sum = {0};
    for (size_t b = 0; b < CONFIDENCE_BINS; b++)
        smurf_sum_add(&sum, fabs(tally[TALLY_CONFIDENT_RIGHT + b] - tally[TALLY_CONFIDENCE + b]));
    return smurf_sum_value(&sum);
}

void smurf_tally_metrics(smurf_metrics *out, const double tally[TALLY_SLOTS], const double *level, size_t n_dev)
{
    double n = tally[TALLY_N], typed = tally[TALLY_TYPED];
    *out = (smurf_metrics){.n = (size_t)n, .ks = NAN, .ks_p = NAN};
    out->cs = 100 * miscalibration(tally + TALLY_COVERED, n, level, HALF);
    out->cs_all = 100 * miscalibration(tally + TALLY_COVERED, n, level, 0);
    out->cs_pit = 100 * miscalibration(tally + TALLY_PIT, n, level, HALF);
    out->cs_floor = 100 * chance(level, 1 / n + (n_dev ? 1 / (double)n_dev : 0));
    out->cer = 100 * fabs(tally[TALLY_COVERED + HALF] / n - level[HALF]);
    out->il = tally[TALLY_LENGTH + HALF] / n;
    out->crps = tally[TALLY_CRPS] / n;
    out->pinball = tally[TALLY_PINBALL] / n;
    out->spread = tally[TALLY_SPREAD] / n;
    out->log_likelihood = tally[TALLY_LOG_DENSITY] / n;
    out->acc = 100 * tally[TALLY_RIGHT] / typed;
    out->acc_draws = 100 * tally[TALLY_RIGHT_DRAWS] / typed;
    out->acc_true_time = 100 * tally[TALLY_RIGHT_AT] / typed;
    out->type_loss = tally[TALLY_TYPE_LOSS] / typed;
    out->brier = tally[TALLY_BRIER] / typed;
    out->ece = 100 * calibration_of_types(tally) / typed;
    for (size_t l = 0; l < SMURF_LEVELS; l++) {
        out->coverage[l] = tally[TALLY_COVERED + l] / n;
        out->interval_length[l] = tally[TALLY_LENGTH + l] / n;
    }
}
