/* simulate.c - many sequences of a process, on several cores. Sequence i draws from stream i alone and sequences enter
   the data set in order, so the result does not depend on the number of threads. */
#include "simulate/process.h"

#include "base/progress.h"
#include "base/sized.h"
#include "base/threads.h"
#include "data/builder.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <float.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More events in one sequence are treated as a mistake. */
static const size_t event_limit = (size_t)1 << 31;

/* Events between progress reports of a thread. */
enum { STRIDE = 4096 };

/* Sequences per parallel loop, which can stop early but must still iterate over all of them. */
enum { BATCH = 1 << 16 };

/* Shared by the threads. */
struct job {
    const smurf_process *process;
    const smurf_simulate_config *config;
    struct progress progress; /* calling thread only */
    struct builder builder;   /* from here to error: one thread at a time, in the order of the sequences */
    smurf_status status;
    smurf_error error;
    atomic_size_t finished; /* sequences */
    atomic_bool stop;
};

/* State of one thread: the sequence it is simulating. */
struct maker {
    struct job *job;
    struct history *history;
    double *intensity; /* (types) */
    double *time;
    uint32_t *type;
    float *further; /* (length x columns) */
    size_t columns; /* further ones */
    size_t length, time_room, type_room, further_room;
    size_t unreported; /* events since the last report */
    bool caller;       /* runs on the calling thread */
    bool full;         /* ended by max_events */
    bool ended;        /* nothing follows the last event */
};

static const smurf_simulate_config defaults = {.size = sizeof defaults, .sequences = 1};

void smurf_simulate_config_init_sized(smurf_simulate_config *config, size_t size)
{
    smurf_sized_init(config, size, &defaults, sizeof defaults);
}

static smurf_status check(const smurf_process *process, const smurf_simulate_config *config, smurf_error *err)
{
    if (config->sequences == 0) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "sequences is 0: give at least 1");
    if (!isfinite(config->until) || config->until < 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "until is %g: give a finite time above 0, or 0 for none",
                          config->until);
    if (config->until == 0 && config->max_events == 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "a sequence would never end: give until, max_events or both");
    if (config->max_events > event_limit)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "max_events is %zu: give %zu or less", config->max_events,
                          event_limit);
    if (config->threads < 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "threads is %d: give 1 or more, or 0 for all cores",
                          config->threads);
    double expected = 0;
    for (uint32_t k = 0; k < process->types; k++) expected += process->values[k] * config->until;
    if (config->max_events == 0 && expected > (double)event_limit)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "about %.3g events per sequence are expected before time %g, more than %zu: lower until or "
                          "the rates, or set max_events",
                          expected, config->until, event_limit);
    return SMURF_OK;
}

/* ---- One sequence --------------------------------------------------------------------------------- */

static uint32_t draw_type(struct maker *m, struct random *random, double gap)
{
    const smurf_process *process = m->job->process;
    if (process->types == 1) return 0;
    const double *part = process->values + process->share;
    if (process->class->rates) { /* no weights: the types depend on the history */
        process->class->law.types(m->history, &gap, m->intensity, 1);
        part = m->intensity;
    }
    double total = 0;
    for (uint32_t k = 0; k < process->types; k++) total += part[k];
    double u = smurf_random_uniform(random) * total;
    uint32_t chosen = 0;
    for (uint32_t k = 0; k < process->types && u >= 0; k++) {
        if (part[k] > 0) chosen = k;
        u -= part[k];
    }
    return chosen;
}

/* On the calling thread, reports progress; `part` of this sequence is done. */
static smurf_status report(struct maker *m, double part, smurf_error *err)
{
    m->unreported = 0;
    if (!m->caller) return SMURF_OK;
    return smurf_progress_tell(&m->job->progress, (double)atomic_load(&m->job->finished) + part, err);
}

static smurf_status append(struct maker *m, double time, uint32_t type, smurf_error *err)
{
    if (m->length == event_limit)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "a sequence has more than %zu events by time %g: lower until or the rates, or set max_events",
                          event_limit, time);
    if (!smurf_grow(&m->time, &m->time_room, m->length + 1, sizeof *m->time) ||
        !smurf_grow(&m->type, &m->type_room, m->length + 1, sizeof *m->type) ||
        !smurf_grow(&m->further, &m->further_room, (m->length + 1) * m->columns, sizeof *m->further))
        return smurf_fail_memory(err);
    m->time[m->length] = time;
    m->type[m->length++] = type;
    return SMURF_OK;
}

/* The next event, no later than `until`; false if there is none. */
static bool draw_event(struct maker *m, struct random *random, double until, double *time, uint32_t *type)
{
    const struct process_class *class = m->job->process->class;
    double last = m->history->time;
    m->ended = class->never && smurf_random_uniform(random) < class->never(m->history);
    if (m->ended) return false;
    double gap = class->draw(m->history, random, until - last);
    *time = last + gap;
    if (!(*time > last)) *time = nextafter(last, INFINITY); /* the gap is below the resolution of the time */
    if (*time > until) return false;
    *type = draw_type(m, random, gap);
    return true;
}

/* The further columns of the last event. */
static void draw_further(struct maker *m, struct random *random)
{
    if (!m->columns) return;
    m->job->process->class->mark(random, m->history->mark);
    for (size_t i = 0; i < m->columns; i++) m->further[(m->length - 1) * m->columns + i] = (float)m->history->mark[i];
}

/* Simulates sequence i, or part of it if the job is to stop. */
static smurf_status make(struct maker *m, size_t i, smurf_error *err)
{
    const smurf_simulate_config *config = m->job->config;
    double until = config->until > 0 ? config->until : DBL_MAX;
    struct random random;
    smurf_random_init(&random, config->seed, i);
    smurf_history_restart(m->history);
    m->length = 0;
    m->full = m->ended = false;

    while (!atomic_load_explicit(&m->job->stop, memory_order_relaxed)) {
        double time;
        uint32_t type;
        m->full = config->max_events && m->length == config->max_events;
        if (m->full) break;
        if (!draw_event(m, &random, until, &time, &type)) {
            if (config->until > 0 || m->ended) break;
            return smurf_fail(
                err, SMURF_ERROR_ARGUMENT,
                "the time of event %zu of sequence %zu overflows: set until, lower max_events or make the gaps "
                "shorter",
                m->length, i);
        }
        smurf_status status = append(m, time, type, err);
        if (status) return status;
        smurf_history_step(m->history, time, type);
        draw_further(m, &random);
        if (++m->unreported < STRIDE) continue;
        double part = config->until > 0 ? time / until : (double)m->length / (double)config->max_events;
        if ((status = report(m, part, err))) return status;
    }
    return SMURF_OK;
}

/* ---- All sequences -------------------------------------------------------------------------------- */

static bool maker_init(struct maker *m, struct job *job)
{
    *m = (struct maker){.job = job, .caller = true};
#ifdef _OPENMP
    m->caller = omp_get_thread_num() == 0;
#endif
    m->history = smurf_history_new(job->process, false);
    m->columns = smurf_process_columns(job->process);
    m->intensity = malloc(job->process->types * sizeof *m->intensity);
    return m->history && m->intensity;
}

static void maker_release(struct maker *m)
{
    smurf_history_free(m->history);
    free(m->intensity);
    free(m->time);
    free(m->type);
    free(m->further);
}

/* Adds a finished sequence to the data set, or keeps the first failure. Called in order. */
static void deliver(struct maker *m, smurf_status status, const smurf_error *error)
{
    struct job *job = m->job;
    if (job->status) return;
    if (status) job->error = *error;
    if (!status && !atomic_load(&job->stop)) {
        bool known = job->config->until > 0 && !m->full;
        struct sequence_info info = {.end = !known ? NAN : job->config->until, .first = 1};
        status = smurf_builder_events(&job->builder, m->time, m->type, m->length, &job->error);
        if (!status) status = smurf_builder_further(&job->builder, m->further, m->length, &job->error);
        if (!status) status = smurf_builder_close(&job->builder, &info, &job->error);
        atomic_fetch_add(&job->finished, 1);
    }
    job->status = status;
    if (status) atomic_store(&job->stop, true);
}

/* Simulates the sequences from `from` up to `to`, or fewer if the job is to stop. */
static void run(struct job *job, size_t from, size_t to)
{
    int threads = smurf_threads(job->config->threads, job->config->sequences);
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(threads)
    {
        struct maker m;
        bool ready = maker_init(&m, job);
#pragma omp for ordered schedule(dynamic, 1)
        for (size_t i = from; i < to; i++) {
            smurf_error error;
            smurf_status status = ready ? make(&m, i, &error) : smurf_fail_memory(&error);
            if (!status && !atomic_load(&job->stop) && ++m.unreported >= STRIDE) status = report(&m, 0, &error);
            if (status) atomic_store(&job->stop, true);
#pragma omp ordered
            deliver(&m, status, &error);
        }
        maker_release(&m);
    }
}

smurf_status smurf_process_simulate(smurf_data **out, const smurf_process *process, const smurf_simulate_config *given,
                                    smurf_error *err)
{
    *out = NULL;
    smurf_simulate_config config = defaults;
    smurf_status status = smurf_sized_take(&config, sizeof config, given, "smurf_simulate_config", err);
    if (!status) status = check(process, &config, err);
    if (status) return status;
    char what[64];
    snprintf(what, sizeof what, "simulating %s", process->class->name);
    struct job job = {
        .process = process,
        .config = &config,
        .progress = {config.progress,
                     config.progress_context,
                     {.what = what, .unit = "sequences", .total = (double)config.sequences}},
        .builder = {.name = process->class->name,
                    .unit = process->class->calendar ? "s" : "",
                    .calendar = process->class->calendar,
                    .declared = process->types},
    };
    status = smurf_process_further(process, &job.builder.further, err);
    if (!status) status = smurf_progress_tell(&job.progress, 0, err);
    for (size_t from = 0; from < config.sequences && !status; from += BATCH) {
        run(&job, from, config.sequences - from < BATCH ? config.sequences : from + BATCH);
        status = job.status;
        if (status && err) *err = job.error;
    }
    if (!status) status = smurf_progress_tell(&job.progress, (double)config.sequences, err);
    if (!status) status = smurf_builder_finish(&job.builder, out, err);
    smurf_builder_release(&job.builder);
    return status;
}
