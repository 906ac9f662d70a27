/* unit_data.c - readers, splits and windows through the public interface, from memory. */
#include "smurf_lab.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static smurf_data *read_with(const char *text, size_t size, const smurf_read_config *config)
{
    smurf_data *data = NULL;
    smurf_error err;
    if (smurf_data_read_memory(&data, text, size, "memory.x", config, &err)) fail_msg("%s", err.message);
    return data;
}

static smurf_data *read_text(const char *text)
{
    return read_with(text, strlen(text), NULL);
}

/* Without taking numbers for dates. */
static smurf_data *read_numbers(const char *text)
{
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.time_format = "number";
    return read_with(text, strlen(text), &config);
}

/* The text must be refused with a message that has all of the words (separated by '|') in it. */
static void refuse(const char *text, const char *words)
{
    smurf_data *data = (smurf_data *)&data;
    smurf_error err = {0};
    smurf_read_config strict;
    smurf_read_config_init(&strict);
    strict.sort = 0;
    strict.missing = "fail";
    assert_int_equal(smurf_data_read_memory(&data, text, strlen(text), "memory.x", &strict, &err), SMURF_ERROR_INPUT);
    assert_null(data);
    assert_int_equal(err.status, SMURF_ERROR_INPUT);
    char place[64] = "memory.x: ";
    if (err.line) snprintf(place, sizeof place, "memory.x:%" PRIu64 ": ", err.line);
    assert_string_equal(err.file, "memory.x");
    if (strncmp(err.message, place, strlen(place)) != 0) fail_msg("'%s' is not at %s", err.message, place);
    char *copy = strdup(words), *rest = copy, *word;
    while ((word = strsep(&rest, "|")))
        if (!strstr(err.message, word)) fail_msg("'%s' does not say '%s'", err.message, word);
    free(copy);
    assert_int_equal(smurf_data_read_memory(&data, text, strlen(text), NULL, &strict, NULL),
                     SMURF_ERROR_INPUT); /* err may be NULL */
}

static void check_sequence(const smurf_data *data, size_t index, const char *name, size_t length, const double *time,
                           const uint32_t *type)
{
    const smurf_sequence *s = smurf_data_sequence(data, index);
    assert_non_null(s);
    assert_int_equal(s->length, length);
    if (name)
        assert_string_equal(s->name, name);
    else
        assert_null(s->name);
    for (size_t i = 0; i < length; i++) {
        if ((double)s->origin + s->time[i] != time[i] || s->type[i] != type[i])
            fail_msg("event %zu of sequence %zu: %.17g, type %u", i, index, (double)s->origin + s->time[i], s->type[i]);
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void json_shapes(void **state)
{
    (void)state;
    static const char *const same[] = {
        "{\"time_since_start\":[0,1.5],\"type_event\":[2,0]}\n{\"time_since_start\":[3],\"type_event\":[1]}",
        "[{\"time_since_start\":[0,1.5],\"type_event\":[2,0]},{\"time_since_start\":[3],\"type_event\":[1]}]",
        "{\"times\":[0,1.5],\"types\":[2,0]} {\"types\":[1],\"times\":[3]}",
        "{\"dim_process\":3,\"train\":[{\"times\":[0,1.5],\"types\":[2,0]},{\"times\":[3],\"types\":[1]}]}",
        "[[{\"time\":0,\"type\":2},{\"time\":1.5,\"type\":0}],[{\"time\":3,\"type\":1}]]",
        "\xEF\xBB\xBF \r\n[ [ { \"times\" : [ 0 , 1.5e0 ] , \"types\" : [ 2.0 , 0 ] } ] , { "
        "\"times\":[3],\"types\":[1]} ] \n",
        "{\"time_since_last_event\":[0,1.5],\"type_event\":[2,0]}{\"time_since_last_event\":[3],\"type_"
        "event\":[1]}",
        "{\"timestamps\":[\"0\",\"1.5\"],\"marks\":[2,0],\"x\":{\"times\":[[9]]}}{\"timestamps\":[3],"
        "\"marks\":[1]}",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        smurf_data *data = read_text(same[i]);
        assert_int_equal(smurf_data_sequences(data), 2);
        assert_int_equal(smurf_data_types(data), 3);
        check_sequence(data, 0, NULL, 2, (double[]){0, 1.5}, (uint32_t[]){2, 0});
        check_sequence(data, 1, NULL, 1, (double[]){3}, (uint32_t[]){1});
        assert_null(smurf_data_sequence(data, 2));
        assert_int_equal(smurf_data_events(data), 3);
        assert_int_equal(smurf_data_gaps(data), 1);
        assert_string_equal(smurf_data_source(data), "memory.x");
        assert_null(smurf_data_remark(data, 0));
        assert_true(isnan(smurf_data_sequence(data, 0)->end));
        smurf_data_free(data);
    }
}

static void json_long_arrays(void **state)
{
    (void)state;
    enum { N = 300000 }; /* larger than the window, so that numbers lie across its edges */
    char *text = malloc((size_t)N * 40), *p = text;
    p += sprintf(p, "{\"times\":[");
    for (int i = 0; i < N; i++) p += sprintf(p, i % 3 ? "%d.%d," : " %d.%d ,", i, i % 10);
    p[-1] = ']';
    p += sprintf(p, ",\"types\":[");
    for (int i = 0; i < N; i++) p += sprintf(p, i % 5 ? "%d," : "%d, ", i % 13);
    p[p[-1] == ' ' ? -2 : -1] = ']';
    p += sprintf(p, "}");
    smurf_data *data = read_text(text);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_int_equal(s->length, N);
    for (int i = 0; i < N; i++) {
        char number[32];
        snprintf(number, sizeof number, "%d.%d", i, i % 10);
        assert_true(s->time[i] == strtod(number, NULL));
        assert_int_equal(s->type[i], i % 13);
    }
    smurf_data_free(data);
    free(text);
}

/* Every place of an array where the window may end must give the same data. */
static void json_across_the_window(void **state)
{
    (void)state;
    enum { WINDOW = 64 * 1024 };
    static const double time[] = {0, 7, 12, 1234567, 12345678, 12345678.5, 12345679.123456789, 1e15};
    static const uint32_t type[] = {0, 10, 9, 100, 9999999, 10000000, 1, 21};
    char *text = malloc(2 * WINDOW);
    for (size_t shift = 0; shift < 160; shift++) {
        char *p = text;
        p += sprintf(p, "{\"note\":\"");
        while ((size_t)(p - text) < WINDOW - 160 + shift) *p++ = 'n';
        sprintf(p, "\",\"times\":[0, 7, 12, 1234567, 12345678, 12345678.5, 12345679.123456789, 1e15],"
                   "\"types\":[0, 10, 9, 100, 9999999, 10000000, 1, 21]}\n");
        smurf_data *data = read_text(text);
        check_sequence(data, 0, NULL, 8, time, type);
        smurf_data_free(data);
    }
    free(text);
}

static void json_long_gaps(void **state)
{
    (void)state;
    enum { N = 1000 };
    char *text = malloc((size_t)N * 20), *p = text;
    p += sprintf(p, "{\"time_since_last_event\":[0");
    for (int i = 1; i < N; i++) p += sprintf(p, i % 7 ? ", %d.5" : ", %de0", i);
    sprintf(p, "]}");
    smurf_data *data = read_text(text);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    double time = 0;
    assert_int_equal(s->length, N);
    for (int i = 1; i < N; i++) assert_true(s->time[i] == (time += i % 7 ? i + 0.5 : i));
    smurf_data_free(data);
    free(text);
}

/* The fast way through an array leaves what is wrong, and its place, to the scanner. */
static void json_arrays_with_mistakes(void **state)
{
    (void)state;
    refuse("{\"times\":[1,2,]}", "memory.x:1:|times, entry 3: |trailing comma before ']'");
    refuse("\n{\"times\":[1, 2, ]}", "memory.x:2:|times, entry 3: |trailing comma before ']'");
    refuse("{\"times\":[1,2,,3]}", "times, entry 3: |expected a number but found ','");
    refuse("{\"times\":[1,2 3]}", "times, entry 3: |expected ',' or ']' but found '3'");
    refuse("{\"times\":[1,2,03,4]}", "times, entry 3: |expected a number but found '0'");
    refuse("{\"times\":[1,2,3.,4]}", "times, entry 3: |expected a number but found '3'");
    refuse("{\"times\":[1,2,NaN,4]}", "times, entry 3: |expected a finite number but found 'NaN'");
    refuse("{\"times\":[1,2,3", "times, entry 4: |the file ends inside a value");
    refuse("{\"times\":[1,2,", "times, entry 3: |the end of the file");
    refuse("{\"times\":[1,2,9007199254740992,4]}", "times, entry 3: |2^53 or more");
    refuse("{\"time_since_last_event\":[0,1,]}", "time_since_last_event, entry 3: |trailing comma before ']'");
    refuse("{\"time_since_last_event\":[0,1,\"2\",3]}", "time_since_last_event, entry 3: |expected a number");
    refuse("{\"times\":[1,2,3,4],\"types\":[1,2,]}", "types, entry 3: |trailing comma before ']'");
    refuse("{\"times\":[1,2,3,4],\"types\":[1,2,01,4]}", "types, entry 3: |expected a number but found '0'");
    refuse("{\"times\":[1,2,3,4],\"types\":[1,2,-3,4]}", "types, entry 3: |type -3 is out of range");
    refuse("{\"times\":[1,2,3,4],\"types\":[1,2,16777216,4]}", "types, entry 3: |type 16777216 is out of range");
    refuse("{\"times\":[1,2,3,4],\"types\":[1,2,3.5,4]}", "types, entry 3: |type 3.5 is out of range");
}

static void csv_features(void **state)
{
    (void)state;
    static const char *const same[] = {
        "sequence,time,type\na,1,x\nb,2,y\na,3,\"y\"\n",
        "\xEF\xBB\xBFsequence;time;type\r\na;1;x\r\n\r\nb;2;y\r\na;3;y",
        "type\tnote\ttime\tsequence\nx\t\t1\ta\ny\t\t2\tb\ny\t\t3\ta\n",
        "\"Time\"|\"TYPE\"|\"User\"\n 1 | x | a \n\"2\"|\"y\"|\"b\"\n3|y|a\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        smurf_data *data = read_text(same[i]);
        assert_int_equal(smurf_data_sequences(data), 2);
        check_sequence(data, 0, "a", 2, (double[]){1, 3}, (uint32_t[]){0, 1});
        check_sequence(data, 1, "b", 1, (double[]){2}, (uint32_t[]){1});
        assert_string_equal(smurf_data_type_name(data, 0), "x");
        assert_string_equal(smurf_data_type_name(data, 1), "y");
        assert_null(smurf_data_type_name(data, 2));
        smurf_data_free(data);
    }
}

/* Every place where the window may end must give the same data: quotes, line ends, numbers. */
static void csv_across_the_window(void **state)
{
    (void)state;
    enum { WINDOW = 64 * 1024 };
    const char *row = "\"se\"\"q\",7,\"t,\ny\"\r\n";
    char *text = malloc(2 * WINDOW);
    for (size_t shift = 0; shift < 40; shift++) {
        char *p = text;
        p += sprintf(p, "sequence,time,type,");
        while ((size_t)(p - text) < WINDOW - 60 + shift) *p++ = 'n'; /* a column with a long name */
        *p++ = '\n';
        for (int i = 0; i < 3; i++) p += sprintf(p, "%.*s,\r\n", (int)strlen(row) - 2, row);
        *p = '\0';
        smurf_data *data = read_text(text);
        check_sequence(data, 0, "se\"q", 3, (double[]){7, 7, 7}, (uint32_t[]){0, 0, 0});
        assert_string_equal(smurf_data_type_name(data, 0), "t,\ny");
        smurf_data_free(data);
    }
    free(text);
}

static void types_become_words_when_one_is(void **state)
{
    (void)state;
    smurf_data *data = read_text("time,type\n1,30\n2,2\n3,login\n4,2\n5,9\n");
    assert_int_equal(smurf_data_types(data), 4);
    check_sequence(data, 0, NULL, 5, (double[]){1, 2, 3, 4, 5}, (uint32_t[]){0, 1, 2, 1, 3});
    assert_string_equal(smurf_data_type_name(data, 0), "30");
    assert_string_equal(smurf_data_type_name(data, 3), "9");
    smurf_data_free(data);
}

static void config_is_followed(void **state)
{
    (void)state;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.time_column = "when";
    config.type_column = "what";
    config.sequence_column = "who";
    config.unit = "h";
    config.types_are_words = 1;
    config.sort = 1;
    const char *text = "time,when,what,who\n9,2,5,a\n9,1,7,a\n";
    smurf_data *data = read_with(text, strlen(text), &config);
    check_sequence(data, 0, "a", 2, (double[]){1, 2}, (uint32_t[]){1, 0});
    assert_string_equal(smurf_data_type_name(data, 0), "5");
    assert_string_equal(smurf_data_unit(data), "h");
    assert_string_equal(smurf_data_remark(data, 0), "1 event was out of order and has been sorted");
    assert_null(smurf_data_remark(data, 1));
    assert_null(smurf_data_remark(data, 100));
    smurf_data_free(data);
}

/* A program built against an older header has a shorter struct: what it does not have takes its default. */
static void older_config_is_understood(void **state)
{
    (void)state;
    smurf_read_config config;
    smurf_read_config_init(&config);
    memset((char *)&config + offsetof(smurf_read_config, sort), 0xAA,
           sizeof config - offsetof(smurf_read_config, sort));
    config.size = offsetof(smurf_read_config, sort);
    smurf_data *data = read_with("time\n1\n2\n", 9, &config);
    assert_int_equal(smurf_data_events(data), 2);
    smurf_data_free(data);
}

static void messages_tell_the_place(void **state)
{
    (void)state;
    refuse("", "memory.x: |empty");
    refuse(" \n\t\r\n", "memory.x: |empty");
    refuse("time,type\n1,0\nx,0\n", "memory.x:3: |'x'");
    refuse("time,type\n2,0\n1,0\n", "memory.x:3: |time 1|previous event 2|--strict");
    refuse("time\n0\n9007199254740992\n", "memory.x:3: |2^53");
    refuse("time\n9223372036854775000\n9223372036854776000\n", "memory.x:3: |too far|2^63");
    refuse("{\"times\":[1]}\n{\"times\":[1,2,NaN]}", "memory.x:2: |times, entry 3|NaN");
    refuse("{\"times\":[1,2],\"types\":[0]}", "memory.x:1: |2 times|1 types");
    refuse("{\"times\":[1,2],\"types\":[0,-1]}", "memory.x:1: |types, entry 2|-1");
    refuse("{\"times\":[1", "memory.x:1: |cut off");
    refuse("[[[[", "memory.x:1: ");
    refuse("1 2 3\n4 5\n", "memory.x: |--events");
    refuse("\x1f\x8b\x08", "memory.x: |gzip");
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

static void nanoseconds_are_kept(void **state)
{
    (void)state;
    static const int64_t time[] = {1700000000123456789, 1700000000123456790, 1700000000123456790, 1700000001000000007,
                                   1700009007199254740};
    smurf_data *data =
        read_numbers("time,observation_end\n1700000000123456789,1700009007199254741\n1700000000123456790,\n"
                     "1700000000123456790,\n1700000001000000007,\n1700009007199254740,\n");
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_int_equal(s->length, 5);
    assert_true(s->origin == time[0]);
    for (int i = 0; i < 5; i++)
        assert_true(s->origin + (int64_t)s->time[i] == time[i] && s->time[i] == floor(s->time[i]));
    assert_true(s->end == s->time[4] + 1);
    smurf_data_free(data);
}

static void each_sequence_has_its_origin(void **state)
{
    (void)state;
    smurf_data *data = read_text("user,time\na,5\nb,3000000.5\nc,-3000000.25\nb,3000002\n");
    assert_true(smurf_data_sequence(data, 0)->origin == 0);
    assert_true(smurf_data_sequence(data, 1)->origin == 3000000);
    assert_true(smurf_data_sequence(data, 1)->time[0] == 0.5);
    assert_true(smurf_data_sequence(data, 1)->time[1] == 2);
    assert_true(smurf_data_sequence(data, 2)->origin == -3000001);
    assert_true(smurf_data_sequence(data, 2)->time[0] == 0.75);
    smurf_data_free(data);
}

static void dates_are_seconds(void **state)
{
    (void)state;
    smurf_data *data = read_text("time\n2024-02-28T23:00:00Z\n2024-03-01\n");
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_int_equal(smurf_data_is_calendar(data), 1);
    assert_string_equal(smurf_data_unit(data), "s");
    assert_true(s->origin == 1709161200 && s->time[0] == 0 && s->time[1] == 90000);
    smurf_data_free(data);
}

static void moments(void **state)
{
    (void)state;
    smurf_moment m;
    smurf_error err;
    assert_int_equal(smurf_moment_parse(&m, "-1.25", &err), SMURF_OK);
    assert_true(m.whole == -2 && m.fraction == 0.75);
    assert_int_equal(smurf_moment_parse(&m, "1700000000123456789.5", &err), SMURF_OK);
    assert_true(m.whole == 1700000000123456789 && m.fraction == 0.5);
    assert_int_equal(smurf_moment_parse(&m, "1970-01-02T00:00:00.5Z", &err), SMURF_OK);
    assert_true(m.whole == 86400 && m.fraction == 0.5);
    static const char *const wrong[] = {"", "x", "nan", "1e300", "1970-02-30", "1,2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(smurf_moment_parse(&m, wrong[i], &err), SMURF_ERROR_ARGUMENT);
}

static void memory_is_12_bytes_an_event(void **state)
{
    (void)state;
    enum { N = 200000 };
    char *text = malloc((size_t)N * 40), *p = text;
    p += sprintf(p, "user,time,type\n");
    for (int i = 0; i < N; i++) p += sprintf(p, "user%d,%d.25,kind%d\n", i % 100, i, i % 20);
    smurf_data *data = read_text(text);
    free(text);
    assert_int_equal(smurf_data_events(data), N);
    assert_true(smurf_data_bytes(data) <= 12 * (size_t)N + 64 * 1024);
    smurf_data_free(data);
}

/* ---- Splits ---------------------------------------------------------------------------------- */

static smurf_data *many_sequences(size_t n)
{
    char *text = malloc(n * 400 + 100), *p = text;
    p += sprintf(p, "user,time,type\n");
    for (size_t u = 0; u < n; u++)
        for (size_t i = 0; i <= u % 7; i++) p += sprintf(p, "u%zu,%zu,k%zu\n", u, 10 * i + u, i % 4);
    smurf_data *data = read_text(text);
    free(text);
    return data;
}

static size_t sequences_of(const smurf_data *data)
{
    return data ? smurf_data_sequences(data) : 0;
}

static void shares(void **state)
{
    (void)state;
    enum { N = 100 };
    smurf_data *data = many_sequences(N);
    smurf_split a, b, c;
    smurf_error err;
    const double share[3] = {8, 1, 1};
    assert_int_equal(smurf_split_by_share(&a, data, share, 1, &err), SMURF_OK);
    assert_int_equal(smurf_split_by_share(&b, data, share, 1, &err), SMURF_OK);
    assert_int_equal(smurf_split_by_share(&c, data, share, 2, &err), SMURF_OK);
    assert_int_equal(sequences_of(a.train), 80);
    assert_int_equal(sequences_of(a.dev), 10);
    assert_int_equal(sequences_of(a.test), 10);
    smurf_data *const part[] = {a.train, a.dev, a.test}, *const again[] = {b.train, b.dev, b.test};
    int seen[N] = {0}, other = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(smurf_data_types(part[i]), 4); /* one numbering of the types */
        assert_string_equal(smurf_data_type_name(part[i], 3), "k3");
        for (size_t k = 0; k < smurf_data_sequences(part[i]); k++) {
            const smurf_sequence *s = smurf_data_sequence(part[i], k);
            int u = atoi(s->name + 1);
            const smurf_sequence *whole = smurf_data_sequence(data, (size_t)u);
            seen[u]++;
            assert_int_equal(s->length, whole->length);
            assert_memory_equal(s->time, whole->time, s->length * sizeof *s->time);
            assert_memory_equal(s->type, whole->type, s->length * sizeof *s->type);
            assert_string_equal(s->name, smurf_data_sequence(again[i], k)->name);
            if (i == 1) other += strcmp(s->name, smurf_data_sequence(c.dev, k)->name) != 0;
        }
    }
    for (int u = 0; u < N; u++) assert_int_equal(seen[u], 1);
    assert_true(other > 0);
    smurf_split_release(&a);
    smurf_split_release(&b);
    smurf_split_release(&c);
    assert_null(a.train);
    smurf_data_free(data);
}

static void wrong_shares(void **state)
{
    (void)state;
    smurf_data *data = many_sequences(10);
    static const double wrong[][3] = {{0, 1, 1}, {-1, 1, 1}, {1, -1, 1}, {NAN, 1, 1}, {INFINITY, 1, 1}, {0, 0, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        smurf_split split;
        assert_int_equal(smurf_split_by_share(&split, data, wrong[i], 1, NULL), SMURF_ERROR_ARGUMENT);
        assert_null(split.train);
    }
    smurf_data_free(data);
}

static size_t scored(const smurf_data *data)
{
    return data ? smurf_data_gaps(data) : 0;
}

static void split_in_time(void **state)
{
    (void)state;
    smurf_data *data = read_text("{\"sequence\":\"a\",\"times\":[1,2,3,4],\"types\":[0,1,2,3],\"observation_start\":0,"
                                 "\"observation_end\":9}"
                                 "{\"sequence\":\"b\",\"times\":[1,1.5],\"types\":[0,1]}"
                                 "{\"sequence\":\"c\",\"times\":[3.5,5],\"types\":[0,1],\"observation_start\":1}"
                                 "{\"sequence\":\"d\",\"times\":[1,2,3],\"types\":[0,1,2],\"first_scored\":2}");
    smurf_split split;
    smurf_error err;
    assert_int_equal(smurf_split_by_time(&split, data, (smurf_moment){2, 0}, (smurf_moment){3, 0.5}, &err), SMURF_OK);
    const smurf_sequence *s = smurf_data_sequence(split.train, 0); /* a: 1, and nothing until 2 */
    assert_int_equal(s->length, 1);
    assert_true(s->start == 0 && s->end == 2);
    s = smurf_data_sequence(split.train, 1); /* b: over before */
    assert_true(s->length == 2 && isnan(s->end));
    s = smurf_data_sequence(split.train, 2); /* c: observed, but silent */
    assert_true(s->length == 0 && s->start == 1 && s->end == 2);
    s = smurf_data_sequence(split.train, 3);
    assert_true(s->length == 1 && s->first == 1 && s->end == 2);

    assert_int_equal(smurf_data_sequences(split.dev), 2);
    s = smurf_data_sequence(split.dev, 0); /* a: 2 and 3 are scored, 1 is history */
    assert_true(s->length == 3 && s->first == 1 && s->end == 3.5);
    s = smurf_data_sequence(split.dev, 1); /* d: 2 was history already */
    assert_true(s->length == 3 && s->first == 2 && isnan(s->end));

    assert_int_equal(smurf_data_sequences(split.test), 2);
    s = smurf_data_sequence(split.test, 0);
    assert_true(s->length == 4 && s->first == 3 && s->end == 9 && s->start == 0);
    s = smurf_data_sequence(split.test, 1); /* c: an event at the cut belongs behind it; the first is never scored */
    assert_true(s->length == 2 && s->first == 1);
    assert_int_equal(scored(split.train) + scored(split.dev) + scored(split.test), scored(data));
    smurf_split_release(&split);

    assert_int_equal(smurf_split_by_time(&split, data, (smurf_moment){2, 0}, (smurf_moment){2, 0}, &err), SMURF_OK);
    assert_null(split.dev);
    assert_int_equal(scored(split.train) + scored(split.test), scored(data));
    smurf_split_release(&split);
    assert_int_equal(smurf_split_by_time(&split, data, (smurf_moment){3, 0}, (smurf_moment){2, 0}, &err),
                     SMURF_ERROR_ARGUMENT);
    assert_int_equal(
        smurf_split_by_time(&split, data, (smurf_moment){INT64_MIN, 0}, (smurf_moment){INT64_MIN, 0}, &err),
        SMURF_ERROR_ARGUMENT);
    assert_int_equal(
        smurf_split_by_time(&split, data, (smurf_moment){INT64_MAX, 0.5}, (smurf_moment){INT64_MAX, 0.5}, &err),
        SMURF_ERROR_ARGUMENT);
    assert_null(split.train);
    smurf_data_free(data);
}

static void split_of_nanoseconds(void **state)
{
    (void)state;
    smurf_data *data =
        read_numbers("time\n1700000000123456787\n1700000000123456788\n1700000000123456789\n1700000000123456790\n");
    smurf_split split;
    assert_int_equal(smurf_split_by_time(&split, data, (smurf_moment){1700000000123456789, 0},
                                         (smurf_moment){1700000000123456789, 0}, NULL),
                     SMURF_OK);
    assert_int_equal(smurf_data_events(split.train), 2);
    assert_true(smurf_data_sequence(split.train, 0)->end == 2);
    assert_int_equal(smurf_data_sequence(split.test, 0)->first, 2);
    smurf_split_release(&split);
    smurf_data_free(data);
}

static void one_sequence_is_cut_in_time(void **state)
{
    (void)state;
    smurf_data *data = read_text("time\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    smurf_split split;
    assert_int_equal(smurf_split_by_share(&split, data, (double[]){6, 2, 2}, 1, NULL), SMURF_OK);
    assert_int_equal(smurf_data_events(split.train), 6);
    assert_int_equal(smurf_data_sequence(split.dev, 0)->first, 6);
    assert_int_equal(smurf_data_sequence(split.dev, 0)->length, 8);
    assert_int_equal(smurf_data_sequence(split.test, 0)->first, 8);
    assert_int_equal(smurf_data_sequence(split.test, 0)->length, 10);
    smurf_split_release(&split);
    smurf_data_free(data);
}

/* At the same moments, which divide their events by the shares; the order in the file is not that of time. */
static void two_sequences_are_cut_in_time(void **state)
{
    (void)state;
    smurf_data *data = read_text("user,time\na,2\na,4\na,6\na,8\nb,1\nb,3\nb,5\nb,7\nb,9\nb,1000010\n");
    smurf_split split;
    assert_int_equal(smurf_split_by_share(&split, data, (double[]){6, 2, 2}, 1, NULL), SMURF_OK);
    assert_int_equal(smurf_data_events(split.train), 6); /* 1 to 6 */
    assert_int_equal(smurf_data_sequence(split.train, 0)->length, 3);
    assert_int_equal(smurf_data_gaps(split.dev), 2); /* 7 and 8 */
    assert_int_equal(smurf_data_gaps(split.test), 2);
    assert_int_equal(smurf_data_sequence(split.test, 0)->length, 6);
    assert_int_equal(smurf_data_sequence(split.test, 0)->first, 4);
    smurf_split_release(&split);
    assert_int_equal(smurf_split_by_share(&split, data, (double[]){8, 0, 2}, 1, NULL), SMURF_OK); /* dealt */
    assert_int_equal(smurf_data_sequences(split.train), 1);
    smurf_split_release(&split);
    assert_int_equal(smurf_split_by_share(&split, data, (double[]){8, 1e-9, 1}, 1, NULL), SMURF_ERROR_ARGUMENT);
    smurf_data_free(data);
}

/* Three and four likewise; five are dealt. Event i, at time i, is of sequence i mod n. */
static void few_sequences_are_cut_in_time(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 5; n++) {
        char text[2000] = "user,time\n", *at = text + strlen(text);
        for (size_t s = 0; s < n; s++)
            for (size_t i = n - s; i <= 100; i += n) at += sprintf(at, "%zu,%zu\n", s, i);
        smurf_data *data = read_text(text);
        smurf_split split;
        assert_int_equal(smurf_split_by_share(&split, data, (double[]){8, 1, 1}, 1, NULL), SMURF_OK);
        assert_int_equal(smurf_data_sequences(split.train), n < 5 ? n : 3);
        for (size_t s = 0; s < n && n < 5; s++) {
            const smurf_sequence *q = smurf_data_sequence(split.train, s);
            assert_true((double)q->origin + q->time[q->length - 1] <= 80 && (double)q->origin + q->end == 81);
        }
        if (n < 5) assert_int_equal(smurf_data_events(split.train), 80);
        if (n < 5) assert_int_equal(smurf_data_gaps(split.dev) + smurf_data_gaps(split.test), 20);
        smurf_split_release(&split);
        smurf_data_free(data);
    }
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* The scored events of the windows are those of the input, each once and in order, each with its history. */
static void check_windows(const smurf_data *data, size_t window, size_t history)
{
    smurf_data *cut;
    smurf_error err;
    assert_int_equal(smurf_data_window(&cut, data, window, history, &err), SMURF_OK);
    if (history == 0) history = 1;
    size_t w = 0;
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i), *c = NULL;
        size_t at = s->first;
        do {
            c = smurf_data_sequence(cut, w++);
            assert_non_null(c);
            size_t seen = c->first, n = c->length - c->first;
            assert_string_equal(c->name, s->name);
            assert_true(c->origin == s->origin);
            if (s->first < s->length) {
                size_t inside = (s->before + at - 1) % window, block = at > inside ? at - inside : 0;
                assert_true(seen == (block > history ? at - (block - history) : at));
                assert_true(n == (s->length - at < window - inside ? s->length - at : window - inside));
                assert_true(c->before == s->before + at - seen);
                assert_memory_equal(c->time, s->time + at - seen, c->length * sizeof *c->time);
                assert_memory_equal(c->type, s->type + at - seen, c->length * sizeof *c->type);
            }
            if (at == seen)
                assert_true(c->start == s->start || (isnan(c->start) && isnan(s->start)));
            else
                assert_true(isnan(c->start));
            at += n;
            if (at >= s->length)
                assert_true(c->end == s->end || (isnan(c->end) && isnan(s->end)));
            else
                assert_true(isnan(c->end)); /* stops at an event, and tells nothing of the time that follows */
        } while (at < s->length);
    }
    assert_int_equal(smurf_data_sequences(cut), w);
    assert_int_equal(smurf_data_gaps(cut), smurf_data_gaps(data));
    assert_int_equal(smurf_data_types(cut), smurf_data_types(data));

    smurf_data *again; /* windows of windows are the same */
    assert_int_equal(smurf_data_window(&again, cut, window, history, &err), SMURF_OK);
    assert_int_equal(smurf_data_sequences(again), smurf_data_sequences(cut));
    for (size_t i = 0; i < smurf_data_sequences(cut); i++) {
        const smurf_sequence *a = smurf_data_sequence(again, i), *b = smurf_data_sequence(cut, i);
        assert_true(a->length == b->length && a->first == b->first && a->before == b->before);
    }
    smurf_data_free(again);
    smurf_data_free(cut);
}

static void windows(void **state)
{
    (void)state;
    smurf_data *data = many_sequences(40);
    static const size_t sizes[] = {1, 2, 3, 5, 100, SIZE_MAX}, histories[] = {0, 1, 2, 7, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof histories / sizeof *histories; j++) check_windows(data, sizes[i], histories[j]);
    smurf_data_free(data);

    data = read_text("{\"sequence\":\"a\",\"times\":[1,2,3,4,5,6,7],\"first_scored\":3,\"observation_start\":"
                     "0,\"observation_end\":8}"
                     "{\"sequence\":\"b\",\"times\":[1,2],\"first_scored\":2,\"observation_end\":8}"
                     "{\"sequence\":\"d\",\"times\":[1,2,3,4,5,6,7,8],\"first_scored\":2,\"events_before\":12}{"
                     "\"sequence\":\"c\",\"times\":[]}");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof histories / sizeof *histories; j++) check_windows(data, sizes[i], histories[j]);
    smurf_data *cut = (smurf_data *)&data;
    assert_int_equal(smurf_data_window(&cut, data, 0, 1, NULL), SMURF_ERROR_ARGUMENT);
    assert_null(cut);
    smurf_data_free(data);
}

/* ---- The table of formats ------------------------------------------------------------------------ */

/* Each format is written under the name the library gives the file, found again by suffix and by content. */
static void formats(void **state)
{
    (void)state;
    smurf_data *data = read_text("{\"times\":[1,2,4],\"types\":[0,1,0]}\n{\"times\":[0.5,3],\"types\":[1,1]}\n");
    char directory[] = "/tmp/smurf-test-XXXXXX";
    assert_non_null(mkdtemp(directory));
    size_t count = 0;
    for (const char *name; (name = smurf_format_name(count)); count++) {
        char file[32], path[80], types[80];
        smurf_write_config config;
        smurf_write_config_init(&config);
        config.format = name;
        assert_true(smurf_format_title(count)[0]);
        assert_int_equal(smurf_split_file(file, sizeof file, 1, name, NULL), SMURF_OK);
        assert_int_equal(smurf_split_part(file), 1);
        assert_string_equal(smurf_format_of_path(file), name);
        snprintf(path, sizeof path, "%s/%s", directory, file);
        snprintf(types, sizeof types, "%s/event-dev.txt", directory);
        assert_int_equal(smurf_data_write(data, path, &config, NULL), SMURF_OK);
        smurf_data *back;
        assert_int_equal(smurf_data_read(&back, path, NULL, NULL), SMURF_OK);
        assert_int_equal(smurf_data_events(back), smurf_data_events(data));
        assert_int_equal(smurf_data_types(back), smurf_data_types(data));
        smurf_data_free(back);
        unlink(path);
        unlink(types);
    }
    assert_true(count >= 6 && !smurf_format_title(count));
    rmdir(directory);
    smurf_data_free(data);
}

static void unknown_format(void **state)
{
    (void)state;
    char file[32];
    smurf_error err;
    smurf_data *data = NULL;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.format = "xml";
    assert_int_equal(smurf_data_read_memory(&data, "a", 1, NULL, &config, &err), SMURF_ERROR_ARGUMENT);
    assert_null(data);
    assert_non_null(strstr(err.message, "'xml': choose csv, tsv, jsonl, json, rmtpp, pickle or packed"));
    assert_int_equal(smurf_split_file(file, sizeof file, 0, "xml", &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_split_file(file, sizeof file, 3, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_null(smurf_format_of_path("a.xml"));
    assert_string_equal(smurf_format_of_path("a.NDJSON.gz"), "jsonl");
    assert_null(smurf_format_of_path(".csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_shapes),
        cmocka_unit_test(json_long_arrays),
        cmocka_unit_test(json_across_the_window),
        cmocka_unit_test(json_long_gaps),
        cmocka_unit_test(json_arrays_with_mistakes),
        cmocka_unit_test(csv_features),
        cmocka_unit_test(csv_across_the_window),
        cmocka_unit_test(types_become_words_when_one_is),
        cmocka_unit_test(config_is_followed),
        cmocka_unit_test(older_config_is_understood),
        cmocka_unit_test(messages_tell_the_place),
        cmocka_unit_test(nanoseconds_are_kept),
        cmocka_unit_test(each_sequence_has_its_origin),
        cmocka_unit_test(dates_are_seconds),
        cmocka_unit_test(moments),
        cmocka_unit_test(memory_is_12_bytes_an_event),
        cmocka_unit_test(shares),
        cmocka_unit_test(wrong_shares),
        cmocka_unit_test(split_in_time),
        cmocka_unit_test(split_of_nanoseconds),
        cmocka_unit_test(one_sequence_is_cut_in_time),
        cmocka_unit_test(two_sequences_are_cut_in_time),
        cmocka_unit_test(few_sequences_are_cut_in_time),
        cmocka_unit_test(windows),
        cmocka_unit_test(formats),
        cmocka_unit_test(unknown_format),
    };
    return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
