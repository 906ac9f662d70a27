/*
 * evaluate.h - shared by evaluations of models, processes and naive laws.
 */
#ifndef SMURF_FORECAST_EVALUATE_H
#define SMURF_FORECAST_EVALUATE_H

#include "eval/evaluate.h"
#include "law/sampler.h"

/* A checked copy of the caller's config, which may be NULL or an older, shorter one, and its sampler. */
smurf_status smurf_eval_config_take(smurf_eval_config *out, const struct sampler_class **sampler,
                                    const smurf_eval_config *given, smurf_error *err);

/* How a sampler that takes steps draws from a model's laws. */
smurf_status smurf_sampler_config_of(struct sampler_config *out, const struct sampler_class *sampler,
                                     const smurf_model *model, const smurf_eval_config *config, smurf_error *err);

/* An error if data has types that the model does not have. */
smurf_status smurf_evaluate_check(const smurf_model *model, const smurf_data *data, smurf_error *err);

/* Adds to the plan what the config asks for and, unless train is NULL, the naive laws; then runs it. The caller sets
   the plan's model, test, names, tick and related fields. */
smurf_status smurf_evaluate_plan(smurf_evaluation **out, struct evaluation_plan *plan, const smurf_data *train,
                                 const smurf_eval_config *config, smurf_error *err);

#endif
