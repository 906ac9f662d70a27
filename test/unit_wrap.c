/* unit_wrap.c - distributions made of distributions: time scale, Tweedie, silence, chains of them, empirical ones. */
#include "dist_case.h"

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
        struct dist dist = smurf_scaled(&scaled, exact, &e.scale, NULL);
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
    struct dist dist = smurf_scaled(&scaled, exact, &mean, NULL);
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
        dist = smurf_scaled(&scaled, exact, &log_scale, NULL);
        assert_close(smurf_dist_mean(&dist), 2 * exp(2), 1e-5, "mean of the tail", 2);
        check_shape(&dist, -1, 50);
    }
    /* a power law of index 1/2 would have no mean */
    smurf_exact_build(exact, &(struct law){&plain_class, &f[0], 1, -20, 9}, EXACT_REST);
    struct scaled heavy_tail;
    dist = smurf_scaled(&heavy_tail, exact, &(smurf_scale){SMURF_SCALE_LOG, 1, 0, 2}, NULL);
    assert_true(isfinite(smurf_dist_mean(&dist)) && heavy_tail.rate * heavy_tail.end >= 1);
    /* all of it known: no tail */
    smurf_exact_build(exact, &(struct law){&plain_class, &f[0], 1, 0, 0.7}, EXACT_ONE);
    dist = smurf_scaled(&scaled, exact, &mean, NULL);
    assert_true(smurf_dist_cdf(&dist, 2.8) == 1 && smurf_dist_cdf(&dist, 3) == 1 && scaled.rate == 0);
    assert_close(smurf_dist_quantile(&dist, 1), 2.8, 1e-12, "end", 1);
    check_integrals(&dist, 1e-6);
    free_exact(exact);
}

/* Exponential gaps of mean 4. */
static void tails_are_bounded(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    struct scaled scaled;
    function *f = one;
    const smurf_scale mean = {SMURF_SCALE_MEAN, 4, 0, 1};
    const struct tail tight = {8, 0.01, 2}, loose = {8, 0.5, 2}, far = {400, 0.01, 2}, near = {1e-9, 0.01, 2};
    const double left = exp(-2), keep = 0.99 / (1 - left);
    smurf_exact_build(exact, &(struct law){&plain_class, &f, 1, 0, 30}, EXACT_REST);
    struct dist dist = smurf_scaled(&scaled, exact, &mean, &tight);
    for (double x = 0.1; x < 8; x += 0.3) {
        assert_close(smurf_dist_cdf(&dist, x), -expm1(-x / 4) * keep, 1e-6, "below the bound", x);
        assert_close(smurf_dist_density(&dist, x), exp(-x / 4) / 4 * keep, 1e-5, "density below the bound", x);
    }
    for (double x = 8; x < 40; x++)
        assert_close(1 - smurf_dist_cdf(&dist, x), 0.01 * exp(-(x - 8) / 2), 1e-9, "tail", x);
    assert_true(smurf_dist_quantile(&dist, 0.99) <= 8 && smurf_dist_quantile(&dist, 0.991) > 8);
    assert_close(smurf_dist_mean(&dist), keep * (4 - left * 12) + 0.01 * 10, 1e-5, "mean", 0);
    check_shape(&dist, -1, 50);
    check_integrals(&dist, 1e-6);
    /* a law that claims less than is allowed keeps it, but for its length */
    dist = smurf_scaled(&scaled, exact, &mean, &loose);
    assert_close(smurf_dist_cdf(&dist, 5), -expm1(-1.25), 1e-6, "loose bound", 5);
    assert_close(smurf_dist_mean(&dist), 4 - left * 12 + left * 10, 1e-5, "mean", 1);
    check_shape(&dist, -1, 50);
    /* beyond the table, and a law that lies beyond the bound altogether: nothing is changed */
    const struct tail *const idle[] = {&far, &near, NULL};
    for (int i = 0; i < 3; i++) {
        dist = smurf_scaled(&scaled, exact, &mean, idle[i]);
        for (double x = 1; x < 100; x *= 2) assert_close(smurf_dist_cdf(&dist, x), -expm1(-x / 4), 1e-6, "idle", x);
    }
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
    struct dist dist = smurf_scaled(&scaled, exact, &none, NULL);
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
    const struct law_class class = {"power", power_intensity, NULL, power_compensator, power_score, NULL, NULL, NULL};
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
    struct dist inner = smurf_scaled(&scaled, exact, &none, NULL);
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
        chain[0] = smurf_scaled(&scaled, exact, scale, NULL);
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

/* ---- The end of a case --------------------------------------------------------------------------------- */

static void a_gap_may_never_end(void **state)
{
    (void)state;
    struct exact *exact = new_exact();
    struct scaled scaled;
    struct ending ending;
    struct silent silent;
    function *f = one;
    const smurf_scale scale = {SMURF_SCALE_MEAN, 4, 0, 1};
    smurf_exact_build(exact, &(struct law){&plain_class, &f, 1, 0, 30}, EXACT_REST);
    struct dist comes = smurf_scaled(&scaled, exact, &scale, NULL);
    assert_ptr_equal(smurf_may_end(&ending, comes, 0).class, comes.class);
    for (double pi = 0.03; pi < 1; pi += 0.16) {
        struct dist dist = smurf_may_end(&ending, comes, pi);
        assert_close(smurf_dist_cdf(&dist, INFINITY), 1 - pi, 1e-15, "cdf", INFINITY);
        for (double x = 0.1; x < 60; x *= 1.7) {
            assert_close(smurf_dist_cdf(&dist, x), (1 - pi) * -expm1(-x / 4), 1e-6, "cdf", x);
            assert_close(smurf_dist_density(&dist, x), (1 - pi) * exp(-x / 4) / 4, 1e-5, "density", x);
        }
        for (double p = 0; p <= 1; p += 0.01) {
            double q = smurf_dist_quantile(&dist, p);
            if (p > 1 - pi) assert_true(q == INFINITY);
            if (p < 1 - pi) assert_close(smurf_dist_cdf(&dist, q), p, 1e-9, "quantile", p);
        }
        assert_true(isnan(smurf_dist_quantile(&dist, -0.1)) && isnan(smurf_dist_quantile(&dist, 1.1)));
        assert_true(isnan(smurf_dist_quantile(&dist, NAN)) && isnan(smurf_dist_cdf(&dist, NAN)));
        assert_true(smurf_dist_mean(&dist) == INFINITY && smurf_dist_crps(&dist, 1) == INFINITY);
        check_shape(&dist, -1, 4 * -log(pi / 2));
        /* given a silence, of any length */
        for (double e = 0.5; e < 400; e *= 3) {
            double survival = exp(-e / 4), none = pi / (pi + (1 - pi) * survival), at = 0.4 * (1 - none);
            struct dist quiet = smurf_silent(&silent, dist, e);
            assert_close(smurf_dist_cdf(&quiet, INFINITY), 1 - none, 1e-6, "given silence", e);
            for (double x = 1; x < 9; x++)
                assert_close(smurf_dist_cdf(&quiet, e + x), (1 - none) * -expm1(-x / 4), 1e-6, "silence", e + x);
            assert_true(smurf_dist_quantile(&quiet, fmin(1, 1 - none + 1e-4)) == INFINITY);
            if (none < 0.999)
                assert_close(smurf_dist_quantile(&quiet, at), e - 4 * log(0.6), 1e-3 / (1 - none), "q", e);
        }
    }
    free_exact(exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_scale_is_undone),
        cmocka_unit_test(tails_go_on),
        cmocka_unit_test(a_gap_may_never_end),
        cmocka_unit_test(tails_are_bounded),
        cmocka_unit_test(what_comes_before_0_is_an_atom),
        cmocka_unit_test(tweedie_takes_noise_away),
        cmocka_unit_test(tweedie_multiplies_and_pools),
        cmocka_unit_test(silence_shifts_exponentials),
        cmocka_unit_test(chains_agree_with_themselves),
        cmocka_unit_test(empirical_laws),
    };
    return cmocka_run_group_tests_name("wrap", tests, NULL, NULL);
}
