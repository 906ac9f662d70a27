/*
 * property_window.c - the law of an event does not depend on how its sequence was cut: in one piece, in windows that
 * carry their state (smurf_sequence.before), event by event, in a saved forecast, in training. For every model class,
 * and for one that sees further columns and the clock on the wall, in a week in which clocks change.
 */
#include "pool_case.h"

#include "forecast/forecast.h"
#include "model/model_class.h"
#include "train/feed.h"
#include "train/trainer.h"

#include <math.h>

enum { EVENTS = 90, TYPES = 2 };

static const struct {
    const char *settings;
    size_t context, window;
} shapes[] = {
    {"context=0", 0, 0},           {"context=4", 4, 8},
    {"context=7 window=5", 7, 5},  {"context=3 window=20", 3, 20},
    {"context=1 window=1", 1, 1},  {"context=40 window=6 clock=raw", 40, 6},
    {"context=0 ending=on", 0, 0}, {"context=7 window=5 ending=on", 7, 5},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static smurf_model *model_of(const char *class, const char *shape, const smurf_data *train)
{
    smurf_error err;
    smurf_model *model;
    char text[200];
    snprintf(text, sizeof text, "model=%s %s epochs=1 scale=mean %s", class, shape,
             strncmp(class, "smurf", 5) == 0 ? "objective=mle" : "gap-feature=off");
    smurf_trainer *t = trainer_of(text, 1, train, NULL);
    smurf_epoch epoch;
    if (smurf_trainer_epoch(t, &epoch, &err)) fail_msg("%s", err.message);
    if (smurf_trainer_model(t, &model, &err)) fail_msg("%s", err.message);
    smurf_trainer_free(t);
    return model;
}

/* All classes, and SMURF with counts, which begin with the window; NULL past the last. */
static const char *kind_at(size_t index)
{
    const struct model_class *class = index ? smurf_model_class_at_f32(index - 1) : NULL;
    return !index ? "smurf counts=on" : class ? class->name : NULL;
}

/* Three quantiles and the probability of a type. */
enum { ANSWERS = 4 };
static const double level[] = {0.1, 0.5, 0.9};

static void ask(smurf_forecast *f, double out[ANSWERS])
{
    smurf_error err;
    double share[TYPES];
    if (smurf_forecast_quantile(f, level, out, 3, &err) || smurf_forecast_types(f, share, &err))
        fail_msg("%s", err.message);
    out[3] = share[0];
}

static void assert_near(const double *a, const double *b, const char *what, size_t event)
{
    for (int i = 0; i < ANSWERS; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-4 * fabs(b[i]))) fail_msg("%s, event %zu: %g, not %g", what, event, a[i], b[i]);
}

/* Answers after each event of the whole sequence, read up to there. */
static void answers_of(const smurf_model *model, const smurf_sequence *s, double out[][ANSWERS])
{
    smurf_error err;
    smurf_forecast *f;
    if (smurf_forecast_new(&f, model, 0, &err)) fail_msg("%s", err.message);
    for (size_t r = 0; r < s->length; r++) {
        if (smurf_forecast_read(f, s, r + 1, &err)) fail_msg("%s", err.message);
        ask(f, out[r]);
    }
    smurf_forecast_free(f);
}

/* Appends event r of the sequence, with its further columns. */
static void append(smurf_forecast *f, const smurf_sequence *s, size_t r)
{
    smurf_error err;
    const float *further = s->further ? s->further + r * s->columns : NULL;
    if (smurf_forecast_append_with(f, s->time[r], s->type[r], further, &err)) fail_msg("%s", err.message);
}

static void check_appended(const smurf_model *model, const smurf_sequence *s, double (*want)[ANSWERS])
{
    smurf_error err;
    smurf_forecast *f, *restored;
    double got[ANSWERS];
    if (smurf_forecast_new(&f, model, 0, &err)) fail_msg("%s", err.message);
    smurf_forecast_clear(f, s->origin);
    for (size_t r = 0; r < s->length; r++) {
        append(f, s, r);
        ask(f, got);
        assert_near(got, want[r], "appended", r);
        if (r % 7) continue;
        void *bytes;
        size_t size;
        if (smurf_forecast_save(f, &bytes, &size, &err) || smurf_forecast_restore(&restored, model, bytes, size, &err))
            fail_msg("%s", err.message);
        smurf_free(bytes);
        smurf_forecast_free(f);
        f = restored;
    }
    smurf_forecast_free(f);
}

/* Evaluation's laws of the scored gaps of a cut. */
static void check_predictor(const smurf_model *model, const smurf_sequence *cut, size_t from, double (*want)[ANSWERS])
{
    struct predictor p = smurf_model_predictor(model);
    void *workspace = p.class->workspace_new(p.self, cut->length, NULL);
    assert_non_null(workspace);
    p.class->read(p.self, workspace, cut);
    for (size_t r = from; r < cut->length; r++) {
        struct ending ending;
        double never = p.class->never(p.self, workspace, r);
        struct dist dist = smurf_may_end(&ending, p.class->dist(p.self, workspace, r, 0), never);
        assert_true(model->config.ending ? never > 0.002 && never < 0.09 : never == 0);
        double got[ANSWERS];
        dist.class->quantile(dist.self, level, got, 3);
        got[3] = want[cut->before + r][3];
        assert_near(got, want[cut->before + r], "evaluated", cut->before + r);
    }
    p.class->workspace_free(workspace);
}

/* Events from `start` on, as a cut that carries its state; forecasts from row `from` on are those of the whole. */
static void check_cut(const smurf_model *model, const smurf_sequence *s, size_t start, size_t from,
                      double (*want)[ANSWERS])
{
    smurf_error err;
    smurf_forecast *f;
    smurf_sequence cut = *s;
    double got[ANSWERS];
    cut.time += start;
    cut.type += start;
    if (cut.further) cut.further += start * cut.columns;
    cut.length -= start;
    cut.before = start;
    if (smurf_forecast_new(&f, model, 0, &err)) fail_msg("%s", err.message);
    for (size_t r = from; r < s->length; r += 3) {
        if (smurf_forecast_read(f, &cut, r - start + 1, &err)) fail_msg("%s", err.message);
        ask(f, got);
        assert_near(got, want[r], "cut", r);
        if (r + 1 == s->length) break; /* and on from there, event by event */
        append(f, s, r + 1);
        ask(f, got);
        assert_near(got, want[r + 1], "cut and appended", r + 1);
    }
    smurf_forecast_free(f);
    check_predictor(model, &cut, from - start, want);
}

static void check_cuts(const smurf_model *model, size_t context, size_t window, const smurf_sequence *s,
                       double (*want)[ANSWERS])
{
    /* A row looks back at fewer than context + window events; without a context, at all of them. */
    size_t history = context ? context + window - 1 : EVENTS;
    check_cut(model, s, 0, 0, want);
    for (size_t row = 5; row < EVENTS; row += 11)
        if (row > history) check_cut(model, s, row - history, row, want);
}

/* Windows of the data, as smurf_data_window makes them for a model of this shape, hold what each scored gap needs. */
static void check_windows(const smurf_model *model, size_t context, size_t window, const smurf_data *data,
                          double (*want)[ANSWERS])
{
    smurf_error err;
    smurf_data *cut;
    if (smurf_data_window(&cut, data, window, context, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < smurf_data_sequences(cut); i++) {
        const smurf_sequence *w = smurf_data_sequence(cut, i);
        check_predictor(model, w, w->first - 1, want);
    }
    smurf_data_free(cut);
}

static void same_law_however_cut(void **state)
{
    (void)state;
    smurf_data *data = simulate("hawkes", TYPES, 1, EVENTS, 3);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    for (size_t c = 0; kind_at(c); c++)
        for (size_t i = 0; i < SHAPES; i++) {
            bool others = c > 1; /* than SMURF */
            if (others && strstr(shapes[i].settings, "ending")) continue;
            smurf_model *model = model_of(kind_at(c), shapes[i].settings, data);
            double want[EVENTS][ANSWERS];
            answers_of(model, s, want);
            check_appended(model, s, want);
            check_cuts(model, shapes[i].context, shapes[i].window, s, want);
            if (shapes[i].context) check_windows(model, shapes[i].context, shapes[i].window, data, want);
            smurf_model_free(model);
        }
    smurf_data_free(data);
}

/* Three days around the change to summer time in Berlin, with a number and a word beside each event, or neither. */
static smurf_data *local_log(void)
{
    char text[EVENTS * 60] = "time,type,amount,region\n";
    for (int i = 0, at = 0; i < EVENTS; at += 600 + i * 7919 % 3500, i++)
        sprintf(text + strlen(text), "2024-03-%02dT%02d:%02d:%02dZ,%c,%.0d,%s\n", 29 + at / 86400, at / 3600 % 24,
                at / 60 % 60, at % 60, "xy"[i * i % 7 % 2], i * 31 % 17, i % 5 ? i % 3 ? "north" : "south" : "");
    smurf_read_config config;
    smurf_data *data;
    smurf_error err;
    smurf_read_config_init(&config);
    config.features = "amount=number,region";
    config.timezone = "Europe/Berlin";
    config.type_column = "type";
    if (smurf_data_read_memory(&data, text, strlen(text), "log", &config, &err)) fail_msg("%s", err.message);
    return data;
}

static void same_law_with_columns_and_clock(void **state)
{
    (void)state;
    smurf_data *data = local_log();
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    for (size_t i = 0; i < SHAPES; i++) {
        if (strstr(shapes[i].settings, "ending")) continue;
        smurf_model *model = model_of("smurf counts=on wall-clock=on", shapes[i].settings, data);
        double want[EVENTS][ANSWERS];
        answers_of(model, s, want);
        check_appended(model, s, want);
        check_cuts(model, shapes[i].context, shapes[i].window, s, want);
        if (shapes[i].context) check_windows(model, shapes[i].context, shapes[i].window, data, want);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

/* Types too: evaluation's and the forecast's, after some gap. */
static void check_types(const smurf_model *model, const smurf_sequence *s)
{
    smurf_error err;
    struct predictor p = smurf_model_predictor(model);
    void *workspace = p.class->workspace_new(p.self, s->length, NULL);
    assert_non_null(workspace);
    p.class->read(p.self, workspace, s);
    const double gap = 0.3;
    for (size_t r = s->length; r-- > 0; r /= 2) { /* backwards, as no evaluation does */
        double got[TYPES], want[TYPES];
        smurf_forecast *f = forecast_of(model, 0, s, r + 1);
        assert_int_equal(smurf_forecast_types_at(f, gap, want, &err), SMURF_OK);
        p.class->types(p.self, workspace, r, &gap, got, 1);
        for (int k = 0; k < TYPES; k++) assert_true(fabs(got[k] - want[k]) < 1e-4);
        smurf_forecast_free(f);
    }
    p.class->workspace_free(workspace);
}

/* Whether evaluation in windows with so much history has the laws of the whole. */
static bool agrees_in_windows(const smurf_model *model, size_t window, size_t history, const smurf_data *data,
                              double (*want)[ANSWERS])
{
    smurf_error err;
    smurf_data *cut;
    bool same = true;
    struct predictor p = smurf_model_predictor(model);
    if (smurf_data_window(&cut, data, window, history, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < smurf_data_sequences(cut); i++) {
        const smurf_sequence *w = smurf_data_sequence(cut, i);
        void *workspace = p.class->workspace_new(p.self, w->length, NULL);
        assert_non_null(workspace);
        p.class->read(p.self, workspace, w);
        for (size_t r = w->first - 1; r + 1 < w->length; r++) {
            struct ending ending;
            struct dist dist =
                smurf_may_end(&ending, p.class->dist(p.self, workspace, r, 0), p.class->never(p.self, workspace, r));
            double got = smurf_dist_quantile(&dist, 0.5), wanted = want[w->before + r][1];
            same = same && fabs(got - wanted) <= 1e-4 * wanted;
        }
        p.class->workspace_free(workspace);
    }
    smurf_data_free(cut);
    return same;
}

/* A pooled law looks back at more events than the model (smurf_pool.reach): it is the same however the sequence was cut
   where those are there, and another where they are not, which commands remark. */
static void pooled_laws_however_cut(void **state)
{
    (void)state;
    static const enum pool_types types[] = {POOL_RECENCY, POOL_MARKOV, POOL_MARKOV, POOL_RECENCY};
    smurf_data *data = simulate("hawkes", TYPES, 1, EVENTS, 3);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    for (enum pool_law law = POOL_MARGINAL; law <= POOL_LAST; law++)
        for (size_t i = 0; i < SHAPES; i++) {
            smurf_model *model = model_of("smurf", shapes[i].settings, data);
            double want[EVENTS][ANSWERS];
            set_pool(model, data, law, types[law]);
            answers_of(model, s, want);
            check_appended(model, s, want);
            check_cut(model, s, 0, 0, want);
            check_types(model, s);
            size_t context = shapes[i].context, window = shapes[i].window, reach = smurf_model_pool(model)->reach;
            if (context) {
                size_t enough = context > reach ? context : reach;
                assert_true(agrees_in_windows(model, window, enough, data, want));
                if (reach > context) assert_false(agrees_in_windows(model, window, context, data, want));
            }
            smurf_model_free(model);
        }
    smurf_data_free(data);
}

/* Training sees, for each gap, the events that a forecast of it sees: also in a dev part, which begins anywhere. */
static void training_sees_the_same_events(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = simulate("hawkes", TYPES, 1, EVENTS, 3);
    smurf_split part;
    assert_int_equal(smurf_split_by_share(&part, data, (const double[]){5, 2, 3}, 1, &err), SMURF_OK);
    const smurf_sequence *whole = smurf_data_sequence(data, 0);
    for (size_t i = 0; i < SHAPES; i++) {
        char text[100];
        snprintf(text, sizeof text, "objective=mle %s", shapes[i].settings);
        smurf_trainer *t = trainer_of(text, 1, part.train, part.dev);
        const struct feed *feeds[] = {&t->train, &t->dev};
        size_t next = 1;
        for (int k = 0; k < 2; k++)
            for (size_t w = 0; w < feeds[k]->sequences; w++)
                for (size_t g = feeds[k]->target_offset[w]; g < feeds[k]->target_offset[w + 1]; g++) {
                    const struct target *target = &feeds[k]->target[g];
                    if (target->censored) continue;
                    size_t row = next++ - 1, start = smurf_window_start(&t->frame->config, 0, row);
                    assert_int_equal(target->row, row - start);
                    for (size_t e = 0; e <= target->row; e++)
                        assert_int_equal(feeds[k]->type[feeds[k]->offset[w] + e], whole->type[start + e]);
                }
        assert_int_equal(next, 63); /* the events of train and dev */
        smurf_trainer_free(t);
    }
    smurf_split_release(&part);
    smurf_data_free(data);
}

/* A bound on the history holds for every class: what lies before it has no influence. */
static void bounded_history(void **state)
{
    (void)state;
    enum { BOUND = 6 };
    smurf_error err;
    smurf_data *data = simulate("hawkes", TYPES, 1, 40, 5);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    for (size_t c = 0; smurf_model_class_at_f32(c); c++) {
        smurf_model *model = model_of(smurf_model_class_at_f32(c)->name, "context=0 layers=1", data);
        smurf_forecast *f, *g, *all;
        double a[ANSWERS], b[ANSWERS], whole[ANSWERS];
        assert_int_equal(smurf_forecast_new(&f, model, BOUND, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_new(&g, model, BOUND, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_new(&all, model, 0, &err), SMURF_OK);
        for (size_t i = 0; i < s->length; i++) { /* the same times, but other types before the bound */
            uint32_t type = i + BOUND < s->length && i > 0 ? 1 - s->type[i] : s->type[i];
            assert_int_equal(smurf_forecast_append(f, s->time[i], s->type[i], &err), SMURF_OK);
            assert_int_equal(smurf_forecast_append(g, s->time[i], type, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_append(all, s->time[i], s->type[i], &err), SMURF_OK);
        }
        ask(f, a), ask(g, b), ask(all, whole);
        assert_memory_equal(a, b, sizeof a);
        assert_true(a[1] != whole[1]);
        assert_int_equal(smurf_forecast_read(g, s, s->length, &err), SMURF_OK); /* read at once */
        ask(g, b);
        assert_near(b, a, "read", s->length);
        smurf_forecast_free(f), smurf_forecast_free(g), smurf_forecast_free(all);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_law_however_cut),    cmocka_unit_test(same_law_with_columns_and_clock),
        cmocka_unit_test(pooled_laws_however_cut), cmocka_unit_test(training_sees_the_same_events),
        cmocka_unit_test(bounded_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
