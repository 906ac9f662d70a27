/* unit_time_format.c - times as people write them: reading, guessing, ambiguous columns. */
#include "data/time_format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct time_reader reader_of(const char *format, const char *zone)
{
    struct time_format f;
    struct time_reader r;
    smurf_error err;
    if (smurf_time_format_parse(&f, format, &err)) fail_msg("%s", err.message);
    if (smurf_time_reader_init(&r, &f, zone, &err)) fail_msg("%s", err.message);
    return r;
}

/* The cell as seconds; NAN if it is not readable. */
static double next(struct time_reader *r, const char *text)
{
    struct decimal d;
    if (!smurf_time_read(r, &d, text, strlen(text))) return NAN;
    assert_true(d.calendar == (r->format.kind != TIME_PLAIN));
    return smurf_decimal_value(&d);
}

static void check_column(const char *format, const char *zone, const char *const cell[], const double want[], size_t n)
{
    struct time_reader r = reader_of(format, zone);
    for (size_t i = 0; i < n; i++) {
        double got = next(&r, cell[i]);
        if (got != want[i]) fail_msg("%s reads '%s' as %.9f, not %.9f", format, cell[i], got, want[i]);
    }
    smurf_time_reader_release(&r);
}

static void formats_read(void **state)
{
    (void)state;
    static const struct {
        const char *format, *text;
        double want;
    } cases[] = {
        {"%d/%m/%Y %H:%M", "31/01/2024 12:00", 1706702400},
        {"%d/%m/%Y %H:%M", "31/1/2024 9:05", 1706691900},
        {"%d/%m/%Y %H:%M", "31/1/2024", 1706659200},
        {"%d/%m/%Y %H:%M", "  31/01/2024   12:00  ", 1706702400},
        {"%d/%m/%Y %H:%M", "2024-01-31T12:00:00Z", 1706702400},
        {"%d/%m/%Y %H:%M", "31/01/2024 24:00", 1706745600},
        {"%d/%m/%Y %H:%M", "31/01/2024 12:00 +0100", 1706698800},
        {"%d/%m/%Y %H:%M", "31/01/2024 12:00Z", 1706702400},
        {"%d/%m/%Y %H:%M:%S", "31/01/2024 12:00", 1706702400},
        {"%d/%m/%Y %H:%M:%S", "31/01/2024 12:00:01,250", 1706702401.25},
        {"%d/%m/%Y %H:%M:%S", "31/01/2024 12:00:01:250", 1706702401.25},
        {"%d/%m/%Y %H:%M:%S", "31/01/2024 12:00:60", 1706702460},
        {"%d/%m/%Y %H:%M:%S.%f", "31/01/2024 12:00:01.000001", 1706702401.000001},
        {"%d/%m/%Y %H:%M:%S.%f", "31/01/2024 12:00:01", 1706702401},
        {"%m/%d/%Y %I:%M:%S %p %z", "11/09/2011 10:04:00 PM +0000", 1320876240},
        {"%m/%d/%Y %I:%M:%S %p %z", "11/09/2011 10:04:00 PM", 1320876240},
        {"%m/%d/%Y %I:%M:%S %p", "11/09/2011 12:04:00 am", 1320797040},
        {"%m/%d/%Y %I:%M:%S %p", "11/09/2011 12:04:00PM", 1320840240},
        {"%m/%d/%Y %I:%M %p", "1/9/2011 3:04 p.m.", 1294585440},
        {"%m/%d/%Y %I:%M %p", "1/9/2011", 1294531200},
        {"%d/%b/%Y:%H:%M:%S %z", "[10/Oct/2000:13:55:36 -0700]", 971211336},
        {"[%d/%b/%Y:%H:%M:%S %z]", "[10/Oct/2000:13:55:36 -0700]", 971211336},
        {"%d/%b/%Y:%H:%M:%S %z", "[10/Oct/2000:13:55:36", 971186136},
        {"%a, %d %b %Y %H:%M:%S %z", "Tue, 10 Oct 2000 13:55:36 GMT", 971186136},
        {"%d %b %Y %H:%M:%S %z", "Tue, 10 Oct 2000 13:55:36 -0700 (PDT)", 971211336},
        {"%b %e %H:%M:%S %Y", "Tue Oct  3 13:55:36 2000", 970581336},
        {"%Y-%m-%d-%H.%M.%S.%f", "2005-06-03-15.42.50.675872", 1117813370.675872},
        {"%B %d, %Y", "January 5, 2015", 1420416000},
        {"%b %d, %Y", "Sept 5, 2015", 1441411200},
        {"%d-%b-%y", "10-JAN-15", 1420848000},
        {"%d.%m.%y", "31.12.69", -86400},
        {"%d.%m.%y", "31.12.68", 3124137600},
        {"%Y %j", "2024 366", 1735603200},
        {"%Y%m%d%H%M%S", "20240131120000", 1706702400},
        {"%y%m%d %H%M%S", "081109 203615", 1226262975},
        {"%D %R", "01/31/24 12:00", 1706702400},
        {"%F %T", "2024-01-31 12:00:05", 1706702405},
        {"%s", "1706702400.5", 1706702400.5},
        {"%Y%%%m", "2024%02", 1706745600},
        {"iso", " 20240131T120000Z ", 1706702400},
        {"iso", "20240131120000", 1706702400},
        {"epoch-s", "1706702400", 1706702400},
        {"epoch-s", "1.7067024e9", 1706702400},
        {"epoch-ms", "1706702400250", 1706702400.25},
        {"epoch-us", "1706702400000001", 1706702400.000001},
        {"epoch-ns", "1706702400000000000", 1706702400},
        {"epoch-ms", "0", 0},
        {"epoch-ms", "-1000", -1},
        {"excel", "45322.5", 1706702400},
        {"excel", "45322,5", 1706702400},
        {"excel", "45322.500011574074", 1706702401},
        {"excel", "1", -2209075200},
    };
    for (size_t i = 0; i < COUNT(cases); i++) check_column(cases[i].format, NULL, &cases[i].text, &cases[i].want, 1);
}

static void formats_do_not_read(void **state)
{
    (void)state;
    static const struct {
        const char *format, *text;
    } cases[] = {
        {"%d/%m/%Y %H:%M", "01/13/2024 12:00"},
        {"%d/%m/%Y %H:%M", "32/01/2024"},
        {"%d/%m/%Y %H:%M", "29/02/2023"},
        {"%d/%m/%Y %H:%M", "31/01/24 12:00"},
        {"%d/%m/%Y %H:%M", "31/01/2024 12"},
        {"%d/%m/%Y %H:%M", "31/01/2024 12:60"},
        {"%d/%m/%Y %H:%M", "31/01/2024 24:01"},
        {"%d/%m/%Y %H:%M", "31/01/2024 12:00 PM"},
        {"%d/%m/%Y %H:%M", "31/01"},
        {"%d/%m/%Y %H:%M", ""},
        {"%d/%m/%Y %H:%M", "  "},
        {"%d/%m/%Y %H:%M", "[]"},
        {"%d/%m/%Y %H:%M", "31/01/2024 12:00 x"},
        {"%m/%d/%Y %I:%M:%S %p", "11/09/2011 10:04:00"},
        {"%m/%d/%Y %I:%M:%S %p", "11/09/2011 13:04:00 PM"},
        {"%m/%d/%Y %I:%M:%S %p %z", " 2011-10-24T24:22:00+0000"},
        {"%d %b %Y", "10 Janx 2015"},
        {"%d %b %Y", "10 Ja 2015"},
        {"%Y %j", "2023 366"},
        {"%Y %j", "2023 0"},
        {"iso", "1706702400"},
        {"iso", "yesterday"},
        {"number", "2024-01-31"},
        {"number", "nan"},
        {"number", ""},
        {"epoch-s", "1e400"},
        {"epoch-s", "abc"},
        {"excel", "2958466"},
        {"excel", "45,322.5"},
        {"excel", "45,322,5"},
        {"excel", "1e300"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct time_reader r = reader_of(cases[i].format, NULL);
        double got = next(&r, cases[i].text);
        if (!isnan(got)) fail_msg("%s reads '%s' as %.9f", cases[i].format, cases[i].text, got);
        smurf_time_reader_release(&r);
    }
}

static void formats_that_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "unknown time format"},
        {"rfc2822", "unknown time format 'rfc2822': use iso, number, epoch-s"},
        {"%Q", "unknown conversion '%Q'"},
        {"%d/%m/%", "unknown conversion '%%'"},
        {"%I:%M", "%I needs %p"},
        {"%%", "neither a date nor a clock"},
        {"%z", "neither a date nor a clock"},
        {"%Y-----------------------------------------------------------%m", "too many parts"},
        {"%Y-----------------------------------------------------------------%m", "longer than 63 bytes"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct time_format f;
        smurf_error err = {0};
        assert_int_equal(smurf_time_format_parse(&f, cases[i].text, &err), SMURF_ERROR_INPUT);
        if (!strstr(err.message, cases[i].message)) fail_msg("'%s': %s", cases[i].text, err.message);
    }
}

static void epochs_are_exact(void **state)
{
    (void)state;
    struct time_reader r = reader_of("epoch-ns", NULL);
    struct decimal d;
    const char *text = "1706702400123456789";
    assert_true(smurf_time_read(&r, &d, text, strlen(text)));
    assert_true(d.mantissa == UINT64_C(1706702400123456789) && d.exponent == -9 && !d.negative && !d.integer);
    double offset;
    assert_true(smurf_decimal_offset(&d, 1706702400, &offset));
    assert_true(offset == 0.123456789);
    smurf_time_reader_release(&r);
}

static void years_roll_over(void **state)
{
    (void)state;
    const double year = 365 * 86400.0, day = 86400;
    check_column("%b %d %H:%M:%S", NULL,
                 (const char *const[]){"Nov 30 00:00:00", "Dec 31 23:59:59", "Jan  1 00:00:01", "Dec 31 23:59:58",
                                       "Jan 1 00:00:02", "Jul 1 00:00:00", "May 1 00:00:00", "Dec 1 00:00:00"},
                 (const double[]){year - 32 * day, year - 1, year + 1, year - 2, year + 2, year + 181 * day,
                                  year + 120 * day, year + 334 * day},
                 8);
    check_column("%b %d %H:%M:%S", NULL, (const char *const[]){"Jan 1 00:00:00", "Dec 31 00:00:00"},
                 (const double[]){0, -day}, 2); /* newest first */
    check_column("%b %d %H:%M:%S @2019", NULL, (const char *const[]){"Dec 31 00:00:00", "Feb 29 00:00:00"},
                 (const double[]){1577750400, 1582934400}, 2);
    check_column("%b %d", NULL, (const char *const[]){"Feb 29"}, (const double[]){59 * day}, 1);
}

static void days_roll_over(void **state)
{
    (void)state;
    check_column("%H:%M:%S", NULL, (const char *const[]){"22:00:00", "23:00:00", "01:00:00", "23:00:00", "00:30:00"},
                 (const double[]){79200, 82800, 90000, 82800, 88200}, 5);
}

static void local_times(void **state)
{
    (void)state;
    const double march = 1711846800, october = 1729990800; /* changes of 2024, both at 01:00 UTC */
    check_column("%Y-%m-%d %H:%M:%S", "Europe/Berlin",
                 (const char *const[]){"2024-03-31 01:59:59", "2024-03-31 02:00:00", "2024-03-31 02:30:00.5",
                                       "2024-03-31 03:00:00", "2024-03-31 03:00:01", "2024-07-01 12:00:00",
                                       "2024-07-01 12:00:00Z"},
                 (const double[]){march - 1, march, march, march, march + 1, 1719828000, 1719835200}, 7);
    check_column("%Y-%m-%d %H:%M", "Europe/Berlin",
                 (const char *const[]){"2024-10-27 01:59", "2024-10-27 02:30", "2024-10-27 02:45", "2024-10-27 02:45",
                                       "2024-10-27 02:10", "2024-10-27 02:45", "2024-10-27 03:00"},
                 (const double[]){october - 3660, october - 1800, october - 900, october - 900, october + 600,
                                  october + 2700, october + 3600},
                 7);
    check_column("iso", "Europe/Berlin", /* newest first */
                 (const char *const[]){"2024-10-27 03:00", "2024-10-27 02:45", "2024-10-27 02:10", "2024-10-27 02:45",
                                       "2024-10-27 02:30"},
                 (const double[]){october + 3600, october + 2700, october + 600, october - 900, october - 1800}, 5);
}

/* Local clocks of a year, every ten minutes: never a step back, in any zone. */
static void local_times_stay_in_order(void **state)
{
    (void)state;
    static const char *const zones[] = {"Europe/Berlin", "America/New_York",  "Australia/Lord_Howe",
                                        "Africa/Cairo",  "America/Sao_Paulo", "Pacific/Apia"};
    for (size_t z = 0; z < COUNT(zones); z++) {
        struct time_reader r = reader_of("%Y-%m-%d %H:%M", zones[z]);
        struct time_zone *zone;
        assert_int_equal(smurf_time_zone_open(&zone, zones[z], NULL), SMURF_OK);
        double last = -1;
        for (int64_t t = INT64_C(1293840000); t < INT64_C(1293840000) + 400 * 86400; t += 600) {
            char text[NUMBER_TEXT];
            text[smurf_number_write_calendar(text, t + smurf_time_zone_offset(zone, t), 0)] = '\0';
            text[10] = ' ', text[16] = '\0';
            double got = next(&r, text);
            if (got != (double)t || got < last) fail_msg("%s '%s': %.0f, not %.0f", zones[z], text, got, (double)t);
            last = got;
        }
        smurf_time_zone_free(zone);
        smurf_time_reader_release(&r);
    }
}

static void orders(void **state)
{
    (void)state;
    struct time_format f;
    smurf_time_format_parse(&f, "%d/%m/%Y", NULL);
    assert_string_equal(smurf_time_format_order(&f), "day first");
    smurf_time_format_parse(&f, "%m/%d/%Y", NULL);
    assert_string_equal(smurf_time_format_order(&f), "month first");
    smurf_time_format_parse(&f, "%Y/%m/%d", NULL);
    assert_string_equal(smurf_time_format_order(&f), "");
    smurf_time_format_parse(&f, "%d %b %Y", NULL);
    assert_string_equal(smurf_time_format_order(&f), "");
    smurf_time_format_parse(&f, "iso", NULL);
    assert_string_equal(smurf_time_format_order(&f), "");
}

/* ---- Guesses --------------------------------------------------------------------------------- */

static void guesses(void **state)
{
    (void)state;
    static const struct {
        const char *cell[10], *format;
        double share;
        const char *note;
    } cases[] = {
        {{"6/1/1930 22:00", "6/30/1930 20:00", "2/15/1931 14:00"}, "%m/%d/%Y %H:%M", 1, ""},
        {{"03/01/2015 07:00", "13/01/2015 20:00"}, "%d/%m/%Y %H:%M", 1, ""},
        {{"8/29/13 14:13", "9/29/13 10:16"}, "%m/%d/%y %H:%M", 1, ""},
        {{"11/09/2011 10:04:00 PM +0000", "11/19/2011 07:04:00 PM +0000", " 2011-10-24T24:22:00+0000"},
         "%m/%d/%Y %I:%M:%S %p %z",
         2.0 / 3,
         ""},
        {{"11/19/2011 10:04:00 PM", "11/20/2011 07:04:00 PM", "2011-10-24T12:22:00+0000"},
         "%m/%d/%Y %I:%M:%S %p",
         1,
         ""},
        {{"2014-10-22 11:15:41+00:00"}, "iso", 1, ""},
        {{"2014-10-22"}, "iso", 1, ""},
        {{"20140131T120000Z"}, "iso", 1, ""},
        {{"20140131120000", "20140131120500"}, "iso", 1, ""},
        {{"20140131", "20140201"}, "iso", 1, ""},
        {{"2014-1-5 3:04"}, "%Y-%m-%d %H:%M", 1, ""},
        {{"2014/1/5"}, "%Y/%m/%d", 1, ""},
        {{"2014.01.05 10:00:01.5"}, "%Y.%m.%d %H:%M:%S", 1, ""},
        {{"31.01.2014 10:00"}, "%d.%m.%Y %H:%M", 1, ""},
        {{"31-01-2014"}, "%d-%m-%Y", 1, ""},
        {{"10-Jan-2015", "11-Jan-2015"}, "%d-%b-%Y", 1, ""},
        {{"10-Jan-15"}, "%d-%b-%y", 1, ""},
        {{"January 5, 2015"}, "%b %d, %Y", 1, ""},
        {{"5 Jan 2015 3:04 PM"}, "%d %b %Y %I:%M %p", 1, ""},
        {{"Monday, 5 January 2015 15:04"}, "%d %b %Y %H:%M", 1, ""},
        {{"2005-06-03-15.42.50.675872"}, "%Y-%m-%d-%H.%M.%S", 1, ""},
        {{"Dec 10 06:55:46", "Dec  1 07:00:00"},
         "%b %d %H:%M:%S",
         1,
         "times have no year: the first is taken to be in 1970"},
        {{"Dec 31 06:55:46", "Jan  1 07:00:00", "Feb 29 00:00:01"},
         "%b %d %H:%M:%S @1971",
         1,
         "times have no year: the first is taken to be in 1971"},
        {{"Feb 29 00:00:01"}, "%b %d %H:%M:%S @1972", 1, "times have no year: the first is taken to be in 1972"},
        {{"[10/Oct/2000:13:55:36 -0700]"}, "%d/%b/%Y:%H:%M:%S %z", 1, ""},
        {{"Tue, 10 Oct 2000 13:55:36 GMT"}, "%d %b %Y %H:%M:%S %z", 1, ""},
        {{"Sun Dec 04 04:47:44 2005"}, "%b %d %H:%M:%S %Y", 1, ""},
        {{"Sun Dec 04 04:47:44 +0000 2005"}, "%b %d %H:%M:%S %z %Y", 1, ""},
        {{"1706702400", "1706702401.5"}, "epoch-s", 1, ""},
        {{"1706702400250"}, "epoch-ms", 1, ""},
        {{"1706702400250000"}, "epoch-us", 1, ""},
        {{"1706702400250000000"}, "epoch-ns", 1, ""},
        {{"0.5", "1.5", "17"}, "number", 1, ""},
        {{"1706702400", "12"}, "number", 1, ""},
        {{"20171223-22:15:29:606"}, "%Y%m%d-%H:%M:%S", 1, ""},
        {{"17/06/09 20:10:40", "17/06/10 20:10:40", "17/06/29 20:10:40", "17/07/01 20:10:40"},
         "%y/%m/%d %H:%M:%S",
         1,
         "'17/06/09 20:10:40' could be year first or day first: year first is taken, rows are then more in order"},
        {{"03-17 16:13:38.811"}, "%m-%d %H:%M:%S", 1, "times have no year: the first is taken to be in 1970"},
        {{"06:55:46", "06:55:47"}, "%H:%M:%S", 1, "times have no date: the first day is taken to be 1970-01-01"},
        {{"22:00 13/01/2015"}, "%H:%M %d/%m/%Y", 1, ""},
        {{"01/02/2015", "01/02/2015"},
         "%m/%d/%Y",
         1,
         "'01/02/2015' could be month first or day first: month first is assumed"},
        {{"01.02.2015"}, "%d.%m.%Y", 1, "'01.02.2015' could be day first or month first: day first is assumed"},
        {{"01/02/2015", "02/02/2015", "03/02/2015"},
         "%d/%m/%Y",
         1,
         "'01/02/2015' could be day first or month first: day first is taken, gaps are then smaller"},
        {{"11/01/2015", "12/01/2015", "01/02/2015", "02/02/2015"},
         "%d/%m/%Y",
         1,
         "'11/01/2015' could be day first or month first: day first is taken, rows are then more in order"},
        {{"01/31/2015", "", "x", "02/01/2015"}, "%m/%d/%Y", 2.0 / 3, ""},
        {{"F110104134", "error1", "May", "March Hare 7", "Monday", "10 apples", "192.168.1.1", "1.2.3.4", "12/2015"},
         "",
         0,
         ""},
        {{"10/12", "11/12"}, "", 0, ""},
        {{"", ""}, "", 0, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct time_guess g;
        struct time_format f;
        char note[TIME_NOTE];
        smurf_time_guess_init(&g);
        for (size_t j = 0; j < 10 && cases[i].cell[j]; j++)
            smurf_time_guess_see(&g, cases[i].cell[j], strlen(cases[i].cell[j]));
        double share = smurf_time_guess_best(&g, &f, note);
        if (strcmp(f.text, cases[i].format) || fabs(share - cases[i].share) > 1e-12 || strcmp(note, cases[i].note))
            fail_msg("'%s': '%s' reads %g, '%s'", cases[i].cell[0], f.text, share, note);
        if (share < 1) continue;
        struct time_reader r = reader_of(f.text, NULL); /* what was guessed reads every cell */
        for (size_t j = 0; j < 10 && cases[i].cell[j]; j++) assert_true(next(&r, cases[i].cell[j]) < 1e18);
        smurf_time_reader_release(&r);
    }
}

static void guesses_say_what_is_missing(void **state)
{
    (void)state;
    static const struct {
        const char *cell;
        unsigned parts;
    } cases[] = {{"2024-01-31", TIME_YEAR | TIME_DATE},
                 {"2024-01-31 12:00", TIME_YEAR | TIME_DATE | TIME_CLOCK},
                 {"31.01.2024", TIME_YEAR | TIME_DATE},
                 {"Dec 10 12:00", TIME_DATE | TIME_CLOCK},
                 {"12:00", TIME_CLOCK},
                 {"17", TIME_NUMBER}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct time_guess g;
        struct time_format f;
        char note[TIME_NOTE];
        smurf_time_guess_init(&g);
        smurf_time_guess_see(&g, cases[i].cell, strlen(cases[i].cell));
        assert_true(smurf_time_guess_best(&g, &f, note) == 1);
        assert_int_equal(f.parts, cases[i].parts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_read),
        cmocka_unit_test(formats_do_not_read),
        cmocka_unit_test(formats_that_are_none),
        cmocka_unit_test(epochs_are_exact),
        cmocka_unit_test(years_roll_over),
        cmocka_unit_test(days_roll_over),
        cmocka_unit_test(local_times),
        cmocka_unit_test(local_times_stay_in_order),
        cmocka_unit_test(orders),
        cmocka_unit_test(guesses),
        cmocka_unit_test(guesses_say_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
