/*
 * choose_sigma.c - chooses the noise of denoising score matching by the CRPS of the exact law on dev.
 *
 * Each candidate trains a short run from the same start; the one whose laws score best on dev wins. Too little noise
 * makes the score hard to learn; too much blurs the law more than can be undone.
 */
#include "data/data.h"
#include "model/config.h"
#include "model/objective.h"

#include <stdio.h>
#include <string.h>

static const double candidates[SMURF_SIGMA_TRIALS] = {0.02, 0.05, 0.1, 0.2, 0.4};

/* Trains with the config and evaluates its laws on dev. */
static smurf_status try_one(const smurf_settings *config, const smurf_data *train, const smurf_data *dev,
                            smurf_progress_fn *progress, void *context, smurf_sigma_trial *out, smurf_error *err)
{
    smurf_trainer *trainer;
    smurf_model *model = NULL;
    smurf_evaluation *evaluation = NULL;
    smurf_eval_config eval;
    smurf_epoch epoch;
    smurf_status status = smurf_trainer_new(&trainer, config, train, dev, err);
    if (status) return status;
    smurf_trainer_progress(trainer, progress, context);
    while (!status && !smurf_trainer_done(trainer)) status = smurf_trainer_epoch(trainer, &epoch, err);
    if (!status) status = smurf_trainer_model(trainer, &model, err);
    smurf_eval_config_init(&eval);
    eval.fast = 1;
    eval.seed = config->seed;
    eval.threads = config->threads;
    eval.progress = progress;
    eval.progress_context = context;
    if (!status) status = smurf_evaluate(&evaluation, model, dev, NULL, &eval, err);
    if (!status) {
        const smurf_metrics *m = smurf_evaluation_row(evaluation, SMURF_ROW_MODEL, NULL, NULL);
        out->crps = m->crps;
        out->cs = m->cs_pit;
    }
    smurf_evaluation_free(evaluation);
    smurf_model_free(model);
    smurf_trainer_free(trainer);
    return status;
}

int smurf_train_has_noise(const smurf_settings *config)
{
    const struct objective_class *objective = smurf_objective_named_f32(config->objective);
    return objective && objective->noise;
}

static smurf_status no_noise(const smurf_settings *config, smurf_error *err)
{
    const struct objective_class *objective;
    char names[128] = "";
    for (size_t i = 0, used = 0; (objective = smurf_objective_at_f32(i)) && used < sizeof names; i++)
        if (objective->noise)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " or " : "", objective->name);
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "objective %s has no noise: sigma auto needs %s", config->objective,
                      names);
}

smurf_status smurf_train_choose_sigma(smurf_settings *config, const smurf_data *train, const smurf_data *dev,
                                      smurf_progress_fn *progress, void *context,
                                      smurf_sigma_trial trial[SMURF_SIGMA_TRIALS], smurf_error *err)
{
    if (!smurf_train_has_noise(config)) return no_noise(config, err);
    if (!dev) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "sigma auto needs a dev part");
    int best = 0;
    for (int i = 0; i < SMURF_SIGMA_TRIALS; i++) {
        smurf_settings c = *config;
        memset(c.sigma, 0, sizeof c.sigma);
        c.sigma[0] = candidates[i];
        c.epochs = config->epochs / 5 ? config->epochs / 5 : 1;
        c.patience = 0;
        trial[i] = (smurf_sigma_trial){.sigma = candidates[i]};
        smurf_status status = try_one(&c, train, dev, progress, context, &trial[i], err);
        if (status) return status;
        if (trial[i].crps < trial[best].crps) best = i;
    }
    trial[best].chosen = 1;
    memset(config->sigma, 0, sizeof config->sigma);
    config->sigma[0] = candidates[best];
    return SMURF_OK;
}
