/* columns.c - further columns of the events of a sequence that a forecast reads. See forecast.h. */
#include "forecast/forecast.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

const float *smurf_forecast_columns_of(const smurf_forecast *f, const smurf_sequence *s, size_t i)
{
    return s->further && s->columns == f->columns ? s->further + i * f->columns : NULL;
}

smurf_status smurf_forecast_read_columns(smurf_forecast *f, const smurf_sequence *s, size_t start, size_t events,
                                         float **window, smurf_error *err)
{
    size_t n = events - start, kept = events < PAST_ROWS ? events : PAST_ROWS;
    *window = NULL;
    if (!f->columns) return SMURF_OK;
    if (s->further && s->columns != f->columns)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the sequence has %zu further columns, the model %zu (smurf_model_match makes them equal)",
                          s->columns, f->columns);
    if (!(*window = malloc(n * f->columns * sizeof **window))) return smurf_fail_memory(err);
    for (size_t i = 0; i < n; i++) smurf_view_further(&f->model->view, s, start + i, *window + i * f->columns);
    if (f->model->config.context) memcpy(f->further, *window, n * f->columns * sizeof **window);
    for (size_t i = events - kept; i < events; i++) {
        smurf_view_further(&f->model->view, s, i, f->row);
        smurf_past_columns_add(&f->past_columns, s->type[i], f->row);
    }
    return SMURF_OK;
}
