/*
 * readable.h - an evaluation with its times in a readable unit: hours rather than 7,560 seconds.
 */
#ifndef SMURF_REPORT_READABLE_H
#define SMURF_REPORT_READABLE_H

#include "eval/evaluation.h"

/* A view of the evaluation, with metrics, examples, mean gap and tick in the unit that suits the CRPS, or as they are
   if the unit is not known. Values per gap are shared with the original and stay in its unit. Free it with free().
   NULL: out of memory. */
struct evaluation *smurf_evaluation_readable(const struct evaluation *evaluation);

#endif
