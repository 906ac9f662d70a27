/*
 * evaluate_model.c - a model measured on data: the public face of eval/.
 *
 * The naive laws come from train; draws of a sampler start between the 5% and 95% quantiles of the train gaps, walk on
 * the law's axis and are brought back to the user's unit.
 */
#include "eval/evaluate.h"
#include "forecast/baselines.h"
#include "forecast/model_predictor.h"
#include "law/sampler.h"

#include "base/error.h"
#include "data/data.h"
#include "op/serial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void smurf_eval_config_init(smurf_eval_config *config)
{
    *config =
        (smurf_eval_config){.size = sizeof *config, .recalibrate = 1, .sampler = "exact", .denoise = 1, .seed = 1};
}

/* ---- Draws ----------------------------------------------------------------------------------- */

struct drawing {
    const smurf_model *model;
    const struct sampler_class *sampler; /* NULL: exact */
    struct sampler_config config;
};

static void draw(void *context, const struct predictor *p, void *workspace, size_t row, uint64_t stream, double *out,
                 size_t n)
{
    const struct drawing *d = context;
    const smurf_scale *scale;
    struct law law = p->class->law(p->self, workspace, row, &scale);
    d->sampler->draw(&law, &d->config, stream, out, n);
    for (size_t i = 0; i < n; i++) out[i] = smurf_scale_backward(scale, out[i]);
}

static smurf_status set_drawing(struct drawing *out, const smurf_model *m, const smurf_eval_config *c, smurf_error *err)
{
    *out = (struct drawing){.model = m};
    if (strcmp(c->sampler, "exact") == 0) return SMURF_OK;
    out->sampler = smurf_sampler_named(c->sampler);
    if (!out->sampler)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "there is no sampler '%s': choose exact, langevin, mirror or reject", c->sampler);
    if (!m->notes.has_marginal)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the model file has no quantiles of the train gaps to start the sampler from: train it anew");
    if (strcmp(c->sampler, "mirror") == 0 && m->config.scale == SMURF_SCALE_LOG)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "mirror Langevin walks on ln gap, and the model's axis is that already: use langevin");
    double noise = smurf_model_noise(&m->config);
    out->config = (struct sampler_config){
        .steps = c->steps ? c->steps : m->config.sampler_steps,
        .step = c->step > 0 ? c->step : m->config.sampler_step,
        .start = {smurf_scale_forward(&m->view.scale, m->notes.marginal[(MARGINAL_LEVELS - 1) / 20]),
                  smurf_scale_forward(&m->view.scale, m->notes.marginal[(MARGINAL_LEVELS - 1) * 19 / 20])},
        .denoise = c->denoise && !m->config.multiplicative ? noise : 0,
        .floor = m->config.scale == SMURF_SCALE_LOG ? m->low : 0,
        .seed = c->seed};
    return SMURF_OK;
}

/* ---- Words for the report ---------------------------------------------------------------------- */

static void describe(struct evaluation *e, const smurf_model *m, const smurf_data *data)
{
    static const char *const axis[] = {"plain time", "time in mean gaps", "log time"};
    const smurf_settings *c = &m->config;
    snprintf(e->model_about, sizeof e->model_about, "%s on %s, %zu layers, %zu wide, %zu parameters, best of epoch %zu",
             c->objective, axis[c->scale], c->layers, c->width, smurf_model_parameters(m), m->epoch);
    snprintf(e->data_about, sizeof e->data_about, "%.150s: %zu sequences, %zu gaps", data->source, e->sequences, e->n);
    e->epoch = m->notes.history;
    e->epochs = m->notes.epochs;
}

/* ---- Running --------------------------------------------------------------------------------- */

static smurf_status check(const smurf_model *m, const smurf_data *data, smurf_error *err)
{
    if (data->types <= m->types) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                      "'%s' has %u types, the model %u (smurf_model_match numbers them alike)", data->source,
                      data->types, m->types);
}

smurf_status smurf_evaluate(smurf_evaluation **out, const smurf_model *m, const smurf_data *data,
                            const smurf_data *train, const smurf_eval_config *given, smurf_error *err)
{
    *out = NULL;
    smurf_eval_config c;
    struct drawing drawing;
    struct baselines base = {0};
    smurf_eval_config_init(&c);
    if (given) memcpy(&c, given, given->size < sizeof c ? given->size : sizeof c);
    smurf_status status = check(m, data, err);
    if (!status) status = set_drawing(&drawing, m, &c, err);
    if (status) return status;
    bool mapped = c.recalibrate && m->notes.calibration.recalibrated;
    smurf_model plain = *m; /* without its map, where that is not wanted */
    if (!mapped) plain.notes.calibration.recalibrated = 0;
    smurf_evaluation *e = calloc(1, sizeof *e);
    status = e ? smurf_baselines_init(&base, train, err) : smurf_fail_memory(err);
    struct evaluation_plan plan = {.model = smurf_model_predictor(&plain),
                                   .has_map = mapped,
                                   .marginal = train ? &base.marginal : NULL,
                                   .recent = train ? &base.recent : NULL,
                                   .test = data,
                                   .markov = train ? &base.markov : NULL,
                                   .tick = m->notes.tick,
                                   .mean_gap = base.mean_gap,
                                   .n_dev = mapped ? m->notes.calibration.gaps : 0,
                                   .spread = !c.fast,
                                   .draws = c.draws           ? c.draws
                                            : drawing.sampler ? 100
                                                              : 0,
                                   .draw = drawing.sampler ? draw : NULL,
                                   .draw_context = &drawing,
                                   .examples = c.examples < EXAMPLES_MOST ? c.examples : EXAMPLES_MOST,
                                   .bootstrap = c.bootstrap,
                                   .seed = c.seed,
                                   .threads = c.threads,
                                   .progress = c.progress,
                                   .progress_context = c.progress_context};
    smurf_serial_enter();
    if (!status) status = smurf_evaluation_run(&e->values, &plan, err);
    smurf_serial_leave();
    smurf_baselines_release(&base);
    if (status) {
        free(e);
        return status;
    }
    describe(&e->values, m, data);
    *out = e;
    return SMURF_OK;
}

void smurf_evaluation_free(smurf_evaluation *evaluation)
{
    if (!evaluation) return;
    smurf_evaluation_release(&evaluation->values);
    free(evaluation);
}

/* ---- Looking at it ----------------------------------------------------------------------------- */

const smurf_metrics *smurf_evaluation_row(const smurf_evaluation *evaluation, smurf_row row, const smurf_metrics **low,
                                          const smurf_metrics **high)
{
    const struct row_values *r = (unsigned)row < ROWS ? &evaluation->values.row[row] : NULL;
    bool there = r && r->name, bounded = there && evaluation->values.bootstrap > 0;
    if (low) *low = bounded ? &r->low : NULL;
    if (high) *high = bounded ? &r->high : NULL;
    return there ? &r->metrics : NULL;
}

double smurf_evaluation_markov(const smurf_evaluation *evaluation)
{
    return evaluation->values.acc_markov;
}

double smurf_evaluation_mean_gap(const smurf_evaluation *evaluation)
{
    return evaluation->values.mean_gap;
}
