/* readable.c - see readable.h. */
#include "report/readable.h"

#include "eval/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void scale_metrics(smurf_metrics *m, double per)
{
    const smurf_metric *metric;
    for (size_t k = 0; (metric = smurf_metric_at(k)); k++)
        if (metric->unit == SMURF_METRIC_TIME) *smurf_metric_place(m, metric) /= per;
    for (size_t l = 0; l < SMURF_LEVELS; l++) m->interval_length[l] /= per;
}

static void scale_example(struct example *x, double per)
{
    x->truth /= per;
    for (size_t p = 0; p < x->points; p++) {
        x->x[p] /= per;
        x->density[p] *= per;
    }
    for (size_t l = 0; l < SMURF_LEVELS; l++) x->quantile[l] /= per;
}

/* The CRPS of the first law that was measured. */
static double usual_length(const struct evaluation *e)
{
    for (int r = 0; r < ROWS; r++)
        if (e->row[r].name && e->row[r].metrics.crps > 0) return e->row[r].metrics.crps;
    return NAN;
}

struct evaluation *smurf_evaluation_readable(const struct evaluation *e)
{
    double per;
    struct evaluation *out = malloc(sizeof *out);
    if (!out) return NULL;
    *out = *e;
    const char *unit = smurf_duration_unit(usual_length(e), e->unit, &per);
    if (!unit) return out;
    snprintf(out->unit, sizeof out->unit, "%s", unit);
    out->mean_gap /= per;
    out->tick /= per;
    for (int r = 0; r < ROWS; r++) {
        scale_metrics(&out->row[r].metrics, per);
        scale_metrics(&out->row[r].low, per);
        scale_metrics(&out->row[r].high, per);
    }
    for (size_t i = 0; i < out->examples; i++) scale_example(&out->example[i], per);
    return out;
}
