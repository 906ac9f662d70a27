/* unit_dist.c - laws integrated into distributions, and distributions of processes with a closed form. */
#include "dist_case.h"

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
        struct dist user = smurf_scaled(&scaled, exact, &none, NULL);
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
    };
    return cmocka_run_group_tests_name("dist", tests, NULL, NULL);
}
