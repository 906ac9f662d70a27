/*
 * cell.h - one cell of a comparison: a model and a seed, trained, measured, and kept in a folder of its own.
 *
 * The folder holds model.safetensors, log.jsonl, while training model.resume, and a result-KEY.json for each way of
 * measuring. Its name ends in a fingerprint of data, settings and version: what was done before is found again, and
 * what was begun goes on.
 */
#ifndef CELL_H
#define CELL_H

#include "fingerprint.h"
#include "pool.h"

#include <stdbool.h>

/* What all cells share. */
struct bench {
    smurf_split split; /* train and test at least */
    const char *runs;  /* the folder of their folders */
    int recalibrate;   /* -1: where dev is large enough */
    const char *sampler;
    size_t draws, steps;          /* steps 0: chosen */
    bool paper_protocol;          /* steps are chosen on test */
    bool undenoised;              /* draws without Tweedie's step at the end */
    const smurf_process *process; /* NULL: none */
    const char *process_text;
    uint64_t seed;          /* of what is random in measuring laws without a seed of their own */
    fingerprint data, test; /* of train and dev; of test */
};
/* Whether metrics come from draws. */
bool bench_draws(const struct bench *bench);

/* What a cell came to: one law or two. */
enum { LAWS_MOST = 2 };
struct law_result {
    char name[16]; /* "", "raw", "recalibrated", "drawn", "truth", "recent", "marginal" */
    smurf_metrics metrics;
};
struct result {
    struct law_result law[LAWS_MOST];
    size_t laws;
    double markov, mean_gap; /* of the naive laws; NaN else */
    size_t steps;            /* of the sampler; 0: none */
    char code[17];           /* digest of the sources that made it */
};

enum cell_kind { CELL_MODEL, CELL_NAIVE, CELL_TRUTH };
struct cell {
    const struct bench *bench;
    enum cell_kind kind;
    const char *model; /* as given: "default:layers=1" */
    uint64_t seed;
    smurf_settings *settings; /* of a model */
    bool choose_sigma;
    char name[128]; /* "thp seed 2" */
    char key[FINGERPRINT_TEXT], result_key[FINGERPRINT_TEXT];
    struct result result;
};

/* Whether the result was made by the sources of this build. */
bool cell_is_of_this_code(const struct cell *cell);
/* Its name and its keys, once all else but the result is set. */
void cell_name(struct cell *cell);
/* Reads the result, if there is one. */
bool cell_load(struct cell *cell);
/* Trains and measures and keeps the result: the `run` of a job; context is the cell. */
int cell_run(void *cell, int threads, struct job_line *line);

#endif
