/* unit_dist.c - distributions: integrated laws against closed forms and a fine quadrature, gentle and hostile ones;
   each wrapper against its formula; and for whole chains of them, that all answers agree with each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/sort.h"
#include "law/exact_table.h"
#include "law/special.h"
#include "law/wrap.h"
#include "process_cases.h"

static void assert_close(double got, double want, double tolerance, const char *what, double at)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s at %.17g: %.17g instead of %.17g, off by %.3g", what, at, got, want, got - want);
}

static struct exact *new_exact(void)
{
    struct exact *exact = malloc(sizeof *exact);
    assert_int_equal(smurf_exact_init(exact, NULL), SMURF_OK);
    return exact;
}

static void free_exact(struct exact *exact)
{
    smurf_exact_release(exact);
    free(exact);
}

static double normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

/* ---- Laws ------------------------------------------------------------------------------------------ */

/* u = sum w tanh(a x + b) + c; lambda = softplus(u), or as a score psi = u. */
enum { UNITS_MOST = 64 };
struct learned {
    int units;
    double a[UNITS_MOST], b[UNITS_MOST], w[UNITS_MOST], c;
};

static double learned_u(const struct learned *l, double x)
{
    double u = l->c;
    for (int k = 0; k < l->units; k++) u += l->w[k] * tanh(l->a[k] * x + l->b[k]);
    return u;
}

static double learned_u_slope(const struct learned *l, double x)
{
    double slope = 0;
    for (int k = 0; k < l->units; k++) slope += l->w[k] * l->a[k] / pow(cosh(l->a[k] * x + l->b[k]), 2);
    return slope;
}

static void learned_intensity(const void *self, const double *x, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double u = learned_u(self, x[i]);
        out[i] = u > 30 ? u : log1p(exp(u));
    }
}

static void learned_slope(const void *self, const double *x, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = learned_u_slope(self, x[i]) / (1 + exp(-learned_u(self, x[i])));
}

static double log_cosh(double x)
{
    return fabs(x) + log1p(exp(-2 * fabs(x)));
}

static void learned_log_density(const void *self, const double *x, double *out, size_t n)
{
    const struct learned *l = self;
    for (size_t i = 0; i < n; i++) {
        out[i] = l->c * x[i];
        for (int k = 0; k < l->units; k++) out[i] += l->w[k] / l->a[k] * log_cosh(l->a[k] * x[i] + l->b[k]);
    }
}

static const struct law_class learned_class = {
    .name = "learned", .intensity = learned_intensity, .slope = learned_slope};
static const struct law_class scored_class = {.name = "scored", .log_density = learned_log_density};

static struct learned random_law(struct random *random, int units, double w, double b, double c)
{
    struct learned l = {.units = units, .c = c};
    for (int k = 0; k < units; k++) {
        l.a[k] = tanh(smurf_random_normal(random));
        l.b[k] = b * smurf_random_normal(random);
        l.w[k] = w * smurf_random_normal(random);
    }
    return l;
}

/* Laws of one number each: the intensity is a function of x. */
typedef double function(double x);
static void plain_intensity(const void *self, const double *x, double *out, size_t n)
{
    function *const *f = self;
    for (size_t i = 0; i < n; i++) out[i] = (*f)(x[i]);
}
static const struct law_class plain_class = {.name = "plain", .intensity = plain_intensity};
static const struct law_class plain_scored_class = {.name = "plain scored", .log_density = plain_intensity};

static double one(double x)
{
    return x * 0 + 1;
}

/* ---- A reference ------------------------------------------------------------------------------------- */

enum { GAUSS = 16 };

static void gauss(double node[GAUSS], double weight[GAUSS])
{
    for (int i = 0; i < GAUSS; i++) {
        double x = -cos(acos(-1) * (i + 0.75) / (GAUSS + 0.5)), slope = 1;
        for (int step = 0; step < 50; step++) {
            double before = 1, value = x;
            for (int k = 2; k <= GAUSS; k++) {
                double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
                before = value;
                value = next;
            }
            slope = GAUSS * (x * value - before) / (x * x - 1);
            x -= value / slope;
        }
        node[i] = 0.5 * (1 + x);
        weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
}

/* The integral of f from lo to the end of each panel: out (panels). */
static void integrals(law_function *f, const void *self, double lo, double hi, double *out, size_t panels)
{
    double node[GAUSS], weight[GAUSS], x[GAUSS], sum = 0, width = (hi - lo) / (double)panels;
    gauss(node, weight);
    for (size_t i = 0; i < panels; i++) {
        for (int j = 0; j < GAUSS; j++) x[j] = lo + width * ((double)i + node[j]);
        f(self, x, x, GAUSS);
        for (int j = 0; j < GAUSS; j++) sum += width * weight[j] * x[j];
        out[i] = sum;
    }
}

/* The largest miss of the CDF of a law with an intensity, at the ends of panels. */
static double worst_miss(const struct exact *exact, const struct law *law, enum exact_mass mass, size_t panels)
{
    struct dist dist = smurf_exact_dist(exact);
    double *sum = malloc(panels * sizeof *sum), worst = 0;
    integrals(law->class->intensity, law->self, law->lo, law->hi, sum, panels);
    double total = mass == EXACT_ONE ? -expm1(-sum[panels - 1]) : 1;
    for (size_t i = 0; i < panels; i++) {
        double x = law->lo + (law->hi - law->lo) * ((double)(i + 1) / (double)panels);
        worst = fmax(worst, fabs(smurf_dist_cdf(&dist, x) + expm1(-sum[i]) / total));
    }
    if (mass == EXACT_REST && sum[panels - 1] < 30)
        assert_close(log(exact->rest), -sum[panels - 1], 2e-6, "ln rest", law->hi);
    free(sum);
    return worst;
}

/* ---- What is true of every distribution -------------------------------------------------------------- */

static void check_table(const struct exact *e)
{
    assert_true(e->n >= 2 && e->n <= EXACT_NODES_MOST && e->knots >= 2);
    assert_true(e->knot[0] == 0 && e->knot[e->knots - 1] == e->n - 1);
    for (size_t i = 0; i < e->n; i++) {
        assert_true(isfinite(e->x[i]) && e->f[i] >= 0 && e->f[i] <= 1 && e->slope[i] >= 0 && isfinite(e->slope[i]));
        if (i > 0) assert_true(e->x[i] > e->x[i - 1] && e->f[i] >= e->f[i - 1]);
    }
    assert_true(e->rest >= 0 && e->rest <= 1);
}

/* Monotone; sorted and single calls agree; quantile and CDF are inverse to `slack`; in place works; NaN stays. */
static void check_shape_within(const struct dist *dist, double lo, double hi, double slack)
{
    enum { N = 3000 };
    double x[N], f[N], q[N];
    for (size_t i = 0; i < N; i++) x[i] = lo + (hi - lo) * ((double)i / (N - 1));
    dist->class->cdf(dist->self, x, f, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(f[i] >= 0 && f[i] <= 1 && (i == 0 || f[i] >= f[i - 1]));
        assert_true(smurf_dist_cdf(dist, x[i]) == f[i] && smurf_dist_density(dist, x[i]) >= 0);
    }
    dist->class->cdf(dist->self, x, x, N);
    assert_memory_equal(x, f, sizeof x);
    double most = f[N - 1];
    for (size_t i = 0; i < N; i++) x[i] = most * ((double)i + 0.5) / N;
    dist->class->quantile(dist->self, x, q, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(i == 0 || q[i] >= q[i - 1]);
        double step = 1e-12 * (fabs(q[i]) + 1e-3); /* F may jump, or nearly */
        assert_true(smurf_dist_cdf(dist, q[i] + step) >= x[i] - slack);
        assert_true(smurf_dist_cdf(dist, q[i] - step) <= x[i] + slack);
        assert_true(smurf_dist_quantile(dist, x[i]) == q[i]);
    }
    assert_true(isnan(smurf_dist_cdf(dist, NAN)) && isnan(smurf_dist_density(dist, NAN)));
    assert_true(isnan(smurf_dist_quantile(dist, NAN)) && isnan(smurf_dist_quantile(dist, -0.1)) &&
                isnan(smurf_dist_quantile(dist, 1.1)));
}

static void check_shape(const struct dist *dist, double lo, double hi)
{
    check_shape_within(dist, lo, hi, 1e-13);
}

/* The density is the derivative of the CDF. */
static void check_density(const struct dist *dist, double tolerance)
{
    for (double level = 0.03; level < 1; level += 0.0173) {
        double x = smurf_dist_quantile(dist, level), h = 1e-5 * x;
        if (x == 0) continue; /* an atom */
        double slope = (smurf_dist_cdf(dist, x + h) - smurf_dist_cdf(dist, x - h)) / (2 * h);
        assert_close(smurf_dist_density(dist, x), slope, tolerance * (slope + 1), "density", x);
    }
}

/* Mean, spread and CRPS against those of many quantiles, finer spaced where the tail is. */
static void check_integrals(const struct dist *dist, double tolerance)
{
    enum { N = 100000 };
    double *q = malloc(N * sizeof *q), *weight = malloc(N * sizeof *weight), sum = 0, spread = 0;
    for (size_t i = 0; i < N; i++) {
        double left = pow(1 - (double)i / N, 4), right = pow(1 - (double)(i + 1) / N, 4);
        weight[i] = left - right;
        q[i] = 1 - 0.5 * (left + right);
    }
    double *level = malloc(N * sizeof *level);
    memcpy(level, q, N * sizeof *level);
    smurf_dist_draw(dist, q, q, N);
    for (size_t i = 0; i < N; i++) {
        if (level[i] > 1 - 1e-15 && isinf(q[i])) q[i] = q[i - 1]; /* rounded to 1 */
        sum += weight[i] * q[i];
        spread += weight[i] * q[i] * (2 * level[i] - 1);
    }
    assert_true(isfinite(sum));
    assert_close(smurf_dist_mean(dist), sum, tolerance * sum, dist->class->name, -1);
    assert_close(smurf_dist_spread(dist), spread, tolerance * sum, dist->class->name, -2);
    for (double at = 0.001; at < 1; at += 0.0997) {
        double gap = smurf_dist_quantile(dist, at), miss = 0;
        for (size_t i = 0; i < N; i++) miss += weight[i] * fabs(q[i] - gap);
        assert_close(smurf_dist_crps(dist, gap), miss - spread, tolerance * sum, "crps", gap);
    }
    free(q);
    free(weight);
    free(level);
}

/* ---- Integrated laws --------------------------------------------------------------------------------- */

static void learned_laws(void **state)
{
    (void)state;
    static const struct {
        double w, b, c, lo, hi;
        size_t panels;
        double evaluations; /* on average, at most */
    } cases[] = {{0.1, 1, 0, -6, 4, 1000, 80},    {0.3, 1, 0, -6, 4, 1000, 90},   {0.5, 2, -2, -6, 4, 1000, 100},
                 {1, 2, -1, -6, 4, 1000, 120},    {0.3, 3, 0, -10, 5, 1000, 120}, {0.3, 1, 0, 0, 300, 3000, 180},
                 {0.1, 3, -2, 0, 300, 3000, 200}, {1, 3, -3, 0, 500, 5000, 220},  {0.3, 1, 0, 0, 0.01, 100, 50}};
    enum { LAWS = 4 };
    struct random random;
    smurf_random_init(&random, 5, 0);
    struct exact *exact = new_exact();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double evaluations = 0;
        for (int turn = 0; turn < LAWS; turn++) {
            struct learned l = random_law(&random, 64, cases[c].w, cases[c].b, cases[c].c);
            struct law law = {&learned_class, &l, 1, cases[c].lo, cases[c].hi};
            enum exact_mass mass = turn % 2 ? EXACT_ONE : EXACT_REST;
            smurf_exact_build(exact, &law, mass);
            check_table(exact);
            assert_close(worst_miss(exact, &law, mass, cases[c].panels), 0, 2e-7, "cdf of learned law", (double)c);
            evaluations += (double)exact->evaluations / LAWS;
            struct dist dist = smurf_exact_dist(exact);
            check_shape(&dist, law.lo - 1, law.hi + 1);
            for (double p = 0.0005; p < exact->f[exact->n - 1]; p += 0.00123)
                assert_close(smurf_dist_cdf(&dist, smurf_dist_quantile(&dist, p)), p, 1e-13, "cdf of quantile", p);
        }
        if (evaluations > cases[c].evaluations) fail_msg("case %zu takes %g evaluations", c, evaluations);
    }
    free_exact(exact);
}

static void steep_laws(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 6, 0);
    struct exact *exact = new_exact();
    for (int turn = 0; turn < 24; turn++) {
        struct learned l = random_law(&random, 6, turn % 2 ? 1e3 : 30, 2, turn % 3 ? 0 : -50);
        struct law law = {&learned_class, &l, 1, -6, 4};
        smurf_exact_build(exact, &law, EXACT_REST);
        check_table(exact);
        assert_close(worst_miss(exact, &law, EXACT_REST, 20000), 0, 1e-6, "cdf of steep law", turn);
    }
    free_exact(exact);
}

static double tiny(double x)
{
    return 1e-8 + 0 * x;
}

static double at_once(double x)
{
    return 1e6 + 0 * x;
}

static double at_once_falling(double x)
{
    return 1e6 / (1 + 1e6 * x);
}

static double heavy(double x)
{
    return 0.5 / (1 + x);
}

static double zero(double x)
{
    return 0 * x;
}

/* Known compensators; F is right to 1e-6 everywhere, on a grid in x, in ln x and by levels. */
static void hostile_closed_forms(void **state)
{
    (void)state;
    static const struct {
        function *lambda;
        double hi;
    } cases[] = {{tiny, 300}, {at_once, 10}, {at_once_falling, 10}, {heavy, 300}, {heavy, 3e5}, {zero, 10}};
    struct exact *exact = new_exact();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        function *lambda = cases[c].lambda;
        struct law law = {&plain_class, &lambda, 1, 0, cases[c].hi};
        smurf_exact_build(exact, &law, EXACT_REST);
        check_table(exact);
        struct dist dist = smurf_exact_dist(exact);
        double end = 0;
        for (double x = 1e-12; x < law.hi; x = x < law.hi / 1000 ? x * 1.01 : x + law.hi / 1000) {
            double sum = lambda == heavy ? 0.5 * log1p(x) : lambda == at_once_falling ? log1p(1e6 * x) : lambda(x) * x;
            assert_close(smurf_dist_cdf(&dist, x), -expm1(-sum), lambda == tiny ? 1e-13 : 1e-6, "cdf", x);
            end = sum;
        }
        if (end < 20) assert_close(exact->rest, exp(-end), 2e-3 * exp(-end), "rest", law.hi);
        assert_close(exact->hazard, lambda(law.hi), 1e-12 * lambda(law.hi), "hazard", law.hi);
        check_shape(&dist, 0, law.hi);
    }
    /* all of next to nothing: the law is uniform */
    function *lambda[] = {tiny, zero};
    for (int i = 0; i < 2; i++) {
        smurf_exact_build(exact, &(struct law){&plain_class, &lambda[i], 1, 2, 10}, EXACT_ONE);
        check_table(exact);
        struct dist dist = smurf_exact_dist(exact);
        for (double x = 2; x <= 10; x += 0.1) assert_close(smurf_dist_cdf(&dist, x), (x - 2) / 8, 1e-7, "uniform", x);
        assert_true(exact->rest == 0 && exact->hazard == 0);
    }
    free_exact(exact);
}

/* Intensities that are 0 for long: they come at the far end, or go and leave mass behind. */
static void laws_that_switch(void **state)
{
    (void)state;
    struct learned cases[] = {{1, {0.9}, {-0.9 * 9.9}, {500}, 0},
                              {1, {0.99}, {-0.99 * 9.99}, {1e5}, 0},
                              {1, {1}, {-5}, {-1000}, -998},
                              {2, {0.9, 0.9}, {-4.5, -4.8}, {1000, -1000}, -130},
                              {1, {0.5}, {0}, {0.1}, -2000}};
    struct exact *exact = new_exact();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct law law = {&learned_class, &cases[c], 1, 0, 10};
        smurf_exact_build(exact, &law, EXACT_REST);
        check_table(exact);
        assert_close(worst_miss(exact, &law, EXACT_REST, 50000), 0, 1e-6, "cdf of switching law", (double)c);
    }
    free_exact(exact);
}

/* 0.3 N(-8, 0.3) + 0.7 N(7, 0.02), less a constant that overflows when left in. */
static double two_modes(double x)
{
    double a = log(0.3 / 0.3) - pow((x + 8) / 0.3, 2) / 2, b = log(0.7 / 0.02) - pow((x - 7) / 0.02, 2) / 2;
    return fmax(a, b) + log1p(exp(-fabs(a - b))) + 2000;
}

/* All of it in a mode so narrow that no node of the first panels sees it, but for its far flanks. */
static double narrow_place;
static double narrow_mode(double x)
{
    double a = log(0.3 / 0.3) - pow((x + 8) / 0.3, 2) / 2, b = log(0.7 / 0.01) - pow((x - narrow_place) / 0.01, 2) / 2;
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

static void narrow_peaks_are_found(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    struct dist dist = smurf_exact_dist(exact);
    function *f = narrow_mode;
    for (narrow_place = 6; narrow_place < 7.3; narrow_place += 0.037) {
        smurf_exact_build(exact, &(struct law){&plain_scored_class, &f, 1, -11, 10}, EXACT_ONE);
        for (double z = -4; z <= 4; z += 0.25)
            assert_close(smurf_dist_cdf(&dist, narrow_place + 0.01 * z), 0.3 + 0.7 * normal_cdf(z), 1e-6, "mode",
                         narrow_place);
    }
    /* an intensity that is there only for a moment: the peak of u is 8 high, at -20 a tenth beside it */
    for (double x = 4; x < 5.3; x += 0.037) {
        struct learned l = {2, {0.9, 0.9}, {-0.9 * x + 0.15, -0.9 * x - 0.15}, {6000, -6000}, -12000 * tanh(0.15) + 8};
        struct law law = {&learned_class, &l, 1, -6, 9};
        smurf_exact_build(exact, &law, EXACT_REST);
        assert_true(exact->rest < 0.9);
        assert_close(worst_miss(exact, &law, EXACT_REST, 20000), 0, 1e-6, "moment", x);
    }
    free_exact(exact);
}

static double no_density(double x)
{
    return -INFINITY + 0 * x;
}

static void laws_known_by_score(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    function *f[] = {two_modes, no_density};
    smurf_exact_build(exact, &(struct law){&plain_scored_class, &f[0], 1, -11, 10}, EXACT_ONE);
    check_table(exact);
    struct dist dist = smurf_exact_dist(exact);
    for (double x = -11; x < 10; x += 0.0007) {
        double want = 0.3 * normal_cdf((x + 8) / 0.3) + 0.7 * normal_cdf((x - 7) / 0.02);
        assert_close(smurf_dist_cdf(&dist, x), want, 1e-6, "cdf of two modes", x);
    }
    assert_close(smurf_dist_mean(&dist), 0.3 * -8 + 0.7 * 7, 1e-5, "mean of two modes", 0);
    smurf_exact_build(exact, &(struct law){&plain_scored_class, &f[1], 1, 0, 4}, EXACT_ONE);
    assert_close(smurf_dist_cdf(&dist, 1), 0.25, 1e-12, "cdf without density", 1);

    struct random random;
    smurf_random_init(&random, 7, 0);
    for (int turn = 0; turn < 10; turn++) {
        enum { PANELS = 4000 };
        struct learned l = random_law(&random, 32, turn % 2 ? 1 : 20, 2, -1);
        struct law law = {&scored_class, &l, 1, -5, 6};
        smurf_exact_build(exact, &law, EXACT_ONE);
        check_table(exact);
        assert_true(exact->rest == 0 && exact->f[exact->n - 1] == 1);
        double top = -INFINITY, *sum = malloc(PANELS * sizeof *sum), node[GAUSS], weight[GAUSS], all = 0;
        gauss(node, weight);
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < PANELS; i++)
                for (int j = 0; j < GAUSS; j++) {
                    double x = -5 + 11 * ((i + node[j]) / PANELS), v;
                    learned_log_density(&l, &x, &v, 1);
                    if (pass == 0) top = fmax(top, v);
                    if (pass == 1) all += weight[j] * exp(v - top);
                    if (pass == 1) sum[i] = all;
                }
        for (int i = 0; i < PANELS; i++)
            assert_close(smurf_dist_cdf(&dist, -5 + 11.0 * (i + 1) / PANELS), sum[i] / all, 1e-6, "cdf by score", i);
        free(sum);
    }
    free_exact(exact);
}

static double turn_bad(double x)
{
    return x < 3 ? 0.1 : x < 6 ? NAN : x < 8 ? INFINITY : -1;
}

static double all_bad(double x)
{
    return NAN * x;
}

static double endless(double x)
{
    return INFINITY + x;
}

static void bad_laws_do_no_harm(void **state)
{
    (void)state;
    function *f[] = {turn_bad, all_bad, endless};
    struct exact *exact = new_exact();
    for (size_t i = 0; i < 3; i++)
        for (int scored = 0; scored < 2; scored++)
            for (int mass = 0; mass < 2; mass++) {
                struct law law = {scored ? &plain_scored_class : &plain_class, &f[i], 1, 0, 10};
                smurf_exact_build(exact, &law, (enum exact_mass)mass);
                check_table(exact);
                struct dist dist = smurf_exact_dist(exact);
                check_shape(&dist, -1, 11);
                struct law_class bad = {.name = "bad", .intensity = plain_intensity, .compensator = plain_intensity};
                law.class = &bad;
                smurf_exact_build(exact, &law, (enum exact_mass)mass);
                check_table(exact);
                check_shape(&dist, -1, 11);
            }
    smurf_exact_build(exact, &(struct law){&plain_class, &f[0], 1, 1, 1}, EXACT_REST);
    check_table(exact);
    smurf_exact_build(exact, &(struct law){&plain_class, &f[0], 1, 0, INFINITY}, EXACT_ONE);
    check_table(exact);
    free_exact(exact);
}

/* Tables of random rubbish are still distributions. */
static void tables_are_monotone(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 8, 0);
    struct exact *exact = new_exact();
    struct dist dist = smurf_exact_dist(exact);
    for (int turn = 0; turn < 50; turn++) {
        smurf_exact_start(exact);
        double x = 0, n = turn % 3 ? 30 : EXACT_NODES_MOST + 50;
        for (double i = 0; i < n; i++) {
            double f = turn % 2 ? smurf_random_uniform(&random) : pow(i / n, 3);
            x += smurf_random_exponential(&random) * pow(10, -4 * smurf_random_uniform(&random));
            smurf_exact_add(exact, x, f, exp(5 * smurf_random_normal(&random)), true);
        }
        smurf_exact_finish(exact);
        check_table(exact);
        check_shape(&dist, -0.1, x + 0.1);
    }
    free_exact(exact);
}

/* A million gaps drawn by thinning, which knows nothing of tables. */
static void law_agrees_with_thinning(void **state)
{
    (void)state;
    enum { N = 1000000 };
    struct random random;
    smurf_random_init(&random, 9, 0);
    struct learned l = random_law(&random, 4, 1, 1, 0);
    struct law law = {&learned_class, &l, 1, -3, 9};
    double *draw = malloc(N * sizeof *draw), most = l.c, distance = 0;
    for (int k = 0; k < l.units; k++) most += fabs(l.w[k]);
    most = log1p(exp(most));
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        double x = law.lo, lambda = 0;
        do {
            x += smurf_random_exponential(&random) / most;
            if (x < law.hi) learned_intensity(&l, &x, &lambda, 1);
        } while (x < law.hi && smurf_random_uniform(&random) * most > lambda);
        if (x < law.hi) draw[n++] = x;
    }
    struct exact *exact = new_exact();
    smurf_exact_build(exact, &law, EXACT_REST);
    assert_close(exact->rest, 1 - (double)n / N, 2e-3, "rest by thinning", law.hi);
    struct dist dist = smurf_exact_dist(exact);
    smurf_sort(draw, n);
    dist.class->cdf(dist.self, draw, draw, n);
    for (size_t i = 0; i < n; i++) distance = fmax(distance, fabs(draw[i] - ((double)i + 0.5) / N));
    assert_close(distance, 0, 2 / sqrt(N), "Kolmogorov-Smirnov distance", N);
    assert_true(n > N / 2);
    free(draw);
    free_exact(exact);
}

/* ---- Laws of processes -------------------------------------------------------------------------------- */

/* The law after `seen` events, cut where 1e-12 or less is left. */
static struct law cut(const smurf_law *law)
{
    struct law out = law->law;
    double sum = 0;
    for (out.hi = 1e-3; sum < 28; out.hi *= 1.5) {
        double end = out.hi * 1.5;
        smurf_law_compensator(law, &end, &sum, 1);
    }
    return out;
}

/* F = 1 / (1 + exp(-z)), z = (x - 8.5) / 0.01: a step just where a cell is halved, and half of it is foretold. */
static void step_compensator(const void *self, const double *x, double *out, size_t n)
{
    (void)self;
    for (size_t i = 0; i < n; i++) out[i] = x[i] > 12 ? 100 * (x[i] - 8.5) : log1p(exp(100 * (x[i] - 8.5)));
}

static void step_intensity(const void *self, const double *x, double *out, size_t n)
{
    (void)self;
    for (size_t i = 0; i < n; i++) out[i] = 100 / (1 + exp(-100 * (x[i] - 8.5)));
}

static void steps_are_found(void **state)
{
    (void)state;
    const struct law_class class = {.name = "step", .intensity = step_intensity, .compensator = step_compensator};
    struct exact *exact = new_exact();
    struct dist dist = smurf_exact_dist(exact);
    smurf_exact_build(exact, &(struct law){&class, NULL, 1, 0, 16}, EXACT_REST);
    check_table(exact);
    for (double x = 8; x < 9; x += 0.001)
        assert_close(smurf_dist_cdf(&dist, x), 1 / (1 + exp(-100 * (x - 8.5))), 1e-6, "step", x);
    free_exact(exact);
}

static void laws_of_processes(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    struct dist dist = smurf_exact_dist(exact);
    for (size_t c = 0; c < PROCESS_CASES; c++) {
        smurf_process *process = new_process(&process_cases[c]);
        smurf_data *data = simulate(process, 1, 40, 3);
        smurf_law *law;
        assert_int_equal(smurf_process_law(&law, process, smurf_data_sequence(data, 0), 40, NULL), SMURF_OK);
        struct law finite = cut(law);
        smurf_exact_build(exact, &finite, EXACT_REST);
        check_table(exact);
        for (double x = finite.hi; x > finite.hi * 1e-30; x *= 0.97) {
            double want;
            smurf_law_cdf(law, &x, &want, 1);
            assert_close(smurf_dist_cdf(&dist, x), want, 1e-6, process_cases[c].name, x);
            double back = smurf_dist_quantile(&dist, want);
            if (want > 1e-3 && want < 0.999) smurf_law_cdf(law, &back, &back, 1);
            if (want > 1e-3 && want < 0.999) assert_close(back, want, 1e-6, process_cases[c].name, x);
        }
        smurf_law_free(law);
        smurf_data_free(data);
        smurf_process_free(process);
    }
    free_exact(exact);
}

static smurf_law *renewal_law(const char *name, const char *first, double a, const char *second, double b)
{
    smurf_process *process;
    smurf_parameter parameters[] = {{first, &a, 1}, {second, &b, 1}};
    assert_int_equal(smurf_process_new(&process, name, 1, parameters, second ? 2 : 1, NULL), SMURF_OK);
    smurf_law *law;
    assert_int_equal(smurf_process_law(&law, process, &(smurf_sequence){.length = 0}, 0, NULL), SMURF_OK);
    smurf_process_free(process);
    return law;
}

static double gamma_cdf(double shape, double x)
{
    return -expm1(-smurf_gamma_cumulative_hazard(shape, x));
}

static double crps_exponential(double x)
{
    return x + 2 * exp(-x / 2) * 2 - 3; /* mean 2 */
}

static double crps_lognormal(double x)
{
    double sigma = 0.8, mean = exp(sigma * sigma / 2), z = log(x) / sigma; /* mu = 0 */
    return x * (2 * normal_cdf(z) - 1) - 2 * mean * (normal_cdf(z - sigma) + normal_cdf(sigma / sqrt(2)) - 1);
}

static double crps_gamma(double x)
{
    double k = 2.5, scale = 0.5;
    return x * (2 * gamma_cdf(k, x / scale) - 1) - k * scale * (2 * gamma_cdf(k + 1, x / scale) - 1) -
           scale * tgamma(k + 0.5) / (sqrt(acos(-1)) * tgamma(k));
}

static void closed_forms(void **state)
{
    (void)state;
    const struct {
        const char *name, *first, *second;
        double a, b, mean, spread; /* spread: E|X - X'| / 2 */
        double (*crps)(double x);
    } cases[] = {
        {"exponential", "mean", NULL, 2, 0, 2, 1, crps_exponential},
        {"weibull", "shape", "scale", 0.5, 1, 2, 2 * (1 - 0.25), NULL},
        {"weibull", "shape", "scale", 3, 1, tgamma(4. / 3), tgamma(4. / 3) * (1 - pow(2, -1. / 3)), NULL},
        {"lognormal", "mu", "sigma", 0, 0.8, exp(0.32), exp(0.32) * (2 * normal_cdf(0.8 / sqrt(2)) - 1),
         crps_lognormal},
        {"gamma", "shape", "scale", 2.5, 0.5, 1.25, 0.5 * tgamma(3) / (sqrt(acos(-1)) * tgamma(2.5)), crps_gamma},
    };
    struct exact *exact = new_exact();
    struct dist own = smurf_exact_dist(exact);
    const smurf_scale none = {SMURF_SCALE_NONE, 1, 0, 1};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        smurf_law *law = renewal_law(cases[c].name, cases[c].first, cases[c].a, cases[c].second, cases[c].b);
        struct law finite = cut(law);
        smurf_exact_build(exact, &finite, EXACT_REST);
        struct scaled scaled;
        struct dist user = smurf_scaled(&scaled, exact, &none);
        for (int turn = 0; turn < 2; turn++) {
            const struct dist *dist = turn ? &user : &own;
            assert_close(smurf_dist_mean(dist), cases[c].mean, 1e-6 * cases[c].mean, cases[c].name, -1);
            assert_close(smurf_dist_spread(dist), cases[c].spread, 1e-6 * cases[c].mean, cases[c].name, -2);
            for (double x = 0.01; x < 30 && cases[c].crps; x *= 1.7)
                assert_close(smurf_dist_crps(dist, x), cases[c].crps(x), 1e-6 * cases[c].mean, cases[c].name, x);
            for (double x = 0.1; x < 2; x *= 1.3) {
                double f, lambda;
                smurf_law_cdf(law, &x, &f, 1);
                smurf_law_intensity(law, &x, &lambda, 1);
                assert_close(smurf_dist_density(dist, x), lambda * (1 - f), 1e-4 * lambda, cases[c].name, x);
            }
        }
        smurf_law_free(law);
    }
    free_exact(exact);
}

/* ---- The time scale ------------------------------------------------------------------------------------ */

/* Exponential gaps on the log axis: lambda(y) dy = dt. */
struct exponential_on_log {
    smurf_scale scale;
    double rate;
};

static void exponential_on_log(const void *self, const double *y, double *out, size_t n)
{
    const struct exponential_on_log *e = self;
    const smurf_scale *s = &e->scale;
    for (size_t i = 0; i < n; i++) out[i] = e->rate * s->mean * s->sd * exp(s->sd * y[i] + s->mu);
}

static const struct law_class exponential_on_log_class = {.name = "log exponential", .intensity = exponential_on_log};

static void log_scale_is_undone(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    for (double sd = 0.3; sd < 5; sd *= 1.7) {
        struct exponential_on_log e = {{SMURF_SCALE_LOG, 3, -1, sd}, 0.5};
        double lo = smurf_scale_forward(&e.scale, 1e-9), hi = smurf_scale_forward(&e.scale, 90);
        struct law law = {&exponential_on_log_class, &e, 1, lo, hi};
        smurf_exact_build(exact, &law, EXACT_REST);
        struct scaled scaled;
        struct dist dist = smurf_scaled(&scaled, exact, &e.scale);
        for (double x = 1e-6; x < 60; x *= 1.2) {
            assert_close(smurf_dist_cdf(&dist, x), -expm1(-x / 2), 1e-6, "cdf from log axis", x);
            assert_close(smurf_dist_crps(&dist, x), crps_exponential(x), 4e-6, "crps from log axis", x);
            assert_close(smurf_dist_density(&dist, x), 0.5 * exp(-x / 2), x < 1e-3 ? 5e-3 : 3e-4,
                         "density from log axis", x);
        }
        for (double p = 0.01; p < 1; p += 0.01)
            assert_close(smurf_dist_quantile(&dist, p), -2 * log1p(-p), 2e-6 / (1 - p), "quantile", p);
        assert_close(smurf_dist_mean(&dist), 2, 4e-6, "mean from log axis", sd);
        assert_close(smurf_dist_spread(&dist), 1, 4e-6, "spread from log axis", sd);
        check_shape(&dist, -1, 200);
    }
    free_exact(exact);
}

static void tails_go_on(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    struct scaled scaled;
    function *f[] = {one, tiny, zero};
    const smurf_scale mean = {SMURF_SCALE_MEAN, 4, 0, 1}, log_scale = {SMURF_SCALE_LOG, 1, 0, 1};
    /* the table ends in the middle of an exponential law: nobody can tell */
    smurf_exact_build(exact, &(struct law){&plain_class, &f[0], 1, 0, 1.3}, EXACT_REST);
    struct dist dist = smurf_scaled(&scaled, exact, &mean);
    for (double x = 0; x < 200; x = x * 1.3 + 0.1) {
        assert_close(smurf_dist_cdf(&dist, x), -expm1(-x / 4), 1e-7, "cdf with tail", x);
        assert_close(smurf_dist_density(&dist, x), exp(-x / 4) / 4, 1e-6, "density with tail", x);
    }
    assert_close(smurf_dist_mean(&dist), 4, 4e-6, "mean with tail", 0);
    assert_close(smurf_dist_crps(&dist, 6), 6 + 8 * exp(-1.5) - 6, 4e-6, "crps with tail", 6);
    assert_true(smurf_dist_quantile(&dist, 1) == INFINITY && smurf_dist_cdf(&dist, INFINITY) == 1);
    check_shape(&dist, -1, 50);
    check_integrals(&dist, 1e-6);
    /* next to no mass: not slower than once in as long again */
    for (int i = 1; i < 3; i++) {
        smurf_exact_build(exact, &(struct law){&plain_class, &f[i], 1, -20, 2}, EXACT_REST);
        dist = smurf_scaled(&scaled, exact, &log_scale);
        assert_close(smurf_dist_mean(&dist), 2 * exp(2), 1e-5, "mean of the tail", 2);
        check_shape(&dist, -1, 50);
    }
    /* a power law of index 1/2 would have no mean */
    smurf_exact_build(exact, &(struct law){&plain_class, &f[0], 1, -20, 9}, EXACT_REST);
    struct scaled heavy_tail;
    dist = smurf_scaled(&heavy_tail, exact, &(smurf_scale){SMURF_SCALE_LOG, 1, 0, 2});
    assert_true(isfinite(smurf_dist_mean(&dist)) && heavy_tail.rate * heavy_tail.end >= 1);
    /* all of it known: no tail */
    smurf_exact_build(exact, &(struct law){&plain_class, &f[0], 1, 0, 0.7}, EXACT_ONE);
    dist = smurf_scaled(&scaled, exact, &mean);
    assert_true(smurf_dist_cdf(&dist, 2.8) == 1 && smurf_dist_cdf(&dist, 3) == 1 && scaled.rate == 0);
    assert_close(smurf_dist_quantile(&dist, 1), 2.8, 1e-12, "end", 1);
    check_integrals(&dist, 1e-6);
    free_exact(exact);
}

static void what_comes_before_0_is_an_atom(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    struct scaled scaled;
    function *f = one;
    const smurf_scale none = {SMURF_SCALE_NONE, 1, 0, 1};
    smurf_exact_build(exact, &(struct law){&plain_class, &f, 1, -0.3, 30}, EXACT_REST);
    struct dist dist = smurf_scaled(&scaled, exact, &none);
    double atom = -expm1(-0.3);
    assert_true(smurf_dist_cdf(&dist, -1e-9) == 0);
    assert_close(smurf_dist_cdf(&dist, 0), atom, 1e-7, "atom", 0);
    assert_true(smurf_dist_quantile(&dist, 0.1) == 0 && smurf_dist_quantile(&dist, atom + 0.01) > 0);
    assert_close(smurf_dist_mean(&dist), exp(-0.3), 1e-6, "mean with atom", 0);
    assert_close(smurf_dist_pit(&dist, 0, 0, 0.25), 0.25 * atom, 1e-7, "pit within an atom", 0);
    assert_close(smurf_dist_pit(&dist, 1, 0, 0.25), -expm1(-1.3), 1e-7, "pit", 1);
    /* ticks of 1: a tie lies in [0, 1/2], all others within half a tick */
    for (double v = 0; v <= 1; v += 0.25) {
        assert_close(smurf_dist_pit(&dist, 0, 1, v), v * -expm1(-0.8), 1e-7, "pit of a tie", v);
        assert_close(smurf_dist_pit(&dist, 0.3, 1, v), v * -expm1(-1.1), 1e-7, "pit within the first tick", v);
        double low = -expm1(-1.8), high = -expm1(-2.8);
        assert_close(smurf_dist_pit(&dist, 2, 1, v), low + v * (high - low), 1e-7, "pit of a tick", v);
    }
    check_shape(&dist, -1, 35);
    check_integrals(&dist, 1e-6);
    free_exact(exact);
}

/* ---- Tweedie ------------------------------------------------------------------------------------------- */

/* Exp(1) with noise N(0, s^2): p = exp(s^2/2 - y) Phi(y/s - s), survival Phi(-y/s) + p. */
static const double noise = 0.1;

static void noisy_intensity(const void *self, const double *y, double *out, size_t n)
{
    (void)self;
    for (size_t i = 0; i < n; i++) {
        double p = exp(noise * noise / 2 - y[i]) * normal_cdf(y[i] / noise - noise);
        out[i] = p / (normal_cdf(-y[i] / noise) + p);
    }
}

/* psi = phi(z) / (s Phi(z)) - 1, z = y/s - s; phi / Phi is the hazard of -z. */
static void noisy_score(const void *self, const double *y, double *out, size_t n)
{
    (void)self;
    for (size_t i = 0; i < n; i++) out[i] = smurf_normal_hazard(noise - y[i] / noise) / noise - 1;
}

static const struct law_class noisy_class = {.name = "noisy", .intensity = noisy_intensity, .score = noisy_score};

/* Root mean square of F - level at the true quantiles, levels .50 .. .95, in %. */
static double calibration(const struct exact *exact)
{
    struct dist dist = smurf_exact_dist(exact);
    double sum = 0;
    for (int i = 10; i < 20; i++) sum += pow(smurf_dist_cdf(&dist, -log1p(-0.05 * i)) - 0.05 * i, 2) / 10;
    return 100 * sqrt(sum);
}

static void tweedie_takes_noise_away(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    struct law law = {&noisy_class, NULL, 1, -0.5, 25};
    smurf_exact_build(exact, &law, EXACT_REST);
    assert_close(calibration(exact), 0.156, 0.002, "CS% with noise", noise);
    smurf_tweedie_apply(exact, &law, noise, 0);
    check_table(exact);
    assert_close(calibration(exact), 0, 0.002, "CS% without", noise);
    struct dist dist = smurf_exact_dist(exact);
    check_shape(&dist, -1, 26);
    check_density(&dist, 1e-3);
    assert_close(smurf_dist_mean(&dist), 1, 3e-3, "mean", 0);
    /* the score of the table is as good as that of the law */
    enum { POINTS = 1000 };
    double by_table[POINTS], x[POINTS];
    for (size_t i = 0; i < POINTS; i++) x[i] = -0.5 + 0.01 * (double)i;
    dist.class->cdf(dist.self, x, by_table, POINTS);
    smurf_exact_build(exact, &law, EXACT_REST);
    exact->psi = NULL;
    smurf_tweedie_apply(exact, &law, noise, 0);
    for (size_t i = 0; i < POINTS; i++)
        assert_close(smurf_dist_cdf(&dist, x[i]), by_table[i], 1e-6, "score of the table", x[i]);
    free_exact(exact);
}

/* Multiplicative noise on x^k, of which q0 is known; and noise so large that nodes pass each other. */
static void power_score(const void *self, const double *x, double *out, size_t n)
{
    double k = *(const double *)self;
    for (size_t i = 0; i < n; i++) out[i] = (k - 1) / x[i];
}

static void power_compensator(const void *self, const double *x, double *out, size_t n)
{
    double k = *(const double *)self;
    for (size_t i = 0; i < n; i++) out[i] = -log1p(-pow(x[i] / 10, k));
}

static void power_intensity(const void *self, const double *x, double *out, size_t n)
{
    double k = *(const double *)self;
    for (size_t i = 0; i < n; i++) out[i] = k / x[i] / (pow(x[i] / 10, -k) - 1);
}

static void tweedie_multiplies_and_pools(void **state)
{
    (void)state;
    const struct law_class class = {"power", power_intensity, NULL, power_compensator, power_score, NULL, NULL};
    double k = 3;
    struct law law = {&class, &k, 1, 0, 9.9};
    struct exact *exact = new_exact();
    struct dist dist = smurf_exact_dist(exact);
    smurf_exact_build(exact, &law, EXACT_REST);
    smurf_tweedie_apply(exact, &law, 0.2, 1);
    check_table(exact);
    double factor = exp(0.02 * k); /* q psi + 1 = k */
    for (double x = 0.5; x < 9; x += 0.3)
        assert_close(smurf_dist_cdf(&dist, x * factor), pow(x / 10, k), 1e-6, "multiplicative", x);
    struct random random;
    smurf_random_init(&random, 10, 0);
    for (int turn = 0; turn < 6; turn++) {
        struct learned l = random_law(&random, 16, 3, 2, 0);
        struct law rough = {&learned_class, &l, 1, -6, 4};
        smurf_exact_build(exact, &rough, EXACT_ONE);
        /* pooling keeps the mean, E q + 1/2 sigma^2 E psi, where E psi = p(hi) - p(lo) */
        double ends = exact->slope[exact->n - 1] - exact->slope[0], mean = smurf_dist_mean(&dist);
        smurf_tweedie_apply(exact, &rough, turn, 0);
        assert_close(smurf_dist_mean(&dist), mean + 0.5 * turn * turn * ends, 0.001 + 1e-4 * turn * turn, "mean", turn);
        check_table(exact);
        check_shape(&dist, exact->x[0], exact->x[exact->n - 1]);
    }
    free_exact(exact);
}

/* ---- Recalibration -------------------------------------------------------------------------------------- */

static double rms_from_identity(const struct recalibration *map)
{
    double sum = 0;
    for (int i = 0; i < 1000; i++) sum += pow(smurf_recalibration_map(map, i / 1e3) - i / 1e3, 2) / 1000;
    return sqrt(sum);
}

static void check_map(const struct recalibration *map)
{
    for (double u = 0; u <= 1; u += 0.00137) {
        double level = smurf_recalibration_map(map, u);
        assert_close(smurf_recalibration_inverse(map, level), u, 1e-12, "inverse of the map", u);
        assert_close(smurf_recalibration_map(map, smurf_recalibration_inverse(map, u)), u, 1e-12, "map of inverse", u);
        double h = 1e-6, a = fmax(u - h, 0), b = fmin(u + h, 1), slope = smurf_recalibration_slope(map, u);
        double difference = (smurf_recalibration_map(map, b) - smurf_recalibration_map(map, a)) / (b - a);
        assert_close(slope, difference, 1e-3 * (1 + difference), "slope of the map", u);
        assert_true(slope > 4e-4);
    }
    assert_true(smurf_recalibration_map(map, 0) == 0 && smurf_recalibration_map(map, 1) == 1);
    assert_true(smurf_recalibration_inverse(map, 0) == 0 && smurf_recalibration_inverse(map, 1) == 1);
    assert_true(isnan(smurf_recalibration_map(map, NAN)) && isnan(smurf_recalibration_inverse(map, NAN)));
}

static void recalibration_is_learned(void **state)
{
    (void)state;
    enum { MOST = 100000, MANY = 1000000 };
    struct random random;
    smurf_random_init(&random, 11, 0);
    double *pit = malloc(MANY * sizeof *pit);
    struct recalibration map;
    smurf_recalibration_identity(&map);
    check_map(&map);
    assert_close(rms_from_identity(&map), 0, 1e-15, "identity", 0);
    smurf_recalibration_fit(&map, pit, 0);
    assert_close(rms_from_identity(&map), 0, 1e-15, "nothing seen", 0);
    /* uniform levels: nothing but noise, whose root mean square is sqrt(1 / 6n) */
    for (size_t n = 10; n <= MOST; n *= 10)
        for (int turn = 0; turn < 5; turn++) {
            for (size_t i = 0; i < n; i++) pit[i] = smurf_random_uniform(&random);
            smurf_recalibration_fit(&map, pit, n);
            check_map(&map);
            assert_close(rms_from_identity(&map), 0, 1 / sqrt((double)n), "map of uniform levels", (double)n);
        }
    /* levels u^2 have the distribution sqrt; NaN is no level */
    for (size_t i = 0; i < MOST; i++) pit[i] = pow(smurf_random_uniform(&random), 2);
    pit[7] = NAN;
    smurf_recalibration_fit(&map, pit, MOST);
    check_map(&map);
    for (double u = 0.0625; u <= 1; u += 0.0625)
        assert_close(smurf_recalibration_map(&map, u), sqrt(u), 0.006, "map of skew levels", u);
    /* all levels in one place */
    for (size_t i = 0; i < MANY; i++) pit[i] = 0.4;
    smurf_recalibration_fit(&map, pit, MANY);
    check_map(&map);
    free(pit);
}

static void maps_are_checked(void **state)
{
    (void)state;
    struct recalibration map, bad;
    smurf_recalibration_identity(&map);
    double level[RECALIBRATION_KNOTS];
    for (int turn = 0; turn < 5; turn++) {
        memcpy(level, map.level, sizeof level);
        if (turn == 1) level[0] = 0.01;
        if (turn == 2) level[RECALIBRATION_KNOTS - 1] = 0.99;
        if (turn == 3) level[7] = level[6];
        if (turn == 4) level[9] = NAN;
        assert_int_equal(smurf_recalibration_set(&bad, level), turn == 0);
    }
}

/* ---- Silence --------------------------------------------------------------------------------------------- */

static void silence_shifts_exponentials(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    function *f = one;
    const smurf_scale none = {SMURF_SCALE_NONE, 1, 0, 1};
    smurf_exact_build(exact, &(struct law){&plain_class, &f, 1, 0, 12}, EXACT_REST);
    struct scaled scaled;
    struct silent silent;
    struct dist inner = smurf_scaled(&scaled, exact, &none);
    for (double since = 0.5; since < 18; since += 3.7) {
        struct dist dist = smurf_silent(&silent, inner, since);
        for (double x = 0; x < 8; x += 0.3) {
            assert_close(smurf_dist_cdf(&dist, since + x), -expm1(-x), 1e-7 * exp(since), "cdf after silence", x);
            assert_close(smurf_dist_cdf(&dist, since - x), 0, 1e-12, "cdf in silence", x);
        }
        assert_close(smurf_dist_mean(&dist), since + 1, 1e-5 * exp(fmin(since, 5)), "mean after silence", since);
        check_shape_within(&dist, since - 1, since + 20, 1e-15 * exp(since));
    }
    /* longer than anything known */
    struct dist dist = smurf_silent(&silent, inner, 50);
    assert_close(smurf_dist_mean(&dist), 100, 1e-4, "mean after long silence", 50);
    assert_close(smurf_dist_cdf(&dist, 100), -expm1(-1), 1e-12, "cdf after long silence", 100);
    assert_close(smurf_dist_quantile(&dist, 0.5), 50 * (1 + log(2)), 1e-10, "median after long silence", 50);
    check_shape(&dist, 40, 1000);
    /* none */
    dist = smurf_silent(&silent, inner, 0);
    assert_true(smurf_dist_cdf(&dist, 1) == smurf_dist_cdf(&inner, 1));
    free_exact(exact);
}

/* ---- All together ------------------------------------------------------------------------------------------ */

static void chains_agree_with_themselves(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 12, 0);
    struct exact *exact = new_exact();
    const smurf_scale scales[] = {{SMURF_SCALE_LOG, 2, -0.7, 0.9}, {SMURF_SCALE_MEAN, 2, 0, 1}};
    double pit[500];
    for (size_t i = 0; i < 500; i++) pit[i] = pow(smurf_random_uniform(&random), 1.4);
    struct recalibration map;
    smurf_recalibration_fit(&map, pit, 500);
    for (int turn = 0; turn < 8; turn++) {
        struct learned l = random_law(&random, 32, 0.3, 1, 0.5);
        const smurf_scale *scale = &scales[turn % 2];
        struct law law = {&learned_class, &l, 1, turn % 2 ? -0.3 : -5, turn % 2 ? 60 : 3};
        smurf_exact_build(exact, &law, turn % 4 < 2 ? EXACT_REST : EXACT_ONE);
        if (turn < 4) smurf_tweedie_apply(exact, &law, 0.1, 0);
        struct scaled scaled;
        struct recalibrated recalibrated;
        struct silent silent;
        struct dist chain[3];
        chain[0] = smurf_scaled(&scaled, exact, scale);
        chain[1] = smurf_recalibrated(&recalibrated, chain[0], &map);
        double atom = smurf_dist_cdf(&chain[1], 0);
        chain[2] = smurf_silent(&silent, chain[1], smurf_dist_quantile(&chain[1], atom + 0.4 * (1 - atom)));
        for (int i = 0; i < 3; i++) {
            double far = smurf_dist_quantile(&chain[i], 0.999);
            check_shape(&chain[i], -0.1 * far, 2 * far);
            check_density(&chain[i], 1e-3);
            check_integrals(&chain[i], 1e-6);
        }
        double x = smurf_dist_quantile(&chain[1], 0.7 + 0.3 * atom), since = silent.since;
        double f = smurf_recalibration_map(&map, smurf_dist_cdf(&chain[0], x));
        assert_close(smurf_dist_cdf(&chain[1], x), f, 1e-15, "recalibrated cdf", x);
        assert_close(f, 0.7 + 0.3 * atom, 1e-12, "recalibrated quantile", x);
        double before = smurf_dist_cdf(&chain[1], since);
        assert_close(smurf_dist_cdf(&chain[2], x), (f - before) / (1 - before), 1e-14, "silent cdf", x);
    }
    free_exact(exact);
}

static void empirical_laws(void **state)
{
    (void)state;
    enum { N = 101 };
    double x[N];
    struct random random;
    smurf_random_init(&random, 13, 0);
    for (size_t i = 0; i < N; i++) x[i] = floor(20 * smurf_random_exponential(&random)) / 4; /* many are equal */
    smurf_sort(x, N);
    struct empirical empirical;
    struct dist dist = smurf_empirical(&empirical, x, N);
    for (int i = 0; i < N; i++) assert_close(smurf_dist_quantile(&dist, i / 100.0), x[i], 1e-12, "order statistic", i);
    assert_close(smurf_dist_quantile(&dist, 0.505), 0.5 * (x[50] + x[51]), 1e-12, "between", 50);
    check_shape(&dist, -1, x[N - 1] + 1);
    for (double gap = -1; gap < 30; gap += 0.7) {
        double miss = 0, pairs = 0;
        for (int i = 0; i < N; i++) miss += fabs(x[i] - gap) / N;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) pairs += fabs(x[i] - x[j]) / (2.0 * N * N);
        assert_close(smurf_dist_crps(&dist, gap), miss - pairs, 1e-12, "sample crps", gap);
    }
    double sum = 0;
    for (int i = 0; i < N; i++) sum += x[i] / N;
    assert_close(smurf_dist_mean(&dist), sum, 1e-12, "sample mean", N);
    dist = smurf_empirical(&empirical, (double[]){3}, 1);
    assert_true(smurf_dist_cdf(&dist, 2.9) == 0 && smurf_dist_cdf(&dist, 3) == 1 &&
                smurf_dist_quantile(&dist, 0.5) == 3);
    assert_true(smurf_dist_crps(&dist, 5) == 2 && smurf_dist_mean(&dist) == 3 && smurf_dist_spread(&dist) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learned_laws),
        cmocka_unit_test(steep_laws),
        cmocka_unit_test(hostile_closed_forms),
        cmocka_unit_test(laws_that_switch),
        cmocka_unit_test(laws_known_by_score),
        cmocka_unit_test(narrow_peaks_are_found),
        cmocka_unit_test(bad_laws_do_no_harm),
        cmocka_unit_test(tables_are_monotone),
        cmocka_unit_test(law_agrees_with_thinning),
        cmocka_unit_test(steps_are_found),
        cmocka_unit_test(laws_of_processes),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(log_scale_is_undone),
        cmocka_unit_test(tails_go_on),
        cmocka_unit_test(what_comes_before_0_is_an_atom),
        cmocka_unit_test(tweedie_takes_noise_away),
        cmocka_unit_test(tweedie_multiplies_and_pools),
        cmocka_unit_test(recalibration_is_learned),
        cmocka_unit_test(maps_are_checked),
        cmocka_unit_test(silence_shifts_exponentials),
        cmocka_unit_test(chains_agree_with_themselves),
        cmocka_unit_test(empirical_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
