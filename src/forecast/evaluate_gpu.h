/*
 * evaluate_gpu.h - a GPU measures the laws of all scored gaps before an evaluation asks about them one by one.
 */
#ifndef SMURF_FORECAST_EVALUATE_GPU_H
#define SMURF_FORECAST_EVALUATE_GPU_H

#include "cuda/laws_gpu.h"
#include "eval/evaluate.h"
#include "model/model_file.h"

struct gpu_laws {
    struct told told;
    double *drawn; /* (gaps x draws) on the law's axis; NULL: no draws */
    double *memory[2];
};

/* "cpu" or NULL, "cuda", or "auto": cuda where there is a GPU. *gpu NULL: the processor measures. A name of no device,
   or no GPU for "cuda", is an error. */
smurf_status smurf_gpu_laws_open(struct laws_gpu **gpu, const char *device, smurf_error *err);
/* Why the processor has to measure this model's laws; NULL: a GPU can. */
const char *smurf_gpu_laws_refuse(const smurf_model *model, const struct evaluation_plan *plan);
/* Measures what the plan asks of its model's laws, and draws with the sampler unless it is NULL. Release it even if
   this fails. The plan's model is that of smurf_model_predictor(model). */
smurf_status smurf_gpu_laws_measure(struct gpu_laws *out, struct laws_gpu *gpu, const smurf_model *model,
                                    const struct evaluation_plan *plan, const struct sampler_class *sampler,
                                    const struct sampler_config *config, smurf_error *err);
void smurf_gpu_laws_release(struct gpu_laws *laws);

#endif
