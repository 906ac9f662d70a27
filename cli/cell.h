/*
 * cell.h - one cell of a comparison: a model and a seed, trained, measured and stored in its own folder.
 *
 * The folder holds model.safetensors, log.jsonl, model.resume during training, and one result-KEY.json per way of
 * measuring. Its name ends in a fingerprint of data, settings and version, so finished cells are reused and
 * interrupted ones resumed.
 */
#ifndef CELL_H
#define CELL_H

#include "fingerprint.h"
#include "pool.h"
#include "walk.h"

#include <stdbool.h>

/* Shared by all cells. */
struct bench {
    smurf_split split;  /* train and test at least */
    const char *runs;   /* the folder that holds the cells' folders */
    int recalibrate;    /* -1: if dev is large enough */
    const char *device; /* where models are trained and measured; of no consequence but rounding */
    const char *sampler;
    size_t draws, steps;          /* steps 0: chosen automatically */
    bool paper_protocol;          /* steps are chosen on test */
    bool undenoised;              /* draws without the final Tweedie step */
    const smurf_process *process; /* NULL: none */
    const char *process_text;
    uint64_t seed;          /* for measuring laws that have no seed of their own */
    fingerprint data, test; /* data: of train and dev; test: of test */
};
/* Whether metrics come from draws. */
bool bench_draws(const struct bench *bench);

/* Result of a cell: one law or two, or the naive ones. */
enum { LAWS_MOST = 4 };
struct law_result {
    char name[16]; /* "", "raw", "recalibrated", "drawn", "truth", "recent", ... */
    smurf_metrics metrics;
};
struct result {
    struct law_result law[LAWS_MOST];
    size_t laws;
    double markov, recency, mean_gap; /* of the naive laws; otherwise NaN */
    size_t steps;                     /* of the sampler; 0: none */
    struct walk walk;                 /* by which they were chosen, if they were */
    char code[17];                    /* digest of the sources that produced it */
};

enum cell_kind { CELL_MODEL, CELL_NAIVE, CELL_TRUTH };
struct cell {
    const struct bench *bench;
    enum cell_kind kind;
    const char *model; /* as given: "default:layers=1" */
    uint64_t seed;
    smurf_settings *settings; /* CELL_MODEL only */
    bool choose_sigma;
    char name[128]; /* "thp seed 2" */
    char key[FINGERPRINT_TEXT], result_key[FINGERPRINT_TEXT];
    struct result result;
};

/* Whether the result was produced by the sources of this build. */
bool cell_is_of_this_code(const struct cell *cell);
/* Sets the name and the keys. Call when all other fields but the result are set. */
void cell_name(struct cell *cell);
/* Reads the stored result; false if there is none. */
bool cell_load(struct cell *cell);
/* Trains, measures and stores the result: the `run` of a job, with the cell as context. */
int cell_run(void *cell, int threads, struct job_line *line);

#endif
