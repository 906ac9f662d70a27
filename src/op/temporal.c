/* Compiled twice, for float and for double: see op/op.h. */
/* temporal.c - see embed.h. Compiled with -ffast-math for the vector sin and cos of libmvec. */
#include "base/clones.h"
#include "op/embed.h"

#include <math.h>

enum { PAIRS = 64 };

/* Separate loops for sines and cosines: in one, the compiler would call sincos, which has no vector form. */
OP_CLONES
static void sines(size_t n, double time, const double *restrict period, double *restrict out)
{
    for (size_t k = 0; k < n; k++) out[k] = sin(time / period[k]);
}

OP_CLONES
static void cosines(size_t n, double time, const double *restrict period, double *restrict out)
{
    for (size_t k = 0; k < n; k++) out[k] = cos(time / period[k]);
}

void temporal_forward(size_t n, size_t d, const double *time, real *z)
{
    double period[PAIRS], sine[PAIRS], cosine[PAIRS];
    for (size_t at = 0; at < (d + 1) / 2; at += PAIRS) {
        size_t pairs = (d + 1) / 2 - at < PAIRS ? (d + 1) / 2 - at : PAIRS;
        for (size_t k = 0; k < pairs; k++) period[k] = temporal_period(at + k, d);
        for (size_t i = 0; i < n; i++) {
            real *row = z + i * d + 2 * at;
            sines(pairs, time[i], period, sine);
            cosines(pairs, time[i], period, cosine);
            for (size_t k = 0; k < pairs; k++) {
                row[2 * k] = (real)sine[k];
                if (2 * (at + k) + 1 < d) row[2 * k + 1] = (real)cosine[k];
            }
        }
    }
}
