/*
 * nce.h - the objective of NCE-TPP alone, for tests: nce.c minimises it but reports another loss.
 */
#ifndef SMURF_MODEL_NCE_H
#define SMURF_MODEL_NCE_H

#include "model/model_class.h"

/* Short names; see op.h. */
#define nce_contrast OP(nce_contrast)

/* Same as the loss of the class, with the same gradient, but time is the sum that p minimises. */
struct loss nce_contrast(const struct op_run *run, const struct model *m, const struct loss_config *config,
                         const real *slab, const struct batch *batch, real *memory, real *grad);

#endif
