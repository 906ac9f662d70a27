/* unit_base.c - memory, names, errors, progress and random numbers: what everything else stands on. */
#include "base/error.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/threads.h"
#include "base/workspace.h"
#include "data/names.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Laying memory out takes what counting said, each piece on a cache line of its own. */
static void workspace_pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    static const size_t count[] = {1, 0, 16, 17, 300};
    enum { N = sizeof count / sizeof *count };
    struct workspace counted = {NULL, 0};
    for (size_t i = 0; i < N; i++) assert_null(workspace_take(&counted, count[i], sizeof(double)));
    char *block = aligned_alloc(WORKSPACE_ALIGN, counted.used), *piece[N];
    struct workspace taken = {block, 0};
    for (size_t i = 0; i < N; i++) {
        piece[i] = workspace_take(&taken, count[i], sizeof(double));
        assert_int_equal((uintptr_t)piece[i] % WORKSPACE_ALIGN, 0);
        if (i) assert_true(piece[i] >= piece[i - 1] + count[i - 1] * sizeof(double));
    }
    assert_true(piece[N - 1] + count[N - 1] * sizeof(double) <= block + counted.used);
    assert_int_equal(taken.used, counted.used);
    free(block);
}

/* Never none, never more than there is work or than the cap; 0 is all cores. */
static void threads_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(smurf_threads(1, 100), 1);
    assert_int_equal(smurf_threads(3, 100), 3);
    assert_int_equal(smurf_threads(3, 2), 2);
    assert_int_equal(smurf_threads(3, 0), 1);
    assert_int_equal(smurf_threads(100000, SIZE_MAX), 256);
    assert_int_equal(smurf_threads(0, 1), 1);
    assert_true(smurf_threads(0, SIZE_MAX) >= 1 && smurf_threads(0, SIZE_MAX) <= 256);
    assert_int_equal(smurf_threads(-1, SIZE_MAX), smurf_threads(0, SIZE_MAX));
}

static void arena_pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    enum { N = 2000 };
    struct arena arena = {0};
    unsigned char *piece[N];
    size_t size[N];
    for (size_t i = 0; i < N; i++) {
        size[i] = i % 7 == 0 ? 0 : (i * 37) % 3000;
        if (i == 1000) size[i] = 1 << 20;
        piece[i] = smurf_arena_alloc(&arena, size[i]);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % 64, 0);
        memset(piece[i], (int)(i & 255), size[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < size[i]; j++) assert_int_equal(piece[i][j], i & 255);
    assert_true(arena.bytes >= 1 << 20);
    smurf_arena_release(&arena);
    assert_int_equal(arena.bytes, 0);
    smurf_arena_release(&arena); /* an empty one may be released again */
}

static void arena_texts(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *empty = smurf_arena_text(&arena, NULL, 0), *part = smurf_arena_text(&arena, "abcdef", 3);
    assert_string_equal(empty, "");
    assert_string_equal(part, "abc");
    for (int i = 0; i < 100000; i++) assert_non_null(smurf_arena_text(&arena, "0123456789", 10));
    assert_string_equal(part, "abc");
    assert_true(arena.bytes < 100000 * 11 * 11 / 10); /* little is lost between them */
    smurf_arena_release(&arena);
}

static void arena_refuses_what_cannot_be(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_null(smurf_arena_alloc(&arena, SIZE_MAX));
    assert_null(smurf_arena_alloc(&arena, SIZE_MAX / 2 + 1));
    assert_non_null(smurf_arena_alloc(&arena, 1));
    smurf_arena_release(&arena);
}

static void growing_keeps_what_is_there(void **state)
{
    (void)state;
    uint64_t *array = NULL;
    size_t room = 0, moves = 0;
    for (size_t i = 0; i < 1000000; i++) {
        size_t before = room;
        assert_true(smurf_grow(&array, &room, i + 1, sizeof *array));
        assert_true(room > i);
        moves += room != before;
        array[i] = i * i;
    }
    for (size_t i = 0; i < 1000000; i++) assert_true(array[i] == i * i);
    assert_true(moves < 40);
    size_t before = room;
    assert_false(smurf_grow(&array, &room, SIZE_MAX / 4, sizeof *array)); /* overflow: untouched */
    assert_int_equal(room, before);
    assert_true(array[999] == 999 * 999);
    free(array);
}

static void names_are_numbered_in_order(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct names names = {0};
    char text[32];
    assert_int_equal(smurf_names_find(&names, "x", 1), NAMES_FULL);
    for (uint32_t i = 0; i < N; i++) {
        size_t n = (size_t)snprintf(text, sizeof text, "name %u", i * 7919u);
        assert_int_equal(smurf_names_intern(&names, text, n), i);
    }
    assert_int_equal(names.count, N);
    for (uint32_t i = 0; i < N; i++) {
        size_t n = (size_t)snprintf(text, sizeof text, "name %u", i * 7919u);
        assert_int_equal(smurf_names_intern(&names, text, n), i);
        assert_int_equal(smurf_names_find(&names, text, n), i);
        assert_string_equal(names.name[i], text);
    }
    smurf_names_release(&names);
}

static void names_hold_any_bytes(void **state)
{
    (void)state;
    struct names names = {0};
    assert_int_equal(smurf_names_intern(&names, "", 0), 0);
    assert_int_equal(smurf_names_intern(&names, "a\0b", 3), 1);
    assert_int_equal(smurf_names_intern(&names, "a\0c", 3), 2);
    assert_int_equal(smurf_names_intern(&names, "a", 1), 3);
    assert_int_equal(smurf_names_intern(&names, "a\0", 2), 4);
    assert_int_equal(smurf_names_find(&names, "a\0b", 3), 1);
    assert_int_equal(smurf_names_find(&names, "a\0d", 3), NAMES_FULL);
    smurf_names_release(&names);
}

/* ---- Errors and progress --------------------------------------------------------------------- */

static void messages_are_one_line(void **state)
{
    (void)state;
    smurf_error err;
    assert_int_equal(smurf_fail(&err, SMURF_ERROR_INPUT, "%s: a\nb\t\x1b[2J\x7f\r", "f"), SMURF_ERROR_INPUT);
    assert_string_equal(err.message, "f: a?b??[2J??");
    assert_int_equal(err.status, SMURF_ERROR_INPUT);
    assert_int_equal(smurf_fail(NULL, SMURF_ERROR_IO, "x"), SMURF_ERROR_IO);
    char *longer = malloc(5000);
    memset(longer, 'y', 4999);
    longer[4999] = '\0';
    smurf_fail(&err, SMURF_ERROR_INPUT, "%s", longer);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    free(longer);
}

static void errors_know_their_place(void **state)
{
    (void)state;
    smurf_error err;
    assert_int_equal(smurf_fail_at(&err, "a.csv", 7, "time %d\n", 3), SMURF_ERROR_INPUT);
    assert_string_equal(err.message, "a.csv:7: time 3?");
    assert_string_equal(err.file, "a.csv");
    assert_int_equal(err.line, 7);
    assert_int_equal(smurf_error_prefix(&err, SMURF_ERROR_INPUT, "in %s: ", "b"), SMURF_ERROR_INPUT);
    assert_string_equal(err.message, "in b: a.csv:7: time 3?");
    assert_int_equal(err.line, 7);
    smurf_fail_at(&err, "a.csv", 0, "x");
    assert_string_equal(err.message, "a.csv: x");
    assert_int_equal(err.line, 0);
    smurf_fail(&err, SMURF_ERROR_INPUT, "y"); /* the place of the last error is gone */
    assert_string_equal(err.file, "");
    smurf_fail_errno(&err, "open", "dir/a.csv", ENOENT);
    assert_string_equal(err.file, "dir/a.csv");

    smurf_fail_memory(&err); /* not about the input: left as it is */
    assert_int_equal(smurf_error_place(&err, SMURF_ERROR_MEMORY, "a.csv", 7), SMURF_ERROR_MEMORY);
    assert_string_equal(err.message, "out of memory");
    assert_string_equal(err.file, "");
    assert_int_equal(smurf_error_place(NULL, SMURF_ERROR_INPUT, "a.csv", 7), SMURF_ERROR_INPUT);
    assert_int_equal(smurf_fail_at(NULL, "a.csv", 7, "x"), SMURF_ERROR_INPUT);

    char name[600];
    memset(name, 'd', sizeof name);
    memcpy(name + 590, "/data.csv", 10);
    smurf_fail_at(&err, name, 1, "x");
    assert_int_equal(strlen(err.file), sizeof err.file - 1);
    assert_string_equal(err.file + strlen(err.file) - 9, "/data.csv");
}

static void system_errors_are_in_words(void **state)
{
    (void)state;
    smurf_error err;
    assert_int_equal(smurf_fail_errno(&err, "open", "a.csv", ENOENT), SMURF_ERROR_IO);
    assert_string_equal(err.message, "cannot open 'a.csv': no such file or directory");
    smurf_fail_errno(&err, "write", "a.csv", ENOSPC);
    assert_string_equal(err.message, "cannot write 'a.csv': no space left on device");
}

static int count_calls(void *context, const smurf_progress *p)
{
    int *calls = context;
    assert_string_equal(p->what, "counting");
    assert_string_equal(p->unit, "events");
    assert_true(p->done == *calls && p->total == 10);
    return ++*calls > 5;
}

static void progress_goes_on_until_told_to_stop(void **state)
{
    (void)state;
    int calls = 0;
    smurf_error err;
    struct progress progress = {count_calls, &calls, {"counting", "events", 0, 10}};
    for (int i = 0; i < 5; i++) assert_int_equal(smurf_progress_tell(&progress, i, &err), SMURF_OK);
    assert_int_equal(smurf_progress_tell(&progress, 5, &err), SMURF_ERROR_CANCELLED);
    assert_string_equal(err.message, "stopped while counting");
    progress.report = NULL;
    assert_int_equal(smurf_progress_tell(&progress, 6, &err), SMURF_OK);
}

static int stop_at_once(void *context, const smurf_progress *p)
{
    (void)p;
    ++*(int *)context;
    return 1;
}

static void simulation_and_writing_stop_when_told(void **state)
{
    (void)state;
    int calls = 0;
    smurf_error err;
    smurf_process *process;
    smurf_data *data;
    assert_int_equal(smurf_process_new(&process, "poisson", 1, NULL, 0, &err), SMURF_OK);
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = 3;
    config.until = 10;
    config.progress = stop_at_once;
    config.progress_context = &calls;
    assert_int_equal(smurf_process_simulate(&data, process, &config, &err), SMURF_ERROR_CANCELLED);
    assert_null(data);
    assert_int_equal(calls, 1);
    config.progress = NULL;
    assert_int_equal(smurf_process_simulate(&data, process, &config, &err), SMURF_OK);

    char path[] = "/tmp/smurf-unit-base-XXXXXX";
    assert_non_null(mkdtemp(path));
    static const char *const names[] = {"a.csv", "a.jsonl", "a.json", "a.pkl", "time.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s/%s", path, names[i]);
        smurf_write_config write;
        smurf_write_config_init(&write);
        write.progress = stop_at_once;
        write.progress_context = &calls;
        assert_int_equal(smurf_data_write(data, file, &write, &err), SMURF_ERROR_CANCELLED);
    }
    assert_int_equal(rmdir(path), 0); /* nothing was left in it */
    smurf_data_free(data);
    smurf_process_free(process);
}

/* ---- Random numbers -------------------------------------------------------------------------- */

/* The known answers of Random123 (kat_vectors, philox4x32 10). Counter words 0, 1 are our counter, 2, 3 the
   stream; the key is the seed; low words first. */
static void philox_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, counter;
        uint32_t out[4];
    } cases[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[4];
        smurf_philox(out, cases[i].seed, cases[i].stream, cases[i].counter);
        assert_memory_equal(out, cases[i].out, sizeof out);
    }
}

static void bits_walk_the_counter(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 5, 9);
    for (uint64_t block = 0; block < 100; block++) {
        uint32_t word[4];
        smurf_philox(word, 5, 9, block);
        assert_true(smurf_random_bits(&random) == ((uint64_t)word[1] << 32 | word[0]));
        assert_true(smurf_random_bits(&random) == ((uint64_t)word[3] << 32 | word[2]));
    }
}

enum { DRAWS = 1000000 };

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The distance of Kolmogorov and Smirnov times sqrt(n), below 2 but once in 1500. */
static void check_ks(double *x, double (*cdf)(double))
{
    qsort(x, DRAWS, sizeof *x, ascending);
    double worst = 0;
    for (int i = 0; i < DRAWS; i++) {
        double f = cdf(x[i]);
        worst = fmax(worst, fmax(f - (double)i / DRAWS, (double)(i + 1) / DRAWS - f));
    }
    assert_true(worst * sqrt(DRAWS) < 2);
}

/* The first four moments, each within five standard errors (of which `se` is one for each). */
static void check_moments(const double *x, const double want[4], const double sd[4])
{
    for (int k = 1; k <= 4; k++) {
        double sum = 0;
        for (int i = 0; i < DRAWS; i++) sum += pow(x[i], k);
        double got = sum / DRAWS;
        if (!(fabs(got - want[k - 1]) < 5 * sd[k - 1] / sqrt(DRAWS)))
            fail_msg("moment %d is %.17g, not %g", k, got, want[k - 1]);
    }
}

static double uniform_cdf(double x)
{
    return x;
}

static double exponential_cdf(double x)
{
    return -expm1(-x);
}

static double normal_cdf(double x)
{
    return erfc(-x * 0.70710678118654752440) / 2;
}

static void distributions(void **state)
{
    (void)state;
    struct random random;
    double *x = malloc(DRAWS * sizeof *x);
    assert_non_null(x);

    smurf_random_init(&random, 1, 0);
    for (int i = 0; i < DRAWS; i++) {
        x[i] = smurf_random_uniform(&random);
        assert_true(x[i] > 0 && x[i] < 1);
    }
    /* sd of u^k: sqrt(1/(2k+1) - 1/(k+1)^2) */
    check_moments(x, (double[]){1 / 2., 1 / 3., 1 / 4., 1 / 5.}, (double[]){0.289, 0.299, 0.284, 0.267});
    check_ks(x, uniform_cdf);

    smurf_random_init(&random, 1, 1);
    for (int i = 0; i < DRAWS; i++) {
        x[i] = smurf_random_exponential(&random);
        assert_true(x[i] > 0 && isfinite(x[i]));
    }
    /* sd of x^k: sqrt((2k)! - k!^2) */
    check_moments(x, (double[]){1, 2, 6, 24}, (double[]){1, 4.473, 26.16, 199.4});
    check_ks(x, exponential_cdf);

    smurf_random_init(&random, 1, 2);
    for (int i = 0; i < DRAWS; i++) {
        x[i] = smurf_random_normal(&random);
        assert_true(isfinite(x[i]));
    }
    check_moments(x, (double[]){0, 1, 0, 3}, (double[]){1, 1.415, 3.873, 9.798});
    check_ks(x, normal_cdf);
    free(x);
}

static void draws_are_not_correlated(void **state)
{
    (void)state;
    struct random a, b;
    smurf_random_init(&a, 1, 0);
    smurf_random_init(&b, 1, 1);
    double next = 0, across = 0, before = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = smurf_random_normal(&a), y = smurf_random_normal(&b);
        next += x * before;
        across += x * y;
        before = x;
    }
    assert_true(fabs(next) < 5 * sqrt(DRAWS));
    assert_true(fabs(across) < 5 * sqrt(DRAWS));
}

static void below_is_without_bias(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 3, 0);
    static const uint64_t sizes[] = {1, 2, 3, 7, 100, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint64_t n = sizes[s];
        double *count = calloc(n, sizeof *count), square = 0;
        for (int i = 0; i < DRAWS; i++) {
            uint64_t k = smurf_random_below(&random, n);
            assert_true(k < n);
            count[k]++;
        }
        double mean = (double)DRAWS / (double)n;
        for (uint64_t k = 0; k < n; k++) square += (count[k] - mean) * (count[k] - mean) / mean;
        assert_true(square - (double)(n - 1) < 5 * sqrt(2.0 * (double)n)); /* chi squared, n - 1 degrees of freedom */
        free(count);
    }
    /* 3 * 2^62 of 2^64: a remainder taken instead of a rejection would give the first quarter double weight.
     */
    uint64_t large = (uint64_t)3 << 62;
    int low = 0;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t k = smurf_random_below(&random, large);
        assert_true(k < large);
        low += k < large / 3;
    }
    assert_true(fabs(low - DRAWS / 3.0) < 5 * sqrt(DRAWS * 2 / 9.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_pieces_are_aligned_and_apart),
        cmocka_unit_test(arena_texts),
        cmocka_unit_test(arena_refuses_what_cannot_be),
        cmocka_unit_test(growing_keeps_what_is_there),
        cmocka_unit_test(workspace_pieces_are_aligned_and_apart),
        cmocka_unit_test(threads_are_bounded),
        cmocka_unit_test(names_are_numbered_in_order),
        cmocka_unit_test(names_hold_any_bytes),
        cmocka_unit_test(messages_are_one_line),
        cmocka_unit_test(errors_know_their_place),
        cmocka_unit_test(system_errors_are_in_words),
        cmocka_unit_test(progress_goes_on_until_told_to_stop),
        cmocka_unit_test(simulation_and_writing_stop_when_told),
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(bits_walk_the_counter),
        cmocka_unit_test(distributions),
        cmocka_unit_test(draws_are_not_correlated),
        cmocka_unit_test(below_is_without_bias),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
