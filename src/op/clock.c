/* Compiled twice, for float and for double: see op/op.h. */
/*
 * clock.c - see clock.h. Compiled with -ffast-math for the vector sin and cos of libmvec.
 *
 * Of each period only the first harmonic is computed; the others follow by the addition theorem. Phases are computed in
 * double, as fractions of a turn, from which whole turns are taken first: 1.7e9 s is 20,000 days.
 */
#include "op/clock.h"

#include "base/clones.h"

#include <math.h>

enum { PERIODS = 3 };
static const double two_pi = 6.28318530717958647692;
/* The year is the mean one of the calendar. */
static const double period[PERIODS] = {86400, 7 * 86400, 365.2425 * 86400};
static const size_t harmonics[PERIODS] = {CLOCK_DAY, CLOCK_WEEK, CLOCK_YEAR};

static bool has(struct clock_shape shape, int p)
{
    return p == 0 || (p == 1 ? shape.week : shape.year);
}

/* Separate loops: in one, the compiler would call sincos, which has no vector form. */
OP_CLONES
static void sines(size_t n, const double *restrict s, double rate, real *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        double turns = s[i] * rate;
        out[i] = (real)sin(two_pi * (turns - floor(turns)));
    }
}

OP_CLONES
static void cosines(size_t n, const double *restrict s, double rate, real *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        double turns = s[i] * rate;
        out[i] = (real)cos(two_pi * (turns - floor(turns)));
    }
}

/* The next harmonic, from the last one and the first. */
OP_CLONES
static void turn_on(size_t n, const real *restrict s1, const real *restrict c1, const real *restrict s,
                    const real *restrict c, real *restrict s_next, real *restrict c_next)
{
    for (size_t i = 0; i < n; i++) {
        s_next[i] = s[i] * c1[i] + c[i] * s1[i];
        c_next[i] = c[i] * c1[i] - s[i] * s1[i];
    }
}

void clock_columns(struct clock_shape shape, size_t n, const double *s, real *out)
{
    for (int p = 0; p < PERIODS; p++) {
        if (!has(shape, p)) continue;
        sines(n, s, 1 / period[p], out);
        cosines(n, s, 1 / period[p], out + n);
        for (size_t k = 1; k < harmonics[p]; k++) {
            real *last = out + 2 * (k - 1) * n;
            turn_on(n, out, out + n, last, last + n, last + 2 * n, last + 3 * n);
        }
        out += 2 * harmonics[p] * n;
    }
}

void clock_row(struct clock_shape shape, double s, real *out)
{
    clock_columns(shape, 1, &s, out);
}

void clock_turn(size_t inputs, const real *row, const real *c, real *r)
{
    for (size_t j = 0; j < inputs; j += 2) {
        real a = c[j], b = c[j + 1]; /* c and r may be the same */
        r[j] = a * row[j + 1] - b * row[j];
        r[j + 1] = a * row[j] + b * row[j + 1];
    }
}

void clock_turn_back(size_t inputs, const real *row, const real *dr, real *dc)
{
    for (size_t j = 0; j < inputs; j += 2) {
        real a = dr[j], b = dr[j + 1];
        dc[j] = a * row[j + 1] + b * row[j];
        dc[j + 1] = b * row[j + 1] - a * row[j];
    }
}

/* The rates w, per second. */
static size_t rates(struct clock_shape shape, real out[CLOCK_RATES])
{
    size_t n = 0;
    for (int p = 0; p < PERIODS; p++)
        for (size_t k = 1; has(shape, p) && k <= harmonics[p]; k++) out[n++] = (real)(two_pi * (double)k / period[p]);
    return n;
}

OP_CLONES
static void add(size_t n, real factor, const real *restrict x, real *restrict out)
{
    for (size_t i = 0; i < n; i++) out[i] += factor * x[i];
}

void clock_sum(int order, struct clock_shape shape, size_t n, const real *columns, const real *r, real *b, real *b1,
               real *b2)
{
    real w[CLOCK_RATES];
    size_t pairs = rates(shape, w);
    for (size_t i = 0; i < n; i++) b[i] = 0;
    for (size_t i = 0; order >= 1 && i < n; i++) b1[i] = 0;
    for (size_t i = 0; order >= 2 && i < n; i++) b2[i] = 0;
    for (size_t p = 0; p < pairs; p++) {
        const real *sine = columns + 2 * p * n, *cosine = sine + n;
        real a = r[2 * p], c = r[2 * p + 1];
        add(n, a, sine, b);
        add(n, c, cosine, b);
        if (order < 1) continue;
        add(n, a * w[p], cosine, b1);
        add(n, -c * w[p], sine, b1);
        if (order < 2) continue;
        add(n, -a * w[p] * w[p], sine, b2);
        add(n, -c * w[p] * w[p], cosine, b2);
    }
}

OP_CLONES
static real product(size_t n, const real *restrict x, const real *restrict y)
{
    real sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

void clock_sum_back(int order, struct clock_shape shape, size_t n, const real *columns, const real *g0, const real *g1,
                    const real *g2, real *dr)
{
    real w[CLOCK_RATES];
    size_t pairs = rates(shape, w);
    for (size_t p = 0; p < pairs; p++) {
        const real *sine = columns + 2 * p * n, *cosine = sine + n;
        dr[2 * p] += product(n, g0, sine);
        dr[2 * p + 1] += product(n, g0, cosine);
        if (order < 1) continue;
        dr[2 * p] += w[p] * product(n, g1, cosine);
        dr[2 * p + 1] -= w[p] * product(n, g1, sine);
        if (order < 2) continue;
        dr[2 * p] -= w[p] * w[p] * product(n, g2, sine);
        dr[2 * p + 1] -= w[p] * w[p] * product(n, g2, cosine);
    }
}
