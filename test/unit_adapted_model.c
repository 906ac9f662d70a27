/*
 * unit_adapted_model.c - a model whose levels adapt: its step chosen on drifting data, and the same levels in
 * evaluations, scores, forecasts that read or append, saved states and futures.
 */
#include "pool_case.h"

#include "base/random.h"
#include "eval/evaluation.h"
#include "forecast/forecast.h"
#include "law/wrap.h"

enum { EVENTS = 700 };

/* One log; gaps are exponential, and from the middle on their mean grows. */
static smurf_data *drifting_log(size_t events, double growth)
{
    char *text = malloc(40 * (events + 1)), *at = text;
    double time = 0;
    struct random random;
    assert_non_null(text);
    smurf_random_init(&random, 3, 1);
    at += sprintf(at, "time,type\n");
    for (size_t i = 0; i < events; i++) {
        double late = fmax((double)i / (double)events - 0.5, 0);
        time += exp(growth * late) * smurf_random_exponential(&random);
        at += sprintf(at, "%.9f,%c\n", time, "abc"[i % 3]);
    }
    smurf_data *data = read_text(text);
    free(text);
    return data;
}

/* A small model, and the step of its levels. */
static smurf_model *adaptive_model(const char *settings, const smurf_data *data, double gamma)
{
    smurf_model *model = trained(settings, data);
    model->notes.calibration.adaptive = gamma;
    return model;
}

static void append_all(smurf_forecast *f, const smurf_sequence *s, size_t from, size_t to)
{
    smurf_error err;
    for (size_t i = from; i < to; i++)
        if (smurf_forecast_append(f, s->time[i], s->type[i], &err)) fail_msg("%s", err.message);
}

static double upper(smurf_forecast *f, double level)
{
    double gap;
    smurf_error err;
    if (smurf_forecast_quantile(f, &level, &gap, 1, &err)) fail_msg("%s", err.message);
    return gap;
}

/* ---- Forecasts ------------------------------------------------------------------------------------------- */

static void reading_is_appending(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 4);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    for (int kind = 0; kind < 3; kind++) {
        smurf_model *model = adaptive_model(model_kinds[kind], data, 0.02);
        smurf_forecast *read = forecast_of(model, 0, s, EVENTS), *grown = forecast_of(model, 0, s, 1),
                       *both = forecast_of(model, 0, s, EVENTS / 2);
        append_all(grown, s, 1, EVENTS);
        append_all(both, s, EVENTS / 2, EVENTS);
        bool moved = false;
        for (int k = 0; k < SMURF_LEVELS; k++) {
            assert_float_equal(read->adaptive.q[k], grown->adaptive.q[k], 1e-9);
            assert_float_equal(read->adaptive.q[k], both->adaptive.q[k], 1e-9);
            moved |= fabs(read->adaptive.p[k] - smurf_levels[k]) > 0.02;
        }
        assert_true(moved);
        smurf_forecast_clear(read, s->origin);
        assert_true(fabs(read->adaptive.p[3] - smurf_levels[3]) < 1e-12 && read->adaptive.gamma == 0.02);
        smurf_forecast_free(read), smurf_forecast_free(grown), smurf_forecast_free(both);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

/* Without recalibration there is no adaptation either; with gamma 0 the law is as it was. */
static void raw_laws_do_not_adapt(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 4);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_model *model = adaptive_model("objective=mle", data, 0);
    smurf_forecast *plain = forecast_of(model, 0, s, EVENTS);
    model->notes.calibration.adaptive = 0.02;
    smurf_forecast *f = forecast_of(model, 0, s, EVENTS);
    assert_true(upper(f, 0.9) > 1.1 * upper(plain, 0.9));
    smurf_forecast_recalibrate(f, 0);
    assert_true(upper(f, 0.9) == upper(plain, 0.9));
    smurf_forecast_free(f), smurf_forecast_free(plain);
    smurf_model_free(model);
    smurf_data_free(data);
}

static void states_are_kept_to_the_bit(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 4);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_error err;
    for (int kind = 0; kind < 3; kind++) {
        smurf_model *model = adaptive_model(model_kinds[kind], data, 0.05);
        for (size_t cut = 0; cut < EVENTS; cut += cut < 3 ? 1 : 173) {
            void *bytes, *again;
            size_t size, size_again;
            smurf_forecast *f = forecast_of(model, 0, s, cut / 2), *g;
            append_all(f, s, cut / 2, cut);
            if (smurf_forecast_save(f, &bytes, &size, &err)) fail_msg("%s", err.message);
            if (smurf_forecast_restore(&g, model, bytes, size, &err)) fail_msg("%s", err.message);
            append_all(f, s, cut, EVENTS), append_all(g, s, cut, EVENTS);
            assert_memory_equal(&f->adaptive, &g->adaptive, sizeof f->adaptive);
            assert_true(upper(f, 0.9) == upper(g, 0.9));
            smurf_free(bytes);
            assert_int_equal(smurf_forecast_save(f, &bytes, &size, NULL), SMURF_OK);
            assert_int_equal(smurf_forecast_save(g, &again, &size_again, NULL), SMURF_OK);
            assert_int_equal(size, size_again);
            assert_memory_equal(bytes, again, size);
            /* another step is another model */
            model->notes.calibration.adaptive = 0.01;
            smurf_forecast_free(g);
            assert_int_equal(smurf_forecast_restore(&g, model, bytes, size, &err), SMURF_ERROR_ARGUMENT);
            model->notes.calibration.adaptive = 0.05;
            smurf_free(bytes), smurf_free(again);
            smurf_forecast_free(f);
        }
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

/* What the levels make infinite is shown as that, not as an error. */
static void ends_can_be_infinite(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 0);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_model *model = adaptive_model("objective=mle", data, 0.1);
    smurf_forecast *f = forecast_of(model, 0, s, EVENTS);
    smurf_error err;
    double time = s->time[EVENTS - 1], mean, within;
    for (int i = 0; i < 40; i++) {
        time += 1e7;
        if (smurf_forecast_append(f, time, 0, &err)) fail_msg("%s", err.message);
    }
    smurf_answer *answer;
    assert_true(upper(f, 0.95) == INFINITY && isfinite(upper(f, 0)));
    assert_int_equal(smurf_forecast_mean(f, &mean, &err), SMURF_OK);
    assert_true(mean == INFINITY);
    assert_int_equal(smurf_forecast_cdf(f, (const double[]){1e12}, &within, 1, &err), SMURF_OK);
    assert_true(within < 0.95);
    if (smurf_forecast_ask(f, NULL, &answer, &err)) fail_msg("%s", err.message);
    assert_true(answer->interval[1].high == INFINITY && isfinite(answer->interval[1].low));
    smurf_answer_free(answer);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
}

/* The first gap of a future is a draw from the adapted law; the levels stay as they are. */
static void futures_begin_adapted(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 4);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_model *model = adaptive_model("objective=mle", data, 0.02);
    smurf_forecast *f = forecast_of(model, 0, s, EVENTS);
    struct adaptive before = f->adaptive;
    smurf_futures_config config;
    smurf_futures *futures;
    smurf_error err;
    smurf_futures_config_init(&config);
    config.paths = 5;
    config.events = 4;
    config.threads = 2;
    if (smurf_forecast_futures(f, &config, &futures, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < config.paths; i++) {
        const double *time;
        const uint32_t *type;
        struct random random;
        smurf_random_init(&random, config.seed, i);
        smurf_futures_path(futures, i, &time, &type);
        double gap = upper(f, smurf_random_uniform(&random));
        assert_true(time[0] == smurf_ticks_round(gap, model->notes.tick));
    }
    assert_memory_equal(&before, &f->adaptive, sizeof before);
    smurf_futures_free(futures);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
}

/* ---- Evaluations ------------------------------------------------------------------------------------------- */

static smurf_evaluation *evaluation_of(const smurf_model *model, const smurf_data *data, int threads, int recalibrate)
{
    smurf_error err;
    smurf_evaluation *e;
    smurf_eval_config config;
    smurf_eval_config_init(&config);
    config.threads = threads;
    config.recalibrate = recalibrate;
    config.examples = 3;
    if (smurf_evaluate(&e, model, data, NULL, &config, &err)) fail_msg("%s", err.message);
    return e;
}

static void assert_same_row(const struct row_values *a, const struct row_values *b, size_t n)
{
    assert_memory_equal(a->pit, b->pit, n * sizeof *a->pit);
    assert_memory_equal(a->crps, b->crps, n * sizeof *a->crps);
    assert_memory_equal(a->quantile, b->quantile, n * SMURF_LEVELS * sizeof *a->quantile);
    assert_memory_equal(a->log_density, b->log_density, n * sizeof *a->log_density);
}

/* The row of the model adapts, the row beside it does not, and threads do not matter. */
static void rows_with_and_without(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(4 * EVENTS, 4), *train = drifting_log(EVENTS, 0);
    static const char *const kinds[] = {"objective=mle context=8", "objective=mle"};
    for (int kind = 0; kind < 2; kind++) {
        smurf_model *model = adaptive_model(kinds[kind], train, 0);
        smurf_evaluation *plain = evaluation_of(model, data, 1, 1);
        assert_null(smurf_evaluation_row(plain, SMURF_ROW_FIXED, NULL, NULL));
        model->notes.calibration.adaptive = 0.02;
        smurf_evaluation *one = evaluation_of(model, data, 1, 1), *three = evaluation_of(model, data, 3, 1),
                         *raw = evaluation_of(model, data, 1, 0);
        const struct row_values *row = one->values.row;
        size_t n = one->values.n;
        assert_same_row(&row[ROW_MODEL], &three->values.row[ROW_MODEL], n);
        assert_memory_equal(one->values.example, three->values.example, 3 * sizeof *one->values.example);
        assert_same_row(&row[ROW_FIXED], &three->values.row[ROW_FIXED], n);
        assert_same_row(&row[ROW_FIXED], &plain->values.row[ROW_MODEL], n);
        assert_same_row(&row[ROW_FIXED], &raw->values.row[ROW_MODEL], n);
        assert_true(row[ROW_MODEL].metrics.cs_pit < 1.5 && row[ROW_FIXED].metrics.cs_pit > 3);
        smurf_evaluation_free(plain), smurf_evaluation_free(one);
        smurf_evaluation_free(three), smurf_evaluation_free(raw);
        smurf_model_free(model);
    }
    smurf_data_free(data), smurf_data_free(train);
}

struct scores {
    const smurf_model *model;
    const smurf_sequence *sequence;
    size_t n;
};

/* The level of a scored gap is that of a forecast made just before it. */
static int check_score(void *context, const smurf_scored *scored)
{
    struct scores *s = context;
    double level;
    smurf_error err;
    if (s->n++ % 50) return 0;
    smurf_forecast *f = forecast_of(s->model, 0, s->sequence, scored->event);
    if (smurf_forecast_cdf(f, &scored->gap, &level, 1, &err)) fail_msg("%s", err.message);
    assert_float_equal(level, scored->pit, 1e-4);
    smurf_forecast_free(f);
    return 0;
}

static void scores_are_those_of_forecasts(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 4);
    smurf_model *model = adaptive_model("objective=mle context=8", data, 0.02);
    struct scores scores = {model, smurf_data_sequence(data, 0), 0};
    smurf_error err;
    model->notes.tick = 0;
    if (smurf_score(model, data, NULL, check_score, &scores, &err)) fail_msg("%s", err.message);
    assert_int_equal(scores.n, EVENTS - 1);
    smurf_model_free(model);
    smurf_data_free(data);
}

/* ---- Types ---------------------------------------------------------------------------------------------- */

/* Types that come in a cycle, which the pairs of train know at once. */
static smurf_model *following_model(const char *settings, const smurf_data *data, enum pool_types types)
{
    smurf_model *model = trained(settings, data);
    set_follow(model, data, types, 0.01);
    return model;
}

static double next_share(smurf_forecast *f, uint32_t type)
{
    double share[3];
    smurf_error err;
    if (smurf_forecast_types_at(f, 1, share, &err)) fail_msg("%s", err.message);
    assert_true(fabs(share[0] + share[1] + share[2] - 1) < 1e-9);
    return share[type];
}

static void types_follow_what_came(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 4);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_error err;
    for (int kind = 0; kind < 3; kind++)
        for (enum pool_types types = POOL_NO_TYPES; types < POOL_TYPES; types++) {
            smurf_model *model = following_model(model_kinds[kind], data, types);
            smurf_forecast *read = forecast_of(model, 0, s, EVENTS), *grown = forecast_of(model, 0, s, 1),
                           *both = forecast_of(model, 0, s, EVENTS / 2), *restored;
            append_all(grown, s, 1, EVENTS);
            append_all(both, s, EVENTS / 2, EVENTS);
            for (int e = 0; e < BLEND_LAWS; e++) {
                assert_float_equal(read->blend.weight[e], grown->blend.weight[e], 1e-6);
                assert_float_equal(read->blend.weight[e], both->blend.weight[e], 1e-6);
            }
            assert_true(fabs(read->blend.weight[POOL_MARKOV] - 1.0 / 3) > 0.02);
            assert_true(next_share(read, EVENTS % 3) > 0.9);
            assert_true(read->adaptive.gamma == 0);
            void *bytes, *again;
            size_t size, size_again;
            if (smurf_forecast_save(grown, &bytes, &size, &err)) fail_msg("%s", err.message);
            if (smurf_forecast_restore(&restored, model, bytes, size, &err)) fail_msg("%s", err.message);
            assert_memory_equal(restored->blend.weight, grown->blend.weight,
                                sizeof grown->blend.weight); /* not its padding */
            assert_true(next_share(restored, 0) == next_share(grown, 0));
            assert_int_equal(smurf_forecast_save(restored, &again, &size_again, NULL), SMURF_OK);
            assert_true(size == size_again && memcmp(bytes, again, size) == 0);
            model->notes.pool->type_follow = 0.02; /* another model */
            smurf_forecast_free(restored);
            assert_int_equal(smurf_forecast_restore(&restored, model, bytes, size, &err), SMURF_ERROR_ARGUMENT);
            smurf_free(bytes), smurf_free(again);
            smurf_forecast_clear(read, s->origin);
            assert_true(read->blend.weight[0] == 1.0 / 3 && read->blend.rate == 0.01);
            smurf_forecast_free(read), smurf_forecast_free(grown), smurf_forecast_free(both);
            smurf_model_free(model);
        }
    smurf_data_free(data);
}

/* Raw types are the model's own, whatever came. */
static void raw_types_do_not_follow(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 4);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_model *model = trained("objective=mle", data);
    smurf_forecast *plain = forecast_of(model, 0, s, EVENTS);
    double alone = next_share(plain, 1);
    smurf_forecast_free(plain);
    set_follow(model, data, POOL_RECENCY, 0.01);
    smurf_forecast *f = forecast_of(model, 0, s, EVENTS);
    assert_true(fabs(next_share(f, 1) - alone) > 0.1);
    smurf_forecast_recalibrate(f, 0);
    assert_true(next_share(f, 1) == alone);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
}

/* The same types in an evaluation, on any number of threads, as in forecasts; the fixed pool is less often right. */
static void evaluations_follow_types(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(3 * EVENTS, 4), *train = drifting_log(EVENTS, 0);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    static const char *const kinds[] = {"objective=mle context=8 epochs=1", "objective=mle epochs=1"};
    for (int kind = 0; kind < 2; kind++) {
        smurf_model *model = following_model(kinds[kind], train, POOL_NO_TYPES);
        smurf_evaluation *one = evaluation_of(model, data, 1, 1), *three = evaluation_of(model, data, 3, 1),
                         *raw = evaluation_of(model, data, 1, 0);
        const struct row_values *row = &one->values.row[ROW_MODEL];
        size_t n = one->values.n;
        assert_memory_equal(row->top_at, three->values.row[ROW_MODEL].top_at, n * sizeof *row->top_at);
        assert_memory_equal(row->true_share, three->values.row[ROW_MODEL].true_share, n * sizeof *row->true_share);
        assert_true(row->metrics.acc > 99 && raw->values.row[ROW_MODEL].metrics.acc < 90);
        assert_null(one->values.row[ROW_FIXED].name);
        for (size_t i = 1; i < n; i += 300) {
            smurf_forecast *f = forecast_of(model, 0, s, i + 1);
            double share[3];
            assert_int_equal(smurf_forecast_types(f, share, NULL), SMURF_OK);
            assert_true(fabs(share[s->type[i + 1]] - (double)row->true_share[i]) < 0.01);
            smurf_forecast_free(f);
        }
        smurf_evaluation_free(one), smurf_evaluation_free(three), smurf_evaluation_free(raw);
        smurf_model_free(model);
    }
    smurf_data_free(data), smurf_data_free(train);
}

/* ---- The choice --------------------------------------------------------------------------------------------- */

static smurf_calibration calibrated(const char *settings, const smurf_data *train, const smurf_data *data, int threads)
{
    smurf_error err;
    smurf_model *model = trained(settings, train);
    if (smurf_model_calibrate(model, data, NULL, 1, 1, threads, NULL, NULL, &err)) fail_msg("%s", err.message);
    smurf_calibration out = *smurf_model_calibration(model);
    smurf_model_free(model);
    return out;
}

static void the_step_is_chosen(void **state)
{
    (void)state;
    smurf_data *train = drifting_log(EVENTS, 0), *drifting = drifting_log(2 * EVENTS, 6);
    smurf_calibration auto1 = calibrated("objective=mle adaptive=auto context=8", train, drifting, 1);
    smurf_calibration auto3 = calibrated("objective=mle adaptive=auto context=8", train, drifting, 3);
    assert_true(auto1.adaptive == auto3.adaptive && auto1.pinball_before == auto3.pinball_before &&
                auto1.pinball_after == auto3.pinball_after);
    assert_true(auto1.adaptive >= 0.005 && auto1.pinball_after < auto1.pinball_before && auto1.pinball_after > 0);
    smurf_calibration fixed = calibrated("objective=mle adaptive=0.03", train, drifting, 1);
    assert_true(fixed.adaptive == 0.03 && fixed.pinball_before == 0 && fixed.pinball_after == 0);
    smurf_calibration off = calibrated("objective=mle", train, drifting, 1);
    assert_true(off.adaptive == 0 && off.pinball_before == 0);
    /* levels that follow are judged as they were shown */
    assert_true(off.misses && off.cs_adapted == 0 && off.cs_after > 4);
    assert_true(!auto1.misses && auto1.cs_after > 4 && auto1.cs_adapted > 0 && auto1.cs_adapted < 1.5);
    assert_true(auto1.cs_adapted == auto3.cs_adapted && fixed.cs_adapted > 0 && fixed.cs_adapted < auto1.cs_adapted);
    smurf_data_free(drifting);
    /* many sequences */
    smurf_data *many = simulate("hawkes", 3, 12, 60, 4);
    smurf_calibration several = calibrated("objective=mle adaptive=auto", many, many, 2);
    assert_true(several.pinball_before > 0 && several.pinball_after <= several.pinball_before &&
                several.adaptive < 0.05);
    smurf_data_free(many), smurf_data_free(train);
}

/* The default preset adapts to one log only, and published presets do not. */
static void presets(void **state)
{
    (void)state;
    smurf_data *one = drifting_log(EVENTS, 0), *many = simulate("hawkes", 3, 4, 60, 4);
    smurf_settings settings;
    smurf_error err;
    smurf_settings_init(&settings);
    assert_true(settings.adaptive == 0);
    assert_int_equal(smurf_settings_preset(&settings, "default", one, &err), SMURF_OK);
    assert_true(settings.adaptive == SMURF_AUTO);
    assert_int_equal(smurf_settings_preset(&settings, "paper-retweet", one, &err), SMURF_OK);
    assert_true(settings.adaptive == 0);
    assert_int_equal(smurf_settings_preset(&settings, "default", many, &err), SMURF_OK);
    assert_true(settings.adaptive == 0);
    smurf_data_free(one), smurf_data_free(many);
}

/* A file keeps the step and how it was chosen. */
static void files_keep_the_step(void **state)
{
    (void)state;
    smurf_data *data = drifting_log(EVENTS, 0);
    smurf_model *model = adaptive_model("objective=mle adaptive=auto", data, 0.005), *loaded;
    smurf_error err;
    void *bytes;
    size_t size;
    for (int i = 0; i < 2; i++) {
        model->notes.calibration.pinball_before = i ? 0.7 : 0;
        model->notes.calibration.pinball_after = i ? 0.6 : 0;
        model->notes.calibration.gaps = model->notes.calibration.sequences = i ? 1000 : 0;
        model->notes.calibration.cs_before = 9;
        model->notes.calibration.cs_adapted = i ? 0.8 : 0;
        if (smurf_model_save_memory(model, &bytes, &size, &err)) fail_msg("%s", err.message);
        if (smurf_model_load_memory(&loaded, bytes, size, NULL, &err)) fail_msg("%s", err.message);
        const smurf_calibration *c = smurf_model_calibration(loaded);
        assert_true(c->adaptive == 0.005 && c->pinball_before == (i ? 0.7 : 0) && c->pinball_after == (i ? 0.6 : 0));
        assert_true(loaded->config.adaptive == SMURF_AUTO);
        assert_true(c->cs_adapted == (i ? 0.8 : 0) && !c->misses);
        smurf_model_free(loaded);
        smurf_free(bytes);
    }
    smurf_model_free(model);
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_is_appending),
        cmocka_unit_test(raw_laws_do_not_adapt),
        cmocka_unit_test(states_are_kept_to_the_bit),
        cmocka_unit_test(ends_can_be_infinite),
        cmocka_unit_test(futures_begin_adapted),
        cmocka_unit_test(rows_with_and_without),
        cmocka_unit_test(scores_are_those_of_forecasts),
        cmocka_unit_test(types_follow_what_came),
        cmocka_unit_test(raw_types_do_not_follow),
        cmocka_unit_test(evaluations_follow_types),
        cmocka_unit_test(the_step_is_chosen),
        cmocka_unit_test(presets),
        cmocka_unit_test(files_keep_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
