/* Compiled twice, for float and for double: see op/op.h. */
/*
 * type_head.c - see type_head.h.
 *
 * Arrays over points have one row per unit or type, so that loops run over points; with one point and many types, over
 * types.
 */
#include "op/type_head.h"

#include "base/clones.h"
#include "op/gemm.h"
#include "op/real.h"

OP_CLONES
static void units(const real *restrict tau, size_t n, real a, real b, real *restrict h)
{
    for (size_t i = 0; i < n; i++) h[i] = tanh_real(a * tau[i] + b);
}

void type_head_forward(size_t types, size_t width, const real *a, const real *b, const real *w, const real *c,
                       const real *tau, size_t n, real *h, real *logits)
{
    for (size_t k = 0; k < width; k++) units(tau, n, a[k], b[k], h + k * n);
    for (size_t k = 0; k < types; k++)
        for (size_t i = 0; i < n; i++) logits[k * n + i] = c[k];
    gemm(0, 0, types, n, width, 1, w, width, h, n, 1, logits, n);
}

OP_CLONES
static void one_point(size_t width, const real *restrict a, const real *restrict b, real tau, real *restrict h)
{
    for (size_t k = 0; k < width; k++) h[k] = tanh_real(a[k] * tau + b[k]);
}

void type_head_units(size_t width, const real *a, const real *b, real tau, real *h)
{
    one_point(width, a, b, tau, h);
}

/* Points are processed in runs of this many, with maxima and sums on the stack. */
enum { RUN = 128 };

OP_CLONES
static void maxima(size_t types, size_t n, size_t m, const real *restrict x, real *restrict max)
{
    for (size_t i = 0; i < m; i++) max[i] = x[i];
    for (size_t k = 1; k < types; k++)
        for (size_t i = 0; i < m; i++) max[i] = x[k * n + i] > max[i] ? x[k * n + i] : max[i];
}

/* Replaces x by exp(x - max); sum gets the sums over types. */
OP_CLONES
static void exponentials(size_t types, size_t n, size_t m, real *restrict x, const real *restrict max,
                         real *restrict sum)
{
    for (size_t i = 0; i < m; i++) sum[i] = 0;
    for (size_t k = 0; k < types; k++)
        for (size_t i = 0; i < m; i++) {
            real e = exp_real(x[k * n + i] - max[i]);
            x[k * n + i] = e;
            sum[i] += e;
        }
}

/* Replaces sum by factor / sum, and max by the logarithm of the sum of exp(logit). */
OP_CLONES
static void norms(size_t m, real factor, real *restrict sum, real *restrict max)
{
    for (size_t i = 0; i < m; i++) {
        max[i] += log_real(sum[i]);
        sum[i] = factor / sum[i];
    }
}

OP_CLONES
static void scale_rows(size_t types, size_t n, size_t m, real *restrict x, const real *restrict factor)
{
    for (size_t k = 0; k < types; k++)
        for (size_t i = 0; i < m; i++) x[k * n + i] *= factor[i];
}

/* One run of m columns, of which the first `points` count: adds up losses and hits, and leaves the gradient. n: columns
   in total. mass: sum of the targets. */
static double run_loss(size_t types, size_t n, size_t m, size_t points, uint32_t target, double smoothing, double mass,
                       real scale, real *logits, double *hits)
{
    real max[RUN], sum[RUN], truth[RUN], all[RUN];
    double other = smoothing / (double)types, loss = 0;
    maxima(types, n, m, logits, max);
    for (size_t i = 0; i < m; i++) {
        truth[i] = logits[target * n + i];
        all[i] = 0;
    }
    for (size_t i = 0; i < points; i++) *hits += truth[i] >= max[i];
    for (size_t k = 0; smoothing > 0 && k < types; k++)
        for (size_t i = 0; i < m; i++) all[i] += logits[k * n + i];
    exponentials(types, n, m, logits, max, sum);
    norms(m, scale * (real)mass, sum, max);
    for (size_t i = 0; i < points; i++)
        loss += mass * (double)max[i] - (1 - smoothing - other) * (double)truth[i] - other * (double)all[i];
    if (smoothing <= 0) {
        scale_rows(types, n, m, logits, sum);
    } else {
        for (size_t k = 0; k < types; k++)
            for (size_t i = 0; i < m; i++) logits[k * n + i] = logits[k * n + i] * sum[i] - scale * (real)other;
    }
    for (size_t i = 0; i < m; i++) logits[target * n + i] -= scale * (real)(1 - smoothing - other);
    for (size_t k = 0; points < m && k < types; k++)
        for (size_t i = points; i < m; i++) logits[k * n + i] = 0;
    return loss;
}

/* ---- One point, many types: the loops run over types ----------------------------------------- */

/* Largest element of x, and the sum. */
OP_CLONES
static real largest(size_t n, const real *restrict x, real *sum)
{
    real most = x[0], all = 0;
#pragma omp simd reduction(max : most) reduction(+ : all)
    for (size_t k = 0; k < n; k++) {
        most = x[k] > most ? x[k] : most;
        all += x[k];
    }
    *sum = all;
    return most;
}

OP_CLONES
static real exponentials_of_row(size_t n, real *restrict x, real most)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t k = 0; k < n; k++) {
        x[k] = exp_real(x[k] - most);
        sum += x[k];
    }
    return sum;
}

OP_CLONES
static void scale_row(size_t n, real *restrict x, real factor, real shift)
{
    for (size_t k = 0; k < n; k++) x[k] = x[k] * factor - shift;
}

/* As run_loss. */
static double row_loss(size_t types, uint32_t target, double smoothing, double mass, real scale, real *logits,
                       double *hits)
{
    double other = smoothing / (double)types;
    real all, truth = logits[target], max = largest(types, logits, &all), sum;
    *hits += truth >= max;
    sum = exponentials_of_row(types, logits, max);
    scale_row(types, logits, scale * (real)mass / sum, scale * (real)other);
    logits[target] -= scale * (real)(1 - smoothing - other);
    return mass * ((double)max + (double)log_real(sum)) - (1 - smoothing - other) * (double)truth - other * (double)all;
}

double type_head_loss(size_t types, size_t all, size_t n, uint32_t target, double smoothing, real scale, real *logits,
                      double *right)
{
    double mass = 1 - smoothing / (double)types, loss = 0, hits = 0;
    if (smoothing <= 0) mass = 1, smoothing = 0;
    *right = 0;
    if (all == 1 && types >= TYPES_MANY) return row_loss(types, target, smoothing, mass, scale, logits, right);
    for (size_t i = 0; i < all; i += RUN) {
        size_t m = all - i < RUN ? all - i : RUN, points = n <= i ? 0 : n - i < m ? n - i : m;
        loss += run_loss(types, all, m, points, target, smoothing, mass, scale / (real)n, logits + i, &hits);
    }
    *right = hits / (double)n;
    return loss / (double)n;
}

/* da, db of one unit: sums over points of dh (1 - h^2), and times tau. */
OP_CLONES
static void gather(size_t n, const real *restrict tau, const real *restrict h, const real *restrict dh, real *da,
                   real *db)
{
    real sum = 0, moment = 0;
#pragma omp simd reduction(+ : sum, moment)
    for (size_t i = 0; i < n; i++) {
        real e = dh[i] * (1 - h[i] * h[i]);
        sum += e;
        moment += e * tau[i];
    }
    *db = sum;
    *da = moment;
}

OP_CLONES
static real row_sum(const real *restrict x, size_t n)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

void type_head_backward(size_t types, size_t width, const real *a, const real *w, const real *tau, size_t n,
                        const real *h, const real *g, real *dh, real *da, real *db, real *dw, real *dc)
{
    (void)a;
    gemm(1, 0, width, n, types, 1, w, width, g, n, 0, dh, n);
    gemm(0, 1, types, width, n, 1, g, n, h, n, 1, dw, width);
    for (size_t k = 0; k < types; k++) dc[k] += row_sum(g + k * n, n);
    for (size_t k = 0; k < width; k++) gather(n, tau, h + k * n, dh + k * n, &da[k], &db[k]);
}
