/* unit_naive.c - naive laws that follow a sequence (its last 100 gaps, those of the same hour) and types by recency,
   against brute force. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/sort.h"
#include "data/builder.h"
#include "data/time_zone.h"
#include "eval/evaluate.h"
#include "eval/naive.h"
#include "naive/past.h"
#include "naive/recency.h"

enum { EVENTS = 4000 };

static const double wide[] = {10, 20, 30, 40, 50};

/* A log over some weeks from 2020-03-20 on, when clocks change in Berlin; one gap in five is a tie. */
static void draw_times(double time[EVENTS])
{
    struct random random;
    smurf_random_init(&random, 5, 0);
    for (size_t i = 0; i < EVENTS; i++) {
        double gap = smurf_random_uniform(&random) < 0.2 ? 0 : -800 * log(smurf_random_uniform(&random));
        time[i] = (i ? time[i - 1] : 0.25) + floor(gap);
    }
}

static const int64_t origin = 1584662400;

static int hour_of(const struct time_zone *zone, double time)
{
    int64_t at = origin + (int64_t)floor(time);
    return (int)((at + smurf_time_zone_offset(zone, at)) / 3600 % 24);
}

/* Up to 100 gaps before event r + 1, the latest first, that began in the hour (-1: any). */
static size_t gaps_before(const struct time_zone *zone, const double *time, size_t r, int hour, double *out)
{
    size_t n = 0;
    for (size_t i = r; i > 0 && n < PAST_GAPS; i--)
        if (hour < 0 || hour_of(zone, time[i - 1]) == hour) out[n++] = time[i] - time[i - 1];
    smurf_sort(out, n);
    return n;
}

/* As past.h defines the law of few gaps. */
static size_t completed(double *gap, size_t n, const double *other, size_t others)
{
    size_t more = (PAST_GAPS - n + 9) / 10;
    if (n == 0) more = others;
    for (size_t i = 0; i < more; i++) gap[n + i] = other[(2 * i + 1) * others / (2 * more)];
    smurf_sort(gap, n + more);
    return n + more;
}

static void assert_law(const double *got, size_t n, const double *want, size_t wanted)
{
    assert_int_equal(n, wanted);
    assert_memory_equal(got, want, n * sizeof *got);
}

static void check_row(const struct past *past, const struct time_zone *zone, const double *time, size_t r)
{
    double got[PAST_LAW], last[2 * PAST_LAW], same[2 * PAST_LAW];
    size_t lasts = completed(last, gaps_before(zone, time, r, -1, last), wide, 5);
    assert_law(got, smurf_past_last(past, wide, 5, got), last, lasts);
    size_t n = completed(same, gaps_before(zone, time, r, hour_of(zone, time[r]), same), last, lasts);
    assert_law(got, smurf_past_same_hour(past, wide, 5, got), same, n);
}

static void past_follows_the_sequence(void **state)
{
    (void)state;
    struct time_zone *zone;
    assert_int_equal(smurf_time_zone_open(&zone, "Europe/Berlin", NULL), SMURF_OK);
    double *time = malloc(EVENTS * sizeof *time);
    struct past past, other;
    smurf_past_init(&past, true, zone);
    smurf_past_init(&other, true, zone);
    draw_times(time);
    smurf_past_clear(&past, origin);
    for (size_t r = 0; r < EVENTS; r++) {
        assert_true(smurf_past_push(&past, time[r]));
        if (r < 300 || r % 37 == 0) check_row(&past, zone, time, r);
    }
    assert_true(smurf_past_copy(&other, &past));
    check_row(&other, zone, time, EVENTS - 1);
    size_t size = smurf_past_pack(&past, NULL);
    char *bytes = malloc(size);
    assert_int_equal(smurf_past_pack(&past, bytes), size);
    smurf_past_clear(&other, origin);
    assert_int_equal(smurf_past_unpack(&other, bytes, size), size);
    check_row(&other, zone, time, EVENTS - 1);
    for (size_t cut = 0; cut < size; cut += 8) assert_int_equal(smurf_past_unpack(&other, bytes, cut), 0);
    memcpy(bytes + 16, &(double){101}, 8);
    assert_int_equal(smurf_past_unpack(&other, bytes, size), 0);
    free(bytes);
    free(time);
    smurf_past_release(&past);
    smurf_past_release(&other);
    smurf_time_zone_free(zone);
}

/* ---- Types ----------------------------------------------------------------------------------- */

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) < 1e-9)) fail_msg("%.17g instead of %.17g", got, want);
}

static smurf_data *typed(const uint32_t *type, size_t n, uint32_t types)
{
    struct builder b = {.name = "types", .declared = types};
    struct sequence_info info = {.start = NAN, .end = NAN, .first = 1};
    smurf_data *out;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(smurf_builder_time(&b, (double)i, NULL), SMURF_OK);
        assert_int_equal(smurf_builder_index(&b, type[i], NULL), SMURF_OK);
    }
    assert_int_equal(smurf_builder_close(&b, &info, NULL), SMURF_OK);
    assert_int_equal(smurf_builder_finish(&b, &out, NULL), SMURF_OK);
    return out;
}

/* By hand: 0 1 0 0 2. Scored 1 (fresh), 0 (rank 1), 0 (rank 0), 2 (fresh, of 3 types). */
static void recency_by_hand(void **state)
{
    (void)state;
    smurf_data *data = typed((uint32_t[]){0, 1, 0, 0, 2}, 5, 3);
    struct recency r;
    struct recent_types list;
    double share[3];
    assert_int_equal(smurf_recency_init(&r, data, NULL), SMURF_OK);
    assert_true(smurf_recent_types_init(&list, 3));
    const double w0 = 1.5 / 5, w1 = 1.5 / 4, fresh = 2.5 / 5, common[] = {2.5 / 5.5, 1.5 / 5.5, 1.5 / 5.5};
    smurf_recency_shares(&r, &list, share);
    for (int k = 0; k < 3; k++) assert_near(share[k], common[k]);
    smurf_recent_types_push(&list, 2);
    smurf_recent_types_push(&list, 7); /* unknown: ignored */
    smurf_recency_shares(&r, &list, share);
    assert_near(share[2], w0 / (w0 + fresh));
    assert_near(share[0], fresh / (w0 + fresh) * 2.5 / 4);
    smurf_recent_types_push(&list, 0);
    smurf_recent_types_push(&list, 2);
    smurf_recency_shares(&r, &list, share);
    assert_near(share[2], w0 / (w0 + w1 + fresh));
    assert_near(share[0], w1 / (w0 + w1 + fresh));
    smurf_recent_types_release(&list);
    smurf_recency_release(&r);
    smurf_data_free(data);
}

/* Types that repeat the last but one, out of many: recency finds them, also in the deeper ranks. */
static void recency_finds_repeats(void **state)
{
    (void)state;
    enum { N = 3000, TYPES = 200 };
    uint32_t *type = malloc(N * sizeof *type);
    struct random random;
    smurf_random_init(&random, 9, 1);
    for (size_t i = 0; i < N; i++) {
        bool again = i > 2 && smurf_random_uniform(&random) < 0.7;
        type[i] = again ? type[i - 2] : (uint32_t)smurf_random_below(&random, TYPES);
    }
    smurf_data *data = typed(type, N, TYPES);
    struct recency r;
    struct recent_types list;
    double share[TYPES], right = 0, sum = 0;
    assert_int_equal(smurf_recency_init(&r, data, NULL), SMURF_OK);
    assert_true(smurf_recent_types_init(&list, TYPES));
    for (size_t i = 0; i < N; i++) {
        smurf_recency_shares(&r, &list, share);
        sum = 0;
        uint32_t top = 0;
        for (uint32_t k = 0; k < TYPES; k++) {
            assert_true(share[k] > 0);
            sum += share[k];
            if (share[k] > share[top]) top = k;
        }
        assert_near(sum, 1);
        right += top == type[i];
        smurf_recent_types_push(&list, type[i]);
    }
    if (!(right / N > 0.6)) fail_msg("recency is right for %g%%", 100 * right / N);
    smurf_recent_types_release(&list);
    smurf_recency_release(&r);
    smurf_data_free(data);
    free(type);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(past_follows_the_sequence),
        cmocka_unit_test(recency_by_hand),
        cmocka_unit_test(recency_finds_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
