/*
 * answers.c - all answers of smurf_forecast_many, in one block of records of equal size.
 *
 * A record is a smurf_answer and then the arrays it points to. The numbers of levels, horizons and types are those of
 * the question, so all records have the layout of the first, and a column is an address and a stride.
 */
#include "forecast/answer.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Where the arrays are in a record; 0: not asked. */
struct layout {
    size_t interval, conformal, within, type, share, next_interval, next_within;
    size_t stride;
};

struct smurf_answers {
    char *record;
    size_t count, capacity;
    struct layout at;
    bool full; /* out of memory */
};

/* Appends n bytes, in whole doubles. */
static size_t placed(struct layout *at, const void *array, size_t n)
{
    size_t here = at->stride;
    if (!array) return 0;
    at->stride += (n + sizeof(double) - 1) / sizeof(double) * sizeof(double);
    return here;
}

static struct layout layout_of(const smurf_answer *a)
{
    struct layout at = {.stride = sizeof *a};
    at.interval = placed(&at, a->interval, a->levels * sizeof *a->interval);
    at.conformal = placed(&at, a->conformal, a->levels * sizeof *a->conformal);
    at.within = placed(&at, a->within, a->horizons * sizeof *a->within);
    at.type = placed(&at, a->type, a->types * sizeof *a->type);
    at.share = placed(&at, a->share, a->types * sizeof *a->share);
    at.next_interval = placed(&at, a->next_interval, a->levels * sizeof *a->next_interval);
    at.next_within = placed(&at, a->next_within, a->horizons * sizeof *a->next_within);
    return at;
}

static void copy(char *to, const void *from, size_t n)
{
    if (from && n) memcpy(to, from, n);
}

static int keep(void *context, const smurf_answer *a)
{
    smurf_answers *all = context;
    if (!all->count) all->at = layout_of(a);
    const struct layout *at = &all->at;
    all->full = !smurf_grow(&all->record, &all->capacity, all->count + 1, at->stride);
    if (all->full) return 1;
    char *to = all->record + all->count++ * at->stride;
    memcpy(to, a, sizeof *a);
    copy(to + at->interval, a->interval, a->levels * sizeof *a->interval);
    copy(to + at->conformal, a->conformal, a->levels * sizeof *a->conformal);
    copy(to + at->within, a->within, a->horizons * sizeof *a->within);
    copy(to + at->type, a->type, a->types * sizeof *a->type);
    copy(to + at->share, a->share, a->types * sizeof *a->share);
    copy(to + at->next_interval, a->next_interval, a->levels * sizeof *a->next_interval);
    copy(to + at->next_within, a->next_within, a->horizons * sizeof *a->next_within);
    return 0;
}

/* The records stay where they are from now on. */
static void point(smurf_answers *all)
{
    const struct layout *at = &all->at;
    for (size_t i = 0; i < all->count; i++) {
        char *record = all->record + i * at->stride;
        smurf_answer *a = (smurf_answer *)(void *)record;
        a->interval = (const void *)(record + at->interval);
        a->conformal = at->conformal ? (const void *)(record + at->conformal) : NULL;
        a->within = (const void *)(record + at->within);
        a->type = (const void *)(record + at->type);
        a->share = (const void *)(record + at->share);
        a->next_interval = at->next_interval ? (const void *)(record + at->next_interval) : NULL;
        a->next_within = at->next_within ? (const void *)(record + at->next_within) : NULL;
    }
}

smurf_status smurf_forecast_all(smurf_answers **out, const smurf_model *model, const smurf_data *data,
                                const smurf_question *question, const smurf_many_config *config, smurf_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return smurf_fail_memory(err);
    smurf_status status = smurf_forecast_many(model, data, question, config, keep, *out, err);
    if ((*out)->full) status = smurf_fail_memory(err);
    if (!status) {
        point(*out);
        return SMURF_OK;
    }
    smurf_answers_free(*out);
    *out = NULL;
    return status;
}

void smurf_answers_free(smurf_answers *answers)
{
    if (!answers) return;
    free(answers->record);
    free(answers);
}

size_t smurf_answers_count(const smurf_answers *answers)
{
    return answers->count;
}

size_t smurf_answers_stride(const smurf_answers *answers)
{
    return answers->at.stride;
}

const smurf_answer *smurf_answers_at(const smurf_answers *answers, size_t index)
{
    if (index >= answers->count) return NULL;
    return (const void *)(answers->record + index * answers->at.stride);
}
