/* surprise.c - how surprising an event would be as the next one: levels of its gap and of its type. */
#include "forecast/forecast.h"

#include "base/error.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_SURPRISE = 0x73757270 };

static double draw(const smurf_forecast *f, uint64_t seed)
{
    uint32_t word[4];
    smurf_philox(word, seed, STREAM_SURPRISE, f->before + f->events);
    return smurf_random_unit((uint64_t)word[0] << 32 | word[1]);
}

/* The sum of the shares that are no larger than that of `type`. */
static double type_level(const double *share, uint32_t types, uint32_t type)
{
    double sum = 0;
    for (uint32_t k = 0; k < types; k++)
        if (share[k] <= share[type]) sum += share[k];
    return fmin(sum, 1);
}

static smurf_status judge_type(smurf_forecast *f, uint32_t type, smurf_surprise *out, smurf_error *err)
{
    uint32_t types = f->model->types;
    out->type_level = 1;
    out->type_share = NAN;
    if (type >= types) return SMURF_OK;
    double *share = malloc(types * sizeof *share);
    if (!share) return smurf_fail_memory(err);
    smurf_status status = smurf_forecast_types_at(f, out->gap, share, err);
    if (!status) {
        out->type_share = share[type];
        out->type_level = type_level(share, types, type);
    }
    free(share);
    return status;
}

smurf_status smurf_forecast_surprise(smurf_forecast *f, double time, uint32_t type, uint64_t seed, smurf_surprise *out,
                                     smurf_error *err)
{
    *out = (smurf_surprise){.pit = NAN, .type_level = NAN, .type_share = NAN};
    if (!f->events) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the history is empty: append an event");
    smurf_status status = smurf_forecast_check_event(f, time, type, err);
    if (!status) status = smurf_forecast_check(f, err);
    if (status) return status;
    double since = f->since;
    f->since = 0;
    struct dist dist = smurf_forecast_coming(f); /* it came */
    out->gap = time - f->last;
    out->pit = smurf_dist_pit(&dist, out->gap, f->model->notes.tick, draw(f, seed));
    status = judge_type(f, type, out, err);
    f->since = since;
    return status;
}
