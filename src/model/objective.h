/*
 * objective.h - training objectives, one per file.
 *
 * For each predicted event an objective places points on the law's axis; the gap head computes u, u', u'' there; the
 * objective turns them into a loss and its gradient. It never sees the encoder, batches or threads. To add one: write
 * the file objective_NAME.c, and add its name to OBJECTIVES.
 */
#ifndef SMURF_MODEL_OBJECTIVE_H
#define SMURF_MODEL_OBJECTIVE_H

#include "law/exact.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/head.h"
#include "op/op.h"

#include <stdbool.h>
#include <stdint.h>

/* Short names; see op.h. */
#define objective_at    OP(objective_at)
#define objective_named OP(objective_named)

enum { SIGMAS_MOST = 8, POINTS_MOST = 512 };
/* Nodes of the likelihood of a law with a clock: seconds of a panel, nodes in it, nodes beyond the cut; and how many
   there are at most, with a cut of CLOCK_CUT_MOST. */
enum { CLOCK_NODE_PANEL = 4 * 3600, CLOCK_NODES = 4, CLOCK_REST = 16 };
enum { CLOCK_NODES_MOST = CLOCK_CUT_MOST / CLOCK_NODE_PANEL * CLOCK_NODES + CLOCK_REST };

/* Settings, on the law's own axis. */
struct objective_config {
    const struct objective_class *class;
    enum parametrisation param;
    double low;                /* lower end of the law's support */
    bool log_axis;             /* log time, which has no end at 0 */
    const struct clock *clock; /* of the model; NULL: none */
    /* Set by the objective's prepare. */
    size_t points;             /* most points per target, not counting the gap itself */
    double sigma[SIGMAS_MOST]; /* standard deviations of the noise, used in turn */
    size_t sigmas;
    bool multiplicative;                           /* tau e^{sigma eps} instead of tau + sigma eps */
    bool stop;                                     /* do not differentiate lambda'/lambda */
    double node[POINTS_MOST], weight[POINTS_MOST]; /* Gauss-Legendre on [0, 1] */
};

/* Most points of a target, not counting the gap itself. */
static inline size_t objective_points(const struct objective_config *config)
{
    return config->points + (config->clock ? CLOCK_NODES_MOST : 0);
}

struct objective_class {
    const char *name, *about;

    /* Properties and requirements. */
    bool censored;        /* uses censored gaps */
    bool perturbed;       /* its points are perturbations of the gap, at which types can be evaluated too */
    bool intensity;       /* needs a head that gives an intensity */
    enum exact_mass mass; /* whether its laws have mass beyond their table */
    /* The noise its laws carry, which is removed again; and how far noise widens the law's support, on its axis. NULL:
       no noise, and none to choose. */
    double (*noise)(const smurf_settings *settings);
    double (*spread)(const smurf_settings *settings);
    /* Rejects incompatible settings; NULL: accepts all. */
    smurf_status (*check)(const smurf_settings *settings, smurf_error *err);
    /* Fills its part of a config. */
    void (*prepare)(const smurf_settings *settings, struct objective_config *out);

    int (*order)(const struct objective_config *config); /* derivatives of u it needs: 0, 1, 2 */
    size_t (*count)(const struct objective_config *config, const struct target *target);
    void (*place)(const struct objective_config *config, const struct op_run *run, const struct target *target,
                  size_t n, real *tau);
    /* The loss; g0, g1, g2 (n) get its gradient with respect to u, u', u'', up to the order. */
    double (*loss)(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                   const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2);
    /* The same for lambda e^beta; also sets the gradient by beta and its derivatives (clock.h), up to the order. NULL:
       it cannot learn a clock. */
    double (*clocked)(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                      const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2,
                      const struct clock_points *clock);
};

#define OBJECTIVES(X)           X(dsm) X(sm) X(wsm) X(mle)
#define OBJECTIVE_DECLARE(name) extern const struct objective_class OP(objective_##name);
OBJECTIVES(OBJECTIVE_DECLARE)

/* NULL past the last; NULL for an unknown name. */
const struct objective_class *objective_at(size_t index);
const struct objective_class *objective_named(const char *name);

#endif
