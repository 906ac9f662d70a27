/* Compiled twice, for float and for double: see op/op.h. */
/* ending.c - see ending.h. */
#include "model/ending.h"

#include "op/gap_head.h"
#include "op/intensity.h"
#include "op/linear.h"
#include "op/softplus.h"

#include <math.h>

void ending_forward(const struct ending_params *at, const real *slab, size_t width, size_t n, const real *h, real *s)
{
    linear_forward(n, width, 1, h, slab + at->w, slab + at->b, s);
}

void ending_backward(const struct ending_params *at, const real *slab, size_t width, size_t n, const real *h,
                     const real *ds, real *dh, real *grad)
{
    linear_backward(n, width, 1, ds, slab + at->w, 1, dh);
    linear_gradient(n, width, 1, h, ds, 0, 1, grad + at->w, grad + at->b);
}

double ending_event(double s, double *by_s)
{
    *by_s = logistic(s);
    return softplus(s);
}

/* ln(e^s + e^-L) = softplus(s + L) - L. */
double ending_none(double s, double compensator, double *by_s, double *by_compensator)
{
    double ended = logistic(s + compensator); /* given that nothing came */
    *by_s = logistic(s) - ended;
    *by_compensator = 1 - ended;
    return softplus(s) + compensator - softplus(s + compensator);
}

/* ---- Survival of normalised laws ----------------------------------------------------------------- */

/* Such laws rarely have less left. */
static const double most = 50;

static void heads(const struct ending_head *head, size_t n, real *tau, real *u, real *z)
{
    for (size_t i = n; i < op_filled(n); i++) tau[i] = tau[n - 1];
    gap_head_forward(0, head->width, head->a, head->b, head->w, head->c, tau, op_filled(n), z, u, NULL, NULL);
}

/* Lambda, the integral of the intensity from the lower end to y. */
static double integral(const struct objective_config *c, const struct ending_head *head, double y, real *tau, real *u,
                       real *z)
{
    double sum = 0, span = y - c->low;
    if (!(span > 0)) return 0;
    for (size_t i = 0; i < c->points; i++) tau[i] = (real)(c->low + span * c->node[i]);
    heads(head, c->points, tau, u, z);
    for (size_t i = 0; i < c->points; i++) sum += span * c->weight[i] * (double)intensity_at(u[i]).lambda;
    return sum;
}

/* e^-Lambda(y) = (e^-l(y) - e^-l(high)) / (1 - e^-l(high)), l the integral of the intensity. */
double ending_normalised(double here, double all)
{
    double out = all > here ? here - log(-expm1(here - all)) + log(-expm1(-all)) : most;
    return out < most ? out : most;
}

static double of_intensity(const struct objective_config *c, const struct ending_head *head, double high, double gap,
                           real *tau, real *u, real *z)
{
    return ending_normalised(integral(c, head, gap, tau, u, z), integral(c, head, high, tau, u, z));
}

/* The integral of the score from 0 to y: sum w/a (ln cosh(a y + b) - ln cosh b) + c y. */
static double log_density(const struct ending_head *head, double y)
{
    double sum = (double)head->c * y;
    for (size_t k = 0; k < head->width; k++) {
        double a = (double)head->a[k], b = (double)head->b[k], w = (double)head->w[k], x = fabs(a * y + b);
        if (fabs(a) > 1e-5)
            sum += w / a * (x - fabs(b) + log1p(exp(-2 * x)) - log1p(exp(-2 * fabs(b))));
        else
            sum += w * tanh(b) * y;
    }
    return sum;
}

/* ln of the integral of the density from `from` to `to`, up to the constant of log_density. */
static double log_mass(const struct objective_config *c, const struct ending_head *head, double from, double to)
{
    double top = -INFINITY, sum = 0, value[POINTS_MOST];
    for (size_t i = 0; i < c->points; i++) {
        value[i] = log_density(head, from + (to - from) * c->node[i]);
        top = fmax(top, value[i]);
    }
    for (size_t i = 0; i < c->points; i++) sum += c->weight[i] * exp(value[i] - top);
    return top + log(sum * (to - from));
}

static double of_score(const struct objective_config *c, const struct ending_head *head, double high, double gap)
{
    if (!(gap < high)) return most;
    return softplus(log_mass(c, head, c->low, gap) - log_mass(c, head, gap, high));
}

double ending_compensator(const struct objective_config *likelihood, const struct ending_head *head, double high,
                          double gap, real *tau, real *u, real *z)
{
    if (!(gap > likelihood->low)) return 0;
    double out = likelihood->param == PARAM_INTENSITY ? of_intensity(likelihood, head, high, gap, tau, u, z)
                                                      : of_score(likelihood, head, high, gap);
    return out < most ? out : most;
}
