/* Compiled twice, for float and for double: see op/op.h. */
/* head.c - see head.h. Compiled with -ffast-math for the vector tanh of libmvec. */
#include "model/head.h"

#include "base/clones.h"
#include "op/linear.h"
#include "op/real.h"

OP_CLONES
static void tanh_all(size_t n, real *x)
{
    for (size_t i = 0; i < n; i++) x[i] = tanh_real(x[i]);
}

void head_forward(const struct head_params *at, const real *slab, size_t width, size_t i0, size_t n, const real *h,
                  const struct head_coefficients *out)
{
    size_t half = width / 2;
    real *a = (real *)out->a + i0 * width, *b = (real *)out->b + i0 * width;
    real *type_a = (real *)out->type_a + i0 * half, *type_b = (real *)out->type_b + i0 * half;
    h += i0 * width;
    linear_forward(n, width, width, h, slab + at->a, slab + at->a_bias, a);
    linear_forward(n, width, width, h, slab + at->b, slab + at->b_bias, b);
    linear_forward(n, width, half, h, slab + at->type_a, slab + at->type_a_bias, type_a);
    linear_forward(n, width, half, h, slab + at->type_b, slab + at->type_b_bias, type_b);
    tanh_all(n * width, a);
    tanh_all(n * half, type_a);
}

static void through_tanh(size_t n, const real *a, real *da)
{
    for (size_t i = 0; i < n; i++) da[i] *= 1 - a[i] * a[i];
}

void head_backward(const struct head_params *at, const real *slab, size_t width, size_t i0, size_t n,
                   const struct head_coefficients *c, const struct head_coefficients *d, real *dh)
{
    size_t half = width / 2;
    real *da = (real *)d->a + i0 * width, *type_da = (real *)d->type_a + i0 * half;
    const real *db = (const real *)d->b + i0 * width, *type_db = (const real *)d->type_b + i0 * half;
    dh += i0 * width;
    through_tanh(n * width, (const real *)c->a + i0 * width, da);
    through_tanh(n * half, (const real *)c->type_a + i0 * half, type_da);
    linear_backward(n, width, width, da, slab + at->a, 0, dh);
    linear_backward(n, width, width, db, slab + at->b, 1, dh);
    linear_backward(n, width, half, type_da, slab + at->type_a, 1, dh);
    linear_backward(n, width, half, type_db, slab + at->type_b, 1, dh);
}

void head_gradient(const struct head_params *at, size_t width, size_t n, int which, const real *h,
                   const struct head_coefficients *d, real *grad)
{
    size_t half = width / 2;
    const struct {
        const void *dy;
        size_t out, w, bias;
    } map[4] = {{d->a, width, at->a, at->a_bias},
                {d->b, width, at->b, at->b_bias},
                {d->type_a, half, at->type_a, at->type_a_bias},
                {d->type_b, half, at->type_b, at->type_b_bias}};
    linear_gradient(n, width, map[which].out, h, map[which].dy, 0, map[which].out, grad + map[which].w,
                    grad + map[which].bias);
}
