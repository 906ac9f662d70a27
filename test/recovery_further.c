/*
 * recovery_further.c - a process whose rate depends on a number and a word of the last event: a model that sees these
 * columns finds the true law, one that does not cannot.
 *
 * The measure is the mean over events of the mean over true quantile levels of |F_learned - F_true|, as in recovery.c.
 */
#include "true_quantile.h"

#include "data/data.h"
#include "forecast/model_predictor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { LEVELS = 19, SCORED = 20 };
static const double LIMIT = 0.03;

static double error_of_law(const struct dist *dist, const smurf_law *truth)
{
    double sum = 0;
    for (int k = 1; k <= LEVELS; k++) {
        double level = k / (LEVELS + 1.0);
        sum += fabs(smurf_dist_cdf(dist, true_quantile(truth, level)) - level) / LEVELS;
    }
    return sum;
}

/* data: with its columns, which the truth needs. */
static double error_of(const smurf_model *model, const smurf_process *process, const smurf_data *data)
{
    struct predictor p = smurf_model_predictor(model);
    double sum = 0;
    size_t laws = 0;
    for (size_t i = 0; i < SCORED; i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        void *workspace = p.class->workspace_new(p.self, s->length, NULL);
        assert_non_null(workspace);
        p.class->read(p.self, workspace, s);
        for (size_t j = 1; j < s->length; j += 3, laws++) {
            smurf_law *truth;
            assert_int_equal(smurf_process_law(&truth, process, s, j, NULL), SMURF_OK);
            struct dist dist = p.class->dist(p.self, workspace, j - 1, 1);
            sum += error_of_law(&dist, truth);
            smurf_law_free(truth);
        }
        p.class->workspace_free(workspace);
    }
    assert_true(laws > 100);
    return sum / (double)laws;
}

/* The same events, with or without their columns. */
static smurf_data *copy_of(const smurf_data *data, const char *features)
{
    smurf_error err;
    smurf_data *out = NULL;
    smurf_write_config write;
    smurf_read_config read;
    void *bytes;
    size_t size;
    smurf_write_config_init(&write);
    smurf_read_config_init(&read);
    write.format = "csv";
    read.features = features, read.type_column = "type";
    if (smurf_data_write_memory(data, &bytes, &size, &write, &err) ||
        smurf_data_read_memory(&out, bytes, size, "log", &read, &err))
        fail_msg("%s", err.message);
    if (features && smurf_further_adopt(out, &data->further, &err)) fail_msg("%s", err.message);
    smurf_free(bytes);
    return out;
}

static smurf_model *train_on(const smurf_data *train, const smurf_data *dev, const char *features)
{
    const char *const set[][2] = {{"epochs", "25"}, {"layers", "1"},     {"threads", "1"}, {"width", "32"},
                                  {"inner", "32"},  {"heads", "2"},      {"dropout", "0"}, {"patience", "0"},
                                  {"rate", "3e-3"}, {"average", "0.99"}, {"batch", "16"}};
    smurf_data *seen = copy_of(train, features), *seen_dev = copy_of(dev, features);
    smurf_error err;
    smurf_settings *settings;
    smurf_model *model;
    if (smurf_settings_new(&settings, "default", seen, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        assert_int_equal(smurf_settings_set(settings, set[i][0], set[i][1], NULL), SMURF_OK);
    if (smurf_fit(&model, settings, seen, seen_dev, NULL, &err)) fail_msg("%s", err.message);
    smurf_settings_free(settings);
    smurf_data_free(seen), smurf_data_free(seen_dev);
    return model;
}

static void a_rate_that_depends_on_columns(void **state)
{
    (void)state;
    smurf_error err;
    smurf_process *process;
    if (smurf_process_new(&process, "covariate", 1, NULL, 0, &err)) fail_msg("%s", err.message);
    smurf_data *train = observe(process, 400, 1), *dev = observe(process, 40, 2);
    smurf_model *with = train_on(train, dev, "x,word"), *without = train_on(train, dev, NULL);
    double seen = error_of(with, process, dev), blind = error_of(without, process, dev);
    print_message("# covariate: mean |F - truth| %.4f with the columns, %.4f without\n", seen, blind);
    assert_true(seen < LIMIT);
    assert_true(blind > 4 * seen);
    /* The truth itself can be evaluated, if it gets its columns. */
    smurf_evaluation *e;
    smurf_data *none = copy_of(dev, NULL);
    if (smurf_evaluate_process(&e, process, dev, NULL, NULL, &err)) fail_msg("%s", err.message);
    assert_true(smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL)->ks_p > 1e-4);
    smurf_evaluation_free(e);
    assert_int_equal(smurf_evaluate_process(&e, process, none, NULL, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "depends on further columns"));
    smurf_law *law;
    assert_int_equal(smurf_process_law(&law, process, smurf_data_sequence(none, 0), 2, &err), SMURF_ERROR_ARGUMENT);
    smurf_data_free(train), smurf_data_free(dev), smurf_data_free(none);
    smurf_model_free(with), smurf_model_free(without);
    smurf_process_free(process);
}

/* Gaps between events, times their rates, are exponential; the mean gap is as the process says. */
static void gaps_of_the_process(void **state)
{
    (void)state;
    smurf_error err;
    smurf_process *process;
    if (smurf_process_new(&process, "covariate", 2, NULL, 0, &err)) fail_msg("%s", err.message);
    smurf_data *data = observe(process, 3000, 3);
    double rate[2], sum = 0, square = 0, n = 0;
    size_t fast = 0;
    smurf_process_rates(process, rate);
    for (size_t q = 0; q < smurf_data_sequences(data); q++) {
        const smurf_sequence *s = smurf_data_sequence(data, q);
        for (size_t i = 0; i < s->length; i++) fast += s->further[2 * i + 1] == 1;
        for (size_t i = 1; i < s->length && s->time[i - 1] < 10; i++) { /* few of these are cut off at 40 */
            double lambda = exp((double)s->further[2 * i - 2]) * (s->further[2 * i - 1] == 1 ? 2 : 1);
            double e = (s->time[i] - s->time[i - 1]) * lambda;
            sum += e, square += e * e, n++;
        }
    }
    assert_true(fabs((double)fast / (double)smurf_data_events(data) - 0.5) < 0.02);
    print_message("# %g gaps, mean %.4f, mean square %.4f\n", n, sum / n, square / n);
    assert_true(n > 10000 && sum / n > 0.9 && sum / n < 1.01 && square / n < 2.1);
    double mean = exp(0.5) * 0.75;
    assert_true(fabs(rate[0] + rate[1] - 1 / mean) < 1e-12);
    smurf_data_free(data);
    smurf_process_free(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_of_the_process),
        cmocka_unit_test(a_rate_that_depends_on_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
