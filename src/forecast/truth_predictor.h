/*
 * truth_predictor.h - a simulated process as a predictor: the law its events were drawn from.
 */
#ifndef SMURF_FORECAST_TRUTH_PREDICTOR_H
#define SMURF_FORECAST_TRUTH_PREDICTOR_H

#include "law/predictor.h"

/* The process must outlive it. Sequences must have their whole history from time 0, and types of the process. */
struct predictor smurf_truth_predictor(const smurf_process *process);

#endif
