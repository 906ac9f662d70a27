/* adaptation.c - see adaptation.h. */
#include "eval/adaptation.h"

#include "base/error.h"
#include "base/threads.h"
#include "eval/pieces.h"

#include <math.h>
#include <stdlib.h>

/* Gaps between the states that are kept. */
enum { STEP = 1024 };

size_t smurf_adaptation_begin(size_t first)
{
    return first > ADAPTATION_PAST ? first - ADAPTATION_PAST : 1;
}

void smurf_adaptation_release(struct adaptation *a)
{
    free(a->begin), free(a->pit_at), free(a->kept_at);
    free(a->pit), free(a->share), free(a->kept);
    *a = (struct adaptation){0};
}

/* ---- Room -------------------------------------------------------------------------------------------- */

static smurf_status make(struct adaptation *a, const smurf_data *data, bool shares, smurf_error *err)
{
    size_t n = data->sequences, gaps = 0, states = 0;
    *a = (struct adaptation){.data = data, .shares = shares};
    a->begin = malloc((n + 1) * sizeof *a->begin);
    a->pit_at = malloc((n + 1) * sizeof *a->pit_at);
    a->kept_at = malloc((n + 1) * sizeof *a->kept_at);
    if (!a->begin || !a->pit_at || !a->kept_at) return smurf_fail_memory(err);
    for (size_t s = 0; s < n; s++) {
        const smurf_sequence *q = &data->sequence[s];
        bool scored = q->first < q->length;
        a->begin[s] = scored ? smurf_adaptation_begin(q->first) : q->length;
        a->pit_at[s] = gaps;
        a->kept_at[s] = states;
        gaps += q->length - a->begin[s];
        states += (q->length - a->begin[s]) / STEP + 1; /* the last may be that after the last event */
    }
    a->pit_at[n] = gaps;
    a->kept_at[n] = states;
    a->pit = malloc((gaps + 1) * sizeof *a->pit);
    a->kept = malloc((states + 1) * sizeof *a->kept);
    if (shares) a->share = malloc((gaps + 1) * sizeof *a->share);
    return a->pit && a->kept && (a->share || !shares) ? SMURF_OK : smurf_fail_memory(err);
}

/* ---- PITs, on several threads ------------------------------------------------------------------------ */

struct job {
    struct adaptation *out;
    const struct predictor *predictor;
    double tick;
    struct pieces pieces;
    struct stop stop;
    atomic_size_t done, left; /* gaps, pieces */
    atomic_bool out_of_memory;
};

static void measure(struct job *job, void *workspace, const struct piece *piece)
{
    const struct predictor *p = job->predictor;
    const struct adaptation *a = job->out;
    const smurf_sequence *q = &a->data->sequence[piece->sequence];
    p->class->read(p->self, workspace, q);
    for (size_t i = piece->from; i < piece->to && !smurf_stop_asked(&job->stop); i++) {
        struct dist dist = p->class->dist(p->self, workspace, i - 1, 0);
        size_t g = a->pit_at[piece->sequence] + i - a->begin[piece->sequence];
        double gap = q->time[i] - q->time[i - 1];
        a->pit[g] = smurf_adaptive_pit(&dist, gap, job->tick, q->before + i);
        if (a->shares) p->class->shares(p->self, workspace, i - 1, gap, q->type[i], a->share[g]);
        atomic_fetch_add_explicit(&job->done, 1, memory_order_relaxed);
    }
}

static void measure_all(struct job *job, int threads)
{
    const struct predictor *p = job->predictor;
    size_t longest = 0;
    for (size_t s = 0; s < job->out->data->sequences; s++)
        if (job->out->data->sequence[s].length > longest) longest = job->out->data->sequence[s].length;
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(threads)
    {
        void *workspace = p->class->workspace_new(p->self, longest, &job->stop);
        if (!workspace) atomic_store(&job->out_of_memory, true);
#pragma omp for schedule(dynamic) nowait
        for (size_t k = 0; k < job->pieces.count; k++) {
            if (workspace) measure(job, workspace, &job->pieces.piece[k]);
            atomic_fetch_sub(&job->left, 1);
        }
        smurf_stop_linger(&job->stop, &job->left);
        p->class->workspace_free(workspace);
    }
}

/* The pieces of the gaps that are seen: those of the data, scored from where adaptation begins. */
static bool divide(struct pieces *pieces, const struct adaptation *a, const struct predictor *p)
{
    smurf_data seen = *a->data;
    smurf_sequence *sequence = malloc((seen.sequences + 1) * sizeof *sequence);
    if (!sequence) return false;
    for (size_t s = 0; s < seen.sequences; s++) {
        sequence[s] = seen.sequence[s];
        sequence[s].first = a->begin[s];
    }
    seen.sequence = sequence;
    bool ok = smurf_pieces_init(pieces, p, &seen);
    free(sequence);
    return ok;
}

/* ---- States ------------------------------------------------------------------------------------------ */

bool smurf_followed_moves(const struct followed *state)
{
    return state->levels.gamma > 0 || state->types.rate > 0;
}

static void see(struct followed *state, const struct adaptation *a, size_t gap)
{
    smurf_adaptive_see(&state->levels, a->pit[gap]);
    if (a->shares) smurf_blend_see(&state->types, a->share[gap]);
}

static void follow(struct adaptation *a, const struct followed *start)
{
    for (size_t s = 0; s < a->data->sequences; s++) {
        struct followed state = *start;
        for (size_t i = 0, n = a->pit_at[s + 1] - a->pit_at[s]; i <= n; i++) {
            if (i % STEP == 0) a->kept[a->kept_at[s] + i / STEP] = state;
            if (i < n) see(&state, a, a->pit_at[s] + i);
        }
    }
}

smurf_status smurf_adaptation_init(struct adaptation *out, const struct predictor *p, const smurf_data *data,
                                   const struct followed *start, double tick, int threads,
                                   const struct progress *progress, smurf_error *err)
{
    smurf_status status = make(out, data, start->types.rate > 0 && p->class->shares, err);
    if (status) return status;
    struct job job = {.out = out, .predictor = p, .tick = tick};
    struct progress own = *progress;
    own.state = (smurf_progress){.what = "adapting", .unit = "gaps", .total = (double)out->pit_at[data->sequences]};
    smurf_stop_init(&job.stop, &own);
    job.stop.done = &job.done;
    if (!divide(&job.pieces, out, p)) return smurf_fail_memory(err);
    atomic_init(&job.left, job.pieces.count);
    measure_all(&job, smurf_threads(threads, job.pieces.count));
    free(job.pieces.piece);
    if (job.out_of_memory) return smurf_fail_memory(err);
    if (job.stop.asked) return smurf_stop_fail(&job.stop, err);
    follow(out, start);
    return SMURF_OK;
}

const struct followed *smurf_adaptation_at(struct adaptation_cursor *c, const struct adaptation *a, size_t sequence,
                                           size_t event)
{
    size_t gap = event - a->begin[sequence], kept = gap / STEP * STEP;
    bool behind = c->of == a && c->sequence == sequence && c->event <= event;
    if (!behind || c->event < a->begin[sequence] + kept) {
        *c = (struct adaptation_cursor){a, sequence, a->begin[sequence] + kept,
                                        a->kept[a->kept_at[sequence] + gap / STEP]};
    }
    for (; c->event < event; c->event++) see(&c->state, a, a->pit_at[sequence] + c->event - a->begin[sequence]);
    return &c->state;
}
