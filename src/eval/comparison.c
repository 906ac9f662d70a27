/* comparison.c - laws side by side: the columns of the table, and which laws are best. */
#include "eval/metrics.h"

#include <math.h>

static const enum metric columns[] = {METRIC_cs,  METRIC_crps,          METRIC_cer,           METRIC_il,
                                      METRIC_acc, METRIC_acc_true_time, METRIC_log_likelihood};
enum { SKILL = sizeof columns / sizeof *columns };

const smurf_metric *smurf_comparison_column(size_t column)
{
    return column < SKILL ? smurf_metric_at(columns[column]) : column == SKILL ? &smurf_metric_skill : NULL;
}

double smurf_comparison_value(const smurf_comparison *comparison, size_t row, size_t column, double *sd)
{
    const smurf_compared *r = &comparison->row[row];
    const smurf_metric *metric = smurf_comparison_column(column);
    double recent = comparison->recent_crps;
    if (metric == &smurf_metric_skill) {
        if (sd) *sd = 100 * r->sd.crps / recent;
        return 100 * (1 - r->mean.crps / recent);
    }
    /* if laws were sampled, so were types */
    if (columns[column] == METRIC_acc && !isfinite(r->mean.acc)) metric = smurf_metric_at(METRIC_acc_draws);
    if (sd) *sd = smurf_metric_value(&r->sd, metric);
    return smurf_metric_value(&r->mean, metric);
}

/* The row with the best mean; `rows` if there is none. */
static size_t best_of(const smurf_comparison *c, size_t column)
{
    size_t best = c->rows;
    int better = smurf_comparison_column(column)->better;
    for (size_t i = 0; i < c->rows; i++) {
        double x = smurf_comparison_value(c, i, column, NULL) * better;
        if (!isfinite(x)) continue;
        if (best == c->rows || x > smurf_comparison_value(c, best, column, NULL) * better) best = i;
    }
    return best;
}

smurf_mark smurf_comparison_mark(const smurf_comparison *comparison, size_t row, size_t column)
{
    size_t best = best_of(comparison, column);
    if (best == comparison->rows) return SMURF_MARK_NONE;
    double sd, best_sd, top = smurf_comparison_value(comparison, best, column, &best_sd);
    double x = smurf_comparison_value(comparison, row, column, &sd);
    if (x == top) return SMURF_MARK_BEST;
    return fabs(x - top) <= fmax(sd, best_sd) ? SMURF_MARK_NEAR : SMURF_MARK_NONE;
}
