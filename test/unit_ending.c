/*
 * unit_ending.c - the probability that no further event comes: what is learned on a process whose share of
 * ends is known, and what every answer of a forecast makes of it.
 */
#include "forecast_case.h"

#include "eval/ends.h"
#include "forecast/forecast.h"
#include "model/model_class.h"

static void assert_close(double got, double want, double tolerance, const char *what, double at)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%s at %g: %.12g, not %.12g", what, at, got, want);
}

/* ---- A process whose share of ends is known --------------------------------------------------------------- */

enum { TYPES = 2 };
static const double share[TYPES] = {0.1, 0.4};

static smurf_data *cases(size_t sequences, double until, uint64_t seed)
{
    smurf_error err;
    smurf_process *process;
    smurf_data *data;
    smurf_simulate_config config;
    const smurf_parameter never = {"never", share, TYPES};
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.until = until;
    config.seed = seed;
    config.threads = 1;
    if (smurf_process_new(&process, "ending", TYPES, &never, 1, &err)) fail_msg("%s", err.message);
    if (smurf_process_simulate(&data, process, &config, &err)) fail_msg("%s", err.message);
    smurf_process_free(process);
    return data;
}

static smurf_model *learned_from(const smurf_data *train, const char *more)
{
    char text[200];
    snprintf(text, sizeof text, "ending=on tail=on batch=32 epochs=8 layers=1 nodes=12 schedule=cosine %s", more);
    return trained(text, train);
}

/* The mean probability of an end after events of each type. */
static void learned_share(const smurf_model *model, const smurf_data *data, double out[TYPES])
{
    smurf_error err;
    smurf_forecast *f;
    double n[TYPES] = {0};
    if (smurf_forecast_new(&f, model, 0, &err)) fail_msg("%s", err.message);
    out[0] = out[1] = 0;
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        smurf_forecast_clear(f, s->origin);
        for (size_t k = 0; k < s->length; k++) {
            if (smurf_forecast_append(f, s->time[k], s->type[k], &err) || smurf_forecast_check(f, &err))
                fail_msg("%s", err.message);
            out[s->type[k]] += smurf_forecast_never(f);
            n[s->type[k]]++;
        }
    }
    for (int k = 0; k < TYPES; k++) out[k] /= n[k];
    smurf_forecast_free(f);
}

/* By likelihood, and with S0 held; also where many gaps are cut off early. */
static void share_is_recovered(void **state)
{
    (void)state;
    const struct {
        const char *settings;
        double until, tolerance;
    } kinds[] = {{"objective=mle", 40, 0.02},
                 {"objective=mle", 12, 0.02},
                 {"objective=dsm points=16", 40, 0.02},
                 {"objective=dsm points=16 head=score", 40, 0.02}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        smurf_data *train = cases(3000, kinds[i].until, 1), *test = cases(200, kinds[i].until, 2);
        smurf_model *model = learned_from(train, kinds[i].settings);
        double got[TYPES];
        learned_share(model, test, got);
        print_message("# %s until %g: %.4f and %.4f, not %.2f and %.2f\n", kinds[i].settings, kinds[i].until, got[0],
                      got[1], share[0], share[1]);
        for (int k = 0; k < TYPES; k++) assert_true(fabs(got[k] - share[k]) < kinds[i].tolerance);
        smurf_model_free(model);
        smurf_data_free(train), smurf_data_free(test);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    smurf_data *train = cases(300, 20, 1), *dev = cases(100, 20, 2);
    smurf_model *model[2];
    smurf_epoch epoch[2];
    for (int i = 0; i < 2; i++) {
        smurf_error err;
        smurf_trainer *t = trainer_of("ending=on batch=64", i ? 3 : 1, train, dev);
        if (smurf_trainer_epoch(t, &epoch[i], &err) || smurf_trainer_model(t, &model[i], &err))
            fail_msg("%s", err.message);
        smurf_trainer_free(t);
    }
    assert_memory_equal(model[0]->slab, model[1]->slab, model[0]->model.params.total * sizeof *model[0]->slab);
    assert_true(epoch[0].dev_loss == epoch[1].dev_loss);
    smurf_model_free(model[0]), smurf_model_free(model[1]);
    smurf_data_free(train), smurf_data_free(dev);
}

/* ---- Answers ------------------------------------------------------------------------------------------------ */

/* A model that has learned little, and the forecast after an event of type 1. */
struct asked {
    smurf_data *data;
    smurf_model *model;
    smurf_forecast *f;
    double never;
};

static struct asked asked_of(const char *settings)
{
    struct asked a = {.data = cases(400, 30, 1)};
    smurf_error err;
    a.model = learned_from(a.data, settings);
    if (smurf_forecast_new(&a.f, a.model, 0, &err) || smurf_forecast_append(a.f, 1, 0, &err) ||
        smurf_forecast_append(a.f, 2.5, 1, &err) || smurf_forecast_check(a.f, &err))
        fail_msg("%s", err.message);
    a.never = smurf_forecast_never(a.f);
    assert_true(a.never > 0.2 && a.never < 0.6);
    return a;
}

static void asked_release(struct asked *a)
{
    smurf_forecast_free(a->f);
    smurf_model_free(a->model);
    smurf_data_free(a->data);
}

static smurf_answer *ask(struct asked *a, double silence, const smurf_moment *until)
{
    static const double level[] = {0.1, 0.9}, within[] = {1, 1e6};
    smurf_error err;
    smurf_question q;
    smurf_answer *answer;
    smurf_question_init(&q);
    q.level = level, q.levels = 2;
    q.within = within, q.horizons = 2;
    q.silence = silence;
    q.until = until;
    if (smurf_forecast_ask(a->f, &q, &answer, &err)) fail_msg("%s", err.message);
    return answer;
}

static void answers_agree(void **state)
{
    (void)state;
    struct asked a = asked_of("");
    const smurf_moment until = {6, 0.5};
    smurf_answer *now = ask(&a, 0, &until);
    struct dist comes = smurf_forecast_coming(a.f);
    double before = smurf_dist_cdf(&comes, 4), in_1 = smurf_dist_cdf(&comes, 1);
    double none = a.never / (a.never + (1 - a.never) * (1 - before));
    assert_close(now->never, a.never, 1e-12, "never", 0);
    assert_close(now->within[0], (1 - a.never) * in_1, 1e-9, "within", 1);
    assert_close(now->within[1], 1 - a.never, 1e-9, "within", 1e6);
    assert_close(now->survival, 1 - (1 - a.never) * before, 1e-9, "survival", 4);
    assert_close(now->mean, smurf_dist_mean(&comes), 1e-9, "mean", 0);
    assert_close(now->share[0] + now->share[1], 1, 1e-6, "types", 0);
    assert_close(now->interval[0].low, smurf_dist_quantile(&comes, 0.45 / (1 - a.never)), 1e-9, "low end", 0.45);
    assert_true(isfinite(now->interval[0].high) && now->interval[1].high == INFINITY && isfinite(now->mean));
    smurf_answer *later = ask(&a, 4, &until);
    assert_close(later->never, none, 1e-9, "never", 4);
    assert_true(later->never > now->never && later->survival == now->survival);
    assert_true(later->median == (none > 0.5 ? INFINITY : later->median) && isfinite(later->mean));
    smurf_answer_free(now), smurf_answer_free(later);
    asked_release(&a);
}

static void single_questions_agree(void **state)
{
    (void)state;
    enum { N = 4000 };
    struct asked a = asked_of("");
    smurf_error err;
    const double level[] = {0.3, 1 - a.never + 1e-3}, forever = INFINITY;
    double gap[N], at;
    assert_int_equal(smurf_forecast_quantile(a.f, level, gap, 2, &err), SMURF_OK);
    assert_true(isfinite(gap[0]) && gap[1] == INFINITY);
    assert_int_equal(smurf_forecast_cdf(a.f, &forever, &at, 1, &err), SMURF_OK);
    assert_close(at, 1 - a.never, 1e-12, "cdf", INFINITY);
    assert_int_equal(smurf_forecast_sample(a.f, 1, gap, N, &err), SMURF_OK);
    size_t none = 0;
    for (size_t i = 0; i < N; i++) none += isinf(gap[i]) ? 1 : 0;
    assert_close((double)none / N, a.never, 0.03, "draws", 0);
    asked_release(&a);
}

static void futures_end(void **state)
{
    (void)state;
    struct asked a = asked_of("");
    smurf_error err;
    smurf_futures *futures;
    smurf_futures_config config;
    smurf_futures_config_init(&config);
    config.paths = 2000;
    config.events = 3;
    config.threads = 2;
    assert_int_equal(smurf_forecast_futures(a.f, &config, &futures, &err), SMURF_OK);
    size_t none = 0, some = 0, all = 0;
    for (size_t i = 0; i < 2000; i++) {
        const double *time;
        const uint32_t *type;
        size_t n = smurf_futures_path(futures, i, &time, &type);
        for (size_t k = 0; k < n; k++) assert_true(isfinite(time[k]));
        none += n == 0;
        some += n == 1;
        all += n == 3;
    }
    assert_close((double)none / 2000, a.never, 0.04, "paths without an event", 0);
    assert_true(some > 100 && all > 100);
    smurf_futures_free(futures);
    asked_release(&a);
}

static void saved_state_keeps_it(void **state)
{
    (void)state;
    struct asked a = asked_of("context=8");
    smurf_error err;
    smurf_forecast *again;
    void *bytes;
    size_t size;
    assert_int_equal(smurf_forecast_save(a.f, &bytes, &size, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_restore(&again, a.model, bytes, size, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_check(again, &err), SMURF_OK);
    assert_true(smurf_forecast_never(again) == a.never);
    smurf_free(bytes);
    smurf_forecast_free(again);
    asked_release(&a);
}

static void nothing_known_nothing_said(void **state)
{
    (void)state;
    struct asked a = asked_of("");
    smurf_forecast_clear(a.f, 0);
    smurf_answer *empty = ask(&a, 0, NULL);
    assert_true(isnan(empty->never) && isfinite(empty->interval[1].high));
    smurf_answer_free(empty);
    smurf_model *without = trained("epochs=1", a.data);
    struct asked b = {
        .data = a.data, .model = without, .f = forecast_of(without, 0, smurf_data_sequence(a.data, 0), 1)};
    smurf_answer *plain = ask(&b, 0, NULL);
    assert_true(isnan(plain->never) && isfinite(plain->interval[1].high));
    smurf_answer_free(plain);
    smurf_forecast_free(b.f);
    smurf_model_free(without);
    asked_release(&a);
}

/* What the bound on the tail takes from the law is an end, not shorter gaps: up to the bound F is that of the
 * likelihood. */
static void tail_is_not_spread(void **state)
{
    (void)state;
    struct asked a = asked_of("");
    struct scaled free_one;
    smurf_model *m = a.model;
    const struct tail short_one = {1.5, 0.002, 1};
    double own = m->model.class->never(&m->model, a.f->c);
    m->notes.tail = short_one;
    assert_int_equal(smurf_forecast_check(a.f, NULL), SMURF_OK);
    double never = smurf_forecast_never(a.f);
    struct dist raw = smurf_scaled(&free_one, &a.f->workspace.exact, &m->view.scale, NULL);
    struct dist dist = smurf_forecast_dist(a.f);
    assert_true(never > own + 0.05);
    for (double x = 0.1; x < 1.5; x += 0.1) {
        double want = (1 - own) * smurf_dist_cdf(&raw, x);
        assert_close(smurf_dist_cdf(&dist, x), want, 0.004 * want, "cdf below the bound", x);
    }
    asked_release(&a);
}

/* ---- Evaluation ---------------------------------------------------------------------------------------------- */

static void ends_are_summed_up(void **state)
{
    (void)state;
    const double followed[] = {0.3, NAN, 0.1, 0.1, 0.7}, last[] = {NAN, 0.9, 0.3, 0.6};
    smurf_ends e;
    assert_int_equal(smurf_ends_fill(&e, followed, 5, last, 4, NULL), SMURF_OK);
    assert_true(e.n == 7 && e.last == 3);
    assert_close(e.share, 3.0 / 7, 1e-15, "share", 0);
    assert_close(e.forecast, 3.0 / 7, 1e-15, "forecast", 0);
    assert_close(e.brier, (0.09 + 0.01 + 0.01 + 0.49 + 0.01 + 0.49 + 0.16) / 7, 1e-15, "brier", 0);
    assert_close(e.brier_constant, 12.0 / 49, 1e-15, "brier of the share", 0);
    size_t n = 0, shares = 0;
    double before = 0;
    for (int k = 0; k < SMURF_END_GROUPS; k++) {
        assert_int_equal(isnan(e.group_forecast[k]) != 0, e.group[k] == 0);
        n += e.group[k];
        if (!e.group[k]) continue;
        assert_true(e.group_forecast[k] >= before);
        before = e.group_forecast[k];
        shares += e.group_share[k] == 1;
    }
    assert_true(n == 7 && shares == 3 && before == 0.9); /* one event a group */
    assert_int_equal(smurf_ends_fill(&e, NULL, 0, last, 1, NULL), SMURF_OK);
    assert_int_equal(e.n, 0);
}

static smurf_ends ends_of(const smurf_model *model, const smurf_data *data, int threads)
{
    smurf_evaluation *e;
    smurf_eval_config config;
    smurf_error err;
    smurf_ends out;
    smurf_eval_config_init(&config);
    config.threads = threads;
    config.fast = 1;
    if (smurf_evaluate(&e, model, data, NULL, &config, &err)) fail_msg("%s", err.message);
    assert_non_null(smurf_evaluation_ends(e));
    out = *smurf_evaluation_ends(e);
    smurf_evaluation_free(e);
    return out;
}

/* Calibrated on unseen cases, and better than a model that knows of no end. */
static void ends_are_foretold(void **state)
{
    (void)state;
    smurf_data *train = cases(1500, 25, 1), *test = cases(250, 25, 2);
    smurf_model *model = learned_from(train, ""), *without = trained("epochs=2", train);
    smurf_ends with = ends_of(model, test, 1), again = ends_of(model, test, 3), none = ends_of(without, test, 1);
    assert_memory_equal(&with, &again, sizeof with);
    assert_true(with.last > 200 && with.n > with.last + 300);
    assert_close(with.forecast, with.share, 0.03, "forecast", 0);
    assert_true(with.brier < with.brier_constant && with.brier < none.brier);
    for (int k = 0; k < SMURF_END_GROUPS; k++)
        assert_close(with.group_share[k], with.group_forecast[k], 0.25, "group", k);
    smurf_model_free(model), smurf_model_free(without);
    smurf_data_free(train), smurf_data_free(test);
}

static void the_truth_is_calibrated(void **state)
{
    (void)state;
    smurf_process *process;
    smurf_evaluation *e;
    smurf_error err;
    smurf_data *data = cases(2000, 6, 3), *open_end = simulate("hawkes", 2, 5, 10, 1);
    const smurf_parameter never = {"never", share, TYPES};
    if (smurf_process_new(&process, "ending", TYPES, &never, 1, &err)) fail_msg("%s", err.message);
    if (smurf_evaluate_process(&e, process, data, NULL, NULL, &err)) fail_msg("%s", err.message);
    const smurf_ends *ends = smurf_evaluation_ends(e);
    assert_close(ends->forecast, ends->share, 0.015, "forecast", 0);
    for (int k = 0; k < SMURF_END_GROUPS; k++) {
        double p = ends->group_forecast[k], noise = sqrt(p * (1 - p) / (double)ends->group[k]);
        assert_close(ends->group_share[k], p, 4 * noise + 1e-3, "group", k);
    }
    smurf_evaluation_free(e);
    if (smurf_evaluate_process(&e, process, open_end, NULL, NULL, &err)) fail_msg("%s", err.message);
    assert_null(smurf_evaluation_ends(e));
    smurf_evaluation_free(e);
    smurf_process_free(process);
    smurf_data_free(data), smurf_data_free(open_end);
}

/* ---- Settings ------------------------------------------------------------------------------------------------ */

static void assert_ending(const char *preset, const smurf_data *data, bool wanted)
{
    smurf_error err;
    smurf_settings *settings;
    char text[8];
    if (smurf_settings_new(&settings, preset, data, &err)) fail_msg("%s", err.message);
    assert_int_equal(smurf_settings_get(settings, "ending", text, sizeof text, &err), SMURF_OK);
    assert_string_equal(text, wanted ? "on" : "off");
    assert_int_equal(smurf_settings_check(settings, &err), SMURF_OK);
    smurf_settings_free(settings);
}

static void presets(void **state)
{
    (void)state;
    smurf_data *known = cases(5, 10, 1), *one = cases(1, 10, 1), *unknown = simulate("hawkes", 2, 5, 10, 1);
    assert_ending("default", known, true);
    assert_ending("default", one, false);
    assert_ending("default", unknown, false);
    assert_ending("default", NULL, false);
    for (size_t i = 1; smurf_preset_name(i); i++) assert_ending(smurf_preset_name(i), known, false);
    smurf_data_free(known), smurf_data_free(one), smurf_data_free(unknown);
}

static void other_classes_refuse(void **state)
{
    (void)state;
    for (size_t i = 0; smurf_model_class_at_f32(i); i++) {
        const struct model_class *class = smurf_model_class_at_f32(i);
        smurf_error err;
        char text[100];
        snprintf(text, sizeof text, "model=%s ending=on scale=mean gap-feature=off", class->name);
        smurf_settings config = small_config(text);
        smurf_status status = smurf_settings_check(&config, &err);
        assert_int_equal(status, class->never ? SMURF_OK : SMURF_ERROR_ARGUMENT);
        if (status) assert_non_null(strstr(err.message, "set ending to off"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_is_recovered),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(answers_agree),
        cmocka_unit_test(single_questions_agree),
        cmocka_unit_test(futures_end),
        cmocka_unit_test(saved_state_keeps_it),
        cmocka_unit_test(nothing_known_nothing_said),
        cmocka_unit_test(tail_is_not_spread),
        cmocka_unit_test(ends_are_summed_up),
        cmocka_unit_test(ends_are_foretold),
        cmocka_unit_test(the_truth_is_calibrated),
        cmocka_unit_test(presets),
        cmocka_unit_test(other_classes_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
