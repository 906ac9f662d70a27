/* baselines.c - see baselines.h. */
#include "forecast/baselines.h"

#include "data/data.h"

#include <math.h>

static double mean_gap(const smurf_data *train)
{
    double sum = 0;
    size_t n = 0;
    for (size_t s = 0; s < train->sequences; s++)
        for (size_t i = train->sequence[s].first; i < train->sequence[s].length; i++, n++)
            sum += train->sequence[s].time[i] - train->sequence[s].time[i - 1];
    return sum / (double)n;
}

smurf_status smurf_baselines_init(struct baselines *out, const smurf_data *train, smurf_error *err)
{
    *out = (struct baselines){.mean_gap = NAN};
    if (!train) return SMURF_OK;
    smurf_status status = smurf_naive_new(&out->naive, train, err);
    if (!status) status = smurf_markov_init(&out->markov, train, err);
    if (!status) status = smurf_recency_init(&out->recency, train, err);
    if (status) return status;
    out->dated = smurf_naive_is_dated(out->naive);
    out->same_hour = smurf_naive_same_hour(out->naive);
    out->last = smurf_naive_last(out->naive);
    out->marginal = smurf_naive_marginal(out->naive);
    out->recent = smurf_naive_recent(out->naive);
    out->mean_gap = mean_gap(train);
    return SMURF_OK;
}

void smurf_baselines_release(struct baselines *baselines)
{
    smurf_naive_free(baselines->naive);
    smurf_markov_release(&baselines->markov);
    smurf_recency_release(&baselines->recency);
}
