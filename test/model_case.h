/*
 * model_case.h - a small model with random parameters and random sequences, for tests; include cmocka first.
 *
 * Everything is in double; whoever runs it in float converts.
 */
#ifndef SMURF_TEST_MODEL_CASE_H
#define SMURF_TEST_MODEL_CASE_H

#include "base/gauss_legendre.h"
#include "base/random.h"
#include "model/smurf_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rates of decayed counts, for gaps of about 1. */
#define MODEL_CASE_RATES                                                                                               \
    {                                                                                                                  \
        10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01                                                                   \
    }

/* Two further columns: a number, and a word that is one of four. */
#define MODEL_CASE_FURTHER                                                                                             \
    {                                                                                                                  \
        .columns = 2, .rows = 6, .first = {0, 2}, .is_word = { false, true }                                           \
    }

struct model_case {
    struct model model;
    struct loss_config config;
    const char *objective;
    double dropout; /* of the run */
    double *slab;   /* (model.params.total) */
    size_t sequences, n, targets;
    size_t *offset;        /* (sequences + 1) */
    const uint64_t *id;    /* of the sequences, for dropout; NULL: rows count in the case */
    uint32_t *type;        /* (n) */
    double *time, *gap;    /* (n); gap as in encoder.h */
    double *further;       /* (n x columns) */
    double *base;          /* (sequences), for models with a clock */
    struct target *target; /* (targets): each sequence's gaps, and its censored last one */
};

static inline void *model_case_room(size_t n, size_t size)
{
    void *room = calloc(n + 1, size);
    assert_non_null(room);
    return room;
}

/* Workspace of n elements, NaN all over: nothing may be read before it is written. */
static inline void *model_case_workspace(size_t n, size_t size)
{
    void *room = model_case_room(n, size);
    memset(room, 0xff, n * size);
    return room;
}

static inline void model_case_events(struct model_case *c, size_t sequences, size_t n)
{
    c->sequences = sequences, c->n = c->targets = n; /* n - sequences gaps and a censored one each */
    c->offset = model_case_room(sequences, sizeof *c->offset);
    c->type = model_case_room(n, sizeof *c->type);
    c->time = model_case_room(n, sizeof *c->time);
    c->gap = model_case_room(n, sizeof *c->gap);
    c->target = model_case_room(n, sizeof *c->target);
    c->further = model_case_room(n * c->model.shape.further.columns, sizeof *c->further);
    c->base = model_case_room(sequences, sizeof *c->base);
}

/* One sequence of `length` events in rows from `at`; every other one has a known end of observation. */
static inline void model_case_sequence(struct model_case *c, size_t s, size_t at, size_t length, struct random *random)
{
    double time = 0.5, end;
    c->base[s] = 1.7e9 + 1e5 * (double)s;
    for (size_t i = at; i < at + length; i++) {
        double gap = 0.1 + smurf_random_exponential(random);
        time += gap;
        c->time[i] = time;
        c->gap[i] = i == at ? NAN : log(gap);
        c->type[i] = (uint32_t)smurf_random_below(random, c->model.shape.types);
    }
    for (size_t i = at * c->model.shape.further.columns; i < (at + length) * c->model.shape.further.columns; i += 2) {
        bool missing = smurf_random_below(random, 3) == 0;
        c->further[i] = missing ? NAN : smurf_random_normal(random);
        c->further[i + 1] = (double)smurf_random_below(random, 4);
    }
    end = time + 0.3;
    for (size_t i = at; i < at + length; i++) {
        bool last = i + 1 == at + length;
        c->target[i] = (struct target){.row = i,
                                       .gap = (last ? end : c->time[i + 1]) - c->time[i],
                                       .limit = s % 2 ? NAN : end - c->time[i],
                                       .type = last ? 0 : c->type[i + 1],
                                       .censored = last,
                                       .id = i};
    }
}

/* Gains and biases start at 1 and 0; moved a little, they are as general as the rest. */
static inline void model_case_start(struct model_case *c, uint64_t seed)
{
    struct random random;
    smurf_random_init(&random, seed, 1);
    c->slab = model_case_room(c->model.params.total, sizeof *c->slab);
    smurf_params_start(&c->model.params, seed, c->slab);
    for (size_t i = 0; i < c->model.params.count; i++) {
        const struct param *p = &c->model.params.entry[i];
        if (p->start != START_ZERO && p->start != START_ONE) continue;
        for (size_t k = 0; k < p->size; k++) c->slab[p->at + k] += 0.2 * smurf_random_normal(&random);
    }
}

static inline void model_case_init(struct model_case *c, const struct encoder_shape *shape, enum parametrisation param,
                                   const size_t *length, size_t sequences, uint64_t seed)
{
    struct random random;
    size_t n = 0;
    *c = (struct model_case){.objective = "dsm",
                             .config = {.objective = {.param = param, .points = 6, .sigma = {0.3}, .sigmas = 1},
                                        .alpha = 1.7,
                                        .smoothing = 0.1}};
    model_init(&c->model, &OP(model_smurf), shape, param);
    model_case_start(c, seed);
    smurf_gauss_legendre(c->config.objective.points, c->config.objective.node, c->config.objective.weight);
    for (size_t s = 0; s < sequences; s++) n += length[s];
    model_case_events(c, sequences, n);
    smurf_random_init(&random, seed, 2);
    for (size_t s = 0; s < sequences; s++) {
        model_case_sequence(c, s, c->offset[s], length[s], &random);
        c->offset[s + 1] = c->offset[s] + length[s];
    }
}

/* The same model with some of the sequences of `from`, in the order given. Targets keep their ids. */
static inline void model_case_select(struct model_case *c, const struct model_case *from, const size_t *sequence,
                                     size_t sequences)
{
    size_t n = 0;
    *c = *from;
    c->slab = model_case_room(c->model.params.total, sizeof *c->slab);
    memcpy(c->slab, from->slab, c->model.params.total * sizeof *c->slab);
    for (size_t s = 0; s < sequences; s++) n += from->offset[sequence[s] + 1] - from->offset[sequence[s]];
    model_case_events(c, sequences, n);
    for (size_t s = 0; s < sequences; s++) {
        size_t first = from->offset[sequence[s]], length = from->offset[sequence[s] + 1] - first, at = c->offset[s];
        memcpy(c->type + at, from->type + first, length * sizeof *c->type);
        memcpy(c->time + at, from->time + first, length * sizeof *c->time);
        memcpy(c->gap + at, from->gap + first, length * sizeof *c->gap);
        size_t columns = c->model.shape.further.columns;
        memcpy(c->further + at * columns, from->further + first * columns, length * columns * sizeof *c->further);
        memcpy(c->target + at, from->target + first, length * sizeof *c->target);
        for (size_t i = at; i < at + length; i++) c->target[i].row = i;
        c->offset[s + 1] = at + length;
        c->base[s] = from->base[sequence[s]];
    }
}

static inline void model_case_release(struct model_case *c)
{
    free(c->slab), free(c->offset), free(c->type), free(c->time), free(c->gap), free(c->target);
    free(c->further), free(c->base);
}

static inline struct batch model_case_batch(const struct model_case *c)
{
    struct batch batch = {
        .input = {.rows = {c->sequences, c->offset, c->id}, .n = c->n, .type = c->type, .time = c->time, .gap = c->gap},
        .target = c->target,
        .targets = c->targets};
    batch.input.base = c->base;
    if (c->model.shape.further.columns) batch.input.further = c->further;
    return batch;
}

/* The run with the dropout of the case. */
static inline struct op_run model_case_run(const struct model_case *c, const struct op_run *run)
{
    struct op_run own = *run;
    own.dropout = c->dropout;
    return own;
}

#endif
