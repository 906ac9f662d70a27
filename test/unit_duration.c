/* unit_duration.c - durations as text, both ways. */
#include "smurf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void shows_people_units(void **state)
{
    static const struct {
        double gap;
        const char *unit, *text;
    } table[] = {
        {2.61e6, "s", "30 d"},
        {204, "s", "3.4 min"},
        {0.16, "s", "160 ms"},
        {7560, "s", "2.1 h"},
        {4, "y", "4 y"},
        {1, "y", "1 y"},
        {1461, "d", "4 y"},
        {0, "s", "0 s"},
        {0, "d", "0 s"},
        {0, "ms", "0 ms"},
        {1, "s", "1 s"},
        {59.4, "s", "59 s"},
        {59.96, "s", "1 min"},
        {9.96, "s", "10 s"},
        {86399, "s", "1 d"},
        {90, "min", "1.5 h"},
        {1.5, "hours", "1.5 h"},
        {3, "weeks", "21 d"},
        {5e-4, "ms", "500 ns"},
        {2.5, "µs", "2.5 us"},
        {1e-12, "s", "0 ns"},
        {-90, "s", "-1.5 min"},
        {INFINITY, "s", "inf"},
        {NAN, "s", "-"},
        {12.3456, "", "12.3"},
        {2610000, "", "2610000"},
        {1, "ticks", "1 tick"},
        {2, "ticks", "2 ticks"},
        {0.0123456, "M", "0.0123 M"},
        {3.2e13, "s", "1010000 y"},
        {365 * 86400.0, "s", "365 d"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[SMURF_DURATION_TEXT];
        assert_string_equal(smurf_duration_text(text, table[i].gap, table[i].unit), table[i].text);
    }
}

/* What is shown reads back as the same to two digits, whatever the size; and longer gaps never look shorter. */
static void shown_durations_read_back(void **state)
{
    (void)state;
    double before = 0;
    for (double gap = 2e-9; gap < 1e12; gap *= 1.013) {
        char text[SMURF_DURATION_TEXT];
        double back;
        smurf_duration_text(text, gap, "s");
        assert_int_equal(smurf_duration_parse(&back, text, "s", NULL), SMURF_OK);
        assert_true(fabs(back / gap - 1) < 0.051);
        assert_true(back >= before * (1 - 1e-12));
        before = back;
    }
}

static void one_unit_for_a_column(void **state)
{
    (void)state;
    double size;
    assert_string_equal(smurf_duration_unit(7560, "s", &size), "h");
    assert_true(size == 3600);
    assert_string_equal(smurf_duration_unit(0.002, "min", &size), "ms");
    assert_true(fabs(size - 1e-3 / 60) < 1e-18);
    assert_null(smurf_duration_unit(7560, "", &size));
    assert_true(size == 1);
    assert_string_equal(smurf_duration_unit(NAN, "s", &size), "s");
    assert_true(size == 1);
}

static void reads_durations(void **state)
{
    static const struct {
        const char *text, *unit;
        double want;
    } table[] = {
        {"1h", "s", 3600},       {"2d", "s", 172800}, {"90s", "s", 90},     {"1.5h", "s", 5400},
        {"2w", "s", 1209600},    {"500ms", "s", 0.5}, {"1h30m", "s", 5400}, {"1h 30min", "s", 5400},
        {"1 d 2 h", "s", 93600}, {"3 days", "h", 72}, {"30min", "h", 0.5},  {"250us", "ms", 0.25},
        {"1y", "d", 365.25},     {"1H", "min", 60},   {"17", "s", 17},      {"17", "", 17},
        {"1e3", "", 1000},       {"0", "s", 0},       {".5h", "min", 30},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double x;
        smurf_error err;
        if (smurf_duration_parse(&x, table[i].text, table[i].unit, &err)) fail_msg("%s", err.message);
        assert_true(fabs(x - table[i].want) <= 1e-12 * table[i].want);
    }
}

static void refuses_what_is_no_duration(void **state)
{
    static const char *const bad[] = {"",     "h",    "1x", "-1h", "-1",  "1h1h", "30m1h", "nan",   "inf",
                                      "0x10", "1h30", "1M", "1h,", "1hh", " 1h",  "1e999", "1.2.3s"};
    (void)state;
    smurf_error err;
    double x;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (smurf_duration_parse(&x, bad[i], "s", &err) != SMURF_ERROR_ARGUMENT) fail_msg("'%s' was read", bad[i]);
        assert_non_null(strstr(err.message, "is not a duration"));
    }
    assert_int_equal(smurf_duration_parse(&x, "1h", "", &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "the data's unit of time is unknown"));
    assert_int_equal(smurf_duration_parse(&x, "1h", "steps", &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "'steps', which is unknown"));
    assert_int_equal(smurf_duration_parse(&x, "1h", "", NULL), SMURF_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_people_units),          cmocka_unit_test(shown_durations_read_back),
        cmocka_unit_test(one_unit_for_a_column),       cmocka_unit_test(reads_durations),
        cmocka_unit_test(refuses_what_is_no_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
