/*
 * evaluate_walk.c - the calibration score of Langevin draws after every k-th step of one walk.
 *
 * Coverage is counted as in evaluations: gap < quantile of the sorted draws. Counts are integers, so the result does not
 * depend on the number of threads.
 */
#include "forecast/evaluate.h"

#include "base/error.h"
#include "base/sort.h"
#include "base/threads.h"
#include "data/data.h"
#include "eval/metrics.h"
#include "eval/pieces.h"
#include "forecast/model_predictor.h"
#include "law/wrap.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWS_USUAL = 100 };

struct scored_walk {
    const smurf_model *model;
    const smurf_data *data;
    const struct sampler_class *sampler;
    struct sampler_config config;
    size_t draws, looks;
    size_t *first;      /* (sequences) number of each one's first gap */
    uint64_t *covered;  /* (looks x SMURF_LEVELS) */
    struct stop *stop;
    atomic_size_t *done; /* gaps */
    bool failed;
};

/* Adds one gap to covered. drawn (looks x draws), in the order of the walk. */
static void count(const struct scored_walk *w, const smurf_scale *scale, double gap, double *drawn, uint64_t *covered)
{
    double quantile[SMURF_LEVELS];
    for (size_t k = 0; k < w->looks; k++, drawn += w->draws, covered += SMURF_LEVELS) {
        for (size_t i = 0; i < w->draws; i++) drawn[i] = smurf_scale_backward(scale, drawn[i]);
        smurf_sort(drawn, w->draws);
        struct empirical empirical;
        struct dist dist = smurf_empirical(&empirical, drawn, w->draws);
        dist.class->quantile(dist.self, smurf_levels, quantile, SMURF_LEVELS);
        for (size_t l = 0; l < SMURF_LEVELS; l++) covered[l] += gap < quantile[l];
    }
}

static bool score_piece(const struct scored_walk *w, const struct predictor *p, void *workspace,
                        const struct piece *piece, double *drawn, uint64_t *covered)
{
    const smurf_sequence *q = &w->data->sequence[piece->sequence];
    p->class->read(p->self, workspace, q);
    for (size_t i = piece->from; i < piece->to && !smurf_stop_asked(w->stop); i++) {
        const smurf_scale *scale;
        struct law law = p->class->law(p->self, workspace, i - 1, &scale);
        uint64_t stream = w->first[piece->sequence] + i - q->first;
        if (!w->sampler->draw(&law, &w->config, stream, drawn, w->draws)) return false;
        count(w, scale, q->time[i] - q->time[i - 1], drawn, covered);
        atomic_fetch_add_explicit(w->done, 1, memory_order_relaxed);
    }
    return true;
}

/* The work of one thread. */
static void score_pieces(struct scored_walk *w, const struct predictor *p, const struct pieces *pieces, size_t longest,
                         atomic_size_t *left)
{
    size_t n = w->looks * SMURF_LEVELS;
    void *workspace = p->class->workspace_new(p->self, longest, w->stop);
    double *drawn = malloc(w->looks * w->draws * sizeof *drawn);
    uint64_t *covered = calloc(n, sizeof *covered);
    bool good = workspace && drawn && covered;
#pragma omp for schedule(dynamic) nowait
    for (size_t k = 0; k < pieces->count; k++) {
        good = good && score_piece(w, p, workspace, &pieces->piece[k], drawn, covered);
        atomic_fetch_sub(left, 1);
    }
    smurf_stop_linger(w->stop, left);
#pragma omp critical(smurf_scored_walk)
    {
        w->failed = w->failed || !good;
        for (size_t i = 0; covered && i < n; i++) w->covered[i] += covered[i];
    }
    free(covered);
    free(drawn);
    p->class->workspace_free(workspace);
}

static smurf_status score(struct scored_walk *w, int threads, smurf_error *err)
{
    struct predictor p = smurf_model_predictor(w->model);
    struct pieces pieces;
    size_t longest = 0, gaps = 0;
    for (size_t s = 0; s < w->data->sequences; s++) {
        const smurf_sequence *q = &w->data->sequence[s];
        w->first[s] = gaps;
        gaps += q->first < q->length ? q->length - q->first : 0;
        if (q->length > longest) longest = q->length;
    }
    if (!smurf_pieces_init(&pieces, &p, w->data)) return smurf_fail_memory(err);
    atomic_size_t left = pieces.count;
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(smurf_threads(threads, pieces.count))
    score_pieces(w, &p, &pieces, longest, &left);
    free(pieces.piece);
    if (w->failed) return smurf_fail_memory(err);
    return w->stop->asked ? smurf_stop_fail(w->stop, err) : SMURF_OK;
}

/* The calibration score of each look. */
static void finish(const struct scored_walk *w, double *cs)
{
    for (size_t k = 0; k < w->looks; k++) {
        double tally[TALLY_SLOTS] = {[TALLY_N] = (double)smurf_data_gaps(w->data)};
        smurf_metrics metrics;
        for (size_t l = 0; l < SMURF_LEVELS; l++)
            tally[TALLY_COVERED + l] = (double)w->covered[k * SMURF_LEVELS + l];
        smurf_tally_metrics(&metrics, tally, smurf_levels, 0);
        cs[k] = metrics.cs;
    }
}

static smurf_status check(const struct scored_walk *w, size_t n, smurf_error *err)
{
    if (!w->sampler->draw)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the sampler '%s' takes no steps", w->sampler->name);
    if (w->config.every == 0 || w->looks == 0 || w->looks != n)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "a walk of %zu steps looked at after every %zu gives %zu scores, not %zu", w->config.steps,
                          w->config.every, w->looks, n);
    if (smurf_data_gaps(w->data) == 0)
        return smurf_fail(err, SMURF_ERROR_INPUT, "'%s' has no gaps to score: it needs sequences of two events or more",
                          w->data->source);
    return SMURF_OK;
}

smurf_status smurf_evaluate_walk(const smurf_model *model, const smurf_data *data, const smurf_eval_config *config,
                                 size_t every, double *cs, size_t n, smurf_error *err)
{
    smurf_eval_config c;
    struct scored_walk w = {.model = model, .data = data};
    atomic_size_t done = 0;
    struct stop stop;
    smurf_status status = smurf_eval_config_take(&c, &w.sampler, config, err);
    if (!status) status = smurf_evaluate_check(model, data, err);
    if (!status && w.sampler->draw) status = smurf_sampler_config_of(&w.config, w.sampler, model, &c, err);
    if (status) return status;
    w.config.every = every;
    w.draws = c.draws ? c.draws : DRAWS_USUAL;
    w.looks = every ? w.config.steps / every : 0;
    status = check(&w, n, err);
    if (status) return status;
    struct progress progress = {c.progress,
                                c.progress_context,
                                {.what = "drawing", .unit = "gaps", .total = (double)smurf_data_gaps(data)}};
    smurf_stop_init(&stop, &progress);
    stop.done = &done;
    w.stop = &stop;
    w.done = &done;
    w.first = malloc(data->sequences * sizeof *w.first);
    w.covered = calloc(n * SMURF_LEVELS, sizeof *w.covered);
    status = w.first && w.covered ? score(&w, c.threads, err) : smurf_fail_memory(err);
    if (!status) finish(&w, cs);
    free(w.first);
    free(w.covered);
    return status;
}
