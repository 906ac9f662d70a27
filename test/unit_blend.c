/*
 * unit_blend.c - weights of types that follow what came: the bound on what they lose, on streams that are against them;
 * nothing lost where the first law is best; drifting streams.
 */
#include "base/random.h"
#include "law/blend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { T = 4000, ALL = (1 << BLEND_LAWS) - 1 };

/* What law e gave to the type that came at t. */
static double share[T][BLEND_LAWS];

static double loss_of_blend(double rate, unsigned there)
{
    struct blend b;
    double loss = 0;
    smurf_blend_init(&b, rate, there);
    for (int t = 0; t < T; t++) {
        double p = 0, sum = 0;
        for (int e = 0; e < BLEND_LAWS; e++) {
            p += b.weight[e] * share[t][e];
            sum += b.weight[e];
        }
        assert_true(fabs(sum - 1) < 1e-9);
        loss -= log(p);
        smurf_blend_see(&b, share[t]);
    }
    return loss;
}

/* Loss of following law `of[t * changes / T]`. */
static double loss_of(const int *of, int phases)
{
    double loss = 0;
    for (int t = 0; t < T; t++) loss -= log(share[t][of[t * phases / T]]);
    return loss;
}

static double bound(double rate, double laws, double changes)
{
    return log(laws) + changes * log(laws / rate) - (T - 1 - changes) * log(1 - rate + rate / laws);
}

/* The stream gives a low probability to the law that has the most weight. */
static void be_against(double rate)
{
    struct blend b;
    smurf_blend_init(&b, rate, ALL);
    for (int t = 0; t < T; t++) {
        int most = 0;
        for (int e = 1; e < BLEND_LAWS; e++)
            if (b.weight[e] > b.weight[most]) most = e;
        for (int e = 0; e < BLEND_LAWS; e++) share[t][e] = e == most ? 1e-3 : 0.6;
        smurf_blend_see(&b, share[t]);
    }
}

static void be_random(struct random *random)
{
    for (int t = 0; t < T; t++)
        for (int e = 0; e < BLEND_LAWS; e++) share[t][e] = 1e-5 + 0.9 * pow(smurf_random_uniform(random), 4);
}

/* Each phase has its best law. */
static void be_in_phases(struct random *random, const int *best, int phases)
{
    be_random(random);
    for (int t = 0; t < T; t++) share[t][best[t * phases / T]] = 0.7;
}

static void the_bound_holds_whatever_comes(void **state)
{
    (void)state;
    static const double rates[] = {0.001, 0.01, 0.1};
    static const int fixed[BLEND_LAWS][1] = {{0}, {1}, {2}}, changing[8] = {0, 2, 1, 0, 1, 2, 0, 2};
    struct random random;
    smurf_random_init(&random, 5, 0);
    for (int stream = 0; stream < 12; stream++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            const double rate = rates[r];
            if (stream % 3 == 0) be_against(rate);
            if (stream % 3 == 1) be_random(&random);
            if (stream % 3 == 2) be_in_phases(&random, changing, 8);
            double loss = loss_of_blend(rate, ALL);
            for (int e = 0; e < BLEND_LAWS; e++) assert_true(loss <= loss_of(fixed[e], 1) + bound(rate, 3, 0));
            assert_true(loss <= loss_of(changing, 8) + bound(rate, 3, 7));
        }
}

/* Types that come as the first law says; another is a coin, the third says the opposite. Little is lost, in log loss
   and in the number of right types. */
static void nothing_is_lost_where_the_first_is_best(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 6, 0);
    struct blend b;
    smurf_blend_init(&b, 0.005, ALL);
    double loss = 0, first = 0, right = 0, right_first = 0;
    for (int t = 0; t < T; t++) {
        double p = 0.1 + 0.8 * smurf_random_uniform(&random); /* of type 0 */
        const double of_0[BLEND_LAWS] = {p, 0.5, 1 - p};
        double blended = 0, seen[BLEND_LAWS];
        for (int e = 0; e < BLEND_LAWS; e++) blended += b.weight[e] * of_0[e];
        bool is_0 = smurf_random_uniform(&random) < p;
        for (int e = 0; e < BLEND_LAWS; e++) seen[e] = is_0 ? of_0[e] : 1 - of_0[e];
        loss -= log(is_0 ? blended : 1 - blended);
        first -= log(seen[0]);
        right += (blended > 0.5) == is_0;
        right_first += (p > 0.5) == is_0;
        smurf_blend_see(&b, seen);
    }
    assert_true(loss - first < 0.01 * T);
    assert_true(right > right_first - 0.01 * T);
    assert_true(b.weight[0] > 0.7);
}

/* From the middle on the first law is wrong: the others take its place, and again. */
static void drift_is_followed(void **state)
{
    (void)state;
    struct random random;
    static const int best[3] = {0, 1, 2};
    smurf_random_init(&random, 7, 0);
    be_in_phases(&random, best, 3);
    double loss = loss_of_blend(0.01, ALL);
    for (int e = 0; e < BLEND_LAWS; e++) assert_true(loss < 0.5 * loss_of(&best[e], 1));
    assert_true(loss < loss_of(best, 3) + 0.02 * T);
}

static void laws_that_are_not_there(void **state)
{
    (void)state;
    struct blend b, c;
    smurf_blend_init(&b, 0, ALL);
    assert_true(b.weight[0] == 1 && b.weight[1] == 0 && b.weight[2] == 0);
    smurf_blend_see(&b, (const double[]){1e-9, 1, 1}); /* fixed */
    assert_true(b.weight[0] == 1);
    smurf_blend_init(&b, 0.01, 5);
    assert_true(b.weight[0] == 0.5 && b.weight[1] == 0 && b.weight[2] == 0.5);
    c = b;
    smurf_blend_see(&b, (const double[]){NAN, NAN, NAN}); /* an unknown type */
    assert_memory_equal(&b, &c, sizeof b);
    smurf_blend_see(&b, (const double[]){0, NAN, 0.9});
    assert_true(b.weight[0] > 0.005 && b.weight[0] < 0.006 && b.weight[1] == 0);
    assert_true(smurf_blend_set(&c, b.weight));
    assert_memory_equal(&b, &c, sizeof b);
    static const double wrong[][BLEND_LAWS] = {
        {0.5, 0.1, 0.4}, {0.5, 0, 0.6}, {1, 0, 0}, {-0.5, 0, 1.5}, {NAN, 0, 0.5}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(smurf_blend_set(&c, wrong[i]));
    assert_memory_equal(&b, &c, sizeof b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_holds_whatever_comes),
        cmocka_unit_test(nothing_is_lost_where_the_first_is_best),
        cmocka_unit_test(drift_is_followed),
        cmocka_unit_test(laws_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
