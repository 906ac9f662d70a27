/*
 * adapt.c - the levels of a forecast follow the gaps that came (law/adaptive.h), and its weights of types the types
 * (law/blend.h).
 *
 * An appended event moves them by the PIT of its gap, under the law without adaptation, and by the probabilities of its
 * type. A sequence that is read moves them by its last gaps. Events that futures draw do not move them.
 */
#include "eval/adaptation.h"
#include "forecast/forecast.h"

/* The state after an event, before it is appended. */
static smurf_status see(smurf_forecast *f, double time, uint32_t type, struct followed *next, smurf_error *err)
{
    bool finite;
    double share[BLEND_LAWS];
    *next = (struct followed){f->adaptive, f->blend};
    if (!smurf_followed_moves(next) || !f->events) return SMURF_OK;
    smurf_status status = smurf_forecast_wake(f, &finite, err);
    if (status || !finite) return status;
    smurf_law_workspace_pool(&f->workspace, &f->past);
    struct dist dist = smurf_law_workspace_dist(&f->workspace, 0);
    smurf_adaptive_see(&next->levels,
                       smurf_adaptive_pit(&dist, time - f->last, f->model->notes.tick, f->before + f->events));
    smurf_law_workspace_shares(&f->workspace, time - f->last, type, share);
    smurf_blend_see(&next->types, share);
    return SMURF_OK;
}

smurf_status smurf_forecast_append_with(smurf_forecast *f, double time, uint32_t type, const float *further,
                                        smurf_error *err)
{
    struct followed next;
    smurf_status status = smurf_forecast_check_event(f, time, type, err);
    if (!status) status = see(f, time, type, &next, err);
    if (f->columns) smurf_further_view_see(f->model->view.further, further, f->row);
    if (!status) status = smurf_forecast_push(f, time, type, f->row, err);
    if (status) return status;
    f->adaptive = next.levels;
    f->blend = next.types;
    return SMURF_OK;
}

smurf_status smurf_forecast_append(smurf_forecast *f, double time, uint32_t type, smurf_error *err)
{
    return smurf_forecast_append_with(f, time, type, NULL, err);
}

smurf_status smurf_forecast_adapt(smurf_forecast *f, const smurf_sequence *s, smurf_error *err)
{
    if (!smurf_followed_moves(&(struct followed){f->adaptive, f->blend}) || f->events < 2) return SMURF_OK;
    struct predictor p = smurf_model_predictor(f->model);
    smurf_sequence known = *s;
    known.length = f->events;
    void *workspace = p.class->workspace_new(p.self, known.length, NULL);
    if (!workspace) return smurf_fail_memory(err);
    p.class->read(p.self, workspace, &known);
    for (size_t i = smurf_adaptation_begin(known.length); i < known.length; i++) {
        struct dist dist = p.class->dist(p.self, workspace, i - 1, 0);
        double gap = s->time[i] - s->time[i - 1], share[BLEND_LAWS];
        smurf_adaptive_see(&f->adaptive, smurf_adaptive_pit(&dist, gap, f->model->notes.tick, s->before + i));
        p.class->shares(p.self, workspace, i - 1, gap, s->type[i], share);
        smurf_blend_see(&f->blend, share);
    }
    p.class->workspace_free(workspace);
    return SMURF_OK;
}
