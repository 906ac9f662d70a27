/* unit_rare.c - rare types become "other": counts, names, parts. */
#include "data/rare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { COMMON = 1100, RARE = 20, MOST = 1 << 20 };

/* A table with COMMON types of five events and RARE types of one to four, as "t0" ... or "0" ... */
static char *table(const char *prefix, const char *more)
{
    char *text = malloc(MOST);
    size_t n = (size_t)sprintf(text, "time,type\n"), time = 0;
    for (int k = 0; k < COMMON + RARE; k++)
        for (int i = 0; i < (k < COMMON ? 5 : 1 + k % 4); i++)
            n += (size_t)sprintf(text + n, "%zu,%s%d\n", time++, prefix, k);
    for (; *more; more++) n += (size_t)sprintf(text + n, "%zu,other\n", time++);
    return text;
}

static smurf_data *read_text(const char *text, size_t rare)
{
    smurf_read_config config;
    smurf_data *data;
    smurf_error err;
    smurf_read_config_init(&config);
    assert_int_equal(config.rare, 5);
    config.rare = rare;
    if (smurf_data_read_memory(&data, text, strlen(text), "rare.csv", &config, &err)) fail_msg("%s", err.message);
    return data;
}

static void check_merged(const char *prefix)
{
    char *text = table(prefix, ""), name[16];
    smurf_data *all = read_text(text, 0), *data = read_text(text, 5);
    assert_int_equal(smurf_data_types(all), COMMON + RARE);
    assert_int_equal(smurf_data_types(data), COMMON + 1);
    assert_string_equal(smurf_data_type_name(data, COMMON), "other");
    for (size_t i = 0; i < smurf_data_events(all); i++) {
        uint32_t was = smurf_data_sequence(all, 0)->type[i], is = smurf_data_sequence(data, 0)->type[i];
        assert_int_equal(is, was < COMMON ? was : COMMON);
        if (was >= COMMON) continue;
        sprintf(name, "%s%u", prefix, was);
        assert_string_equal(smurf_data_type_name(data, is), name);
    }
    assert_string_equal(smurf_data_remark(data, 0), "20 of 1120 types have fewer than 5 events: their 50 events are of "
                                                    "the type 'other' (--rare 0 keeps them)");
    assert_null(smurf_data_remark(data, 1));
    smurf_data_free(all);
    smurf_data_free(data);
    free(text);
}

static void rare_words(void **state)
{
    (void)state;
    check_merged("t");
}

static void rare_numbers_become_words(void **state)
{
    (void)state;
    check_merged("");
}

static void a_type_called_other_takes_them(void **state)
{
    (void)state;
    char *text = table("t", "xx");
    smurf_data *data = read_text(text, 5);
    assert_int_equal(smurf_data_types(data), COMMON + 1);
    assert_string_equal(smurf_data_type_name(data, COMMON), "other");
    assert_int_equal(smurf_data_sequence(data, 0)->type[smurf_data_events(data) - 1], COMMON);
    smurf_data_free(data);
    free(text);
}

static void few_types_are_kept(void **state)
{
    (void)state;
    const char *text = "time,type\n1,a\n2,b\n3,a\n";
    smurf_data *data = read_text(text, 5);
    assert_int_equal(smurf_data_types(data), 2);
    assert_null(smurf_data_remark(data, 0));
    smurf_data_free(data);
    char *many = table("t", "");
    data = read_text(many, 1);
    assert_int_equal(smurf_data_types(data), COMMON + RARE);
    smurf_data_free(data);
    free(many);
}

/* train decides: types that are rare there, or only in test, are "other" in test too. */
static void train_decides(void **state)
{
    (void)state;
    char folder[] = "/tmp/smurf-rare-XXXXXX", path[2][64], *train = table("t", "");
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s.csv", folder, i ? "test" : "train");
        FILE *file = fopen(path[i], "w");
        assert_non_null(file);
        fputs(i ? "time,type\n1,t0\n2,t1101\n3,new\n4,t1101\n5,t1101\n6,t1101\n7,t1101\n" : train, file);
        fclose(file);
    }
    smurf_split split;
    smurf_error err;
    if (smurf_split_read(&split, folder, NULL, &err)) fail_msg("%s", err.message);
    assert_int_equal(smurf_data_types(split.train), COMMON + 1);
    assert_int_equal(smurf_data_types(split.test), COMMON + 1);
    const smurf_sequence *s = smurf_data_sequence(split.test, 0);
    assert_int_equal(s->type[0], 0);
    for (int i = 1; i < 7; i++) assert_int_equal(s->type[i], COMMON);
    assert_string_equal(smurf_data_type_name(split.test, COMMON), "other");
    smurf_split_release(&split);
    for (int i = 0; i < 2; i++) remove(path[i]);
    rmdir(folder);
    free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rare_words),         cmocka_unit_test(rare_numbers_become_words),
        cmocka_unit_test(few_types_are_kept), cmocka_unit_test(a_type_called_other_takes_them),
        cmocka_unit_test(train_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
