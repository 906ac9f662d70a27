/*
 * unit_clock.c - models with a clock: days on which clocks change, the law and its table, what is fitted on train and
 * kept in files, events one by one, and data without dates.
 */
#include "forecast_case.h"

#include "base/random.h"
#include "data/data.h"
#include "data/time_zone.h"
#include "forecast/forecast.h"
#include "law/exact.h"
#include "model/clock_law.h"
#include "model/smurf_class.h"

#include <math.h>
#include <unistd.h>

static const double day = 86400;

static double relative(double a, double b)
{
    return fabs(a - b) / fmax(1e-300, fabs(b));
}

/* ---- Clocks that change ------------------------------------------------------------------------ */

static struct time_zone *berlin(void)
{
    struct time_zone *zone;
    assert_int_equal(smurf_time_zone_open(&zone, "Europe/Berlin", NULL), SMURF_OK);
    return zone;
}

/* 2024-03-31 and 2024-10-27, 01:00 UTC. */
static const int64_t forward = 1711846800, backward = 1729990800;

static void clocks_change(void **state)
{
    (void)state;
    struct time_zone *zone = berlin();
    const struct clock clock = {.on = true, .shape = {true, true}, .zone = zone, .cut = 10 * day};
    double until, shift;
    assert_true(smurf_clock_local(&clock, (double)forward - 0.25) == (double)forward + 3600 - 0.25);
    assert_true(smurf_clock_local(&clock, (double)forward) == (double)forward + 7200);
    assert_true(smurf_clock_local(&clock, (double)backward - 0.25) == (double)backward + 7200 - 0.25);
    assert_true(smurf_clock_local(&clock, (double)backward) == (double)backward + 3600);
    smurf_clock_change(&clock, (double)forward - 7.5, &until, &shift);
    assert_true(until == 7.5 && shift == 3600);
    smurf_clock_change(&clock, (double)backward - 2 * day, &until, &shift);
    assert_true(until == 2 * day && shift == -3600);
    const double calm[] = {(double)forward, (double)forward + 30 * day, (double)backward - 11 * day, 1e12, -1e12};
    for (size_t i = 0; i < sizeof calm / sizeof *calm; i++) {
        smurf_clock_change(&clock, calm[i], &until, &shift);
        assert_true(until > 1e29 && shift == 0);
    }
    const struct clock utc = {.on = true, .shape = {true, true}, .cut = 10 * day};
    smurf_clock_change(&utc, (double)forward - 7.5, &until, &shift);
    assert_true(until > 1e29 && shift == 0 && smurf_clock_local(&utc, 1e9) == 1e9);
    smurf_time_zone_free(zone);
}

/* ---- The law of an event ------------------------------------------------------------------------ */

/* A law with coefficients of our own, of an event at `utc` in Berlin. */
struct head {
    struct model model;
    float slab[4096], c[64 + CLOCK_MOST + 2], weight[CLOCK_MOST];
    void *memory;
    struct law law;
    struct time_zone *zone;
    double utc;
};

enum { WIDTH = 16 };

static void make_head(struct head *h, smurf_scale_kind kind, double utc, double size, double low, double high)
{
    h->zone = berlin();
    struct encoder_shape shape = {.types = 3,
                                  .width = WIDTH,
                                  .heads = 1,
                                  .head_width = 2,
                                  .layers = 1,
                                  .inner = 2,
                                  .clock = {.on = true,
                                            .shape = {true, true},
                                            .zone = h->zone,
                                            .cut = 10 * day,
                                            .unit = 1,
                                            .scale = {.kind = kind, .mean = 0.8 * day, .mu = -1, .sd = 1.5}}};
    struct random random;
    smurf_random_init(&random, 9, 0);
    smurf_model_init_f32(&h->model, &smurf_model_smurf_f32, &shape, PARAM_INTENSITY);
    assert_true(h->model.params.total <= 4096);
    assert_int_equal(h->model.class->coefficients(&h->model), 3 * WIDTH + CLOCK_MOST + 2);
    for (size_t i = 0; i < 4096; i++) h->slab[i] = (float)(0.5 * smurf_random_normal(&random));
    h->slab[smurf_offsets(&h->model)->head.c] = -1.5f;
    for (int k = 0; k < 3 * WIDTH; k++) h->c[k] = (float)tanh(smurf_random_normal(&random));
    for (int k = 0; k < CLOCK_MOST; k++) h->weight[k] = (float)(size * smurf_random_normal(&random));
    float row[CLOCK_MOST];
    double until, shift;
    h->utc = utc;
    smurf_clock_row_f32(shape.clock.shape, smurf_clock_local(&h->model.shape.clock, utc), row);
    smurf_clock_turn_f32(CLOCK_MOST, row, h->weight, h->c + 3 * WIDTH);
    smurf_clock_change(&h->model.shape.clock, utc, &until, &shift);
    h->c[3 * WIDTH + CLOCK_MOST] = (float)until;
    h->c[3 * WIDTH + CLOCK_MOST + 1] = (float)shift;
    h->memory = malloc(smurf_gap_law_memory(&h->model));
    assert_non_null(h->memory);
    h->law = smurf_gap_law(&h->model, h->slab, h->c, low, high, h->memory);
}

static void release_head(struct head *h)
{
    free(h->memory);
    smurf_time_zone_free(h->zone);
}

/* ln lambda at y, by the definition. */
static double log_lambda(const struct head *h, double y)
{
    const struct head_params *at = &smurf_offsets(&h->model)->head;
    const struct clock *clock = &h->model.shape.clock;
    double u = (double)h->slab[at->c], b = 0, gap = smurf_scale_backward(&clock->scale, y);
    float row[CLOCK_MOST];
    for (int k = 0; k < WIDTH; k++)
        u += (double)h->slab[at->w + (size_t)k] * tanh((double)h->c[k] * y + (double)h->c[WIDTH + k]);
    if (gap < clock->cut) {
        smurf_clock_row_f32(clock->shape, smurf_clock_local(clock, h->utc + gap), row);
        for (int k = 0; k < CLOCK_MOST; k++) b += (double)(h->weight[k] * row[k]);
    } else {
        double sum = 0, from = smurf_clock_local(clock, h->utc + clock->cut);
        for (int m = 0; m < 168; m++) {
            double one = 0;
            smurf_clock_row_f32(clock->shape, from + 3600.0 * m, row);
            for (int k = 0; k < CLOCK_MOST; k++) one += (double)(h->weight[k] * row[k]);
            sum += exp(one) / 168;
        }
        b = log(sum);
    }
    return log(log1p(exp(u))) + b;
}

static const double moments[] = {1711846800 - 1.3 * 86400, 1729990800 - 0.4 * 86400, 1720000000.5};

static void law_matches_its_formula(void **state)
{
    (void)state;
    enum { N = 400 };
    const smurf_scale_kind kinds[] = {SMURF_SCALE_LOG, SMURF_SCALE_MEAN, SMURF_SCALE_NONE};
    for (int k = 0; k < 9; k++) {
        static struct head h;
        double unit = kinds[k / 3] == SMURF_SCALE_NONE ? day : 1, low = k / 3 ? 0 : -6, high = (k / 3 ? 30 : 4) * unit;
        make_head(&h, kinds[k / 3], moments[k % 3], 0.3, low, high);
        double y[N], lambda[N], slope[N], score[N], types[3 * N];
        for (int i = 0; i < N; i++) y[i] = low + (high - low) * (i + 0.37) / N;
        smurf_law_eval_intensity(&h.law, y, lambda, N);
        smurf_law_eval_slope(&h.law, y, slope, N);
        smurf_law_eval_score(&h.law, y, score, N);
        smurf_law_eval_types(&h.law, y, types, N);
        for (int i = 0; i < N; i++) {
            double gap = smurf_clock_gap(&h.model.shape.clock, y[i]).gap, until = (double)h.c[3 * WIDTH + CLOCK_MOST];
            double step = 1e-5 * unit, ahead = log_lambda(&h, y[i] + step), behind = log_lambda(&h, y[i] - step);
            if (fabs(gap - until) < 0.01 * day || fabs(gap - 10 * day) < 0.01 * day) continue; /* it jumps */
            if (!(relative(lambda[i], exp(log_lambda(&h, y[i]))) < 1e-5))
                fail_msg("case %d, y %g: %.9g instead of %.9g", k, y[i], lambda[i], exp(log_lambda(&h, y[i])));
            assert_true(relative(types[3 * i] + types[3 * i + 1] + types[3 * i + 2], lambda[i]) < 1e-6);
            /* B is in float in log_lambda: its difference is good to 1e-7 / step */
            double rise = (ahead - behind) / (2 * step), size = (1 + fabs(rise) * unit) / unit;
            if (!(fabs(slope[i] / lambda[i] - rise) < 0.1 * size))
                fail_msg("case %d, y %g: slope %.9g instead of %.9g", k, y[i], slope[i] / lambda[i], rise);
            assert_true(fabs(score[i] - (slope[i] / lambda[i] - lambda[i])) <
                        1e-6 * (size + fabs(score[i]) + lambda[i]));
        }
        release_head(&h);
    }
}

/* beta' exactly: the slope against differences of the law's own logarithm, which is in double. */
static void slope_is_the_derivative(void **state)
{
    (void)state;
    enum { N = 300 };
    static struct head h;
    make_head(&h, SMURF_SCALE_LOG, moments[2], 0.5, -6, 4);
    double y[N], up[N], down[N], lambda[N], slope[N];
    const double step = 1e-5;
    for (int i = 0; i < N; i++) y[i] = -5.9 + 9.8 * i / N;
    for (int i = 0; i < N; i++) up[i] = y[i] + step, down[i] = y[i] - step;
    smurf_law_eval_intensity(&h.law, y, lambda, N);
    smurf_law_eval_intensity(&h.law, up, up, N);
    smurf_law_eval_intensity(&h.law, down, down, N);
    smurf_law_eval_slope(&h.law, y, slope, N);
    for (int i = 0; i < N; i++) {
        if (fabs(smurf_clock_gap(&h.model.shape.clock, y[i]).gap - 10 * day) < 0.01 * day) continue;
        assert_true(fabs(slope[i] - (up[i] - down[i]) / (2 * step)) < 1e-3 * (lambda[i] + fabs(slope[i])));
    }
    release_head(&h);
}

/* The table against a sum over minutes. */
static void table_is_the_integral(void **state)
{
    (void)state;
    struct exact exact;
    assert_int_equal(smurf_exact_init(&exact, NULL), SMURF_OK);
    for (int k = 0; k < 6; k++) {
        static struct head h;
        const smurf_scale *scale = &h.model.shape.clock.scale;
        bool is_log = k < 3;
        make_head(&h, is_log ? SMURF_SCALE_LOG : SMURF_SCALE_MEAN, moments[k % 3], 0.4, is_log ? -6 : 0,
                  is_log ? 3.5 : 40);
        smurf_exact_build(&exact, &h.law, EXACT_REST);
        struct dist dist = smurf_exact_dist(&exact);
        double sum = 0, worst = 0, last = h.law.lo;
        for (double gap = smurf_scale_backward(scale, h.law.lo); last < h.law.hi;) {
            double next = gap + fmin(60, 0.002 * gap + 1e-3), jump[] = {(double)h.c[3 * WIDTH + CLOCK_MOST], 10 * day};
            for (int j = 0; j < 2; j++)
                if (gap < jump[j] && next > jump[j]) next = jump[j];
            double y = fmin(smurf_scale_forward(scale, next), h.law.hi), cdf;
            double middle = 0.5 * (last + y), lambda;
            h.law.class->intensity(h.law.self, &middle, &lambda, 1);
            sum += (y - last) * lambda;
            dist.class->cdf(dist.self, &y, &cdf, 1);
            worst = fmax(worst, fabs(cdf + expm1(-sum)));
            gap = next;
            last = y;
        }
        assert_true(sum > 1); /* there is something to compare */
        if (!(worst < 2e-6)) fail_msg("case %d: F is off by %g", k, worst);
        release_head(&h);
    }
    smurf_exact_release(&exact);
}

/* ---- Models -------------------------------------------------------------------------------------- */

/* Sequences of the process `daily`. */
static smurf_data *dated(size_t sequences, size_t events)
{
    return simulate("daily", 2, sequences, events, 3);
}

static void fitted_on_train(void **state)
{
    (void)state;
    smurf_error err;
    struct wall_clock clock;
    smurf_data *data = dated(2, 400);
    assert_int_equal(smurf_wall_clock_fit(&clock, data, true, &err), SMURF_OK);
    assert_true(clock.shape.week && !clock.shape.year && !clock.zone && clock.cut == day);
    smurf_wall_clock_release(&clock);
    smurf_data_free(data);
    char text[4096] = "time\n";
    for (int year = 2000; year < 2003; year++)
        for (int month = 1; month <= 12; month++) sprintf(text + strlen(text), "%d-%02d-03T05:06:07Z\n", year, month);
    data = read_text(text);
    assert_int_equal(smurf_wall_clock_fit(&clock, data, true, &err), SMURF_OK);
    assert_true(clock.shape.week && clock.shape.year && clock.cut == 28 * day);
    smurf_wall_clock_release(&clock);
    assert_int_equal(smurf_wall_clock_fit(&clock, data, false, &err), SMURF_OK);
    assert_true(clock.shape.week && !clock.shape.year);
    smurf_wall_clock_release(&clock);
    smurf_data_free(data);
    strcpy(text, "time\n");
    for (int k = 1; k < 28; k++) sprintf(text + strlen(text), "Mar %2d 10:%02d:00\n", k, k);
    data = read_text(text);
    assert_true(smurf_data_is_calendar(data));
    assert_int_equal(smurf_wall_clock_fit(&clock, data, true, &err), SMURF_OK);
    assert_true(!clock.shape.week && !clock.shape.year); /* which year it was is not known */
    smurf_wall_clock_release(&clock);
    smurf_data_free(data);
    data = simulate("poisson", 2, 2, 20, 3);
    assert_int_equal(smurf_wall_clock_fit(&clock, data, true, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "its times are not dates"));
    smurf_data_free(data);
}

static const char *const kinds[] = {"objective=mle wall-clock=on", "objective=mle context=8 wall-clock=on counts=on",
                                    "objective=mle clock=raw wall-clock=on scale=mean"};

/* The weights of the clock move, so that everything below has one. */
static smurf_model *clocked(const char *settings, const smurf_data *data)
{
    smurf_model *m = trained(settings, data);
    const struct smurf_offsets *at = smurf_offsets(&m->model);
    struct random random;
    smurf_random_init(&random, 4, 0);
    size_t inputs = clock_inputs(m->model.shape.clock.shape), width = m->model.shape.width;
    assert_int_equal(inputs, CLOCK_MOST - 2 * CLOCK_YEAR);
    for (size_t i = 0; i < inputs * width; i++) {
        assert_true(m->slab[at->clock.weight + i] != 0); /* training got there */
        m->slab[at->clock.weight + i] += (float)(0.3 * smurf_random_normal(&random));
        m->slab[at->encoder.clock + i] += (float)(0.3 * smurf_random_normal(&random));
    }
    return m;
}

static const double levels[] = {0.05, 0.3, 0.5, 0.9, 0.95};
enum { LEVELS = sizeof levels / sizeof *levels };

static void quantiles(smurf_forecast *f, double out[LEVELS])
{
    smurf_error err;
    if (smurf_forecast_quantile(f, levels, out, LEVELS, &err)) fail_msg("%s", err.message);
}

/* Laws of a sequence encoded at once, read and appended one by one are the same; so are those of a saved model, of a
   copy, and of a saved forecast that goes on. */
static void events_one_by_one(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = dated(3, 60);
    const smurf_sequence *s = smurf_data_sequence(data, 1);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        smurf_model *m = clocked(kinds[k], data), *copy, *loaded;
        void *bytes;
        size_t size;
        assert_int_equal(smurf_model_copy(&copy, m, &err), SMURF_OK);
        assert_int_equal(smurf_model_save_memory(m, &bytes, &size, &err), SMURF_OK);
        if (smurf_model_load_memory(&loaded, bytes, size, NULL, &err)) fail_msg("%s", err.message);
        smurf_free(bytes);
        struct predictor p = smurf_model_predictor(m);
        void *workspace = p.class->workspace_new(p.self, s->length, NULL);
        assert_non_null(workspace);
        p.class->read(p.self, workspace, s);
        smurf_forecast *grown = forecast_of(m, 0, s, 0), *restored = NULL;
        for (size_t i = 0; i < s->length; i++) {
            double want[LEVELS], got[LEVELS];
            struct dist dist = p.class->dist(p.self, workspace, i, 0);
            dist.class->quantile(dist.self, levels, want, LEVELS);
            assert_int_equal(smurf_forecast_append(grown, s->time[i], s->type[i], &err), SMURF_OK);
            quantiles(grown, got);
            for (int l = 0; l < LEVELS; l++) assert_true(relative(got[l], want[l]) < 1e-3);
            if (i % 7 == 3) {
                smurf_model *const same[] = {m, copy, loaded};
                for (int j = 0; j < 3; j++) {
                    smurf_forecast *f = forecast_of(same[j], 0, s, i + 1);
                    quantiles(f, got);
                    for (int l = 0; l < LEVELS; l++) assert_true(relative(got[l], want[l]) < 1e-3);
                    smurf_forecast_free(f);
                }
            }
            if (restored) {
                double same[LEVELS];
                quantiles(grown, got);
                assert_int_equal(smurf_forecast_append(restored, s->time[i], s->type[i], &err), SMURF_OK);
                quantiles(restored, same);
                assert_memory_equal(same, got, sizeof got);
            } else if (i == 20) {
                assert_int_equal(smurf_forecast_save(grown, &bytes, &size, &err), SMURF_OK);
                if (smurf_forecast_restore(&restored, loaded, bytes, size, &err)) fail_msg("%s", err.message);
                smurf_free(bytes);
            }
        }
        smurf_forecast_free(grown), smurf_forecast_free(restored);
        p.class->workspace_free(workspace);
        smurf_model_free(m), smurf_model_free(copy), smurf_model_free(loaded);
    }
    smurf_data_free(data);
}

/* The same gaps and types at another hour have another law; a whole week later they have the same. */
static void laws_know_the_hour(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = dated(3, 60);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    smurf_model *m = clocked(kinds[0], data);
    smurf_forecast *f;
    double out[3][LEVELS];
    const int64_t origin[3] = {0, 7 * 86400, 5 * 3600};
    assert_int_equal(smurf_forecast_new(&f, m, 0, &err), SMURF_OK);
    for (int k = 0; k < 3; k++) {
        smurf_forecast_clear(f, origin[k]);
        for (size_t i = 0; i < 9; i++)
            assert_int_equal(smurf_forecast_append(f, s->time[i], s->type[i], &err), SMURF_OK);
        quantiles(f, out[k]);
    }
    for (int l = 0; l < LEVELS; l++) {
        assert_true(relative(out[1][l], out[0][l]) < 1e-4);
        assert_true(relative(out[2][l], out[0][l]) > 1e-2);
    }
    smurf_forecast_free(f);
    smurf_model_free(m);
    smurf_data_free(data);
}

static void same_at_any_number_of_threads(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = dated(12, 60);
    smurf_model *m[2];
    for (int k = 0; k < 2; k++) {
        smurf_epoch epoch;
        smurf_trainer *t =
            trainer_of("objective=mle wall-clock=on epochs=2 batch=6 dropout=0.1", k ? 3 : 1, data, NULL);
        while (!smurf_trainer_done(t))
            if (smurf_trainer_epoch(t, &epoch, &err)) fail_msg("%s", err.message);
        assert_int_equal(smurf_trainer_model(t, &m[k], &err), SMURF_OK);
        smurf_trainer_free(t);
    }
    assert_memory_equal(m[0]->slab, m[1]->slab, m[0]->model.params.total * sizeof *m[0]->slab);
    smurf_model_free(m[0]), smurf_model_free(m[1]);
    smurf_data_free(data);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "null",
        "{}",
        "{\"week\":1,\"year\":false,\"cut\":100000}",
        "{\"week\":true,\"cut\":100000}",
        "{\"week\":true,\"year\":false}",
        "{\"week\":true,\"year\":false,\"cut\":0}",
        "{\"week\":true,\"year\":false,\"cut\":1e9}",
        "{\"week\":true,\"year\":false,\"cut\":100000,\"timezone\":3}",
        "{\"week\":true,\"year\":false,\"cut\":100000,\"timezone\":\"Europe/Nowhere\"}",
    };
    const size_t n = sizeof bad / sizeof *bad;
    smurf_error err;
    smurf_data *data = dated(3, 20);
    smurf_model *m = clocked(kinds[0], data), *back;
    for (size_t i = 0; i < n; i++) {
        json_t *json = smurf_model_to_json(m);
        assert_int_equal(json_object_set_new(json, "wall_clock", json_loads(bad[i], JSON_DECODE_ANY, NULL)), 0);
        assert_int_equal(smurf_model_from_json(&back, json, "m.safetensors", &err), SMURF_ERROR_INPUT);
        assert_non_null(strstr(err.message, i + 1 < n ? "no valid 'wall_clock'" : "Europe/Nowhere"));
        json_decref(json);
    }
    smurf_model_free(m);
    smurf_data_free(data);
}

static void without_dates(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = dated(3, 20), *plain = simulate("poisson", 2, 3, 20, 3), *known;
    smurf_model *m = clocked(kinds[0], data);
    smurf_settings config = small_config(kinds[0]);
    smurf_trainer *t;
    assert_int_equal(smurf_model_match(m, data, &known, &err), SMURF_OK);
    smurf_data_free(known);
    assert_int_equal(smurf_model_match(m, plain, &known, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "its times are not dates, but the model sees the clock on the wall"));
    assert_int_equal(smurf_trainer_new(&t, &config, plain, NULL, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "its times are not dates"));
    config = small_config("objective=sm wall-clock=on");
    assert_int_equal(smurf_settings_check(&config, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "objective sm cannot learn what the clock does"));
    config = small_config("objective=dsm head=score wall-clock=on");
    assert_int_equal(smurf_settings_check(&config, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "wall-clock needs an intensity"));
    config = small_config("model=nhp scale=mean gap-feature=off wall-clock=on");
    assert_int_equal(smurf_settings_check(&config, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "model nhp cannot see the clock on the wall"));
    smurf_model_free(m);
    smurf_data_free(data), smurf_data_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_change),
        cmocka_unit_test(law_matches_its_formula),
        cmocka_unit_test(slope_is_the_derivative),
        cmocka_unit_test(table_is_the_integral),
        cmocka_unit_test(fitted_on_train),
        cmocka_unit_test(events_one_by_one),
        cmocka_unit_test(laws_know_the_hour),
        cmocka_unit_test(same_at_any_number_of_threads),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(without_dates),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
