/* unit_rmtpp.c - RMTPP text: which file holds the types, and what two files make together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "data/builder.h"
#include "data/rmtpp.h"

/* ---- Names ------------------------------------------------------------------------------------- */

static void companion_has_event_for_time(void **state)
{
    (void)state;
    const struct {
        const char *times, *types;
    } cases[] = {
        {"time-train.txt", "event-train.txt"},
        {"a/time.txt.gz", "a/event.txt.gz"},
        {"time/sometime-time.txt", "time/sometime-event.txt"}, /* the last, and not of the folder */
        {"time/train.txt", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *types;
        assert_int_equal(smurf_rmtpp_companion(&types, cases[i].times, NULL), SMURF_OK);
        if (cases[i].types)
            assert_string_equal(types, cases[i].types);
        else
            assert_null(types);
        free(types);
    }
}

/* ---- Files in a folder of the test's own ---------------------------------------------------------- */

struct folder {
    char path[64], times[80], types[80];
};

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_folder(void **state)
{
    struct folder *f = malloc(sizeof *f);
    strcpy(f->path, "/tmp/smurf-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(f->times, sizeof f->times, "%s/time-a.txt", f->path);
    snprintf(f->types, sizeof f->types, "%s/event-a.txt", f->path);
    put(f->times, "1 2.5\n\n3\n");
    put(f->types, "0 2\n\n1\n");
    *state = f;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *f = *state;
    remove(f->times);
    remove(f->types);
    rmdir(f->path);
    free(f);
    return 0;
}

static void check_data(smurf_data *data)
{
    assert_int_equal(smurf_data_sequences(data), 3);
    assert_int_equal(smurf_data_types(data), 3);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_int_equal(s->length, 2);
    assert_true(s->time[1] == 2.5 && s->type[1] == 2);
    assert_int_equal(smurf_data_sequence(data, 1)->length, 0);
    smurf_data_free(data);
}

static void types_stand_beside_a_file(void **state)
{
    const struct folder *f = *state;
    smurf_data *data;
    smurf_error err;
    assert_int_equal(smurf_data_read(&data, f->times, NULL, &err), SMURF_OK);
    check_data(data);
    remove(f->types);
    assert_int_equal(smurf_data_read(&data, f->times, NULL, &err), SMURF_ERROR_IO);
    assert_non_null(strstr(err.message, "event-a.txt"));
    assert_null(data);
}

/* The name given with memory is for messages: no file is opened by it, be there one or not. */
static void memory_has_nothing_beside_it(void **state)
{
    const struct folder *f = *state;
    const char text[] = "1 2.5\n\n3\n";
    smurf_data *data;
    smurf_error err;
    assert_int_equal(smurf_data_read_memory(&data, text, strlen(text), f->times, NULL, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "--events"));
    assert_null(data);

    smurf_read_config config;
    smurf_read_config_init(&config);
    config.events_path = f->types; /* the caller's own word */
    assert_int_equal(smurf_data_read_memory(&data, text, strlen(text), "memory", &config, &err), SMURF_OK);
    check_data(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(companion_has_event_for_time),
        cmocka_unit_test_setup_teardown(types_stand_beside_a_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(memory_has_nothing_beside_it, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
