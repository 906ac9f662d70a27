/*
 * when.h - the local time at which each gap began, for logs with dates.
 */
#ifndef SMURF_EVAL_WHEN_H
#define SMURF_EVAL_WHEN_H

#include "eval/evaluation.h"

/* Fills began, zone and no_week; leaves began NULL if times are no dates. Gaps are those of `data`, in order. */
smurf_status smurf_when_fill(struct evaluation *out, const smurf_data *data, smurf_error *err);

#endif
