/*
 * nce.h - the objective of NCE-TPP by itself, for tests: what nce.c minimises is not the loss that it says.
 */
#ifndef SMURF_MODEL_NCE_H
#define SMURF_MODEL_NCE_H

#include "model/model_class.h"

/* Names as calls use them. */
#define nce_contrast OP(nce_contrast)

/* As the loss of the class, with the same gradient; time is the sum that p minimises. */
struct loss nce_contrast(const struct op_run *run, const struct model *m, const struct loss_config *config,
                         const real *slab, const struct batch *batch, real *memory, real *grad);

#endif
