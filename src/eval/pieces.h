/*
 * pieces.h - the scored events of a data set, divided into pieces that threads can work on independently.
 */
#ifndef SMURF_EVAL_PIECES_H
#define SMURF_EVAL_PIECES_H

#include "data/data.h"
#include "law/predictor.h"

/* Events from .. to-1 of a sequence, all scored. */
struct piece {
    size_t sequence, from, to;
};

struct pieces {
    struct piece *piece; /* (count), in the order of the data; the caller frees it */
    size_t count;
};

/* Divides long sequences where the predictor allows it (predictor.h); class NULL: anywhere. The pieces are a function
   of predictor and data alone. False: out of memory. */
bool smurf_pieces_init(struct pieces *out, const struct predictor *predictor, const smurf_data *data);

#endif
