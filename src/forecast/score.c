/* score.c - an evaluation gap by gap: how surprising each event was. */
#include "forecast/evaluate.h"

#include "base/error.h"
#include "data/data.h"
#include "forecast/model_predictor.h"

#include <math.h>
#include <string.h>

static smurf_scored scored_at(const struct evaluation *e, size_t i, size_t event)
{
    const struct row_values *row = &e->row[ROW_MODEL];
    return (smurf_scored){.sequence = e->sequence[i],
                          .event = event,
                          .gap = e->gap[i],
                          .pit = row->pit[i],
                          .p = 2 * fmin(row->pit[i], 1 - row->pit[i]),
                          .log_density = row->log_density[i],
                          .type = e->type[i],
                          .top = row->top[i],
                          .type_share = evaluation_is_typed(e, i) ? (double)row->true_share[i] : NAN,
                          .top_share = (double)row->top_share[i]};
}

static smurf_status hand_out(const struct evaluation *e, const smurf_data *data, smurf_scored_fn *scored, void *context,
                             smurf_error *err)
{
    for (size_t i = 0, event = 0; i < e->n; i++, event++) {
        if (i == 0 || e->sequence[i] != e->sequence[i - 1]) event = data->sequence[e->sequence[i]].first;
        smurf_scored one = scored_at(e, i, event);
        if (scored(context, &one)) return smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped while scoring");
    }
    return SMURF_OK;
}

smurf_status smurf_score(const smurf_model *m, const smurf_data *data, const smurf_eval_config *given,
                         smurf_scored_fn *scored, void *context, smurf_error *err)
{
    smurf_eval_config c;
    const struct sampler_class *sampler;
    smurf_evaluation *e = NULL;
    smurf_status status = smurf_eval_config_take(&c, &sampler, given, err);
    if (!status) status = smurf_evaluate_check(m, data, err);
    if (status) return status;
    smurf_model plain = *m; /* without its pool and its recalibration map, if not wanted */
    if (!c.recalibrate) plain.notes.calibration.recalibrated = 0;
    if (!c.recalibrate) plain.notes.pool = NULL;
    struct evaluation_plan plan = {.model = smurf_model_predictor(&plain),
                                   .test = data,
                                   .known = m->types,
                                   .tick = m->notes.tick,
                                   .brief = true,
                                   .gamma = c.recalibrate ? m->notes.calibration.adaptive : 0};
    smurf_model_blend(&plain, &plan.blend);
    c.fast = 1;
    c.bootstrap = c.examples = 0;
    status = smurf_evaluate_plan(&e, &plan, NULL, &c, err);
    if (!status && !isfinite(e->values.row[ROW_MODEL].metrics.log_likelihood))
        status = smurf_fail_at(err, data->source, 0,
                               "the model gives no finite law: its weights or the times are too large");
    if (!status) status = hand_out(&e->values, data, scored, context, err);
    smurf_evaluation_free(e);
    return status;
}

/* The next element of the caller's array, which may be of an older, shorter struct. */
struct copying {
    char *next;
    size_t size;
};

static int copy_one(void *context, const smurf_scored *event)
{
    struct copying *to = context;
    memcpy(to->next, event, to->size < sizeof *event ? to->size : sizeof *event);
    to->next += to->size;
    return 0;
}

smurf_status smurf_score_all_sized(smurf_scored *out, size_t size, const smurf_model *model, const smurf_data *data,
                                   const smurf_eval_config *config, smurf_error *err)
{
    struct copying to = {(char *)out, size};
    return smurf_score(model, data, config, copy_one, &to, err);
}
