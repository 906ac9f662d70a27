/* Compiled twice, for float and for double: see op/op.h. */
/* linear.c - see linear.h. */
#include "op/linear.h"

#include "base/clones.h"
#include "op/gemm.h"

#include <string.h>

/* sum (k) += columns of x (n x k, rows ld apart). */
OP_CLONES static void column_sums(size_t n, size_t k, const real *restrict x, size_t ld, real *restrict sum)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) sum[j] += x[i * ld + j];
}

void linear_forward(size_t n, size_t in, size_t out, const real *x, const real *w, const real *b, real *y)
{
    if (n == 0) return;
    for (size_t i = 0; b && i < n; i++) memcpy(y + i * out, b, out * sizeof *y);
    gemm(0, 1, n, out, in, 1, x, in, w, in, b ? 1 : 0, y, out);
}

void linear_backward(size_t n, size_t in, size_t out, const real *dy, const real *w, int add, real *dx)
{
    if (n == 0) return;
    gemm(0, 0, n, in, out, 1, dy, out, w, in, add ? 1 : 0, dx, in);
}

void linear_gradient(size_t n, size_t in, size_t out, const real *x, const real *dy, size_t from, size_t to, real *dw,
                     real *db)
{
    if (n == 0) return;
    gemm(1, 0, to - from, in, n, 1, dy + from, out, x, in, 1, dw + from * in, in);
    if (db) column_sums(n, to - from, dy + from, out, db + from);
}
