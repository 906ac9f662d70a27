/* Compiled twice, for float and for double: see op/op.h. */
/*
 * thp_head.c - see thp_head.h.
 *
 * Compiled with -ffast-math for the vector exp and log1p of libmvec. In training, loops run over the points of one type
 * (whole vectors, whatever the number of types); in laws, over runs of points; nothing of size points x types is
 * stored.
 */
#include "op/thp_head.h"

#include "base/clones.h"
#include "op/softplus.h"

/* ---- Training -------------------------------------------------------------------------------- */

/* Sums over points of w times softplus(beta x), q and q tau. */
struct sums {
    real lambda, q, qtau;
};

OP_CLONES
static struct sums gather(size_t n, real z, real s, real beta, const real *restrict tau, const real *restrict w)
{
    struct sums out = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        struct intensity l = intensity_at(beta * (z + s * tau[i]));
        real q = w[i] * l.q;
        out.lambda += w[i] * l.lambda;
        out.q += q;
        out.qtau += q * tau[i];
    }
    return out;
}

double thp_integral(const struct thp_head *head, size_t n, const real *tau, const real *w, double scale,
                    struct thp_gradient *g)
{
    double sum = 0, slope = 0, beta = 0;
    for (size_t k = 0; k < head->types; k++) {
        struct sums at = gather(n, head->z[k], head->slope, head->beta, tau, w);
        real lambda = at.lambda / head->beta;
        sum += (double)lambda;
        if (!g) continue;
        g->z[k] += (real)scale * at.q;
        slope += (double)at.qtau;
        beta += (double)((head->z[k] * at.q + head->slope * at.qtau - lambda) / head->beta);
    }
    if (g) {
        g->slope += scale * slope;
        g->beta += scale * beta;
    }
    return sum;
}

/* ---- Laws ------------------------------------------------------------------------------------ */

/* Points are processed in runs of this many, with sums on the stack. */
enum { RUN = 64 };

OP_CLONES
static void add_softplus(double z, double s, const double *restrict tau, double *restrict sum, size_t n)
{
    for (size_t i = 0; i < n; i++) sum[i] += softplus(z + s * tau[i]);
}

OP_CLONES
static void add_logistic(double z, double s, const double *restrict tau, double *restrict sum, size_t n)
{
    for (size_t i = 0; i < n; i++) sum[i] += logistic(z + s * tau[i]);
}

typedef void add_function(double z, double s, const double *restrict tau, double *restrict sum, size_t n);

/* Adds factor times the sum over types of f(beta z_k + beta s tau). */
static void add_types(const struct thp_head *head, add_function *f, double factor, const double *tau, double *out,
                      size_t n)
{
    double beta = (double)head->beta, s = beta * (double)head->slope;
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double sum[RUN] = {0}, at[RUN];
        for (size_t j = 0; j < m; j++) at[j] = tau[i + j];
        for (size_t k = 0; k < head->types; k++) f(beta * (double)head->z[k], s, at, sum, m);
        for (size_t j = 0; j < m; j++) out[i + j] = factor * sum[j];
    }
}

void thp_total(const struct thp_head *head, const double *tau, double *out, size_t n)
{
    add_types(head, add_softplus, 1 / (double)head->beta, tau, out, n);
}

void thp_total_slope(const struct thp_head *head, const double *tau, double *out, size_t n)
{
    add_types(head, add_logistic, (double)head->slope, tau, out, n);
}

OP_CLONES
static void all_types(size_t types, const real *restrict z, double beta, double shift, double *restrict out)
{
    for (size_t k = 0; k < types; k++) out[k] = softplus(beta * (double)z[k] + shift) / beta;
}

void thp_types(const struct thp_head *head, const double *tau, double *out, size_t n)
{
    double beta = (double)head->beta, s = beta * (double)head->slope;
    for (size_t i = 0; i < n; i++) all_types(head->types, head->z, beta, s * tau[i], out + i * head->types);
}
