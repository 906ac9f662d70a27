/* unit_packed.c - packed files: everything is kept, files are mapped, and each kind of damage has its message. */
#include "base/xxh64.h"
#include "data/builder.h"
#include "data/data.h"
#include "packed_seal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char log_text[] = "user,when,event\n"
                               "ann,2024-01-01 00:00:00,start\n"
                               "ann,2024-01-01 00:01:30.25,stop\n"
                               "bob,2024-01-02 10:00:00,start\n"
                               "bob,2024-01-02 11:00:00,fail\n"
                               "bob,2024-01-02 12:00:00,stop\n";

static smurf_data *read_bytes(const void *bytes, size_t n, const char *name)
{
    smurf_data *data;
    smurf_error err;
    if (smurf_data_read_memory(&data, bytes, n, name, NULL, &err)) fail_msg("%s", err.message);
    return data;
}

static smurf_data *example(void)
{
    return read_bytes(log_text, sizeof log_text - 1, "log.csv");
}

struct bytes {
    void *p;
    size_t n;
};

static struct bytes pack(const smurf_data *data)
{
    struct bytes b;
    smurf_error err;
    smurf_write_config config;
    smurf_write_config_init(&config);
    config.format = "packed";
    if (smurf_data_write_memory(data, &b.p, &b.n, &config, &err)) fail_msg("%s", err.message);
    return b;
}

static void same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a) assert_string_equal(a, b);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void same_sequence(const smurf_sequence *a, const smurf_sequence *b)
{
    same_text(a->name, b->name);
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->first, b->first);
    assert_int_equal(a->before, b->before);
    assert_int_equal(a->origin, b->origin);
    assert_true(same_bits(a->start, b->start) && same_bits(a->end, b->end));
    assert_memory_equal(a->time, b->time, a->length * sizeof *a->time);
    assert_memory_equal(a->type, b->type, a->length * sizeof *a->type);
}

static void same_data(const smurf_data *a, const smurf_data *b)
{
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->sequences, b->sequences);
    assert_int_equal(a->types, b->types);
    assert_int_equal(a->calendar, b->calendar);
    assert_string_equal(a->unit, b->unit);
    for (uint32_t k = 0; k < a->types; k++) same_text(smurf_data_type_name(a, k), smurf_data_type_name(b, k));
    for (size_t i = 0; i < a->sequences; i++) same_sequence(&a->sequence[i], &b->sequence[i]);
}

static void test_hash(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } known[] = {{"", 0xEF46DB3751D8E999},
                 {"a", 0xD24EC4F1A98C6E5B},
                 {"abc", 0x44BC2CF5AD770999},
                 {"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t piece = 1; piece < 40; piece++) { /* in pieces of any size */
            struct xxh64 hash;
            smurf_xxh64_init(&hash);
            for (size_t n = strlen(known[i].text), at = 0; at < n; at += piece)
                smurf_xxh64_add(&hash, known[i].text + at, n - at < piece ? n - at : piece);
            assert_true(smurf_xxh64_value(&hash) == known[i].value);
        }
}

static void test_everything_is_kept(void **state)
{
    (void)state;
    smurf_data *data = example();
    struct bytes b = pack(data);
    smurf_data *again = read_bytes(b.p, b.n, "x");
    same_data(data, again);
    const smurf_reading *r = smurf_data_reading(data), *s = smurf_data_reading(again);
    assert_non_null(s);
    same_text(r->format, s->format);
    same_text(r->sequence_column, s->sequence_column);
    same_text(r->time_column, s->time_column);
    same_text(r->type_column, s->type_column);
    same_text(r->time_format, s->time_format);
    same_text(r->timezone, s->timezone);
    same_text(r->missing, s->missing);
    same_text(r->text, s->text);
    same_text(r->delimiter, s->delimiter);
    same_text(r->header, s->header);
    assert_int_equal(r->guessed, s->guessed);
    smurf_data_free(data);
    smurf_data_free(again);
    free(b.p);
}

static void test_windows_are_kept(void **state)
{
    (void)state;
    smurf_data *data = example(), *cut;
    smurf_error err;
    assert_int_equal(smurf_data_window(&cut, data, 1, 1, &err), SMURF_OK);
    struct bytes b = pack(cut);
    smurf_data *again = read_bytes(b.p, b.n, "x");
    assert_true(again->sequence[again->sequences - 1].before > 0);
    assert_true(isnan(again->sequence[1].start));
    same_data(cut, again);
    smurf_data_free(data);
    smurf_data_free(cut);
    smurf_data_free(again);
    free(b.p);
}

/* Writes bytes into a new file. */
static void put_file(char path[32], struct bytes b)
{
    strcpy(path, "/tmp/smurf-packed-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, b.p, b.n) == (ssize_t)b.n && close(fd) == 0);
}

static void test_files_are_mapped(void **state)
{
    (void)state;
    char path[32];
    smurf_data *data = example(), *mapped;
    smurf_error err;
    struct bytes b = pack(data);
    put_file(path, b);
    assert_int_equal(smurf_data_read(&mapped, path, NULL, &err), SMURF_OK);
    unlink(path);
    assert_null(mapped->own_time);
    assert_null(mapped->own_type);
    same_data(data, mapped);
    smurf_data_free(data);
    smurf_data_free(mapped);
    free(b.p);
}

/* What is made of a mapped file is kept in files too, and is the same as in memory. */
static void test_derived_data_are_outside(void **state)
{
    (void)state;
    char path[32];
    smurf_data *data = example(), *mapped, *inside, *outside;
    smurf_error err;
    struct bytes b = pack(data);
    put_file(path, b);
    assert_int_equal(smurf_data_read(&mapped, path, NULL, &err), SMURF_OK);
    unlink(path);
    assert_int_equal(smurf_data_dither(&inside, data, 0.25, 1, &err), SMURF_OK);
    assert_int_equal(smurf_data_dither(&outside, mapped, 0.25, 1, &err), SMURF_OK);
    assert_true(outside->time_outside.p == outside->time && outside->type_outside.p == outside->type);
    same_data(inside, outside);
    setenv("TMPDIR", "/nowhere", 1);
    smurf_data *cut;
    assert_int_equal(smurf_data_window(&cut, mapped, 1, 1, &err), SMURF_ERROR_IO);
    unsetenv("TMPDIR");
    assert_non_null(strstr(err.message, "cannot keep data in a temporary file in '/nowhere': "));
    assert_non_null(strstr(err.message, "(set TMPDIR to a folder with room)"));
    smurf_data_free(data);
    smurf_data_free(mapped);
    smurf_data_free(inside);
    smurf_data_free(outside);
    free(b.p);
}

static void expect(struct bytes b, size_t n, const char *text)
{
    smurf_data *data;
    smurf_error err;
    assert_int_equal(smurf_data_read_memory(&data, b.p, n, "log.smurf", NULL, &err), SMURF_ERROR_INPUT);
    assert_null(data);
    if (strncmp(err.message, "log.smurf: ", 11) != 0 || !strstr(err.message, text))
        fail_msg("expected '%s' in '%s'", text, err.message);
}

/* One flipped bit anywhere is found, and the message says in which part. */
static void test_damage(void **state)
{
    (void)state;
    static const char *const what[] = {"its times changed", "its types or columns changed", "its sequences changed",
                                       "its names changed"};
    smurf_data *data = example();
    struct bytes b = pack(data);
    unsigned char *p = b.p;
    size_t at[5] = {0};
    assert_true(packed_parts(p, b.n, at));
    for (int part = 0; part < 4; part++)
        for (size_t i = at[part]; i < at[part + 1]; i++) {
            p[i] ^= 1;
            expect(b, b.n, what[part]);
            p[i] ^= 1;
        }
    for (size_t i = 16; i < PACKED_HEADER; i++) {
        p[i] ^= 1;
        expect(b, b.n, "its header changed");
        p[i] ^= 1;
    }
    smurf_data_free(data);
    free(b.p);
}

static void test_size(void **state)
{
    (void)state;
    smurf_data *data = example();
    struct bytes b = pack(data);
    for (size_t n = 8; n < b.n; n++) expect(b, n, "the packed file was cut off: it has");
    b.p = realloc(b.p, b.n + 1);
    assert_non_null(b.p);
    ((char *)b.p)[b.n] = 'x';
    expect(b, b.n + 1, "something was appended");
    smurf_data_free(data);
    free(b.p);
}

static void test_other_files(void **state)
{
    (void)state;
    smurf_data *data = example();
    struct bytes b = pack(data);
    unsigned char *p = b.p;
    p[12] = 3;
    packed_seal(p, b.n);
    expect(b, b.n, "has version 3, this program reads version 2 (use a newer smurf, or convert the data again)");
    p[12] = 0;
    packed_seal(p, b.n);
    expect(b, b.n, "its header changed");
    p[8] = 1, p[9] = 2, p[10] = 3, p[11] = 4;
    expect(b, b.n, "the other byte order (convert it to JSON Lines there)");
    smurf_data_free(data);
    free(b.p);
}

/* ---- Further columns ----------------------------------------------------------------------------- */

static const char column_text[] = "user,when,event,amount,region\n"
                                  "ann,1,start,5,north\n"
                                  "ann,2,stop,,south\n"
                                  "bob,1,start,-1e30,\n"
                                  "bob,4,fail,0.1,north\n"
                                  "bob,5,stop,7,west\n";

static smurf_data *columns_of(const void *bytes, size_t n, const char *features)
{
    smurf_data *data;
    smurf_error err;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.features = features;
    config.rare = 0;
    if (smurf_data_read_memory(&data, bytes, n, "x", &config, &err)) fail_msg("%s", err.message);
    return data;
}

static void test_columns_are_kept(void **state)
{
    (void)state;
    smurf_data *data = columns_of(column_text, sizeof column_text - 1, "amount,region");
    struct bytes b = pack(data), c;
    assert_int_equal(((char *)b.p)[12], 2);
    smurf_data *again = columns_of(b.p, b.n, NULL), *one = columns_of(b.p, b.n, "region"),
               *none = columns_of(b.p, b.n, "");
    same_data(data, again);
    assert_true(smurf_further_same(&data->further, &again->further));
    assert_memory_equal(data->further_value, again->further_value, 10 * sizeof(float));
    assert_string_equal(smurf_data_reading(again)->features, "amount=number,region=word");
    assert_int_equal(smurf_data_columns(one), 1);
    for (int i = 0; i < 5; i++)
        assert_memory_equal(&one->further_value[i], &data->further_value[2 * i + 1], sizeof(float));
    assert_int_equal(smurf_data_columns(none), 0);
    c = pack(none); /* as it was before there were columns */
    assert_int_equal(((char *)c.p)[12], 1);
    smurf_data_free(data), smurf_data_free(again), smurf_data_free(one), smurf_data_free(none);
    free(b.p), free(c.p);
}

static void test_columns_are_checked(void **state)
{
    (void)state;
    smurf_data *data = columns_of(column_text, sizeof column_text - 1, "amount,region");
    struct bytes b = pack(data);
    unsigned char *p = b.p, *copy = malloc(b.n);
    size_t at[5] = {0};
    assert_true(copy && packed_parts(p, b.n, at));
    memcpy(copy, p, b.n);
    const float word[] = {-1, 0.5f, 4, INFINITY, 1e9f}, number[] = {INFINITY, -INFINITY};
    unsigned char *row = p + at[1] + 24, *text = memmem(p + at[3], at[4] - at[3], "namount", 8);
    assert_non_null(text);
    for (size_t i = 0; i < 7; i++) {
        if (i < 5)
            memcpy(row + 4, &word[i], 4);
        else
            memcpy(row, &number[i - 5], 4);
        packed_seal(p, b.n);
        expect(b, b.n, "its types or columns changed");
        memcpy(p, copy, b.n);
    }
    static const char *const names[] = {"xamount", "n", "wamount", "nregion"}; /* kind, no name, no words, twice */
    for (size_t i = 0; i < 4; i++) {
        strcpy((char *)text, names[i]);
        if (i == 3) memmove(text + 8, "nregion", 8);
        packed_seal(p, b.n);
        expect(b, b.n, "its names changed");
        memcpy(p, copy, b.n);
    }
    for (int i = 0; i < 2; i++) { /* too many columns; columns in a file without them */
        p[i ? 12 : PACKED_COLUMNS] = i ? 1 : 33;
        packed_seal(p, b.n);
        expect(b, b.n, "its header changed");
        memcpy(p, copy, b.n);
    }
    smurf_data_free(data);
    free(copy);
    free(b.p);
}

/* With checksums that fit: what the rest of the library relies on is checked all the same. */
static void test_contents_are_checked(void **state)
{
    (void)state;
    smurf_data *data = example();
    struct bytes b = pack(data);
    unsigned char *p = b.p, *copy = malloc(b.n);
    size_t at[5] = {0};
    assert_true(copy && packed_parts(p, b.n, at));
    memcpy(copy, p, b.n);
    const double bad[] = {NAN, INFINITY, 1e9};
    for (int i = 0; i < 3; i++) { /* times that are not finite or not in order */
        memcpy(p + at[0], &bad[i], 8);
        packed_seal(p, b.n);
        expect(b, b.n, "its times changed");
        memcpy(p, copy, b.n);
    }
    p[at[1]] = 3; /* of three types */
    packed_seal(p, b.n);
    expect(b, b.n, "its types or columns changed");
    memcpy(p, copy, b.n);
    p[at[2] + 24] = 200; /* a length */
    packed_seal(p, b.n);
    expect(b, b.n, "its sequences changed");
    memcpy(p, copy, b.n);
    p[at[2] + 56 + 24] = 1; /* events that belong to no sequence */
    packed_seal(p, b.n);
    expect(b, b.n, "its sequences changed");
    memcpy(p, copy, b.n);
    p[at[2] + 49] = 200; /* a name */
    packed_seal(p, b.n);
    expect(b, b.n, "its sequences changed");
    memcpy(p, copy, b.n);
    p[PACKED_TYPES] = 100; /* names of types */
    packed_seal(p, b.n);
    expect(b, b.n, "its names changed");
    memcpy(p, copy, b.n);
    p[PACKED_EVENTS] ^= 1;
    packed_seal(p, b.n);
    expect(b, b.n, "its header changed");
    memcpy(p, copy, b.n);
    const double late = -1e9; /* the end of observation */
    memcpy(p + at[2] + 16, &late, 8);
    packed_seal(p, b.n);
    expect(b, b.n, "the end of observation is before the last event");
    smurf_data_free(data);
    free(copy);
    free(b.p);
}

/* More than 1000 types, most of them rare: the types of a mapped file are copied and renumbered. */
static void test_rare_types(void **state)
{
    (void)state;
    struct builder b = {.name = "many"};
    smurf_data *data, *again;
    smurf_error err;
    for (int k = 0; k < 1500; k++)
        for (int i = 0; i < (k % 2 ? 6 : 1); i++) {
            char word[16];
            int n = snprintf(word, sizeof word, "w%d", k);
            assert_int_equal(smurf_builder_time(&b, k, &err), SMURF_OK);
            assert_int_equal(smurf_builder_type_word(&b, word, (size_t)n, &err), SMURF_OK);
        }
    assert_int_equal(smurf_builder_close(&b, &(struct sequence_info){.start = NAN, .end = NAN}, &err), SMURF_OK);
    assert_int_equal(smurf_builder_finish(&b, &data, &err), SMURF_OK);
    struct bytes p = pack(data);
    again = read_bytes(p.p, p.n, "x");
    assert_int_equal(again->types, 751);
    assert_string_equal(again->type_name[again->sequence[0].type[0]], "other");
    assert_string_equal(again->type_name[again->sequence[0].type[1]], "w1");
    smurf_builder_release(&b);
    smurf_data_free(data);
    smurf_data_free(again);
    free(p.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_everything_is_kept),
        cmocka_unit_test(test_windows_are_kept),
        cmocka_unit_test(test_files_are_mapped),
        cmocka_unit_test(test_derived_data_are_outside),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_contents_are_checked),
        cmocka_unit_test(test_columns_are_kept),
        cmocka_unit_test(test_columns_are_checked),
        cmocka_unit_test(test_rare_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
