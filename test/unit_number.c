/* unit_number.c - decimal text to numbers and back: against strtod, known dates, and round trips. */
#include "base/random.h"
#include "data/digits.h"
#include "data/number.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct random draw;

static uint64_t below(uint64_t n)
{
    return smurf_random_below(&draw, n);
}

static double any_double(void)
{
    for (;;) {
        uint64_t bits = smurf_random_bits(&draw);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) return x;
    }
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The text must be read as one number, with the value strtod gives it. */
static void check_value(const char *text)
{
    struct decimal d;
    const char *end = smurf_decimal_scan(&d, text);
    double want = strtod(text, NULL), got = end ? smurf_decimal_value(&d) : NAN;
    if (end != text + strlen(text) || d.length != strlen(text) || bits_of(got) != bits_of(want))
        fail_msg("'%s' reads as %.17g, not %.17g", text, got, want);

    uint64_t mantissa = 0;
    int places = 0;
    end = smurf_decimal_simple(text, &mantissa, &places);
    if (end && *end) fail_msg("the simple reader stops inside '%s'", text);
    if (end && mantissa < (uint64_t)1 << 53 && (double)mantissa / smurf_pow10[places] != want)
        fail_msg("the simple reader takes '%s' for %" PRIu64 " / 10^%d", text, mantissa, places);

    char ahead[160 + DECIMAL_AHEAD] = {0};
    size_t n = strlen(text);
    memcpy(ahead, text, n);
    memcpy(ahead + n, ", 123", 5);
    uint64_t same_mantissa = 0;
    int same_places = 0;
    const char *same = smurf_decimal_ahead(ahead, &same_mantissa, &same_places);
    if (!same != !end || (end && (same != ahead + n || same_mantissa != mantissa || same_places != places)))
        fail_msg("the reader of eight digits takes '%s' for %" PRIu64 " / 10^%d", text, same_mantissa, same_places);
}

static size_t put_digits(char *out, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) out[i] = (char)('0' + below(10));
    out[n] = '\0';
    return n;
}

static void random_decimals(void **state)
{
    (void)state;
    for (int i = 0; i < 2000000; i++) {
        char text[96];
        size_t n = 0;
        if (below(4) == 0) text[n++] = below(2) ? '-' : '+';
        n += put_digits(text + n, 1 + below(i % 2 ? 8 : 20));
        if (below(3)) {
            text[n++] = '.';
            n += put_digits(text + n, below(i % 3 ? 10 : 25));
        }
        if (below(4) == 0)
            n += (size_t)sprintf(text + n, "%c%s%d", below(2) ? 'e' : 'E', below(2) ? "-" : "", (int)below(340));
        text[n] = '\0';
        check_value(text);
    }
}

static void random_doubles_in_17_to_25_digits(void **state)
{
    (void)state;
    for (int i = 0; i < 500000; i++) {
        char text[96];
        snprintf(text, sizeof text, "%.*e", 16 + (int)below(9), any_double());
        check_value(text);
        double near_one = (double)smurf_random_bits(&draw) * 0x1p-40;
        snprintf(text, sizeof text, "%.*f", (int)below(20), near_one);
        check_value(text);
    }
}

/* Exactly between two doubles, and one digit to either side: the hardest to round. */
static void halfway_cases(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        double x = ldexp((double)(((uint64_t)1 << 52) + below((uint64_t)1 << 52)), (int)below(60) - 52);
        long double half = ((long double)x + (long double)nextafter(x, INFINITY)) / 2;
        char text[160];
        int n = snprintf(text, sizeof text, "%.70Lf", half);
        while (text[n - 1] == '0' && text[n - 2] != '.') text[--n] = '\0';
        check_value(text);
        strcpy(text + n, "1");
        check_value(text);
        strcpy(text + n, "00000000000000000000001");
        check_value(text);
        text[n] = '\0';
        if (text[n - 1] != '0' && text[n - 1] != '.') {
            text[n - 1]--;
            check_value(text);
        }
    }
}

/* Quotients that are whole, and those next to them: where the inverse of a power of ten could be one off. */
static void quotients_near_whole_numbers(void **state)
{
    (void)state;
    for (int i = 0; i < 400000; i++) {
        int places = 1 + i % 19, zeros = (int)below(20);
        uint64_t mantissa = smurf_random_bits(&draw) % 10000000000000000000u, step = smurf_pow10_int[zeros];
        if (mantissa >= step) mantissa = mantissa / step * step + below(3) - 1;
        mantissa %= 10000000000000000000u;
        char text[64];
        uint64_t unit = smurf_pow10_int[places];
        snprintf(text, sizeof text, "%" PRIu64 ".%0*" PRIu64, mantissa / unit, places, mantissa % unit);
        check_value(text);
    }
}

static void particular_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        "00",
        "007",
        "1.",
        ".5",
        "-.5",
        "+1",
        "1e5",
        "1E+5",
        "1e-5",
        "1e308",
        "1e309",
        "-1e309",
        "1e-400",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740992.5",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "99999999999999999999",
        "0.1",
        "0.30000000000000004",
        "123456789012345678",
        "1234567890123456789",
        "12345678901234567890",
        "0.0000000000000000000000000000000000001",
        "100000000000000000000000000000000000000000",
        "1e99999999999",
        "1e-99999999999",
        "0e99999999999",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000012345678901234567890"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_value(texts[i]);
}

static void what_is_no_number(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    "-",   "+",   ".", "-.", "e5",    ".e5", "nan",
                                        "inf", "--1", "+-1", "x", " 1", "0x10x", ",1"};
    struct decimal d;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *end = smurf_decimal_scan(&d, texts[i]);
        if (end && end == texts[i] + strlen(texts[i])) fail_msg("'%s' is taken for a number", texts[i]);
        if (strlen(texts[i]) && smurf_decimal_scan_time(&d, texts[i], strlen(texts[i])))
            fail_msg("'%s' is taken for a time", texts[i]);
    }
    assert_int_equal(smurf_decimal_scan(&d, "1e") - d.text, 1); /* the number ends before what does not belong to it */
    assert_int_equal(smurf_decimal_scan(&d, "1.5.2") - d.text, 3);
    assert_int_equal(smurf_decimal_scan(&d, "12-3") - d.text, 2);
}

/* ---- Origins --------------------------------------------------------------------------------- */

static void read_time(const char *text, int64_t *origin, double *offset)
{
    struct decimal d;
    if (!smurf_decimal_scan_time(&d, text, strlen(text))) fail_msg("'%s' is no time", text);
    assert_true(smurf_decimal_origin(&d, origin));
    assert_true(smurf_decimal_offset(&d, *origin, offset));
}

static double offset_from(const char *text, int64_t origin)
{
    struct decimal d;
    double offset = NAN;
    if (!smurf_decimal_scan_time(&d, text, strlen(text))) fail_msg("'%s' is no time", text);
    assert_true(smurf_decimal_offset(&d, origin, &offset));
    return offset;
}

static void origins(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t origin;
        double offset;
    } cases[] = {{"0", 0, 0},
                 {"1048575.999", 0, 1048575.999},
                 {"1048576", 1048576, 0},
                 {"1048576.25", 1048576, 0.25},
                 {"-1048576", 0, -1048576},
                 {"-1048576.25", -1048577, 0.75},
                 {"1700000000.123456789", 1700000000, 0.123456789},
                 {"1700000000123456789", 1700000000123456789, 0},
                 {"1700000000123456789.5", 1700000000123456789, 0.5},
                 {"1.7e9", 1700000000, 0},
                 {"9223372036854775807", INT64_MAX, 0},
                 {"-9223372036854775807", -INT64_MAX, 0},
                 {"9223372036854775807.999", INT64_MAX, 0.999}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t origin;
        double offset;
        read_time(cases[i].text, &origin, &offset);
        if (origin != cases[i].origin || offset != cases[i].offset)
            fail_msg("%s: %" PRId64 " + %.17g", cases[i].text, origin, offset);
    }
}

static void times_out_of_range(void **state)
{
    (void)state;
    struct decimal d;
    int64_t origin;
    double offset;
    static const char *const beyond[] = {"9223372036854775808", "1e19", "1e300", "-1e20",
                                         "99999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_non_null(smurf_decimal_scan(&d, beyond[i]));
        assert_false(smurf_decimal_origin(&d, &origin));
    }
    assert_non_null(smurf_decimal_scan(&d, "9007199254740992"));
    assert_false(smurf_decimal_offset(&d, 0, &offset));
    assert_false(smurf_decimal_offset(&d, -5, &offset));
    assert_true(smurf_decimal_offset(&d, 5, &offset));
    assert_non_null(smurf_decimal_scan(&d, "9223372036854775807"));
    assert_false(smurf_decimal_offset(&d, INT64_MIN, &offset));
    assert_non_null(smurf_decimal_scan(&d, "1e999"));
    assert_false(smurf_decimal_offset(&d, 0, &offset));
}

static void nanosecond_clocks_are_exact(void **state)
{
    (void)state;
    for (int i = 0; i < 500000; i++) {
        int64_t origin = 1600000000000000000 + (int64_t)below(200000000000000000);
        int64_t gap = (int64_t)(below((uint64_t)1 << 53) >> below(50));
        if (below(4) == 0) gap = -gap;
        char text[40];
        snprintf(text, sizeof text, "%" PRId64, origin + gap);
        assert_true(offset_from(text, origin) == (double)gap);
    }
}

/* Where 64 bits do not hold it, or the difference is just within or beyond what a double holds. */
static void offsets_at_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t origin;
        double offset; /* NAN: refused */
    } cases[] = {
        {"9007199255789567", 1048576, 0x1p53 - 1},
        {"9007199255789568", 1048576, NAN},
        {"-9007199253692415", 1048576, -0x1p53 + 1},
        {"-9007199253692416", 1048576, NAN},
        {"9007199255789567.5", 1048576, NAN}, /* rounds to 2^53 */
        {"9007199255789567.4999", 1048576, 0x1p53 - 1},
        {"900720973.9816575", 1048576, 899672397.9816575},
        {"1048576", 1048576, 0},
        {"1048575.75", 1048576, -0.25},
        {"9223372036854775807", INT64_MAX, 0},
        {"9223372036854775806", INT64_MAX, -1},
        {"9223372036854775807.5", INT64_MAX, 0.5},
        {"-9223372036854775807", INT64_MIN, 1},
        {"-1", INT64_MAX, NAN},
        {"1", INT64_MIN, NAN},
        {"1700000000.000000001", 1700000000, 1e-9},
        {"1700000000.000000000000000001", 1700000000, 1e-18},
        {"10000000000.5", 10000000000, 0.5},
        {"1e10", 10000000000, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct decimal d;
        double offset;
        assert_non_null(smurf_decimal_scan(&d, cases[i].text));
        bool near = smurf_decimal_offset(&d, cases[i].origin, &offset);
        if (near == isnan(cases[i].offset) || (near && bits_of(offset) != bits_of(cases[i].offset)))
            fail_msg("%s - %" PRId64 " is %s %.17g", cases[i].text, cases[i].origin, near ? "taken for" : "refused,",
                     offset);
    }
}

/* The nearest double to a difference with many digits, against long double where that is exact enough. */
static void offsets_with_fractions_are_nearest(void **state)
{
    (void)state;
    for (int i = 0; i < 300000; i++) {
        int64_t origin = (1 << 20) + (int64_t)(smurf_random_bits(&draw) >> (1 + below(40)));
        uint64_t whole = below((uint64_t)1 << (1 + below(20)));
        if (origin > INT64_MAX - (int64_t)whole) continue;
        int places = 1 + (int)below(18);
        char fraction[24], text[64], alone[64];
        put_digits(fraction, (uint64_t)places);
        snprintf(text, sizeof text, "%" PRId64 ".%s", origin + (int64_t)whole, fraction);
        snprintf(alone, sizeof alone, "%" PRIu64 ".%s", whole, fraction);
        double got = offset_from(text, origin), want = strtod(alone, NULL);
        if (got != want) fail_msg("%s - %" PRId64 " is %.17g, not %.17g", text, origin, got, want);
    }
}

/* ---- Dates ----------------------------------------------------------------------------------- */

static void known_dates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"1970-01-01", 0},
                 {"1970-01-01T00:00:00Z", 0},
                 {"1970-01-01t00:00z", 0},
                 {"1970/01/02", 86400},
                 {"2000-02-29T12:00:00Z", 951825600},
                 {"2000-03-01", 951868800},
                 {"1900-03-01", -2203891200},
                 {"2024-02-29 23:59:59", 1709251199},
                 {"2024-02-29 23:59:60", 1709251200},
                 {"2100-03-01T00:00:00Z", 4107542400},
                 {"1969-12-31T23:59:59Z", -1},
                 {"1969-12-31T23:59:59.75Z", -0.25},
                 {"1969-07-20T20:17:40Z", -14182940},
                 {"1600-01-01", -11676096000},
                 {"0001-01-01T00:00:00Z", -62135596800},
                 {"0001-03-01", -62130499200},
                 {"9999-12-31T23:59:59Z", 253402300799},
                 {"2024-01-31T12:00:00+01:00", 1706698800},
                 {"2024-01-31T12:00:00+0100", 1706698800},
                 {"2024-01-31T12:00:00+01", 1706698800},
                 {"2024-01-31T12:00:00 +01:00", 1706698800},
                 {"2024-01-31T12:00:00-05:30", 1706722200},
                 {"2024-01-31T12:00:00,5Z", 1706702400.5},
                 {"2024-01-31T12:00:00.000001Z", 1706702400.000001},
                 {"2024-01-31T12:00", 1706702400},
                 {"2024-01-31T12", 1706702400},
                 {"20240131T12Z", 1706702400},
                 {"2024-01-31T12:00:00+01:00[Europe/Berlin]", 1706698800},
                 {"2024-01-31T24:00:00", 1706745600},
                 {"2024-01-31 24:00", 1706745600},
                 {"20240131T120000Z", 1706702400},
                 {"20240131T1200", 1706702400},
                 {"20240131T120000.25+0100", 1706698800.25},
                 {"20240131 120000", 1706702400},
                 {"2024-031", 1706659200},
                 {"2024-366", 1735603200},
                 {"2024-W05-3T12:00", 1706702400},
                 {"2024W053", 1706659200},
                 {"2020-W53-7", 1609632000},
                 {"2024-01-31 12:00:00 UTC", 1706702400},
                 {"2024-01-31 12:00:00 GMT+01:00", 1706698800},
                 {"2024-01-31 12:00:00.5 Z", 1706702400.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct decimal d;
        if (!smurf_decimal_scan_time(&d, cases[i].text, strlen(cases[i].text)) || !d.calendar)
            fail_msg("'%s' is no date", cases[i].text);
        double got = smurf_decimal_value(&d);
        if (got != cases[i].seconds) fail_msg("'%s' is %.17g", cases[i].text, got);
    }
}

static void wrong_dates(void **state)
{
    (void)state;
    static const char *const texts[] = {"2023-02-29",
                                        "0000-03-01",
                                        "0000-00-00 00:00:00",
                                        "1900-02-29",
                                        "2100-02-29",
                                        "2024-00-01",
                                        "2024-13-01",
                                        "2024-01-00",
                                        "2024-01-32",
                                        "2024-04-31",
                                        "2024-1-1",
                                        "24-01-01",
                                        "2024-01",
                                        "2024-01-01T",
                                        "2024-01-01T1",
                                        "2024-01-01T24:00:01",
                                        "2024-01-01T24:00:00.1",
                                        "2024-01-01T25:00:00",
                                        "2024-01-01T12:00:00+01:",
                                        "2024-366x",
                                        "2023-366",
                                        "2024-000",
                                        "2024-W00-1",
                                        "2024-W01-8",
                                        "20240101T1",
                                        "20240132T1200",
                                        "2024-01-01T12:60",
                                        "2024-01-01T12:00:61",
                                        "2024-01-01T12:00:00.",
                                        "2024-01-01T12:00:00.5x",
                                        "2024-01-01T12:00:00+",
                                        "2024-01-01T12:00:00+1",
                                        "2024-01-01T12:00:00+24:00",
                                        "2024-01-01T12:00:00ZZ",
                                        "2024-01-01Z12:00",
                                        "2024-01/01",
                                        "2024-01-01 noon",
                                        "2024-01-01T12-00",
                                        "2024-01-01T12+01:00",
                                        "2024-01-01 12",
                                        "2024-01-01T25",
                                        "2024-01-01T12:00:00[Europe/Berlin]",
                                        "12:00:00",
                                        "2024-01-01T12:00:00+01:60"};
    struct decimal d;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (smurf_decimal_scan_time(&d, texts[i], strlen(texts[i]))) fail_msg("'%s' is taken for a date", texts[i]);
}

static void every_day_of_400_years(void **state)
{
    (void)state;
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    double want = -11676096000 - 86400.0; /* the day before 1600-01-01 */
    for (int year = 1600; year < 2000; year++)
        for (int month = 1; month <= 12; month++) {
            int leap = month == 2 && (year % 400 == 0 || (year % 4 == 0 && year % 100 != 0));
            for (int day = 1; day <= days[month - 1] + leap; day++) {
                char text[48];
                struct decimal d;
                snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
                assert_true(smurf_decimal_scan_time(&d, text, 10));
                assert_true(smurf_decimal_value(&d) == (want += 86400));
            }
        }
    assert_true(want == 946598400); /* 1999-12-31 */
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void check_number(double x)
{
    char text[NUMBER_TEXT + 1];
    size_t n = smurf_number_write(text, x);
    assert_true(n <= NUMBER_TEXT);
    text[n] = '\0';
    struct decimal d;
    if (smurf_decimal_scan(&d, text) != text + n || smurf_decimal_value(&d) != x)
        fail_msg("%.17g is written as '%s'", x, text);
}

static void written_numbers_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < 500000; i++) {
        check_number(any_double());
        check_number((smurf_random_uniform(&draw) - 0.5) * pow(10, (double)below(20)));
        check_number((double)below((uint64_t)1 << 53) / pow(10, (double)below(16)));
        check_number(-log(smurf_random_uniform(&draw)) * 1e-3);
    }
    static const double cases[] = {
        0,      -0.0,       1,          0.1,        1e-5, 1e-17,     1e22,     1e23, 5e-324, 1.7976931348623157e308,
        0x1p53, 0x1p53 - 1, 0x1p53 + 2, 123456.789, -2.5, 0x1p-1074, 0x1p-1022};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_number(cases[i]);
}

static void numbers_are_written_short(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } cases[] = {{0, "0"},
                 {0.1, "0.1"},
                 {-1.5, "-1.5"},
                 {1e6, "1000000"},
                 {0.30000000000000004, "0.30000000000000004"},
                 {1e-9, "0.000000001"},
                 {123456789.125, "123456789.125"},
                 {5, "5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NUMBER_TEXT + 1];
        text[smurf_number_write(text, cases[i].x)] = '\0';
        assert_string_equal(text, cases[i].text);
    }
}

static void check_time(int64_t origin, double offset)
{
    char text[NUMBER_TEXT + 1];
    size_t n = smurf_number_write_time(text, origin, offset);
    assert_true(n <= NUMBER_TEXT);
    text[n] = '\0';
    double got = offset_from(text, origin);
    if (got != offset) fail_msg("%" PRId64 " + %.17g is written as '%s': %.17g", origin, offset, text, got);
}

static void written_times_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < 300000; i++) {
        int64_t origin = (int64_t)(smurf_random_bits(&draw) >> 1 >> below(42)) * (below(3) ? 1 : -1);
        double offset =
            (double)below((uint64_t)1 << 53) / pow(10, (double)below(16)); /* decimals, as files have them */
        if (below(8) == 0) offset = -offset;
        bool in_range = fabs((double)origin + offset) < 9.2e18;
        if (in_range) check_time(origin, offset);
        double fine = ldexp((double)smurf_random_bits(&draw), -(int)below(55) - 12); /* any double from 0.01 to 2^52 */
        if (in_range && fine >= 0.01 && fine < 0x1p52 && fabs((double)origin + fine) < 9.2e18) {
            check_time(origin, fine);
            check_time(-origin, fine);
        }
    }
    check_time(1700000000123456789, 0);
    check_time(1700000000123456789, 0x1p53 - 1);
    check_time(-1700000000123456789, 0.75);
    check_time(1 << 20, 0.1 + 0.2);
    check_time(INT64_MAX, 0.5);
    check_time(INT64_MIN + 1, 0.5);
}

static void check_calendar(int64_t origin, double offset, const char *want)
{
    char text[NUMBER_TEXT + 1];
    size_t n = smurf_number_write_calendar(text, origin, offset);
    assert_true(n <= NUMBER_TEXT);
    text[n] = '\0';
    if (want) assert_string_equal(text, want);
    double got = offset_from(text, origin);
    if (got != offset) fail_msg("%" PRId64 " + %.17g is written as '%s': %.17g", origin, offset, text, got);
}

static void written_dates_read_back(void **state)
{
    (void)state;
    check_calendar(0, 0, "1970-01-01T00:00:00Z");
    check_calendar(0, -0.25, "1969-12-31T23:59:59.75Z");
    check_calendar(-1, 0.5, "1969-12-31T23:59:59.5Z");
    check_calendar(1709251199, 0, "2024-02-29T23:59:59Z");
    check_calendar(1709251199, 0.123456789, "2024-02-29T23:59:59.123456789Z");
    check_calendar(1709251199, 0.000000001, "2024-02-29T23:59:59.000000001Z");
    check_calendar(-62135596800, 0, "0001-01-01T00:00:00Z");
    check_calendar(253402300799, 0, "9999-12-31T23:59:59Z");
    for (int i = 0; i < 300000; i++) {
        int64_t origin = (int64_t)below(36000000000) - 18000000000;          /* the years 1400 to 2540 */
        check_calendar(origin, (double)below(8000000000000000) / 1e9, NULL); /* ns over three months */
        check_calendar(origin, (double)below(1000000000000000) / 1e6, NULL); /* us over 30 years */
    }
}

/* Beyond nanoseconds a date is rounded, also into the next second. */
static void dates_are_rounded_to_nanoseconds(void **state)
{
    (void)state;
    char text[NUMBER_TEXT + 1];
    text[smurf_number_write_calendar(text, 86399, 0.99999999999)] = '\0';
    assert_string_equal(text, "1970-01-02T00:00:00Z");
    text[smurf_number_write_calendar(text, 0, 0.1 + 0.2)] = '\0';
    assert_string_equal(text, "1970-01-01T00:00:00.3Z");
}

static int start(void **state)
{
    (void)state;
    smurf_random_init(&draw, 20240131, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_decimals),
        cmocka_unit_test(random_doubles_in_17_to_25_digits),
        cmocka_unit_test(halfway_cases),
        cmocka_unit_test(quotients_near_whole_numbers),
        cmocka_unit_test(particular_numbers),
        cmocka_unit_test(what_is_no_number),
        cmocka_unit_test(origins),
        cmocka_unit_test(times_out_of_range),
        cmocka_unit_test(nanosecond_clocks_are_exact),
        cmocka_unit_test(offsets_at_their_limits),
        cmocka_unit_test(offsets_with_fractions_are_nearest),
        cmocka_unit_test(known_dates),
        cmocka_unit_test(wrong_dates),
        cmocka_unit_test(every_day_of_400_years),
        cmocka_unit_test(written_numbers_read_back),
        cmocka_unit_test(numbers_are_written_short),
        cmocka_unit_test(written_times_read_back),
        cmocka_unit_test(written_dates_read_back),
        cmocka_unit_test(dates_are_rounded_to_nanoseconds),
    };
    return cmocka_run_group_tests_name("number", tests, start, NULL);
}
