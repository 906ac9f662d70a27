/* Compiled twice, for float and for double: see op/op.h. */
/*
 * objective_mle.c - the likelihood: Lambda(tau) - ln lambda(tau), Lambda by Gauss-Legendre from the lower end of the
 * support.
 *
 * A gap censored by the end of observation has the likelihood of no event: Lambda alone.
 *
 * With a clock (clock.h), lambda e^beta takes the place of lambda. The rule is then composite: the points above up to
 * the first panel of CLOCK_NODE_PANEL seconds, CLOCK_NODES for each such panel up to the clock's cut, and CLOCK_REST
 * beyond it.
 */
#include "model/objective.h"

#include "base/gauss_legendre.h"
#include "op/intensity.h"

#include <math.h>

/* From the lower end of the support to the gap; a gap below it, which train does not have, adds nothing. */
static double span_of(const struct objective_config *config, const struct target *target)
{
    return target->gap > config->low ? target->gap - config->low : 0;
}

/* ---- Nodes with a clock ---------------------------------------------------------------------------- */

/* Gauss-Legendre of CLOCK_NODES points on [0, 1]. */
static const double node[CLOCK_NODES] = {0.06943184420297371, 0.33000947820757187, 0.6699905217924281,
                                         0.9305681557970262},
                    weight[CLOCK_NODES] = {0.17392742256872692, 0.3260725774312731, 0.3260725774312731,
                                           0.17392742256872692};

/* Number of panels of a gap, and where they begin and end, in seconds. */
static size_t panels(const struct objective_config *config, const struct target *target, double *from, double *to)
{
    *from = fmin(CLOCK_NODE_PANEL, config->clock->cut);
    *to = fmin(smurf_clock_gap(config->clock, target->gap).gap, config->clock->cut);
    return *to > *from ? (size_t)ceil((*to - *from) / CLOCK_NODE_PANEL) : 0;
}

static size_t clock_count(const struct objective_config *config, const struct target *target)
{
    double from, to;
    size_t n = config->points + CLOCK_NODES * panels(config, target, &from, &to);
    return n + (smurf_clock_gap(config->clock, target->gap).gap > config->clock->cut ? CLOCK_REST : 0);
}

/* Nodes and weights on the law's axis; either may be NULL. */
static void clock_nodes(const struct objective_config *config, const struct target *target, real *y, double *w)
{
    const smurf_scale *scale = &config->clock->scale;
    double from, to, start = smurf_scale_forward(scale, config->clock->cut);
    size_t n = 0, count = panels(config, target, &from, &to);
    double first = fmin(target->gap, smurf_scale_forward(scale, from)), span = fmax(first - config->low, 0);
    for (size_t i = 0; i < config->points; i++, n++) {
        if (y) y[n] = (real)(config->low + span * config->node[i]);
        if (w) w[n] = span * config->weight[i];
    }
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < CLOCK_NODES; i++, n++) {
            double width = (to - from) / (double)count, gap = from + width * ((double)k + node[i]);
            if (y) y[n] = (real)smurf_scale_forward(scale, gap);
            if (w) w[n] = width * weight[i] * exp(smurf_scale_log_slope(scale, gap));
        }
    for (size_t k = 0; target->gap > start && k < CLOCK_REST / CLOCK_NODES; k++)
        for (size_t i = 0; i < CLOCK_NODES; i++, n++) {
            double width = (target->gap - start) / (CLOCK_REST / CLOCK_NODES);
            if (y) y[n] = (real)(start + width * ((double)k + node[i]));
            if (w) w[n] = width * weight[i];
        }
}

/* ---- The objective --------------------------------------------------------------------------------- */

static int order(const struct objective_config *config)
{
    (void)config;
    return 0;
}

static size_t count(const struct objective_config *config, const struct target *target)
{
    return (config->clock ? clock_count(config, target) : config->points) + !target->censored;
}

static void place(const struct objective_config *config, const struct op_run *run, const struct target *target,
                  size_t n, real *tau)
{
    (void)run;
    double span = span_of(config, target);
    if (config->clock)
        clock_nodes(config, target, tau, NULL);
    else
        for (size_t i = 0; i < config->points; i++) tau[i] = (real)(config->low + span * config->node[i]);
    if (!target->censored) tau[n - 1] = (real)target->gap;
}

/* -ln lambda at the gap, and its derivative by u. */
static double minus_log(real u, real *g)
{
    *g = -1;
    if (u < -40) return -(double)u; /* ln lambda = u to full precision; lambda itself may underflow */
    struct intensity l = intensity_at(u);
    *g = -l.q / l.lambda;
    return -(double)log_real(l.lambda);
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
    return n == config->points ? sum : sum + minus_log(u[n - 1], &g0[n - 1]);
}

static double clocked(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                      const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2,
                      const struct clock_points *clock)
{
    (void)tau, (void)u1, (void)u2, (void)g1, (void)g2;
    double share[POINTS_MOST + CLOCK_NODES_MOST], sum = 0;
    size_t nodes = n - !target->censored;
    clock_nodes(config, target, NULL, share);
    for (size_t i = 0; i < nodes; i++) {
        struct intensity l = intensity_at(u[i]);
        double factor = share[i] * exp((double)clock->b[i]);
        g0[i] = (real)factor * l.q;
        clock->g0[i] = (real)factor * l.lambda;
        sum += factor * (double)l.lambda;
    }
    if (target->censored) return sum;
    clock->g0[nodes] = -1;
    return sum + minus_log(u[nodes], &g0[nodes]) - (double)clock->b[nodes];
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
    .clocked = clocked,
};
