/*
 * resume.c - a training run in one file: weights, moments, average, best weights, counters.
 *
 * What is random needs no keeping: it is a function of the seed and the counters.
 */
#include "train/trainer.h"

#include "data/data.h"

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

static json_t *state_to_json(const smurf_trainer *t)
{
    const struct progress_state *a = &t->at;
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:b}", "step", (json_int_t)a->step, "epoch",
                     (json_int_t)a->epoch, "next", (json_int_t)a->next, "loss_sum", bits(a->loss_sum), "loss_gaps",
                     bits(a->loss_gaps), "seconds", bits(a->seconds), "best_loss", bits(a->best_loss), "best_epoch",
                     (json_int_t)a->best_epoch, "waited", (json_int_t)a->waited, "halvings", (json_int_t)a->halvings, "stopped",
                     a->stopped);
}

static bool state_from_json(smurf_trainer *t, const json_t *json)
{
    struct progress_state *a = &t->at;
    json_int_t step, epoch, next, best, waited, halvings;
    int stopped;
    if (json_unpack((json_t *)json, "{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "step", &step, "epoch", &epoch, "next", &next,
                    "best_epoch", &best, "waited", &waited, "halvings", &halvings, "stopped", &stopped) != 0)
        return false;
    if (step < 0 || epoch < 0 || next < 0 || (size_t)next > smurf_feed_batches(&t->train) || best < 0 || waited < 0 ||
        halvings < 0 || halvings > 1000)
        return false;
    a->step = (uint64_t)step;
    a->epoch = (size_t)epoch;
    a->next = (size_t)next;
    a->best_epoch = (size_t)best;
    a->waited = (size_t)waited;
    a->halvings = (unsigned)halvings;
    a->stopped = stopped;
    return from_bits(json, "loss_sum", &a->loss_sum) && from_bits(json, "loss_gaps", &a->loss_gaps) &&
           from_bits(json, "seconds", &a->seconds) && from_bits(json, "best_loss", &a->best_loss);
}

smurf_status smurf_trainer_save(const smurf_trainer *t, const char *path, smurf_error *err)
{
    struct arena arena = {0};
    size_t count = t->frame->model.params.count, n = 0;
    struct tensor *tensors = malloc(SLABS * count * sizeof *tensors);
    json_t *json = json_pack("{s:o, s:o}", "model", smurf_model_to_json(t->frame), "state", state_to_json(t));
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    smurf_status status = tensors && text ? SMURF_OK : smurf_fail_memory(err);
    for (int s = 0; s < SLABS && !status; s++) {
        if (!prefix[s] || !t->slab[s]) continue;
        status = smurf_model_list(&t->frame->model, t->slab[s], prefix[s], tensors + n, &arena, err);
        n += count;
    }
    if (!status) status = smurf_tensors_write(path, tensors, n, &(struct tensor_text){"smurf_resume", text}, 1, err);
    free(tensors);
    free(text);
    json_decref(json);
    smurf_arena_release(&arena);
    return status;
}

static smurf_status fetch(smurf_trainer *t, const struct tensor_file *file, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    for (int s = 0; s < SLABS && !status; s++)
        if (prefix[s] && t->slab[s]) status = smurf_model_fetch(&t->frame->model, file, prefix[s], t->slab[s], err);
    return status;
}

smurf_status smurf_trainer_resume(smurf_trainer **out, const char *path, const smurf_data *train, const smurf_data *dev,
                                  int threads, smurf_error *err)
{
    *out = NULL;
    struct tensor_file file;
    smurf_model *frame = NULL;
    smurf_status status = smurf_tensors_open(&file, path, err);
    if (status) return status;
    const char *text = smurf_tensors_text(&file, "smurf_resume");
    json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!json)
        status = smurf_fail(err, SMURF_ERROR_INPUT, "%s: this is no file to resume from", path);
    else
        status = smurf_model_from_json(&frame, json_object_get(json, "model"), path, err);
    if (!status && frame->fingerprint != smurf_data_fingerprint(train)) {
        status = smurf_fail(err, SMURF_ERROR_INPUT,
                            "%s: was begun with other training data (resume with the same data and options, or train anew)", path);
        smurf_model_free(frame);
        frame = NULL;
    }
    if (!status) {
        frame->config.threads = threads;
        status = smurf_trainer_build(out, frame, train, dev, err);
    }
    if (!status) status = fetch(*out, &file, err);
    if (!status && !state_from_json(*out, json_object_get(json, "state")))
        status = smurf_fail(err, SMURF_ERROR_INPUT, "%s: its counters are damaged (train anew)", path);
    /* The order of the epoch in hand is made when it starts: make it again. */
    if (!status && (*out)->at.next > 0) smurf_feed_shuffle(&(*out)->train, frame->config.seed, (*out)->at.epoch + 1);
    if (status) {
        smurf_trainer_free(*out);
        *out = NULL;
    }
    json_decref(json);
    smurf_tensors_close(&file);
    return status;
}
