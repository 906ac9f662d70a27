/* evaluate.c - see evaluate.h; and the public functions of an evaluation. */
#include "forecast/evaluate.h"

#include "base/sized.h"
#include "forecast/baselines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Config ------------------------------------------------------------------------------------ */

enum { DRAWS_MOST = 1000000, STEPS_MOST = 1000000000, BOOTSTRAP_MOST = 1000000 };
static const double step_least = 1e-12, step_most = 1e3;

static const smurf_eval_config defaults = {.size = sizeof defaults, .recalibrate = 1, .denoise = 1, .seed = 1};

void smurf_eval_config_init_sized(smurf_eval_config *config, size_t size)
{
    smurf_sized_init(config, size, &defaults, sizeof defaults);
}

static smurf_status check_count(const char *name, size_t value, size_t most, smurf_error *err)
{
    if (value <= most) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s is %zu: give at most %zu", name, value, most);
}

smurf_status smurf_eval_config_take(smurf_eval_config *out, const struct sampler_class **sampler,
                                    const smurf_eval_config *given, smurf_error *err)
{
    *out = defaults;
    smurf_status status = smurf_sized_take(out, sizeof *out, given, "smurf_eval_config", err);
    if (!status) status = smurf_sampler_find(sampler, out->sampler, err);
    if (!status) status = check_count("draws", out->draws, DRAWS_MOST, err);
    if (!status) status = check_count("steps", out->steps, STEPS_MOST, err);
    if (!status) status = check_count("bootstrap", out->bootstrap, BOOTSTRAP_MOST, err);
    if (!status && out->step != 0 && !(out->step >= step_least && out->step <= step_most))
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT,
                            "the sampler's step is %g: give a number from %g to %g, or 0 for the model's setting",
                            out->step, step_least, step_most);
    return status;
}

/* ---- Running ----------------------------------------------------------------------------------- */

smurf_status smurf_evaluate_plan(smurf_evaluation **out, struct evaluation_plan *plan, const smurf_data *train,
                                 const smurf_eval_config *c, smurf_error *err)
{
    struct baselines base = {0};
    smurf_evaluation *e = calloc(1, sizeof *e);
    smurf_status status = e ? smurf_baselines_init(&base, train, err) : smurf_fail_memory(err);
    plan->marginal = train ? &base.marginal : NULL;
    plan->recent = train ? &base.recent : NULL;
    plan->same_hour = train && base.dated ? &base.same_hour : NULL;
    plan->last = train && base.dated ? &base.last : NULL;
    plan->markov = train ? &base.markov : NULL;
    plan->recency = train ? &base.recency : NULL;
    plan->mean_gap = base.mean_gap;
    plan->spread = !c->fast;
    plan->examples = c->examples < EXAMPLES_MOST ? c->examples : EXAMPLES_MOST;
    plan->bootstrap = c->bootstrap;
    plan->seed = c->seed;
    plan->threads = c->threads;
    plan->progress = c->progress;
    plan->progress_context = c->progress_context;
    if (!status && isnan(plan->tick)) status = smurf_fail_memory(err);
    if (!status) status = smurf_evaluation_run(&e->values, plan, err);
    smurf_baselines_release(&base);
    if (status) {
        free(e);
        return status;
    }
    *out = e;
    return SMURF_OK;
}

void smurf_evaluation_free(smurf_evaluation *evaluation)
{
    if (!evaluation) return;
    smurf_evaluation_release(&evaluation->values);
    free(evaluation);
}

/* ---- Results ------------------------------------------------------------------------------------- */

const smurf_metrics *smurf_evaluation_row(const smurf_evaluation *evaluation, smurf_row row, const smurf_metrics **low,
                                          const smurf_metrics **high)
{
    const struct row_values *r = (unsigned)row < ROWS ? &evaluation->values.row[row] : NULL;
    bool there = r && r->name, bounded = there && evaluation->values.bootstrap > 0;
    if (low) *low = bounded ? &r->low : NULL;
    if (high) *high = bounded ? &r->high : NULL;
    return there ? &r->metrics : NULL;
}

const smurf_coverage *smurf_evaluation_coverage(const smurf_evaluation *evaluation, smurf_row row)
{
    const struct row_values *r = (unsigned)row < ROWS ? &evaluation->values.row[row] : NULL;
    return r && r->name ? &r->coverage : NULL;
}

const smurf_ends *smurf_evaluation_ends(const smurf_evaluation *evaluation)
{
    return evaluation->values.ends.n ? &evaluation->values.ends : NULL;
}

double smurf_evaluation_markov(const smurf_evaluation *evaluation)
{
    return evaluation->values.acc_markov;
}

double smurf_evaluation_recency(const smurf_evaluation *evaluation)
{
    return evaluation->values.acc_recency;
}

int smurf_evaluation_advantage(const smurf_evaluation *evaluation, smurf_advantage *out)
{
    const struct advantage *a = &evaluation->values.advantage;
    *out = (smurf_advantage){.value = a->value, .low = a->low, .high = a->high};
    if (a->row == ROWS) return 0;
    out->row = (smurf_row)a->row;
    out->name = evaluation->values.row[a->row].name;
    return 1;
}

double smurf_evaluation_mean_gap(const smurf_evaluation *evaluation)
{
    return evaluation->values.mean_gap;
}

const char *smurf_evaluation_device(const smurf_evaluation *evaluation, const char **remark)
{
    if (remark) *remark = evaluation->remark;
    return evaluation->device ? evaluation->device : "cpu";
}
