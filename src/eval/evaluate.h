/*
 * evaluate.h - measures laws on a data set: queries predictors for the law of every scored gap.
 *
 *     struct evaluation_plan plan = {.model = predictor, .test = test, .tick = smurf_data_tick(train), ...};
 *     struct evaluation evaluation;
 *     status = smurf_evaluation_run(&evaluation, &plan, &err);
 *     ... evaluation.row[ROW_MODEL].metrics.crps ...
 *     smurf_evaluation_release(&evaluation);
 *
 * Results are a function of (predictors, data, seed): bit-identical for any number of threads.
 */
#ifndef SMURF_EVAL_EVALUATE_H
#define SMURF_EVAL_EVALUATE_H

#include "eval/evaluation.h"
#include "eval/markov.h"
#include "eval/told.h"
#include "naive/recency.h"

#include <stdbool.h>

/* n draws of the gap after event `row`, in the user's unit and in any order, from a workspace that has read the
   sequence. stream: the index of the gap, which selects its random stream. Thread-safe. False: out of memory. */
typedef bool evaluation_draw(void *context, const struct predictor *predictor, void *workspace, size_t row,
                             uint64_t stream, double *out, size_t n);

/* What to measure. {0} with test set is valid. Everything is borrowed for the duration of the call. */
struct evaluation_plan {
    struct predictor model;                    /* class NULL: none, only naive laws are measured */
    bool has_map;                              /* pooled or recalibrated: ROW_RAW is measured too */
    const struct predictor *marginal, *recent; /* naive.h; NULL: not measured */
    const smurf_data *test;
    const struct predictor *same_hour, *last; /* likewise */
    const struct markov *markov;              /* NULL: none */
    const struct recency *recency;            /* likewise */
    const char *name[ROWS];                   /* of the rows, constant; NULL: the defaults */
    double tick;                              /* of the clock; 0: none */
    double mean_gap;                          /* of train; NaN unknown */
    uint32_t known;        /* types from this number on are unknown and not scored; 0: all are known */
    size_t n_dev;          /* gaps the model was recalibrated on; 0: not recalibrated */
    bool spread;           /* measure the model's sharpness: costs as much as the CRPS */
    bool brief;            /* neither CRPS nor quantiles, which cost most */
    size_t draws;          /* per gap, for ROW_SAMPLED; 0: not measured */
    evaluation_draw *draw; /* NULL: from the model's own distribution */
    void *draw_context;
    size_t examples;  /* at most EXAMPLES_MOST */
    size_t bootstrap; /* resamplings; 0: no intervals */
    uint64_t seed;
    int threads; /* 0: all cores */
    smurf_progress_fn *progress;
    void *progress_context;
    double gamma; /* step of adaptive levels (law/adaptive.h), with which ROW_FIXED is measured too; 0: none */
    const struct told *told; /* about the model's laws, which do not adapt; NULL: they are asked one by one */
    struct blend blend;      /* weights of types as they begin (law/blend.h); rate 0: they are fixed */
};

/* Fills *out, which the caller releases; on failure there is nothing to release. A test set without gaps is
   SMURF_ERROR_INPUT. model_about, epoch and epochs are left to the caller. */
smurf_status smurf_evaluation_run(struct evaluation *out, const struct evaluation_plan *plan, smurf_error *err);
void smurf_evaluation_release(struct evaluation *evaluation);

#endif
