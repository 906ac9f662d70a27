/*
 * advice.h - what a user should be told about a data set, in words.
 */
#ifndef SMURF_DATA_ADVICE_H
#define SMURF_DATA_ADVICE_H

#include "smurf_lab.h"

/* Fills the warnings of a summary whose numbers are complete: the reader's remarks, then what looks like a
   mistake or will make a model poor, each with what to do about it. train may be NULL or data itself. */
smurf_status smurf_summary_advise(smurf_summary *summary, const smurf_data *data, const smurf_data *train,
                                  smurf_error *err);

#endif
