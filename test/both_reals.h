/*
 * both_reals.h - what the property tests call, for float and for double, with doubles at its border.
 * both_reals.c is compiled twice.
 */
#ifndef SMURF_TEST_BOTH_REALS_H
#define SMURF_TEST_BOTH_REALS_H

#include "model_case.h"

struct number_type {
    const char *name;
    double rounding; /* what sums taken in another order may differ by, relative to the largest */

    /* term (targets, by place in the batch; NULL: not asked for) gets each target's objective. grad:
     * (params.total), overwritten. */
    struct loss (*loss)(const struct model_case *c, const struct op_run *run, double *term, double *grad);
    /* a, b: (n x width); type_a, type_b: (n x width/2). */
    void (*coefficients)(const struct model_case *c, const struct op_run *run, double *a, double *b, double *type_a,
                         double *type_b);
    void (*noise)(const struct op_run *run, uint64_t place, uint64_t item, size_t n, double *out);
    void (*dropout)(const struct op_run *run, struct op_dropout dropout, size_t n, double *out);
    /* The loss of one target when u, u', u'' are the same at all points, and the sum of the sizes of its
     * gradient. */
    double (*objective)(const char *name, const struct objective_config *config, const struct target *target,
                        const double u[3], double *slopes);
};

extern const struct number_type smurf_number_type_f32, smurf_number_type_f64;

#endif
