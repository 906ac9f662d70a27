/*
 * adaptation.h - adaptive levels (law/adaptive.h) and weights of types (law/blend.h) over a data set: the state before
 * each scored gap of each sequence.
 *
 * A sequence starts ADAPTATION_PAST gaps before its first scored one, or with its first, if its history is shorter.
 * PITs and probabilities of types are computed on several threads; the state then follows them in order, and is kept at
 * regular places, so that the state anywhere is a few steps away and does not depend on threads.
 */
#ifndef SMURF_EVAL_ADAPTATION_H
#define SMURF_EVAL_ADAPTATION_H

#include "base/progress.h"
#include "data/data.h"
#include "law/adaptive.h"
#include "law/blend.h"
#include "law/predictor.h"

enum { ADAPTATION_PAST = SMURF_ADAPTIVE_PAST };

/* What follows the events that came. */
struct followed {
    struct adaptive levels; /* gamma 0: they do not */
    struct blend types;     /* rate 0: likewise */
};

struct adaptation {
    const smurf_data *data;
    bool shares;                 /* weights of types follow */
    size_t *begin;               /* (sequences) the event that ends the first gap to be seen */
    size_t *pit_at;              /* (sequences + 1) where its PIT is */
    size_t *kept_at;             /* (sequences + 1) where its first state is */
    double *pit;                 /* NaN: there was no law */
    double (*share)[BLEND_LAWS]; /* of the type that came; NULL unless `shares` */
    struct followed *kept;       /* before every ADAPTATION_STEP-th gap */
};

/* Whether anything follows. */
bool smurf_followed_moves(const struct followed *state);
/* start: the state of each sequence as it begins. Release it even after a failure. */
smurf_status smurf_adaptation_init(struct adaptation *out, const struct predictor *predictor, const smurf_data *data,
                                   const struct followed *start, double tick, int threads,
                                   const struct progress *progress, smurf_error *err);
void smurf_adaptation_release(struct adaptation *adaptation);

/* A position in it, which moves forward at the cost of a step per gap. {0}: nowhere. */
struct adaptation_cursor {
    const struct adaptation *of;
    size_t sequence, event;
    struct followed state;
};
/* The state before the gap that ends with `event`, which is scored, or after the last event: `event` is then the length
   of the sequence. */
const struct followed *smurf_adaptation_at(struct adaptation_cursor *cursor, const struct adaptation *adaptation,
                                           size_t sequence, size_t event);

/* The event that ends the first gap seen by a sequence whose first law of interest is that of the gap before
   `first`. */
size_t smurf_adaptation_begin(size_t first);

#endif
