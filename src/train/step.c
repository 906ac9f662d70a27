/* step.c - see step.h. */
#include "train/step.h"

#include "train/adam.h"

#include <stdlib.h>
#include <string.h>

static float *allocate(size_t n)
{
    return aligned_alloc(WORKSPACE_ALIGN, workspace_padded(n * sizeof(float)));
}

smurf_status smurf_train_step_init(struct train_step *s, const struct model *model, const struct loss_config *loss,
                                   unsigned more, size_t events, int threads, uint64_t seed, smurf_error *err)
{
    size_t n = model->params.total;
    *s = (struct train_step){.model = model, .loss = *loss, .threads = threads};
    s->memory = allocate(model->class->loss_memory(model, loss, events, threads));
    double *start = malloc(n * sizeof *start);
    smurf_status status = s->memory && start ? SMURF_OK : smurf_fail_memory(err);
    if (!status) smurf_params_start(&model->params, seed, start);
    for (int k = 0; k < SLABS && !status; k++) {
        if (k >= SLAB_AVERAGE && !(more & 1u << k)) continue;
        s->slab[k] = allocate(n);
        if (!s->slab[k]) status = smurf_fail_memory(err);
        bool weights = k == SLAB_WEIGHT || k >= SLAB_AVERAGE;
        for (size_t i = 0; i < n && !status; i++) s->slab[k][i] = weights ? (float)start[i] : 0;
    }
    free(start);
    return status;
}

void smurf_train_step_release(struct train_step *s)
{
    for (int k = 0; k < SLABS; k++) free(s->slab[k]);
    free(s->memory);
    *s = (struct train_step){0};
}

static struct loss loss_of(const struct train_step *s, const struct op_run *run, const float *slab,
                           const struct batch *batch, float *grad)
{
    return s->model->class->loss(run, s->model, &s->loss, slab, batch, s->memory, grad);
}

struct loss smurf_train_step_loss(const struct train_step *s, const struct op_run *run, const float *slab,
                                  const struct batch *batch)
{
    return loss_of(s, run, slab, batch, NULL);
}

struct loss smurf_train_step_add(struct train_step *s, const struct op_run *run, const struct batch *batch)
{
    return loss_of(s, run, s->slab[SLAB_WEIGHT], batch, s->slab[SLAB_GRADIENT]);
}

struct loss smurf_train_step_gradient(struct train_step *s, const struct op_run *run, const struct batch *batch,
                                      double *norm)
{
    size_t n = s->model->params.total;
    memset(s->slab[SLAB_GRADIENT], 0, n * sizeof(float));
    struct loss loss = smurf_train_step_add(s, run, batch);
    *norm = smurf_gradient_norm(n, s->slab[SLAB_GRADIENT], s->threads);
    return loss;
}

void smurf_train_step_update(struct train_step *s, uint64_t t, double rate, double factor, double decay)
{
    size_t n = s->model->params.total;
    smurf_adam_step(n, t, rate, factor, s->slab[SLAB_GRADIENT], s->slab[SLAB_MOMENT1], s->slab[SLAB_MOMENT2],
                    s->slab[SLAB_WEIGHT], s->threads);
    if (s->slab[SLAB_AVERAGE]) smurf_average_step(n, decay, s->slab[SLAB_WEIGHT], s->slab[SLAB_AVERAGE], s->threads);
}
