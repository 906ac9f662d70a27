/* Compiled twice, for float and for double: see op/op.h. */
/* norm.c - see norm.h. Compiled with -ffast-math so that sums over a row are vectorised. */
#include "op/norm.h"

#include "base/clones.h"

#include <math.h>

struct moments {
    real mean, inverse; /* 1 / standard deviation */
};

OP_CLONES
static struct moments moments_of(size_t d, real eps, const real *restrict x)
{
    real sum = 0, square = 0;
    for (size_t k = 0; k < d; k++) sum += x[k];
    real mean = sum / (real)d;
    for (size_t k = 0; k < d; k++) square += (x[k] - mean) * (x[k] - mean);
    return (struct moments){mean, 1 / (real)sqrt((double)(square / (real)d + eps))};
}

OP_CLONES
static void forward_row(size_t d, struct moments m, const real *restrict x, const real *restrict gain,
                        const real *restrict bias, real *restrict y)
{
    for (size_t k = 0; k < d; k++) y[k] = gain[k] * (x[k] - m.mean) * m.inverse + bias[k];
}

void norm_forward(size_t n, size_t d, double eps, const real *x, const real *gain, const real *bias, real *y)
{
    for (size_t i = 0; i < n; i++)
        forward_row(d, moments_of(d, (real)eps, x + i * d), x + i * d, gain, bias, y + i * d);
}

/* With xh the normalised row and g = gain dy:  dx = inverse (g - mean(g) - xh mean(g xh)). */
OP_CLONES
static void backward_row(size_t d, struct moments m, const real *restrict x, const real *restrict gain, const real *dy,
                         real *dx)
{
    real sum = 0, moment = 0;
    for (size_t k = 0; k < d; k++) {
        real g = gain[k] * dy[k];
        sum += g;
        moment += g * (x[k] - m.mean);
    }
    sum /= (real)d;
    moment *= m.inverse * m.inverse / (real)d;
    for (size_t k = 0; k < d; k++) dx[k] = m.inverse * (gain[k] * dy[k] - sum - (x[k] - m.mean) * moment);
}

void norm_backward(size_t n, size_t d, double eps, const real *x, const real *gain, const real *dy, real *dx)
{
    for (size_t i = 0; i < n; i++)
        backward_row(d, moments_of(d, (real)eps, x + i * d), x + i * d, gain, dy + i * d, dx + i * d);
}

OP_CLONES
static void gradient_row(size_t d, struct moments m, const real *restrict x, const real *restrict dy,
                         real *restrict dgain, real *restrict dbias)
{
    for (size_t k = 0; k < d; k++) {
        dgain[k] += dy[k] * (x[k] - m.mean) * m.inverse;
        dbias[k] += dy[k];
    }
}

void norm_gradient(size_t n, size_t d, double eps, const real *x, const real *dy, real *dgain, real *dbias)
{
    for (size_t i = 0; i < n; i++)
        gradient_row(d, moments_of(d, (real)eps, x + i * d), x + i * d, dy + i * d, dgain, dbias);
}
