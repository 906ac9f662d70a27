/*
 * crowd.c - for programs that keep many forecasts: the memory that answers need goes from one to the next, and a
 * history that is not needed for now is given up, while its law stays.
 */
#include "forecast/forecast.h"

#include "base/error.h"
#include "model/model_class.h"

void smurf_forecast_lend(smurf_forecast *from, smurf_forecast *to)
{
    struct law_workspace lent = from->workspace;
    if (from == to || from->model != to->model) return;
    from->workspace = to->workspace;
    to->workspace = lent;
    from->ready = to->ready = false;
}

smurf_status smurf_forecast_settle(smurf_forecast **out, const smurf_forecast *f, smurf_error *err)
{
    *out = smurf_forecast_new_settled(f->model, f->history);
    if (!*out) return smurf_fail_memory(err);
    smurf_forecast_copy_law(*out, f);
    return SMURF_OK;
}

smurf_status smurf_forecast_fail_settled(smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the forecast has given up its history (smurf_forecast_settle)");
}

size_t smurf_forecast_size(const smurf_forecast *f)
{
    const struct model *model = &f->model->model;
    size_t size = sizeof *f + model->class->coefficients(model) * sizeof *f->c;
    size += f->room * (sizeof *f->time + sizeof *f->type + f->columns * sizeof *f->further);
    size += smurf_pool_state_pack(&f->past, NULL) + smurf_past_columns_pack(&f->past_columns, NULL);
    if (f->state) size += model->class->history->size(f->state);
    return size;
}
