/* unit_ticks.c - what is shown on ticks, against brute force on laws with atoms, gaps in their support and tails. */
#include "dist_case.h"

/* A law of atoms, sorted, plus an exponential share: F(x) = sum of weights at or below x + rest (1 - e^(-x / mean)). */
enum { ATOMS_MOST = 12 };
struct atoms {
    size_t n;
    double at[ATOMS_MOST], weight[ATOMS_MOST], rest, mean;
};

static double atoms_at(const struct atoms *a, double x)
{
    double f = x > 0 ? -a->rest * expm1(-x / a->mean) : 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->at[i] <= x) f += a->weight[i];
    return f;
}

static void atoms_cdf(const void *self, const double *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = atoms_at(self, in[i]);
}

/* The least x with F(x) >= p, by bisection. */
static void atoms_quantile(const void *self, const double *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double p = in[i], low = -1, high = 1e4;
        for (int step = 0; step < 100; step++) {
            double middle = 0.5 * (low + high);
            *(atoms_at(self, middle) >= p ? &high : &low) = middle;
        }
        out[i] = high;
    }
}

static const struct dist_class atoms_class = {.name = "atoms", .cdf = atoms_cdf, .quantile = atoms_quantile};

static struct atoms draw_atoms(struct random *random)
{
    struct atoms a = {.n = 1 + (size_t)smurf_random_below(random, ATOMS_MOST),
                      .mean = 1 + 8 * smurf_random_uniform(random)};
    double sum = a.rest = smurf_random_below(random, 2) ? smurf_random_uniform(random) * 3 : 0;
    for (size_t i = 0; i < a.n; i++) {
        a.at[i] = smurf_random_below(random, 3) ? 0.25 * (double)smurf_random_below(random, 80)
                                                : 20 * smurf_random_uniform(random);
        sum += a.weight[i] = smurf_random_uniform(random);
    }
    for (size_t i = 0; i < a.n; i++) a.weight[i] /= sum;
    a.rest /= sum;
    return a;
}

static double brute_low(const struct dist *dist, double tick, double level)
{
    double best = 0;
    for (int k = 1; k < 4000; k++)
        if (smurf_dist_cdf(dist, (k - 0.5) * tick) <= level) best = k * tick;
    return best;
}

static double brute_high(const struct dist *dist, double tick, double level)
{
    for (int k = 0; k < 4000; k++)
        if (smurf_dist_cdf(dist, (k + 0.5) * tick) >= level) return k * tick;
    return INFINITY;
}

static void ends_are_those_of_brute_force(void **state)
{
    (void)state;
    static const double ticks[] = {0.25, 1, 3}, levels[] = {0.05, 0.25, 0.5, 0.75, 0.9, 0.95};
    struct random random;
    smurf_random_init(&random, 1, 2);
    for (int round = 0; round < 60; round++) {
        struct atoms a = draw_atoms(&random);
        struct dist dist = {&atoms_class, &a};
        for (int t = 0; t < 3; t++)
            for (int l = 0; l < 6; l++) {
                double p = levels[l], tick = ticks[t];
                assert_close(smurf_ticks_low(&dist, tick, p), brute_low(&dist, tick, p), 0, "low end", p);
                assert_close(smurf_ticks_high(&dist, tick, p), brute_high(&dist, tick, p), 0, "high end", p);
            }
    }
}

/* A gap is between the shown ends exactly if the mass of its tick says so: what is counted is what is shown. */
static void coverage_counts_what_is_shown(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 1, 3);
    for (int round = 0; round < 40; round++) {
        struct atoms a = draw_atoms(&random);
        struct dist dist = {&atoms_class, &a};
        double tick = 0.5, p = 0.02 + 0.4 * smurf_random_uniform(&random), mass[2];
        double low = smurf_ticks_low(&dist, tick, p), high = smurf_ticks_high(&dist, tick, 1 - p);
        for (int k = 0; k < 100; k++) {
            double gap = k * tick;
            smurf_ticks_mass(&dist, gap, tick, mass);
            assert_int_equal(mass[1] > p, gap >= low);
            assert_int_equal(mass[0] < 1 - p, gap <= high);
            double v = smurf_random_uniform(&random);
            assert_true(smurf_dist_pit(&dist, gap, tick, v) == mass[0] + v * (mass[1] - mass[0]));
        }
    }
}

static void closed_intervals_cover_at_least(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 1, 4);
    for (int round = 0; round < 40; round++) {
        struct atoms a = draw_atoms(&random);
        struct dist dist = {&atoms_class, &a};
        double tick = 1, low = smurf_ticks_low(&dist, tick, 0.05), high = smurf_ticks_high(&dist, tick, 0.95);
        double inside = smurf_dist_cdf(&dist, high + 0.5) - (low > 0 ? smurf_dist_cdf(&dist, low - 0.5) : 0);
        assert_true(inside >= 0.9 - 1e-12);
        if (smurf_dist_cdf(&dist, 0.5) > 0.05) assert_true(low == 0 && inside >= 0.95 - 1e-12);
        assert_true(smurf_ticks_cdf(&dist, tick, high) >= 0.95 - 1e-12);
        assert_true(smurf_ticks_cdf(&dist, tick, high - 0.001) == smurf_ticks_cdf(&dist, tick, high - 1) || high == 0);
    }
}

static void no_tick_changes_nothing(void **state)
{
    (void)state;
    struct atoms a = {1, {3}, {0.2}, 0.8, 5};
    struct dist dist = {&atoms_class, &a};
    assert_true(smurf_ticks_low(&dist, 0, 0.3) == smurf_dist_quantile(&dist, 0.3));
    assert_true(smurf_ticks_high(&dist, 0, 0.3) == smurf_dist_quantile(&dist, 0.3));
    assert_true(smurf_ticks_cdf(&dist, 0, 2.2) == smurf_dist_cdf(&dist, 2.2));
    assert_true(smurf_ticks_round(2.2, 0) == 2.2 && smurf_ticks_outward(2.2, 0, true) == 2.2);
    /* ticks too fine for doubles, levels that are never reached, and what is not a number */
    assert_true(smurf_ticks_high(&dist, 1e-18, 0.5) == smurf_dist_quantile(&dist, 0.5));
    assert_true(smurf_ticks_round(INFINITY, 1) == INFINITY && isnan(smurf_ticks_round(NAN, 1)));
    assert_true(smurf_ticks_round(2.5 + 1e-9, 1) == 3 && smurf_ticks_outward(2.2, 1, true) == 3);
    assert_true(smurf_ticks_outward(2.2, 1, false) == 2 && smurf_ticks_cdf(&dist, 1, -1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_those_of_brute_force),
        cmocka_unit_test(coverage_counts_what_is_shown),
        cmocka_unit_test(closed_intervals_cover_at_least),
        cmocka_unit_test(no_tick_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
