/*
 * pool_fit.c - scores of the model, of naive laws and of their equal pools on gaps that training has not seen, from
 * which pool_choose.c chooses. Of very many gaps, evenly spaced ones are scored.
 */
#include "forecast/pool_fit.h"

#include "base/threads.h"
#include "data/data.h"
#include "eval/naive.h"
#include "eval/pieces.h"
#include "forecast/model_predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* GAPS_MOST: gaps to score. Units as in bootstrap.c. */
enum { GAPS_MOST = 10000, GAPS_LEAST = 40, SEQUENCES_FEW = 20, BLOCKS_MOST = 100, BLOCK_LEAST = 10 };

struct work {
    smurf_model model; /* without a pool and a map */
    const struct pool *pool;
    const smurf_data *data;
    size_t *offset; /* (sequences + 1): first gap of each */
    struct pool_scores scores;
    int threads;
    struct stop *stop;
    bool failed;
};

/* ---- The candidates -------------------------------------------------------------------------- */

static smurf_status fit_bins(struct pool *pool, const struct naive *naive, smurf_error *err)
{
    const double *edge;
    size_t bins = smurf_naive_bins(naive, &edge);
    pool->wide.n = smurf_naive_gaps(naive, SIZE_MAX, pool->wide.gap);
    for (size_t b = 0; b + 1 < bins; b++)
        if (!isfinite(edge[b])) return SMURF_OK; /* no gap has one before it */
    if (!(pool->bin = calloc(bins + 1, sizeof *pool->bin))) return smurf_fail_memory(err);
    memcpy(pool->edge, edge, (bins - 1) * sizeof *edge);
    pool->bins = bins;
    for (size_t b = 0; b <= bins; b++) pool->bin[b].n = smurf_naive_gaps(naive, b, pool->bin[b].gap);
    return SMURF_OK;
}

smurf_status smurf_pool_laws(struct pool *pool, const smurf_data *train, uint32_t types, smurf_error *err)
{
    struct naive *naive;
    smurf_status status = smurf_naive_new(&naive, train, err);
    if (!status) status = fit_bins(pool, naive, err);
    smurf_naive_free(naive);
    pool->law = train->calendar ? POOL_SAME_HOUR : POOL_LAST;
    if (!status && train->calendar && train->reading.timezone) {
        pool->timezone = strdup(train->reading.timezone);
        status = pool->timezone ? smurf_pool_open_zone(pool, err) : smurf_fail_memory(err);
    }
    if (types < 2 || train->types != types) return status;
    if (!status) status = smurf_pairs_init(&pool->pairs, train, err);
    if (pool->pairs.n) pool->types = POOL_MARKOV;
    if (types > POOL_KNOWN_TYPES_MOST) return status;
    if (!status) status = smurf_recency_init(&pool->recency, train, err);
    if (!status) pool->types = POOL_RECENCY;
    return status;
}

static bool is_law(const struct pool *pool, int law)
{
    return law == POOL_RECENT ? pool->bins > 0 : law <= (int)pool->law;
}

static bool are_types(const struct pool *pool, int types)
{
    return types == POOL_MARKOV ? pool->pairs.n > 0 : pool->recency.common != NULL;
}

/* ---- Scoring --------------------------------------------------------------------------------- */

/* State of one thread. */
struct scorer {
    void *model;
    struct pool_state past;
    const smurf_sequence *sequence;
    size_t seen;
    double *share; /* (types) */
};

static void score_law(const struct work *w, const struct scorer *t, struct dist dist, size_t i, double gap)
{
    const struct pool_scores *s = &w->scores;
    s->crps[i] = smurf_dist_crps(&dist, gap);
    for (enum pool_law law = POOL_MARGINAL; law < POOL_LAWS; law++) {
        if (!s->naive[law]) continue;
        double room[PAST_LAW];
        struct steps steps;
        struct pooled pooled;
        struct dist naive = smurf_steps(&steps, room, smurf_pool_gaps(&t->past, law, room), w->model.notes.tick);
        struct dist both = smurf_pooled(&pooled, dist, naive, 0.5);
        s->naive[law][i] = smurf_dist_crps(&naive, gap);
        s->both[law][i] = smurf_dist_crps(&both, gap);
    }
}

static void score_types(const struct work *w, const struct scorer *t, const struct predictor *p, size_t i, size_t row,
                        double gap)
{
    const struct pool_scores *s = &w->scores;
    uint32_t type = t->sequence->type[row + 1];
    s->share[i] = NAN;
    if (type >= w->model.types || !w->pool->types) return;
    p->class->types(p->self, t->model, row, &gap, t->share, 1);
    s->share[i] = t->share[type];
    for (enum pool_types types = POOL_MARKOV; types < POOL_TYPES; types++) {
        if (!s->naive_share[types]) continue;
        smurf_pool_shares(&t->past, types, t->share);
        s->naive_share[types][i] = t->share[type];
    }
}

static void score_piece(const struct work *w, struct scorer *t, const struct predictor *p, const struct piece *piece)
{
    const smurf_sequence *q = &w->data->sequence[piece->sequence];
    if (t->sequence != q || t->seen > piece->from) {
        p->class->read(p->self, t->model, q);
        smurf_pool_state_clear(&t->past, q->origin);
        t->sequence = q;
        t->seen = 0;
    }
    for (size_t i = piece->from; i < piece->to; i++) {
        size_t g = w->offset[piece->sequence] + i - q->first;
        double gap = q->time[i] - q->time[i - 1];
        if (g % w->scores.stride) continue;
        if (smurf_stop_asked(w->stop)) return;
        for (; t->seen < i; t->seen++) smurf_pool_state_push(&t->past, q->time[t->seen], q->type[t->seen]);
        score_law(w, t, p->class->dist(p->self, t->model, i - 1, 1), g / w->scores.stride, gap);
        score_types(w, t, p, g / w->scores.stride, i - 1, gap);
    }
}

static smurf_status score_all(struct work *w, smurf_error *err)
{
    struct predictor p = smurf_model_predictor(&w->model);
    size_t longest = 0;
    for (size_t s = 0; s < w->data->sequences; s++)
        if (w->data->sequence[s].length > longest) longest = w->data->sequence[s].length;
    struct pieces pieces;
    if (!smurf_pieces_init(&pieces, &p, w->data)) return smurf_fail_memory(err);
    atomic_size_t left = pieces.count;
#pragma omp parallel num_threads(w->threads)
    {
        struct scorer t = {.model = p.class->workspace_new(p.self, longest, w->stop),
                           .share = malloc(w->model.types * sizeof *t.share)};
        bool ready = smurf_pool_state_init(&t.past, w->pool) && t.model && t.share;
        if (!ready) {
#pragma omp atomic write
            w->failed = true;
        }
#pragma omp for schedule(dynamic) nowait
        for (size_t k = 0; k < pieces.count; k++) {
            if (ready) score_piece(w, &t, &p, &pieces.piece[k]);
            atomic_fetch_sub(&left, 1);
        }
        smurf_stop_linger(w->stop, &left);
        p.class->workspace_free(t.model);
        smurf_pool_state_release(&t.past);
        free(t.share);
    }
    free(pieces.piece);
    if (w->failed) return smurf_fail_memory(err);
    return w->stop->asked ? smurf_stop_fail(w->stop, err) : SMURF_OK;
}

/* ---- Fitting --------------------------------------------------------------------------------- */

static double *room(size_t n, bool *ok)
{
    double *out = malloc((n + 1) * sizeof *out);
    if (!out) *ok = false;
    return out;
}

/* Sequences are dealt to the folds in turn; few are cut into folds of time. */
static void divide(struct work *w)
{
    struct pool_scores *s = &w->scores;
    const smurf_data *data = w->data;
    size_t with_gaps = 0, blocks = s->n / BLOCK_LEAST;
    if (blocks > BLOCKS_MOST) blocks = BLOCKS_MOST;
    if (blocks < 1) blocks = 1;
    for (size_t q = 0; q < data->sequences; q++) with_gaps += w->offset[q + 1] > w->offset[q];
    for (size_t q = 0; q < data->sequences; q++)
        for (size_t g = w->offset[q]; g < w->offset[q + 1]; g++) {
            if (g % s->stride) continue;
            size_t i = g / s->stride;
            bool many = with_gaps >= SEQUENCES_FEW;
            s->unit[i] = (uint32_t)(many ? q : i * blocks / s->n);
            s->fold[i] = (int)(many ? q % POOL_FOLDS : i * POOL_FOLDS / s->n);
        }
}

static smurf_status begin(struct work *w, smurf_error *err)
{
    struct pool_scores *s = &w->scores;
    size_t n = 0, sequences = w->data->sequences;
    bool ok = (w->offset = malloc((sequences + 1) * sizeof *w->offset));
    if (!ok) return smurf_fail_memory(err);
    for (size_t q = 0; q < sequences; q++) {
        const smurf_sequence *one = &w->data->sequence[q];
        w->offset[q] = n;
        n += one->length > one->first ? one->length - one->first : 0;
    }
    w->offset[sequences] = n;
    s->stride = (n + GAPS_MOST - 1) / GAPS_MOST;
    if (s->stride == 0) s->stride = 1;
    s->n = (n + s->stride - 1) / s->stride;
    ok = (s->unit = malloc((s->n + 1) * sizeof *s->unit)) && (s->fold = malloc((s->n + 1) * sizeof *s->fold));
    s->crps = room(s->n, &ok);
    s->share = room(s->n, &ok);
    for (int k = 1; k < POOL_LAWS; k++) {
        if (!is_law(w->pool, k)) continue;
        s->naive[k] = room(s->n, &ok);
        s->both[k] = room(s->n, &ok);
    }
    for (int k = 1; k < POOL_TYPES; k++)
        if (are_types(w->pool, k)) s->naive_share[k] = room(s->n, &ok);
    if (!ok) return smurf_fail_memory(err);
    divide(w);
    return SMURF_OK;
}

static void release(struct work *w)
{
    struct pool_scores *s = &w->scores;
    free(w->offset), free(s->unit), free(s->fold), free(s->crps), free(s->share);
    for (int k = 0; k < POOL_LAWS; k++) free(s->naive[k]), free(s->both[k]);
    for (int k = 0; k < POOL_TYPES; k++) free(s->naive_share[k]);
}

/* follow: the weights of types are to follow what comes. */
static void take(struct pool *pool, const struct pool_scores *scores, bool follow)
{
    struct pool_choice law = smurf_pool_choose_law(scores), types = {0};
    if (pool->types) types = smurf_pool_choose_types(scores);
    if (pool->types && follow) pool->type_follow = smurf_pool_choose_follow(scores, &types);
    pool->law = (enum pool_law)law.which;
    pool->weight = law.weight;
    pool->types = (enum pool_types)types.which;
    pool->type_weight = types.weight;
    pool->found =
        (smurf_pool){.gain = law.which ? 100 * law.gain / law.mean : 0, .type_gain = types.which ? types.gain : 0};
    smurf_pool_trim(pool);
}

smurf_status smurf_model_pool_fit(smurf_model *model, const smurf_data *data, const smurf_data *train, bool follow,
                                  bool selected, int threads, struct stop *stop, smurf_error *err)
{
    smurf_pool_free(model->notes.pool);
    model->notes.pool = NULL;
    if (smurf_data_gaps(data) < GAPS_LEAST) return SMURF_OK;
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return smurf_fail_memory(err);
    struct work w = {.model = *model, .pool = pool, .data = data, .threads = threads, .stop = stop};
    w.model.notes.calibration.recalibrated = 0;
    w.scores.selected = selected;
    smurf_status status = smurf_pool_laws(pool, train, model->types, err);
    if (!status) status = begin(&w, err);
    if (!status) status = score_all(&w, err);
    if (!status) take(pool, &w.scores, follow && data->sequences == 1);
    release(&w);
    if (!status && (pool->law || pool->types || pool->type_follow > 0)) {
        model->notes.pool = pool;
        return SMURF_OK;
    }
    smurf_pool_free(pool);
    return status;
}
