/*
 * unit_answer.c - questions and answers: the same numbers as from single calls, for every kind of model.
 */
#include "forecast_case.h"

#include <stddef.h>

static const double level[] = {0.5, 0.9, 0.99}, within[] = {0, 0.5, 3};

static smurf_question question(void)
{
    smurf_question q;
    smurf_question_init(&q);
    q.level = level;
    q.levels = 3;
    q.within = within;
    q.horizons = 3;
    return q;
}

static smurf_answer *ask(smurf_forecast *f, const smurf_question *q)
{
    smurf_error err;
    smurf_answer *a;
    if (smurf_forecast_ask(f, q, &a, &err)) fail_msg("%s", err.message);
    return a;
}

static double quantile(smurf_forecast *f, double p)
{
    double gap;
    assert_int_equal(smurf_forecast_quantile(f, &p, &gap, 1, NULL), SMURF_OK);
    return gap;
}

/* The answer against calls one by one, with `since` taken off. */
static void check(smurf_forecast *f, const smurf_question *q, const smurf_answer *a, double since)
{
    double mean, share[3], sum = 0;
    assert_int_equal(smurf_forecast_mean(f, &mean, NULL), SMURF_OK);
    assert_true(a->mean == fmax(mean - since, 0) && a->median == fmax(quantile(f, 0.5) - since, 0));
    assert_true(a->levels == 3 && a->horizons == 3 && a->events == smurf_forecast_events(f));
    for (int i = 0; i < 3; i++) {
        double low = q->one_sided ? 0 : fmax(quantile(f, (1 - level[i]) / 2) - since, 0);
        double high = quantile(f, q->one_sided ? level[i] : 1 - (1 - level[i]) / 2) - since;
        assert_true(a->interval[i].low == low && a->interval[i].high == high);
        double gap = since + within[i], p;
        assert_int_equal(smurf_forecast_cdf(f, &gap, &p, 1, NULL), SMURF_OK);
        assert_true(a->within[i] == p);
    }
    assert_int_equal(smurf_forecast_types(f, share, NULL), SMURF_OK);
    assert_int_equal(a->types, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(a->share[i] == share[a->type[i]] && (i == 0 || a->share[i] <= a->share[i - 1]));
        sum += a->share[i];
    }
    assert_true(fabs(sum - 1) < 1e-6);
}

static void answers_equal_single_calls(void **state)
{
    (void)state;
    smurf_data *data = simulate("hawkes", 3, 6, 40, 4);
    for (int kind = 0; kind < MODEL_KINDS; kind++) {
        smurf_model *model = trained(model_kinds[kind], data);
        smurf_forecast *f = forecast_of(model, 0, smurf_data_sequence(data, 1), 25);
        for (int one_sided = 0; one_sided < 2; one_sided++) {
            smurf_question q = question();
            q.one_sided = one_sided;
            smurf_answer *a = ask(f, &q);
            check(f, &q, a, 0);
            assert_null(a->conformal);
            assert_null(a->next_interval);
            assert_null(a->next_within);
            assert_true(isnan(a->next_median) && isnan(a->next_seen));
            smurf_answer_free(a);
        }
        smurf_forecast_free(f);
        smurf_model_free(model);
    }
    smurf_data_free(data);
    smurf_answer_free(NULL);
}

/* The times of the data, rounded to the tick. */
static smurf_data *on_ticks(const smurf_data *data, double tick)
{
    size_t sequences = smurf_data_sequences(data), n = 0;
    double *time = malloc(smurf_data_events(data) * sizeof *time);
    uint32_t *type = malloc(smurf_data_events(data) * sizeof *type);
    size_t *offset = calloc(sequences + 1, sizeof *offset);
    for (size_t i = 0; i < sequences; i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        for (size_t j = 0; j < s->length; j++, n++) {
            time[n] = rint(s->time[j] / tick) * tick;
            type[n] = s->type[j];
        }
        offset[i + 1] = n;
    }
    smurf_error err;
    smurf_data *out;
    smurf_arrays arrays;
    smurf_arrays_init(&arrays);
    arrays.events = n;
    arrays.time = time;
    arrays.type = type;
    arrays.types = smurf_data_types(data);
    arrays.sequences = sequences;
    arrays.offset = offset;
    if (smurf_data_from_arrays(&out, &arrays, &err)) fail_msg("%s", err.message);
    free(time), free(type), free(offset);
    return out;
}

static double cdf(smurf_forecast *f, double gap)
{
    double p;
    assert_int_equal(smurf_forecast_cdf(f, &gap, &p, 1, NULL), SMURF_OK);
    return p;
}

/* On a clock that ticks: both ends against their definition, step by step, also given a silence between two ticks. */
static void answers_lie_on_ticks(void **state)
{
    (void)state;
    const double tick = 0.25;
    smurf_data *exact = simulate("hawkes", 3, 6, 40, 4), *data = on_ticks(exact, tick);
    smurf_model *model = trained("objective=mle", data);
    smurf_forecast *f = forecast_of(model, 0, smurf_data_sequence(data, 1), 25);
    for (double since = 0; since < 1; since += 0.35) {
        smurf_question q = question();
        smurf_forecast_silence(f, since, NULL);
        smurf_answer *a = ask(f, &q);
        double median = -1;
        for (int k = 0; median < 0; k++)
            if (cdf(f, (k + 0.5) * tick) >= 0.5) median = k * tick;
        assert_true(fabs(a->median - fmax(median - since, 0)) < 1e-12);
        for (int i = 0; i < 3; i++) {
            double low = 0, high = -1, alpha = (1 - level[i]) / 2;
            for (int k = 1; cdf(f, (k - 0.5) * tick) <= alpha; k++) low = k * tick;
            for (int k = 0; high < 0; k++)
                if (cdf(f, (k + 0.5) * tick) >= 1 - alpha) high = k * tick;
            assert_true(fabs(a->interval[i].low - fmax(low - since, 0)) < 1e-12);
            assert_true(fabs(a->interval[i].high - fmax(high - since, 0)) < 1e-12);
            assert_true(a->within[i] == cdf(f, (floor((since + within[i]) / tick + 1e-9) + 0.5) * tick));
        }
        smurf_answer_free(a);
    }
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
    smurf_data_free(exact);
}

/* Silence can be in the question, in the forecast, or come from the clock; the forecast keeps what it was told. */
static void silence_in_three_ways(void **state)
{
    (void)state;
    smurf_data *data = simulate("hawkes", 3, 6, 40, 4);
    smurf_model *model = trained("objective=mle", data);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_forecast *f = forecast_of(model, 0, s, 20);
    const double since = 0.75;
    smurf_question q = question(), silent = q, at = q;
    smurf_moment origin = {s->origin, 0}, last, now;
    assert_true(smurf_moment_after(&last, origin, s->time[19]) && smurf_moment_after(&now, last, since));
    silent.silence = since;
    at.now = &now;
    smurf_answer *a = ask(f, &silent), *b = ask(f, &at);
    smurf_forecast_silence(f, since, NULL);
    smurf_answer *c = ask(f, &q);
    check(f, &q, c, since);
    assert_true(a->median == c->median && a->mean == c->mean && a->interval[2].high == c->interval[2].high);
    assert_true(fabs(b->median - c->median) < 1e-9);
    assert_true(a->last.whole == last.whole && a->last.fraction == last.fraction);
    assert_true(a->from.whole == now.whole && a->from.fraction == now.fraction);
    assert_true(b->from.whole == now.whole && b->from.fraction == now.fraction);
    smurf_answer_free(a), smurf_answer_free(b), smurf_answer_free(c);
    smurf_forecast_silence(f, 0, NULL);
    a = ask(f, &q);
    check(f, &q, a, 0);
    smurf_answer_free(a);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
}

/* The probability of a silence counts from the last event, whatever silence the question is about. */
static void survival_until_a_moment(void **state)
{
    (void)state;
    smurf_data *data = simulate("hawkes", 3, 6, 40, 4);
    smurf_model *model = trained("objective=mle", data);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_forecast *f = forecast_of(model, 0, s, 20);
    smurf_question q = question();
    smurf_moment last, until, before;
    double gap = 1.25, p;
    assert_true(smurf_moment_after(&last, (smurf_moment){s->origin, 0}, s->time[19]));
    assert_true(smurf_moment_after(&until, last, gap) && smurf_moment_after(&before, last, -2));
    smurf_answer *a = ask(f, &q);
    assert_true(isnan(a->silence) && isnan(a->survival));
    smurf_answer_free(a);
    gap = smurf_moment_gap(last, until);
    assert_int_equal(smurf_forecast_cdf(f, &gap, &p, 1, NULL), SMURF_OK);
    assert_true(p > 0 && p < 1);
    q.until = &until;
    for (int silent = 0; silent < 2; silent++) {
        q.silence = silent * 0.5;
        a = ask(f, &q);
        assert_true(a->silence == gap && a->survival == 1 - p);
        smurf_answer_free(a);
    }
    q.until = &before;
    a = ask(f, &q);
    assert_true(fabs(a->silence + 2) < 1e-9 && a->survival == 1);
    smurf_answer_free(a);
    smurf_forecast_clear(f, 0);
    a = ask(f, &q);
    assert_true(isnan(a->silence) && isnan(a->survival));
    smurf_answer_free(a);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
}

static void calibrated_and_raw(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = simulate("hawkes", 3, 60, 40, 4);
    smurf_model *model = trained("objective=mle epochs=1", data);
    if (smurf_model_calibrate(model, data, NULL, 1, 1, 1, NULL, NULL, &err)) fail_msg("%s", err.message);
    smurf_forecast *f = forecast_of(model, 0, smurf_data_sequence(data, 0), 20);
    smurf_question q = question(), raw = q;
    q.conformal = raw.conformal = 1;
    raw.recalibrate = 0;
    smurf_answer *a = ask(f, &q), *b = ask(f, &raw);
    check(f, &q, a, 0);
    smurf_forecast_recalibrate(f, 0);
    check(f, &raw, b, 0);
    assert_true(a->median != b->median);
    for (int i = 0; i < 3; i++) {
        double gap[2];
        assert_int_equal(smurf_forecast_conformal(f, level[i], 2, gap, NULL), SMURF_OK);
        assert_true(a->conformal[i].low == gap[0] && a->conformal[i].high == gap[1]);
        assert_memory_equal(&a->conformal[i], &b->conformal[i], sizeof *a->conformal);
    }
    smurf_answer_free(a), smurf_answer_free(b);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
}

/* An event of any type, waited for by futures, is the next event; one of a type comes later. */
static void next_of_a_type(void **state)
{
    (void)state;
    smurf_data *one = simulate("hawkes", 1, 6, 40, 4), *three = simulate("hawkes", 3, 6, 40, 4);
    smurf_model *single = trained("objective=mle", one), *model = trained("objective=mle", three);
    smurf_forecast *f = forecast_of(single, 0, smurf_data_sequence(one, 0), 20);
    smurf_question q = question();
    q.next = 0;
    q.paths = 4000;
    q.threads = 1;
    smurf_answer *a = ask(f, &q);
    assert_true(a->next_seen == 1 && fabs(a->next_median / a->median - 1) < 0.15);
    for (int i = 0; i < 3; i++) {
        assert_true(a->next_interval[i].low < a->next_median && a->next_median < a->next_interval[i].high);
        assert_true(fabs(a->next_within[i] - a->within[i]) < 0.04); /* 5 standard deviations of a share of 4000 */
    }
    smurf_answer_free(a);
    smurf_forecast_free(f);
    f = forecast_of(model, 0, smurf_data_sequence(three, 0), 20);
    q.next = 1;
    q.paths = 200;
    q.steps = 3;
    a = ask(f, &q);
    q.threads = 2;
    smurf_answer *b = ask(f, &q);
    assert_true(a->next_seen < 1 && a->next_within[2] < a->within[2]);
    assert_true(a->next_seen == b->next_seen && a->next_median == b->next_median);
    assert_memory_equal(a->next_interval, b->next_interval, 3 * sizeof *a->next_interval);
    smurf_answer_free(a), smurf_answer_free(b);
    smurf_forecast_free(f);
    smurf_model_free(single), smurf_model_free(model);
    smurf_data_free(one), smurf_data_free(three);
}

static void empty_history(void **state)
{
    (void)state;
    smurf_data *data = simulate("hawkes", 3, 6, 40, 4);
    smurf_model *model = trained("objective=mle", data);
    smurf_forecast *f;
    assert_int_equal(smurf_forecast_new(&f, model, 0, NULL), SMURF_OK);
    smurf_question q = question();
    smurf_moment now = {5, 0};
    q.next = 2;
    q.now = &now;
    smurf_answer *a = ask(f, &q);
    check(f, &q, a, 0);
    assert_true(a->events == 0 && a->last.whole == 0 && a->from.whole == 0 && isnan(a->next_within[0]));
    assert_true(isnan(a->next_median) && isnan(a->next_interval[0].low));
    smurf_answer_free(a);
    q.now = NULL;
    q.conformal = 1;
    a = ask(f, &q);
    assert_true(a->conformal[0].low == 0 && isinf(a->conformal[0].high));
    smurf_answer_free(a);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
}

static void wrong_questions(void **state)
{
    (void)state;
    smurf_data *data = simulate("hawkes", 3, 6, 40, 4);
    smurf_model *model = trained("objective=mle", data);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_forecast *f = forecast_of(model, 0, s, 20);
    const double bad_level[] = {0.5, 1}, bad_within[] = {-1};
    const smurf_moment early = {-5, 0};
    static const char *const says[] = {
        "level 1 of an interval", "a horizon of -1",   "silence of nan",    "either silence or now",
        "all gaps together",      "type 3 is unknown", "at least one path", "the last event is after now"};
    for (int i = 0; i < 8; i++) {
        smurf_question q = question();
        smurf_answer *a = (smurf_answer *)1;
        smurf_error err = {0};
        if (i == 0) q.level = bad_level, q.levels = 2;
        if (i == 1) q.within = bad_within, q.horizons = 1;
        if (i == 2) q.silence = NAN;
        if (i == 3) q.silence = 1, q.now = &early;
        if (i == 4) q.silence = 1, q.conformal = 1;
        if (i == 5) q.next = 3;
        if (i == 6) q.next = 0, q.paths = 0;
        if (i == 7) q.now = &early;
        assert_int_equal(smurf_forecast_ask(f, &q, &a, &err), SMURF_ERROR_ARGUMENT);
        if (!strstr(err.message, says[i])) fail_msg("'%s' does not say '%s'", err.message, says[i]);
        assert_null(a);
    }
    /* A client that knows less: what it does not name has its default. */
    smurf_question q = question();
    q.size = offsetof(smurf_question, one_sided);
    q.one_sided = q.conformal = 1;
    q.next = 99;
    smurf_answer *a = ask(f, &q), *b = ask(f, NULL);
    assert_true(a->levels == 3 && a->horizons == 0 && a->types == 3 && !a->conformal && !a->next_interval);
    assert_true(b->levels == 2 && b->interval[1].low == a->interval[1].low);
    smurf_answer_free(a), smurf_answer_free(b);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_equal_single_calls),
        cmocka_unit_test(answers_lie_on_ticks),
        cmocka_unit_test(silence_in_three_ways),
        cmocka_unit_test(survival_until_a_moment),
        cmocka_unit_test(calibrated_and_raw),
        cmocka_unit_test(next_of_a_type),
        cmocka_unit_test(empty_history),
        cmocka_unit_test(wrong_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
