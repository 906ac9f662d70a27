/*
 * answer.h - questions that are known to be good, and answers that are filled again and again.
 */
#ifndef SMURF_FORECAST_ANSWER_H
#define SMURF_FORECAST_ANSWER_H

#include "forecast/forecast.h"

/* Copies a question of any size and checks it against the model. given NULL: the default. */
smurf_status smurf_question_take(smurf_question *out, const smurf_question *given, const smurf_model *model,
                                 smurf_error *err);

/* An answer with room for what the question asks for; smurf_answer_free frees it. */
smurf_status smurf_answer_new(smurf_answer **out, const smurf_question *question, const smurf_model *model,
                              smurf_error *err);
/* Asks a forecast; what it was told of silence and recalibration stays as it was. */
smurf_status smurf_answer_fill(smurf_answer *answer, smurf_forecast *forecast, const smurf_question *question,
                               smurf_error *err);

#endif
