/* Compiled twice, for float and for double: see op/op.h. */
/* activation.c - see activation.h. Compiled with -ffast-math for the vector erf and exp of libmvec. */
#include "op/activation.h"

#include "base/clones.h"
#include "op/real.h"

static const real half_root = (real)0.70710678118654752440;   /* 1/sqrt(2) */
static const real normal_peak = (real)0.39894228040143267794; /* 1/sqrt(2 pi) */

OP_CLONES
static void gelu(size_t n, const real *x, real *y)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] * (real)0.5 * (1 + erf_real(x[i] * half_root));
}

OP_CLONES
static void gelu_backward(size_t n, const real *restrict x, real *restrict d, real *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        real below = (real)0.5 * (1 + erf_real(x[i] * half_root));
        real density = normal_peak * exp_real((real)-0.5 * x[i] * x[i]);
        y[i] = x[i] * below;
        d[i] *= below + x[i] * density;
    }
}

OP_CLONES
static void relu(size_t n, const real *x, real *y)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0;
}

OP_CLONES
static void relu_backward(size_t n, const real *restrict x, real *restrict d, real *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] > 0 ? x[i] : 0;
        d[i] = x[i] > 0 ? d[i] : 0;
    }
}

void activation_forward(enum activation kind, size_t n, const real *x, real *y)
{
    (kind == ACTIVATION_GELU ? gelu : relu)(n, x, y);
}

void activation_backward(enum activation kind, size_t n, const real *x, real *d, real *y)
{
    (kind == ACTIVATION_GELU ? gelu_backward : relu_backward)(n, x, d, y);
}
