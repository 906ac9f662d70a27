/* evaluate_process.c - evaluation of laws without training: the true process of a simulation, and the naive laws alone.
 */
#include "forecast/evaluate.h"

#include "base/error.h"
#include "data/data.h"
#include "forecast/truth_predictor.h"
#include "simulate/process.h"

#include <math.h>

/* An unknown start counts as 0: most files do not give it. */
static smurf_status check_sequence(const smurf_sequence *s, uint32_t types, smurf_error *err)
{
    double before = 0;
    if (!isnan(s->start) && (double)s->origin + s->start != 0)
        return smurf_fail(
            err, SMURF_ERROR_ARGUMENT,
            "the law of a process needs the whole history from time 0, but a sequence is observed from %g "
            "on",
            (double)s->origin + s->start);
    for (size_t i = 0; i < s->length; i++) {
        double time = (double)s->origin + s->time[i];
        if (!(time >= before))
            return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                              "an event is at time %g: times must start at 0 or later and not decrease", time);
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

/* The law may depend on further columns: the data must have them as they were simulated. */
static smurf_status check_columns(const smurf_data *data, const smurf_process *process, smurf_error *err)
{
    struct further further;
    smurf_status status = smurf_process_further(process, &further, err);
    if (status) return status;
    bool same = !further.columns || smurf_further_same(&further, &data->further);
    smurf_further_release(&further);
    if (same) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                      "the law of the process depends on further columns, which the data does not have as they were "
                      "simulated");
}

/* These laws have no score to step along: only their distributions can be drawn from. */
static smurf_status take_config(smurf_eval_config *c, const smurf_eval_config *given, smurf_error *err)
{
    const struct sampler_class *sampler;
    smurf_status status = smurf_eval_config_take(c, &sampler, given, err);
    if (status || !sampler->draw) return status;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "sampler '%s' draws from models only: use '%s'", sampler->name,
                      smurf_sampler_name(0));
}

smurf_status smurf_evaluate_process(smurf_evaluation **out, const smurf_process *process, const smurf_data *data,
                                    const smurf_data *train, const smurf_eval_config *given, smurf_error *err)
{
    *out = NULL;
    smurf_eval_config c;
    struct evaluation_plan plan = {.model = smurf_truth_predictor(process),
                                   .test = data,
                                   .name = {[ROW_MODEL] = "truth"},
                                   .tick = smurf_data_tick(train ? train : data)};
    smurf_status status = take_config(&c, given, err);
    if (!status) status = check(data, plan.model.types, err);
    if (!status) status = check_columns(data, process, err);
    plan.draws = c.draws;
    return status ? status : smurf_evaluate_plan(out, &plan, train, &c, err);
}

smurf_status smurf_evaluate_naive(smurf_evaluation **out, const smurf_data *data, const smurf_data *train,
                                  const smurf_eval_config *given, smurf_error *err)
{
    *out = NULL;
    smurf_eval_config c;
    if (!train) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the naive laws need train data");
    struct evaluation_plan plan = {.test = data, .tick = smurf_data_tick(train)};
    smurf_status status = take_config(&c, given, err);
    return status ? status : smurf_evaluate_plan(out, &plan, train, &c, err);
}
