/*
 * unit_forecast.c - from a model to answers: the law of the head, forecasts that grow, futures, calibration, conformal
 * intervals, types by name.
 */
#include "forecast_case.h"

#include "base/random.h"
#include "forecast/forecast.h"
#include "law/conformal.h"
#include "model/gap_law.h"
#include "model/smurf_class.h"

#include <unistd.h>

static double relative(double a, double b)
{
    return fabs(a - b) / fmax(1e-12, fmax(fabs(a), fabs(b)));
}

/* ---- The law of the head --------------------------------------------------------------------- */

/* A law with coefficients of our own. */
struct head {
    struct model model;
    float slab[4096], c[48];
    const float *a, *b;
    double memory[1024];
    struct law law;
};

static void make_head(struct head *h, enum parametrisation param, double size, uint64_t seed)
{
    struct encoder_shape shape = {.types = 3, .width = 16, .heads = 1, .head_width = 2, .layers = 1, .inner = 2};
    struct random random;
    smurf_random_init(&random, seed, 0);
    smurf_model_init_f32(&h->model, &smurf_model_smurf_f32, &shape, param);
    assert_true(h->model.params.total <= 4096);
    for (size_t i = 0; i < 4096; i++) h->slab[i] = (float)(size * smurf_random_normal(&random));
    for (int k = 0; k < 16; k++) {
        h->c[k] = (float)tanh(smurf_random_normal(&random));
        h->c[16 + k] = (float)smurf_random_normal(&random);
    }
    h->c[3] = 0; /* what has no slope divides by it */
    h->c[4] = 1e-7f;
    memcpy(h->c + 32, h->c, 8 * sizeof *h->c);
    memcpy(h->c + 40, h->c + 16, 8 * sizeof *h->c);
    h->a = h->c, h->b = h->c + 16;
    assert_true(smurf_gap_law_memory(&h->model) <= sizeof h->memory);
    h->law = smurf_gap_law(&h->model, h->slab, h->c, -4, 6, h->memory);
}

static double height(const struct head *h, double y)
{
    const struct head_params *at = &smurf_offsets(&h->model)->head;
    double u = (double)h->slab[at->c];
    for (int k = 0; k < 16; k++) u += (double)h->slab[at->w + (size_t)k] * tanh((double)h->a[k] * y + (double)h->b[k]);
    return u;
}

static void head_matches_its_formula(void **state)
{
    (void)state;
    enum { N = 101 };
    struct head h;
    double y[N], lambda[N], slope[N], score[N];
    for (int size = 0; size < 2; size++) {
        make_head(&h, PARAM_INTENSITY, size ? 20 : 0.5, 7);
        for (int i = 0; i < N; i++) y[i] = -4 + 0.1 * i;
        smurf_law_eval_intensity(&h.law, y, lambda, N);
        smurf_law_eval_slope(&h.law, y, slope, N);
        smurf_law_eval_score(&h.law, y, score, N);
        for (int i = 1; i < N - 1; i++) {
            double u = height(&h, y[i]), expected = u > 30 ? u : log1p(exp(u)), step = 1e-5;
            double rise =
                log1p(exp(fmin(height(&h, y[i] + step), 500))) - log1p(exp(fmin(height(&h, y[i] - step), 500)));
            assert_true(relative(lambda[i], expected) < 1e-9);
            assert_true(fabs(slope[i] - rise / (2 * step)) < 1e-5 * fmax(1, fabs(slope[i])));
            if (lambda[i] > 1e-6)
                assert_true(fabs(score[i] - (slope[i] / lambda[i] - lambda[i])) < 1e-3 * fmax(1, fabs(score[i])));
        }
    }
}

/* The derivative of ln p is the score, also where a slope is nothing or next to nothing. */
static void score_head_integrates(void **state)
{
    (void)state;
    enum { N = 90 };
    struct head h;
    double y[N], score[N], up[N], down[N];
    make_head(&h, PARAM_SCORE, 0.7, 3);
    for (int i = 0; i < N; i++) y[i] = -3.9 + 0.1 * i;
    h.law.class->score(h.law.self, y, score, N);
    for (int i = 0; i < N; i++) up[i] = y[i] + 1e-4, down[i] = y[i] - 1e-4;
    h.law.class->log_density(h.law.self, up, up, N);
    h.law.class->log_density(h.law.self, down, down, N);
    for (int i = 0; i < N; i++) assert_true(fabs((up[i] - down[i]) / 2e-4 - score[i]) < 1e-5);
}

/* ---- Forecasts ------------------------------------------------------------------------------- */

static const double levels[] = {0.05, 0.5, 0.95};

/* Laws of a sequence read at once, appended one by one and read up to each event are the same. */
static void growing_equals_reading(void **state)
{
    const char *settings[] = {"objective=mle",
                              "objective=mle context=5",
                              "objective=dsm sigma=0.2",
                              "objective=dsm sigma=0.3 head=score",
                              "objective=wsm scale=mean",
                              "objective=mle clock=raw"};
    (void)state;
    smurf_error err;
    smurf_data *data = simulate("hawkes", 3, 8, 50, 1);
    const smurf_sequence *s = smurf_data_sequence(data, 3);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        smurf_model *m = trained(settings[k], data);
        struct predictor p = smurf_model_predictor(m);
        void *workspace = p.class->workspace_new(p.self, s->length, NULL);
        smurf_forecast *grown, *read;
        assert_int_equal(smurf_forecast_new(&grown, m, 0, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_new(&read, m, 0, &err), SMURF_OK);
        p.class->read(p.self, workspace, s);
        for (size_t i = 0; i < s->length; i++) {
            double a[3], b[3], c[3], types[2][3];
            assert_int_equal(smurf_forecast_append(grown, s->time[i], s->type[i], &err), SMURF_OK);
            assert_int_equal(smurf_forecast_read(read, s, i + 1, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_quantile(grown, levels, a, 3, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_quantile(read, levels, b, 3, &err), SMURF_OK);
            struct dist dist = p.class->dist(p.self, workspace, i, 0);
            dist.class->quantile(dist.self, levels, c, 3);
            for (int j = 0; j < 3; j++) {
                if (relative(a[j], c[j]) > 2e-3 || relative(b[j], c[j]) > 2e-3)
                    fail_msg("%s, event %zu: %g %g %g", settings[k], i, a[j], b[j], c[j]);
            }
            assert_int_equal(smurf_forecast_types_at(grown, 0.7, types[0], &err), SMURF_OK);
            double gap = 0.7;
            p.class->types(p.self, workspace, i, &gap, types[1], 1);
            for (int j = 0; j < 3; j++) assert_true(fabs(types[0][j] - types[1][j]) < 1e-4);
        }
        assert_int_equal(smurf_forecast_events(grown), s->length);
        p.class->workspace_free(workspace);
        smurf_forecast_free(grown);
        smurf_forecast_free(read);
        smurf_model_free(m);
    }
    smurf_data_free(data);
}

/* All answers are about one law. */
static void answers_agree(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = simulate("hawkes", 2, 20, 40, 2);
    smurf_model *m = trained("objective=mle", data);
    assert_int_equal(smurf_model_calibrate(m, data, NULL, 1, 1, 1, NULL, NULL, &err), SMURF_OK);
    smurf_forecast *f;
    assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_read(f, smurf_data_sequence(data, 0), 20, &err), SMURF_OK);
    for (int silent = 0; silent < 2; silent++) {
        double q[3], back[3], sum = 0, mean, share[2];
        enum { DRAWS = 20000 };
        static double draw[DRAWS];
        if (silent) assert_int_equal(smurf_forecast_silence(f, 0.5, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_quantile(f, levels, q, 3, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_cdf(f, q, back, 3, &err), SMURF_OK);
        for (int i = 0; i < 3; i++) assert_true(fabs(back[i] - levels[i]) < 1e-9);
        assert_true(q[0] > (silent ? 0.5 : 0) && q[0] < q[1] && q[1] < q[2]);
        assert_int_equal(smurf_forecast_sample(f, 1, draw, DRAWS, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_mean(f, &mean, &err), SMURF_OK);
        size_t below = 0;
        double square = 0;
        for (int i = 0; i < DRAWS; i++) {
            sum += draw[i];
            square += draw[i] * draw[i];
            below += draw[i] < q[1];
        }
        double error = sqrt((square / DRAWS - sum / DRAWS * sum / DRAWS) / DRAWS);
        assert_true(fabs(sum / DRAWS - mean) < 5 * error);
        assert_true(fabs((double)below / DRAWS - 0.5) < 0.02);
        assert_int_equal(smurf_forecast_types(f, share, &err), SMURF_OK);
        assert_true(fabs(share[0] + share[1] - 1) < 1e-6);
    }
    /* Given silence e, P(gap < x) is (F(x) - F(e)) / (1 - F(e)). */
    double at[2] = {0.5, 1.3}, level[2], given;
    assert_int_equal(smurf_forecast_cdf(f, &at[1], &given, 1, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_silence(f, 0, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_cdf(f, at, level, 2, &err), SMURF_OK);
    assert_true(fabs(given - (level[1] - level[0]) / (1 - level[0])) < 1e-9);
    smurf_forecast_free(f);
    smurf_model_free(m);
    smurf_data_free(data);
}

static void wrong_events_change_nothing(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = simulate("hawkes", 2, 8, 20, 1);
    smurf_model *m = trained("objective=mle epochs=1", data);
    smurf_forecast *f;
    double before, after, half = 0.5, level = 1.5, gap;
    assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
    /* An empty history has the law of all train gaps. */
    assert_int_equal(smurf_forecast_quantile(f, &half, &before, 1, &err), SMURF_OK);
    assert_true(relative(before, m->notes.marginal[50]) < 1e-9);
    assert_int_equal(smurf_forecast_append(f, 1, 0, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_append(f, 2, 1, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_quantile(f, &half, &before, 1, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_append(f, 1.5, 1, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "before the last event"));
    assert_int_equal(smurf_forecast_append(f, NAN, 1, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_forecast_append(f, INFINITY, 1, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_forecast_append(f, 3, 3, &err), SMURF_ERROR_ARGUMENT); /* 2 stands for unknown types */
    assert_non_null(strstr(err.message, "unknown"));
    assert_int_equal(smurf_forecast_silence(f, -1, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_forecast_quantile(f, &level, &gap, 1, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_forecast_types_at(f, NAN, &gap, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_forecast_quantile(f, &half, &after, 1, &err), SMURF_OK);
    assert_true(before == after);
    assert_int_equal(smurf_forecast_events(f), 2);
    smurf_forecast_free(f);
    smurf_model_free(m);
    smurf_data_free(data);
}

/* Where an answer cannot be finite there is an error, never a number that is none. */
static void answers_are_finite(void **state)
{
    (void)state;
    static const char *const settings[] = {"objective=mle epochs=1", "model=thp scale=mean epochs=1",
                                           "model=nhp scale=mean epochs=1", "model=sahp scale=mean epochs=1"};
    static const double late[] = {10, 1e39, 1e300, 1.7e308}, silence[] = {0, 1e30, 1e308, 1.7e308};
    smurf_data *data = simulate("hawkes", 2, 8, 20, 1);
    size_t refused = 0;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++)
        for (int i = 0; i < 16; i++) {
            smurf_model *m = trained(settings[s], data);
            smurf_forecast *f;
            smurf_error err;
            double level[3] = {0.05, 0.5, 0.999}, x[3], mean, share[2], at[2], draw[5];
            assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_append(f, 1, 0, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_append(f, late[i % 4], 1, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_silence(f, silence[i / 4], &err), SMURF_OK);
            const struct {
                smurf_status status;
                const double *x;
                size_t n;
            } answers[] = {{smurf_forecast_quantile(f, level, x, 3, &err), x, 3},
                           {smurf_forecast_mean(f, &mean, &err), &mean, 1},
                           {smurf_forecast_types(f, share, &err), share, 2},
                           {smurf_forecast_types_at(f, 1, at, &err), at, 2},
                           {smurf_forecast_sample(f, 1, draw, 5, &err), draw, 5}};
            for (size_t k = 0; k < sizeof answers / sizeof *answers; k++) {
                refused += answers[k].status != SMURF_OK;
                if (answers[k].status) assert_int_equal(answers[k].status, SMURF_ERROR_INPUT);
                for (size_t j = 0; !answers[k].status && j < answers[k].n; j++)
                    assert_true(isfinite(answers[k].x[j]) && answers[k].x[j] >= 0);
            }
            smurf_forecast_free(f);
            smurf_model_free(m);
        }
    assert_true(refused > 0);
    smurf_data_free(data);
}

/* ---- Futures --------------------------------------------------------------------------------- */

static void futures_follow_the_law(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = simulate("hawkes", 2, 20, 40, 4);
    for (int context = 0; context < 2; context++) {
        smurf_model *m = trained(context ? "objective=mle context=4" : "objective=mle", data);
        smurf_forecast *f;
        smurf_futures *a, *b;
        smurf_futures_config c;
        smurf_futures_config_init(&c);
        c.paths = 400;
        c.events = 12;
        c.threads = 1;
        assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_futures(f, &c, &a, &err), SMURF_ERROR_ARGUMENT); /* no history */
        assert_int_equal(smurf_forecast_read(f, smurf_data_sequence(data, 1), 15, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_futures(f, &c, &a, &err), SMURF_OK);
        c.threads = 3;
        assert_int_equal(smurf_forecast_futures(f, &c, &b, &err), SMURF_OK);
        double worst = 0, level[400];
        for (size_t i = 0; i < 400; i++) {
            const double *time, *again;
            const uint32_t *type, *type_again;
            assert_int_equal(smurf_futures_path(a, i, &time, &type), 12);
            assert_int_equal(smurf_futures_path(b, i, &again, &type_again), 12);
            assert_memory_equal(time, again, 12 * sizeof *time);
            assert_memory_equal(type, type_again, 12 * sizeof *type);
            for (int j = 1; j < 12; j++) assert_true(time[j] >= time[j - 1]);
            assert_int_equal(smurf_forecast_cdf(f, time, &level[i], 1, &err), SMURF_OK);
        }
        for (int k = 1; k < 20; k++) {
            size_t below = 0;
            for (int i = 0; i < 400; i++) below += level[i] < k / 20.0;
            worst = fmax(worst, fabs((double)below / 400 - k / 20.0));
        }
        assert_true(worst < 1.63 / 20); /* Kolmogorov, 1% */
        smurf_futures_free(a);
        smurf_futures_free(b);
        /* Until a time; after an event of a type. */
        c.events = 0;
        c.until = 3;
        assert_int_equal(smurf_forecast_futures(f, &c, &a, &err), SMURF_OK);
        for (size_t i = 0; i < 400; i++) {
            const double *time;
            const uint32_t *type;
            size_t n = smurf_futures_path(a, i, &time, &type);
            if (n) assert_true(time[n - 1] <= 3);
        }
        smurf_futures_free(a);
        c.until = INFINITY;
        assert_int_equal(smurf_forecast_futures(f, &c, &a, &err), SMURF_ERROR_ARGUMENT);
        c.events = 50;
        c.stop_at = 1;
        assert_int_equal(smurf_forecast_futures(f, &c, &a, &err), SMURF_OK);
        for (size_t i = 0; i < 400; i++) {
            const double *time;
            const uint32_t *type;
            size_t n = smurf_futures_path(a, i, &time, &type);
            for (size_t j = 0; j + 1 < n; j++) assert_int_equal(type[j], 0);
        }
        smurf_futures_free(a);
        smurf_forecast_free(f);
        smurf_model_free(m);
    }
    smurf_data_free(data);
}

/* Drawn events are on ticks of the clock, as forecasts are, and not before the end of a silence. */
static void futures_are_on_ticks(void **state)
{
    (void)state;
    const double silence[] = {0, 0.4}; /* the tick that it ends in is over */
    smurf_error err;
    smurf_data *data = simulate("hawkes", 2, 20, 40, 4);
    smurf_model *m = trained("objective=mle", data);
    m->notes.tick = 0.25;
    smurf_forecast *f = forecast_of(m, 0, smurf_data_sequence(data, 1), 15);
    for (int k = 0; k < 2; k++) {
        smurf_futures *futures;
        smurf_futures_config c;
        smurf_futures_config_init(&c);
        c.paths = 400, c.events = 4, c.threads = 1;
        double known, share = 0;
        assert_int_equal(smurf_forecast_silence(f, silence[k], &err), SMURF_OK);
        assert_int_equal(smurf_forecast_futures(f, &c, &futures, &err), SMURF_OK);
        for (size_t i = 0; i < 400; i++) {
            const double *time;
            const uint32_t *type;
            size_t n = smurf_futures_path(futures, i, &time, &type);
            assert_true(n == 4 && time[0] >= silence[k]);
            for (size_t j = 0; j < n; j++) assert_true(4 * time[j] == rint(4 * time[j]));
            share += time[0] <= 0.75 ? 1.0 / 400 : 0;
        }
        assert_int_equal(smurf_forecast_within(f, 0.75, &known, &err), SMURF_OK);
        assert_true(fabs(share - known) < 4 * sqrt(known * (1 - known) / 400) + 1e-9);
        smurf_futures_free(futures);
    }
    smurf_forecast_free(f);
    smurf_model_free(m);
    smurf_data_free(data);
}

/* ---- Calibration ----------------------------------------------------------------------------- */

/* A model that has hardly learned anything is far from calibrated; the map mends that, and cross-fitting shows it. */
static void recalibration_mends(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *train = simulate("hawkes", 2, 10, 20, 1), *dev = simulate("hawkes", 2, 120, 50, 2);
    smurf_data *test = simulate("hawkes", 2, 120, 50, 3);
    smurf_model *m = trained("objective=mle epochs=4 rate=0.003", train);
    assert_int_equal(smurf_model_calibrate(m, dev, train, -1, 1, 2, NULL, NULL, &err), SMURF_OK);
    const smurf_calibration *c = smurf_model_calibration(m);
    assert_true(c->recalibrated);
    assert_int_equal(c->gaps, 120 * 49);
    assert_int_equal(c->conformal, 120);
    print_message("# CS %.2f %.2f CRPS %.4f %.4f\n", c->cs_before, c->cs_after, c->crps_before, c->crps_after);
    assert_true(c->cs_before > 3);
    assert_true(c->cs_after < 1.5);
    assert_true(c->crps_after < c->crps_before);
    /* 100 sqrt(mean q (1 - q) 2 / n) over q = 0.50 .. 0.95 */
    assert_true(fabs(c->cs_floor - 100 * sqrt(0.178750 * 2 / (120 * 49))) < 1e-4);
    assert_int_equal(c->misses, 0);
    /* On data that neither has seen. */
    smurf_evaluation *e;
    smurf_eval_config config;
    smurf_eval_config_init(&config);
    config.threads = 1;
    assert_int_equal(smurf_evaluate(&e, m, test, train, &config, &err), SMURF_OK);
    const smurf_metrics *mapped = smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL);
    const smurf_metrics *raw = smurf_evaluation_row(e, SMURF_ROW_RAW, NULL, NULL);
    print_message("# on other data: CS %.2f %.2f CRPS %.4f %.4f\n", raw->cs, mapped->cs, raw->crps, mapped->crps);
    assert_true(mapped->cs < 2 && raw->cs > 3 && mapped->crps < raw->crps);
    smurf_evaluation_free(e);
    /* The same at any number of threads, and through a file. */
    char path[] = "/tmp/smurf-unit-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    smurf_model *again;
    assert_int_equal(smurf_model_save(m, path, &err), SMURF_OK);
    assert_int_equal(smurf_model_load(&again, path, &err), SMURF_OK);
    unlink(path);
    assert_memory_equal(again->notes.map.level, m->notes.map.level, sizeof m->notes.map.level);
    assert_true(smurf_model_calibration(again)->cs_floor == c->cs_floor);
    assert_memory_equal(again->notes.conformal, m->notes.conformal, 120 * sizeof(double));
    assert_int_equal(smurf_model_calibrate(again, dev, train, 1, 1, 1, NULL, NULL, &err), SMURF_OK);
    assert_memory_equal(again->notes.map.level, m->notes.map.level, sizeof m->notes.map.level);
    smurf_model_free(again);
    smurf_model_free(m);
    smurf_data_free(train);
    smurf_data_free(dev);
    smurf_data_free(test);
}

/* ---- Conformal ------------------------------------------------------------------------------- */

static void ranks_are_whole(void **state)
{
    (void)state;
    assert_int_equal(smurf_conformal_rank(9, 0.9), 9);
    assert_int_equal(smurf_conformal_rank(99, 0.95), 95);
    assert_int_equal(smurf_conformal_rank(19, 0.95), 19);
    assert_int_equal(smurf_conformal_rank(18, 0.95), 19);
    for (size_t n = 1; n < 2000; n++)
        for (int percent = 1; percent < 100; percent++)
            assert_int_equal(smurf_conformal_rank(n, percent / 100.0), ((n + 1) * (size_t)percent + 99) / 100);
    double score[] = {0.1, 0.2, 0.3, 0.4};
    assert_true(isinf(smurf_conformal_upper(score, 4, 0.9)));
    assert_true(smurf_conformal_upper(score, 4, 0.8) == 0.4);
    assert_true(smurf_conformal_lower(score, 4, 0.8) == 0.1);
    assert_true(smurf_conformal_lower(score, 4, 0.9) == 0);
    assert_true(isinf(smurf_conformal_upper(NULL, 0, 0.5)));
}

/* Over many simulated sets: the law is wrong by far, the guarantee holds, on average over sets and gaps. */
static void conformal_covers(void **state)
{
    (void)state;
    enum { SETS = 200, SEQUENCES = 39 };
    smurf_error err;
    smurf_data *train = simulate("weibull", 1, 10, 20, 1);
    smurf_model *m = trained("objective=mle epochs=1 rate=1e-6", train);
    smurf_forecast *f;
    assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
    size_t one = 0, two = 0, raw = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        smurf_data *dev = simulate("weibull", 1, SEQUENCES, 6, 100 + set),
                   *test = simulate("weibull", 1, 1, 6, 5000 + set);
        const smurf_sequence *s = smurf_data_sequence(test, 0);
        double upper[2], both[2], plain, level = 0.9;
        assert_int_equal(smurf_model_calibrate(m, dev, NULL, 0, set, 1, NULL, NULL, &err), SMURF_OK);
        size_t event = 1 + set % 5; /* a random one of a new sequence */
        assert_int_equal(smurf_forecast_read(f, s, event, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_conformal(f, 0.9, 1, upper, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_conformal(f, 0.9, 2, both, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_quantile(f, &level, &plain, 1, &err), SMURF_OK);
        double gap = s->time[event] - s->time[event - 1];
        one += gap <= upper[1];
        two += gap >= both[0] && gap <= both[1];
        raw += gap <= plain;
        smurf_data_free(dev);
        smurf_data_free(test);
    }
    /* 0.9 of 200 is 180, with a deviation of 4.2; the law by itself misses by far more. */
    print_message("# of %d: one-sided %zu, two-sided %zu, the law by itself %zu\n", SETS, one, two, raw);
    assert_in_range(one, 168, 195);
    assert_in_range(two, 168, 195);
    assert_true(raw < 165 || raw > 198);
    double gap[2];
    assert_int_equal(smurf_forecast_conformal(f, 0.99, 1, gap, &err), SMURF_OK);
    assert_true(isinf(gap[1])); /* 39 sequences cannot promise 99% */
    assert_int_equal(smurf_forecast_silence(f, 1, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_conformal(f, 0.9, 1, gap, &err), SMURF_ERROR_ARGUMENT);
    smurf_forecast_free(f);
    smurf_model_free(m);
    smurf_data_free(train);
}

/* ---- Types by name --------------------------------------------------------------------------- */

static void types_are_matched_by_name(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *train = read_text("sequence,time,type\n1,1,a\n1,2,b\n1,3,c\n1,4,a\n2,1,b\n2,2,b\n2,3,a\n");
    smurf_data *other = read_text("sequence,time,type\n9,1,c\n9,2,a\n");
    smurf_data *strange = read_text("sequence,time,type\n9,1,c\n9,2,z\n");
    smurf_data *numbers = read_text("sequence,time,type\n9,1,0\n9,2,1\n");
    smurf_model *m = trained("objective=mle epochs=1", train);
    smurf_data *matched;
    assert_int_equal(smurf_model_match(m, other, &matched, &err), SMURF_OK);
    assert_int_equal(smurf_data_types(other), 2); /* as it was */
    assert_int_equal(smurf_data_sequence(other, 0)->type[0], 0);
    smurf_data_free(other); /* nothing is shared */
    other = matched;
    assert_int_equal(smurf_data_types(other), 3);
    assert_string_equal(smurf_data_sequence(other, 0)->name, "9");
    assert_string_equal(smurf_data_type_name(other, smurf_data_sequence(other, 0)->type[0]), "c");
    assert_string_equal(smurf_model_type_name(m, smurf_data_sequence(other, 0)->type[0]), "c");
    assert_int_equal(smurf_model_match(m, strange, &matched, &err), SMURF_OK);
    assert_int_equal(smurf_data_types(matched), 4);
    assert_int_equal(smurf_data_sequence(matched, 0)->type[0], smurf_data_sequence(other, 0)->type[0]);
    assert_int_equal(smurf_data_sequence(matched, 0)->type[1], 3);
    assert_string_equal(smurf_data_type_name(matched, 3), "other");
    assert_string_equal(smurf_data_remark(matched, 0),
                        "1 event is of a type that the model does not know, 'z': only the time is used");
    smurf_data_free(matched);
    assert_int_equal(smurf_model_match(m, numbers, &matched, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "--types words"));
    assert_string_equal(err.file, "text");
    assert_true(smurf_model_trained_on(m, train) && !smurf_model_trained_on(m, other));
    smurf_model_free(m);
    smurf_data_free(train), smurf_data_free(other), smurf_data_free(strange), smurf_data_free(numbers);
}

/* Models of every class forecast after an event of an unknown type, the same whether read at once, event by event or
   from a saved state; the forecast differs from that after any known type. */
static void unknown_types_are_forecast(void **state)
{
    (void)state;
    static const char *const models[] = {"smurf", "thp", "sahp", "nhp", "nce"};
    smurf_data *train = read_text("sequence,time,type\n1,1,a\n1,2,b\n1,3,c\n1,4,a\n2,1,b\n2,2,b\n2,3,a\n");
    for (size_t k = 0; k < 2 * (sizeof models / sizeof *models); k++) {
        char settings[80];
        const double level = 0.5;
        double median[5], share[3];
        smurf_error err;
        snprintf(settings, sizeof settings, "model=%s epochs=2 scale=mean mask=%s", models[k / 2], k % 2 ? "0.3" : "0");
        smurf_model *m = trained(settings, train);
        assert_int_equal(m->model.shape.unknown, k % 2);
        for (uint32_t type = 0; type <= 3; type++) {
            smurf_forecast *f;
            assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_append(f, 1, 0, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_append(f, 2, type, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_append(f, 2, 4, &err), SMURF_ERROR_ARGUMENT);
            assert_int_equal(smurf_forecast_quantile(f, &level, &median[type], 1, &err), SMURF_OK);
            assert_int_equal(smurf_forecast_types(f, share, &err), SMURF_OK);
            assert_true(fabs(share[0] + share[1] + share[2] - 1) < 1e-6);
            for (uint32_t j = 0; j < type; j++) assert_true(median[j] != median[type]);
            smurf_forecast_free(f);
        }
        smurf_sequence s = {.time = (const double[]){1, 2}, .type = (const uint32_t[]){0, 3}, .length = 2, .first = 1};
        s.start = s.end = NAN;
        smurf_forecast *f;
        assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_read(f, &s, 2, &err), SMURF_OK);
        assert_int_equal(smurf_forecast_quantile(f, &level, &median[4], 1, &err), SMURF_OK);
        assert_true(fabs(median[4] - median[3]) < 1e-5 * median[3]);
        smurf_forecast_free(f);
        smurf_model_free(m);
    }
    smurf_data_free(train);
}

/* Levels of an event are those of the law and of the shares of types; the history and its silence do not change. */
static void events_have_levels(void **state)
{
    (void)state;
    smurf_data *train = read_text("sequence,time,type\n1,1,a\n1,2,b\n1,3,c\n1,4.5,a\n2,1,b\n2,2,b\n2,3.25,a\n");
    smurf_model *m = trained("epochs=2 scale=mean", train);
    smurf_forecast *f;
    smurf_surprise s, again;
    smurf_error err;
    const double gap = 0.7;
    double level, after, share[3], sum = 0;
    m->notes.tick = 0;
    assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_surprise(f, 1, 0, 1, &s, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "the history is empty"));
    assert_int_equal(smurf_forecast_append(f, 1, 0, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_append(f, 2, 1, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_cdf(f, &gap, &level, 1, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_types_at(f, gap, share, &err), SMURF_OK);
    for (uint32_t type = 0; type < 3; type++) {
        double low = 0;
        assert_int_equal(smurf_forecast_surprise(f, 2 + gap, type, 1, &s, &err), SMURF_OK);
        assert_true(fabs(s.pit - level) < 1e-12 && fabs(s.gap - gap) < 1e-12 &&
                    fabs(s.type_share - share[type]) < 1e-12);
        for (uint32_t k = 0; k < 3; k++) low += share[k] < share[type] ? share[k] : 0;
        assert_true(s.type_level >= low + share[type] - 1e-12 && s.type_level <= 1);
        for (uint32_t k = 0; k < 3; k++) assert_true(share[k] <= share[type] || s.type_level <= 1 - share[k] + 1e-12);
        sum += s.type_share;
    }
    assert_true(fabs(sum - 1) < 1e-6);
    assert_int_equal(smurf_forecast_surprise(f, 2 + gap, 2, 1, &again, &err), SMURF_OK);
    assert_memory_equal(&s, &again, sizeof s);
    assert_int_equal(smurf_forecast_surprise(f, 2 + gap, 3, 1, &s, &err), SMURF_OK); /* a type that it does not know */
    assert_true(s.type_level == 1 && isnan(s.type_share));
    assert_int_equal(smurf_forecast_surprise(f, 1.5, 0, 1, &s, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_forecast_surprise(f, 3, 4, 1, &s, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_forecast_silence(f, 0.2, &err), SMURF_OK);
    assert_int_equal(smurf_forecast_surprise(f, 2 + gap, 0, 1, &s, &err), SMURF_OK);
    assert_true(fabs(s.pit - level) < 1e-12); /* of the whole gap */
    assert_int_equal(smurf_forecast_cdf(f, &gap, &after, 1, &err), SMURF_OK);
    assert_true(after < level);
    smurf_forecast_free(f);
    smurf_model_free(m);
    smurf_data_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_matches_its_formula),
        cmocka_unit_test(score_head_integrates),
        cmocka_unit_test(growing_equals_reading),
        cmocka_unit_test(answers_agree),
        cmocka_unit_test(wrong_events_change_nothing),
        cmocka_unit_test(answers_are_finite),
        cmocka_unit_test(futures_follow_the_law),
        cmocka_unit_test(futures_are_on_ticks),
        cmocka_unit_test(recalibration_mends),
        cmocka_unit_test(ranks_are_whole),
        cmocka_unit_test(conformal_covers),
        cmocka_unit_test(types_are_matched_by_name),
        cmocka_unit_test(unknown_types_are_forecast),
        cmocka_unit_test(events_have_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
