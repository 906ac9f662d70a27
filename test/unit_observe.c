/* unit_observe.c - until when sequences were observed, where the data does not say; what parts and windows keep of it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "data/data.h"

static smurf_data *read_csv(const char *text)
{
    smurf_error err;
    smurf_data *data;
    if (smurf_data_read_memory(&data, text, strlen(text), "cases.csv", NULL, &err)) fail_msg("%s", err.message);
    return data;
}

static const char cases[] = "case,time,type\n"
                            "a,2020-01-01T00:00:00Z,x\n"
                            "a,2020-01-02T00:00:00Z,y\n"
                            "b,2020-01-03T00:00:00Z,x\n"
                            "b,2020-01-05T12:00:00Z,x\n"
                            "c,2020-01-04T00:00:00Z,x\n";
static const char more[] = "case,time,type\n"
                           "a,2020-01-01T00:00:00Z,x\na,2020-01-02T00:00:00Z,y\nb,2020-01-05T12:00:00Z,x\n"
                           "c,2020-01-04T00:00:00Z,x\nd,2020-01-05T00:00:00Z,x\ne,2020-01-05T06:00:00Z,x\n";
static const char counted[] = "case,time\na,0\na,5\nb,0\nb,9\n";

static smurf_split whole(smurf_data *data)
{
    return (smurf_split){.train = data};
}

static double left_at(const smurf_data *data, size_t i)
{
    const smurf_sequence *s = smurf_data_sequence(data, i);
    return s->end - s->time[s->length - 1];
}

static void logs_of_dates_end_with_their_last_event(void **state)
{
    (void)state;
    smurf_data *data = read_csv(cases);
    smurf_split split = whole(data);
    smurf_moment until;
    assert_int_equal(smurf_data_observed(data, &until), 0);
    assert_int_equal(smurf_split_observe(&split, NULL, NULL), SMURF_OK);
    assert_int_equal(smurf_data_observed(data, &until), 1);
    assert_true(until.whole == 1578225600 && until.fraction == 0 && data->assumed);
    assert_true(left_at(data, 0) == 3.5 * 86400 && left_at(data, 1) == 0 && left_at(data, 2) == 1.5 * 86400);
    smurf_data_free(data);
}

/* The end is that of all parts together. */
static void parts_share_the_end(void **state)
{
    (void)state;
    smurf_data *data = read_csv(more), *test;
    smurf_split split = whole(data), parts;
    assert_int_equal(smurf_split_by_share(&parts, data, (const double[]){1, 1, 1}, 1, NULL), SMURF_OK);
    assert_int_equal(smurf_split_observe(&parts, NULL, NULL), SMURF_OK);
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const smurf_data *part = i == 0 ? parts.train : i == 1 ? parts.dev : parts.test;
        for (size_t k = 0; k < smurf_data_sequences(part); k++) sum += left_at(part, k);
    }
    assert_true(sum == (3.5 + 0 + 1.5 + 0.5 + 0.25) * 86400);
    smurf_split_release(&parts);

    assert_int_equal(smurf_split_observe(&split, NULL, NULL), SMURF_OK); /* before the split: the same */
    assert_int_equal(smurf_split_by_share(&parts, data, (const double[]){1, 0, 2}, 1, NULL), SMURF_OK);
    smurf_moment until;
    assert_true(smurf_data_observed(parts.test, &until) && parts.test->assumed);
    assert_int_equal(smurf_data_window(&test, parts.test, 1, 1, NULL), SMURF_OK);
    assert_true(smurf_data_observed(test, &until) && until.whole == 1578225600);
    smurf_data_free(test);
    smurf_split_release(&parts);
    smurf_data_free(data);
}

static void others_end_nowhere_unless_it_is_said(void **state)
{
    (void)state;
    static const char alone[] = "time\n2020-01-01T00:00:00Z\n2020-01-02T00:00:00Z\n";
    static const char known[] = "case,time,observation_end\na,2020-01-01T00:00:00Z,2020-02-01T00:00:00Z\n"
                                "b,2020-01-03T00:00:00Z,2020-03-01T00:00:00Z\n";
    const char *const texts[] = {counted, alone, known};
    for (int i = 0; i < 3; i++) {
        smurf_data *data = read_csv(texts[i]);
        smurf_split split = whole(data);
        smurf_moment until;
        double before = smurf_data_sequence(data, 0)->end;
        assert_int_equal(smurf_split_observe(&split, NULL, NULL), SMURF_OK);
        assert_int_equal(smurf_data_observed(data, &until), 0);
        double after = smurf_data_sequence(data, 0)->end;
        assert_true(after == before || (isnan(after) && isnan(before)));
        smurf_data_free(data);
    }
    smurf_data *data = read_csv(counted);
    smurf_split split = whole(data);
    smurf_moment until = {8, 0.5};
    smurf_error err;
    assert_int_equal(smurf_split_observe(&split, &until, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "before the last event"));
    until.whole = 12;
    assert_int_equal(smurf_split_observe(&split, &until, NULL), SMURF_OK);
    assert_true(left_at(data, 0) == 7.5 && left_at(data, 1) == 3.5 && !data->assumed);
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_of_dates_end_with_their_last_event),
        cmocka_unit_test(parts_share_the_end),
        cmocka_unit_test(others_end_nowhere_unless_it_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
