/* Compiled twice, for float and for double: see op/op.h. */
/*
 * linear_row.c - see linear.h: a linear map of one row. Built with -ffast-math so that sums over a row are vectorised;
 * four run at a time. For one row, a product of matrices costs more in setup than in work.
 */
#include "op/linear.h"

#include "base/clones.h"

OP_CLONES static void one_row(size_t in, size_t out, const real *restrict x, const real *restrict w,
                              const real *restrict b, real *restrict y)
{
    size_t o = 0;
    for (; o + 4 <= out; o += 4, w += 4 * in) {
        real sum[4] = {0};
        for (size_t k = 0; k < in; k++) {
            sum[0] += w[k] * x[k];
            sum[1] += w[in + k] * x[k];
            sum[2] += w[2 * in + k] * x[k];
            sum[3] += w[3 * in + k] * x[k];
        }
        for (size_t i = 0; i < 4; i++) y[o + i] = b ? sum[i] + b[o + i] : sum[i];
    }
    for (; o < out; o++, w += in) {
        real sum = 0;
        for (size_t k = 0; k < in; k++) sum += w[k] * x[k];
        y[o] = b ? sum + b[o] : sum;
    }
}

void linear_row(size_t in, size_t out, const real *x, const real *w, const real *b, real *y)
{
    one_row(in, out, x, w, b, y);
}
