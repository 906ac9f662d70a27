/*
 * choose_gamma.c - see choose_gamma.h. What is compared is the pinball loss of the quantiles that users are shown, over
 * the grid of levels: a large step buys coverage with useless intervals, and one that makes any of them infinite loses.
 * The choice is the largest step within a thousandth of the least loss and below that without adaptation: a larger step
 * keeps its coverage over fewer gaps.
 */
#include "forecast/choose_gamma.h"

#include "data/data.h"
#include "eval/pieces.h"
#include "law/adaptive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double candidate[] = {0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05};
static const double slack = 1e-3;
enum { CANDIDATES = sizeof candidate / sizeof *candidate };

struct states {
    struct adaptive of[CANDIDATES];
};

struct job {
    const struct gamma_search *search;
    struct pieces pieces;
    struct states *begin;       /* (pieces) */
    double (*loss)[CANDIDATES]; /* (pieces) sums */
    atomic_size_t left;
    atomic_bool out_of_memory;
};

static const struct recalibration *map_of(const struct gamma_search *s, size_t sequence, size_t gap)
{
    return s->map ? s->map(s->context, sequence, gap) : NULL;
}

static void restart(struct states *states)
{
    for (size_t c = 0; c < CANDIDATES; c++) smurf_adaptive_init(&states->of[c], candidate[c]);
}

/* Whether levels start anew before gap g. */
static bool is_start(const struct gamma_search *s, size_t sequence, size_t g)
{
    return g == s->offset[sequence] || map_of(s, sequence, g) != map_of(s, sequence, g - 1);
}

static double mapped_pit(const struct gamma_search *s, size_t sequence, size_t g)
{
    const struct recalibration *map = map_of(s, sequence, g);
    return map ? smurf_recalibration_map(map, s->pit[g]) : s->pit[g];
}

static void see(const struct gamma_search *s, struct states *states, size_t sequence, size_t g)
{
    double pit = mapped_pit(s, sequence, g);
    for (size_t c = 0; c < CANDIDATES; c++) smurf_adaptive_see(&states->of[c], pit);
}

/* As score_of in calibrate.c, but a gap counts as below the level that was shown for it. */
double smurf_gamma_score(const struct gamma_search *s, double gamma)
{
    size_t below[ADAPTIVE_LEVELS] = {0}, n = s->offset[s->data->sequences];
    double sum = 0;
    int levels = 0;
    for (size_t q = 0; q < s->data->sequences; q++) {
        struct adaptive now;
        smurf_adaptive_init(&now, gamma);
        for (size_t g = s->offset[q]; g < s->offset[q + 1]; g++) {
            double pit = mapped_pit(s, q, g);
            if (is_start(s, q, g)) smurf_adaptive_init(&now, gamma);
            for (size_t k = 0; k < ADAPTIVE_LEVELS; k++) below[k] += pit <= now.p[k];
            smurf_adaptive_see(&now, pit);
        }
    }
    for (size_t k = 0; k < ADAPTIVE_LEVELS; k++) {
        double miss = (double)below[k] / (double)n - smurf_levels[k];
        if (smurf_levels[k] < 0.495) continue;
        sum += miss * miss;
        levels++;
    }
    return 100 * sqrt(sum / levels);
}

static size_t gap_of(const struct gamma_search *s, const struct piece *piece, size_t event)
{
    return s->offset[piece->sequence] + event - s->data->sequence[piece->sequence].first;
}

/* The states at the beginning of each piece. */
static void follow(struct job *job)
{
    const struct gamma_search *s = job->search;
    struct states now;
    for (size_t k = 0; k < job->pieces.count; k++) {
        const struct piece *piece = &job->pieces.piece[k];
        for (size_t i = piece->from; i < piece->to; i++) {
            size_t g = gap_of(s, piece, i);
            if (is_start(s, piece->sequence, g)) restart(&now);
            if (i == piece->from) job->begin[k] = now;
            see(s, &now, piece->sequence, g);
        }
    }
}

/* The mean over the grid. */
static double pinball(const struct dist *dist, double gap)
{
    double end[ADAPTIVE_LEVELS], sum = 0;
    dist->class->quantile(dist->self, smurf_levels, end, ADAPTIVE_LEVELS);
    for (size_t k = 0; k < ADAPTIVE_LEVELS; k++)
        sum += fmax(smurf_levels[k] * (gap - end[k]), (smurf_levels[k] - 1) * (gap - end[k]));
    return sum / ADAPTIVE_LEVELS;
}

static void measure(struct job *job, const struct predictor *p, void *workspace, size_t k)
{
    const struct gamma_search *s = job->search;
    const struct piece *piece = &job->pieces.piece[k];
    const smurf_sequence *q = &s->data->sequence[piece->sequence];
    struct states now = job->begin[k];
    p->class->read(p->self, workspace, q);
    for (size_t i = piece->from; i < piece->to && !smurf_stop_asked(s->stop); i++) {
        size_t g = gap_of(s, piece, i);
        struct recalibrated recalibrated;
        struct adapted adapted;
        if (is_start(s, piece->sequence, g)) restart(&now);
        struct dist dist = p->class->dist(p->self, workspace, i - 1, 0);
        const struct recalibration *map = map_of(s, piece->sequence, g);
        if (map) dist = smurf_recalibrated(&recalibrated, dist, map);
        for (size_t c = 0; c < CANDIDATES; c++) {
            struct dist shown = smurf_adapted(&adapted, dist, &now.of[c]);
            job->loss[k][c] += pinball(&shown, q->time[i] - q->time[i - 1]);
        }
        see(s, &now, piece->sequence, g);
        atomic_fetch_add_explicit(s->done, 1, memory_order_relaxed);
    }
}

static void measure_all(struct job *job)
{
    const struct gamma_search *s = job->search;
    struct predictor p = smurf_model_predictor(s->model);
    size_t longest = 0;
    for (size_t i = 0; i < s->data->sequences; i++)
        if (s->data->sequence[i].length > longest) longest = s->data->sequence[i].length;
#pragma omp parallel num_threads(s->threads)
    {
        void *workspace = p.class->workspace_new(p.self, longest, s->stop);
        if (!workspace) atomic_store(&job->out_of_memory, true);
#pragma omp for schedule(dynamic) nowait
        for (size_t k = 0; k < job->pieces.count; k++) {
            if (workspace) measure(job, &p, workspace, k);
            atomic_fetch_sub(&job->left, 1);
        }
        smurf_stop_linger(s->stop, &job->left);
        p.class->workspace_free(workspace);
    }
}

static void choose(struct gamma_choice *out, const struct job *job)
{
    const struct gamma_search *s = job->search;
    double sum[CANDIDATES] = {0}, n = (double)s->offset[s->data->sequences];
    size_t best = 0;
    for (size_t k = 0; k < job->pieces.count; k++)
        for (size_t c = 0; c < CANDIDATES; c++) sum[c] += job->loss[k][c];
    for (size_t c = 1; c < CANDIDATES; c++)
        if (sum[c] < sum[best]) best = c;
    for (size_t c = CANDIDATES; best > 0 && --c > best;)
        if (sum[c] <= (1 + slack) * sum[best] && sum[c] < sum[0]) best = c;
    *out = (struct gamma_choice){candidate[best], sum[0] / n, sum[best] / n};
}

smurf_status smurf_gamma_choose(struct gamma_choice *out, const struct gamma_search *search, smurf_error *err)
{
    struct predictor p = smurf_model_predictor(search->model);
    struct job job = {.search = search};
    smurf_status status = smurf_pieces_init(&job.pieces, &p, search->data) ? SMURF_OK : smurf_fail_memory(err);
    if (!status) {
        job.begin = malloc((job.pieces.count + 1) * sizeof *job.begin);
        job.loss = calloc(job.pieces.count + 1, sizeof *job.loss);
        if (!job.begin || !job.loss) status = smurf_fail_memory(err);
    }
    if (!status) {
        atomic_init(&job.left, job.pieces.count);
        follow(&job);
        measure_all(&job);
        if (job.out_of_memory) status = smurf_fail_memory(err);
    }
    if (!status && search->stop->asked) status = smurf_stop_fail(search->stop, err);
    if (!status) choose(out, &job);
    free(job.pieces.piece), free(job.begin), free(job.loss);
    return status;
}
