/* Compiled twice, for float and for double: see op/op.h. */
/* repeat.c - see repeat.h. */
#include "model/repeat.h"

#include <math.h>

/* ln K / M */
static real factor_of(const struct count_rows *rows)
{
    return (real)(log((double)rows->types) / COUNT_SCALES);
}

/* What is added for a slot. */
static real term_of(real factor, const real *v, const real *s)
{
    real sum = 0;
    for (size_t m = 0; m < COUNT_SCALES; m++) sum += v[m] * s[m];
    return factor * sum;
}

void repeat_terms(const struct count_rows *rows, size_t i, const real *v, real *out)
{
    const real *s = counts_slot(rows, i), factor = factor_of(rows);
    for (size_t k = 0; k < rows->slots; k++) out[k] = term_of(factor, v, s + k * COUNT_SCALES);
    for (size_t k = 0; rows->type && k < rows->slots; k++) out[rows->slots + k] = (real)counts_type(rows, i, k);
}

void repeat_add(const struct count_rows *rows, size_t i, const real *v, size_t n, real *logits)
{
    const real *s = counts_slot(rows, i), factor = factor_of(rows);
    for (size_t k = 0; k < rows->slots; k++) {
        real term = term_of(factor, v, s + k * COUNT_SCALES), *row = logits + counts_type(rows, i, k) * n;
        for (size_t j = 0; j < n; j++) row[j] += term;
    }
}

void repeat_back(const struct count_rows *rows, size_t i, size_t n, const real *g, real *dv)
{
    const real *s = counts_slot(rows, i), factor = factor_of(rows);
    for (size_t m = 0; m < COUNT_SCALES; m++) dv[m] = 0;
    for (size_t k = 0; k < rows->slots; k++) {
        const real *row = g + counts_type(rows, i, k) * n;
        real sum = 0;
        for (size_t j = 0; j < n; j++) sum += row[j];
        for (size_t m = 0; m < COUNT_SCALES; m++) dv[m] += factor * sum * s[k * COUNT_SCALES + m];
    }
}
