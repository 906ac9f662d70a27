/*
 * tweedie.c - turns a law of noisy gaps into one of noise-free gaps.
 *
 *     q0 = q + 1/2 sigma^2 psi(q)                 additive noise
 *     q0 = q exp(1/2 sigma^2 (q psi(q) + 1))      multiplicative noise
 *
 * applied to quantiles, that is, to the nodes of the table, whose levels stay. This is half of the step that gives
 * posterior means, which would shrink too much. Nodes that would pass each other are pooled (isotonic regression,
 * weighted by mass). Densities follow: f0 = f / (dq0/dq).
 *
 * A table made by quadrature provides psi from its polynomials. An error of lambda' moves F by 1/2 sigma^2 exp(-Lambda)
 * times as much, so it does not matter that psi = lambda' / lambda - lambda is inaccurate where lambda is small.
 */
#include "law/exact_table.h"
#include "law/wrap.h"

#include <math.h>

/* Nodes without mass affect only each other. */
static const double least_weight = 1e-12;
/* Minimum distance of pooled nodes, relative to the whole length: keeps the density finite. */
static const double least_step = 1e-12;

static double moved(double q, double psi, double sigma, int multiplicative)
{
    double half = 0.5 * sigma * sigma;
    double to = multiplicative ? q * exp(half * (q * psi + 1)) : q + half * psi;
    return isfinite(to) && (!multiplicative || q > 0) ? to : q;
}

static double mass_about(const struct exact *e, size_t i)
{
    double left = i > 0 ? e->f[i] - e->f[i - 1] : 0, right = i + 1 < e->n ? e->f[i + 1] - e->f[i] : 0;
    return left + right + least_weight;
}

/* The non-decreasing sequence nearest to y (n). mean, weight (n) and count (n) are scratch. */
static void pool(const struct exact *e, double *y, double *mean, double *weight, double *count)
{
    size_t pools = 0, at = 0;
    for (size_t i = 0; i < e->n; i++, pools++) {
        mean[pools] = y[i];
        weight[pools] = mass_about(e, i);
        count[pools] = 1;
        while (pools > 0 && mean[pools - 1] > mean[pools]) {
            double both = weight[pools - 1] + weight[pools];
            mean[pools - 1] = (weight[pools - 1] * mean[pools - 1] + weight[pools] * mean[pools]) / both;
            weight[pools - 1] = both;
            count[pools - 1] += count[pools];
            pools--;
        }
    }
    for (size_t p = 0; p < pools; p++)
        for (double k = 0; k < count[p]; k++) y[at++] = mean[p];
}

static void set_apart(double *y, size_t n)
{
    double step = least_step * fmax(y[n - 1] - y[0], fmax(fabs(y[0]), fabs(y[n - 1])));
    if (!(step > 0)) step = least_step;
    for (size_t i = 1; i < n; i++)
        if (!(y[i] > y[i - 1] + step)) y[i] = y[i - 1] + step;
}

/* dy/dx at node i, of the parabola through it and its neighbours; at the ends, of the line. */
static double stretch(const double *x, const double *y, size_t i, size_t n)
{
    if (i == 0) return (y[1] - y[0]) / (x[1] - x[0]);
    double before = x[i] - x[i - 1], left = (y[i] - y[i - 1]) / before;
    if (i + 1 == n) return left;
    double after = x[i + 1] - x[i], right = (y[i + 1] - y[i]) / after;
    return (left * after + right * before) / (before + after);
}

void smurf_tweedie_apply(struct exact *exact, const struct law *law, double sigma, int multiplicative)
{
    if (!(sigma > 0)) return;
    size_t n = exact->n;
    double *y = exact->work->point, *mean = exact->work->value, *weight = mean + n;
    const double *psi = exact->psi;
    if (!psi) {
        smurf_law_eval_score(law, exact->x, y, n);
        psi = y;
    }
    for (size_t i = 0; i < n; i++) y[i] = moved(exact->x[i], psi[i], sigma, multiplicative);
    pool(exact, y, mean, weight, y + EXACT_NODES_MOST);
    set_apart(y, n);
    for (size_t i = 0; i < n; i++) exact->slope[i] /= stretch(exact->x, y, i, n);
    for (size_t i = 0; i < n; i++) exact->x[i] = y[i];
    smurf_exact_finish(exact);
}
