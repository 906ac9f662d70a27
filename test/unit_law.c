/* unit_law.c - special functions against known values; what law.c derives; the laws of the processes against
   themselves: the compensator is the integral of the intensity, the score the derivative of the log density.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "law/law.h"
#include "law/special.h"
#include "process_cases.h"

static void assert_close(double got, double want, double tolerance, const char *what, double at)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%s at %.17g: %.17g instead of %.17g", what, at, got, want);
}

/* ---- Special functions ----------------------------------------------------------------------------- */

/* z, h(z), H(z), h(z) - z, to 17 digits (mpmath, 80 digits). */
static const double normal_values[][4] = {
    // clang-format off
    {-37, 2.1200065515246056e-298, 5.7255712225245768e-300, 37.0},
    {-10, 7.6945986267064193e-23, 7.6198530241605261e-24, 10.0},
    {-3, 4.4378390421256638e-3, 1.3508099647481938e-3, 3.0044378390421257},
    {-0.5, 0.50916043383703349, 0.36894641528865639, 1.0091604338370335},
    {0, 0.79788456080286536, 0.69314718055994531, 0.79788456080286536},
    {1, 1.5251352761609812, 1.8410216450092635, 0.52513527616098121},
    {3.9, 4.1303653209081121, 9.9423043916913563, 0.23036532090811223},
    {4, 4.2256071444894711, 10.360101486527291, 0.22560714448947107},
    {6, 6.1584826045445989, 20.736768949974706, 0.15848260454459892},
    {12, 12.082214175254284, 75.410673001568796, 0.08221417525428433},
    {40, 40.024968847207264, 804.60844201375379, 0.024968847207263723},
    {300, 300.00333325926337, 45006.622732118663, 3.3332592633741473e-3},
    // clang-format on
};

/* shape, x, h(x), H(x), h'(x), likewise. */
static const double gamma_values[][5] = {
    // clang-format off
    {0.01, 1e-30, 1.0163212041733684e+28, 0.70127466498479798, -9.9582890423111056e+57},
    {0.01, 0.5, 2.1532062235463256, 5.1802221673589263, -1.7802575050494211},
    {0.01, 2, 1.3797469991128348, 7.6075957351815465, -0.15901998211281509},
    {0.1, 1e-09, 1.5251230974092746e+7, 0.14194417685511723, -1.3493507845709576e+16},
    {0.1, 0.01, 19.462501955556966, 1.0865491219832353, -1392.2986955856251},
    {0.1, 1, 1.602711424801668, 3.7244094871979375, -0.47646779593337653},
    {0.1, 3, 1.243875760314352, 6.4596958297350969, -0.069811581311050282},
    {0.1, 600, 1.0014975119992867, 608.01144573327509, -2.4917265242509586e-6},
    {0.5, 1e-12, 5.6419022016768282e+5, 1.1283798037153877e-6, -2.8209479177380107e+17},
    {0.5, 0.25, 1.8327056412986984, 0.7350111298370844, -2.1393069562480218},
    {0.5, 40, 1.0122054133535352, 42.428936197871842, -2.9818219825329673e-4},
    {1.5, 0.001, 0.035647665165532147, 2.3774336259243244e-5, 17.789455673632295},
    {1.5, 2, 0.82597894439587473, 1.3414581752525644, 0.062757008288417473},
    {1.5, 50, 0.99019424536471466, 47.913352111990124, 1.9234064232922313e-4},
    {3, 0.0001, 4.9995000250000004e-9, 1.6665416716666669e-13, 9.9985000999999997e-5},
    {3, 1, 0.2, 0.083709268125844935, 0.24},
    {3, 3.9, 0.60815673730507796, 1.3738714356704176, 0.073573129724519631},
    {3, 4.1, 0.62236208811551275, 1.4969400127554209, 0.068563743103360605},
    {3, 700, 0.99714693875889801, 687.58812937149494, 4.0699709403400672e-6},
    {20, 0.001, 8.2124187203255685e-75, 4.1064049028301252e-79, 1.5602774326746547e-70},
    {20, 10, 3.7450994823431365e-3, 3.4603219904149911e-3, 3.3846153042414697e-3},
    {20, 20.9, 0.21233629800005465, 0.93506621690304538, 0.02578340363018124},
    {20, 21.1, 0.21748005586498127, 0.97804828821075785, 0.025652640229060923},
    {20, 100, 0.81227761346381569, 51.633737544676978, 1.8500544287812655e-3},
    {20, 5000, 0.99620076259171038, 4877.5094070774483, 7.5969444342785176e-7},
    {1000, 500, 3.3048302555026836e-86, 3.2982727970670996e-86, 3.2982205949916782e-86},
    {1000, 1000, 0.025443212540365718, 0.7015932366459725, 6.219138518338576e-4},
    {1000, 1200, 0.17142425907607533, 20.470050520898304, 6.727132045387778e-4},
    {1000, 9000, 0.88901386936672695, 5809.2279043046406, 1.2330059379590125e-5},
    {1000000.0, 996000, 1.3152716807432894e-7, 3.1007598941710252e-5, 5.2810680253775031e-10},
    {1000000.0, 1000000.0, 7.9809675734057025e-4, 0.69341317745572824, 6.3616033732019251e-7},
    {1000000.0, 1005000, 5.1616015802859686e-3, 15.023662034086176, 9.5738509947117645e-7},
    // clang-format on
};

static void normal_functions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof normal_values / sizeof *normal_values; i++) {
        const double *v = normal_values[i], z = v[0];
        assert_close(smurf_normal_hazard(z), v[1], 1e-12 * v[1], "normal hazard", z);
        assert_close(smurf_normal_cumulative_hazard(z), v[2], 1e-12 * v[2], "normal cumulative hazard", z);
        assert_close(smurf_normal_hazard_excess(z), v[3], 1e-12 * v[3], "normal hazard excess", z);
    }
    assert_true(smurf_normal_hazard(INFINITY) == INFINITY && smurf_normal_hazard_excess(INFINITY) == 0);
    assert_true(smurf_normal_hazard(-INFINITY) == 0 && smurf_normal_cumulative_hazard(-INFINITY) == 0);
    assert_true(isnan(smurf_normal_hazard(NAN)) && isnan(smurf_normal_cumulative_hazard(NAN)));
}

static void gamma_functions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gamma_values / sizeof *gamma_values; i++) {
        const double *v = gamma_values[i], shape = v[0], x = v[1];
        assert_close(smurf_gamma_hazard(shape, x), v[2], 1e-12 * v[2], "gamma hazard", x);
        assert_close(smurf_gamma_cumulative_hazard(shape, x), v[3], 1e-12 * v[3], "gamma cumulative hazard", x);
        assert_close(smurf_gamma_hazard_slope(shape, x), v[4], 1e-12 * fabs(v[4]), "gamma hazard slope", x);
    }
    for (double x = 1e-3; x < 1e3; x *= 1.7) { /* the exponential law */
        assert_close(smurf_gamma_hazard(1, x), 1, 1e-14, "gamma hazard of shape 1", x);
        assert_close(smurf_gamma_cumulative_hazard(1, x), x, 1e-14 * x, "gamma cumulative hazard of shape 1", x);
        assert_true(smurf_gamma_hazard_slope(1, x) == 0);
    }
    assert_true(smurf_gamma_hazard(0.5, 0) == INFINITY && smurf_gamma_hazard(1, 0) == 1 &&
                smurf_gamma_hazard(2, 0) == 0);
    assert_true(smurf_gamma_hazard_slope(1.5, 0) == INFINITY && smurf_gamma_hazard_slope(2, 0) == 1 &&
                smurf_gamma_hazard_slope(3, 0) == 0 && smurf_gamma_hazard_slope(0.5, 0) == -INFINITY);
    assert_true(smurf_gamma_hazard(3, INFINITY) == 1 && smurf_gamma_cumulative_hazard(3, INFINITY) == INFINITY);
    assert_true(isnan(smurf_gamma_hazard(3, NAN)) && isnan(smurf_gamma_cumulative_hazard(3, NAN)));
}

/* ---- What law.c derives ------------------------------------------------------------------------------ */

/* lambda = x on [1, 3], so that Lambda = (x^2 - 1) / 2 and psi = 1/x - x. */
static void ramp(const void *self, const double *gap, double *out, size_t n)
{
    (void)self;
    for (size_t i = 0; i < n; i++) out[i] = gap[i];
}

static void ramp_slope(const void *self, const double *gap, double *out, size_t n)
{
    (void)self;
    for (size_t i = 0; i < n; i++) out[i] = gap[i] * 0 + 1;
}

static void ramp_compensator(const void *self, const double *gap, double *out, size_t n)
{
    (void)self;
    for (size_t i = 0; i < n; i++) out[i] = (gap[i] * gap[i] - 1) / 2;
}

static void ramp_score(const void *self, const double *gap, double *out, size_t n)
{
    (void)self;
    for (size_t i = 0; i < n; i++) out[i] = 1 / gap[i] - gap[i];
}

static void derived_functions(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct law_class sloped = {"ramp", ramp, ramp_slope, ramp_compensator, NULL, NULL, NULL, NULL};
    struct law_class scored = {"ramp", ramp, NULL, ramp_compensator, ramp_score, NULL, NULL, NULL};
    double gap[N], a[N], b[N];
    for (size_t i = 0; i < N; i++) gap[i] = 4.0 * (double)i / N; /* from below the support to above it */
    for (int turn = 0; turn < 2; turn++) {
        struct law law = {turn ? &scored : &sloped, NULL, 1, 1, 3};
        smurf_law_eval_intensity(&law, gap, a, N);
        smurf_law_eval_types(&law, gap, b, N);
        assert_memory_equal(a, b, sizeof a);
        smurf_law_eval_cdf(&law, gap, b, N);
        for (size_t i = 0; i < N; i++) {
            double x = fmin(fmax(gap[i], 1), 3);
            assert_true(a[i] == (gap[i] == x ? x : 0));
            assert_close(b[i], 1 - exp((1 - x * x) / 2), 1e-15, "cdf", x);
        }
        smurf_law_eval_score(&law, gap, a, N);
        smurf_law_eval_slope(&law, gap, b, N);
        for (size_t i = 0; i < N; i++) {
            int inside = gap[i] >= 1 && gap[i] <= 3;
            assert_true(inside || (isnan(a[i]) && b[i] == 0));
            if (inside) assert_close(a[i], 1 / gap[i] - gap[i], 1e-14, "score", gap[i]);
            if (inside) assert_close(b[i], 1, 1e-14, "slope", gap[i]);
        }
        memcpy(b, gap, sizeof b);
        smurf_law_eval_score(&law, b, b, N);
        assert_memory_equal(a, b, sizeof a);
        double missing = NAN;
        smurf_law_eval_cdf(&law, &missing, &missing, 1);
        assert_true(isnan(missing));
    }
}

/* ---- The laws of the processes ----------------------------------------------------------------------- */

typedef void public_function(const smurf_law *law, const double *gap, double *out, size_t n);

static double at(public_function *f, const smurf_law *law, double gap)
{
    double out;
    f(law, &gap, &out, 1);
    return out;
}

/* Calls check on the law of every process after 0, 1 and 40 events of a sequence. */
static void for_each_law(void (*check)(const smurf_law *law, double typical))
{
    for (size_t c = 0; c < PROCESS_CASES; c++) {
        smurf_process *process = new_process(&process_cases[c]);
        smurf_data *data = simulate(process, 1, 40, 3);
        const smurf_sequence *s = smurf_data_sequence(data, 0);
        for (size_t seen = 0; seen <= 40; seen += seen ? 39 : 1) {
            smurf_law *law;
            assert_int_equal(smurf_process_law(&law, process, s, seen, NULL), SMURF_OK);
            check(law, s->time[39] / 40);
            smurf_law_free(law);
        }
        smurf_data_free(data);
        smurf_process_free(process);
    }
}

/* The integral of the intensity from a to b by Gauss's rule of five points on short pieces. */
static double integral(const smurf_law *law, double a, double b)
{
    static const double x[5] = {-0.90617984593866399280, -0.53846931010568309104, 0, 0.53846931010568309104,
                                0.90617984593866399280};
    static const double w[5] = {0.23692688505618908751, 0.47862867049936646804, 0.56888888888888888889,
                                0.47862867049936646804, 0.23692688505618908751};
    enum { PIECES = 400 };
    double sum = 0, half = (b - a) / PIECES / 2;
    for (int i = 0; i < PIECES; i++)
        for (int j = 0; j < 5; j++) sum += half * w[j] * at(smurf_law_intensity, law, a + half * (2 * i + 1 + x[j]));
    return sum;
}

static void check_integral(const smurf_law *law, double typical)
{
    for (double a = typical / 64; a < typical * 16; a *= 2) {
        double difference = at(smurf_law_compensator, law, 2 * a) - at(smurf_law_compensator, law, a);
        double sum = integral(law, a, 2 * a);
        if (!isfinite(sum) || sum > 1e3) continue; /* a self-correcting process that is far overdue */
        assert_close(difference, sum, 1e-10 * (sum + at(smurf_law_compensator, law, a)) + 1e-14, law->law.class->name,
                     a);
    }
    assert_true(at(smurf_law_compensator, law, 0) == 0 && at(smurf_law_compensator, law, INFINITY) == INFINITY);
    assert_true(at(smurf_law_cdf, law, 0) == 0 && at(smurf_law_cdf, law, INFINITY) == 1);
}

static double log_density(const smurf_law *law, double gap)
{
    return log(at(smurf_law_intensity, law, gap)) - at(smurf_law_compensator, law, gap);
}

static void eval_slope(const smurf_law *law, const double *gap, double *out, size_t n)
{
    smurf_law_eval_slope(&law->law, gap, out, n);
}

/* Differences of fourth order. */
static void check_derivatives(const smurf_law *law, double typical)
{
    for (double x = typical / 16; x < typical * 8; x *= 1.5) {
        double h = 2e-4 * x, p[4], l[4];
        for (int i = 0; i < 4; i++) {
            double gap = x + h * (i < 2 ? i - 2 : i - 1);
            p[i] = log_density(law, gap);
            l[i] = at(smurf_law_intensity, law, gap);
        }
        if (!isfinite(p[0]) || fabs(p[0]) > 600) continue;
        double score = (p[0] - 8 * p[1] + 8 * p[2] - p[3]) / (12 * h);
        double slope = (l[0] - 8 * l[1] + 8 * l[2] - l[3]) / (12 * h);
        double got = at(smurf_law_score, law, x), lambda = l[1];
        assert_close(got, score, 1e-6 * (fabs(score) + lambda + 1 / x), law->law.class->name, x);
        assert_close(at(eval_slope, law, x), slope, 1e-6 * (fabs(slope) + lambda / x), law->law.class->name, x);
    }
}

static void check_shape(const smurf_law *law, double typical)
{
    enum { N = 700 };
    uint32_t types = smurf_law_types(law);
    double gap[N], cdf[N], lambda[N], *row = malloc(N * types * sizeof *row);
    for (size_t i = 0; i < N; i++) gap[i] = typical * ((double)i - 100) / 50; /* some are negative */
    smurf_law_cdf(law, gap, cdf, N);
    smurf_law_intensity(law, gap, lambda, N);
    smurf_law_type_intensity(law, gap, row, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(cdf[i] >= 0 && cdf[i] <= 1 && (i == 0 || cdf[i] >= cdf[i - 1]));
        if (gap[i] < 0) assert_true(cdf[i] == 0 && lambda[i] == 0 && row[i * types] == 0);
        if (gap[i] <= 0 || !isfinite(lambda[i])) continue;
        double sum = 0;
        for (uint32_t k = 0; k < types; k++) sum += row[i * types + k];
        assert_close(sum, lambda[i], 1e-13 * lambda[i], "sum over types", gap[i]);
    }
    assert_true(isnan(at(smurf_law_score, law, -1)) && isnan(at(smurf_law_intensity, law, NAN)));
    assert_true(!isnan(at(smurf_law_intensity, law, 0)) && !isnan(at(smurf_law_score, law, 0)));
    assert_true(!isnan(at(eval_slope, law, 0)));
    free(row);
}

static void compensator_is_integral(void **state)
{
    (void)state;
    for_each_law(check_integral);
}

static void score_and_slope_are_derivatives(void **state)
{
    (void)state;
    for_each_law(check_derivatives);
}

static void cdf_is_monotone_and_types_add_up(void **state)
{
    (void)state;
    for_each_law(check_shape);
}

static void advanced_law_equals_law_from_scratch(void **state)
{
    (void)state;
    for (size_t c = 0; c < PROCESS_CASES; c++) {
        smurf_process *process = new_process(&process_cases[c]);
        smurf_data *data = simulate(process, 1, 200, 4);
        const smurf_sequence *s = smurf_data_sequence(data, 0);
        smurf_law *moving, *fresh;
        assert_int_equal(smurf_process_law(&moving, process, s, 0, NULL), SMURF_OK);
        for (size_t i = 0; i < 200; i++) {
            double gap = s->time[i] - (i ? s->time[i - 1] : 0);
            assert_int_equal(smurf_law_advance(moving, gap, s->type[i], NULL), SMURF_OK);
            assert_int_equal(smurf_process_law(&fresh, process, s, i + 1, NULL), SMURF_OK);
            for (double x = 0.01; x < 10; x *= 3) {
                double want = at(smurf_law_compensator, fresh, x);
                assert_close(at(smurf_law_compensator, moving, x), want, 1e-11 * want, process_cases[c].name, x);
            }
            smurf_law_free(fresh);
        }
        smurf_law_free(moving);
        smurf_data_free(data);
        smurf_process_free(process);
    }
}

/* Sums over the whole history, as in the definition of each process; t is the time itself. */
static double hawkes_by_definition(const smurf_sequence *s, uint32_t k, double t)
{
    static const double base[] = {0.1, 0.4, 0}, decay[] = {0.5, 2, 20};
    static const double excitation[3][3] = {{0.1, 0.6, 0}, {0, 0.3, 0.2}, {0.9, 0, 0.1}};
    double sum = base[k];
    for (size_t i = 0; i < s->length; i++)
        sum += excitation[k][s->type[i]] * decay[k] * exp(-decay[k] * (t - s->time[i]));
    return sum;
}

static double self_correcting_by_definition(const smurf_sequence *s, uint32_t k, double t)
{
    (void)k;
    return exp(t - 0.2 * (double)s->length);
}

static double inhomogeneous_by_definition(const smurf_sequence *s, uint32_t k, double t)
{
    (void)s;
    return (k ? 0.75 : 0.25) * (1 + 0.8 * sin(2 * acos(-1) * t / 0.3));
}

static void intensities_are_as_defined(void **state)
{
    (void)state;
    const struct {
        size_t which;
        double (*lambda)(const smurf_sequence *s, uint32_t type, double t);
    } cases[] = {{17, hawkes_by_definition}, {14, self_correcting_by_definition}, {3, inhomogeneous_by_definition}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        smurf_process *process = new_process(&process_cases[cases[c].which]);
        smurf_data *data = simulate(process, 1, 50, 8);
        const smurf_sequence *s = smurf_data_sequence(data, 0);
        smurf_law *law;
        assert_int_equal(smurf_process_law(&law, process, s, 50, NULL), SMURF_OK);
        for (double gap = 0; gap < 2; gap += 0.1) {
            double got[3];
            smurf_law_type_intensity(law, &gap, got, 1);
            for (uint32_t k = 0; k < smurf_law_types(law); k++) {
                double want = cases[c].lambda(s, k, s->time[49] + gap);
                assert_close(got[k], want, 1e-12 * want + 1e-12, law->law.class->name, gap);
            }
        }
        smurf_law_free(law);
        smurf_data_free(data);
        smurf_process_free(process);
    }
}

static void law_outlives_process(void **state)
{
    (void)state;
    smurf_process *process = new_process(&process_cases[PROCESS_CASES - 1]);
    smurf_law *law;
    assert_int_equal(smurf_process_law(&law, process, &(smurf_sequence){.length = 0}, 0, NULL), SMURF_OK);
    smurf_process_free(process);
    assert_int_equal(smurf_law_advance(law, 1, 7, NULL), SMURF_OK);
    double base = 5 * (0.1 + 0.05 + 0.2), children = 0.7 / 20 * 5 * (1 + 0.3 + 4 + 10);
    assert_close(at(smurf_law_intensity, law, 0), base + children, 1e-13, "intensity", 0);
    smurf_law_free(law);
    smurf_law_free(NULL);
}

static void wrong_histories_are_refused(void **state)
{
    (void)state;
    const struct {
        smurf_sequence sequence;
        size_t seen;
        const char *message;
    } cases[] = {
        {{.length = 2, .time = (double[]){1, 2}, .type = (uint32_t[]){0, 0}}, 3, "has 2 events"},
        {{.length = 2, .time = (double[]){2, 1}, .type = (uint32_t[]){0, 0}}, 2, "event 1 is at time 1"},
        {{.length = 1, .time = (double[]){-1}, .type = (uint32_t[]){0}}, 1, "event 0 is at time -1"},
        {{.length = 1, .time = (double[]){NAN}, .type = (uint32_t[]){0}}, 1, "not decrease"},
        {{.length = 1, .time = (double[]){1}, .type = (uint32_t[]){3}}, 1, "of type 3, but the process has 3 types"},
        {{.length = 1, .time = (double[]){1}, .type = (uint32_t[]){0}, .start = NAN}, 1, "whole history from time 0"},
        {{.length = 1, .time = (double[]){1}, .type = (uint32_t[]){0}, .start = 0.5}, 1, "starts elsewhere"},
        {{.length = 1, .time = (double[]){1}, .type = (uint32_t[]){0}, .origin = 7}, 0, "starts elsewhere"},
    };
    smurf_error err;
    smurf_process *process;
    assert_int_equal(smurf_process_new(&process, "hawkes", 3, NULL, 0, &err), SMURF_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        smurf_law *law = (smurf_law *)1;
        assert_int_equal(smurf_process_law(&law, process, &cases[i].sequence, cases[i].seen, &err),
                         SMURF_ERROR_ARGUMENT);
        assert_null(law);
        if (!strstr(err.message, cases[i].message)) fail_msg("'%s' lacks '%s'", err.message, cases[i].message);
    }
    smurf_law *law;
    assert_int_equal(smurf_process_law(&law, process, &cases[0].sequence, 2, &err), SMURF_OK);
    assert_int_equal(smurf_law_advance(law, -1, 0, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "gap is -1"));
    assert_int_equal(smurf_law_advance(law, INFINITY, 0, NULL), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_law_advance(law, NAN, 0, NULL), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_law_advance(law, 1, 3, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "give one from 0 to 2"));
    smurf_law_free(law);
    smurf_process_free(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_functions),
        cmocka_unit_test(gamma_functions),
        cmocka_unit_test(derived_functions),
        cmocka_unit_test(compensator_is_integral),
        cmocka_unit_test(score_and_slope_are_derivatives),
        cmocka_unit_test(cdf_is_monotone_and_types_add_up),
        cmocka_unit_test(advanced_law_equals_law_from_scratch),
        cmocka_unit_test(intensities_are_as_defined),
        cmocka_unit_test(law_outlives_process),
        cmocka_unit_test(wrong_histories_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
