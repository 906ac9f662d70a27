/*
 * standing.h - the forecasts of the sequences of a store.
 *
 * A forecast is made when it is first asked for, and catches up with the store whenever it is asked: so it always
 * answers about the events that are stored, whatever happened in between. The least recently asked are dropped and
 * made again. Functions may be called from several threads.
 */
#ifndef STANDING_H
#define STANDING_H

#include "store.h"

struct standing;
struct types;

struct standing *standing_new(const smurf_model *model, const struct types *types, struct store *store, size_t history,
                              int raw);
void standing_free(struct standing *standing);

/* What became of a question. */
enum standing_outcome { STANDING_DONE, STANDING_NONE /* no such sequence */, STANDING_STORE, STANDING_FAILED };
/* Asks about the next event of a sequence. STANDING_FAILED: see err. *type: of the last event. Free *out with
   smurf_answer_free. */
enum standing_outcome standing_ask(struct standing *standing, const char *name, const smurf_question *question,
                                   smurf_answer **out, uint32_t *type, smurf_error *err);

#endif
