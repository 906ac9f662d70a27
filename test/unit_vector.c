/*
 * unit_vector.c - the vector functions of hot loops are right to 4 ulp, and what is made of two of them to 5, in float
 * and double and for each generation of processors that this one can run: against long double, at a million points of
 * each range.
 *
 * A third of the points are uniform in the range, a third in the part of it that is near 0, and in a third
 * every exponent is as likely as any other. Where a value passes through zero or is a small difference,
 * its ulp says nothing: the table says of what the ulp is taken instead.
 */
#include "vector_functions.h"

#include "base/random.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Elsewhere loops call the scalar functions, and long double may be slow. */
#ifdef __x86_64__
enum { POINTS = 1 << 20 };
#else
enum { POINTS = 1 << 14 };
#endif

/* ---- What is right -------------------------------------------------------------------------------- */

static const long double half_root = 0.707106781186547524400844362104849039L;   /* 1/sqrt(2) */
static const long double normal_peak = 0.398942280401432677939946059934381868L; /* 1/sqrt(2 pi) */

static long double softplus(long double u)
{
    return (u > 0 ? u : 0) + log1pl(expl(-fabsl(u)));
}

static long double logistic(long double u)
{
    return 1 / (1 + expl(-u));
}

static long double gelu(long double x)
{
    return x * erfcl(-x * half_root) / 2;
}

static long double gelu_slope(long double x)
{
    return erfcl(-x * half_root) / 2 + x * normal_peak * expl(-x * x / 2);
}

enum ulp_of { OF_VALUE, OF_INPUT, OF_ONE };

/* How a function is compiled: float and double by libmvec, float by op/vector.h. */
enum kind { FLOAT, DOUBLE, INLINE, KINDS };
static const char *const kind_name[KINDS] = {"float", "double", "inline"};

struct range {
    enum vector_function function;
    const char *name;
    long double (*truth)(long double);
    double low[KINDS], high[KINDS]; /* equal: not used */
    enum ulp_of of;
    double limit;
};

/* exp: smaller values are no normal numbers (see below), larger ones infinite; loops keep to arguments of 0 or less.
   log1p: of e^-|u|. sin, cos: float of angles within a turn, double of times in periods.
   softplus, logistic: made of two of these, 5 ulp: the 3 of exp go through log1p, which adds 2, or through a sum and a
   quotient, whose ulp may be half as large as that of exp.
   gelu: 1 + erf loses digits from -1 on down. They are not missed: the value is one term of a sum over units that are
   of the size of x, and x itself is known to some ulp only. Its slope crosses zero at -0.75, and is of the order of 1.
 */
static const struct range ranges[] = {
    {VECTOR_TANH, "tanh", tanhl, {-FLT_MAX, -DBL_MAX, -FLT_MAX}, {FLT_MAX, DBL_MAX, FLT_MAX}, OF_VALUE, 4},
    {VECTOR_EXP, "exp", expl, {-87.33, -708.3, -87.29}, {88.72, 709.7, 88.29}, OF_VALUE, 4},
    {VECTOR_LOG, "log", logl, {FLT_MIN, DBL_MIN, FLT_MIN}, {FLT_MAX, DBL_MAX, 3.39e38}, OF_VALUE, 4},
    {VECTOR_LOG1P, "log1p", log1pl, {0, 0, 0}, {1, 1, 1}, OF_VALUE, 4},
    {VECTOR_ERF, "erf", erfl, {-FLT_MAX, -DBL_MAX, 0}, {FLT_MAX, DBL_MAX, 0}, OF_VALUE, 4},
    {VECTOR_SIN, "sin", sinl, {-3.1416, -1e12, 0}, {3.1416, 1e12, 0}, OF_VALUE, 4},
    {VECTOR_COS, "cos", cosl, {-3.1416, -1e12, 0}, {3.1416, 1e12, 0}, OF_VALUE, 4},
    {VECTOR_SOFTPLUS, "softplus", softplus, {-87, -700, -87}, {87, 700, 87}, OF_VALUE, 5},
    {VECTOR_LOGISTIC, "logistic", logistic, {-87, -700, -87}, {87, 700, 87}, OF_VALUE, 5},
    {VECTOR_GELU, "gelu", gelu, {-1, -1, 0}, {FLT_MAX / 2, DBL_MAX / 2, 0}, OF_VALUE, 4},
    {VECTOR_GELU, "gelu below -1", gelu, {-100, -100, 0}, {-1, -1, 0}, OF_INPUT, 4},
    {VECTOR_GELU_SLOPE, "slope of gelu", gelu_slope, {-10, -10, 0}, {10, 10, 0}, OF_ONE, 4},
    {VECTOR_LAW_SOFTPLUS, "softplus of laws", softplus, {0, -700, 0}, {0, 700, 0}, OF_VALUE, 5},
    {VECTOR_LAW_LOGISTIC, "logistic of laws", logistic, {0, -700, 0}, {0, 700, 0}, OF_VALUE, 5},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

/* ---- Generations of processors -------------------------------------------------------------------- */

struct level {
    const char *name;
    vector_run *const *run[KINDS];
};

static size_t levels_here(struct level out[3])
{
    size_t n = 0;
    out[n++] = (struct level){"any", {vector_default_32, vector_default_64, vector_inline_default_32}};
#ifdef VECTOR_LEVELS
    if (__builtin_cpu_supports("x86-64-v3"))
        out[n++] = (struct level){"v3", {vector_v3_32, vector_v3_64, vector_inline_v3_32}};
    if (__builtin_cpu_supports("x86-64-v4"))
        out[n++] = (struct level){"v4", {vector_v4_32, vector_v4_64, vector_inline_v4_32}};
#endif
    return n;
}

/* ---- Measuring ------------------------------------------------------------------------------------ */

static double between(double low, double high, struct random *random)
{
    double share = smurf_random_uniform(random);
    return low * (1 - share) + high * share;
}

/* Any exponent as likely as any other. */
static double any_exponent(double low, double high, double least, struct random *random)
{
    double from = low * high > 0 ? fmin(fabs(low), fabs(high)) : least, to = fmax(fabs(low), fabs(high));
    double size = exp2(between(log2(from), log2(to), random));
    bool negative = high <= 0 || (low < 0 && smurf_random_below(random, 2));
    return negative ? -size : size;
}

/* Numbers of the type that are normal, or 0. */
static void fill(double *x, const struct range *range, enum kind kind)
{
    bool wide = kind == DOUBLE;
    struct random random;
    double low = range->low[kind], high = range->high[kind], least = wide ? DBL_MIN : (double)FLT_MIN;
    smurf_random_init(&random, 1, (uint64_t)(range - ranges));
    for (size_t i = 0; i < POINTS; i++) {
        double y = i % 3 == 0   ? between(low, high, &random)
                   : i % 3 == 1 ? between(fmax(low, -8), fmin(high, 8), &random)
                                : any_exponent(low, high, least, &random);
        y = fmin(fmax(y, low), high);
        if (!wide) y = (double)(float)y;
        x[i] = fabs(y) < least ? 0 : y;
    }
}

/* The distance between neighbours of the type around x. */
static double ulp(long double x, int wide)
{
    int exponent, least = wide ? DBL_MIN_EXP : FLT_MIN_EXP;
    frexpl(x, &exponent);
    return ldexp(1, (exponent > least ? exponent : least) - (wide ? DBL_MANT_DIG : FLT_MANT_DIG));
}

static double *room(void)
{
    double *out = malloc(POINTS * sizeof *out);
    assert_non_null(out);
    return out;
}

/* The largest error in ulp, and where. */
static double worst(const struct range *range, int wide, const double *x, const double *y, const long double *truth,
                    double *where)
{
    double most = 0;
    *where = x[0];
    for (size_t i = 0; i < POINTS; i++) {
        long double of = range->of == OF_VALUE ? truth[i] : range->of == OF_INPUT ? (long double)x[i] : 0.75L;
        double error = (double)(fabsl((long double)y[i] - truth[i]) / (long double)ulp(of, wide));
        if (!(error <= most)) most = error, *where = x[i];
    }
    return most;
}

static void check(const struct range *range, enum kind kind)
{
    bool wide = kind == DOUBLE;
    struct level level[3];
    size_t levels = levels_here(level);
    double *x = room(), *y = room(), bad = 0;
    long double *truth = malloc(POINTS * sizeof *truth);
    assert_non_null(truth);
    fill(x, range, kind);
    for (size_t i = 0; i < POINTS; i++) truth[i] = range->truth((long double)x[i]);
    printf("# %-31s%-7s", range->name, kind_name[kind]);
    for (size_t k = 0; k < levels; k++) {
        double where;
        level[k].run[kind][range->function](x, y, POINTS);
        double error = worst(range, wide, x, y, truth, &where);
        printf("  %s: %.2f ulp at %.9g", level[k].name, error, where);
        bad = fmax(bad, isnan(error) ? INFINITY : error);
    }
    printf("\n");
    free(x), free(y), free(truth);
    if (!(bad <= range->limit)) fail_msg("%s: %g ulp, %g are allowed", range->name, bad, range->limit);
}

static void test_float(void **state)
{
    check(*state, FLOAT);
}

static void test_double(void **state)
{
    check(*state, DOUBLE);
}

static void test_inline(void **state)
{
    check(*state, INLINE);
}

/* What is too small for a normal number is no larger than the least of them, and no NaN. */
static void test_exp_far_below(void **state)
{
    (void)state;
    struct level level[3];
    size_t levels = levels_here(level);
    for (size_t k = 0; k < levels; k++)
        for (int kind = 0; kind < KINDS; kind++) {
            bool wide = kind == DOUBLE;
            double x[256], y[256], from = wide ? -708.4 : -87.34;
            for (int i = 0; i < 256; i++) x[i] = (double)(float)fmax(from * pow(1.5, i), -3e38);
            level[k].run[kind][VECTOR_EXP](x, y, 256);
            for (int i = 0; i < 256; i++) assert_true(y[i] >= 0 && y[i] <= (wide ? DBL_MIN : (double)FLT_MIN));
        }
}

/* The functions of op/vector.h do not hide a NaN, nor log what is infinite: training stops by a loss that is not
 * finite. */
static void test_inline_not_finite(void **state)
{
    (void)state;
    static const enum vector_function function[] = {VECTOR_TANH, VECTOR_EXP, VECTOR_LOG, VECTOR_LOG1P, VECTOR_SOFTPLUS};
    struct level level[3];
    size_t levels = levels_here(level);
    for (size_t k = 0; k < levels; k++)
        for (size_t f = 0; f < sizeof function / sizeof *function; f++) {
            double x[2] = {NAN, 0.5}, y[2];
            level[k].run[INLINE][function[f]](x, y, 2);
            assert_true(isnan(y[0]) && isfinite(y[1]));
            x[0] = INFINITY;
            level[k].run[INLINE][VECTOR_LOG](x, y, 2);
            assert_true(!isfinite(y[0]));
        }
}

int main(void)
{
    static struct CMUnitTest tests[KINDS * RANGES + 2];
    static char name[KINDS * RANGES][64];
    static const CMUnitTestFunction run[KINDS] = {test_float, test_double, test_inline};
    size_t n = 0;
    for (size_t i = 0; i < RANGES; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            if (!(ranges[i].low[kind] < ranges[i].high[kind])) continue;
            snprintf(name[n], sizeof name[n], "%s in %s", ranges[i].name, kind_name[kind]);
            tests[n] = (struct CMUnitTest){name[n], run[kind], NULL, NULL, (void *)&ranges[i]};
            n++;
        }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_exp_far_below);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_inline_not_finite);
    return _cmocka_run_group_tests("unit_vector", tests, n, NULL, NULL);
}
