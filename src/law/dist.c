/*
 * dist.c - queries of a distribution, computed from its three functions alone.
 *
 *     mean    k0 + integral of 1 - F
 *     CRPS    integral of F^2 left of the gap and of (1 - F)^2 right of it
 *     spread  integral of F (1 - F)
 *
 * All over [k0, k1], the range of the knots, by five-point Gauss quadrature between neighbouring knots.
 */
#include "law/dist.h"

#include "law/wrap.h"

#include <math.h>
#include <string.h>

enum { GAUSS = 5, CELLS = 64 };

/* Gauss nodes and weights on [0, 1]. */
static const double node[GAUSS] = {0.046910077030668003601, 0.23076534494715845448, 0.5, 0.76923465505284154552,
                                   0.9530899229693319964};
static const double weight[GAUSS] = {0.11846344252809454376, 0.23931433524968323402, 0.28444444444444444444,
                                     0.23931433524968323402, 0.11846344252809454376};

static double at(const struct dist *dist, dist_function *f, double x)
{
    double out;
    f(dist->self, &x, &out, 1);
    return out;
}

double smurf_dist_cdf(const struct dist *dist, double x)
{
    return at(dist, dist->class->cdf, x);
}

double smurf_dist_density(const struct dist *dist, double x)
{
    return at(dist, dist->class->density, x);
}

double smurf_dist_quantile(const struct dist *dist, double level)
{
    return at(dist, dist->class->quantile, level);
}

/* ---- Integrals --------------------------------------------------------------------------------------- */

/* An integrand as a function of F; `past` is set right of the observed gap. */
typedef double integrand(double f, int past);

static double survival(double f, int past)
{
    (void)past;
    return 1 - f;
}

static double variance(double f, int past)
{
    (void)past;
    return f * (1 - f);
}

static double squared_miss(double f, int past)
{
    return past ? (1 - f) * (1 - f) : f * f;
}

/* Integrates over the cells between n edges; cells from edge `split` on are past the gap. */
static double integrate(const struct dist *dist, const double *edge, size_t n, size_t split, integrand *of)
{
    double x[CELLS * GAUSS], sum = 0;
    for (size_t from = 0; from + 1 < n; from += CELLS) {
        size_t m = n - 1 - from < CELLS ? n - 1 - from : CELLS;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < GAUSS; j++)
                x[i * GAUSS + j] = edge[from + i] + (edge[from + i + 1] - edge[from + i]) * node[j];
        dist->class->cdf(dist->self, x, x, m * GAUSS);
        for (size_t i = 0; i < m; i++) {
            double cell = 0;
            for (size_t j = 0; j < GAUSS; j++) cell += weight[j] * of(x[i * GAUSS + j], from + i >= split);
            sum += (edge[from + i + 1] - edge[from + i]) * cell;
        }
    }
    return sum;
}

double smurf_dist_mean(const struct dist *dist)
{
    if (dist->class->mean) return dist->class->mean(dist->self);
    double edge[DIST_KNOTS_MOST];
    size_t n = dist->class->knots(dist->self, edge);
    return edge[0] + integrate(dist, edge, n, 0, survival);
}

double smurf_dist_spread(const struct dist *dist)
{
    double edge[DIST_KNOTS_MOST];
    size_t n = dist->class->knots(dist->self, edge);
    return integrate(dist, edge, n, 0, variance);
}

/* Inserts the gap as an edge and returns its index. Requires edge[0] < gap < edge[n-1] and room for one more. */
static size_t insert(double *edge, size_t *n, double gap)
{
    size_t i = 0;
    while (edge[i] < gap) i++;
    if (edge[i] == gap) return i;
    memmove(edge + i + 1, edge + i, (*n - i) * sizeof *edge);
    edge[i] = gap;
    (*n)++;
    return i;
}

double smurf_dist_crps(const struct dist *dist, double gap)
{
    if (!isfinite(gap)) return isnan(gap) ? NAN : INFINITY;
    if (dist->class->crps) return dist->class->crps(dist->self, gap);
    double edge[DIST_KNOTS_MOST + 1];
    size_t n = dist->class->knots(dist->self, edge);
    if (gap <= edge[0]) return edge[0] - gap + integrate(dist, edge, n, 0, squared_miss);
    if (gap >= edge[n - 1]) {
        double f = smurf_dist_cdf(dist, edge[n - 1]);
        return (gap - edge[n - 1]) * f * f + integrate(dist, edge, n, n, squared_miss);
    }
    size_t split = insert(edge, &n, gap);
    return integrate(dist, edge, n, split, squared_miss);
}

/* ---- Levels ------------------------------------------------------------------------------------------ */

double smurf_dist_pit(const struct dist *dist, double gap, double tick, double v)
{
    double mass[2];
    smurf_ticks_mass(dist, gap, tick, mass);
    return mass[0] + v * (mass[1] - mass[0]);
}

void smurf_dist_draw(const struct dist *dist, const double *u, double *out, size_t n)
{
    dist->class->quantile(dist->self, u, out, n);
}
