/* Compiled twice, for float and for double: see op/op.h. */
/* further.c - see further.h. */
#include "op/further.h"

#include <math.h>

/* The row of the table that a value stands for; *factor: what it is multiplied with. */
static size_t row_of(const struct further_layout *layout, size_t column, real value, real *factor)
{
    size_t first = layout->first[column];
    *factor = 1;
    if (layout->is_word[column]) return first + (size_t)value;
    if (isnan(value)) return first + 1;
    *factor = value;
    return first;
}

void further_forward(const struct further_layout *layout, size_t n, size_t d, const real *value, const real *table,
                     real *x)
{
    real factor;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < layout->columns; c++) {
            const real *row = table + row_of(layout, c, value[i * layout->columns + c], &factor) * d;
            for (size_t k = 0; k < d; k++) x[i * d + k] += factor * row[k];
        }
}

void further_gradient(const struct further_layout *layout, size_t n, size_t d, const real *value, const real *dx,
                      real *dtable)
{
    real factor;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < layout->columns; c++) {
            real *row = dtable + row_of(layout, c, value[i * layout->columns + c], &factor) * d;
            for (size_t k = 0; k < d; k++) row[k] += factor * dx[i * d + k];
        }
}
