/*
 * laws_gpu.h - draws and exact laws of many events at once, on a GPU.
 *
 * For laws of the SMURF gap head (model/gap_law.h). Takes the coefficients that the processor's code takes, and returns
 * the same: draws and answers differ by rounding. The same bits from run to run on the same card. One caller at a time.
 */
#ifndef SMURF_CUDA_LAWS_GPU_H
#define SMURF_CUDA_LAWS_GPU_H

#include "law/sampler.h"
#include "law/wrap.h"

struct laws_gpu;

/* The gap head of a model, and rows of coefficients: a, then b (width each), `stride` floats apart. */
struct laws_rows {
    size_t width, stride, count;
    const float *row;
    const float *w; /* (width) */
    float c;
    bool is_score; /* u is the score itself: draws only */
    double lo, hi; /* support */
};

/* How a table becomes a distribution of gaps, as in forecast/model_predictor.h. */
struct laws_wrapping {
    enum exact_mass mass;
    double sigma; /* noise to remove; 0: none */
    bool multiplicative;
    const smurf_scale *scale;
    struct tail tail;                /* from 0: no bound */
    const struct recalibration *map; /* NULL: none */
};

/* Results, in the user's unit; NaN for laws whose a or b is not finite. */
struct laws_answers {
    double *mass;     /* (count x 2): F below and above the observed gap's tick, as smurf_ticks_mass */
    double *density;  /* (count): of the tick if its mass is 1e-6 or more, else at the gap */
    double *crps;     /* (count); NULL: not wanted */
    double *spread;   /* (count), with crps; NULL: not wanted */
    double *quantile; /* (count x levels) */
};

/* SMURF_ERROR_UNSUPPORTED without a GPU, or in a build without CUDA. */
smurf_status smurf_laws_gpu_new(struct laws_gpu **out, smurf_error *err);
void smurf_laws_gpu_free(struct laws_gpu *gpu);
const char *smurf_laws_gpu_name(const struct laws_gpu *gpu);
/* Of the last call: milliseconds of its kernels, and laws that needed tables larger than usual. */
double smurf_laws_gpu_milliseconds(const struct laws_gpu *gpu);
size_t smurf_laws_gpu_large(const struct laws_gpu *gpu);

/* n draws of each law, as sampler->draw makes them with stream[i] (count): out (count x n), with config->every
   (count x looks x n). SMURF_ERROR_UNSUPPORTED: a sampler without kernels, a step that is not positive and finite, or
   more than LAWS_WIDTH_MOST units.
 */
smurf_status smurf_laws_gpu_draw(struct laws_gpu *gpu, const struct laws_rows *rows,
                                 const struct sampler_class *sampler, const struct sampler_config *config,
                                 const uint64_t *stream, double *out, size_t n, smurf_error *err);

enum { LAWS_LEVELS_MOST = 64, LAWS_WIDTH_MOST = 1024 };
/* Answers about gap[i] (count) of law i, and its quantiles at `levels` levels. SMURF_ERROR_UNSUPPORTED: rows of
   is_score, or more than LAWS_LEVELS_MOST levels. */
smurf_status smurf_laws_gpu_answer(struct laws_gpu *gpu, const struct laws_rows *rows,
                                   const struct laws_wrapping *wrapping, const double *gap, double tick,
                                   const double *level, size_t levels, const struct laws_answers *out,
                                   smurf_error *err);

#endif
