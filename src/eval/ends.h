/*
 * ends.h - how well forecasts say that nothing follows an event before the end of observation.
 */
#ifndef SMURF_EVAL_ENDS_H
#define SMURF_EVAL_ENDS_H

#include "eval/adaptation.h"
#include "eval/evaluate.h"

/* The forecast S(T - t) = pi + (1 - pi) S0(T - t) after event `row`, observed until T, whose gap has distribution
   `dist` if there is one; NaN if T is not known or not after the event. */
double smurf_ends_forecast(const struct predictor *model, void *workspace, const smurf_sequence *sequence, size_t row,
                           const struct dist *dist);
/* Forecasts after the last event of each sequence of the plan's data: out (sequences). adaptation NULL: levels do not
   adapt. */
smurf_status smurf_ends_measure(double *out, const struct evaluation_plan *plan, const struct adaptation *adaptation,
                                smurf_error *err);
/* Sums up forecasts after events that were followed by another (n) and after last ones (m), NaN: left out. */
smurf_status smurf_ends_fill(smurf_ends *out, const double *followed, size_t n, const double *last, size_t m,
                             smurf_error *err);

#endif
