/*
 * calibrate.c - fits a model's pool, recalibration and conformal levels on data not used in training.
 *
 * First the law is pooled with a naive one, if that helps (pool_fit.h). The PIT of every scored gap under the pooled
 * law gives the map of levels (wrap.h), in two steps. The many train gaps show what the shape of the learned laws
 * cannot fit: their map is the starting point, provided it brings the levels of the unseen gaps closer to uniform than
 * no map does. The unseen gaps then correct the rest, as far as it exceeds chance. The benefit of the map is measured
 * by cross-fitting: sequences are split into two halves (one sequence: in time), and each half is judged by the other's
 * map. Conformal levels are those of one random gap per unseen sequence, under the raw law, without a pool, which is
 * independent of them (conformal.h). Where levels adapt, their step is chosen last (choose_gamma.h), with the maps of
 * the other halves.
 */
#include "forecast/choose_gamma.h"

#include "base/progress.h"
#include "base/random.h"
#include "base/sort.h"
#include "base/threads.h"
#include "data/data.h"
#include "eval/pieces.h"
#include "forecast/pool_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Random streams of this file. */
enum { STREAM_PIT = 0x706974, STREAM_PICK = 0x7069636b };

struct work {
    smurf_model model; /* without a map */
    const smurf_data *data;
    uint64_t seed;
    int threads;
    size_t *offset;               /* (sequences + 1): first gap of each */
    double *pit, *level;          /* (gaps): drawn within the tick; F(gap) itself */
    double *crps[2];              /* (gaps): without a map, and under the other half's map */
    struct recalibration half[2]; /* fitted on that half */
    struct recalibration start;   /* the map of the train gaps, or none */
    bool levels_only;             /* compute no CRPS */
    bool failed;
    struct stop *stop;
    atomic_size_t *done; /* gaps done, over all passes */
};

static double draw(const struct work *w, uint64_t stream, uint64_t i)
{
    uint32_t word[4];
    smurf_philox(word, w->seed, stream, i);
    return smurf_random_unit((uint64_t)word[0] << 32 | word[1]);
}

/* The half of gap g, of sequence s: sequences alternate; one sequence has an earlier and a later half. */
static size_t half_of(const struct work *w, size_t s, size_t g)
{
    return w->data->sequences > 1 ? s % 2 : g >= w->offset[1] / 2;
}

/* One piece, of a sequence that was read: levels and CRPS without a map, or CRPS under the other half's map. */
static void measure(struct work *w, const struct predictor *p, void *workspace, const struct piece *piece, int mapped)
{
    size_t s = piece->sequence;
    const smurf_sequence *q = &w->data->sequence[s];
    for (size_t i = piece->from; i < piece->to; i++) {
        if (smurf_stop_asked(w->stop)) return;
        atomic_fetch_add_explicit(w->done, 1, memory_order_relaxed);
        size_t g = w->offset[s] + i - q->first;
        double gap = q->time[i] - q->time[i - 1];
        struct recalibrated room;
        struct dist dist = p->class->dist(p->self, workspace, i - 1, 0);
        if (mapped) dist = smurf_recalibrated(&room, dist, &w->half[1 - half_of(w, s, g)]);
        if (!w->levels_only) w->crps[mapped][g] = smurf_dist_crps(&dist, gap);
        if (mapped) continue;
        w->pit[g] = smurf_dist_pit(&dist, gap, w->model.notes.tick, draw(w, STREAM_PIT, g));
        dist = p->class->dist(p->self, workspace, i - 1, 1);
        w->level[g] = smurf_dist_cdf(&dist, gap);
    }
}

static smurf_status pass(struct work *w, int mapped, smurf_error *err)
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
        void *workspace = p.class->workspace_new(p.self, longest, w->stop);
        size_t read = SIZE_MAX;
        if (!workspace) {
#pragma omp atomic write
            w->failed = true;
        }
#pragma omp for schedule(dynamic) nowait
        for (size_t k = 0; k < pieces.count; k++) {
            size_t s = pieces.piece[k].sequence;
            if (workspace && w->offset[s + 1] > w->offset[s]) {
                if (read != s) p.class->read(p.self, workspace, &w->data->sequence[s]);
                read = s;
                measure(w, &p, workspace, &pieces.piece[k], mapped);
            }
            atomic_fetch_sub(&left, 1);
        }
        smurf_stop_linger(w->stop, &left);
        p.class->workspace_free(workspace);
    }
    free(pieces.piece);
    if (w->failed) return smurf_fail_memory(err);
    return w->stop->asked ? smurf_stop_fail(w->stop, err) : SMURF_OK;
}

/* Root mean square of coverage - level over 0.50 .. 0.95, in percent. */
static double score_of(const double *pit, size_t n)
{
    double sum = 0;
    int levels = 0;
    for (int k = 0; k < SMURF_LEVELS; k++) {
        if (smurf_levels[k] < 0.495) continue;
        size_t below = 0;
        for (size_t i = 0; i < n; i++) below += pit[i] < smurf_levels[k];
        double miss = (double)below / (double)n - smurf_levels[k];
        sum += miss * miss;
        levels++;
    }
    return 100 * sqrt(sum / levels);
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* outer(inner(level)), at the knots of a map. */
static void compose(const struct recalibration *outer, const struct recalibration *inner, struct recalibration *out)
{
    double level[RECALIBRATION_KNOTS];
    for (size_t k = 0; k < RECALIBRATION_KNOTS; k++)
        level[k] =
            smurf_recalibration_map(outer, smurf_recalibration_map(inner, (double)k / (RECALIBRATION_KNOTS - 1)));
    level[0] = 0;
    level[RECALIBRATION_KNOTS - 1] = 1;
    if (!smurf_recalibration_set(out, level)) *out = *inner;
}

/* Fits the map of one half (2: all), on top of the starting map. */
static void fit(const struct work *w, size_t half, double *room, struct recalibration *map)
{
    struct recalibration rest;
    size_t n = 0;
    for (size_t s = 0; s < w->data->sequences; s++)
        for (size_t g = w->offset[s]; g < w->offset[s + 1]; g++)
            if (half == 2 || half_of(w, s, g) == half) room[n++] = smurf_recalibration_map(&w->start, w->pit[g]);
    smurf_recalibration_fit(&rest, room, n);
    compose(&rest, &w->start, map);
}

static smurf_status cross_fit(struct work *w, double *room, smurf_calibration *out, smurf_error *err)
{
    size_t n = w->offset[w->data->sequences];
    fit(w, 0, room, &w->half[0]);
    fit(w, 1, room, &w->half[1]);
    smurf_status status = pass(w, 1, err);
    if (status) return status;
    for (size_t s = 0; s < w->data->sequences; s++)
        for (size_t g = w->offset[s]; g < w->offset[s + 1]; g++)
            room[g] = smurf_recalibration_map(&w->half[1 - half_of(w, s, g)], w->pit[g]);
    out->cs_after = score_of(room, n);
    out->crps_after = mean_of(w->crps[1], n);
    return SMURF_OK;
}

static const struct recalibration *other_half(const void *context, size_t s, size_t g)
{
    const struct work *w = context;
    return &w->half[1 - half_of(w, s, g)];
}

/* The step of adaptive levels: as set, or chosen. */
static smurf_status adapt(const struct work *w, smurf_calibration *out, smurf_error *err)
{
    const struct gamma_search search = {.model = &w->model,
                                        .data = w->data,
                                        .offset = w->offset,
                                        .pit = w->pit,
                                        .map = out->recalibrated && out->gaps > 1 ? other_half : NULL,
                                        .context = w,
                                        .threads = w->threads,
                                        .stop = w->stop,
                                        .done = w->done};
    struct gamma_choice choice;
    out->adaptive = fmax(w->model.config.adaptive, 0);
    if (w->model.config.adaptive == SMURF_AUTO) {
        smurf_status status = smurf_gamma_choose(&choice, &search, err);
        if (status) return status;
        out->adaptive = choice.gamma;
        out->pinball_before = choice.before;
        out->pinball_after = choice.after;
    }
    if (out->adaptive > 0) out->cs_adapted = smurf_gamma_score(&search, out->adaptive);
    return SMURF_OK;
}

/* Picks one gap per sequence. Returns their number. */
static size_t pick(const struct work *w, double *out)
{
    size_t n = 0;
    for (size_t s = 0; s < w->data->sequences; s++) {
        size_t gaps = w->offset[s + 1] - w->offset[s];
        if (gaps) out[n++] = w->level[w->offset[s] + (size_t)(draw(w, STREAM_PICK, s) * (double)gaps)];
    }
    smurf_sort(out, n);
    return n;
}

static void release(struct work *w)
{
    free(w->offset), free(w->pit), free(w->level), free(w->crps[0]), free(w->crps[1]);
}

/* stride: only every stride-th sequence is used. */
static smurf_status begin(struct work *w, size_t stride, smurf_error *err)
{
    size_t n = 0, sequences = w->data->sequences;
    w->offset = malloc((sequences + 1) * sizeof *w->offset);
    if (!w->offset) return smurf_fail_memory(err);
    for (size_t s = 0; s < sequences; s++) {
        const smurf_sequence *q = &w->data->sequence[s];
        w->offset[s] = n;
        n += q->length > q->first && s % stride == 0 ? q->length - q->first : 0;
    }
    w->offset[sequences] = n;
    if (n == 0) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "'%s' has no gap to calibrate on", w->data->source);
    smurf_recalibration_identity(&w->start);
    double **arrays[] = {&w->pit, &w->level, &w->crps[0], &w->crps[1]};
    for (int i = 0; i < 4; i++)
        if (!(*arrays[i] = malloc((n + 1) * sizeof(double)))) return smurf_fail_memory(err);
    return SMURF_OK;
}

/* Sets the starting map to that of train if it suits the unseen gaps better than none. */
static smurf_status start_from_train(struct work *w, const smurf_data *train, double *room, smurf_error *err)
{
    enum { GAPS_MOST = 300000 };
    struct work t = {.model = w->model,
                     .data = train,
                     .seed = w->seed,
                     .threads = w->threads,
                     .levels_only = true,
                     .stop = w->stop,
                     .done = w->done};
    struct recalibration map;
    smurf_status status = begin(&t, smurf_data_gaps(train) / GAPS_MOST + 1, err);
    if (!status) {
        status = pass(&t, 0, err);
    }
    if (!status) {
        size_t n = w->offset[w->data->sequences];
        smurf_recalibration_fit(&map, t.pit, t.offset[train->sequences]);
        for (size_t g = 0; g < n; g++) room[g] = smurf_recalibration_map(&map, w->pit[g]);
        if (score_of(room, n) < score_of(w->pit, n)) w->start = map;
    }
    release(&t);
    return status;
}

/* Replaces the model's calibration. */
static smurf_status finish(smurf_model *m, const struct work *w, double *room, const smurf_calibration *found,
                           smurf_error *err)
{
    double *conformal = malloc((w->data->sequences + 1) * sizeof *conformal);
    if (!conformal) return smurf_fail_memory(err);
    free(m->notes.conformal);
    m->notes.conformal = conformal;
    m->notes.calibration = *found;
    m->notes.calibration.conformal = pick(w, conformal);
    smurf_calibration_judge(&m->notes.calibration);
    smurf_recalibration_identity(&m->notes.map);
    if (found->recalibrated) fit(w, 2, room, &m->notes.map);
    return SMURF_OK;
}

static smurf_status check(const smurf_model *model, const smurf_data *data, smurf_error *err)
{
    if (!data || data->types <= model->types) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "'%s' has %u types, the model %u: read them as one directory",
                      data->source, data->types, model->types);
}

/* Sets the pool of a model that has none. */
static smurf_status pool(smurf_model *model, struct work *w, const smurf_data *train, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    bool follow = model->config.adaptive != 0;
    if (train) status = smurf_model_pool_fit(model, w->data, train, follow, false, w->threads, w->stop, err);
    w->model = *model;
    w->model.notes.calibration.recalibrated = 0;
    return status;
}

static smurf_status measure_and_fit(smurf_model *model, struct work *w, const smurf_data *train, int recalibrate,
                                    double *room, smurf_error *err)
{
    size_t n = w->offset[w->data->sequences];
    smurf_calibration found = {.gaps = n, .sequences = w->data->sequences, .cs_after = NAN, .crps_after = NAN};
    smurf_status status = pool(model, w, model->config.pool && recalibrate ? train : NULL, err);
    if (!status) status = pass(w, 0, err);
    if (status) return status;
    found.cs_before = score_of(w->pit, n);
    found.crps_before = mean_of(w->crps[0], n);
    found.recalibrated = recalibrate < 0 ? n >= SMURF_RECALIBRATE_GAPS : recalibrate;
    if (train && found.recalibrated) status = start_from_train(w, train, room, err);
    if (!status && n > 1) status = cross_fit(w, room, &found, err);
    if (!status) status = adapt(w, &found, err);
    return status ? status : finish(model, w, room, &found, err);
}

/* After a failure the model is as it was: its map is that of its pool. */
static smurf_status calibrate(smurf_model *model, struct work *w, const smurf_data *train, int recalibrate,
                              double *room, smurf_error *err)
{
    struct pool *before = model->notes.pool;
    model->notes.pool = NULL;
    smurf_status status = measure_and_fit(model, w, train, recalibrate, room, err);
    smurf_pool_free(status ? model->notes.pool : before);
    if (status) model->notes.pool = before;
    return status;
}

smurf_status smurf_model_calibrate(smurf_model *model, const smurf_data *data, const smurf_data *train, int recalibrate,
                                   uint64_t seed, int threads, smurf_progress_fn *report, void *context,
                                   smurf_error *err)
{
    struct progress progress = {report, context, {.what = "calibrating", .unit = "gaps"}};
    atomic_size_t done = 0;
    struct stop stop;
    smurf_stop_init(&stop, &progress);
    stop.done = &done;
    struct work w = {
        .data = data, .seed = seed, .threads = smurf_threads(threads, SIZE_MAX), .stop = &stop, .done = &done};
    double *room = NULL;
    smurf_status status = check(model, data, err);
    if (!status) status = check(model, train, err);
    if (!status) status = begin(&w, 1, err);
    if (!status && !(room = malloc((w.offset[data->sequences] + 1) * sizeof *room))) status = smurf_fail_memory(err);
    if (!status) status = calibrate(model, &w, train, recalibrate, room, err);
    release(&w);
    free(room);
    return status;
}
