/*
 * objective.h - what training minimises, one objective a file.
 *
 * For each predicted event an objective places points on the law's axis; the gap head gives u, u', u'' there; the
 * objective turns them into a loss and its gradient by them. It never sees the encoder, batches or threads. To add one:
 * write the file, and add its name to OBJECTIVES of model/objectives.h.
 */
#ifndef SMURF_TRAIN_OBJECTIVE_H
#define SMURF_TRAIN_OBJECTIVE_H

#include "model/batch.h"
#include "model/head.h"
#include "model/objectives.h"
#include "op/op.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIGMAS_MOST = 8, POINTS_MOST = 512 };

/* Settings, on the law's own axis. */
struct objective_config {
    enum parametrisation param;
    size_t points;             /* dsm: perturbations of each event; mle: nodes of the quadrature */
    double sigma[SIGMAS_MOST]; /* dsm: standard deviations of the noise, used in turn */
    size_t sigmas;
    bool multiplicative;                           /* dsm: tau e^{sigma eps} in place of tau + sigma eps */
    bool stop;                                     /* dsm: do not differentiate lambda'/lambda */
    double low;                                    /* lower end of the law's support */
    bool log_axis;                                 /* wsm: the axis has no end at 0 */
    double node[POINTS_MOST], weight[POINTS_MOST]; /* mle: Gauss-Legendre on [0, 1] */
};

struct objective_class {
    const char *name;
    bool censored;  /* has a use for gaps that were cut off */
    bool perturbed; /* its points are perturbations of the gap, where types can be asked for too */
    int (*order)(const struct objective_config *config); /* derivatives of u that it needs: 0, 1, 2 */
    size_t (*count)(const struct objective_config *config, const struct target *target);
    void (*place)(const struct objective_config *config, const struct op_run *run, const struct target *target,
                  size_t n, real *tau);
    /* The loss; g0, g1, g2 (n) get its gradient by u, u', u'' as far as the order goes. */
    double (*loss)(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                   const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2);
};

#define OBJECTIVE_DECLARE(name) extern const struct objective_class OP(objective_##name);
OBJECTIVES(OBJECTIVE_DECLARE)

/* NULL past the last; NULL if there is none of that name. */
const struct objective_class *OP(objective_at)(size_t index);
const struct objective_class *OP(objective_named)(const char *name);

#endif
