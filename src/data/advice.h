/*
 * advice.h - warnings about a data set, in words.
 */
#ifndef SMURF_DATA_ADVICE_H
#define SMURF_DATA_ADVICE_H

#include "smurf_lab.h"

/* Fills in the warnings of a summary whose numbers are complete: first the reader's remarks, then likely mistakes and
   whatever will make a model poor, each with a remedy. train may be NULL or data itself. */
smurf_status smurf_summary_advise(smurf_summary *summary, const smurf_data *data, const smurf_data *train,
                                  smurf_error *err);

#endif
