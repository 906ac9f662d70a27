/* comparison.c - laws side by side: the columns of the table, and which of them are best. */
#include "smurf.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct column {
    smurf_column shown;
    size_t at; /* in smurf_metrics */
};
#define AT(field) offsetof(smurf_metrics, field)
/* clang-format off */
static const struct column columns[] = {
    {{"cs", "CS%", "calibration score: root mean square of coverage - level over 0.50 to 0.95", -1, 2}, AT(cs)},
    {{"crps", "CRPS", "continuous ranked probability score: mean error of whole laws, in the unit of time", -1, 4}, AT(crps)},
    {{"cer", "CER%", "|coverage - level| at 0.50", -1, 2}, AT(cer)},
    {{"il", "IL", "mean length of the interval [0, median]; of two laws that keep their word the shorter knows more", -1, 4}, AT(il)},
    {{"acc", "acc%", "types right, time unknown", 1, 2}, AT(acc)},
    {{"acc_true_time", "at time%", "types right, time given", 1, 2}, AT(acc_true_time)},
    {{"log_likelihood", "log-lik", "mean log density of the gaps", 1, 3}, AT(log_likelihood)},
    {{"skill", "skill%", "gain in CRPS over the naive law of recent gaps", 1, 2}, 0},
};
/* clang-format on */
enum { COLUMNS = sizeof columns / sizeof *columns, ACC = 4, SKILL = 7 };

const smurf_column *smurf_comparison_column(size_t column)
{
    return column < COLUMNS ? &columns[column].shown : NULL;
}

static double field(const smurf_metrics *metrics, size_t at)
{
    double x;
    memcpy(&x, (const char *)metrics + at, sizeof x);
    return x;
}

double smurf_comparison_value(const smurf_comparison *comparison, size_t row, size_t column, double *sd)
{
    const smurf_compared *r = &comparison->row[row];
    size_t at = columns[column].at;
    double recent = comparison->recent_crps;
    /* where laws were drawn from, so were types */
    if (column == ACC && !isfinite(r->mean.acc)) at = AT(acc_draws);
    if (column == SKILL) {
        if (sd) *sd = 100 * r->sd.crps / recent;
        return 100 * (1 - r->mean.crps / recent);
    }
    if (sd) *sd = field(&r->sd, at);
    return field(&r->mean, at);
}

/* The row with the best mean; rows: none. */
static size_t best_of(const smurf_comparison *c, size_t column)
{
    size_t best = c->rows;
    for (size_t i = 0; i < c->rows; i++) {
        double x = smurf_comparison_value(c, i, column, NULL) * columns[column].shown.better;
        if (!isfinite(x)) continue;
        if (best == c->rows || x > smurf_comparison_value(c, best, column, NULL) * columns[column].shown.better)
            best = i;
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
