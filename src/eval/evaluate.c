/* evaluate.c - see evaluate.h. Pieces of sequences are assigned to threads dynamically. Results of gap i go to element
   i, and all sums are computed afterwards in order, so the result does not depend on the number of threads. */
#include "eval/evaluate.h"

#include "base/error.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/threads.h"
#include "data/data.h"
#include "data/sum.h"
#include "eval/bootstrap.h"
#include "eval/ends.h"
#include "eval/measure.h"
#include "eval/metrics.h"
#include "eval/pieces.h"
#include "eval/when.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Gaps between progress reports of the calling thread. */
enum { STRIDE = 64 };

/* ---- Arrays -------------------------------------------------------------------------------------- */

/* Allocates n times `each` elements; NULL, and *ok false, if out of memory. */
static void *room(size_t n, size_t each, bool *ok)
{
    void *out = calloc(n, each);
    if (!out) *ok = false;
    return out;
}

static bool row_init(struct row_values *row, const char *name, size_t n, bool brief)
{
    bool ok = true;
    row->name = name;
    row->pit = room(n, sizeof *row->pit, &ok);
    if (brief) return ok;
    row->crps = room(n, sizeof *row->crps, &ok);
    row->quantile = room(n * SMURF_LEVELS, sizeof *row->quantile, &ok);
    row->mass = room(2 * n, sizeof *row->mass, &ok);
    return ok;
}

static bool row_add_types(struct row_values *row, size_t n)
{
    bool ok = true;
    row->top = room(n, sizeof *row->top, &ok);
    row->top_at = room(n, sizeof *row->top_at, &ok);
    row->top_share = room(n, sizeof *row->top_share, &ok);
    row->true_share = room(n, sizeof *row->true_share, &ok);
    row->brier = room(n, sizeof *row->brier, &ok);
    return ok;
}

/* Allocates the arrays of the rows to be measured. */
static bool rows_init(struct evaluation *e, const struct evaluation_plan *plan)
{
    static const char *const usual[ROWS] = {"smurf",  "smurf, raw", "smurf, draws", "marginal",
                                            "recent", "same hour",  "last 100",     "smurf, fixed"};
    const struct predictor_class *model = plan->model.class;
    const bool wanted[ROWS] = {model,
                               model && plan->has_map,
                               model && plan->draws > 0,
                               plan->marginal,
                               plan->recent,
                               plan->same_hour,
                               plan->last,
                               model && plan->gamma > 0 && !plan->brief};
    bool types = model && model->types && plan->model.types > 0, ok = true;
    for (int r = 0; r < ROWS && ok; r++) {
        struct row_values *row = &e->row[r];
        if (!wanted[r]) continue;
        ok = row_init(row, plan->name[r] ? plan->name[r] : usual[r], e->n, plan->brief);
        if (r == ROW_MODEL && types) ok = row_add_types(row, e->n) && ok;
        if (r == ROW_SAMPLED && types) row->top_draws = room(e->n, sizeof *row->top_draws, &ok);
        if (r != ROW_SAMPLED) row->log_density = room(e->n, sizeof *row->log_density, &ok);
        if (plan->spread || (r != ROW_MODEL && r != ROW_RAW && r != ROW_FIXED))
            row->spread = room(e->n, sizeof *row->spread, &ok);
    }
    return ok;
}

static void row_release(struct row_values *row)
{
    free(row->pit);
    free(row->crps);
    free(row->log_density);
    free(row->spread);
    free(row->quantile);
    free(row->mass);
    free(row->top);
    free(row->top_draws);
    free(row->top_at);
    free(row->top_share);
    free(row->true_share);
    free(row->brier);
}

void smurf_evaluation_release(struct evaluation *e)
{
    for (int r = 0; r < ROWS; r++) row_release(&e->row[r]);
    free(e->gap);
    free(e->type);
    free(e->sequence);
    free(e->markov_right);
    free(e->began);
    free(e->recency_right);
    free(e->end_after);
    smurf_arena_release(&e->text);
    *e = (struct evaluation){0};
}

static smurf_status check(const struct evaluation_plan *plan, smurf_error *err)
{
    if (smurf_data_gaps(plan->test) == 0)
        return smurf_fail(err, SMURF_ERROR_INPUT, "'%s' has no gaps to score: it needs sequences of two events or more",
                          plan->test->source);
    if (!(plan->tick >= 0) || !isfinite(plan->tick))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the tick is %g: give a finite step of time, or 0 for none",
                          plan->tick);
    if (plan->threads < 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "threads is %d: give 1 or more, or 0 for all cores",
                          plan->threads);
    if (plan->examples > EXAMPLES_MOST)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "examples is %zu: give at most %d", plan->examples, EXAMPLES_MOST);
    return SMURF_OK;
}

/* Copies the names of the types, so that the data may be freed before the evaluation. */
static bool copy_names(struct evaluation *e, const smurf_data *test)
{
    if (!test->type_name) return true;
    e->type_name = smurf_arena_alloc(&e->text, test->types * sizeof *e->type_name);
    bool ok = e->type_name != NULL;
    for (uint32_t k = 0; k < test->types && ok; k++)
        ok = (e->type_name[k] = smurf_arena_text(&e->text, test->type_name[k], strlen(test->type_name[k])));
    return ok;
}

static bool ends_are_known(const struct evaluation_plan *plan)
{
    const smurf_data *test = plan->test;
    bool any = false;
    for (size_t s = 0; s < test->sequences && !any; s++) any = !isnan(test->sequence[s].end);
    return any && plan->model.class && plan->model.class->never && !plan->brief;
}

static smurf_status begin(struct evaluation *e, const struct evaluation_plan *plan, smurf_error *err)
{
    const smurf_data *test = plan->test;
    *e = (struct evaluation){.n = smurf_data_gaps(test),
                             .types = test->types,
                             .known = plan->known,
                             .mean_gap = plan->mean_gap,
                             .tick = plan->tick,
                             .acc_markov = NAN,
                             .acc_recency = NAN,
                             .bootstrap = plan->bootstrap,
                             .n_dev = plan->has_map ? plan->n_dev : 0};
    for (int r = 0; r < ROWS; r++) {
        smurf_metrics_clear(&e->row[r].metrics);
        smurf_metrics_clear(&e->row[r].low);
        smurf_metrics_clear(&e->row[r].high);
    }
    for (size_t s = 0; s < test->sequences; s++) e->sequences += test->sequence[s].first < test->sequence[s].length;
    snprintf(e->unit, sizeof e->unit, "%s", test->unit);
    snprintf(e->data_about, sizeof e->data_about, "%s: %zu sequence%s, %zu gaps", test->source, e->sequences,
             e->sequences == 1 ? "" : "s", e->n);
    bool ok = rows_init(e, plan);
    e->gap = room(e->n, sizeof *e->gap, &ok);
    e->type = room(e->n, sizeof *e->type, &ok);
    e->sequence = room(e->n, sizeof *e->sequence, &ok);
    if (plan->markov) e->markov_right = room(e->n, sizeof *e->markov_right, &ok);
    if (plan->recency) e->recency_right = room(e->n, sizeof *e->recency_right, &ok);
    if (ends_are_known(plan)) e->end_after = room(e->n, sizeof *e->end_after, &ok);
    ok = copy_names(e, test) && ok;
    if (ok) return SMURF_OK;
    smurf_evaluation_release(e);
    return smurf_fail_memory(err);
}

/* ---- Measuring ----------------------------------------------------------------------------------- */

/* Shared by the threads. */
struct job {
    const struct evaluation_plan *plan;
    struct evaluation *out;
    const size_t *start; /* (sequences) index of each one's first gap */
    const struct adaptation *adaptation;
    struct pieces pieces;
    struct progress progress; /* calling thread only */
    smurf_status status;      /* likewise */
    smurf_error error;
    atomic_size_t finished; /* gaps */
    atomic_size_t left;     /* pieces */
    struct stop asked;      /* set by the callback, polled in long computations */
    atomic_bool stop, out_of_memory;
};

static bool stopped(struct job *job)
{
    return atomic_load_explicit(&job->stop, memory_order_relaxed) || smurf_stop_asked(&job->asked);
}

static bool on_calling_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num() == 0;
#else
    return true;
#endif
}

/* Reports n more gaps. */
static void report(struct job *job, size_t n)
{
    size_t done = atomic_fetch_add(&job->finished, n) + n;
    if (!on_calling_thread() || job->status) return;
    job->status = smurf_progress_tell(&job->progress, (double)done, &job->error);
    if (job->status) atomic_store(&job->stop, true);
}

static void run_out(struct job *job)
{
    atomic_store(&job->out_of_memory, true);
    atomic_store(&job->stop, true);
}

static void measure_piece(struct job *job, struct measurer *m, const struct piece *piece)
{
    const smurf_sequence *s = &job->plan->test->sequence[piece->sequence];
    if (m->sequence != s) smurf_measurer_read(m, s);
    size_t unreported = 0;
    for (size_t event = piece->from; event < piece->to; event++) {
        if (stopped(job)) return;
        size_t i = job->start[piece->sequence] + event - s->first;
        job->out->sequence[i] = (uint32_t)piece->sequence;
        smurf_measurer_gap(m, job->out, i, event);
        if (m->no_memory) {
            run_out(job);
            return;
        }
        if (++unreported < STRIDE) continue;
        report(job, unreported);
        unreported = 0;
    }
    report(job, unreported);
}

static size_t longest(const smurf_data *data)
{
    size_t most = 0;
    for (size_t s = 0; s < data->sequences; s++)
        if (data->sequence[s].length > most) most = data->sequence[s].length;
    return most;
}

static void measure_all(struct job *job)
{
    const smurf_data *test = job->plan->test;
    size_t most = longest(test);
    int threads = smurf_threads(job->plan->threads, job->pieces.count);
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(threads)
    {
        struct measurer m;
        bool ready = smurf_measurer_init(&m, job->plan, job->adaptation, most, &job->asked);
        if (!ready) run_out(job);
#pragma omp for schedule(dynamic, 1) nowait
        for (size_t k = 0; k < job->pieces.count; k++) {
            if (!atomic_load(&job->stop)) measure_piece(job, &m, &job->pieces.piece[k]);
            atomic_fetch_sub(&job->left, 1);
        }
        smurf_stop_linger(&job->asked, &job->left);
        smurf_measurer_release(&m);
    }
}

static smurf_status measure(struct evaluation *e, const struct evaluation_plan *plan,
                            const struct adaptation *adaptation, smurf_error *err)
{
    const smurf_data *test = plan->test;
    size_t *start = malloc(test->sequences * sizeof *start), n = 0;
    if (!start) return smurf_fail_memory(err);
    for (size_t s = 0; s < test->sequences; s++) {
        const smurf_sequence *sequence = &test->sequence[s];
        start[s] = n;
        n += sequence->first < sequence->length ? sequence->length - sequence->first : 0;
    }
    struct job job = {.plan = plan,
                      .out = e,
                      .start = start,
                      .adaptation = adaptation,
                      .progress = {plan->progress,
                                   plan->progress_context,
                                   {.what = "evaluating", .unit = "gaps", .total = (double)e->n}}};
    smurf_status status = smurf_progress_tell(&job.progress, 0, err);
    smurf_stop_init(&job.asked, &job.progress);
    job.asked.done = &job.finished;
    if (!status && !smurf_pieces_init(&job.pieces, &plan->model, test)) status = smurf_fail_memory(err);
    atomic_init(&job.left, job.pieces.count);
    if (!status) {
        measure_all(&job);
        if (!job.status && job.asked.asked) job.status = smurf_stop_fail(&job.asked, &job.error);
        status = job.status;
        if (status && err) *err = job.error;
    }
    if (!status && job.out_of_memory) status = smurf_fail_memory(err);
    if (!status) status = smurf_progress_tell(&job.progress, (double)e->n, err);
    free(job.pieces.piece);
    free(start);
    return status;
}

/* ---- Summary ------------------------------------------------------------------------------------- */

/* In %; NaN without values. */
static double accuracy(const struct evaluation *e, const double *right)
{
    struct sum sum = {0};
    size_t typed = 0;
    if (!right) return NAN;
    for (size_t i = 0; i < e->n; i++) {
        if (!evaluation_is_typed(e, i)) continue;
        smurf_sum_add(&sum, right[i]);
        typed++;
    }
    return 100 * smurf_sum_value(&sum) / (double)typed;
}

static smurf_status summarise(struct evaluation *e, const struct evaluation_plan *plan, smurf_error *err)
{
    struct progress progress = {
        plan->progress, plan->progress_context, {"resampling", "gaps", (double)e->n, (double)e->n}};
    struct stop stop;
    smurf_status status = SMURF_OK;
    smurf_stop_init(&stop, &progress);
    for (int r = 0; r < ROWS && !status; r++) {
        struct row_values *row = &e->row[r];
        size_t n_dev = (r == ROW_MODEL || r == ROW_FIXED) && plan->has_map ? plan->n_dev : 0;
        if (!row->name) continue;
        status = smurf_metrics_of_row(&row->metrics, e, row, n_dev, err);
        smurf_coverage_of_row(&row->coverage, e, row);
        if (!status)
            status = smurf_bootstrap_row(row, e, plan->bootstrap, n_dev, plan->seed,
                                         smurf_threads(plan->threads, plan->bootstrap), &stop, err);
    }
    if (!status) status = smurf_bootstrap_advantage(&e->advantage, e, plan->seed, err);
    e->acc_markov = accuracy(e, e->markov_right);
    e->acc_recency = accuracy(e, e->recency_right);
    return status;
}

/* After events that another followed, forecasts are there; those after the last ones come now. */
static smurf_status measure_ends(struct evaluation *e, const struct evaluation_plan *plan,
                                 const struct adaptation *adaptation, smurf_error *err)
{
    size_t count = plan->test->sequences;
    if (!e->end_after) return SMURF_OK;
    double *last = malloc(count * sizeof *last);
    smurf_status status = last ? smurf_ends_measure(last, plan, adaptation, err) : smurf_fail_memory(err);
    if (!status) status = smurf_ends_fill(&e->ends, e->end_after, e->n, last, count, err);
    free(last);
    return status;
}

/* The event that ends gap i. */
static size_t event_of(const struct evaluation *e, const smurf_sequence *s, size_t i)
{
    size_t start = i;
    while (start > 0 && e->sequence[start - 1] == e->sequence[i]) start--;
    return s->first + i - start;
}

/* Examples spread over the data: one random gap from each of as many equal parts. */
static smurf_status draw_examples(struct evaluation *e, const struct evaluation_plan *plan,
                                  const struct adaptation *adaptation, smurf_error *err)
{
    size_t count = plan->examples < e->n ? plan->examples : e->n;
    if (count == 0 || !plan->model.class) return SMURF_OK;
    struct measurer m;
    struct random random;
    bool ready = smurf_measurer_init(&m, plan, adaptation, longest(plan->test), NULL);
    smurf_random_init(&random, plan->seed, measure_stream(STREAM_EXAMPLES, 0));
    for (size_t x = 0; x < count && ready; x++) {
        struct example *out = &e->example[e->examples++];
        size_t from = x * e->n / count, to = (x + 1) * e->n / count;
        size_t i = from + (size_t)smurf_random_below(&random, to - from), index = e->sequence[i];
        const smurf_sequence *s = &plan->test->sequence[index];
        size_t event = event_of(e, s, i);
        if (s->name)
            snprintf(out->title, sizeof out->title, "%.64s, event %zu", s->name, event + 1);
        else
            snprintf(out->title, sizeof out->title, "sequence %zu, event %zu", index + 1, event + 1);
        smurf_measurer_read(&m, s);
        smurf_measurer_example(&m, out, event);
    }
    smurf_measurer_release(&m);
    return ready ? SMURF_OK : smurf_fail_memory(err);
}

smurf_status smurf_evaluation_run(struct evaluation *out, const struct evaluation_plan *plan, smurf_error *err)
{
    struct adaptation room = {0};
    struct followed start = {.types = plan->blend};
    smurf_adaptive_init(&start.levels, plan->gamma);
    const struct adaptation *adaptation = plan->model.class && smurf_followed_moves(&start) ? &room : NULL;
    const struct progress progress = {.report = plan->progress, .context = plan->progress_context};
    *out = (struct evaluation){0};
    smurf_status status = check(plan, err);
    if (!status) status = begin(out, plan, err);
    if (status) return status;
    if (adaptation)
        status =
            smurf_adaptation_init(&room, &plan->model, plan->test, &start, plan->tick, plan->threads, &progress, err);
    if (!status) status = measure(out, plan, adaptation, err);
    if (!status) status = summarise(out, plan, err);
    if (!status) status = measure_ends(out, plan, adaptation, err);
    if (!status) status = draw_examples(out, plan, adaptation, err);
    if (!status && !plan->brief) status = smurf_when_fill(out, plan->test, err);
    smurf_adaptation_release(&room);
    if (status) smurf_evaluation_release(out);
    return status;
}
