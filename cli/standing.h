/*
 * standing.h - the forecasts of the sequences of a store.
 *
 * A forecast is made when it is first asked for, and catches up with the store whenever it is asked: so it always
 * answers about the events that are stored, whatever happened in between. Functions may be called from several threads.
 *
 * Memory is bounded. Where it is used up, the least recently asked first give up their histories: they still answer,
 * but are made again once there are further events. Then they are dropped.
 */
#ifndef STANDING_H
#define STANDING_H

#include "store.h"

#include <stdio.h>

struct question;
struct standing;
struct types;

struct serve_options;

/* NULL: out of memory. */
struct standing *standing_new(const smurf_model *model, const struct types *types, struct store *store,
                              const struct serve_options *options);
void standing_free(struct standing *standing);

/* What became of a question. */
enum standing_outcome { STANDING_DONE, STANDING_NONE /* no such sequence */, STANDING_STORE, STANDING_FAILED };
/* Asks about the next event of a sequence. STANDING_FAILED: see err. *type: of the last event. Free *out with
   smurf_answer_free. */
enum standing_outcome standing_ask(struct standing *standing, const char *name, const smurf_question *question,
                                   smurf_answer **out, uint32_t *type, smurf_error *err);
/* The same, shown as show_forecast() does. Nothing is written unless it is DONE. */
enum standing_outcome standing_show(struct standing *standing, const char *name, const struct question *question,
                                    FILE *out, smurf_error *err);
/* A forecast of the sequence for the caller alone, who frees it. *events: of the sequence, of which the forecast may
   have read the last ones only. */
enum standing_outcome standing_copy(struct standing *standing, const char *name, smurf_forecast **out, size_t *events,
                                    smurf_error *err);
/* Whether the events of a sequence that are kept are enough for its forecasts. */
bool standing_suffices(const struct standing *standing, const struct store_sequence *sequence);
/* Forecasts that are kept, those of them with their history, and the bytes that they take. */
struct standing_figures {
    size_t kept, whole, bytes;
};
struct standing_figures standing_figures(struct standing *standing);

#endif
