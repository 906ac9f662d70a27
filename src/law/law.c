/* law.c - evaluates laws: handles the ends of the support and derives what a class does not provide. */
#include "law/law.h"

#include "base/error.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Laws are evaluated this many gaps at a time, so that scratch arrays fit on the stack. */
enum { PIECE = 256 };

static double into_support(const struct law *law, double gap)
{
    if (gap < law->lo) return law->lo;
    if (gap > law->hi) return law->hi;
    return gap;
}

/* out = f(gap), `outside` for gaps outside the support, NaN for NaN. */
static void eval(const struct law *law, law_function *f, const double *gap, double *out, size_t n, double outside)
{
    double inside[PIECE];
    bool moved[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        for (size_t i = 0; i < m; i++) {
            inside[i] = into_support(law, gap[from + i]);
            moved[i] = inside[i] != gap[from + i];
        }
        f(law->self, inside, out + from, m);
        for (size_t i = 0; i < m; i++)
            if (moved[i]) out[from + i] = isnan(inside[i]) ? NAN : outside;
    }
}

void smurf_law_eval_intensity(const struct law *law, const double *gap, double *out, size_t n)
{
    eval(law, law->class->intensity, gap, out, n, 0);
}

/* lambda' = lambda (psi + lambda) */
void smurf_law_eval_slope(const struct law *law, const double *gap, double *out, size_t n)
{
    if (law->class->slope) {
        eval(law, law->class->slope, gap, out, n, 0);
        return;
    }
    double score[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        eval(law, law->class->score, gap + from, score, m, 0);
        eval(law, law->class->intensity, gap + from, out + from, m, 0);
        for (size_t i = 0; i < m; i++) out[from + i] *= score[i] + out[from + i];
    }
}

void smurf_law_eval_compensator(const struct law *law, const double *gap, double *out, size_t n)
{
    double inside[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        for (size_t i = 0; i < m; i++) inside[i] = into_support(law, gap[from + i]);
        law->class->compensator(law->self, inside, out + from, m);
    }
}

void smurf_law_eval_cdf(const struct law *law, const double *gap, double *out, size_t n)
{
    smurf_law_eval_compensator(law, gap, out, n);
    for (size_t i = 0; i < n; i++) out[i] = -expm1(-out[i]);
}

/* psi = lambda' / lambda - lambda */
void smurf_law_eval_score(const struct law *law, const double *gap, double *out, size_t n)
{
    if (law->class->score) {
        eval(law, law->class->score, gap, out, n, NAN);
        return;
    }
    double slope[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        eval(law, law->class->slope, gap + from, slope, m, NAN);
        eval(law, law->class->intensity, gap + from, out + from, m, 0);
        for (size_t i = 0; i < m; i++) out[from + i] = slope[i] / out[from + i] - out[from + i];
    }
}

void smurf_law_eval_types(const struct law *law, const double *gap, double *out, size_t n)
{
    if (!law->class->types) {
        smurf_law_eval_intensity(law, gap, out, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double inside = into_support(law, gap[i]), *row = out + i * law->types;
        law->class->types(law->self, &inside, row, 1);
        if (inside == gap[i]) continue;
        for (uint32_t k = 0; k < law->types; k++) row[k] = isnan(inside) ? NAN : 0;
    }
}

void smurf_law_free(smurf_law *law)
{
    if (!law) return;
    law->destroy(law->state);
    free(law);
}

uint32_t smurf_law_types(const smurf_law *law)
{
    return law->law.types;
}

void smurf_law_intensity(const smurf_law *law, const double *gap, double *out, size_t n)
{
    smurf_law_eval_intensity(&law->law, gap, out, n);
}

void smurf_law_compensator(const smurf_law *law, const double *gap, double *out, size_t n)
{
    smurf_law_eval_compensator(&law->law, gap, out, n);
}

void smurf_law_cdf(const smurf_law *law, const double *gap, double *out, size_t n)
{
    smurf_law_eval_cdf(&law->law, gap, out, n);
}

void smurf_law_score(const smurf_law *law, const double *gap, double *out, size_t n)
{
    smurf_law_eval_score(&law->law, gap, out, n);
}

void smurf_law_type_intensity(const smurf_law *law, const double *gap, double *out, size_t n)
{
    smurf_law_eval_types(&law->law, gap, out, n);
}

smurf_status smurf_law_advance(smurf_law *law, double gap, uint32_t type, smurf_error *err)
{
    if (!isfinite(gap) || gap < 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the gap is %g: give a finite number, 0 or above", gap);
    if (type >= law->law.types)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the type is %u: give one from 0 to %u", (unsigned)type,
                          (unsigned)(law->law.types - 1));
    law->advance(law->state, gap, type);
    return SMURF_OK;
}
