/*
 * unit_further.c - further columns: how they are read, kept beside their events through every transformation, matched
 * by name, and seen by models and forecasts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "data/data.h"
#include "forecast/forecast.h"
#include "model/model_file.h"
#include "smurf_lab.h"
#include "stream_case.h"

/* ---- Reading --------------------------------------------------------------------------------- */

static smurf_status try_read(smurf_data **out, const char *text, const char *features, const smurf_reading *as,
                             smurf_error *err)
{
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.features = features;
    config.as = as;
    config.rare = 1;
    return smurf_data_read_memory(out, text, strlen(text), "log", &config, err);
}

static smurf_data *read_text(const char *text, const char *features)
{
    smurf_data *data;
    smurf_error err;
    if (try_read(&data, text, features, NULL, &err)) fail_msg("%s", err.message);
    return data;
}

/* Values of one sequence, event by event, column by column. NaN: missing. */
static void check_values(const smurf_sequence *s, size_t columns, const double *want)
{
    assert_int_equal(s->columns, columns);
    assert_non_null(s->further);
    for (size_t i = 0; i < s->length * columns; i++)
        if (!((double)s->further[i] == want[i] || (isnan(s->further[i]) && isnan(want[i]))))
            fail_msg("value %zu is %g, not %g", i, (double)s->further[i], want[i]);
}

#define VALUES(...)                                                                                                    \
    (const double[])                                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const char orders[] = "customer,time,type,amount,region\n"
                             "a,1,x,10,north\n"
                             "a,2,y,2.5,south\n"
                             "b,1,x,,north\n"
                             "b,4,x,-3,\n"
                             "b,5,y,1e2,west\n";

static void columns_of_a_table(void **state)
{
    (void)state;
    smurf_data *data = read_text(orders, "amount,region");
    assert_int_equal(smurf_data_columns(data), 2);
    assert_string_equal(smurf_data_column_name(data, 0), "amount");
    assert_string_equal(smurf_data_column_name(data, 1), "region");
    assert_null(smurf_data_column_name(data, 2));
    assert_null(smurf_data_column_word(data, 0, 0));
    assert_string_equal(smurf_data_column_word(data, 1, 2), "west");
    assert_null(smurf_data_column_word(data, 1, 3));
    assert_string_equal(smurf_data_reading(data)->features, "amount=number,region=word");
    check_values(smurf_data_sequence(data, 0), 2, VALUES(10, 0, 2.5, 1));
    check_values(smurf_data_sequence(data, 1), 2, VALUES(NAN, 0, -3, NAN, 100, 2));
    smurf_data_free(data);
    data = read_text(orders, NULL); /* off by default */
    assert_int_equal(smurf_data_columns(data), 0);
    assert_null(smurf_data_sequence(data, 0)->further);
    smurf_data_free(data);
    data = read_text(orders, "amount=word"); /* numbers as words */
    assert_string_equal(smurf_data_column_word(data, 0, 1), "2.5");
    smurf_data_free(data);
}

/* Rows of several sequences, out of order: values stay beside their events. */
static void columns_follow_their_events(void **state)
{
    (void)state;
    smurf_data *data = read_text(
        "customer,time,type,amount\na,3,x,30\nb,1,x,100\na,1,x,10\nb,7,y,700\na,2,x,20\nb,2,y,200\n", "amount");
    check_values(smurf_data_sequence(data, 0), 1, VALUES(10, 20, 30));
    check_values(smurf_data_sequence(data, 1), 1, VALUES(100, 200, 700));
    smurf_data_free(data);
    char text[2000] = "time,type,amount\n";
    for (int i = 30; i > 0; i--) sprintf(text + strlen(text), "%d,x,%d\n", i, 2 * i);
    data = read_text(text, "amount"); /* newest first */
    for (int i = 0; i < 30; i++) assert_true(smurf_data_sequence(data, 0)->further[i] == 2 * (float)(i + 1));
    smurf_data_free(data);
}

static void objects_of_one_event(void **state)
{
    (void)state;
    smurf_data *data = read_text("{\"user\":\"a\",\"time\":1,\"type\":\"x\",\"amount\":4,\"region\":\"n\"}\n"
                                 "{\"user\":\"a\",\"time\":2,\"type\":\"y\",\"region\":\"s\"}\n"
                                 "{\"user\":\"a\",\"time\":3,\"type\":\"x\",\"amount\":null,\"region\":\"n\"}\n",
                                 "region,amount=number");
    check_values(smurf_data_sequence(data, 0), 2, VALUES(0, 4, 1, NAN, 0, NAN));
    smurf_data_free(data);
}

/* Fewer than five events: one of all others, whose number is that of the words that are named. */
static void rare_words_are_one(void **state)
{
    (void)state;
    char text[4000] = "time,type,region\n";
    smurf_data *data;
    smurf_error err;
    for (int i = 0; i < 60; i++)
        sprintf(text + strlen(text), "%d,x,%s\n", i, i % 20 == 7 ? "rare" : i % 3 ? "north" : "south");
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.features = "region", config.type_column = "type";
    if (smurf_data_read_memory(&data, text, strlen(text), "log", &config, &err)) fail_msg("%s", err.message);
    assert_string_equal(smurf_data_column_word(data, 0, 0), "south");
    assert_string_equal(smurf_data_column_word(data, 0, 1), "north");
    assert_null(smurf_data_column_word(data, 0, 2));
    for (int i = 0; i < 60; i++)
        assert_true(smurf_data_sequence(data, 0)->further[i] == (float)(i % 20 == 7 ? 2 : i % 3 ? 1 : 0));
    smurf_data_free(data);
}

/* Free columns with numbers or few words; no identifiers, times or constants. */
static void automatic_choice(void **state)
{
    (void)state;
    char text[20000] = "order_id,time,type,paid_at,amount,shop,const,note,n,zip,area_code\n";
    for (int i = 0; i < 100; i++)
        sprintf(text + strlen(text), "%d,%d,%s,2024-01-%02d,%d.5,s%d,c,note %d,%d,%d,%d\n", 1000 + i, i,
                i % 2 ? "x" : "y", 1 + i % 28, i * 7 % 13, i % 5, i, i, 94000 + i * 29 % 89, 400 + i % 3);
    smurf_data *data = read_text(text, "auto"), *none = read_text(text, NULL), *one = read_text(text, "shop");
    assert_string_equal(smurf_data_reading(data)->features, "amount=number,shop=word,area_code=word");
    assert_null(smurf_data_reading(data)->others);
    assert_string_equal(smurf_data_reading(none)->others, "amount, shop, area_code");
    assert_string_equal(smurf_data_reading(one)->others, "amount, area_code");
    smurf_data_free(data), smurf_data_free(none), smurf_data_free(one);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *features, *says;
    } wrong[] = {{"colour", "there is no column 'colour', which --features names"},
                 {"amount,amount", "named twice"},
                 {"region,amount=word,region=number", "named twice"}};
    static const char twice[] = "time,type,v,w,v\n1,x,1,5,1\n2,y,2,5,3\n3,x,1,7,2\n4,y,2,7,3\n";
    smurf_data *data;
    smurf_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(try_read(&data, orders, wrong[i].features, NULL, &err), SMURF_OK);
        if (!strstr(err.message, wrong[i].says)) fail_msg("%s: %s", wrong[i].features, err.message);
    }
    assert_int_equal(try_read(&data, twice, "v", NULL, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "two columns are called 'v' (rename one)"));
    data = read_text(twice, "auto");
    assert_string_equal(smurf_data_reading(data)->features, "w=number");
    smurf_data_free(data);
    assert_int_equal(try_read(&data, "time,type,amount\n", "auto", NULL, &err), SMURF_ERROR_INPUT); /* no event */
    assert_int_equal(try_read(&data, "time,type,amount\n", "amount", NULL, &err), SMURF_ERROR_INPUT);
    smurf_stream *stream;
    const smurf_piece *piece;
    smurf_read_config config;
    smurf_read_config_init(&config);
    for (int i = 0; i < 3; i++) {
        static const char *const says[] = {"needs a file, not a stream",
                                           "write --features 'amount=number' or 'amount=word'", ""};
        config.features = i == 0 ? "auto" : i == 1 ? "amount" : "amount=number";
        struct arriving arriving = {.text = orders, .size = strlen(orders), .chunk = 7};
        assert_int_equal(smurf_stream_new_reader(&stream, arriving_read, &arriving, "log", &config, &err), SMURF_OK);
        smurf_status status = smurf_stream_next(stream, 0, &piece, &err);
        assert_int_equal(status == SMURF_OK, i == 2);
        if (status && !strstr(err.message, says[i])) fail_msg("%s", err.message);
        if (!status) assert_true(smurf_data_sequence(piece->data, 0)->further[0] == 10);
        smurf_stream_free(stream);
    }
    const char *sequences = "{\"time_since_start\":[1,2],\"type_event\":[0,1],\"amount\":[3,4]}\n";
    assert_int_equal(try_read(&data, sequences, "amount", NULL, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "CSV, TSV, packed files and JSON with one object per event only"));
    data = read_text(orders, "amount");
    void *bytes;
    size_t size;
    assert_int_equal(smurf_data_write_memory(data, &bytes, &size, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(
        strstr(err.message, "cannot hold the 1 further column of this data: write CSV, TSV or a packed file"));
    smurf_data_free(data);
}

static void words_among_numbers(void **state)
{
    (void)state;
    smurf_data *data = read_text("time,type,amount\n1,x,5\n2,x,n/a\n3,x,7\n4,x,8\n5,x,9\n6,x,9\n", "amount");
    check_values(smurf_data_sequence(data, 0), 1, VALUES(5, NAN, 7, 8, 9, 9));
    assert_non_null(strstr(smurf_data_remark(data, 0), "1 of 6 cells of 'amount' are not numbers"));
    smurf_data_free(data);
}

/* ---- Transformations ------------------------------------------------------------------------- */

static smurf_data *simulate(size_t sequences, size_t events, uint64_t seed)
{
    smurf_error err;
    smurf_process *process;
    smurf_data *data = NULL;
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.max_events = events;
    config.seed = seed;
    config.threads = 2;
    if (smurf_process_new(&process, "covariate", 2, NULL, 0, &err) ||
        smurf_process_simulate(&data, process, &config, &err))
        fail_msg("%s", err.message);
    smurf_process_free(process);
    return data;
}

/* Every event of the part has the values of the event at its time in the whole. */
static void check_part(const smurf_data *part, const smurf_data *whole, double within)
{
    assert_true(smurf_further_same(&part->further, &whole->further));
    for (size_t k = 0; k < part->sequences; k++) {
        const smurf_sequence *p = &part->sequence[k], *w = &whole->sequence[k < whole->sequences ? k : 0];
        for (size_t i = 0; i < p->length; i++) {
            const smurf_sequence *s = w;
            size_t at = SIZE_MAX;
            for (size_t q = 0; q < whole->sequences && at == SIZE_MAX; q++)
                for (size_t j = 0; j < whole->sequence[q].length; j++)
                    if (fabs(whole->sequence[q].time[j] - p->time[i]) <= within &&
                        (q == k || whole->sequences == 1 || part->sequences < whole->sequences))
                        s = &whole->sequence[q], at = j;
            assert_true(at != SIZE_MAX);
            assert_memory_equal(p->further + i * p->columns, s->further + at * s->columns,
                                p->columns * sizeof *p->further);
        }
    }
}

static void parts_and_windows(void **state)
{
    (void)state;
    smurf_data *one = simulate(1, 200, 3), *many = simulate(20, 10, 4), *out;
    smurf_split split;
    assert_int_equal(smurf_data_window(&out, one, 30, 10, NULL), SMURF_OK);
    check_part(out, one, 0);
    smurf_data_free(out);
    assert_int_equal(smurf_split_by_share(&split, one, (const double[]){6, 2, 2}, 1, NULL), SMURF_OK);
    check_part(split.train, one, 0), check_part(split.dev, one, 0), check_part(split.test, one, 0);
    smurf_split_release(&split);
    assert_int_equal(smurf_split_by_share(&split, many, (const double[]){6, 2, 2}, 1, NULL), SMURF_OK);
    check_part(split.dev, many, 0);
    smurf_split_release(&split);
    assert_int_equal(smurf_data_dither(&out, one, 1e-9, 1, NULL), SMURF_OK);
    check_part(out, one, 1e-7);
    smurf_data_free(out), smurf_data_free(one), smurf_data_free(many);
}

static void through_a_file(void **state)
{
    (void)state;
    smurf_data *data = simulate(7, 40, 5), *again;
    smurf_write_config config;
    smurf_write_config_init(&config);
    smurf_error err;
    void *bytes;
    size_t size;
    config.format = "csv";
    if (smurf_data_write_memory(data, &bytes, &size, &config, &err)) fail_msg("%s", err.message);
    smurf_read_config read;
    smurf_read_config_init(&read);
    read.features = "x,word";
    read.rare = 0;
    if (smurf_data_read_memory(&again, bytes, size, "log", &read, &err)) fail_msg("%s", err.message);
    if (smurf_further_adopt(again, &data->further, &err)) fail_msg("%s", err.message);
    assert_int_equal(again->events, data->events);
    for (size_t i = 0; i < 2 * data->events; i++) assert_true(data->further_value[i] == again->further_value[i]);
    assert_true(size < 60 * data->events); /* x is 0.123, not all the digits of a float */
    smurf_free(bytes);
    smurf_data_free(data), smurf_data_free(again);
}

static void parts_agree_on_words(void **state)
{
    (void)state;
    smurf_data *a = read_text("time,type,region\n1,x,north\n2,x,south\n", "region");
    smurf_data *b = read_text("time,type,region\n1,x,south\n2,x,east\n3,x,\n4,x,north\n", "region");
    assert_int_equal(smurf_further_adopt(b, &a->further, NULL), SMURF_OK);
    check_values(smurf_data_sequence(b, 0), 1, VALUES(1, 2, NAN, 0));
    smurf_data_free(a), smurf_data_free(b);
}

/* ---- Models ---------------------------------------------------------------------------------- */

static smurf_model *trained(const smurf_data *train, const char *context, const char *epochs)
{
    const char *const set[][2] = {{"epochs", epochs}, {"layers", "2"}, {"threads", "1"}, {"width", "16"},
                                  {"inner", "16"},    {"heads", "2"},  {"nodes", "8"},   {"context", context}};
    smurf_error err;
    smurf_settings *settings;
    smurf_model *model;
    if (smurf_settings_new(&settings, "default", train, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (smurf_settings_set(settings, set[i][0], set[i][1], &err)) fail_msg("%s", err.message);
    if (smurf_fit(&model, settings, train, NULL, NULL, &err)) fail_msg("%s", err.message);
    smurf_settings_free(settings);
    return model;
}

static smurf_forecast *forecast_of(const smurf_model *model)
{
    smurf_forecast *f;
    smurf_error err;
    if (smurf_forecast_new(&f, model, 0, &err)) fail_msg("%s", err.message);
    return f;
}

static double median(smurf_forecast *f)
{
    smurf_error err;
    double gap, level = 0.5;
    if (smurf_forecast_quantile(f, &level, &gap, 1, &err)) fail_msg("%s", err.message);
    return gap;
}

/* Read at once, event by event, by the evaluation: one law. */
static void one_law(void **state)
{
    (void)state;
    smurf_data *data = simulate(12, 60, 6);
    const char *const contexts[] = {"0", "8"};
    for (int c = 0; c < 2; c++) {
        smurf_model *model = trained(data, contexts[c], "3");
        assert_int_equal(smurf_model_columns(model), 2);
        const smurf_sequence *s = smurf_data_sequence(data, 2);
        smurf_forecast *grown = forecast_of(model), *read = forecast_of(model);
        struct predictor p = smurf_model_predictor(model);
        void *workspace = p.class->workspace_new(p.self, s->length, NULL);
        p.class->read(p.self, workspace, s);
        for (size_t i = 0; i < s->length; i++) {
            assert_int_equal(
                smurf_forecast_append_with(grown, s->time[i], s->type[i], s->further + i * s->columns, NULL), SMURF_OK);
            assert_int_equal(smurf_forecast_read(read, s, i + 1, NULL), SMURF_OK);
            struct dist dist = p.class->dist(p.self, workspace, i, 0);
            double a = median(grown), b = median(read), evaluated = smurf_dist_quantile(&dist, 0.5);
            assert_true(fabs(a - b) < 1e-4 * a && fabs(a - evaluated) < 1e-4 * a);
        }
        p.class->workspace_free(workspace);
        smurf_forecast_free(grown), smurf_forecast_free(read);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

/* The median after the same events, the last of which has these columns. */
static double median_with(const smurf_model *model, const smurf_data *data, const float *further)
{
    smurf_forecast *f = forecast_of(model);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_error err;
    for (size_t i = 0; i < 10; i++)
        if (smurf_forecast_append_with(f, s->time[i], s->type[i], i < 9 ? s->further + i * s->columns : further, &err))
            fail_msg("%s", err.message);
    double out = median(f);
    smurf_forecast_free(f);
    return out;
}

static void what_forecasts_see(void **state)
{
    (void)state;
    smurf_data *data = simulate(40, 60, 7);
    smurf_model *model = trained(data, "0", "3");
    double plain = median_with(model, data, (const float[]){0, 0});
    assert_true(median_with(model, data, (const float[]){2, 0}) < plain); /* the rate rises with x */
    assert_true(median_with(model, data, (const float[]){-2, 0}) > plain);
    assert_true(median_with(model, data, (const float[]){0, 1}) < plain);  /* fast */
    assert_true(median_with(model, data, (const float[]){0, 2}) != plain); /* another word */
    assert_true(median_with(model, data, (const float[]){0, 2}) == median_with(model, data, (const float[]){0, 9e9f}));
    assert_true(median_with(model, data, (const float[]){NAN, 0}) !=
                median_with(model, data, (const float[]){0.1f, 0}));
    assert_true(median_with(model, data, (const float[]){NAN, NAN}) == median_with(model, data, NULL));
    assert_true(median_with(model, data, (const float[]){INFINITY, NAN}) == median_with(model, data, NULL));
    smurf_model_free(model);
    smurf_data_free(data);
}

/* In a file: names, kinds, scales and words. */
static void models_in_files(void **state)
{
    (void)state;
    smurf_data *data = simulate(10, 40, 8), *other, *matched;
    smurf_model *model = trained(data, "0", "3"), *again = NULL;
    smurf_error err;
    void *bytes;
    size_t size;
    if (smurf_model_save_memory(model, &bytes, &size, &err) || smurf_model_load_memory(&again, bytes, size, NULL, &err))
        fail_msg("%s", err.message);
    assert_string_equal(smurf_model_column_name(again, 1), "word");
    assert_string_equal(smurf_model_column_word(again, 1, 1), "fast");
    assert_null(smurf_model_column_word(again, 0, 0));
    const float row[] = {0.7f, 1};
    assert_true(median_with(model, data, row) == median_with(again, data, row));
    /* Columns are found by name, words by text. */
    other = read_text("time,type,word,y,x\n1,0,fast,5,0.5\n2,0,new,5,\n3,0,plain,5,1\n4,0,,5,1\n", "word,y,x");
    if (smurf_model_match(again, other, &matched, &err)) fail_msg("%s", err.message);
    check_values(smurf_data_sequence(matched, 0), 2, VALUES(0.5, 1, NAN, 2, 1, 0, 1, NAN));
    smurf_data_free(other), smurf_data_free(matched);
    /* Without a column, or with another kind. */
    other = read_text("time,type,word\n1,0,fast\n2,0,plain\n", "word");
    assert_int_equal(smurf_model_match(again, other, &matched, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "it has no further column 'x', which the train data has"));
    smurf_evaluation *e;
    assert_int_equal(smurf_evaluate(&e, again, other, NULL, NULL, &err), SMURF_ERROR_INPUT);
    smurf_data_free(other);
    other = read_text("time,type,word,x\n1,0,3,1\n2,0,4,2\n", "word,x");
    assert_int_equal(smurf_model_match(again, other, &matched, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "the column 'word' holds numbers, but in the train data words"));
    smurf_forecast *f = forecast_of(again);
    const smurf_sequence *s = smurf_data_sequence(other, 0);
    smurf_sequence wider = *s;
    wider.columns = 3;
    assert_int_equal(smurf_forecast_read(f, &wider, 1, &err), SMURF_ERROR_ARGUMENT);
    smurf_forecast_free(f);
    smurf_data_free(other);
    smurf_free(bytes);
    smurf_model_free(model), smurf_model_free(again);
    smurf_data_free(data);
}

static void other_models_refuse(void **state)
{
    (void)state;
    smurf_data *data = simulate(10, 20, 9);
    smurf_settings *settings;
    smurf_model *model;
    smurf_error err;
    if (smurf_settings_new(&settings, "thp", data, &err)) fail_msg("%s", err.message);
    assert_int_equal(smurf_fit(&model, settings, data, NULL, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "model thp cannot see further columns: leave --features out"));
    smurf_settings_free(settings);
    smurf_data_free(data);
}

/* A model that sees no columns takes no notice of them. */
static void columns_that_nobody_sees(void **state)
{
    (void)state;
    char text[20000] = "user,time,type,amount\n";
    for (int i = 0; i < 400; i++)
        sprintf(text + strlen(text), "u%d,%d.%d,%s,%d\n", i / 20, i, i * 7 % 10, i % 3 ? "x" : "y", i % 7);
    smurf_data *plain = read_text(text, NULL), *data = read_text(text, "amount"), *matched;
    smurf_model *model = trained(plain, "0", "1");
    smurf_forecast *a = forecast_of(model), *b = forecast_of(model);
    assert_int_equal(smurf_forecast_read(a, smurf_data_sequence(plain, 3), 20, NULL), SMURF_OK);
    assert_int_equal(smurf_forecast_read(b, smurf_data_sequence(data, 3), 20, NULL), SMURF_OK);
    assert_true(median(a) == median(b));
    assert_int_equal(smurf_model_match(model, data, &matched, NULL), SMURF_OK);
    assert_int_equal(smurf_data_columns(matched), 0);
    assert_int_equal(smurf_model_trained_on(model, data), 1);
    smurf_evaluation *e;
    assert_int_equal(smurf_evaluate(&e, model, data, NULL, NULL, NULL), SMURF_OK);
    smurf_evaluation_free(e);
    smurf_forecast_free(a), smurf_forecast_free(b);
    smurf_data_free(plain), smurf_data_free(data), smurf_data_free(matched);
    smurf_model_free(model);
}

/* A skewed column is seen on a log axis, another is not; all are standardised and bounded. */
static void views(void **state)
{
    (void)state;
    char text[40000] = "time,type,even,skewed\n";
    for (int i = 0; i < 1000; i++)
        sprintf(text + strlen(text), "%d,x,%d,%.6g\n", i, i % 10, exp(0.01 * (i * 389 % 1000)));
    smurf_data *data = read_text(text, "even,skewed");
    struct further_view *view;
    assert_int_equal(smurf_further_view_fit(&view, data, NULL), SMURF_OK);
    assert_false(view->number[0].log);
    assert_true(view->number[1].log);
    double sum[2] = {0}, square[2] = {0};
    for (size_t i = 0; i < data->events; i++) {
        float seen[2];
        smurf_further_view_see(view, data->further_value + 2 * i, seen);
        for (int k = 0; k < 2; k++) sum[k] += (double)seen[k], square[k] += (double)(seen[k] * seen[k]);
    }
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(sum[k] / 1000) < 1e-3);
        assert_true(fabs(square[k] / 1000 - 1) < 1e-2);
    }
    float seen[2];
    smurf_further_view_see(view, (const float[]){1e30f, -1e30f}, seen);
    assert_true(seen[0] == (float)FURTHER_LIMIT && seen[1] == -(float)FURTHER_LIMIT);
    smurf_further_view_free(view);
    smurf_data_free(data);
}

/* What train does not tell apart, a model cannot judge: rounding must not make a difference of it. */
static void constant_columns(void **state)
{
    (void)state;
    char text[20000] = "time,type,c,zero\n";
    for (int i = 0; i < 1000; i++) sprintf(text + strlen(text), "%d,x,0.1,0\n", i);
    smurf_data *data = read_text(text, "c=number,zero=number");
    struct further_view *view;
    float seen[2];
    assert_int_equal(smurf_further_view_fit(&view, data, NULL), SMURF_OK);
    smurf_further_view_see(view, data->further_value, seen);
    assert_true(seen[0] == 0 && seen[1] == 0);
    assert_true(view->number[0].sd == 1 && view->number[1].sd == 1);
    smurf_further_view_free(view);
    smurf_data_free(data);
}

/* Columns in a model file that was made up. */
static void columns_by_hand(void **state)
{
    (void)state;
    static const char good[] = "{\"number\":\"a\",\"log\":false,\"unit\":1,\"mean\":0,\"sd\":1}",
                      word[] = "{\"word\":\"b\",\"words\":[\"x\",\"y\"]}";
    static const char *const bad[] = {
        "{}",
        "[]",
        "[1]",
        "[{}]",
        "[{\"word\":\"b\"}]",
        "[{\"word\":\"b\",\"words\":[1]}]",
        "[{\"word\":\"b\",\"words\":[\"x\",\"x\"]}]",
        "[{\"number\":\"a\",\"word\":\"b\",\"words\":[],\"log\":false,\"unit\":1,\"mean\":0,\"sd\":1}]",
        "[{\"number\":\"a\",\"unit\":1,\"mean\":0,\"sd\":1}]",
        "[{\"number\":\"a\",\"log\":1,\"unit\":1,\"mean\":0,\"sd\":1}]",
        "[{\"number\":\"a\",\"log\":true,\"unit\":0,\"mean\":0,\"sd\":1}]",
        "[{\"number\":\"a\",\"log\":true,\"unit\":1,\"sd\":1}]",
        "[{\"number\":\"a\",\"log\":true,\"unit\":1,\"mean\":\"0\",\"sd\":1}]",
        "[{\"number\":\"a\",\"log\":true,\"unit\":1,\"mean\":0,\"sd\":-1}]"};
    struct further_view *view;
    bool right;
    char text[1000];
    for (size_t i = 0; i < sizeof bad / sizeof *bad + 4; i++) {
        snprintf(text, sizeof text, "[%s,%s]", good, i % 2 ? word : good); /* the same name twice */
        bool fine = i == sizeof bad / sizeof *bad + 1;
        if (i == sizeof bad / sizeof *bad + 2) snprintf(text, sizeof text, "[%s,%s]", word, word);
        if (i == sizeof bad / sizeof *bad + 3) snprintf(text, sizeof text, "[%s,0]", word);
        json_t *json = json_loads(i < sizeof bad / sizeof *bad ? bad[i] : text, JSON_DECODE_ANY, NULL);
        assert_non_null(json);
        assert_int_equal(smurf_further_view_from_json(&view, json, &right, NULL), SMURF_OK);
        if (right != fine) fail_msg("%zu: %s is %s", i, text, right ? "right" : "wrong");
        smurf_further_view_free(view);
        json_decref(json);
    }
}

/* A run goes on with the columns that it was started with. */
static void resumed_with_other_columns(void **state)
{
    (void)state;
    char path[] = "/tmp/smurf-further-XXXXXX";
    smurf_data *data = simulate(10, 20, 9), *dev = simulate(4, 20, 10);
    smurf_settings *settings;
    smurf_trainer *t, *again = NULL;
    smurf_error err;
    close(mkstemp(path));
    if (smurf_settings_new(&settings, "default", data, &err) || smurf_further_adopt(dev, &data->further, &err) ||
        smurf_trainer_new(&t, settings, data, dev, &err) || smurf_trainer_save(t, path, &err) ||
        smurf_trainer_resume(&again, path, data, dev, 1, &err))
        fail_msg("%s", err.message);
    smurf_trainer_free(again);
    for (int i = 0; i < 2; i++) {
        float *value = &(i ? dev : data)->further_value[6], kept = *value;
        *value += 0.5f;
        assert_int_equal(smurf_trainer_resume(&again, path, data, dev, 1, &err), SMURF_ERROR_INPUT);
        if (!strstr(err.message, "started with other further columns")) fail_msg("%s", err.message);
        *value = kept;
    }
    smurf_data *fewer = read_text("time,type,x\n1,0,1\n2,0,1\n", "x");
    assert_int_equal(smurf_trainer_resume(&again, path, fewer, dev, 1, &err), SMURF_ERROR_INPUT);
    smurf_trainer_free(t);
    smurf_settings_free(settings);
    smurf_data_free(data), smurf_data_free(dev), smurf_data_free(fewer);
    unlink(path);
}

/* ---- Futures --------------------------------------------------------------------------------- */

static void past_rows(void **state)
{
    (void)state;
    struct past_columns p;
    assert_true(smurf_past_columns_init(&p, 1));
    assert_null(smurf_past_columns_draw(&p, 0, 0.5));
    for (uint32_t i = 0; i < 600; i++) smurf_past_columns_add(&p, i % 3, (const float[]){(float)i});
    bool seen[600] = {false};
    for (int i = 0; i < 4000; i++) {
        size_t row = (size_t)*smurf_past_columns_draw(&p, 1, i / 4000.0);
        assert_true(row % 3 == 1 && row >= 600 - PAST_ROWS);
        seen[row] = true;
    }
    for (size_t i = 600 - PAST_ROWS; i < 600; i++) assert_int_equal(seen[i], i % 3 == 1);
    assert_true(*smurf_past_columns_draw(&p, 1, 1) >= 0 && (size_t)*smurf_past_columns_draw(&p, 1, 1) % 3 == 1);
    assert_non_null(smurf_past_columns_draw(&p, 7, 0.99)); /* no such type: any event's */
    smurf_past_columns_release(&p);
}

/* Drawn events have the columns of past ones: where those are fast, so are the futures. */
static void futures_have_columns(void **state)
{
    (void)state;
    smurf_data *data = simulate(200, 60, 10);
    smurf_model *model = trained(data, "0", "40");
    double mean[2] = {0};
    for (int fast = 0; fast < 2; fast++) {
        smurf_forecast *f = forecast_of(model);
        smurf_error err;
        for (int i = 0; i < 20; i++)
            if (smurf_forecast_append_with(f, i, 0, (const float[]){fast ? 1.5f : -1.5f, (float)fast}, &err))
                fail_msg("%s", err.message);
        smurf_futures *futures;
        smurf_futures_config config;
        smurf_futures_config_init(&config);
        config.paths = 100, config.events = 8, config.threads = 1, config.until = INFINITY;
        if (smurf_forecast_futures(f, &config, &futures, &err)) fail_msg("%s", err.message);
        for (size_t p = 0; p < 100; p++) {
            const double *time;
            const uint32_t *type;
            assert_int_equal(smurf_futures_path(futures, p, &time, &type), 8);
            mean[fast] += (time[7] - time[0]) / 100;
        }
        smurf_futures_free(futures);
        smurf_forecast_free(f);
    }
    print_message("# futures of 8 events: %.1f after slow ones, %.1f after fast ones\n", mean[0], mean[1]);
    assert_true(mean[1] < 0.5 * mean[0]);
    smurf_model_free(model);
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_a_table),
        cmocka_unit_test(columns_follow_their_events),
        cmocka_unit_test(objects_of_one_event),
        cmocka_unit_test(rare_words_are_one),
        cmocka_unit_test(automatic_choice),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(words_among_numbers),
        cmocka_unit_test(parts_and_windows),
        cmocka_unit_test(through_a_file),
        cmocka_unit_test(parts_agree_on_words),
        cmocka_unit_test(one_law),
        cmocka_unit_test(what_forecasts_see),
        cmocka_unit_test(models_in_files),
        cmocka_unit_test(other_models_refuse),
        cmocka_unit_test(columns_that_nobody_sees),
        cmocka_unit_test(views),
        cmocka_unit_test(constant_columns),
        cmocka_unit_test(columns_by_hand),
        cmocka_unit_test(resumed_with_other_columns),
        cmocka_unit_test(past_rows),
        cmocka_unit_test(futures_have_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
