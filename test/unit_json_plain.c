/* unit_json_plain.c - digits eight at a time, and arrays of plain numbers against the scanner of decimals. */
#include "base/random.h"
#include "data/digits.h"
#include "data/json_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct random draw;

static size_t below(size_t n)
{
    return (size_t)smurf_random_below(&draw, n);
}

/* ---- Eight bytes ----------------------------------------------------------------------------- */

/* Every byte at every place, any bytes behind it. */
static void digits_are_counted(void **state)
{
    (void)state;
    for (int place = 0; place <= 8; place++)
        for (int c = 0; c < 256; c++) {
            char text[9];
            for (int i = 0; i < 8; i++) text[i] = (char)(i < place ? '0' + below(10) : below(256));
            text[place] = (char)c;
            if (c >= '0' && c <= '9') continue;
            uint64_t eight = smurf_eight_load(text);
            assert_int_equal(smurf_eight_count(eight), place);
            for (int n = 0; n <= 8; n++) assert_int_equal(!smurf_eight_wrong(smurf_eight_first(eight, n)), n <= place);
        }
}

static void digits_have_their_value(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[9] = {0}, number[9] = {0};
        for (int k = 0; k < 8; k++) text[k] = (char)('0' + (i % 3 ? below(10) : 9 * below(2)));
        int n = (int)below(9);
        memcpy(number, text, (size_t)n);
        assert_int_equal(smurf_eight_value(smurf_eight_first(smurf_eight_load(text), n)), strtoul(number, NULL, 10));
    }
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* A text with nothing but the promised zeros behind it, so that a sanitizer sees what is read beyond them. */
static struct plain plain_of(const char *text, size_t n, bool blank)
{
    char *copy = calloc(n + PLAIN_PAD, 1);
    memcpy(copy, text, n);
    return (struct plain){.p = copy, .end = copy + n, .blank = blank};
}

struct element {
    const char *text;
    bool plain;
};

static const struct element times[] = {
    {"0", true},
    {"9", true},
    {"10", true},
    {"1234567", true},
    {"12345678", true},
    {"99999999", true},
    {"123456789", true},
    {"9007199254740991", true},
    {"9007199254740992", false}, /* 2^53 is too far for a double to keep steps of 1 */
    {"9007199254740993", false},
    {"999999999999999999", false},
    {"1000000000000000000", false},
    {"12345678901234567890", false},
    {"123456789012345678901234567890123456789012345678901234567890", false},
    {"0.5", true},
    {"0.0", true},
    {"0.12345678", true},
    {"0.123456789", true},
    {"0.1234567890123456", true},
    {"0.12345678901234567", true},
    {"0.123456789012345678", false}, /* 19 digits */
    {"0.00000000000000001", true},
    {"12.345678901234567", true},
    {"123456.789012345678", true},
    {"123456.7890123456789", false},
    {"12345678.12345678", true},
    {"9007199254740991.4", true},
    {"9007199254740991.5", false}, /* rounds to it */
    {"9007199254740992.5", false},
    {"00", false},
    {"007", false},
    {"00.5", false},
    {"1.", false},
    {".5", false},
    {"1.2.3", false},
    {"-0", false},
    {"-1", false},
    {"+1", false},
    {"1e3", false},
    {"1.5E3", false},
    {"5e-324", false},
    {"1x", false},
    {"12x4", false},
    {"1 ", false},
    {"", false},
    {"null", false},
    {"\"1\"", false},
    {"]", false},
};

static const struct element types[] = {
    {"0", true},         {"9", true},          {"10", true},  {"99", true},   {"100", true},  {"999", true},
    {"1234567", true},   {"9999999", true},    {"00", false}, {"01", false},  {"001", false}, {"10000000", false},
    {"16777215", false}, {"123456789", false}, {"-1", false}, {"1.0", false}, {"1e1", false}, {"1x", false},
    {"x1", false},       {"1 ", false},        {"", false},   {"/1", false},  {"1/", false},  {"1:", false},
    {"\"a\"", false},    {"]", false},
};

/* Takes from the text, with commas and blanks as said; whether `want` elements were taken and `left` is the
   place of the next. *last is what was taken last. */
static bool takes(bool of_types, const char *text, bool blank, size_t want, size_t left, double *last)
{
    struct plain in = plain_of(text, strlen(text), blank);
    char *copy = (char *)(uintptr_t)in.p;
    double time[8];
    uint32_t type[8], max = 0;
    size_t got = of_types ? smurf_plain_types(&in, type, 8, &max) : smurf_plain_times(&in, time, 8, 0);
    if (got) *last = of_types ? type[got - 1] : time[got - 1];
    bool ok = got == want && in.p == copy + left;
    free(copy);
    return ok;
}

/* An element alone, after others of its length, and after others of another: taken, or left. One that does not start
   with a digit is left together with the one before it. */
static void check_element(bool of_types, const struct element *e, bool blank)
{
    static const struct {
        const char *text[2]; /* without blanks, and with */
        size_t elements;
    } lead[] = {{{"", ""}, 0}, {{"0,1,", "0, 1, "}, 2}, {{"12,1234567,3,", "12, 1234567, 3, "}, 3}};
    for (size_t i = 0; i < sizeof lead / sizeof *lead; i++) {
        const char *before = lead[i].text[blank];
        char text[160];
        snprintf(text, sizeof text, "%s%s%s7]", before, e->text, blank ? ", " : ",");
        bool both = lead[i].elements && (*e->text < '0' || *e->text > '9');
        size_t left = e->plain ? strlen(text) - 2 : strlen(before) - (both ? 2u + blank : 0);
        double last = -1;
        if (!takes(of_types, text, blank, lead[i].elements + e->plain - both, left, &last))
            fail_msg("'%s' is not taken as far as expected", text);
        if (e->plain) assert_true(last == strtod(e->text, NULL));
    }
}

static void what_is_plain(void **state)
{
    (void)state;
    for (int blank = 0; blank < 2; blank++) {
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) check_element(false, &times[i], blank);
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) check_element(true, &types[i], blank);
    }
}

/* An array of random elements, most of them plain; as long as the caller's text. */
static size_t random_array(char *text, size_t n)
{
    size_t used = 0;
    bool blank = below(2);
    while (used + 100 < n) {
        if (below(50) == 0) blank = !blank;
        size_t digits = 1 + below(below(4) ? 4 : 18);
        used += (size_t)sprintf(text + used, "%zu", 1 + below(9));
        for (size_t i = 1; i < digits; i++) text[used++] = (char)('0' + below(10));
        if (below(3) == 0) {
            text[used++] = '.';
            for (size_t i = below(18) + 1; i > 0; i--) text[used++] = (char)('0' + below(10));
        }
        if (below(100) == 0) used += (size_t)sprintf(text + used, "e-%zu", below(5));
        used += (size_t)sprintf(text + used, blank ? ", " : ",");
    }
    used += (size_t)sprintf(text + used, "1]");
    return used;
}

/* Takes what is plain, then one element with the scanner of decimals, and so on; and all with the latter. */
static void random_arrays_are_read_as_one_by_one(void **state)
{
    (void)state;
    enum { SIZE = 3000 };
    static const int64_t origins[] = {0, 0, 1 << 20, 1700000000, 1700000000000000000, INT64_MAX, INT64_MIN, -5000000};
    char text[SIZE];
    double out[SIZE];
    for (int round = 0; round < 3000; round++) {
        int64_t origin = origins[below(8)];
        size_t n = random_array(text, SIZE), plain = 0, all = 0;
        struct plain in = plain_of(text, n, false);
        char *copy = (char *)(uintptr_t)in.p;
        while (*in.p != ']') {
            const char *p = in.p;
            size_t room = below(20), taken = smurf_plain_times(&in, out, room, origin);
            assert_true(taken <= room);
            for (size_t i = 0; i < taken + 1; i++) {
                struct decimal d;
                double want = 0;
                const char *end = smurf_decimal_scan(&d, p);
                assert_non_null(end);
                bool near = smurf_decimal_offset(&d, origin, &want);
                if (i < taken && (!near || out[i] != want))
                    fail_msg("'%.*s' less %lld is %.17g", (int)d.length, p, (long long)origin, out[i]);
                if (i == taken) assert_ptr_equal(p, in.p);
                p = end + (*end == ',') + (end[*end == ','] == ' ');
            }
            plain += taken, all += taken + 1;
            in.p = p;
        }
        if (origin == 0) assert_true(plain > all / 4); /* the fast way is not just given up */
        free(copy);
    }
}

/* Wherever the bytes end, what is taken is right, and an element that may go on is left. */
static void arrays_may_end_anywhere(void **state)
{
    (void)state;
    const char *text = "0, 12, 123, 12345678, 12.5, 1234567, 99, 7, 1.2345678901234567, 3]";
    for (size_t n = 0; n <= strlen(text); n++)
        for (int of_types = 0; of_types < 2; of_types++) {
            struct plain in = plain_of(text, n, true);
            char *copy = (char *)(uintptr_t)in.p;
            double time[16];
            uint32_t type[16], max = 0;
            size_t got = of_types ? smurf_plain_types(&in, type, 16, &max) : smurf_plain_times(&in, time, 16, 0);
            const char *p = text;
            for (size_t i = 0; i < got; i++) {
                char *end;
                assert_true(strtod(p, &end) == (of_types ? type[i] : time[i]));
                p = end + 2;
            }
            assert_int_equal(in.p - copy, p - text);
            assert_true(got == 0 || (size_t)(p - text) < n);
            free(copy);
        }
}

static void the_largest_type_is_kept(void **state)
{
    (void)state;
    struct plain in = plain_of("3,70,500,2,1]", 13, false);
    char *copy = (char *)(uintptr_t)in.p;
    uint32_t type[8], max = 71;
    assert_int_equal(smurf_plain_types(&in, type, 2, &max), 2);
    assert_int_equal(max, 71);
    assert_int_equal(smurf_plain_types(&in, type, 8, &max), 2);
    assert_int_equal(max, 500);
    free(copy);
}

static int start(void **state)
{
    (void)state;
    smurf_random_init(&draw, 20240201, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_counted),      cmocka_unit_test(digits_have_their_value),
        cmocka_unit_test(what_is_plain),           cmocka_unit_test(random_arrays_are_read_as_one_by_one),
        cmocka_unit_test(arrays_may_end_anywhere), cmocka_unit_test(the_largest_type_is_kept),
    };
    return cmocka_run_group_tests_name("json_plain", tests, start, NULL);
}
