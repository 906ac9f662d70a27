/*
 * trainer.c - training: steps, epochs, dev loss, the best weights so far.
 *
 * Everything random is a function of (seed, epoch, step, event), and every sum has a fixed order: a run is
 * bit-identical at any number of threads, and after saving and resuming.
 */
#include "train/trainer.h"

#include "base/sized.h"
#include "base/threads.h"
#include "data/data.h"
#include "data/reading.h"
#include "data/sink.h"
#include "model/config.h"
#include "train/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t slab_size(const smurf_trainer *t)
{
    return t->frame->model.params.total;
}

/* ---- The frame: fitted on train before the first step ----------------------------------------- */

/* Smallest and largest scored gap. */
static void gap_range(const smurf_data *data, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (size_t s = 0; s < data->sequences; s++)
        for (size_t i = data->sequence[s].first; i < data->sequence[s].length; i++) {
            double gap = data->sequence[s].time[i] - data->sequence[s].time[i - 1];
            *least = fmin(*least, gap);
            *most = fmax(*most, gap);
        }
}

/* The law's support on its axis. Log time has no lower end, so one is set below the smallest gap (or half a tick): the
   law has negligible mass there, and further out a positive intensity would give it some. No gap may lie below it, not
   even a tie: the likelihood would grow with the intensity there without bound. */
static void fit_support(smurf_model *m, const smurf_data *train)
{
    const smurf_settings *c = &m->config;
    const struct objective_class *objective = smurf_objective_named_f32(c->objective);
    double noise = objective->spread ? objective->spread(c) : 0, least, most, margin = 0.5;
    gap_range(train, &least, &most);
    if (c->scale == SMURF_SCALE_LOG) {
        if (c->dither > 0) least = fmin(least, c->dither / 2);
        m->low = smurf_scale_forward(&m->view.scale, isfinite(least) ? least : 0) - noise - margin;
    } else {
        m->low = -noise;
    }
    m->high = smurf_scale_forward(&m->view.scale, most) + noise + 1;
}

/* Copies a name, which must be UTF-8 to be stored in a model's metadata. */
static smurf_status copy_name(char **out, const char *name, const char *what, const smurf_data *train, smurf_error *err)
{
    if (!smurf_utf8_valid(name))
        return smurf_fail_at(err, train->source, 0,
                             "%s '%.200s' is not UTF-8 (convert the file: iconv -f latin1 -t utf-8)", what, name);
    *out = strdup(name);
    return *out ? SMURF_OK : smurf_fail_memory(err);
}

static smurf_status copy_names(smurf_model *m, const smurf_data *train, smurf_error *err)
{
    m->types = train->types;
    m->calendar = train->calendar;
    smurf_status status = smurf_reading_copy(&m->reading, &train->reading, &m->text, err);
    if (!status) status = copy_name(&m->unit, train->unit, "the unit", train, err);
    if (status || !train->type_name) return status;
    m->type_name = calloc(train->types + 1, sizeof *m->type_name);
    if (!m->type_name) return smurf_fail_memory(err);
    for (uint32_t k = 0; k < train->types && !status; k++)
        status = copy_name(&m->type_name[k], train->type_name[k], "the type", train, err);
    return status;
}

/* Cuts sequences into windows if the model has a context; replaces *own, which is freed. */
static smurf_status windowed(const smurf_settings *c, smurf_data **own, const smurf_data **seen, smurf_error *err)
{
    if (!c->context) return SMURF_OK;
    smurf_data *cut;
    smurf_status status = smurf_data_window(&cut, *seen, smurf_window_events(c), c->context, err);
    if (status) return status;
    smurf_data_free(*own);
    *own = cut;
    *seen = cut;
    return SMURF_OK;
}

/* Spreads gaps within their tick, or leaves the data as it is. The caller frees *own. */
static smurf_status dithered(const smurf_settings *c, const smurf_data *data, uint64_t part, smurf_data **own,
                             const smurf_data **out, smurf_error *err)
{
    *own = NULL;
    *out = data;
    if (!(c->dither > 0)) return SMURF_OK;
    smurf_status status = smurf_data_dither(own, data, c->dither, c->seed + part, err);
    *out = *own;
    return status;
}

/* Models that cannot see the further columns of the data refuse them, rather than ignore what was asked for. */
static smurf_status fit_further(smurf_model *m, const smurf_data *train, smurf_error *err)
{
    if (train->further.columns && !smurf_model_class_named_f32(m->config.model)->further)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "model %s cannot see further columns: leave --features out",
                          m->config.model);
    for (size_t i = 0; i < train->further.columns; i++) {
        const struct further_column *c = &train->further.column[i];
        bool valid = smurf_utf8_valid(c->name);
        for (uint32_t k = 0; k < c->word.count && valid; k++) valid = smurf_utf8_valid(c->word.name[k]);
        if (!valid)
            return smurf_fail_at(err, train->source, 0,
                                 "the column '%.100s' is not UTF-8 (convert the file: iconv -f latin1 -t utf-8)",
                                 c->name);
    }
    return smurf_further_view_fit(&m->view.further, train, err);
}

/* Scales and support are fitted on the data as trained on: dithered ties have a logarithm. */
static smurf_status fit_view(smurf_model *m, const smurf_data *train, smurf_error *err)
{
    const smurf_settings *c = &m->config;
    smurf_data *own;
    const smurf_data *seen;
    smurf_status status = dithered(c, train, 0, &own, &seen, err);
    if (!status) status = smurf_scale_fit(&m->view.scale, c->scale, seen, err);
    if (!status) status = smurf_scale_fit(&m->view.feature, SMURF_SCALE_LOG, seen, err);
    /* Published models see raw time, or time in mean gaps on the mean scale; new ones always the latter. */
    m->view.raw_clock = c->raw_clock != 0;
    m->view.clock_unit = c->raw_clock && c->scale != SMURF_SCALE_MEAN ? 1 : m->view.feature.mean;
    if (!status) fit_support(m, seen);
    if (!status) status = fit_further(m, train, err);
    if (!status && c->counts) status = smurf_view_fit_counts(&m->view, train, m->notes.tick, err);
    smurf_data_free(own);
    return status;
}

/* What `auto` means here. Score matching with noise would lose its last step to the clock. */
static int clock_of(const smurf_settings *c, const smurf_data *train)
{
    const struct objective_class *objective = smurf_objective_named_f32(c->objective);
    if (c->wall_clock != CLOCK_AUTO) return c->wall_clock;
    bool can = smurf_model_class_named_f32(c->model)->clock && !c->score && objective->clocked && !objective->noise;
    return can && smurf_wall_clock_suits(train) ? CLOCK_ON : CLOCK_OFF;
}

static smurf_status make_frame(smurf_model **out, const smurf_settings *config, const smurf_data *train,
                               const smurf_data *dev, smurf_error *err)
{
    smurf_model *m = calloc(1, sizeof *m);
    if (!m) return smurf_fail_memory(err);
    m->config = *config;
    m->config.wall_clock = clock_of(config, train);
    m->fingerprint = smurf_data_fingerprint(train);
    m->dev_loss = NAN;
    smurf_status status = copy_names(m, train, err);
    if (!status) status = smurf_model_notes_fit(&m->notes, train, err);
    if (!status) status = fit_view(m, train, err);
    if (!status && m->config.wall_clock)
        status = smurf_wall_clock_fit(&m->wall_clock, train, m->config.wall_clock == CLOCK_SEASON, err);
    if (!status && smurf_model_check(m))
        status = smurf_fail_at(err, train->source, 0,
                               "its gaps are too long, too short or too different to fit '%s': change the unit of time",
                               smurf_model_check(m));
    if (!status && config->tail) smurf_model_notes_tail(&m->notes, train, dev);
    if (status) {
        smurf_model_free(m);
        return status;
    }
    smurf_model_shape(m);
    *out = m;
    return SMURF_OK;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static smurf_status make_feeds(smurf_trainer *t, const smurf_data *train, const smurf_data *dev, smurf_error *err)
{
    const smurf_settings *c = &t->frame->config;
    smurf_data *own[2] = {NULL, NULL};
    const smurf_data *seen;
    /* Each process holds the sequences that it runs. */
    const struct feed_share own_part = {smurf_joint_holds, &t->frame->model.params.total};
    bool several = smurf_ranks()->count > 1;
    smurf_status status = dithered(c, train, 0, &own[0], &seen, err);
    if (!status) status = windowed(c, &own[0], &seen, err);
    if (!status)
        status = smurf_feed_init(&t->train, seen, "train", &t->frame->view, c->batch, c->ending,
                                 several ? &own_part : NULL, err);
    t->columns[0] = smurf_further_hash(train);
    t->train.mask = c->mask;
    t->train.other = smurf_model_other(t->frame);
    if (!status && dev) {
        status = dithered(c, dev, 1, &own[1], &seen, err);
        if (!status) status = windowed(c, &own[1], &seen, err);
        if (!status) status = smurf_feed_init(&t->dev, seen, "dev", &t->frame->view, c->batch, c->ending, NULL, err);
        t->has_dev = !status;
        t->dev_fingerprint = smurf_data_fingerprint(dev);
        t->columns[1] = smurf_further_hash(dev);
    }
    smurf_data_free(own[0]);
    smurf_data_free(own[1]);
    return status;
}

static smurf_status make_memory(smurf_trainer *t, smurf_error *err)
{
    const smurf_settings *c = &t->frame->config;
    struct loss_config loss;
    smurf_loss_config(&loss, c, t->frame->low, t->frame->high);
    if (c->wall_clock) loss.objective.clock = loss.likelihood.clock = &t->frame->model.shape.clock;
    unsigned more = 1u << SLAB_BEST | (c->average > 0 ? 1u << SLAB_AVERAGE : 0);
    return smurf_train_step_init(&t->step, &t->frame->model, &loss, more, &t->train, t->has_dev ? &t->dev : NULL,
                                 smurf_train_step_threads(&t->train, smurf_threads(c->threads, SIZE_MAX)), c->seed,
                                 err);
}

smurf_status smurf_trainer_build(smurf_trainer **out, smurf_model *frame, const smurf_data *train,
                                 const smurf_data *dev, smurf_error *err)
{
    *out = NULL;
    smurf_trainer *t = calloc(1, sizeof *t);
    if (!t) {
        smurf_model_free(frame);
        return smurf_fail_memory(err);
    }
    t->frame = frame;
    smurf_status status = smurf_further_view_fits(frame->view.further, train, err);
    if (!status) status = smurf_further_view_fits(frame->view.further, dev, err);
    if (!status) status = make_feeds(t, train, dev, err);
    if (!status) status = make_memory(t, err);
    if (status)
        smurf_trainer_free(t);
    else
        *out = t;
    return status;
}

/* Parts that were read one by one number their types in their own order. */
static smurf_status same_names(const smurf_data *train, const smurf_data *dev, smurf_error *err)
{
    if (!dev || !dev->type_name || !train->type_name) return SMURF_OK;
    for (uint32_t k = 0; k < dev->types; k++)
        if (strcmp(dev->type_name[k], train->type_name[k]) != 0)
            return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                              "type %u is '%.100s' in dev, '%.100s' in train: read them together, as one directory", k,
                              dev->type_name[k], train->type_name[k]);
    return SMURF_OK;
}

smurf_status smurf_trainer_new(smurf_trainer **out, const smurf_settings *settings, const smurf_data *train,
                               const smurf_data *dev, smurf_error *err)
{
    *out = NULL;
    smurf_model *frame = NULL;
    smurf_status status = smurf_settings_check(settings, err);
    if (!status && dev && dev->types > train->types)
        status =
            smurf_fail(err, SMURF_ERROR_ARGUMENT, "dev has %u types, train %u: read them together, as one directory",
                       dev->types, train->types);
    if (!status) status = same_names(train, dev, err);
    if (!status) status = make_frame(&frame, settings, train, dev, err);
    if (!status) status = smurf_trainer_build(out, frame, train, dev, err);
    if (!status) status = smurf_trainer_agree(*out, err);
    if (!status) return SMURF_OK;
    smurf_trainer_free(*out);
    *out = NULL;
    return status;
}

void smurf_trainer_free(smurf_trainer *t)
{
    if (!t) return;
    smurf_feed_release(&t->train);
    smurf_feed_release(&t->dev);
    smurf_train_step_release(&t->step);
    smurf_model_free(t->frame);
    free(t);
}

const smurf_settings *smurf_trainer_settings(const smurf_trainer *t)
{
    return &t->frame->config;
}

void smurf_trainer_progress(smurf_trainer *t, smurf_progress_fn *progress, void *context)
{
    t->progress.report = progress;
    t->progress.context = context;
}

int smurf_trainer_done(const smurf_trainer *t)
{
    return t->at.epoch >= t->frame->config.epochs || t->at.stopped;
}

/* ---- The device ------------------------------------------------------------------------------- */

smurf_status smurf_trainer_use(smurf_trainer *t, enum device device, const char **remark, smurf_error *err)
{
    struct cuda_model described;
    char name[CUDA_TEXT], why[CUDA_TEXT];
    *remark = NULL;
    if (device == DEVICE_CPU) return SMURF_OK;
    if (smurf_cuda_device(name, why))
        return device == DEVICE_AUTO ? SMURF_OK
                                     : smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "%s; train with --device cpu", why);
    if (device == DEVICE_AUTO && !smurf_device_pays(&t->train, t->frame->config.epochs)) return SMURF_OK;
    if (smurf_ranks()->count > 1)
        *remark = "several processes train together on processors only";
    else
        *remark = smurf_device_describe(&described, &t->frame->model, &t->step.loss);
    return *remark ? SMURF_OK : smurf_train_step_move(&t->step, &t->train, t->has_dev ? &t->dev : NULL, err);
}

smurf_status smurf_device_check(const char *name, smurf_error *err)
{
    enum device device;
    char card[CUDA_TEXT], why[CUDA_TEXT];
    smurf_status status = smurf_device_parse(&device, name, err);
    if (!status && device == DEVICE_CUDA && smurf_cuda_device(card, why))
        status = smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "%s; train with --device cpu", why);
    return status;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static const char *what_is_kept(const smurf_trainer *t)
{
    return t->at.best.epoch ? "; the best model so far is kept" : "";
}

/* The sequences of a step, for the message: "4, 17, 230 and 13 more". */
static smurf_status not_finite(const smurf_trainer *t, size_t index, smurf_error *err)
{
    char list[160] = "";
    size_t first, last, used = 0, shown = 0;
    smurf_feed_members(&t->train, index, &first, &last);
    for (size_t i = first; i < last && shown < 8; i++, shown++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu", shown ? ", " : "", t->train.order[i]);
    if (last - first > shown) snprintf(list + used, sizeof list - used, " and %zu more", last - first - shown);
    return smurf_fail(err, SMURF_ERROR_INPUT,
                      "the loss or its gradient is not finite in epoch %zu, step %zu (sequences %s of train, counted "
                      "from 0): lower the "
                      "rate, clip the gradient, or check these sequences%s",
                      t->at.epoch + 1, index + 1, list, what_is_kept(t));
}

/* Text for progress: "epoch 3 of 30  loss 2.481  31.2k events/s". */
static void describe(smurf_trainer *t)
{
    double speed = t->at.seconds > 0 ? t->at.events / t->at.seconds : 0;
    int n = snprintf(t->what, sizeof t->what, "epoch %zu of %zu", t->at.epoch + 1, t->frame->config.epochs);
    if (t->at.loss_gaps > 0)
        snprintf(t->what + n, sizeof t->what - (size_t)n, "  loss %.3f  %.1fk events/s",
                 t->at.loss_sum / t->at.loss_gaps, speed / 1000);
    t->progress.state = (smurf_progress){t->what, "steps", (double)t->at.next, (double)smurf_feed_batches(&t->train)};
}

static smurf_status cancelled(const smurf_trainer *t, smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped in epoch %zu after %zu of its %zu steps", t->at.epoch + 1,
                      t->at.next, smurf_feed_batches(&t->train));
}

/* Without dropout. The progress callback is called inside a pass as well, and may end it early. */
static struct op_run run_of(smurf_trainer *t, uint64_t step)
{
    if (t->progress.report) describe(t);
    smurf_stop_init(&t->stop, &t->progress);
    return (struct op_run){.threads = t->step.threads, .seed = t->frame->config.seed, .step = step, .stop = &t->stop};
}

/* Factor that keeps the norm of the gradient within the limit. */
static double clip(const smurf_trainer *t, double norm)
{
    double most = t->frame->config.clip;
    return most > 0 && norm > most ? most / norm : 1;
}

static void update(smurf_trainer *t, double factor)
{
    const smurf_settings *c = &t->frame->config;
    double rate = smurf_schedule_rate(c, t->at.epoch + 1, t->at.step, t->at.halvings);
    /* Early on, the average must not be dominated by the initial weights. */
    double decay = fmin(c->average, (1 + (double)t->at.step) / (10 + (double)t->at.step));
    smurf_train_step_update(&t->step, t->at.step, rate, factor, decay);
}

/* The last epochs run without dropout: the final law uses none, and must fit without it. */
static bool settles(const smurf_settings *c, size_t epoch)
{
    return (double)epoch > (1 - c->settle) * (double)c->epochs;
}

smurf_status smurf_trainer_step(smurf_trainer *t, double *loss, int *last, smurf_error *err)
{
    double start = now();
    if (t->at.next == smurf_feed_batches(&t->train))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "all steps of epoch %zu are done: call smurf_trainer_epoch",
                          t->at.epoch + 1);
    if (t->at.next == 0) smurf_feed_shuffle(&t->train, t->frame->config.seed, t->at.epoch + 1);
    struct op_run run = run_of(t, t->at.step + 1);
    double norm;
    if (!settles(&t->frame->config, t->at.epoch + 1)) run.dropout = t->frame->config.dropout;
    struct loss sum = smurf_train_step_gradient(&t->step, &run, &t->train, t->at.next, &norm);
    smurf_status status = smurf_train_step_status(&t->step, err);
    if (status) return status;
    if (t->step.raised & JOINT_STOP) return cancelled(t, err);
    double total = t->step.loss.alpha * sum.time + sum.type;
    double factor = clip(t, norm);
    float square = (float)(norm * factor * norm * factor); /* must fit Adam's second moment */
    if (!isfinite(total) || !isfinite(square)) return not_finite(t, t->at.next, err);
    t->at.step++;
    update(t, factor);
    t->at.loss_sum += total;
    t->at.loss_gaps += (double)sum.gaps;
    t->at.events += (double)smurf_slices_rows(&t->step.slices);
    t->at.next++;
    t->at.seconds += now() - start;
    *loss = sum.gaps ? total / (double)sum.gaps : 0;
    *last = t->at.next == smurf_feed_batches(&t->train);
    return SMURF_OK;
}

/* ---- Epochs ---------------------------------------------------------------------------------- */

/* The effective weights: their average, if there is one. */
static const float *current(const smurf_trainer *t)
{
    return t->step.slab[SLAB_AVERAGE] ? t->step.slab[SLAB_AVERAGE] : t->step.slab[SLAB_WEIGHT];
}

/* Loss on dev, without dropout; uses the noise of step 0, the same in every epoch. */
static struct loss dev_loss(smurf_trainer *t)
{
    struct op_run run = run_of(t, 0);
    return smurf_train_step_dev(&t->step, &run, current(t), &t->dev);
}

/* Keeps the weights if they are the best so far; otherwise counts towards patience. */
static void judge(smurf_trainer *t, smurf_epoch *out)
{
    const smurf_settings *c = &t->frame->config;
    out->best = !t->has_dev || !t->at.best.epoch || out->dev_loss < t->at.best.dev_loss;
    if (out->best) {
        t->at.best = *out;
        t->at.waited = 0;
        memcpy(t->step.slab[SLAB_BEST], current(t), slab_size(t) * sizeof(float));
        return;
    }
    t->at.waited++;
    if (c->schedule == 2 && t->at.waited % 2 == 0) t->at.halvings++;
    if (c->patience && t->at.waited >= c->patience) t->at.stopped = true;
}

/* Asks the callback whether to continue. One of several processes must first tell the others, with the next step. */
static smurf_status tell(smurf_trainer *t, smurf_error *err)
{
    if (!t->progress.report) return SMURF_OK;
    describe(t);
    if (!smurf_progress_tell(&t->progress, (double)t->at.next, err)) return SMURF_OK;
    if (t->step.joint.group->count == 1) return cancelled(t, err);
    t->step.raise |= JOINT_STOP;
    return SMURF_OK;
}

static smurf_status run_epoch(smurf_trainer *t, smurf_epoch *out, smurf_error *err)
{
    while (t->at.next < smurf_feed_batches(&t->train)) {
        double loss;
        int last;
        smurf_status status = tell(t, err);
        if (!status) status = smurf_trainer_step(t, &loss, &last, err);
        if (!status && t->after_step) status = t->after_step(t->after_step_context, err);
        if (status) return status;
    }
    *out = (smurf_epoch){.epoch = t->at.epoch + 1,
                         .train_loss = t->at.loss_sum / t->at.loss_gaps,
                         .dev_loss = NAN,
                         .dev_time_loss = NAN,
                         .dev_type_loss = NAN,
                         .dev_accuracy = NAN,
                         .rate = smurf_schedule_rate(&t->frame->config, t->at.epoch + 1, t->at.step, t->at.halvings),
                         .seconds = t->at.seconds,
                         .events_per_second = t->at.seconds > 0 ? t->at.events / t->at.seconds : 0};
    if (t->step.slab[SLAB_AVERAGE]) smurf_joint_complete(&t->step.joint, RANKS_OTHER, t->step.slab[SLAB_AVERAGE]);
    smurf_status status = smurf_train_step_fetch(&t->step, false, err);
    if (status) return status;
    if (t->has_dev) {
        struct loss dev = dev_loss(t);
        status = smurf_train_step_status(&t->step, err);
        if (status) return status;
        if (t->step.raised & JOINT_STOP) return cancelled(t, err);
        out->dev_time_loss = dev.time / (double)dev.gaps;
        out->dev_type_loss = dev.type / (double)(dev.typed ? dev.typed : 1);
        out->dev_accuracy = dev.right / (double)(dev.typed ? dev.typed : 1);
        out->dev_loss = (t->step.loss.alpha * dev.time + dev.type) / (double)dev.gaps;
        if (!isfinite(out->dev_loss))
            return smurf_fail(err, SMURF_ERROR_INPUT, "the dev loss is not finite after epoch %zu: lower the rate%s",
                              out->epoch, what_is_kept(t));
    }
    t->at.epoch++;
    t->at.next = 0;
    t->at.loss_sum = t->at.loss_gaps = t->at.events = t->at.seconds = 0;
    judge(t, out);
    return smurf_model_notes_add(&t->frame->notes, out, err);
}

/* ---- Results --------------------------------------------------------------------------------- */

smurf_status smurf_trainer_model(const smurf_trainer *t, smurf_model **out, smurf_error *err)
{
    smurf_status status = smurf_model_copy(out, t->frame, err);
    if (status) return status;
    (*out)->config.threads = 0; /* belongs to the run, not to the model */
    status = smurf_model_allocate(*out, err);
    if (status) {
        smurf_model_free(*out);
        *out = NULL;
        return status;
    }
    memcpy((*out)->slab, t->step.slab[SLAB_BEST], slab_size(t) * sizeof(float));
    (*out)->epoch = t->at.best.epoch;
    (*out)->dev_loss = t->at.best.epoch ? t->at.best.dev_loss : NAN;
    return SMURF_OK;
}

smurf_status smurf_trainer_epoch_sized(smurf_trainer *t, smurf_epoch *out, size_t size, smurf_error *err)
{
    smurf_epoch epoch;
    smurf_status status = run_epoch(t, &epoch, err);
    if (!status) smurf_sized_give(out, size, &epoch, sizeof epoch);
    return status;
}

int smurf_trainer_best_sized(const smurf_trainer *t, smurf_epoch *out, size_t size)
{
    smurf_sized_give(out, size, &t->at.best, sizeof t->at.best);
    return t->at.best.epoch > 0;
}
