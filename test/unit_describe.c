/* unit_describe.c - summaries, their words and their pages; clocks, time scales and dithering. */
#include "base/random.h"
#include "base/sort.h"
#include "data/builder.h"
#include "show_summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Data sets made by hand ------------------------------------------------------------------ */

static void push(struct builder *b, const double *time, const uint32_t *type, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(smurf_builder_time(b, time[i], NULL), SMURF_OK);
        assert_int_equal(smurf_builder_index(b, type ? type[i] : (uint32_t)(i % 2), NULL), SMURF_OK);
    }
}

static void close_sequence(struct builder *b, size_t first, double end)
{
    struct sequence_info info = {.start = NAN, .end = end, .first = first};
    assert_int_equal(smurf_builder_close(b, &info, NULL), SMURF_OK);
}

static smurf_data *finish(struct builder *b)
{
    smurf_data *data = NULL;
    assert_int_equal(smurf_builder_finish(b, &data, NULL), SMURF_OK);
    smurf_builder_release(b);
    return data;
}

/* One sequence; types 0, 1, 0, 1, ... */
static smurf_data *from_times(const double *time, size_t n)
{
    struct builder b = {.name = "hand-made", .declared = 2};
    push(&b, time, NULL, n);
    close_sequence(&b, 1, NAN);
    return finish(&b);
}

/* One sequence that starts at `start`, with the given gaps; each time is passed through `round` if there is
 * one. */
static smurf_data *from_gaps(double start, const double *gap, size_t n, double (*round_time)(double))
{
    double *time = malloc((n + 1) * sizeof *time), t = start;
    assert_non_null(time);
    for (size_t i = 0; i <= n; i++) {
        time[i] = round_time ? round_time(t) : t;
        if (i < n) t += gap[i];
    }
    smurf_data *data = from_times(time, n + 1);
    free(time);
    return data;
}

static smurf_summary summarise(const smurf_data *data, const smurf_data *train)
{
    smurf_summary s;
    assert_int_equal(smurf_data_summarise(&s, data, train, NULL), SMURF_OK);
    return s;
}

/* A program compiled against an older header has a shorter struct; nothing behind it is touched, nothing leaks. */
static void short_summaries_are_released(void **state)
{
    (void)state;
    const size_t sizes[] = {offsetof(smurf_summary, events), offsetof(smurf_summary, type_count),
                            offsetof(smurf_summary, length), offsetof(smurf_summary, warning),
                            sizeof(smurf_summary),           sizeof(smurf_summary) + 8};
    smurf_data *data = from_times((double[]){1, 1, 2, 5}, 4);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        union {
            smurf_summary summary;
            unsigned char byte[sizeof(smurf_summary) + 64];
        } given;
        memset(given.byte, 0xa5, sizeof given.byte);
        assert_int_equal(smurf_data_summarise_sized(&given.summary, sizes[i], data, NULL, NULL), SMURF_OK);
        assert_int_equal(given.summary.sequences, 1);
        smurf_summary_release_sized(&given.summary, sizes[i]);
        for (size_t k = sizes[i]; k < sizeof given.byte; k++) assert_int_equal(given.byte[k], 0xa5);
    }
    smurf_data_free(data);
}

/* Is there a warning with these words? */
static int warns(const smurf_data *data, const smurf_data *train, const char *words)
{
    smurf_summary s = summarise(data, train);
    int found = 0;
    for (size_t i = 0; i < s.warnings; i++) found += strstr(s.warning[i], words) != NULL;
    smurf_summary_release(&s);
    return found;
}

static void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fmax(fabs(a), fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

/* ---- Numbers of a summary -------------------------------------------------------------------- */

static void summary_counts(void **state)
{
    (void)state;
    struct builder b = {.name = "hand-made", .declared = 4};
    push(&b, (double[]){1, 1, 3, 7, 7}, (uint32_t[]){0, 2, 2, 0, 2}, 5);
    close_sequence(&b, 3, 10);
    close_sequence(&b, 1, NAN);
    push(&b, (double[]){-2.5, 0}, (uint32_t[]){2, 2}, 2);
    close_sequence(&b, 1, NAN);
    smurf_data *data = finish(&b);
    smurf_summary s = summarise(data, NULL);

    assert_int_equal(s.sequences, 3);
    assert_int_equal(s.empty_sequences, 1);
    assert_int_equal(s.events, 7);
    assert_int_equal(s.history, 3);
    assert_int_equal(s.scored, 3);
    assert_int_equal(s.ties, 1);
    assert_int_equal(s.windows_known, 1);
    assert_int_equal(s.types, 4);
    assert_int_equal(s.types_seen, 2);
    assert_int_equal(s.type_count[0], 1);
    assert_int_equal(s.type_count[2], 3);
    assert_int_equal(s.earliest.whole, -3);
    assert_true(s.earliest.fraction == 0.5);
    assert_int_equal(s.latest.whole, 7);
    assert_near(s.length_mean, 7 / 3., 1e-15);
    assert_near(s.gap_mean, 6.5 / 3, 1e-15); /* gaps 4, 0, 2.5 */
    assert_near(s.gap_sd, sqrt((16 + 6.25 - 6.5 * 6.5 / 3) / 2), 1e-14);
    assert_true(s.gap[0] == 0 && s.gap[8] == 4);
    assert_true(s.gap[4] == 2.5);
    size_t binned = 0;
    for (int i = 0; i < SMURF_BINS; i++) binned += s.bin[i];
    assert_int_equal(binned, 2);
    assert_near(pow(10, s.bin_low), 2.5, 1e-14);
    assert_near(pow(10, s.bin_high), 4, 1e-14);
    smurf_summary_release(&s);
    assert_null(s.type_count);
    smurf_data_free(data);
}

/* Selection in place gives what sorting gives, with many ties, at many sizes. */
static void summary_quantiles(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 1, 0);
    for (size_t n = 1; n < 3000; n = n * 3 / 2 + 1) {
        double *gap = malloc(n * sizeof *gap);
        assert_non_null(gap);
        for (size_t i = 0; i < n; i++) gap[i] = (double)smurf_random_below(&random, n % 3 ? 1000000 : 5);
        smurf_data *data = from_gaps(0, gap, n, NULL);
        smurf_summary s = summarise(data, NULL);
        smurf_sort(gap, n);
        for (int q = 0; q < SMURF_QUANTILES; q++) {
            double rank = (double)(n - 1) * smurf_quantile_levels[q];
            size_t k = (size_t)rank;
            double above = k + 1 < n ? gap[k + 1] : gap[k];
            assert_near(s.gap[q], gap[k] + (above - gap[k]) * (rank - (double)k), 1e-14);
        }
        smurf_summary_release(&s);
        smurf_data_free(data);
        free(gap);
    }
}

/* Few gaps span the whole axis, however far apart; of many, the outliers go to the outermost bins. */
static void summary_bins(void **state)
{
    (void)state;
    double gap[5000];
    smurf_data *few = from_gaps(0, (double[]){1, 1, 8.77e8}, 3, NULL);
    smurf_summary s = summarise(few, NULL);
    assert_true(s.bin_low == 0 && s.bin_high == log10(8.77e8));
    assert_true(s.bin[0] == 2 && s.bin[SMURF_BINS - 1] == 1 && s.bin_beyond == 0);
    smurf_summary_release(&s);
    smurf_data_free(few);

    for (int i = 0; i < 5000; i++) gap[i] = i == 0 ? 0x1p-20 : i == 1 ? 0x1p30 : 1 + i % 2;
    smurf_data *many = from_gaps(0, gap, 5000, NULL);
    s = summarise(many, NULL);
    assert_near(s.bin_low, -log10(2) / 20, 1e-14);
    assert_near(s.bin_high, log10(2) * 21 / 20, 1e-14);
    assert_true(s.bin_beyond == 2 && s.bin[0] == 1 && s.bin[SMURF_BINS - 1] == 1);
    smurf_summary_release(&s);
    smurf_data_free(many);
}

static void summary_of_nothing(void **state)
{
    (void)state;
    struct builder b = {.name = "hand-made"};
    smurf_data *data = finish(&b);
    smurf_summary s = summarise(data, data);
    assert_int_equal(s.events, 0);
    assert_true(isnan(s.gap[4]) && isnan(s.length[0]) && isnan(s.gap_mean) && isnan(s.bin_low));
    assert_true(s.tick == 0);
    assert_true(s.warnings == 1 && strstr(s.warning[0], "no events"));
    smurf_summary_release(&s);
    smurf_data_free(data);
}

/* ---- Warnings -------------------------------------------------------------------------------- */

static smurf_data *typed(uint32_t declared, const uint32_t *type, size_t n)
{
    static const double time[] = {0, 1, 3, 4, 6, 9, 10, 12};
    struct builder b = {.name = "hand-made", .declared = declared};
    push(&b, time, type, n);
    close_sequence(&b, 1, NAN);
    return finish(&b);
}

static void warns_of_types(void **state)
{
    (void)state;
    smurf_data *plain = typed(2, (uint32_t[]){0, 1, 0, 1}, 4);
    smurf_data *same = typed(1, (uint32_t[]){0, 0, 0, 0}, 4);
    smurf_data *ones = typed(4, (uint32_t[]){1, 2, 3, 1}, 4);
    smurf_data *codes = typed(505, (uint32_t[]){200, 404, 504, 200}, 4);
    smurf_data *hole = typed(4, (uint32_t[]){0, 1, 3, 1}, 4);
    assert_true(warns(same, NULL, "one type"));
    assert_true(warns(ones, NULL, "--types words to have 3 types instead of 4"));
    assert_true(warns(codes, NULL, "only 3 of the type numbers up to 504 occur"));
    assert_true(warns(hole, NULL, "1 of 4 types never occurs (2)"));
    assert_false(warns(hole, plain, "never occurs (2)"));
    assert_true(warns(hole, plain, "1 type never seen in train (3), in 1 event"));
    assert_true(warns(ones, plain, "2 types never seen in train (2, 3), in 2 events"));
    assert_false(warns(plain, hole, "never seen"));
    smurf_summary s = summarise(plain, NULL);
    assert_int_equal(s.warnings, 0);
    smurf_summary_release(&s);
    smurf_data_free(plain);
    smurf_data_free(same);
    smurf_data_free(ones);
    smurf_data_free(codes);
    smurf_data_free(hole);
}

static smurf_data *worded(const char *const *word, size_t n)
{
    struct builder b = {.name = "hand-made"};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(smurf_builder_time(&b, (double)(i * i), NULL), SMURF_OK);
        assert_int_equal(smurf_builder_type_word(&b, word[i], strlen(word[i]), NULL), SMURF_OK);
    }
    close_sequence(&b, 1, NAN);
    return finish(&b);
}

/* Types with names are compared by name, whatever their numbers; long lists and odd names stay readable. */
static void warns_of_named_types(void **state)
{
    (void)state;
    smurf_data *train = worded((const char *[]){"open", "close"}, 2);
    smurf_data *swapped = worded((const char *[]){"close", "open", "close"}, 3);
    smurf_data *many = worded((const char *[]){"a\nb", "b", "c", "d", "e", "open", "f"}, 7);
    smurf_data *wide = worded((const char *[]){"ääääääääääääääääääääääääääää", "b"}, 2);
    assert_false(warns(swapped, train, "never seen"));
    assert_true(warns(many, train, "6 types never seen in train (a?b, b, c, d and 2 more), in 6 events"));
    assert_true(warns(wide, train, "(ääääääääääää, b)"));
    smurf_data_free(train);
    smurf_data_free(swapped);
    smurf_data_free(many);
    smurf_data_free(wide);
}

static void warns_of_many_types(void **state)
{
    (void)state;
    struct builder b = {.name = "hand-made"};
    for (uint32_t i = 0; i < 30; i++) push(&b, &(double){i}, &i, 1);
    close_sequence(&b, 1, NAN);
    smurf_data *data = finish(&b);
    assert_true(warns(data, NULL, "30 types in 30 events"));
    smurf_data_free(data);
}

static void warns_of_gaps(void **state)
{
    (void)state;
    double jump[40];
    for (int i = 0; i < 40; i++) jump[i] = i < 39 ? i : 1e6;
    smurf_data *constant = from_times((double[]){0, .1, .2, .3, .4}, 5);
    smurf_data *tied = from_times((double[]){0, 0, 0, 5, 5, 5, 7}, 7);
    smurf_data *zero = from_times((double[]){5, 5, 5}, 3);
    smurf_data *outlier = from_times(jump, 40);
    assert_true(warns(constant, NULL, "every gap is 0.1:"));
    assert_true(warns(tied, NULL, "67% of the gaps are 0"));
    assert_true(warns(zero, NULL, "all gaps are 0"));
    assert_true(warns(outlier, NULL, "one gap of 1000000 makes up 100% of all time"));
    smurf_data_free(constant);
    smurf_data_free(tied);
    smurf_data_free(zero);
    smurf_data_free(outlier);
}

static void warns_of_sequences(void **state)
{
    (void)state;
    struct builder b = {.name = "hand-made", .declared = 2};
    push(&b, (double[]){1, 3}, NULL, 2);
    close_sequence(&b, 2, NAN);
    smurf_data *history = finish(&b);
    push(&b, (double[]){1, 3, 4}, NULL, 3);
    close_sequence(&b, 1, NAN);
    push(&b, (double[]){2}, NULL, 1);
    close_sequence(&b, 1, NAN);
    assert_int_equal(smurf_builder_remark(&b, NULL, "the reader %s", "sorted 3 events"), SMURF_OK);
    smurf_data *data = finish(&b);
    smurf_data *alone = from_times((double[]){2}, 1);
    assert_true(warns(history, NULL, "none is scored"));
    assert_false(warns(history, NULL, "never occur"));
    assert_true(warns(data, NULL, "1 of 2 sequences has fewer than two events"));
    assert_true(warns(data, NULL, "the reader sorted 3 events"));
    assert_true(warns(alone, NULL, "no sequence has two events"));
    smurf_data_free(history);
    smurf_data_free(data);
    smurf_data_free(alone);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

static char *page(const smurf_data *data, int width, int utf8, int json)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    smurf_summary s = summarise(data, NULL);
    if (json) {
        show_summary_json(out, "a \"title\"", data, &s);
    } else {
        show_summary(out, "train", data, &s, width, utf8);
    }
    smurf_summary_release(&s);
    fclose(out);
    return text;
}

static void pages_fit_their_width(void **state)
{
    (void)state;
    smurf_data *data = worded((const char *[]){"a\tname that is much longer than its column", "b", "ä"}, 3);
    for (int utf8 = 0; utf8 < 2; utf8++)
        for (int width = 70; width <= 110; width += 20) {
            char *text = page(data, width, utf8, 0);
            assert_non_null(strstr(text, "  sequences  1\n"));
            assert_non_null(strstr(text, "  time       0 to 4\n"));
            assert_non_null(strstr(text, "a?name that is much lon~"));
            int columns = 0;
            for (const char *c = text; *c; c++) {
                columns = *c == '\n' ? 0 : columns + (((unsigned char)*c & 0xc0) != 0x80);
                assert_true(columns <= width);
                assert_true(utf8 || c[0] != '#' || c[1] != '\t');
                assert_false(c[0] == ' ' && c[1] == '\n');
            }
            free(text);
        }
    smurf_data_free(data);
}

/* Durations in quantiles and on the axis, which fit whatever their size. */
static void pages_show_durations(void **state)
{
    (void)state;
    double time[300], t = 0;
    for (int i = 0; i < 300; i++) time[i] = t += pow(10, i % 12 - 3); /* 1 ms to 3 years */
    struct builder b = {.name = "hand-made", .unit = "s", .declared = 2};
    push(&b, time, NULL, 300);
    close_sequence(&b, 1, NAN);
    smurf_data *data = finish(&b);
    char *wide = page(data, 110, 0, 0), *narrow = page(data, 70, 0, 0);
    assert_non_null(strstr(wide, "    1 ms    1 ms    1 ms     1 s  17 min   6.4 d   3.2 y   3.2 y   3.2 y\n"));
    assert_non_null(strstr(wide, "1%      5%     25%  median     75%     95%     99%     max\n"));
    assert_non_null(strstr(narrow, "     min      5%     25%  median     75%     95%     max\n"));
    assert_non_null(strstr(wide, "\n  distribution of gaps (logarithmic)\n"));
    assert_non_null(strstr(narrow, "\n    1 ms 100 ms  10 s  10 min 10 h 10 d  1 y\n"));
    for (const char *line = narrow; *line; line = strchr(line, '\n') + 1) assert_true(strcspn(line, "\n") <= 70);
    free(wide);
    free(narrow);
    smurf_data_free(data);
}

/* Is the line on the page of the data set? */
static int shows(const smurf_data *data, const char *line)
{
    char *text = page(data, 80, 1, 0);
    int found = strstr(text, line) != NULL;
    free(text);
    return found;
}

static void pages_speak_well(void **state)
{
    (void)state;
    struct builder b = {.name = "hand-made", .unit = "days", .declared = 123456};
    push(&b, (double[]){0, 1, 3, 4}, (uint32_t[]){7, 7, 7, 123455}, 4);
    close_sequence(&b, 1, NAN);
    smurf_data *sparse = finish(&b);
    assert_true(shows(sparse, "ticks of 1 d, no ties\n"));
    assert_true(shows(sparse, "types      123,456, of which 2 occur\n"));
    assert_true(shows(sparse, "\n         7  3   75.0%"));
    assert_true(shows(sparse, "\n    123455  1   25.0%"));
    assert_false(shows(sparse, "history"));
    smurf_data_free(sparse);

    b.unit = "days", b.declared = 2;
    push(&b, (double[]){0, 1, 3}, (uint32_t[]){0, 0, 1}, 3);
    close_sequence(&b, 2, NAN);
    smurf_data *cut = finish(&b);
    assert_true(shows(cut, "gaps       1\n  history    2 events before the scored ones, not included here\n"));
    assert_true(shows(cut, "types      2, of which 1 occurs\n"));
    assert_true(shows(cut, "gaps: mean 2 d\n"));
    smurf_data_free(cut);

    b.unit = "days";
    push(&b, (double[]){0, 1, 2}, NULL, 3);
    close_sequence(&b, 1, NAN);
    smurf_data *even = finish(&b);
    assert_true(warns(even, NULL, "every gap is 1 d:"));
    smurf_data_free(even);

    b.unit = "steps";
    push(&b, (double[]){0, 1, 3}, NULL, 3);
    close_sequence(&b, 1, NAN);
    smurf_data *steps = finish(&b);
    assert_true(shows(steps, "ticks of 1 step, no ties\n"));
    assert_true(shows(steps, "gaps in steps: mean 1.5, standard deviation 0.707\n"));
    assert_true(shows(steps, "distribution of gaps, in steps (logarithmic)\n"));
    smurf_data_free(steps);

    double gap[2000];
    for (int i = 0; i < 2000; i++) gap[i] = i ? 1 + i % 3 : 1e6;
    smurf_data *outlier = from_gaps(0, gap, 2000, NULL);
    assert_true(shows(outlier, "    the outermost bars include all gaps beyond\n"));
    smurf_data_free(outlier);
}

static void json_is_exact(void **state)
{
    (void)state;
    smurf_data *data = worded((const char *[]){"say \"hi\"\n", "\xff\xc3\xa4", "b"}, 3);
    char *text = page(data, 80, 1, 1);
    assert_non_null(strstr(text, "{\"title\":\"a \\\"title\\\"\",\"source\":\"hand-made\""));
    assert_non_null(strstr(text, "\"type_names\":[\"say \\\"hi\\\"\\u000a\",\"\xc3\xbf\xc3\x83\xc2\xa4\",\"b\"]"));
    assert_non_null(strstr(text, "\"gap\":[1,1.02,1.1,1.5,2,2.5,2.9,2.98,3]"));
    assert_non_null(strstr(text, "\"earliest\":0,\"latest\":4"));
    free(text);
    smurf_data_free(data);
    struct builder b = {.name = "nothing"};
    data = finish(&b);
    text = page(data, 80, 1, 1);
    assert_non_null(strstr(text, "\"gap_mean\":null"));
    assert_non_null(strstr(text, "\"earliest\":null"));
    free(text);
    smurf_data_free(data);
}

static void moments_as_text(void **state)
{
    (void)state;
    char text[MOMENT_TEXT];
    assert_string_equal(moment_text(text, (smurf_moment){1704067200, .25}, 1), "2024-01-01T00:00:00.25Z");
    assert_string_equal(moment_text(text, (smurf_moment){-1, 0}, 1), "1969-12-31T23:59:59Z");
    assert_string_equal(moment_text(text, (smurf_moment){12, .5}, 0), "12.5");
    assert_string_equal(moment_text(text, (smurf_moment){-3, .5}, 0), "-2.5");
    assert_string_equal(moment_text(text, (smurf_moment){-1, .25}, 0), "-0.75");
    assert_string_equal(moment_text(text, (smurf_moment){-3, 0}, 0), "-3");
    assert_string_equal(moment_text(text, (smurf_moment){INT64_MAX, 0}, 0), "9223372036854775807");
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

static double nine_decimals(double t)
{
    char text[64];
    snprintf(text, sizeof text, "%.9f", t);
    return strtod(text, NULL);
}

static double as_float(double t)
{
    return (float)t;
}

static double in_seventeen_digits(double t)
{
    return t;
}

/* n gaps of a heavy-tailed law, rounded to whole steps (0 where step is 0: not rounded). */
static double tick_of(double start, double step, double mean, size_t n, double (*round_time)(double))
{
    struct random random;
    smurf_random_init(&random, 7, n);
    double *gap = malloc(n * sizeof *gap);
    assert_non_null(gap);
    for (size_t i = 0; i < n; i++) {
        gap[i] = mean * exp(2 * smurf_random_normal(&random));
        if (step > 0) gap[i] = step * rint(gap[i] / step);
    }
    smurf_data *data = from_gaps(start, gap, n, round_time);
    double tick = smurf_data_tick(data);
    smurf_data_free(data);
    free(gap);
    return tick;
}

static void ticks_of_decimal_clocks(void **state)
{
    (void)state;
    static const size_t sizes[] = {30, 100, 3000, 150000};
    for (int i = 0; i < 4; i++) {
        assert_true(tick_of(0, 1, 30, sizes[i], NULL) == 1);
        assert_true(tick_of(1e6, 60, 600, sizes[i], NULL) == 60);
        assert_true(tick_of(0, .25, 10, sizes[i], NULL) == .25);
        assert_true(tick_of(0, .001, .02, sizes[i], nine_decimals) == .001);
        assert_true(tick_of(0, 1e6, 1e8, sizes[i], NULL) == 1e6); /* 1 ms in ns after the origin */
    }
}

static void ticks_of_ratio_clocks(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 3000, 150000};
    for (int i = 0; i < 3; i++) {
        assert_near(tick_of(0, 1 / 60000., .0002, sizes[i], nine_decimals), 1 / 60000., 1e-12);
        assert_near(tick_of(0, 1 / 52., .3, sizes[i], nine_decimals), 1 / 52., 1e-12);
        assert_near(tick_of(1, 1 / 52., .3, sizes[i], in_seventeen_digits), 1 / 52., 1e-12);
        assert_near(tick_of(0, 7 / 3., 50, sizes[i], in_seventeen_digits), 7 / 3., 1e-12);
    }
    assert_near(tick_of(0, 1 / 52., .3, 100, as_float), 1 / 52., 1e-6);
    assert_near(tick_of(0, .1, 1, 500, as_float), .1, 1e-6);
}

static void continuous_times_have_no_tick(void **state)
{
    (void)state;
    for (size_t n = 1; n < 300000; n = n * 4 + 1) {
        assert_true(tick_of(0, 0, 1, n, NULL) == 0);
        assert_true(tick_of(0, 0, 1e-6, n, NULL) == 0);
        assert_true(tick_of(1234.5, 0, 3000, n, NULL) == 0);
    }
    assert_true(tick_of(0, 0, 1, 1000, as_float) == 0);
    assert_true(tick_of(0, 0, 1, 1000, nine_decimals) == 1e-9); /* the last decimal is a clock too */
}

static double tick_of_times(const double *time, size_t n)
{
    smurf_data *data = from_times(time, n);
    double tick = smurf_data_tick(data);
    smurf_data_free(data);
    return tick;
}

static void ticks_of_few_gaps(void **state)
{
    (void)state;
    assert_true(tick_of_times(NULL, 0) == 0);
    assert_true(tick_of_times((double[]){5}, 1) == 0);
    assert_true(tick_of_times((double[]){5, 5, 5}, 3) == 0);
    /* Too few to tell a coarse clock from chance: the last decimal. */
    assert_true(tick_of_times((double[]){0, 37.5}, 2) == .1);
    assert_true(tick_of_times((double[]){0, 30, 90}, 3) == 1);
    double metronome[1000];
    for (int i = 0; i < 1000; i++) metronome[i] = 10 * i;
    assert_true(tick_of_times(metronome, 1000) == 1);
}

static void ticks_despite_outliers(void **state)
{
    (void)state;
    double time[5000];
    for (int i = 0; i < 5000; i++) time[i] = 7 * i + i % 5;
    time[2500] += .123456;
    assert_true(tick_of_times(time, 5000) == 1);
}

static void ticks_of_real_data(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        double tick;
    } set[] = {{"financial/dev.jsonl", 1 / 60000.}, {"mimic2/dev.jsonl", 1 / 52.},
               {"mimic2_pickle/dev.pkl", 1 / 52.},  {"retweet/dev.jsonl", 1},
               {"stackoverflow/dev.jsonl", 1e-9},   {"taobao_pickle/dev.pkl", 0}};
    const char *root = getenv("SMURF_ROOT");
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        char path[4096];
        smurf_data *data;
        smurf_error err;
        snprintf(path, sizeof path, "%s/../shared/data/%s", root ? root : ".", set[i].path);
        smurf_status status = smurf_data_read(&data, path, NULL, &err);
        if (status == SMURF_ERROR_IO) skip();
        if (status) fail_msg("%s", err.message);
        assert_near(smurf_data_tick(data), set[i].tick, 1e-6);
        smurf_data_free(data);
    }
}

/* ---- Time scales ----------------------------------------------------------------------------- */

static void scale_of_known_numbers(void **state)
{
    (void)state;
    struct builder b = {.name = "hand-made", .declared = 2};
    push(&b, (double[]){0, 100, 101, 103, 107}, NULL, 5); /* scored gaps 1, 2, 4; the 100 is history */
    close_sequence(&b, 2, NAN);
    smurf_data *data = finish(&b);
    smurf_scale scale;
    assert_int_equal(smurf_scale_fit(&scale, SMURF_SCALE_LOG, data, NULL), SMURF_OK);
    assert_near(scale.mean, 7 / 3., 1e-15);
    assert_near(scale.mu, log(2 / scale.mean), 1e-7);
    assert_near(scale.sd, log(2) * sqrt(2 / 3.), 1e-7);
    assert_near(smurf_scale_forward(&scale, 4), sqrt(1.5), 1e-7);
    smurf_data_free(data);
}

static void scales_invert(void **state)
{
    (void)state;
    smurf_data *data = from_times((double[]){0, 0, .1, 5, 5.5, 200}, 6);
    for (int kind = SMURF_SCALE_NONE; kind <= SMURF_SCALE_LOG; kind++) {
        smurf_scale scale;
        assert_int_equal(smurf_scale_fit(&scale, (smurf_scale_kind)kind, data, NULL), SMURF_OK);
        double before = smurf_scale_forward(&scale, 0);
        assert_true(isfinite(before) && isfinite(smurf_scale_log_slope(&scale, 0)));
        assert_true(smurf_scale_backward(&scale, before) >= 0 && smurf_scale_backward(&scale, before) < 1e-20);
        assert_true(smurf_scale_backward(&scale, before - 10) == 0);
        for (double gap = 1e-6; gap < 1e7; gap *= 1.7) {
            double y = smurf_scale_forward(&scale, gap), h = 1e-4 * gap;
            assert_true(y > before);
            assert_near(smurf_scale_backward(&scale, y), gap, gap < 1e-3 ? 1e-9 : 1e-12);
            double slope = (smurf_scale_forward(&scale, gap + h) - smurf_scale_forward(&scale, gap - h)) / (2 * h);
            assert_near(exp(smurf_scale_log_slope(&scale, gap)), slope, 1e-7);
            before = y;
        }
    }
    smurf_data_free(data);
}

static void scales_that_cannot_be(void **state)
{
    (void)state;
    smurf_scale scale;
    smurf_error err;
    smurf_data *constant = from_times((double[]){0, .1, .2, .3, .4, .5, .6, .7}, 8);
    smurf_data *zero = from_times((double[]){5, 5, 5}, 3), *alone = from_times((double[]){5}, 1);
    assert_int_equal(smurf_scale_fit(&scale, SMURF_SCALE_LOG, constant, &err), SMURF_OK);
    assert_true(scale.sd == 1);
    assert_near(scale.mean, .1, 1e-14);
    assert_int_equal(smurf_scale_fit(&scale, SMURF_SCALE_MEAN, zero, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "all gaps of 'hand-made' are 0"));
    assert_int_equal(smurf_scale_fit(&scale, SMURF_SCALE_LOG, alone, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "no gaps"));
    assert_int_equal(smurf_scale_fit(&scale, (smurf_scale_kind)9, constant, NULL), SMURF_ERROR_ARGUMENT);
    smurf_data_free(constant);
    smurf_data_free(zero);
    smurf_data_free(alone);
}

/* ---- Dithering ------------------------------------------------------------------------------- */

enum { MANY = 20000 };

/* Two sequences on a clock of whole seconds: gaps 0, 1, 2, 0, 1, 2, ...; known start and end. */
static smurf_data *ticking(void)
{
    struct builder b = {.name = "hand-made", .declared = 5, .unit = "s"};
    for (int q = 0; q < 2; q++) {
        double t = 3;
        for (uint32_t i = 0; i < MANY; t += i++ % 3) push(&b, &t, &(uint32_t){i % 4}, 1);
        struct sequence_info info = {
            .origin = q * 1700000000, .start = 1, .end = t + 5, .first = 2, .name = q ? "b" : "a"};
        assert_int_equal(smurf_builder_close(&b, &info, NULL), SMURF_OK);
    }
    return finish(&b);
}

static void dither_keeps_the_rest(void **state)
{
    (void)state;
    smurf_data *data = ticking(), *out;
    assert_int_equal(smurf_data_dither(&out, data, 1, 42, NULL), SMURF_OK);
    assert_int_equal(smurf_data_sequences(out), 2);
    assert_int_equal(smurf_data_types(out), 5);
    assert_string_equal(smurf_data_unit(out), "s");
    for (size_t q = 0; q < 2; q++) {
        const smurf_sequence *a = smurf_data_sequence(data, q), *b = smurf_data_sequence(out, q);
        assert_true(a->length == b->length && a->first == b->first && a->origin == b->origin);
        assert_string_equal(a->name, b->name);
        assert_memory_equal(a->type, b->type, a->length * sizeof *a->type);
        assert_true(a->time[0] == b->time[0] && a->start == b->start);
        assert_near(b->end - b->time[b->length - 1], a->end - a->time[a->length - 1], 1e-11);
    }
    smurf_data_free(data);
    smurf_data_free(out);
}

static void dither_is_a_function_of_its_seed(void **state)
{
    (void)state;
    smurf_data *data = ticking(), *a, *b, *c;
    assert_int_equal(smurf_data_dither(&a, data, 1, 42, NULL), SMURF_OK);
    assert_int_equal(smurf_data_dither(&b, data, 1, 42, NULL), SMURF_OK);
    assert_int_equal(smurf_data_dither(&c, data, 1, 43, NULL), SMURF_OK);
    const double *x = smurf_data_sequence(a, 1)->time, *y = smurf_data_sequence(b, 1)->time;
    assert_memory_equal(x, y, MANY * sizeof *x);
    assert_true(x[100] != smurf_data_sequence(c, 1)->time[100]);
    assert_true(x[100] != smurf_data_sequence(a, 0)->time[100]);
    smurf_data_free(data);
    smurf_data_free(a);
    smurf_data_free(b);
    smurf_data_free(c);
}

/* The spread is uniform: Kolmogorov-Smirnov below its 0.1% point, for ties and for gaps of one or more ticks.
 */
static void dither_is_uniform(void **state)
{
    (void)state;
    smurf_data *data = ticking(), *out;
    assert_int_equal(smurf_data_dither(&out, data, 1, 42, NULL), SMURF_OK);
    const smurf_sequence *a = smurf_data_sequence(data, 0), *b = smurf_data_sequence(out, 0);
    for (int size = 0; size < 3; size++) {
        double u[MANY], distance = 0;
        size_t n = 0;
        for (size_t i = 1; i < MANY; i++) {
            double gap = b->time[i] - b->time[i - 1];
            if ((int)(a->time[i] - a->time[i - 1]) != size) continue;
            assert_true(gap > 0);
            u[n++] = size == 0 ? 2 * gap : gap - size + .5;
        }
        smurf_sort(u, n);
        assert_true(n > MANY / 4 && u[0] > -1e-9 && u[n - 1] < 1 + 1e-9);
        for (size_t i = 0; i < n; i++) distance = fmax(distance, fabs(u[i] - ((double)i + .5) / (double)n));
        assert_true(distance < 1.95 / sqrt((double)n));
    }
    smurf_data_free(data);
    smurf_data_free(out);
}

/* Gaps shorter than half a tick, and ties far from the origin, stay positive all the same. */
static void dithered_gaps_are_positive(void **state)
{
    (void)state;
    double time[600];
    for (int i = 0; i < 600; i++) time[i] = 1e15 + i / 300;
    for (int far = 0; far < 2; far++) {
        for (int i = 0; i < 600 && !far; i++) time[i] = .01 * i;
        smurf_data *data = from_times(time, 600), *out;
        assert_int_equal(smurf_data_dither(&out, data, far ? 1e-6 : 1, 1, NULL), SMURF_OK);
        const double *t = smurf_data_sequence(out, 0)->time;
        for (int i = 1; i < 600; i++) assert_true(t[i] > t[i - 1] && (far || t[i] - t[i - 1] < .0201));
        smurf_data_free(data);
        smurf_data_free(out);
        for (int i = 0; i < 600; i++) time[i] = 1e15 + i / 300;
    }
}

static void dither_refuses(void **state)
{
    (void)state;
    smurf_data *data = ticking(), *out;
    smurf_error err;
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(smurf_data_dither(&out, data, bad[i], 1, &err), SMURF_ERROR_ARGUMENT);
        assert_null(out);
        assert_non_null(strstr(err.message, "the tick must be a positive number"));
    }
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_summaries_are_released),
        cmocka_unit_test(summary_counts),
        cmocka_unit_test(summary_quantiles),
        cmocka_unit_test(summary_bins),
        cmocka_unit_test(pages_show_durations),
        cmocka_unit_test(pages_speak_well),
        cmocka_unit_test(summary_of_nothing),
        cmocka_unit_test(warns_of_types),
        cmocka_unit_test(warns_of_named_types),
        cmocka_unit_test(warns_of_many_types),
        cmocka_unit_test(warns_of_gaps),
        cmocka_unit_test(warns_of_sequences),
        cmocka_unit_test(pages_fit_their_width),
        cmocka_unit_test(json_is_exact),
        cmocka_unit_test(moments_as_text),
        cmocka_unit_test(ticks_of_decimal_clocks),
        cmocka_unit_test(ticks_of_ratio_clocks),
        cmocka_unit_test(continuous_times_have_no_tick),
        cmocka_unit_test(ticks_of_few_gaps),
        cmocka_unit_test(ticks_despite_outliers),
        cmocka_unit_test(ticks_of_real_data),
        cmocka_unit_test(scale_of_known_numbers),
        cmocka_unit_test(scales_invert),
        cmocka_unit_test(scales_that_cannot_be),
        cmocka_unit_test(dither_keeps_the_rest),
        cmocka_unit_test(dither_is_a_function_of_its_seed),
        cmocka_unit_test(dither_is_uniform),
        cmocka_unit_test(dithered_gaps_are_positive),
        cmocka_unit_test(dither_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
