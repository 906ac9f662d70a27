/*
 * evaluate_model.c - evaluation of a model. A sampler's draws start between the 5% and 95% quantiles of the train gaps,
 * walk on the law's axis and are mapped back to the user's unit.
 */
#include "forecast/evaluate.h"

#include "base/error.h"
#include "base/threads.h"
#include "data/data.h"
#include "data/rare.h"
#include "forecast/evaluate_gpu.h"
#include "forecast/model_predictor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Draws ----------------------------------------------------------------------------------- */

enum { DRAWS_USUAL = 100 };

struct drawing {
    const smurf_model *model;
    const struct sampler_class *sampler;
    struct sampler_config config;
    const double *drawn; /* (gaps x draws) on the law's axis; NULL: not drawn yet */
};

static bool draw(void *context, const struct predictor *p, void *workspace, size_t row, uint64_t stream, double *out,
                 size_t n)
{
    const struct drawing *d = context;
    const smurf_scale *scale = &d->model->view.scale;
    if (d->drawn) {
        memcpy(out, d->drawn + stream * n, n * sizeof *out);
    } else {
        struct law law = p->class->law(p->self, workspace, row, &scale);
        if (!d->sampler->draw(&law, &d->config, stream, out, n)) return false;
    }
    for (size_t i = 0; i < n; i++) out[i] = smurf_scale_backward(scale, out[i]);
    return true;
}

smurf_status smurf_sampler_config_of(struct sampler_config *out, const struct sampler_class *sampler,
                                     const smurf_model *m, const smurf_eval_config *c, smurf_error *err)
{
    if (!m->notes.has_marginal)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the model file lacks the quantiles of the train gaps that samplers start from: retrain it");
    if (sampler->not_on_log && m->config.scale == SMURF_SCALE_LOG)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s", sampler->not_on_log);
    double noise = smurf_model_noise(&m->config);
    *out = (struct sampler_config){
        .steps = c->steps ? c->steps : m->config.sampler_steps,
        .step = c->step > 0 ? c->step : m->config.sampler_step,
        .start = {smurf_scale_forward(&m->view.scale, m->notes.marginal[(MARGINAL_LEVELS - 1) / 20]),
                  smurf_scale_forward(&m->view.scale, m->notes.marginal[(MARGINAL_LEVELS - 1) * 19 / 20])},
        .denoise = c->denoise && !m->config.multiplicative ? noise : 0,
        .floor = m->config.scale == SMURF_SCALE_LOG ? m->low : 0,
        .seed = c->seed};
    return SMURF_OK;
}

/* ---- Text for the report ----------------------------------------------------------------------- */

static void describe_pool(struct evaluation *e, const struct pool *pool)
{
    const smurf_pool *p = pool ? &pool->found : NULL;
    char times[100] = "", types[100] = "";
    if (!p) return;
    if (p->law)
        snprintf(times, sizeof times, "the times are %.0f%% those of the naive law “%s”", 100 * p->weight, p->law);
    if (p->types)
        snprintf(types, sizeof types, "%s %.0f%% those of “%s”", p->law ? ", the types" : "the types are",
                 100 * p->type_weight, p->types);
    snprintf(e->pool_about, sizeof e->pool_about, "%s%s%s%s", times, types,
             times[0] || types[0] ? ", chosen on held-out gaps" : "the types are pooled with naive ones",
             p->type_follow > 0 ? "; the weights of types follow what comes" : "");
}

static smurf_status describe(struct evaluation *e, const smurf_model *m, const struct pool *pool,
                             const smurf_data *data, smurf_error *err)
{
    static const char *const axis[] = {"plain time", "time in mean gaps", "log time"};
    const smurf_settings *c = &m->config;
    snprintf(e->model_about, sizeof e->model_about,
             "%s on %s, %zu layer%s, %zu wide, %zu parameters, best of epoch %zu", c->objective, axis[c->scale],
             c->layers, c->layers == 1 ? "" : "s", c->width, smurf_model_parameters(m), m->epoch);
    snprintf(e->data_about, sizeof e->data_about, "%.150s: %zu sequence%s, %zu gaps", data->source, e->sequences,
             e->sequences == 1 ? "" : "s", e->n);
    if (!e->unit[0]) snprintf(e->unit, sizeof e->unit, "%.31s", smurf_model_unit(m));
    e->misses = m->notes.calibration.misses;
    describe_pool(e, pool);
    if (m->notes.epochs == 0) return SMURF_OK;
    smurf_epoch *epoch = smurf_arena_alloc(&e->text, m->notes.epochs * sizeof *epoch);
    if (!epoch) return smurf_fail_memory(err);
    memcpy(epoch, m->notes.history, m->notes.epochs * sizeof *epoch);
    e->epoch = epoch;
    e->epochs = m->notes.epochs;
    return SMURF_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Has the GPU measure the laws, or notes why it does not. */
static smurf_status measure_there(struct gpu_laws *laws, struct laws_gpu *gpu, const smurf_model *m,
                                  struct evaluation_plan *plan, struct drawing *drawing, const char **remark,
                                  smurf_error *err)
{
    if (!gpu) return SMURF_OK;
    *remark = smurf_gpu_laws_refuse(m, plan);
    if (*remark) return SMURF_OK;
    bool walks = plan->draws && plan->draw;
    smurf_status status =
        smurf_gpu_laws_measure(laws, gpu, m, plan, walks ? drawing->sampler : NULL, &drawing->config, err);
    plan->told = &laws->told;
    drawing->drawn = laws->drawn;
    return status;
}

smurf_status smurf_evaluate_check(const smurf_model *m, const smurf_data *data, smurf_error *err)
{
    smurf_status status = smurf_further_view_fits(m->view.further, data, err);
    if (status || data->types <= m->types) return status;
    bool unknown = !data->type_name || strcmp(data->type_name[m->types], OTHER_NAME) == 0; /* as matching leaves it */
    if (data->types == m->types + 1 && unknown) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                      "'%s' has %u types, the model %u (smurf_model_match numbers them alike)", data->source,
                      data->types, m->types);
}

smurf_status smurf_evaluate(smurf_evaluation **out, const smurf_model *m, const smurf_data *data,
                            const smurf_data *train, const smurf_eval_config *given, smurf_error *err)
{
    *out = NULL;
    smurf_eval_config c;
    struct drawing drawing = {.model = m};
    struct laws_gpu *gpu;
    struct gpu_laws laws = {0};
    const char *remark = NULL;
    smurf_status status = smurf_eval_config_take(&c, &drawing.sampler, given, err);
    if (!status) status = smurf_evaluate_check(m, data, err);
    if (!status && drawing.sampler->draw)
        status = smurf_sampler_config_of(&drawing.config, drawing.sampler, m, &c, err);
    if (!status) status = smurf_gpu_laws_open(&gpu, c.device, err);
    if (status) return status;
    bool mapped = c.recalibrate && m->notes.calibration.recalibrated, walks = drawing.sampler->draw;
    smurf_model plain = *m; /* without its pool and its recalibration map, if not wanted */
    if (!mapped) plain.notes.calibration.recalibrated = 0;
    if (!c.recalibrate) plain.notes.pool = NULL;
    struct evaluation_plan plan = {.model = smurf_model_predictor(&plain),
                                   .has_map = mapped || plain.notes.pool,
                                   .test = data,
                                   .known = m->types,
                                   .tick = m->notes.tick,
                                   .n_dev = mapped ? m->notes.calibration.gaps : 0,
                                   .draws = c.draws || !walks ? c.draws : DRAWS_USUAL,
                                   .draw = walks ? draw : NULL,
                                   .draw_context = &drawing,
                                   .gamma = c.recalibrate ? m->notes.calibration.adaptive : 0};
    smurf_model_blend(&plain, &plan.blend);
    plan.spread = !c.fast;
    plan.threads = c.threads;
    plan.progress = c.progress;
    plan.progress_context = c.progress_context;
    if (smurf_data_gaps(data) > 0) status = measure_there(&laws, gpu, &plain, &plan, &drawing, &remark, err);
    if (!status) status = smurf_evaluate_plan(out, &plan, train, &c, err);
    smurf_gpu_laws_release(&laws);
    smurf_laws_gpu_free(gpu);
    if (!status) {
        (*out)->device = plan.told ? "cuda" : "cpu";
        (*out)->remark = remark;
    }
    if (!status && !isfinite((*out)->values.row[plan.gamma > 0 ? ROW_FIXED : ROW_MODEL].metrics.crps))
        status = smurf_fail_at(err, data->source, 0,
                               "the model gives no finite law: its weights or the times are too large");
    if (!status) status = describe(&(*out)->values, m, plain.notes.pool, data, err);
    if (!status) return SMURF_OK;
    smurf_evaluation_free(*out);
    *out = NULL;
    return status;
}
