/*
 * answer.h - validated questions, and answers that can be refilled.
 */
#ifndef SMURF_FORECAST_ANSWER_H
#define SMURF_FORECAST_ANSWER_H

#include "forecast/forecast.h"

/* Copies a question of any size and checks it against the model. given NULL: the default. */
smurf_status smurf_question_take(smurf_question *out, const smurf_question *given, const smurf_model *model,
                                 smurf_error *err);

/* Allocates an answer with room for what the question asks; free it with smurf_answer_free. */
smurf_status smurf_answer_new(smurf_answer **out, const smurf_question *question, const smurf_model *model,
                              smurf_error *err);
/* Asks a forecast; its silence and recalibration settings are unchanged. */
smurf_status smurf_answer_fill(smurf_answer *answer, smurf_forecast *forecast, const smurf_question *question,
                               smurf_error *err);

#endif
