/*
 * recovery_tails.c - a log with two time scales far apart, seconds within a sitting and months between: no forecast may
 * claim what the data does not support. The mean of a forecast stays within ten times the mean of what comes, and its
 * 99% quantile within the longest train gap, unless gaps of dev are longer.
 */
#include "smurf_lab.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const double second = 1, month = 2.6e6;

static smurf_data *sittings_apart(double apart, double share, size_t sequences, uint64_t seed)
{
    const smurf_parameter given[] = {
        {"short", (const double[]){20 * second}, 1}, {"long", &apart, 1}, {"share", &share, 1}};
    smurf_error err;
    smurf_process *process;
    smurf_data *data = NULL;
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.max_events = 20;
    config.seed = seed;
    config.threads = 1;
    if (smurf_process_new(&process, "sittings", 1, given, 3, &err) ||
        smurf_process_simulate(&data, process, &config, &err))
        fail_msg("%s", err.message);
    smurf_process_free(process);
    return data;
}

static smurf_data *sittings(double share, size_t sequences, uint64_t seed)
{
    return sittings_apart(2 * month, share, sequences, seed);
}

static smurf_model *train_on(const smurf_data *train, const smurf_data *dev, const char *epochs, const char *tail)
{
    const char *const set[][2] = {{"width", "16"},    {"inner", "32"}, {"heads", "2"},   {"layers", "1"},
                                  {"epochs", epochs}, {"batch", "8"},  {"threads", "1"}, {"tail", tail},
                                  {"counts", "off"},  {"pool", "off"}};
    smurf_error err;
    smurf_settings *settings;
    smurf_model *model;
    if (smurf_settings_new(&settings, "default", train, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        assert_int_equal(smurf_settings_set(settings, set[i][0], set[i][1], NULL), SMURF_OK);
    if (smurf_fit(&model, settings, train, dev, NULL, &err)) fail_msg("%s", err.message);
    smurf_settings_free(settings);
    return model;
}

static double longest_gap(const smurf_data *data, double *mean)
{
    double longest = 0, sum = 0;
    size_t n = 0;
    for (size_t s = 0; s < smurf_data_sequences(data); s++) {
        const smurf_sequence *q = smurf_data_sequence(data, s);
        for (size_t i = q->first; i < q->length; i++, n++) {
            double gap = q->time[i] - q->time[i - 1];
            sum += gap;
            if (gap > longest) longest = gap;
        }
    }
    *mean = sum / (double)n;
    return longest;
}

/* The largest mean and 99% quantile of all forecasts. */
struct claims {
    double mean, q99;
};

static struct claims claims_of(const smurf_model *model, const smurf_data *data)
{
    struct claims most = {0, 0};
    const double level = 0.99;
    smurf_error err;
    smurf_forecast *f;
    assert_int_equal(smurf_forecast_new(&f, model, 0, &err), SMURF_OK);
    for (size_t s = 0; s < smurf_data_sequences(data); s++) {
        const smurf_sequence *q = smurf_data_sequence(data, s);
        smurf_forecast_clear(f, q->origin);
        for (size_t i = 0; i < q->length; i++) {
            double mean = 0, q99 = 0;
            if (smurf_forecast_append(f, q->time[i], q->type[i], &err) || smurf_forecast_mean(f, &mean, &err) ||
                smurf_forecast_quantile(f, &level, &q99, 1, &err))
                fail_msg("%s", err.message);
            if (mean > most.mean) most.mean = mean;
            if (q99 > most.q99) most.q99 = q99;
        }
    }
    smurf_forecast_free(f);
    return most;
}

static void forecasts_claim_no_more_than_is_known(void **state)
{
    (void)state;
    const struct {
        double share;
        const char *epochs;
        bool hinges; /* without a bound, means hinge on the tail */
    } cases[] = {{0.05, "2", true}, {0.05, "20", false}, {0.005, "2", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double share = cases[i].share;
        smurf_data *train = sittings(share, 100, 1), *dev = sittings(share, 100, 2), *test = sittings(share, 30, 3),
                   *much = sittings(share, 3000, 4);
        double mean, coming, longest = longest_gap(train, &mean);
        longest_gap(much, &coming);
        smurf_model *model = train_on(train, dev, cases[i].epochs, "on"),
                    *free_one = train_on(train, dev, cases[i].epochs, "off");
        struct claims with = claims_of(model, test), without = claims_of(free_one, test);
        print_message(
            "# share %g, %s epochs: mean gap %.3g, longest %.3g; largest mean %.3g (%.3g without the bound), 99%% "
            "quantile %.3g (%.3g)\n",
            share, cases[i].epochs, mean, longest, with.mean, without.mean, with.q99, without.q99);
        assert_true(with.mean <= 10 * mean && with.mean <= 10 * coming);
        assert_true(with.q99 <= longest);
        if (cases[i].hinges) assert_true(without.mean > 10 * mean && without.q99 > longest);
        smurf_model_free(model), smurf_model_free(free_one);
        smurf_data_free(train), smurf_data_free(dev), smurf_data_free(test), smurf_data_free(much);
    }
}

/* Where dev has longer gaps, a law that has mass there keeps as much of it as they support, and no more. */
static void longer_gaps_of_dev_count(void **state)
{
    (void)state;
    smurf_data *train = sittings(0.05, 100, 1), *dev = sittings_apart(12 * month, 0.05, 100, 2),
               *test = sittings_apart(12 * month, 0.05, 30, 3);
    double mean, longest = longest_gap(train, &mean), longest_dev = longest_gap(dev, &mean), coming;
    longest_gap(test, &coming);
    smurf_model *model = train_on(train, dev, "2", "on");
    struct claims claims = claims_of(model, test);
    print_message("# longest gap %.3g, of dev %.3g; mean of test %.3g; largest mean %.3g, 99%% quantile %.3g\n",
                  longest, longest_dev, coming, claims.mean, claims.q99);
    assert_true(claims.q99 > longest && claims.q99 <= longest_dev);
    assert_true(claims.mean <= 10 * coming);
    smurf_model_free(model);
    smurf_data_free(train), smurf_data_free(dev), smurf_data_free(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forecasts_claim_no_more_than_is_known),
                                       cmocka_unit_test(longer_gaps_of_dev_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
