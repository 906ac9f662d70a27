/* Compiled twice, for float and for double: see op/op.h. */
/*
 * objective_dsm.c - denoising score matching: the score of the noisy gap.
 *
 * With eps ~ N(0, 1), averaged over the points:
 *     additive        t = tau + sigma eps      1/2 sigma^2 (psi(t) - (tau - t)/sigma^2)^2
 *     multiplicative  t = tau e^{sigma eps}    1/2 sigma^2 t^2 (psi(t) + (1 + eps/sigma)/t)^2
 * Several sigmas alternate. With `stop` the quotient lambda'/lambda is not differentiated: only -lambda learns.
 *
 * Noise blurs the clock of long gaps. So with a clock (clock.h), beta is held constant here, and takes its gradient
 * from weighted score matching at the gap itself, the last point; times sigma^2, to which the squares above amount.
 */
#include "model/objective.h"

#include "base/clones.h"
#include "model/clock_score.h"
#include "op/intensity.h"
#include "op/noise.h"

static int order(const struct objective_config *config)
{
    return config->param == PARAM_INTENSITY ? (config->clock ? 2 : 1) : 0;
}

static size_t count(const struct objective_config *config, const struct target *target)
{
    (void)target;
    return config->points + (config->clock ? 1 : 0);
}

/* A tie has no logarithm, so multiplicative noise uses a minimum gap. */
static double gap_of(const struct objective_config *config, const struct target *target)
{
    return config->multiplicative && target->gap < 1e-6 ? 1e-6 : target->gap;
}

static void place(const struct objective_config *config, const struct op_run *run, const struct target *target,
                  size_t n, real *tau)
{
    double gap = gap_of(config, target);
    if (config->clock) tau[--n] = (real)target->gap;
    noise_normal(run, 0, target->id, n, tau);
    for (size_t s = 0; s < config->sigmas; s++) {
        double sigma = config->sigma[s];
        for (size_t i = s; i < n; i += config->sigmas)
            tau[i] = (real)(config->multiplicative ? gap * exp(sigma * (double)tau[i]) : gap + sigma * (double)tau[i]);
    }
}

/* Target scores of the noise, and the weights of the squares. */
static void aim(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                real *score, real *weight)
{
    double gap = gap_of(config, target);
    for (size_t s = 0; s < config->sigmas; s++) {
        double sigma = config->sigma[s], s2 = sigma * sigma, inverse = 1 / s2;
        for (size_t i = s; i < n; i += config->sigmas) {
            double t = (double)tau[i];
            if (config->multiplicative) {
                double eps = log(t / gap) / sigma;
                score[i] = (real)(-(1 + eps / sigma) / t);
                weight[i] = (real)(s2 * t * t);
            } else {
                score[i] = (real)((gap - t) * inverse);
                weight[i] = (real)s2;
            }
        }
    }
}

/* g0, g1: on entry the target scores and the weights; on return the gradient. Returns the sum of the squares. */
OP_CLONES
static real squares_intensity(size_t n, bool stop, const real *restrict u, const real *restrict u1, real *restrict g0,
                              real *restrict g1)
{
    real sum = 0;
    const real share = 1 / (real)n, whole = stop ? 0 : 1;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        struct intensity l = intensity_at(u[i]);
        real miss = l.r * u1[i] - l.lambda - g0[i], g = g1[i] * miss;
        sum += g * miss;
        g *= share;
        g0[i] = g * (whole * l.kappa * u1[i] - l.q);
        g1[i] = g * whole * l.r;
    }
    return sum;
}

static real squares_score(size_t n, const real *u, real *g0, const real *weight)
{
    real sum = 0;
    for (size_t i = 0; i < n; i++) {
        real miss = u[i] - g0[i], g = weight[i] * miss;
        sum += g * miss;
        g0[i] = g / (real)n;
    }
    return sum;
}

static double loss(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                   const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2)
{
    (void)u2, (void)g2;
    aim(config, target, n, tau, g0, g1);
    real sum = config->param == PARAM_INTENSITY ? squares_intensity(n, config->stop, u, u1, g0, g1)
                                                : squares_score(n, u, g0, g1);
    return 0.5 * (double)sum / (double)n;
}

static double clocked(const struct objective_config *config, const struct target *target, size_t n, const real *tau,
                      const real *u, const real *u1, const real *u2, real *g0, real *g1, real *g2,
                      const struct clock_points *clock)
{
    const real whole = config->stop ? 0 : 1;
    double sum = 0, h, h_slope, share = 0;
    for (size_t s = 0; s < config->sigmas; s++) share += config->sigma[s] * config->sigma[s] / (double)config->sigmas;
    clock_score_weight(config, target, &h, &h_slope);
    double at_gap = share * clock_score_loss(h, h_slope, --n, u, u1, u2, g0, g1, g2, clock);
    clock->g0[n] *= (real)share;
    clock->g1[n] *= (real)share;
    clock->g2[n] *= (real)share;
    g0[n] = g1[n] = g2[n] = 0;
    aim(config, target, n, tau, g0, g1);
    for (size_t i = 0; i < n; i++) {
        struct intensity l = intensity_at(u[i]);
        real factor = exp_real(clock->b[i]);
        real miss = l.r * u1[i] + clock->b1[i] - factor * l.lambda - g0[i], g = g1[i] * miss / (real)n;
        sum += (double)(g * miss);
        g0[i] = g * (whole * l.kappa * u1[i] - factor * l.q);
        g1[i] = g * whole * l.r;
        g2[i] = clock->g0[i] = clock->g1[i] = clock->g2[i] = 0;
    }
    return 0.5 * sum + at_gap;
}

/* ---- Settings --------------------------------------------------------------------------------- */

/* Several noise levels act like one with their mean square. */
static double noise(const smurf_settings *settings)
{
    double sum = 0;
    int n = 0;
    for (; n < SMURF_SIGMAS && settings->sigma[n] > 0; n++) sum += settings->sigma[n] * settings->sigma[n];
    return n ? sqrt(sum / n) : 0;
}

static double spread(const smurf_settings *settings)
{
    double most = 0;
    for (int i = 0; !settings->multiplicative && i < SMURF_SIGMAS; i++) most = fmax(most, 3 * settings->sigma[i]);
    return most;
}

static smurf_status check(const smurf_settings *settings, smurf_error *err)
{
    if (settings->multiplicative && settings->scale == SMURF_SCALE_LOG)
        return smurf_fail(
            err, SMURF_ERROR_ARGUMENT,
            "multiplicative noise needs gaps above 0: use scale none or mean (log time has additive noise)");
    return SMURF_OK;
}

static void prepare(const smurf_settings *settings, struct objective_config *out)
{
    out->points = settings->points;
    for (out->sigmas = 0; out->sigmas < SIGMAS_MOST && settings->sigma[out->sigmas] > 0; out->sigmas++)
        out->sigma[out->sigmas] = settings->sigma[out->sigmas];
    out->multiplicative = settings->multiplicative != 0;
    out->stop = settings->stop_gradient != 0;
}

const struct objective_class OP(objective_dsm) = {
    .name = "dsm",
    .about = "denoising score matching",
    .perturbed = true,
    .mass = EXACT_ONE,
    .noise = noise,
    .spread = spread,
    .check = check,
    .prepare = prepare,
    .order = order,
    .count = count,
    .place = place,
    .loss = loss,
    .clocked = clocked,
};
