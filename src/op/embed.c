/* Compiled twice, for float and for double: see op/op.h. */
/* embed.c - see embed.h. */
#include "op/embed.h"
#include "op/real.h"

#include <string.h>

double temporal_period(size_t pair, size_t d)
{
    return pow(10000, (double)(2 * pair) / (double)d);
}

void embed_forward(size_t n, size_t d, size_t rows, const uint32_t *type, const real *table, real *x)
{
    for (size_t i = 0; i < n; i++)
        if (type[i] < rows)
            memcpy(x + i * d, table + (size_t)type[i] * d, d * sizeof *x);
        else
            memset(x + i * d, 0, d * sizeof *x);
}

void embed_gradient(size_t n, size_t d, const uint32_t *type, const real *dx, real *dtable)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) dtable[(size_t)type[i] * d + k] += dx[i * d + k];
}

void gap_feature_forward(size_t n, size_t d, size_t m, const real *g, const real *v, const real *c, const real *table,
                         real *h, real *x)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(g[i])) continue;
        for (size_t j = 0; j < m; j++) h[i * m + j] = tanh_real(v[j] * g[i] + c[j]);
        for (size_t k = 0; k < d; k++) {
            real sum = 0;
            for (size_t j = 0; j < m; j++) sum += table[k * m + j] * h[i * m + j];
            x[i * d + k] += sum;
        }
    }
}

void gap_feature_gradient(size_t n, size_t d, size_t m, const real *g, const real *table, const real *h, const real *dx,
                          real *dv, real *dc, real *dtable, real *dh)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(g[i])) continue;
        memset(dh, 0, m * sizeof *dh);
        for (size_t k = 0; k < d; k++)
            for (size_t j = 0; j < m; j++) {
                dtable[k * m + j] += dx[i * d + k] * h[i * m + j];
                dh[j] += dx[i * d + k] * table[k * m + j];
            }
        for (size_t j = 0; j < m; j++) {
            real e = dh[j] * (1 - h[i * m + j] * h[i * m + j]);
            dv[j] += e * g[i];
            dc[j] += e;
        }
    }
}
