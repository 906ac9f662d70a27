/*
 * exact_rules.c - linear operations on the values of a function at the Chebyshev nodes of [0, 1].
 *
 *     nodes         t_j = (1 - cos(j pi / N)) / 2,  s = 2 t - 1
 *     coefficients  c_k = 2 g_k / N sum_j g_j v_j T_k(s_j),  g = 1/2 at both ends, else 1
 *     values        sum_k c_k T_k(s);  integrals and derivatives from those of T_k
 */
#include "law/exact_table.h"

#include <math.h>
#include <string.h>

enum { N = PANEL_DEGREE };

const int smurf_panel_cells[PANEL_GRIDS] = {1, 2, 3, 4, 6, 8, 12, 16, 24, PANEL_GRID};

void smurf_panel_apply(const double *map, const double *value, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = map[i] * value[0];
    for (size_t j = 1; j < PANEL_NODES; j++)
        for (size_t i = 0; i < n; i++) out[i] += map[j * n + i] * value[j];
}

/* T_0 .. T_{N+1} at s in [-1, 1]. */
static void polynomials(double s, double out[N + 2])
{
    out[0] = 1;
    out[1] = s;
    for (int k = 2; k < N + 2; k++) out[k] = 2 * s * out[k - 1] - out[k - 2];
}

/* The integrals of T_0 .. T_N from -1 to s. */
static void integrals(double s, double out[N + 1])
{
    double t[N + 2], l[N + 2];
    polynomials(s, t);
    polynomials(-1, l);
    out[0] = s + 1;
    out[1] = (s * s - 1) / 2;
    for (int k = 2; k <= N; k++) out[k] = (t[k + 1] - l[k + 1]) / (2 * (k + 1)) - (t[k - 1] - l[k - 1]) / (2 * (k - 1));
}

/* Coefficients of the derivative with respect to s, in place. */
static void differentiate(double c[N + 1])
{
    double d[N + 3] = {0};
    for (int k = N; k >= 1; k--) d[k - 1] = d[k + 1] + 2 * k * c[k];
    d[0] /= 2;
    memcpy(c, d, sizeof(double) * (N + 1));
}

/* Coefficients of the polynomial that is 1 at node j and 0 at the others. */
static void basis(const struct panel_rules *rules, size_t j, double out[N + 1])
{
    for (size_t k = 0; k <= N; k++) out[k] = rules->coefficient[j * PANEL_NODES + k];
}

/* Weights for the value at t and for the integral from 0 to t: out[j * stride] for node j. */
static void weigh(const struct panel_rules *rules, double t, double *value, double *integral, size_t stride)
{
    double p[N + 2], sum[N + 1], c[N + 1];
    polynomials(2 * t - 1, p);
    integrals(2 * t - 1, sum);
    for (size_t j = 0; j <= N; j++) {
        double v = 0, s = 0;
        basis(rules, j, c);
        for (int k = 0; k <= N; k++) {
            v += c[k] * p[k];
            s += c[k] * sum[k] / 2;
        }
        if (value) value[j * stride] = v;
        if (integral) integral[j * stride] = s;
    }
}

/* Weights for a derivative at t: out[j * stride] for node j. */
static void weigh_derivative(const struct panel_rules *rules, int order, double t, double *out, size_t stride)
{
    double p[N + 2], c[N + 1];
    polynomials(2 * t - 1, p);
    for (size_t j = 0; j <= N; j++) {
        double sum = 0;
        basis(rules, j, c);
        for (int turn = 0; turn < order; turn++) differentiate(c);
        for (int k = 0; k <= N; k++) sum += c[k] * p[k];
        out[j * stride] = ldexp(sum, order); /* s = 2 t - 1 */
    }
}

void smurf_panel_rules(struct panel_rules *rules)
{
    const double pi = 3.14159265358979323846;
    double p[N + 2];
    for (int j = 0; j <= N; j++) {
        rules->node[j] = 2 * j == N ? 0.5 : 0.5 * (1 - cos(j * pi / N));
        polynomials(2 * rules->node[j] - 1, p);
        for (int k = 0; k <= N; k++)
            rules->coefficient[j * PANEL_NODES + k] = 2.0 / N * (k % N ? 1 : 0.5) * (j % N ? 1 : 0.5) * p[k];
    }
    for (size_t i = 0; i <= N; i++) {
        weigh(rules, rules->node[i], NULL, rules->integral + i, PANEL_NODES);
        weigh_derivative(rules, 3, rules->node[i], rules->third + i, PANEL_NODES);
        weigh(rules, rules->node[i] / 2, rules->half[0] + i, NULL, PANEL_NODES);
        weigh(rules, rules->node[i] / 2 + 0.5, rules->half[1] + i, NULL, PANEL_NODES);
    }
    weigh(rules, 1, NULL, rules->weight, 1);
    weigh(rules, 0.5, NULL, rules->middle, 1);
    for (size_t g = 0; g < PANEL_GRIDS; g++) {
        size_t m = (size_t)smurf_panel_cells[g];
        for (size_t i = 0; i < m; i++) {
            double t = (double)(i + 1) / (double)m;
            weigh(rules, t, rules->grid_value[g] + i, rules->grid_integral[g] + i, m);
            weigh_derivative(rules, 1, t, rules->grid_slope[g] + i, m);
        }
    }
}
