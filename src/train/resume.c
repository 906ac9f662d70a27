/*
 * resume.c - saves a training run in one file: weights, moments, average, best weights, counters. All but the weights
 * is a text, by which several processes see that they are in the same run.
 *
 * No random state is stored: everything random is a function of the seed and the counters.
 */
#include "train/trainer.h"

#include "base/xxh64.h"
#include "data/data.h"
#include "data/json_tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const prefix[SLABS] = {"weight/", NULL, "moment1/", "moment2/", "average/", "best/"};

/* Doubles as the text of their bits, so that nothing is rounded. */
static json_t *bits(double x)
{
    uint64_t word;
    char text[24];
    memcpy(&word, &x, sizeof word);
    snprintf(text, sizeof text, "%016" PRIx64, word);
    return json_string(text);
}

static bool from_bits(const json_t *json, const char *key, double *out)
{
    const char *text = json_string_value(json_object_get(json, key));
    if (!text || strlen(text) != 16) return false;
    uint64_t word = strtoull(text, NULL, 16);
    memcpy(out, &word, sizeof word);
    return true;
}

/* The numbers of the current epoch, and of the best one. */
struct number {
    const char *key;
    double *at;
};
enum { NUMBERS = 12 };

static void list_numbers(struct progress_state *a, struct number out[NUMBERS])
{
    const struct number list[NUMBERS] = {
        {"loss_sum", &a->loss_sum},
        {"loss_gaps", &a->loss_gaps},
        {"events", &a->events},
        {"seconds", &a->seconds},
        {"best_train_loss", &a->best.train_loss},
        {"best_dev_loss", &a->best.dev_loss},
        {"best_dev_time_loss", &a->best.dev_time_loss},
        {"best_dev_type_loss", &a->best.dev_type_loss},
        {"best_dev_accuracy", &a->best.dev_accuracy},
        {"best_rate", &a->best.rate},
        {"best_seconds", &a->best.seconds},
        {"best_events_per_second", &a->best.events_per_second},
    };
    memcpy(out, list, sizeof list);
}

static json_t *state_to_json(const smurf_trainer *t)
{
    struct progress_state a = t->at;
    struct number number[NUMBERS];
    char print[24], train_columns[24], dev_columns[24];
    snprintf(print, sizeof print, "%016" PRIx64, t->dev_fingerprint);
    snprintf(train_columns, sizeof train_columns, "%016" PRIx64, t->columns[0]);
    snprintf(dev_columns, sizeof dev_columns, "%016" PRIx64, t->columns[1]);
    json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:s, s:s}", "step", (json_int_t)a.step, "epoch",
                             (json_int_t)a.epoch, "next", (json_int_t)a.next, "best_epoch", (json_int_t)a.best.epoch,
                             "waited", (json_int_t)a.waited, "halvings", (json_int_t)a.halvings, "stopped", a.stopped,
                             "dev", print, "train_columns", train_columns, "dev_columns", dev_columns);
    list_numbers(&a, number);
    for (int i = 0; json && i < NUMBERS; i++)
        if (json_object_set_new(json, number[i].key, bits(*number[i].at)) != 0) {
            json_decref(json);
            json = NULL;
        }
    return json;
}

/* Checks that the counters are possible in a run: no count or divisor may be out of range. */
static bool state_from_json(struct progress_state *a, const json_t *json)
{
    json_int_t step, epoch, next, best, waited, halvings;
    struct number number[NUMBERS];
    int stopped;
    if (json_unpack((json_t *)json, "{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "step", &step, "epoch", &epoch, "next",
                    &next, "best_epoch", &best, "waited", &waited, "halvings", &halvings, "stopped", &stopped) != 0)
        return false;
    if (epoch < 0 || step < epoch || next < 0 || next > step || best < 0 || best > epoch || (epoch > 0 && best == 0) ||
        waited != epoch - best || halvings < 0 || halvings > 1000)
        return false;
    *a = (struct progress_state){.step = (uint64_t)step,
                                 .epoch = (size_t)epoch,
                                 .next = (size_t)next,
                                 .waited = (size_t)waited,
                                 .halvings = (unsigned)halvings,
                                 .stopped = stopped,
                                 .best = {.epoch = (size_t)best, .best = best > 0}};
    list_numbers(a, number);
    for (int i = 0; i < NUMBERS; i++)
        if (!from_bits(json, number[i].key, number[i].at)) return false;
    return isfinite(a->loss_sum) && a->loss_gaps >= 0 && a->events >= 0 && a->seconds >= 0;
}

/* NULL without memory. The caller frees it. */
static char *run_text(const smurf_trainer *t)
{
    json_t *json = json_pack("{s:o, s:o}", "model", smurf_model_to_json(t->frame), "state", state_to_json(t));
    char *text = smurf_json_text(json);
    json_decref(json);
    return text;
}

smurf_status smurf_trainer_agree(const smurf_trainer *t, smurf_error *err)
{
    struct xxh64 hash;
    if (t->step.joint.group->count == 1) return SMURF_OK;
    char *text = run_text(t);
    if (!text) return smurf_fail_memory(err);
    smurf_xxh64_init(&hash);
    smurf_xxh64_add(&hash, text, strlen(text));
    free(text);
    return smurf_joint_agree(smurf_xxh64_value(&hash), err);
}

smurf_status smurf_trainer_save(const smurf_trainer *t, const char *path, smurf_error *err)
{
    struct arena arena = {0};
    size_t count = t->frame->model.params.count, n = 0;
    struct tensor *tensors = malloc(SLABS * count * sizeof *tensors);
    char *text = run_text(t);
    smurf_status status = tensors && text ? SMURF_OK : smurf_fail_memory(err);
    for (int s = 0; s < SLABS && !status; s++) {
        if (!prefix[s] || !t->step.slab[s]) continue;
        status = smurf_model_list(&t->frame->model, t->step.slab[s], prefix[s], tensors + n, &arena, err);
        n += count;
    }
    if (!status) status = smurf_tensors_write(path, tensors, n, &(struct tensor_text){"smurf_resume", text}, 1, err);
    free(tensors);
    free(text);
    smurf_arena_release(&arena);
    return status;
}

/* Reads all slabs of a file; with slab NULL, only checks them. */
static smurf_status fetch(const smurf_model *frame, const struct tensor_file *file, float *const slab[SLABS],
                          smurf_error *err)
{
    smurf_status status = SMURF_OK;
    for (int s = 0; s < SLABS && !status; s++)
        if (prefix[s] && (s != SLAB_AVERAGE || frame->config.average > 0))
            status = smurf_model_fetch(&frame->model, file, prefix[s], slab ? slab[s] : NULL, err);
    return status;
}

/* A fingerprint in the state; 0 where there is none. */
static uint64_t print_of(const json_t *state, const char *key)
{
    const char *text = json_string_value(json_object_get(state, key));
    return text ? strtoull(text, NULL, 16) : 0;
}

/* Checks that the run was started with these data sets. Types are checked as well, because they index the weights. */
static smurf_status check_data(const smurf_model *frame, const json_t *state, const char *path, const smurf_data *train,
                               const smurf_data *dev, smurf_error *err)
{
    const char *other = NULL;
    if (frame->fingerprint != smurf_data_fingerprint(train) || frame->types != train->types)
        other = "training data";
    else if (print_of(state, "dev") != (dev ? smurf_data_fingerprint(dev) : 0) || (dev && dev->types > train->types))
        other = "dev data";
    else if (print_of(state, "train_columns") != smurf_further_hash(train) ||
             print_of(state, "dev_columns") != (dev ? smurf_further_hash(dev) : 0))
        other = "further columns";
    if (!other) return SMURF_OK;
    return smurf_fail_at(
        err, path, 0, "the run was started with other %s (resume with the same data and options, or start a new run)",
        other);
}

static smurf_status damaged(const char *path, smurf_error *err)
{
    return smurf_fail_at(err, path, 0, "the file is damaged (start a new run)");
}

smurf_status smurf_trainer_resume(smurf_trainer **out, const char *path, const smurf_data *train, const smurf_data *dev,
                                  int threads, smurf_error *err)
{
    *out = NULL;
    struct tensor_file file;
    struct progress_state at;
    smurf_model *frame = NULL;
    smurf_status status = smurf_tensors_open(&file, path, err);
    if (status) return status;
    const char *text = smurf_tensors_text(&file, "smurf_resume");
    json_t *json = NULL;
    status = smurf_json_parse(&json, text, err);
    if (!status && !json) status = smurf_fail_at(err, path, 0, "not a resume file of smurf");
    if (!status) status = smurf_model_from_json(&frame, json_object_get(json, "model"), path, err);
    if (!status) status = check_data(frame, json_object_get(json, "state"), path, train, dev, err);
    if (!status && !state_from_json(&at, json_object_get(json, "state"))) status = damaged(path, err);
    if (!status) status = fetch(frame, &file, NULL, err);
    if (status) {
        smurf_model_free(frame);
    } else {
        frame->config.threads = threads;
        status = smurf_trainer_build(out, frame, train, dev, err);
    }
    if (!status) status = fetch(frame, &file, (*out)->step.slab, err);
    if (!status && at.next > smurf_feed_batches(&(*out)->train)) status = damaged(path, err);
    if (!status) {
        (*out)->at = at;
        /* The order of an epoch is made at its start: remake it. */
        if (at.next > 0) smurf_feed_shuffle(&(*out)->train, frame->config.seed, at.epoch + 1);
        status = smurf_trainer_agree(*out, err);
    }
    if (status) {
        smurf_trainer_free(*out);
        *out = NULL;
    }
    json_decref(json);
    smurf_tensors_close(&file);
    return status;
}
