/*
 * many.c - forecasts for many sequences, on several threads, answered in order.
 *
 * Work is done in blocks of a few answers per thread, so that memory is bounded and answers arrive as they are
 * computed. For answers at the end of each sequence, a thread reads the sequence and answers. For answers after every
 * N-th event, the calling thread appends events, which is cheap, and hands the law of each queried event to the
 * threads. Futures, for the next event of a type, have their own threads and are computed one at a time. None of this
 * affects the results.
 */
#include "forecast/answer.h"

#include "base/sized.h"
#include "base/progress.h"
#include "base/threads.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

enum { ANSWERS_PER_THREAD = 8, APPENDS_MOST = 4096 };

/* One answer in progress. */
struct slot {
    size_t sequence;
    smurf_answer *answer;
    smurf_forecast *forecast; /* used for answers after every N-th event */
    smurf_status status;
    smurf_error err;
};

struct many {
    const smurf_model *model;
    const smurf_data *data;
    smurf_question q;
    smurf_many_config c;
    int threads;
    smurf_forecast **forecast; /* (threads) */
    struct slot *slot;         /* (slots) */
    size_t slots;
    size_t at, event; /* position: the at-th of the chosen sequences, and its event */
    struct progress progress;
};

static const smurf_many_config defaults = {.size = sizeof defaults};

void smurf_many_config_init_sized(smurf_many_config *config, size_t size)
{
    smurf_sized_init(config, size, &defaults, sizeof defaults);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static size_t chosen(const struct many *m)
{
    return m->c.sequence ? m->c.sequences : m->data->sequences;
}

static size_t sequence_at(const struct many *m, size_t i)
{
    return m->c.sequence ? m->c.sequence[i] : i;
}

static smurf_status check(const struct many *m, smurf_error *err)
{
    smurf_status status = smurf_further_view_fits(m->model->view.further, m->data, err);
    if (status) return status;
    for (size_t i = 0; m->c.sequence && i < m->c.sequences; i++)
        if (m->c.sequence[i] >= m->data->sequences)
            return smurf_fail(err, SMURF_ERROR_ARGUMENT, "sequence %zu was asked for, of %zu", m->c.sequence[i],
                              m->data->sequences);
    return SMURF_OK;
}

static void release(struct many *m)
{
    for (int t = 0; m->forecast && t < m->threads; t++) smurf_forecast_free(m->forecast[t]);
    for (size_t i = 0; m->slot && i < m->slots; i++) {
        smurf_answer_free(m->slot[i].answer);
        smurf_forecast_free(m->slot[i].forecast);
    }
    free(m->forecast);
    free(m->slot);
}

static void set_threads(struct many *m)
{
    m->threads = smurf_threads(m->c.threads, m->c.every ? m->data->events : chosen(m));
    m->q.threads = m->c.threads;
    if (m->q.next >= 0) m->threads = 1;
    m->slots = m->threads > 1 ? ANSWERS_PER_THREAD * (size_t)m->threads : 1;
}

static smurf_status make(struct many *m, smurf_error *err)
{
    set_threads(m);
    m->forecast = calloc((size_t)m->threads, sizeof *m->forecast);
    m->slot = calloc(m->slots, sizeof *m->slot);
    smurf_status status = m->forecast && m->slot ? SMURF_OK : smurf_fail_memory(err);
    for (int t = 0; t < m->threads && !status; t++)
        status = smurf_forecast_new(&m->forecast[t], m->model, m->c.history, err);
    for (size_t i = 0; i < m->slots && !status; i++) {
        status = smurf_answer_new(&m->slot[i].answer, &m->q, m->model, err);
        if (!status && m->c.every && m->slots > 1) status = smurf_forecast_new(&m->slot[i].forecast, m->model, 1, err);
    }
    return status;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Takes the next sequences; returns their number. */
static size_t take_sequences(struct many *m)
{
    size_t n = 0;
    while (n < m->slots && m->at < chosen(m)) m->slot[n++].sequence = sequence_at(m, m->at++);
    return n;
}

/* Appends events until all slots have a law, or until it is time to report progress. *n laws were handed out; they are
   valid even after a failure, which concerns m->at. */
static smurf_status take_events(struct many *m, size_t *n, smurf_error *err)
{
    smurf_forecast *f = m->forecast[0];
    *n = 0;
    for (size_t appends = 0; m->at < chosen(m); m->at++, m->event = 0) {
        const smurf_sequence *s = &m->data->sequence[sequence_at(m, m->at)];
        if (m->event == 0) smurf_forecast_clear(f, s->origin);
        while (m->event < s->length) {
            if (appends++ == APPENDS_MOST) return SMURF_OK;
            smurf_status status = smurf_forecast_append_with(
                f, s->time[m->event], s->type[m->event], s->further ? s->further + m->event * s->columns : NULL, err);
            if (status) return status;
            if (++m->event % m->c.every) continue;
            struct slot *slot = &m->slot[(*n)++];
            slot->sequence = sequence_at(m, m->at);
            if (slot->forecast) smurf_forecast_copy_law(slot->forecast, f);
            if (*n == m->slots) return SMURF_OK; /* before f advances */
        }
    }
    return SMURF_OK;
}

static void answer_slot(struct many *m, struct slot *slot)
{
    smurf_forecast *f = slot->forecast ? slot->forecast : m->forecast[smurf_thread_number()];
    const smurf_sequence *s = &m->data->sequence[slot->sequence];
    slot->status = m->c.every ? SMURF_OK : smurf_forecast_read(f, s, s->length, &slot->err);
    if (!slot->status) slot->status = smurf_answer_fill(slot->answer, f, &m->q, &slot->err);
    slot->answer->sequence = slot->sequence;
}

static void answer_block(struct many *m, size_t n)
{
#pragma omp parallel for schedule(dynamic) num_threads(m->threads) if (n > 1)
    for (size_t i = 0; i < n; i++) answer_slot(m, &m->slot[i]);
}

static smurf_status hand_out(struct many *m, size_t n, smurf_answer_fn *answer, void *context, size_t *failed,
                             smurf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct slot *slot = &m->slot[i];
        if (slot->status) {
            if (slot->status != SMURF_ERROR_CANCELLED) *failed = slot->sequence;
            if (err) *err = slot->err;
            return slot->status;
        }
        if (answer(context, slot->answer))
            return smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped while %s", m->progress.state.what);
    }
    return SMURF_OK;
}

static smurf_status run(struct many *m, smurf_answer_fn *answer, void *context, size_t *failed, smurf_error *err)
{
    m->progress = (struct progress){.report = m->c.progress,
                                    .context = m->c.progress_context,
                                    .state = {"forecasting", "sequences", 0, (double)chosen(m)}};
    smurf_status status = SMURF_OK;
    while (!status && m->at < chosen(m)) {
        smurf_error why;
        smurf_status broken = SMURF_OK;
        size_t n, first = m->at;
        status = smurf_progress_tell(&m->progress, (double)first, err);
        if (status) break;
        if (m->c.every)
            broken = take_events(m, &n, &why);
        else
            n = take_sequences(m);
        answer_block(m, n);
        status = hand_out(m, n, answer, context, failed, err);
        if (!status && broken) {
            *failed = sequence_at(m, m->at);
            if (err) *err = why;
            status = broken;
        }
    }
    return status;
}

smurf_status smurf_forecast_many(const smurf_model *model, const smurf_data *data, const smurf_question *question,
                                 const smurf_many_config *given, smurf_answer_fn *answer, void *context,
                                 smurf_error *err)
{
    struct many m = {.model = model, .data = data};
    size_t failed = SIZE_MAX;
    m.c = defaults;
    smurf_status status = smurf_sized_take(&m.c, sizeof m.c, given, "smurf_many_config", err);
    if (!status) status = smurf_question_take(&m.q, question, model, err);
    if (!status) status = check(&m, err);
    if (!status) status = make(&m, err);
    if (!status) status = run(&m, answer, context, &failed, err);
    release(&m);
    if (m.c.failed) *m.c.failed = failed;
    return status;
}
