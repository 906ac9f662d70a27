/*
 * unit_alarms.c - alarms about simulated streams: how many a healthy one raises, with the true law and with a wrong
 * one, and how long faults go unnoticed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "alarm_case.h"

/* One alarm a day over 1,000 days, within 20%, and of each kind its share. */
static void test_true_law(void **state)
{
    (void)state;
    for (int adapt = 0; adapt < 2; adapt++) {
        struct stream s;
        begin(&s, 1, 1, adapt, 3);
        run(&s, 1001);
        print_message("true law, adapt %d: %g alarms in 1000 days: %g %g %g %g %g\n", adapt, total(&s), s.count[0],
                      s.count[1], s.count[2], s.count[3], s.count[4]);
        assert_in_range((uintmax_t)total(&s), 800, 1200);
        for (int k = 0; k < SMURF_ALARMS; k++) assert_in_range((uintmax_t)s.count[k], 120, 280);
        smurf_alarms_free(s.alarms);
    }
}

/* The law is wrong: gaps are more, or less, regular than forecast. After 100 days of adapting the number is right. */
static void test_wrong_law(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct stream s;
        double before;
        begin(&s, 1, i ? 0.85 : 1.2, 1, 4);
        run(&s, 101);
        before = total(&s);
        run(&s, 1101);
        print_message("wrong law %d: %g, then %g alarms in 1000 days\n", i, before, total(&s) - before);
        assert_in_range((uintmax_t)(total(&s) - before), 800, 1200);
        smurf_alarms_free(s.alarms);
    }
}

/* No kind is raised more often than after every 20th gap, whatever is asked. */
static void test_too_many(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 1e6, 1, 1, 5);
    run(&s, 11);
    for (int k = 0; k < SMURF_ALARMS; k++) assert_true(smurf_alarms_level(s.alarms, (smurf_alarm)k) <= 0.05 + 1e-12);
    assert_true(s.count[SMURF_ALARM_EARLY] <= 0.06 * 10 * 24 * SEQUENCES);
    smurf_alarms_free(s.alarms);
}

/* Faults after 30 healthy days: what notices them, and when. */
static void test_faults(void **state)
{
    struct stream s;
    (void)state;

    begin(&s, 1, 1, 1, 6); /* one machine stops */
    run(&s, 31);
    double level = s.due[0], hours = -log(level);
    s.next[0] = s.last[0] + 100;
    assert_true(level > 0 && hours < 12); /* it is overdue within half a day */
    smurf_alarms_free(s.alarms);

    begin(&s, 1, 1, 1, 7); /* one doubles its rate */
    run(&s, 31);
    double before = s.count[SMURF_ALARM_RATE];
    s.rate[0] = 2;
    for (double day = 31; s.count[SMURF_ALARM_RATE] == before && day < 60; day += 0.25) run(&s, day + 0.25);
    print_message("one rate doubles: %g days\n", s.at[SMURF_ALARM_RATE] - 31);
    assert_true(s.count[SMURF_ALARM_RATE] > before && s.at[SMURF_ALARM_RATE] < 36);
    smurf_alarms_free(s.alarms);

    begin(&s, 1, 1, 1, 8); /* all slow down by a quarter */
    run(&s, 31);
    before = s.count[SMURF_ALARM_CALIBRATION];
    for (int q = 0; q < SEQUENCES; q++) s.rate[q] = 0.75;
    for (double day = 31; s.count[SMURF_ALARM_CALIBRATION] == before && day < 60; day += 0.25) run(&s, day + 0.25);
    print_message("all slow down: %g days\n", s.at[SMURF_ALARM_CALIBRATION] - 31);
    assert_true(s.count[SMURF_ALARM_CALIBRATION] > before && s.at[SMURF_ALARM_CALIBRATION] < 33);
    smurf_alarms_free(s.alarms);
}

/* A type that the model does not know raises an alarm while it is rare, not for ever. */
static void test_unknown_types(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 1, 1, 1, 11);
    run(&s, 31);
    double before = s.count[SMURF_ALARM_TYPE];
    s.unknown = 1;
    run(&s, 32);
    assert_true(s.count[SMURF_ALARM_TYPE] >= before + 1);
    run(&s, 60);
    before = s.count[SMURF_ALARM_TYPE];
    run(&s, 160);
    assert_in_range((uintmax_t)(s.count[SMURF_ALARM_TYPE] - before), 0, 30);
    smurf_alarms_free(s.alarms);
}

/* What calibration was lost to. */
static void test_findings(void **state)
{
    (void)state;
    for (int wanted = SMURF_FINDING_SHORT; wanted <= SMURF_FINDING_WIDE; wanted++) {
        struct stream s;
        smurf_finding finding = SMURF_FINDING_NONE;
        unsigned found = 0;
        begin(&s, 1, 1, 1, 9);
        run(&s, 11);
        for (int i = 0; i < 20000 && !(found & 1u << SMURF_ALARM_CALIBRATION); i++) {
            double u = smurf_random_uniform(&s.random);
            double pit = wanted == SMURF_FINDING_SHORT    ? u * u
                         : wanted == SMURF_FINDING_LONG   ? sqrt(u)
                         : wanted == SMURF_FINDING_NARROW ? (u < 0.5 ? u * u : 1 - (1 - u) * (1 - u))
                                                          : 0.25 + u / 2;
            smurf_track track = {0};
            found = smurf_alarms_gap(s.alarms, &track,
                                     &(smurf_surprise){.pit = pit, .type_level = 0.5, .type_share = 0.5}, &finding);
        }
        assert_true(found & 1u << SMURF_ALARM_CALIBRATION);
        assert_int_equal(finding, wanted);
        smurf_alarms_free(s.alarms);
    }
}

static void test_saved(void **state)
{
    struct stream s, t;
    void *bytes;
    size_t size;
    smurf_error err;
    (void)state;
    begin(&s, 1, 1, 1, 10);
    run(&s, 21);
    assert_int_equal(smurf_alarms_save(s.alarms, &bytes, &size, &err), SMURF_OK);
    t = s;
    assert_int_equal(smurf_alarms_restore(&t.alarms, bytes, size, &err), SMURF_OK);
    run(&s, 200);
    run(&t, 200);
    assert_memory_equal(s.count, t.count, sizeof s.count);
    for (int k = 0; k < SMURF_ALARMS; k++)
        assert_true(smurf_alarms_level(s.alarms, (smurf_alarm)k) == smurf_alarms_level(t.alarms, (smurf_alarm)k));
    smurf_alarms_free(s.alarms);
    smurf_alarms_free(t.alarms);
    for (size_t i = 0; i < size; i++) {
        ((char *)bytes)[i] ^= 1;
        assert_int_equal(smurf_alarms_restore(&t.alarms, bytes, size, &err), SMURF_ERROR_INPUT);
        assert_null(t.alarms);
        ((char *)bytes)[i] ^= 1;
    }
    assert_int_equal(smurf_alarms_restore(&t.alarms, bytes, size - 1, &err), SMURF_ERROR_INPUT);
    smurf_free(bytes);
}

static void test_refused(void **state)
{
    smurf_alarms_config config;
    smurf_alarms *alarms;
    smurf_error err;
    (void)state;
    smurf_alarms_config_init(&config);
    assert_int_equal(smurf_alarms_new(&alarms, &config, &err), SMURF_ERROR_ARGUMENT); /* no day */
    assert_non_null(strstr(err.message, "length of a day"));
    config.day = 1;
    config.per_day = 0;
    assert_int_equal(smurf_alarms_new(&alarms, &config, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "above 0"));
    assert_null(alarms);
    assert_string_equal(smurf_alarm_name(SMURF_ALARM_CALIBRATION), "calibration");
    assert_null(smurf_alarm_name((smurf_alarm)SMURF_ALARMS));
    smurf_alarms_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_law),      cmocka_unit_test(test_wrong_law), cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_faults),        cmocka_unit_test(test_findings),  cmocka_unit_test(test_saved),
        cmocka_unit_test(test_unknown_types), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
