/* unit_arrays.c - data sets from arrays, lent or copied; data sets written into memory. */
#include "data/data.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static smurf_data *make(const smurf_arrays *a)
{
    smurf_data *data;
    smurf_error err;
    if (smurf_data_from_arrays(&data, a, &err)) fail_msg("%s", err.message);
    return data;
}

static smurf_data *read_text(const char *text, const smurf_read_config *config)
{
    smurf_data *data;
    smurf_error err;
    if (smurf_data_read_memory(&data, text, strlen(text), "arrays", config, &err)) fail_msg("%s", err.message);
    return data;
}

static void same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a) assert_string_equal(a, b);
}

static void same_number(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

/* Frees both. */
static void same_data(smurf_data *a, smurf_data *b)
{
    assert_int_equal(smurf_data_sequences(a), smurf_data_sequences(b));
    assert_int_equal(smurf_data_events(a), smurf_data_events(b));
    assert_int_equal(smurf_data_types(a), smurf_data_types(b));
    assert_int_equal(smurf_data_is_calendar(a), smurf_data_is_calendar(b));
    same_text(smurf_data_unit(a), smurf_data_unit(b));
    for (size_t i = 0; i < 2; i++) same_text(smurf_data_remark(a, i), i ? NULL : smurf_data_remark(b, i));
    for (uint32_t k = 0; k < smurf_data_types(a); k++)
        same_text(smurf_data_type_name(a, k), smurf_data_type_name(b, k));
    for (size_t i = 0; i < smurf_data_sequences(a); i++) {
        const smurf_sequence *s = smurf_data_sequence(a, i), *t = smurf_data_sequence(b, i);
        same_text(s->name, t->name);
        assert_int_equal(s->length, t->length);
        assert_int_equal(s->first, t->first);
        assert_int_equal(s->origin, t->origin);
        same_number(s->start, t->start);
        same_number(s->end, t->end);
        for (size_t j = 0; j < s->length; j++) {
            same_number(s->time[j], t->time[j]);
            assert_int_equal(s->type[j], t->type[j]);
        }
    }
    smurf_data_free(a);
    smurf_data_free(b);
}

/* ---- Equal to a file ------------------------------------------------------------------------- */

static void one_sequence(void **state)
{
    (void)state;
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = 3;
    a.time = (double[]){0.5, 1, 2.5};
    same_data(make(&a), read_text("time\n0.5\n1\n2.5\n", NULL));
    a.type = (uint32_t[]){1, 0, 3};
    a.types = 4;
    same_data(make(&a), read_text("time,type\n0.5,1\n1,0\n2.5,3\n", NULL));
}

static void sequences_end_to_end(void **state)
{
    (void)state;
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = 4;
    a.sequences = 2;
    a.time = (double[]){5000000.25, 5000001, -7, 2.5};
    a.type = (uint32_t[]){0, 1, 1, 0};
    a.types = 2;
    a.type_name = (const char *const[]){"up", "down"};
    a.offset = (size_t[]){0, 2, 4};
    a.sequence_name = (const char *const[]){"a", "b"};
    a.start = (double[]){5000000, NAN};
    a.end = (double[]){5000002.5, 3};
    a.first = (size_t[]){0, 2};
    a.unit = "h";
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.unit = "h";
    static const char text[] = "sequence,time,type,observation_start,observation_end,first_scored\n"
                               "a,5000000.25,up,5000000,5000002.5,\na,5000001,down,5000000,5000002.5,\n"
                               "b,-7,down,,3,2\nb,2.5,up,,3,2\n";
    same_data(make(&a), read_text(text, &config));
}

static void ids_are_grouped(void **state)
{
    (void)state;
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = 5;
    a.time = (double[]){1, 2, 3, 4, 5};
    a.type = (uint32_t[]){0, 1, 2, 0, 1};
    a.sequence = (int64_t[]){-7, 3, -7, 3, 9000000000};
    same_data(make(&a), read_text("user,time,type\n-7,1,0\n3,2,1\n-7,3,2\n3,4,0\n9000000000,5,1\n", NULL));
    a.sequences = 3;
    a.sequence_name = (const char *const[]){"x", "y", "z"};
    same_data(make(&a), read_text("user,time,type\nx,1,0\ny,2,1\nx,3,2\ny,4,0\nz,5,1\n", NULL));
    a.time = (double[]){3, 2, 1, 4, 5};
    a.sort = 1;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.sort = 1;
    same_data(make(&a), read_text("user,time,type\nx,3,0\ny,2,1\nx,1,2\ny,4,0\nz,5,1\n", &config));
}

/* Nanoseconds since 1970, more than 2^53 of them apart. */
static void ticks_are_exact(void **state)
{
    (void)state;
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = 3;
    a.ticks = (int64_t[]){1700000000123456789, 1700000000123456790, 1717171717717171717};
    a.places = 9;
    a.is_calendar = 1;
    a.start_ticks = (int64_t[]){1699999999000000001};
    a.end_ticks = (int64_t[]){INT64_MIN};
    same_data(make(&a), read_text("time,observation_start\n2023-11-14T22:13:20.123456789Z,2023-11-14T22:13:19."
                                  "000000001Z\n2023-11-14T22:13:20.123456790Z,\n2024-05-31T16:08:37.717171717Z,\n",
                                  NULL));
    a.ticks = (int64_t[]){-5, 3, INT64_MAX / 4096};
    a.places = 0;
    a.is_calendar = 0;
    a.start_ticks = a.end_ticks = NULL;
    same_data(make(&a), read_text("time\n-5\n3\n2251799813685247\n", NULL));
}

/* The zone of the dates goes along with parts, packed files and models. */
static void a_zone_is_kept(void **state)
{
    (void)state;
    smurf_arrays a;
    smurf_data *data, *part, *packed;
    smurf_error err;
    void *bytes;
    size_t size;
    smurf_write_config config;
    smurf_arrays_init(&a);
    a.events = 4;
    a.ticks = (int64_t[]){1700000000, 1700000010, 1700000040, 1700000060};
    a.is_calendar = 1;
    a.timezone = "Europe/Berlin";
    data = make(&a);
    assert_null(smurf_data_reading(data)); /* not read from a table */
    assert_int_equal(smurf_data_window(&part, data, 2, 1, &err), SMURF_OK);
    assert_string_equal(part->reading.timezone, "Europe/Berlin");
    smurf_write_config_init(&config);
    config.format = "packed";
    assert_int_equal(smurf_data_write_memory(data, &bytes, &size, &config, &err), SMURF_OK);
    assert_int_equal(smurf_data_read_memory(&packed, bytes, size, "packed", NULL, &err), SMURF_OK);
    assert_string_equal(packed->reading.timezone, "Europe/Berlin");
    assert_null(smurf_data_reading(packed));
    smurf_free(bytes);
    smurf_data_free(packed);
    smurf_data_free(part);

    smurf_settings *settings;
    smurf_model *model, *again;
    assert_int_equal(smurf_settings_new(&settings, NULL, data, &err), SMURF_OK);
    assert_int_equal(smurf_settings_set(settings, "epochs", "1", &err), SMURF_OK);
    assert_int_equal(smurf_fit(&model, settings, data, NULL, NULL, &err), SMURF_OK);
    assert_int_equal(smurf_model_save_memory(model, &bytes, &size, &err), SMURF_OK);
    assert_int_equal(smurf_model_load_memory(&again, bytes, size, NULL, &err), SMURF_OK);
    assert_string_equal(smurf_model_reading(again)->timezone, "Europe/Berlin");
    assert_null(smurf_model_reading(again)->time_column);
    smurf_free(bytes);
    smurf_model_free(model);
    smurf_model_free(again);
    smurf_settings_free(settings);
    smurf_data_free(data);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void count_release(void *context)
{
    ++*(int *)context;
}

/* Refused with the message, whether the arrays are lent or copied; given back once. */
static void refuse(smurf_arrays *a, smurf_status expected, const char *message)
{
    for (int lent = 0; lent < 2; lent++) {
        int released = 0;
        smurf_error err;
        smurf_data *data = (smurf_data *)&err;
        a->release = lent ? count_release : NULL;
        a->release_context = &released;
        assert_int_equal(smurf_data_from_arrays(&data, a, &err), expected);
        assert_null(data);
        assert_int_equal(released, lent);
        if (!strstr(err.message, message)) fail_msg("'%s' does not say '%s'", err.message, message);
        assert_int_equal(smurf_data_from_arrays(&data, a, NULL), expected);
    }
}

static void wrong_events(void **state)
{
    (void)state;
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = 4;
    a.sequences = 2;
    a.offset = (size_t[]){0, 2, 4};
    a.time = (double[]){1, 2, 5, 4};
    refuse(&a, SMURF_ERROR_INPUT, "event 1 of sequence 1: time 4 is before the previous event 5 (use sort)");
    a.time = (double[]){1, NAN, 5, 6};
    refuse(&a, SMURF_ERROR_INPUT, "event 1 of sequence 0: the time is missing");
    a.time = (double[]){1, 2, -INFINITY, 6};
    refuse(&a, SMURF_ERROR_INPUT, "event 0 of sequence 1: the time is not finite");
    a.time = (double[]){1, 2, 1e19, 1e20};
    refuse(&a, SMURF_ERROR_INPUT, "event 0 of sequence 1: time 1e+19 is beyond 2^63");
    a.time = (double[]){1, 2, 3, 1e16};
    refuse(&a, SMURF_ERROR_INPUT, "event 1 of sequence 1: the time is 2^53 or more away from its origin 0");
    a.time = (double[]){1, 2, 5, 6};
    a.type = (uint32_t[]){0, 1, 2, 99};
    a.types = 3;
    refuse(&a, SMURF_ERROR_INPUT, "event 1 of sequence 1: type 99 is out of range: there are 3, so they are 0 to 2");
    a.types = 0;
    a.type = (uint32_t[]){0, 1, 2, 1 << 24};
    refuse(&a, SMURF_ERROR_INPUT, "event 1 of sequence 1: type 16777216 is out of range: types are numbered");
    a.type = NULL;
    a.end = (double[]){NAN, 5.5};
    refuse(&a, SMURF_ERROR_INPUT, "sequence 1: the end of observation is before the last event");
    a.end = (double[]){1e30, NAN};
    refuse(&a, SMURF_ERROR_INPUT, "sequence 0: the observation window is too far from the events");
    a.end = NULL;
    a.time = NULL;
    a.ticks = (int64_t[]){1, 2, 5, INT64_MIN};
    refuse(&a, SMURF_ERROR_INPUT, "event 1 of sequence 1: the time is missing");
    a.ticks = (int64_t[]){1, 2, 1700000000000000002, 1700000000000000001};
    a.places = 9;
    refuse(&a, SMURF_ERROR_INPUT,
           "event 1 of sequence 1: time 1700000000.000000001 is before the previous event 1700000000.000000002");
}

static void wrong_arguments(void **state)
{
    (void)state;
    smurf_arrays a = {0};
    smurf_error err;
    smurf_data *data;
    assert_int_equal(smurf_data_from_arrays(&data, &a, &err), SMURF_ERROR_ARGUMENT);
    smurf_arrays_init(&a);
    refuse(&a, SMURF_ERROR_INPUT, "there are no sequences");
    a.events = 2;
    refuse(&a, SMURF_ERROR_ARGUMENT, "time or ticks must be set");
    a.time = (double[]){1, 2};
    a.ticks = (int64_t[]){1, 2};
    refuse(&a, SMURF_ERROR_ARGUMENT, "both time and ticks");
    a.ticks = NULL;
    a.places = 19;
    refuse(&a, SMURF_ERROR_ARGUMENT, "places is 19");
    a.places = 0;
    a.sequences = 2;
    refuse(&a, SMURF_ERROR_ARGUMENT, "2 sequences need offset or sequence");
    a.offset = (size_t[]){1, 1, 2};
    refuse(&a, SMURF_ERROR_ARGUMENT, "offset[0] is 1");
    a.offset = (size_t[]){0, 2, 1};
    refuse(&a, SMURF_ERROR_ARGUMENT, "offset[2] is 1, less than the 2 before it");
    a.offset = (size_t[]){0, 1, 3};
    refuse(&a, SMURF_ERROR_ARGUMENT, "offset[2] is 3, but there are 2 events");
    a.sequence = (int64_t[]){4, 4};
    refuse(&a, SMURF_ERROR_ARGUMENT, "both offset and sequence");
    a.offset = NULL;
    refuse(&a, SMURF_ERROR_ARGUMENT, "there are 1 different ids, but sequences is 2");
    a.sequences = 0;
    a.sequence_name = (const char *const[]){"a"};
    refuse(&a, SMURF_ERROR_ARGUMENT, "need the number of sequences");
    a.sequence = NULL;
    a.type_name = (const char *const[]){"x", "x"};
    refuse(&a, SMURF_ERROR_ARGUMENT, "type_name needs the number of types");
    a.types = 2;
    refuse(&a, SMURF_ERROR_ARGUMENT, "types 0 and 1 are both called 'x'");
    a.type_name = (const char *const[]){"x", NULL};
    refuse(&a, SMURF_ERROR_ARGUMENT, "type_name[1] is NULL");
    a.type_name = NULL;
    a.timezone = "Europe/Belin";
    refuse(&a, SMURF_ERROR_INPUT, "Europe/Belin");
    a.timezone = NULL;
    a.types = (1 << 24) + 1;
    refuse(&a, SMURF_ERROR_ARGUMENT, "at most 16777216 are allowed");
    a.types = 0;
    a.is_calendar = 1;
    a.unit = "h";
    refuse(&a, SMURF_ERROR_ARGUMENT, "the unit cannot be 'h'");
    a.unit = NULL;
    a.start = (double[]){0};
    a.start_ticks = (int64_t[]){0};
    refuse(&a, SMURF_ERROR_ARGUMENT, "given twice");
}

/* ---- Lending --------------------------------------------------------------------------------- */

static void lent_arrays_are_used_in_place(void **state)
{
    (void)state;
    int released = 0;
    double time[] = {0.5, 1, 0, 7};
    uint32_t type[] = {1, 0, 1, 1};
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = 4;
    a.sequences = 3;
    a.time = time;
    a.type = type;
    a.offset = (size_t[]){0, 2, 2, 4};
    a.release = count_release;
    a.release_context = &released;
    for (a.sort = 0; a.sort < 2; a.sort++) {
        released = 0;
        smurf_data *data = make(&a);
        assert_ptr_equal(smurf_data_sequence(data, 0)->time, time);
        assert_ptr_equal(smurf_data_sequence(data, 2)->type, type + 2);
        assert_int_equal(released, 0);
        smurf_data *window;
        assert_int_equal(smurf_data_window(&window, data, 1, 1, NULL), SMURF_OK); /* copies */
        smurf_data_free(window);
        assert_int_equal(released, 0);
        smurf_data_free(data);
        assert_int_equal(released, 1);
    }
    a.type = NULL; /* times lent, types made */
    smurf_data *data = make(&a);
    assert_ptr_equal(smurf_data_sequence(data, 0)->time, time);
    smurf_data_free(data);
    assert_int_equal(released, 2);
}

static void what_must_change_is_copied(void **state)
{
    (void)state;
    int released = 0;
    double time[] = {2, 1, 3e6, 4e6};
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = 2;
    a.time = time;
    a.sort = 1;
    a.release = count_release;
    a.release_context = &released;
    smurf_data *data = make(&a);
    assert_int_equal(released, 1);
    assert_true(time[0] == 2);
    assert_true(smurf_data_sequence(data, 0)->time[0] == 1);
    smurf_data_free(data);
    assert_int_equal(released, 1);
    a.sort = 0;
    a.time = time + 2; /* times that need an origin */
    data = make(&a);
    assert_int_equal(released, 2);
    assert_true(smurf_data_sequence(data, 0)->time[1] == 1e6);
    smurf_data_free(data);
    a.time = (double[]){1, 2};
    a.sequence = (int64_t[]){1, 2};
    smurf_data_free(make(&a));
    assert_int_equal(released, 3);
}

/* ---- Speed ----------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void ten_million_events(void **state)
{
    (void)state;
    enum { N = 10000000, SEQUENCES = 1000 };
    double *time = malloc(N * sizeof *time), begin = now();
    int64_t *id = malloc(N * sizeof *id);
    uint32_t *type = malloc(N * sizeof *type);
    assert_true(time && id && type);
    for (size_t i = 0; i < N; i++)
        time[i] = (double)i / 16, id[i] = (int64_t)(i % SEQUENCES), type[i] = (uint32_t)(i % 7);
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = N;
    a.time = time;
    a.type = type;
    smurf_data_free(make(&a));
    a.sequence = id;
    smurf_data *data = make(&a);
    assert_int_equal(smurf_data_sequences(data), SEQUENCES);
    assert_true(smurf_data_sequence(data, 3)->time[2] == (2 * SEQUENCES + 3) / 16.0);
    smurf_data_free(data);
    assert_true(now() - begin < 20); /* a second or so; sanitizers take longer */
    free(time);
    free(id);
    free(type);
}

/* ---- Into memory ----------------------------------------------------------------------------- */

static void written_into_memory(void **state)
{
    (void)state;
    static const char text[] = "sequence,time,type\na,1,up\na,2.5,down\nb,0,up\n";
    for (size_t i = 0; smurf_format_name(i); i++) {
        smurf_write_config config;
        smurf_error err;
        smurf_write_config_init(&config);
        config.format = smurf_format_name(i);
        smurf_data *data = read_text(text, NULL);
        void *bytes = data;
        size_t size = 1;
        smurf_status status = smurf_data_write_memory(data, &bytes, &size, &config, &err);
        if (strcmp(config.format, "rmtpp") == 0) {
            assert_int_equal(status, SMURF_ERROR_ARGUMENT);
            assert_null(bytes);
            smurf_data_free(data);
            continue;
        }
        assert_int_equal(status, SMURF_OK);
        smurf_data *back;
        if (smurf_data_read_memory(&back, bytes, size, NULL, NULL, &err)) fail_msg("%s", err.message);
        assert_int_equal(smurf_data_events(back), 3);
        if (strcmp(config.format, "csv") == 0) {
            assert_int_equal(size, sizeof text - 1);
            assert_memory_equal(bytes, text, size);
        }
        smurf_data_free(back);
        smurf_data_free(data);
        smurf_free(bytes);
    }
    smurf_write_config config;
    smurf_write_config_init(&config);
    config.format = "xml";
    smurf_data *data = read_text(text, NULL);
    void *bytes;
    size_t size;
    assert_int_equal(smurf_data_write_memory(data, &bytes, &size, &config, NULL), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_data_write_memory(data, &bytes, &size, NULL, NULL), SMURF_OK); /* JSON Lines */
    assert_true(size > 0 && *(char *)bytes == '{');
    smurf_free(bytes);
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sequence),
        cmocka_unit_test(sequences_end_to_end),
        cmocka_unit_test(ids_are_grouped),
        cmocka_unit_test(ticks_are_exact),
        cmocka_unit_test(wrong_events),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(lent_arrays_are_used_in_place),
        cmocka_unit_test(what_must_change_is_copied),
        cmocka_unit_test(a_zone_is_kept),
        cmocka_unit_test(ten_million_events),
        cmocka_unit_test(written_into_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
