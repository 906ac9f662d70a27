/*
 * pruning.h - which events of a sequence no forecast needs any more.
 *
 * The law after event r is a function of its window, which begins at start(r) (doc/design.md), and of the last events
 * that naive laws look back at. So with n events, those before
 *
 *     min(start(n-1) - 1, n - reach, n - keep)
 *
 * are not needed. One event more than the window is kept: a forecast that begins there enters the window as it would
 * have coming from the sequence's start, and so gets the same bits.
 */
#ifndef PRUNING_H
#define PRUNING_H

#include "smurf.h"

#include <stddef.h>

struct pruning {
    size_t keep; /* at least that many events of each sequence */
    size_t context, window, reach;
};

/* keep: at least that many events. Returns NULL, or why the model needs all events. */
const char *pruning_init(struct pruning *out, const smurf_model *model, size_t keep);
/* The first event to keep, of a sequence of n events. */
size_t pruning_first(const struct pruning *pruning, size_t n);
/* The first one that a forecast needs. */
size_t pruning_needed(const struct pruning *pruning, size_t n);

#endif
