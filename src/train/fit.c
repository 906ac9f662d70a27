/*
 * fit.c - the whole procedure: set part of dev aside, choose the noise, train, keep the best epoch, calibrate.
 *
 * Two thirds of dev are for calibration and must not have selected anything; the rest selects the best epoch and the
 * noise. Sequences are dealt at random. One sequence is cut in time: the earlier third selects and the later two
 * thirds, which are nearest to use, calibrate. Where dev is too small to be divided, nothing is recalibrated, but all
 * of dev may ask for a pool with a naive law: having selected the epoch, it favours the model, and no gain is too
 * small.
 */
#include "train/trainer.h"

#include "base/sized.h"
#include "base/threads.h"
#include "data/data.h"
#include "forecast/pool_fit.h"
#include "model/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fit {
    smurf_fit_config c;
    smurf_settings settings;
    enum device device;
    const char *remark;            /* why it is not used; NULL: it is */
    const smurf_data *train, *dev; /* dev: the selection part; may be NULL */
    smurf_data *selecting;         /* owned if a part was set aside */
    smurf_data *calibrating;       /* the part set aside, owned; NULL: none */
    smurf_sigma_trial trial[SMURF_SIGMA_TRIALS];
    smurf_trainer *trainer;
    double saved; /* when the resume file was last written */
};

static const smurf_fit_config defaults = {.size = sizeof defaults, .recalibrate = -1};

void smurf_fit_config_init_sized(smurf_fit_config *config, size_t size)
{
    smurf_sized_init(config, size, &defaults, sizeof defaults);
}

static smurf_status check(struct fit *f, smurf_error *err)
{
    if (f->c.resume && !f->c.resume_path) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "resume needs resume_path");
    return smurf_device_parse(&f->device, f->c.device, err);
}

smurf_status smurf_fit_divide(smurf_data **selecting, smurf_data **calibrating, const smurf_data *dev, int recalibrate,
                              uint64_t seed, smurf_error *err)
{
    smurf_split part;
    *selecting = *calibrating = NULL;
    if (!dev || recalibrate == 0 || (recalibrate < 0 && smurf_data_gaps(dev) < SMURF_RECALIBRATE_GAPS)) return SMURF_OK;
    smurf_status status = smurf_split_by_share(&part, dev, (const double[3]){1, 0, 2}, seed, err);
    if (status == SMURF_ERROR_ARGUMENT) return SMURF_OK; /* too small to be divided */
    if (status) return status;
    if (part.train && part.test && smurf_data_gaps(part.train) && smurf_data_gaps(part.test)) {
        *selecting = part.train;
        *calibrating = part.test;
        part.train = part.test = NULL;
    }
    smurf_split_release(&part);
    return SMURF_OK;
}

/* Creates the trainer: a new one, or one that resumes. */
static smurf_status begin(struct fit *f, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    if (f->c.resume)
        return smurf_trainer_resume(&f->trainer, f->c.resume_path, f->train, f->dev, f->settings.threads, err);
    if (f->c.choose_sigma)
        status = smurf_train_choose_sigma(&f->settings, f->train, f->dev, f->c.progress, f->c.progress_context,
                                          f->trial, err);
    return status ? status : smurf_trainer_new(&f->trainer, &f->settings, f->train, f->dev, err);
}

static smurf_status tell_start(const struct fit *f, smurf_error *err)
{
    bool chosen = f->c.choose_sigma && !f->c.resume;
    const smurf_fit_start start = {.settings = smurf_trainer_settings(f->trainer),
                                   .epoch = f->trainer->at.epoch + 1,
                                   .best = f->trainer->at.best.epoch ? &f->trainer->at.best : NULL,
                                   .trial = chosen ? f->trial : NULL,
                                   .trials = chosen ? SMURF_SIGMA_TRIALS : 0,
                                   .device = f->trainer->step.device ? "cuda" : "cpu",
                                   .remark = f->remark};
    if (!f->c.start || !f->c.start(f->c.context, &start)) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped before the first epoch");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Writes the requested files, the model first: a resume file is never ahead of it. Of several processes, the first
   writes. */
static smurf_status keep(struct fit *f, bool model, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    if (f->c.resume_path) {
        smurf_train_step_complete(&f->trainer->step);
        status = smurf_train_step_fetch(&f->trainer->step, true, err);
        if (status) return status;
    }
    if (smurf_ranks()->rank > 0) return SMURF_OK;
    if (model && f->c.model_path) {
        smurf_model *best;
        status = smurf_trainer_model(f->trainer, &best, err);
        if (!status) status = smurf_model_save(best, f->c.model_path, err);
        smurf_model_free(best);
    }
    f->saved = now();
    if (status || !f->c.resume_path) return status;
    return smurf_trainer_save(f->trainer, f->c.resume_path, err);
}

/* Of several processes, the first decides, and tells the others with its next step. */
static smurf_status keep_if_old(void *context, smurf_error *err)
{
    struct fit *f = context;
    struct train_step *step = &f->trainer->step;
    bool due = smurf_ranks()->rank == 0 && now() - f->saved >= f->c.save_every;
    if (smurf_ranks()->count > 1) {
        if (due) step->raise |= JOINT_SAVE;
        due = step->raised & JOINT_SAVE;
    }
    return due ? keep(f, false, err) : SMURF_OK;
}

static smurf_status run_epochs(struct fit *f, smurf_error *err)
{
    /* Immediately, so that write errors show before the work is done, and a run killed in its first epoch can be
       resumed. */
    smurf_status status = keep(f, f->trainer->at.best.epoch > 0, err);
    while (!status && !smurf_trainer_done(f->trainer)) {
        smurf_epoch epoch;
        status = smurf_trainer_epoch(f->trainer, &epoch, err);
        if (status == SMURF_ERROR_CANCELLED) {
            smurf_status kept = keep(f, false, err);
            return kept ? kept : status;
        }
        if (status) return status;
        bool stop = f->c.epoch && f->c.epoch(f->c.context, &epoch);
        status = keep(f, epoch.best, err);
        if (!status && stop) status = smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped after epoch %zu", epoch.epoch);
    }
    return status;
}

static smurf_status pool(const struct fit *f, smurf_model *model, smurf_error *err)
{
    struct progress progress = {f->c.progress, f->c.progress_context, {.what = "calibrating", .unit = "gaps"}};
    struct stop stop;
    smurf_stop_init(&stop, &progress);
    bool follow = model->config.adaptive > 0; /* auto: only where a part is set aside */
    return smurf_model_pool_fit(model, f->dev, f->train, follow, true, smurf_threads(f->settings.threads, SIZE_MAX),
                                &stop, err);
}

static smurf_status finish(const struct fit *f, smurf_model **out, smurf_error *err)
{
    smurf_model *model;
    smurf_status status = smurf_trainer_model(f->trainer, &model, err);
    if (status) return status;
    /* Whether to recalibrate was decided when data was set aside for it. */
    bool pools = !f->calibrating && f->dev && f->c.recalibrate && model->config.pool;
    if (pools) status = pool(f, model, err);
    if (f->calibrating)
        status = smurf_model_calibrate(model, f->calibrating, f->train, 1, f->settings.seed, f->settings.threads,
                                       f->c.progress, f->c.progress_context, err);
    else
        model->notes.calibration.adaptive = fmax(model->config.adaptive, 0);
    bool changed = f->calibrating || pools || model->notes.calibration.adaptive > 0;
    if (!status && changed && f->c.model_path && smurf_ranks()->rank == 0)
        status = smurf_model_save(model, f->c.model_path, err);
    if (status)
        smurf_model_free(model);
    else
        *out = model;
    return status;
}

/* Hands out the best model so far, if any; its own failure is ignored. */
static void hand_out_best(const struct fit *f, smurf_model **out)
{
    if (f->trainer && f->trainer->at.best.epoch) (void)smurf_trainer_model(f->trainer, out, NULL);
}

smurf_status smurf_fit(smurf_model **out, const smurf_settings *settings, const smurf_data *train,
                       const smurf_data *dev, const smurf_fit_config *given, smurf_error *err)
{
    struct fit f = {.settings = *settings, .train = train, .dev = dev};
    *out = NULL;
    f.c = defaults;
    smurf_status status = smurf_sized_take(&f.c, sizeof f.c, given, "smurf_fit_config", err);
    if (!status) status = check(&f, err);
    if (f.device == DEVICE_CUDA && f.settings.wall_clock == CLOCK_AUTO)
        f.settings.wall_clock = CLOCK_OFF; /* a GPU has none */
    if (!status) status = smurf_fit_divide(&f.selecting, &f.calibrating, dev, f.c.recalibrate, f.settings.seed, err);
    if (f.selecting) f.dev = f.selecting;
    if (!status) status = begin(&f, err);
    if (!status && f.trainer->frame->config.tail) smurf_model_notes_tail(&f.trainer->frame->notes, train, dev);
    if (!status && f.c.split) status = smurf_model_notes_split(&f.trainer->frame->notes, f.c.split, err);
    if (!status) status = smurf_trainer_use(f.trainer, f.device, &f.remark, err);
    if (!status) status = tell_start(&f, err);
    if (!status) {
        smurf_trainer_progress(f.trainer, f.c.progress, f.c.progress_context);
        if (f.c.save_every > 0) f.trainer->after_step = keep_if_old;
        f.trainer->after_step_context = &f;
        status = run_epochs(&f, err);
    }
    if (!status) status = finish(&f, out, err);
    if (status == SMURF_ERROR_CANCELLED) hand_out_best(&f, out);
    smurf_trainer_free(f.trainer);
    smurf_data_free(f.selecting);
    smurf_data_free(f.calibrating);
    return status;
}
