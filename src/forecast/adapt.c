/*
 * adapt.c - the levels of a forecast follow the gaps that came (law/adaptive.h).
 *
 * An appended event moves them by the PIT of its gap, under the law without adaptation. A sequence that is read moves
 * them by its last gaps. Events that futures draw do not move them.
 */
#include "eval/adaptation.h"
#include "forecast/forecast.h"

smurf_status smurf_forecast_see(smurf_forecast *f, double time, struct adaptive *next, smurf_error *err)
{
    bool finite;
    *next = f->adaptive;
    if (!(next->gamma > 0) || !f->events) return SMURF_OK;
    smurf_status status = smurf_forecast_wake(f, &finite, err);
    if (status || !finite) return status;
    smurf_law_workspace_pool(&f->workspace, &f->past);
    struct dist dist = smurf_law_workspace_dist(&f->workspace, 0);
    smurf_adaptive_see(next, smurf_adaptive_pit(&dist, time - f->last, f->model->notes.tick, f->before + f->events));
    return SMURF_OK;
}

smurf_status smurf_forecast_adapt(smurf_forecast *f, const smurf_sequence *s, smurf_error *err)
{
    if (!(f->adaptive.gamma > 0) || f->events < 2) return SMURF_OK;
    struct predictor p = smurf_model_predictor(f->model);
    smurf_sequence known = *s;
    known.length = f->events;
    void *workspace = p.class->workspace_new(p.self, known.length, NULL);
    if (!workspace) return smurf_fail_memory(err);
    p.class->read(p.self, workspace, &known);
    for (size_t i = smurf_adaptation_begin(known.length); i < known.length; i++) {
        struct dist dist = p.class->dist(p.self, workspace, i - 1, 0);
        double gap = s->time[i] - s->time[i - 1];
        smurf_adaptive_see(&f->adaptive, smurf_adaptive_pit(&dist, gap, f->model->notes.tick, s->before + i));
    }
    p.class->workspace_free(workspace);
    return SMURF_OK;
}
