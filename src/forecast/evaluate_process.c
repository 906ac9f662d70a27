/* evaluate_process.c - laws that need no training, measured: the truth of a simulation, and the naive ones alone. */
#include "eval/evaluate.h"
#include "forecast/baselines.h"
#include "forecast/truth_predictor.h"

#include "base/error.h"
#include "data/data.h"
#include "op/serial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An unknown start is taken for 0: most files do not tell it. */
static smurf_status check_sequence(const smurf_sequence *s, uint32_t types, smurf_error *err)
{
    double before = 0;
    if (!isnan(s->start) && (double)s->origin + s->start != 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the law of a process needs the whole history from time 0, but a sequence is observed from "
                          "%g on",
                          (double)s->origin + s->start);
    for (size_t i = 0; i < s->length; i++) {
        double time = (double)s->origin + s->time[i];
        if (!(time >= before))
            return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                              "an event is at time %g: a process starts at time 0 and goes forward", time);
        if (s->type[i] >= types)
            return smurf_fail(err, SMURF_ERROR_ARGUMENT, "an event is of type %u, but the process has %u types",
                              (unsigned)s->type[i], (unsigned)types);
        before = time;
    }
    return SMURF_OK;
}

static smurf_status check(const smurf_data *data, uint32_t types, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    for (size_t s = 0; s < data->sequences && !status; s++) status = check_sequence(&data->sequence[s], types, err);
    return status;
}

/* model NULL: the naive laws alone. */
static smurf_status evaluate(smurf_evaluation **out, const struct predictor *model, const smurf_data *data,
                             const smurf_data *train, const smurf_eval_config *given, smurf_error *err)
{
    smurf_eval_config c;
    struct baselines base;
    smurf_eval_config_init(&c);
    if (given) memcpy(&c, given, given->size < sizeof c ? given->size : sizeof c);
    smurf_evaluation *e = calloc(1, sizeof *e);
    if (!e) return smurf_fail_memory(err);
    smurf_status status = smurf_baselines_init(&base, train, err);
    struct evaluation_plan plan = {.model = model ? *model : base.marginal,
                                   .marginal = train ? &base.marginal : NULL,
                                   .recent = train ? &base.recent : NULL,
                                   .test = data,
                                   .markov = train ? &base.markov : NULL,
                                   .name = {[ROW_MODEL] = "truth"},
                                   .tick = train ? smurf_data_tick(train) : smurf_data_tick(data),
                                   .mean_gap = base.mean_gap,
                                   .spread = !c.fast,
                                   .draws = c.draws,
                                   .examples = c.examples < EXAMPLES_MOST ? c.examples : EXAMPLES_MOST,
                                   .bootstrap = c.bootstrap,
                                   .seed = c.seed,
                                   .threads = c.threads,
                                   .progress = c.progress,
                                   .progress_context = c.progress_context};
    if (!status && isnan(plan.tick)) status = smurf_fail_memory(err);
    smurf_serial_enter();
    if (!status) status = smurf_evaluation_run(&e->values, &plan, err);
    smurf_serial_leave();
    smurf_baselines_release(&base);
    if (status) {
        free(e);
        return status;
    }
    if (!model) e->values.row[ROW_MODEL].name = NULL;
    *out = e;
    return SMURF_OK;
}

smurf_status smurf_evaluate_process(smurf_evaluation **out, const smurf_process *process, const smurf_data *data,
                                    const smurf_data *train, const smurf_eval_config *config, smurf_error *err)
{
    *out = NULL;
    struct predictor truth = smurf_truth_predictor(process);
    smurf_status status = check(data, truth.types, err);
    return status ? status : evaluate(out, &truth, data, train, config, err);
}

smurf_status smurf_evaluate_naive(smurf_evaluation **out, const smurf_data *data, const smurf_data *train,
                                  const smurf_eval_config *config, smurf_error *err)
{
    *out = NULL;
    if (!train) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the naive laws come from train: there is none");
    return evaluate(out, NULL, data, train, config, err);
}
