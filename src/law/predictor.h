/*
 * predictor.h - turns histories into laws: a trained model, a naive law, or the true law of a simulation.
 *
 * Evaluation queries a predictor for the distribution of every scored gap of a sequence and of its type, and knows
 * nothing else about it. A predictor is const in use; each thread has its own workspace.
 */
#ifndef SMURF_LAW_PREDICTOR_H
#define SMURF_LAW_PREDICTOR_H

#include "base/progress.h"
#include "law/blend.h"
#include "law/dist.h"
#include "law/law.h"

struct predictor_class {
    const char *name;
    /* A workspace for sequences of up to `events` events; NULL: out of memory. stop: polled while the laws of a long
       sequence are computed; once it is set, they must not be used. NULL: none. */
    void *(*workspace_new)(const void *self, size_t events, struct stop *stop);
    void (*workspace_free)(void *workspace);
    /* Sets the sequence, which must stay valid. The law of row r (0 .. length-1) is that of the gap after event r,
       given events 0 .. r. */
    void (*read)(const void *self, void *workspace, const smurf_sequence *sequence);
    /* The distribution of the gap after event `row`, in the user's unit. raw: before recalibration. Valid until the
       next call of `dist` or `read` on the workspace. */
    struct dist (*dist)(const void *self, void *workspace, size_t row, int raw);
    /* Probabilities of the types, out (n x types), given that the event occurs after gap[i] (user's unit). NULL: no
       types. */
    void (*types)(const void *self, void *workspace, size_t row, const double *gap, double *out, size_t n);
    /* The law on its own axis, for samplers; smurf_scale_backward of *scale maps it to the user's unit. NULL: not
       available. */
    struct law (*law)(const void *self, void *workspace, size_t row, const smurf_scale **scale);
    /* Rows that are computed together: a sequence may be divided between workspaces at multiples of it, counted from
       the sequence's true start (sequence->before). SIZE_MAX: not to be divided. NULL: anywhere. */
    size_t (*group)(const void *self);
    /* The probability that nothing follows event `row`; the distribution above is that of a gap that comes. NULL: the
       predictor does not say. */
    double (*never)(const void *self, void *workspace, size_t row);
    /* Types are a pool whose weights may follow what came (blend.h): the probability of `type` after `gap` under each
       of its laws, the fitted pool first, out (BLEND_LAWS); and the pool with which `types` answers from now on, which
       must stay valid (NULL: the fitted one). Both NULL: none. */
    void (*shares)(const void *self, void *workspace, size_t row, double gap, uint32_t type, double *out);
    void (*follow)(void *workspace, const struct blend *blend);
};

struct predictor {
    const struct predictor_class *class;
    const void *self;
    uint32_t types;
};

#endif
