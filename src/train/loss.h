/*
 * loss.h - the loss of a batch and its gradient: encoder, coefficients, objective and type loss, and back.
 *
 *     loss = sum over targets of  alpha * (objective) + cross-entropy of the type
 */
#ifndef SMURF_TRAIN_LOSS_H
#define SMURF_TRAIN_LOSS_H

#include "model/model.h"
#include "model/rival.h"
#include "train/objective.h"

struct loss_config {
    struct rival_config rival; /* for models other than SMURF, which ask for no more */
    struct objective_config objective;
    double alpha;       /* weight of the objective */
    double smoothing;   /* of the type labels */
    bool type_at_truth; /* type loss at the observed gap, not at the perturbed ones */
};

/* Reals of memory for batches of up to n events. */
size_t OP(loss_memory)(const struct model *model, const struct loss_config *config, size_t n, int threads);

/* grad NULL: the loss alone. Else gradients are added to grad (a slab). Sums have one order, whatever the threads. */
struct loss OP(loss_of_batch)(const struct op_run *run, const struct model *model,
                              const struct objective_class *objective, const struct loss_config *config,
                              const real *slab, const struct batch *batch, real *memory, real *grad);

#endif
