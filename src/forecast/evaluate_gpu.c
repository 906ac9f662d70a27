/*
 * evaluate_gpu.c - see evaluate_gpu.h. The encoder runs on the processor, in parallel over pieces of sequences; a and b
 * of all events travel to the card, and what it says about their laws comes back: 500 bytes of memory a gap there, 700
 * here.
 */
#include "forecast/evaluate_gpu.h"

#include "base/error.h"
#include "base/progress.h"
#include "base/threads.h"
#include "data/data.h"
#include "eval/measure.h"
#include "eval/pieces.h"
#include "forecast/model_predictor.h"
#include "model/smurf_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

smurf_status smurf_gpu_laws_open(struct laws_gpu **gpu, const char *device, smurf_error *err)
{
    *gpu = NULL;
    if (!device || strcmp(device, "cpu") == 0) return SMURF_OK;
    bool may = strcmp(device, "auto") == 0;
    if (!may && strcmp(device, "cuda") != 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "device '%.60s' is not one of: cpu, cuda, auto", device);
    smurf_error why;
    smurf_status status = smurf_laws_gpu_new(gpu, &why);
    if (may && status == SMURF_ERROR_UNSUPPORTED) return SMURF_OK;
    return status ? smurf_fail(err, status, "%s; measure with --device cpu", why.message) : SMURF_OK;
}

const char *smurf_gpu_laws_refuse(const smurf_model *m, const struct evaluation_plan *plan)
{
    if (m->model.class != &smurf_model_smurf_f32) return "the GPU has laws of SMURF models only";
    if (m->model.shape.width > LAWS_WIDTH_MOST) return "the model is wider than the laws of the GPU";
    if (m->model.param != PARAM_INTENSITY) return "the GPU has no exact laws of heads that are scores";
    if (m->model.shape.clock.on) return "the GPU has no laws with a clock on the wall";
    if (m->notes.pool && m->notes.pool->found.law) return "the GPU has no laws that are pooled with naive ones";
    return plan->gamma > 0 || plan->blend.rate > 0 ? "the GPU has no laws that adapt to what came" : NULL;
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

struct collecting {
    const smurf_model *model;
    const smurf_data *data;
    struct pieces pieces;
    size_t *first; /* (sequences) number of each one's first gap */
    size_t gaps, longest;
    float *row; /* (gaps x 2 width) */
    double *gap;
    uint64_t *stream;
    struct stop *stop;
    atomic_size_t *done; /* gaps */
    bool failed;
};

static void collect_piece(const struct collecting *c, const struct predictor *p, void *workspace,
                          const struct piece *piece)
{
    const smurf_sequence *s = &c->data->sequence[piece->sequence];
    size_t each = 2 * c->model->model.shape.width;
    p->class->read(p->self, workspace, s);
    for (size_t event = piece->from; event < piece->to && !smurf_stop_asked(c->stop); event++) {
        size_t i = c->first[piece->sequence] + event - s->first;
        memcpy(c->row + i * each, smurf_model_coefficients(c->model, workspace, event - 1), each * sizeof *c->row);
        c->gap[i] = s->time[event] - s->time[event - 1];
        c->stream[i] = i;
        atomic_fetch_add_explicit(c->done, 1, memory_order_relaxed);
    }
}

static void collect_pieces(struct collecting *c, int threads)
{
    struct predictor p = smurf_model_predictor(c->model);
    atomic_size_t left = c->pieces.count;
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(threads)
    {
        void *workspace = p.class->workspace_new(p.self, c->longest, c->stop);
        bool ready = workspace != NULL;
#pragma omp for schedule(dynamic, 1) nowait
        for (size_t k = 0; k < c->pieces.count; k++) {
            if (ready) collect_piece(c, &p, workspace, &c->pieces.piece[k]);
            atomic_fetch_sub(&left, 1);
        }
        smurf_stop_linger(c->stop, &left);
#pragma omp critical(smurf_collecting)
        c->failed = c->failed || !ready;
        p.class->workspace_free(workspace);
    }
}

static void collecting_release(struct collecting *c)
{
    free(c->pieces.piece);
    free(c->first);
    free(c->row);
    free(c->gap);
    free(c->stream);
}

/* Release it even if this fails. */
static smurf_status collect(struct collecting *c, const struct evaluation_plan *plan, smurf_error *err)
{
    const smurf_data *data = c->data;
    struct predictor p = smurf_model_predictor(c->model);
    c->first = malloc((data->sequences + 1) * sizeof *c->first);
    if (!c->first || !smurf_pieces_init(&c->pieces, &p, data)) return smurf_fail_memory(err);
    for (size_t s = 0; s < data->sequences; s++) {
        const smurf_sequence *q = &data->sequence[s];
        c->first[s] = c->gaps;
        c->gaps += q->first < q->length ? q->length - q->first : 0;
        if (q->length > c->longest) c->longest = q->length;
    }
    c->row = malloc((c->gaps + 1) * 2 * c->model->model.shape.width * sizeof *c->row);
    c->gap = malloc((c->gaps + 1) * sizeof *c->gap);
    c->stream = malloc((c->gaps + 1) * sizeof *c->stream);
    if (!c->row || !c->gap || !c->stream) return smurf_fail_memory(err);
    struct progress progress = {
        plan->progress, plan->progress_context, {.what = "encoding", .unit = "gaps", .total = (double)c->gaps}};
    struct stop stop;
    atomic_size_t done = 0;
    smurf_stop_init(&stop, &progress);
    stop.done = &done;
    c->stop = &stop;
    c->done = &done;
    collect_pieces(c, smurf_threads(plan->threads, c->pieces.count));
    if (c->failed) return smurf_fail_memory(err);
    return stop.asked ? smurf_stop_fail(&stop, err) : SMURF_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static smurf_status ask(struct told_row *out, double **memory, struct laws_gpu *gpu, const struct laws_rows *rows,
                        const struct laws_wrapping *wrapping, const struct collecting *c, double tick, bool spread,
                        smurf_error *err)
{
    double level[TOLD_LEVELS];
    size_t n = rows->count;
    double *at = *memory = malloc((n + 1) * (5 + TOLD_LEVELS) * sizeof *at);
    if (!at) return smurf_fail_memory(err);
    memcpy(level, smurf_levels, sizeof smurf_levels);
    memcpy(level + SMURF_LEVELS, smurf_type_node, sizeof smurf_type_node);
    struct laws_answers answers = {at, at + 2 * n, at + 3 * n, spread ? at + 4 * n : NULL, at + 5 * n};
    *out = (struct told_row){at, at + 2 * n, at + 3 * n, at + 4 * n, at + 5 * n};
    return smurf_laws_gpu_answer(gpu, rows, wrapping, c->gap, tick, level, TOLD_LEVELS, &answers, err);
}

static struct laws_rows rows_of(const smurf_model *m, const struct collecting *c)
{
    const struct head_params *at = &smurf_offsets(&m->model)->head;
    size_t width = m->model.shape.width;
    return (struct laws_rows){.width = width,
                              .stride = 2 * width,
                              .count = c->gaps,
                              .row = c->row,
                              .w = m->slab + at->w,
                              .c = m->slab[at->c],
                              .lo = m->low,
                              .hi = m->high};
}

static struct laws_wrapping wrapping_of(const smurf_model *m, bool mapped)
{
    return (struct laws_wrapping){.mass = smurf_objective_named_f32(m->config.objective)->mass,
                                  .sigma = smurf_model_noise(&m->config),
                                  .multiplicative = m->config.multiplicative,
                                  .scale = &m->view.scale,
                                  .tail = m->notes.tail,
                                  .map = mapped ? &m->notes.map : NULL};
}

smurf_status smurf_gpu_laws_measure(struct gpu_laws *out, struct laws_gpu *gpu, const smurf_model *m,
                                    const struct evaluation_plan *plan, const struct sampler_class *sampler,
                                    const struct sampler_config *config, smurf_error *err)
{
    struct collecting c = {.model = m, .data = plan->test};
    *out = (struct gpu_laws){0};
    smurf_status status = collect(&c, plan, err);
    if (!status) {
        bool mapped = m->notes.calibration.recalibrated;
        struct laws_rows rows = rows_of(m, &c);
        struct laws_wrapping wrapping = wrapping_of(m, mapped), raw = wrapping_of(m, false);
        status = ask(&out->told.model, &out->memory[0], gpu, &rows, &wrapping, &c, plan->tick, plan->spread, err);
        if (!status && plan->has_map)
            status = ask(&out->told.raw, &out->memory[1], gpu, &rows, &raw, &c, plan->tick, plan->spread, err);
        if (!status && sampler) {
            out->drawn = malloc((c.gaps * plan->draws + 1) * sizeof *out->drawn);
            status = out->drawn
                         ? smurf_laws_gpu_draw(gpu, &rows, sampler, config, c.stream, out->drawn, plan->draws, err)
                         : smurf_fail_memory(err);
        }
    }
    collecting_release(&c);
    return status;
}

void smurf_gpu_laws_release(struct gpu_laws *laws)
{
    free(laws->drawn);
    free(laws->memory[0]);
    free(laws->memory[1]);
    *laws = (struct gpu_laws){0};
}
