/* Compiled twice, for float and for double: see op/op.h. */
/*
 * objective_mle.c - the likelihood: Lambda(tau) - ln lambda(tau), Lambda by Gauss-Legendre from the lower end of the
 * support.
 *
 * A gap censored by the end of observation has the likelihood of no event: Lambda alone.
 */
#include "model/objective.h"

#include "base/gauss_legendre.h"
#include "op/intensity.h"

/* From the lower end of the support to the gap; a gap below it, which train does not have, adds nothing. */
static double span_of(const struct objective_config *config, const struct target *target)
{
    return target->gap > config->low ? target->gap - config->low : 0;
}

static int order(const struct objective_config *config)
{
    (void)config;
    return 0;
}

static size_t count(const struct objective_config *config, const struct target *target)
{
    return config->points + !target->censored;
}

static void place(const struct objective_config *config, const struct op_run *run, const struct target *target,
                  size_t n, real *tau)
{
    (void)run;
    double span = span_of(config, target);
    for (size_t i = 0; i < config->points; i++) tau[i] = (real)(config->low + span * config->node[i]);
    if (n > config->points) tau[config->points] = (real)target->gap;
}

static double loss(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                   const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2)
{
    (void)tau, (void)u1, (void)u2, (void)g1, (void)g2;
    double span = span_of(config, target), sum = 0;
    for (size_t i = 0; i < config->points; i++) {
        struct intensity l = intensity_at(u[i]);
        sum += span * config->weight[i] * (double)l.lambda;
        g0[i] = (real)(span * config->weight[i]) * l.q;
    }
    if (n == config->points) return sum;
    real last = u[config->points], *g = &g0[config->points];
    if (last < -40) { /* ln lambda = u to full precision; lambda itself may underflow */
        *g = -1;
        return sum - (double)last;
    }
    struct intensity l = intensity_at(last);
    *g = -l.q / l.lambda;
    return sum - (double)log_real(l.lambda);
}

static void prepare(const smurf_settings *settings, struct objective_config *out)
{
    out->points = settings->nodes;
    smurf_gauss_legendre(out->points, out->node, out->weight);
}

const struct objective_class OP(objective_mle) = {
    .name = "mle",
    .about = "likelihood",
    .censored = true,
    .intensity = true,
    .mass = EXACT_REST,
    .prepare = prepare,
    .order = order,
    .count = count,
    .place = place,
    .loss = loss,
};
