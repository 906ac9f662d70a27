/* history.c - the state of a sequence, and the law of its next gap. */
#include "simulate/process.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct history *smurf_history_new(const smurf_process *process, bool own)
{
    struct history *history = malloc(sizeof *history + process->types * sizeof *history->trace);
    if (!history) return NULL;
    *history = (struct history){.process = process};
    smurf_history_restart(history);
    if (!own) return history;
    size_t size = sizeof *process + process->count * sizeof *process->values;
    history->owned = malloc(size);
    if (!history->owned) {
        free(history);
        return NULL;
    }
    history->process = memcpy(history->owned, process, size);
    return history;
}

void smurf_history_free(struct history *history)
{
    if (!history) return;
    smurf_process_free(history->owned);
    free(history);
}

void smurf_history_restart(struct history *history)
{
    history->time = history->count = 0;
    for (size_t i = 0; i < MARKS; i++) history->mark[i] = 0;
    for (uint32_t k = 0; k < history->process->types; k++) history->trace[k] = 0;
}

void smurf_history_step(struct history *history, double time, uint32_t type)
{
    if (history->process->class->step) history->process->class->step(history, time - history->time, type);
    history->time = time;
    history->count++;
}

void smurf_history_read(struct history *history, const smurf_sequence *s, size_t i)
{
    smurf_history_step(history, (double)s->origin + s->time[i], s->type[i]);
    if (!s->further || s->columns != smurf_process_columns(history->process)) return;
    for (size_t k = 0; k < s->columns; k++) history->mark[k] = (double)s->further[i * s->columns + k];
}

void smurf_history_types(const void *self, const double *gap, double *out, size_t n)
{
    const struct history *history = self;
    const smurf_process *process = history->process;
    for (size_t i = 0; i < n; i++) {
        double lambda, *row = out + i * process->types;
        process->class->law.intensity(self, &gap[i], &lambda, 1);
        for (uint32_t k = 0; k < process->types; k++) row[k] = lambda * process->values[process->share + k];
    }
}

/* ---- The law as a public handle ------------------------------------------------------------------ */

static void advance(void *state, double gap, uint32_t type)
{
    struct history *history = state;
    smurf_history_step(history, history->time + gap, type);
    for (size_t i = 0; i < MARKS; i++) history->mark[i] = 0; /* not known */
}

static void destroy(void *state)
{
    smurf_history_free(state);
}

static smurf_status replay(struct history *history, const smurf_sequence *sequence, size_t seen, smurf_error *err)
{
    if (!((double)sequence->origin + sequence->start == 0))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the law of a process needs the whole history from time 0, but observation of this sequence "
                          "starts %s (use the sequence before it was cut)",
                          isnan(sequence->start) ? "at an unknown time" : "elsewhere");
    if (sequence->columns < smurf_process_columns(history->process))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the law of process '%s' depends on further columns, which the sequence does not have",
                          history->process->class->name);
    for (size_t i = 0; i < seen; i++) {
        double time = (double)sequence->origin + sequence->time[i];
        if (!isfinite(time) || time < history->time)
            return smurf_fail(
                err, SMURF_ERROR_ARGUMENT,
                "event %zu is at time %g, after one at %g: times must start at 0 or later and not decrease", i, time,
                history->time);
        if (sequence->type[i] >= history->process->types)
            return smurf_fail(err, SMURF_ERROR_ARGUMENT, "event %zu is of type %u, but the process has %u types", i,
                              (unsigned)sequence->type[i], (unsigned)history->process->types);
        smurf_history_read(history, sequence, i);
    }
    return SMURF_OK;
}

smurf_status smurf_process_law(smurf_law **out, const smurf_process *process, const smurf_sequence *sequence,
                               size_t seen, smurf_error *err)
{
    *out = NULL;
    if (seen > sequence->length)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the sequence has %zu events: cannot use the first %zu",
                          sequence->length, seen);
    smurf_law *law = malloc(sizeof *law);
    struct history *history = smurf_history_new(process, true);
    if (!law || !history) {
        free(law);
        smurf_history_free(history);
        return smurf_fail_memory(err);
    }
    *law = (smurf_law){
        .law = {&history->process->class->law, history, process->types, 0, INFINITY},
        .state = history,
        .advance = advance,
        .destroy = destroy,
    };
    smurf_status status = replay(history, sequence, seen, err);
    if (status)
        smurf_law_free(law);
    else
        *out = law;
    return status;
}
