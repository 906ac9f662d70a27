/*
 * markov.h - the naive law of types: the most frequent successor of the last type.
 */
#ifndef SMURF_EVAL_MARKOV_H
#define SMURF_EVAL_MARKOV_H

#include "smurf_lab.h"

struct markov {
    uint32_t types;
    uint32_t *next;  /* (types) */
    uint32_t common; /* the most frequent scored type: the prediction after types that have no successor in train */
};

/* Counts the scored events of train by the type of the previous event; ties go to the smaller type. Memory grows with
   the number of events, not with the square of the types. A train set without gaps is SMURF_ERROR_INPUT. */
smurf_status smurf_markov_init(struct markov *out, const smurf_data *train, smurf_error *err);
void smurf_markov_release(struct markov *markov);

static inline uint32_t smurf_markov_next(const struct markov *markov, uint32_t type)
{
    return type < markov->types ? markov->next[type] : markov->common;
}

#endif
