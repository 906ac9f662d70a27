/* unit_recalibrate.c - maps of levels. */
#include "dist_case.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recalibration_is_learned),
        cmocka_unit_test(maps_are_checked),
    };
    return cmocka_run_group_tests_name("recalibrate", tests, NULL, NULL);
}
