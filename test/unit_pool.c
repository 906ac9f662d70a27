/* unit_pool.c - pools of laws, and equally likely gaps as a law with a density. */
#include "dist_case.h"

static void gaps_become_cells(void **state)
{
    (void)state;
    struct steps steps;
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct dist dist = smurf_steps(&steps, x, 12, 0);
    /* four to a cell, and one to each of the last four */
    const double edge[] = {1, 4.5, 8.5, 9.5, 10.5, 11.5, 12},
                 f[] = {0, 4 / 12., 8 / 12., 9 / 12., 10 / 12., 11 / 12., 1};
    assert_int_equal(steps.n, 7);
    for (size_t i = 0; i < steps.n; i++) {
        assert_close(steps.x[i], edge[i], 1e-7, "edge", (double)i);
        assert_close(smurf_dist_cdf(&dist, edge[i] + (i == 6 ? 1e-6 : 0)), f[i], 1e-7, "level", edge[i]);
    }
    assert_close(smurf_dist_density(&dist, 2), 4 / 12. / 3.5, 1e-7, "density", 2);
    assert_true(smurf_dist_density(&dist, 0.5) == 0 && smurf_dist_density(&dist, 13) == 0);
    check_shape(&dist, 0, 14);
}

/* Ties and ticks: P(k tick) is the share of the gaps that are there. */
static void shared_values_lie_on_ticks(void **state)
{
    (void)state;
    struct steps steps;
    double x[60];
    for (int i = 0; i < 60; i++) x[i] = i < 20 ? 0 : i < 30 ? 1 : i < 35 ? 7 : i;
    struct dist dist = smurf_steps(&steps, x, 60, 1);
    double mass[2];
    const double at[] = {0, 1, 7}, share[] = {20 / 60., 10 / 60., 5 / 60.};
    for (int i = 0; i < 3; i++) {
        smurf_ticks_mass(&dist, at[i], 1, mass);
        assert_close(mass[1] - mass[0], share[i], 1e-12, "share of a tick", at[i]);
    }
    assert_close(smurf_dist_cdf(&dist, 6), 0.5, 1e-12, "nothing in between", 6);
    check_shape(&dist, -1, 70);
    /* no room between ties, one gap, equal gaps, gaps that are nearly infinite */
    const struct {
        double x[4], tick;
        size_t n;
    } odd[] = {{{0, 0, 0, 0}, 0, 4},
               {{3, 3, 3, 3}, 0, 4},
               {{5}, 0, 1},
               {{5}, 1e-30, 1},
               {{1e300, 1e300, 1e300, 1e300}, 1, 4},
               {{0, 1e300}, 0, 2},
               {{1, 1, 1e299, 1e300}, 2, 4},
               {{0, 0, 0, 0}, 1, 4}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        dist = smurf_steps(&steps, odd[i].x, odd[i].n, odd[i].tick);
        double last = odd[i].x[odd[i].n - 1];
        assert_true(steps.n >= 2 && smurf_dist_cdf(&dist, INFINITY) == 1 && smurf_dist_cdf(&dist, -1) == 0);
        assert_true(isfinite(smurf_dist_mean(&dist)) && smurf_dist_mean(&dist) <= last + 1);
        assert_true(isfinite(smurf_dist_quantile(&dist, 0.5)) && isfinite(smurf_dist_crps(&dist, 2)));
    }
}

/* As close to the law of the gaps themselves as their own chance. */
static void cells_keep_mean_and_crps(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 21, 0);
    for (int turn = 0; turn < 20; turn++) {
        enum { N = 110 };
        double x[N], tick = turn % 2 ? 0.25 : 0;
        for (int i = 0; i < N; i++) {
            x[i] = exp((1 + turn % 3) * smurf_random_normal(&random));
            if (tick > 0) x[i] = tick * rint(x[i] / tick);
        }
        smurf_sort(x, N);
        struct steps steps;
        struct empirical empirical;
        struct dist dist = smurf_steps(&steps, x, N, tick), wanted = smurf_empirical(&empirical, x, N);
        double mean = smurf_dist_mean(&wanted);
        assert_close(smurf_dist_mean(&dist), mean, 0.06 * mean, "mean", turn);
        for (double level = 0.05; level < 1; level += 0.1) {
            double gap = smurf_dist_quantile(&wanted, level);
            assert_close(smurf_dist_crps(&dist, gap), smurf_dist_crps(&wanted, gap), 0.04 * (mean + gap), "crps", gap);
        }
        check_shape(&dist, -1, 2 * x[N - 1]);
        check_density(&dist, 0.2); /* it jumps */
        check_integrals(&dist, 1e-5);
    }
}

/* A pool of every kind of law against F = (1 - w) A + w B, by brute force. */
static void pools_are_their_parts(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 22, 0);
    struct exact *exact = new_exact();
    const smurf_scale scale = {SMURF_SCALE_LOG, 2, -0.7, 0.9};
    for (int turn = 0; turn < 8; turn++) {
        struct learned l = random_law(&random, 32, 0.3, 1, 0.5);
        struct law law = {&learned_class, &l, 1, -5, 3};
        const struct tail tail = {20, 0.01, 5};
        smurf_exact_build(exact, &law, turn % 2 ? EXACT_REST : EXACT_ONE);
        enum { N = 100 };
        double x[N], tick = turn % 4 < 2 ? 0 : 0.5, w = 0.1 + 0.1 * turn, pit[500];
        for (int i = 0; i < N; i++) {
            x[i] = 3 * smurf_random_exponential(&random);
            if (tick > 0) x[i] = tick * rint(x[i] / tick);
        }
        smurf_sort(x, N);
        struct scaled scaled;
        struct steps steps;
        struct pooled pooled;
        struct recalibrated recalibrated;
        struct recalibration map;
        for (int i = 0; i < 500; i++) pit[i] = pow(smurf_random_uniform(&random), 1.3);
        smurf_recalibration_fit(&map, pit, 500);
        struct dist a = smurf_scaled(&scaled, exact, &scale, &tail), b = smurf_steps(&steps, x, N, tick);
        struct dist pool = smurf_pooled(&pooled, a, b, w), mapped = smurf_recalibrated(&recalibrated, pool, &map);
        for (double gap = 0; gap < 60; gap = 1.1 * gap + 0.003) {
            double f = (1 - w) * smurf_dist_cdf(&a, gap) + w * smurf_dist_cdf(&b, gap);
            double p = (1 - w) * smurf_dist_density(&a, gap) + w * smurf_dist_density(&b, gap);
            assert_close(smurf_dist_cdf(&pool, gap), f, 1e-15, "cdf of a pool", gap);
            assert_close(smurf_dist_density(&pool, gap), p, 1e-12 * p, "density of a pool", gap);
            assert_close(smurf_dist_pit(&pool, gap, tick, 0.3),
                         (1 - w) * smurf_dist_pit(&a, gap, tick, 0.3) + w * smurf_dist_pit(&b, gap, tick, 0.3), 1e-14,
                         "pit of a pool", gap);
        }
        double far = smurf_dist_quantile(&pool, 0.999);
        check_shape_within(&pool, -0.1 * far, 2 * far, 1e-12);
        check_density(&pool, 0.1);
        check_integrals(&pool, 1e-5);
        check_shape_within(&mapped, -0.1 * far, 2 * far, 1e-12);
        check_integrals(&mapped, 1e-5);
    }
    free_exact(exact);
}

/* CRPS is quadratic in the weight, on which the fit of weights rests; the ends are the parts. */
static void weights_move_between_the_parts(void **state)
{
    (void)state;
    struct steps near, far;
    struct pooled pooled;
    const double x[] = {1, 2, 4, 5, 6, 8}, y[] = {20, 21, 22, 30, 40, 50};
    struct dist a = smurf_steps(&near, x, 6, 0), b = smurf_steps(&far, y, 6, 0);
    struct dist half = smurf_pooled(&pooled, a, b, 0.5);
    double at_a = smurf_dist_crps(&a, 7), at_b = smurf_dist_crps(&b, 7);
    double both = 2 * smurf_dist_crps(&half, 7) - (at_a + at_b) / 2;
    for (double w = 0.1; w < 1; w += 0.2) {
        struct pooled other;
        struct dist pool = smurf_pooled(&other, a, b, w);
        double wanted = (1 - w) * (1 - w) * at_a + w * w * at_b + 2 * w * (1 - w) * both;
        assert_close(smurf_dist_crps(&pool, 7), wanted, 1e-9, "crps of a pool", w);
        /* between the parts nothing comes */
        double gap = smurf_dist_quantile(&pool, 1 - w);
        assert_true(gap >= 7.9 && gap <= 20.1);
    }
    struct dist none = smurf_pooled(&pooled, a, b, 0);
    assert_true(none.class == a.class && none.self == a.self);
    struct dist all = smurf_pooled(&pooled, a, b, 1);
    for (double level = 0.05; level < 1; level += 0.1)
        assert_close(smurf_dist_quantile(&all, level), smurf_dist_quantile(&b, level), 1e-9, "weight 1", level);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_become_cells),
        cmocka_unit_test(shared_values_lie_on_ticks),
        cmocka_unit_test(cells_keep_mean_and_crps),
        cmocka_unit_test(pools_are_their_parts),
        cmocka_unit_test(weights_move_between_the_parts),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
