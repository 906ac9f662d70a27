/*
 * property_class.c - what must hold for every class of models, in float: batches, threads, causes before effects,
 * laws that agree with themselves, and models that come back from their files. And the noise of NCE-TPP.
 */
#include "train_case.h"

#include "class_case.h"
#include "forecast/model_predictor.h"
#include "model/nce.h"

#include <unistd.h>

static const struct op_run once = {1, 17, 4, 0, NULL};

/* Lengths on both sides of attention's tiles and of the chunks of rows and targets. */
static const size_t lengths[] = {3, 1, 26, 2, 131, 9, 64, 5, 1, 49, 200, 14};
enum { SEQUENCES = sizeof lengths / sizeof *lengths };
static const double ROUNDING = 2e-5; /* of sums in another order, relative to the largest */

static void start(struct model_case *c, const struct model_class *class, double dropout)
{
    const struct encoder_shape shape = {.types = 5,
                                        .width = 12,
                                        .heads = 3,
                                        .head_width = 5,
                                        .layers = 2,
                                        .inner = 40,
                                        .activation = ACTIVATION_GELU,
                                        .gap_feature = true,
                                        .counts = class->counts,
                                        .count_rate = MODEL_CASE_RATES};
    class_case_init(c, class, &shape, lengths, SEQUENCES, 8);
    c->dropout = dropout;
}

static double *room(size_t n)
{
    return model_case_room(n, sizeof(double));
}

static void close_enough(const char *what, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)))) fail_msg("%s: %.12g and %.12g", what, a, b);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void compare_gradients(const struct model_case *c, const double *a, const double *b)
{
    for (size_t i = 0; i < c->model.params.count; i++) {
        const struct param *p = &c->model.params.entry[i];
        double most = 0, size = 0;
        for (size_t k = p->at; k < p->at + p->size; k++) {
            if (!(fabs(a[k] - b[k]) <= most)) most = fabs(a[k] - b[k]);
            size = fmax(size, fabs(a[k]));
        }
        if (!(size > 0)) fail_msg("%s: no gradient of %s", c->model.class->name, p->name);
        if (!(most <= ROUNDING * size))
            fail_msg("%s: %s differs by %g of %g", c->model.class->name, p->name, most, size);
    }
}

/* A batch is its sequences one by one. */
static void test_one_by_one(void **state)
{
    struct model_case all, one;
    start(&all, *state, 0);
    size_t total = all.model.params.total;
    double *grad = room(total), *part = room(total), *sum = room(total);
    struct loss whole = class_case_loss(&all, &once, grad), parts = {0};
    for (size_t s = 0; s < SEQUENCES; s++) {
        model_case_select(&one, &all, &s, 1);
        struct loss loss = class_case_loss(&one, &once, part);
        parts.time += loss.time, parts.type += loss.type, parts.right += loss.right;
        parts.gaps += loss.gaps, parts.typed += loss.typed;
        for (size_t i = 0; i < total; i++) sum[i] += part[i];
        model_case_release(&one);
    }
    assert_true(whole.gaps >= all.n - SEQUENCES && whole.gaps == parts.gaps);
    assert_int_equal(whole.typed, parts.typed);
    close_enough("time", whole.time, parts.time, ROUNDING);
    close_enough("type", whole.type, parts.type, ROUNDING);
    compare_gradients(&all, grad, sum);
    free(grad), free(part), free(sum);
    model_case_release(&all);
}

/* Threads change no bit; steps and seeds change the draws, or dropout (nhp has neither). */
static void test_threads(void **state)
{
    const int threads[] = {2, 5};
    struct model_case c;
    start(&c, *state, 0.1);
    size_t total = c.model.params.total;
    double *a = room(total), *b = room(total);
    struct loss one = class_case_loss(&c, &once, a);
    assert_true(isfinite(one.time) && one.time != 0);
    for (int k = 0; k < 2; k++) {
        struct op_run run = {threads[k], once.seed, once.step, 0, NULL};
        struct loss many = class_case_loss(&c, &run, b);
        assert_memory_equal(&one, &many, sizeof one);
        assert_memory_equal(a, b, total * sizeof *a);
    }
    struct op_run later = {1, once.seed, once.step + 1, 0, NULL}, other = {1, once.seed + 1, once.step, 0, NULL};
    bool random = strcmp(c.model.class->name, "nhp") != 0;
    assert_true((class_case_loss(&c, &later, NULL).time != one.time) == random);
    assert_true((class_case_loss(&c, &other, NULL).time != one.time) == random);
    free(a), free(b);
    model_case_release(&c);
}

/* Events without targets, and gaps of no length or very long ones: the loss and its gradient are numbers. */
static void test_extremes(void **state)
{
    const double gaps[] = {0, 1e-30, 1e-6, 1e3, 1e6};
    struct model_case c;
    start(&c, *state, 0);
    size_t total = c.model.params.total;
    double *grad = room(total);
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        for (size_t i = 0; i < c.targets; i++) c.target[i].gap = gaps[g];
        struct loss loss = class_case_loss(&c, &once, grad);
        if (!isfinite(loss.time) || !isfinite(loss.type))
            fail_msg("gap %g: loss %g, %g", gaps[g], loss.time, loss.type);
        for (size_t i = 0; i < total; i++)
            if (!isfinite(grad[i])) fail_msg("gap %g: gradient %g", gaps[g], grad[i]);
    }
    c.targets = 0;
    struct loss none = class_case_loss(&c, &once, grad);
    assert_true(none.time == 0 && none.type == 0 && none.gaps == 0 && none.typed == 0);
    for (size_t i = 0; i < total; i++) assert_true(grad[i] == 0);
    free(grad);
    model_case_release(&c);
}

/* ---- Causes before effects -------------------------------------------------------------------- */

enum { POINTS = 6 };
static const double points[POINTS] = {0, 0.01, 0.3, 1, 4, 20};

/* The law of one event's coefficients, valid until the next call. */
static struct law law_of(const struct model_case *c, const float *slab, const float *coefficients)
{
    static double memory[4096];
    assert_true(c->model.class->law_memory(&c->model) <= sizeof memory);
    return c->model.class->law(&c->model, slab, coefficients, 0, 50, memory);
}

/* Total intensity and probabilities of types at the points: what a law says. */
static void law_says(const struct model_case *c, const float *slab, const float *coefficients, double *intensity,
                     double *types)
{
    struct law law = law_of(c, slab, coefficients);
    law.class->intensity(law.self, points, intensity, POINTS);
    c->model.class->types(&law, points, types, POINTS);
}

static bool same_law(const struct model_case *c, const float *slab, const float *a, const float *b)
{
    double intensity[2][POINTS], types[2][POINTS * 5];
    law_says(c, slab, a, intensity[0], types[0]);
    law_says(c, slab, b, intensity[1], types[1]);
    return memcmp(intensity[0], intensity[1], sizeof *intensity) == 0 && memcmp(types[0], types[1], sizeof *types) == 0;
}

static void disturb(struct model_case *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        c->time[i] += 1.25 * (double)(i - from + 1);
        c->type[i] = (c->type[i] + 1) % (uint32_t)c->model.shape.types;
        if (!isnan(c->gap[i])) c->gap[i] = -c->gap[i] + 0.5;
    }
}

/* Events from row j of a sequence on are changed: coefficients and laws of the rows before, and of all other sequences,
   stay as they are to the last bit; later ones change. */
static void test_future(void **state)
{
    static const size_t place[][2] = {{4, 1}, {4, 70}, {4, 130}, {10, 47}, {10, 199}, {2, 13}};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        struct model_case c;
        start(&c, *state, 0);
        size_t s = place[i][0], from = c.offset[s] + place[i][1], own = c.model.class->coefficients(&c.model);
        float *slab = class_case_reals(c.slab, c.model.params.total);
        float *before = class_case_encode(&c, &once);
        disturb(&c, from, c.offset[s + 1]);
        float *after = class_case_encode(&c, &once);
        for (size_t row = 0; row < c.n; row++) {
            bool changed = row >= from && row < c.offset[s + 1];
            const float *a = before + row * own, *b = after + row * own;
            if ((memcmp(a, b, own * sizeof *a) != 0) != changed || same_law(&c, slab, a, b) == changed)
                fail_msg("%s: row %zu of sequence from %zu, changed from %zu: %s", c.model.class->name, row,
                         c.offset[s], from, changed ? "no effect" : "depends on the future");
        }
        free(slab), free(before), free(after);
        model_case_release(&c);
    }
}

/* The law of an event does not depend on what else is in the batch, but for rounding. */
static void test_alone(void **state)
{
    struct model_case all, one;
    const size_t which = 4;
    start(&all, *state, 0);
    model_case_select(&one, &all, &which, 1);
    size_t own = all.model.class->coefficients(&all.model);
    float *a = class_case_encode(&all, &once), *b = class_case_encode(&one, &once);
    double most = 0;
    for (size_t i = 0; i < one.n * own; i++) most = fmax(most, fabs((double)a[all.offset[which] * own + i]));
    assert_true(most > 0.01);
    for (size_t i = 0; i < one.n * own; i++)
        assert_true(fabs((double)(a[all.offset[which] * own + i] - b[i])) < ROUNDING * most);
    free(a), free(b);
    model_case_release(&all), model_case_release(&one);
}

/* ---- Laws ------------------------------------------------------------------------------------ */

/* The slope is the intensity's, types add up to it, and a point has the same value whatever it is asked with. */
static void check_law(const struct model_case *c, const float *slab, const float *coefficients)
{
    enum { N = 150, TYPES = 5 };
    const double h = 1e-4;
    struct law law = law_of(c, slab, coefficients);
    const struct law_class *class = law.class;
    double tau[N], lambda[N], slope[N], left[N], right[N], types[N * TYPES], alone;
    for (int i = 0; i < N; i++) tau[i] = 0.01 + 0.05 * i;
    class->intensity(law.self, tau, lambda, N);
    class->slope(law.self, tau, slope, N);
    class->types(law.self, tau, types, N);
    for (int i = 0; i < N; i++) left[i] = tau[i] - h, right[i] = tau[i] + h;
    class->intensity(law.self, left, left, N);
    class->intensity(law.self, right, right, N);
    for (int i = 0; i < N; i++) {
        double want = (right[i] - left[i]) / (2 * h), sum = 0;
        assert_true(lambda[i] > 0 && isfinite(lambda[i]));
        if (!(fabs(slope[i] - want) <= 1e-6 * (fabs(want) + lambda[i])))
            fail_msg("slope at %g: %.12g, by differences %.12g", tau[i], slope[i], want);
        for (int k = 0; k < TYPES; k++) {
            assert_true(types[i * TYPES + k] >= 0);
            sum += types[i * TYPES + k];
        }
        close_enough("sum of types", sum, lambda[i], 1e-10);
        class->intensity(law.self, &tau[i], &alone, 1);
        close_enough("alone", alone, lambda[i], 1e-12);
    }
    c->model.class->types(&law, tau, types, TYPE_POINTS);
    for (int i = 0; i < TYPE_POINTS; i++) {
        double sum = 0;
        for (int k = 0; k < TYPES; k++) sum += types[i * TYPES + k];
        close_enough("sum of probabilities", sum, 1, 1e-10);
    }
}

static void test_law(void **state)
{
    struct model_case c;
    start(&c, *state, 0);
    size_t own = c.model.class->coefficients(&c.model);
    float *slab = class_case_reals(c.slab, c.model.params.total), *all = class_case_encode(&c, &once);
    for (size_t row = 0; row < c.n; row += 7) check_law(&c, slab, all + row * own);
    free(slab), free(all);
    model_case_release(&c);
}

/* ---- Histories ------------------------------------------------------------------------------- */

static void same_row(const char *what, const float *a, const float *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs((double)b[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)(a[i] - b[i])) <= ROUNDING * most))
            fail_msg("%s: %g and %g", what, (double)a[i], (double)b[i]);
}

/* Events appended one by one, or filled in at once, have the coefficients that all of them have together; copies go on
   by themselves, and come back. */
static void test_history(void **state)
{
    const struct model_class *class = *state;
    const struct history_class *h = class->history;
    const size_t which = 4, half = 60;
    struct model_case all, one;
    smurf_error err;
    void *grown, *copy;
    start(&all, class, 0);
    model_case_select(&one, &all, &which, 1);
    size_t own = class->coefficients(&one.model), n = one.n;
    float *slab = class_case_reals(one.slab, one.model.params.total), *gap = class_case_reals(one.gap, n);
    float *want = class_case_encode(&one, &once), *c = model_case_room(own, sizeof *c);
    assert_int_equal(h->open(&grown, &one.model, slab, 0, &err), SMURF_OK);
    assert_int_equal(h->open(&copy, &one.model, slab, 0, &err), SMURF_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(h->append(grown, one.type[i], one.time[i], gap[i], c, &err), SMURF_OK);
        same_row("appended", c, want + i * own, own);
        if (i + 1 == half) assert_int_equal(h->copy(copy, grown, false, &err), SMURF_OK);
    }
    for (int round = 0; round < 2; round++) { /* the copy is at event `half`, and then goes back there */
        assert_int_equal(h->append(copy, one.type[half], one.time[half], gap[half], c, &err), SMURF_OK);
        same_row("of a copy", c, want + half * own, own);
        assert_int_equal(h->fill(grown, one.type, one.time, gap, half, c, &err), SMURF_OK);
        same_row("filled", c, want + (half - 1) * own, own);
        assert_int_equal(h->copy(copy, grown, true, &err), SMURF_OK);
    }
    h->clear(grown);
    assert_int_equal(h->append(grown, one.type[0], one.time[0], gap[0], c, &err), SMURF_OK);
    same_row("cleared", c, want, own);
    h->close(grown), h->close(copy), h->close(NULL);
    free(slab), free(gap), free(want), free(c);
    model_case_release(&all), model_case_release(&one);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A few steps from the class's preset, cut down to a small model. */
static smurf_model *trained(const char *preset, const smurf_data *train)
{
    smurf_error err;
    smurf_settings config = small_config("");
    smurf_trainer *t;
    smurf_model *model;
    smurf_epoch epoch;
    if (smurf_settings_preset(&config, preset, train, &err)) fail_msg("%s", err.message);
    config.width = 8, config.heads = 2, config.head_width = 3, config.inner = 6, config.points = 6, config.epochs = 2;
    config.threads = 1;
    if (smurf_trainer_new(&t, &config, train, NULL, &err)) fail_msg("%s", err.message);
    while (!smurf_trainer_done(t))
        if (smurf_trainer_epoch(t, &epoch, &err)) fail_msg("%s", err.message);
    if (smurf_trainer_model(t, &model, &err)) fail_msg("%s", err.message);
    smurf_trainer_free(t);
    return model;
}

/* F and types of every gap of a sequence, out (length x 4). */
static void answers(const smurf_model *model, const smurf_sequence *s, double *out)
{
    struct predictor p = smurf_model_predictor(model);
    void *workspace = p.class->workspace_new(p.self, s->length, NULL);
    assert_non_null(workspace);
    p.class->read(p.self, workspace, s);
    for (size_t row = 0; row < s->length; row++) {
        const double gap = 0.7;
        struct dist dist = p.class->dist(p.self, workspace, row, 1);
        out[row * 4] = smurf_dist_cdf(&dist, gap);
        p.class->types(p.self, workspace, row, &gap, out + row * 4 + 1, 1);
    }
    p.class->workspace_free(workspace);
}

static void test_file(void **state)
{
    const struct model_class *class = *state;
    smurf_error err;
    smurf_data *data = simulate("hawkes", 3, 12, 20, 5);
    smurf_model *model = trained(class->preset ? class->name : "default", data), *back = NULL;
    char path[] = "/tmp/class-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    if (smurf_model_save(model, path, &err) || smurf_model_load(&back, path, &err)) fail_msg("%s", err.message);
    assert_string_equal(back->config.model, class->name);
    for (size_t i = 0; i < 12; i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        double *a = room(s->length * 4), *b = room(s->length * 4);
        answers(model, s, a);
        answers(back, s, b);
        assert_memory_equal(a, b, s->length * 4 * sizeof *a);
        for (size_t row = 0; row < s->length; row++) {
            assert_true(a[row * 4] > 0 && a[row * 4] < 1);
            close_enough("probabilities", a[row * 4 + 1] + a[row * 4 + 2] + a[row * 4 + 3], 1, 1e-9);
        }
        free(a), free(b);
    }
    unlink(path);
    smurf_model_free(model), smurf_model_free(back);
    smurf_data_free(data);
}

/* ---- The noise of NCE-TPP --------------------------------------------------------------------- */

static double softplus(double x)
{
    return log1p(exp(x));
}

static size_t offset_of(const struct params *params, const char *name)
{
    for (size_t i = 0; i < params->count; i++)
        if (strcmp(params->entry[i].name, name) == 0) return params->entry[i].at;
    fail_msg("no parameter %s", name);
    return 0;
}

/* With intensities that do not change, p_k and q_k, the expected loss of a cut-off gap is
       tau sum_k M q_k ln(1 + p_k / (M q_k)),
   also where only a share of the noise is drawn (some 100 to 20,000 noise events in the longest gaps here). The mean
   over steps lies within 5 standard errors of it; a wrong type, weight or share would not. */
static void test_noise_mean(void **state)
{
    (void)state;
    enum { STEPS = 400, TYPES = 3 };
    const double gaps[] = {0.5, 8, 700}, bias_p[TYPES] = {-1, 0.5, 2}, bias_q[TYPES] = {1.2, -0.8, 0.1};
    const struct encoder_shape shape = {
        .types = TYPES, .width = 4, .heads = 1, .head_width = 2, .layers = 1, .inner = 2};
    const size_t length = 1;
    struct model_class contrast = smurf_model_nce_f32;
    struct model_case c;
    contrast.loss = smurf_nce_contrast_f32;
    class_case_init(&c, &contrast, &shape, &length, 1, 8);
    memset(c.slab, 0, c.model.params.total * sizeof *c.slab);
    c.slab[offset_of(&c.model.params, "beta")] = c.slab[offset_of(&c.model.params, "noise.beta")] = 1;
    double each = 0;
    for (int k = 0; k < TYPES; k++) {
        double p = softplus(bias_p[k]), q = softplus(bias_q[k]);
        c.slab[offset_of(&c.model.params, "intensity.bias") + (size_t)k] = bias_p[k];
        c.slab[offset_of(&c.model.params, "noise.intensity.bias") + (size_t)k] = bias_q[k];
        each += 10 * q * log1p(p / (10 * q));
    }
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        double sum = 0, squares = 0, want = gaps[g] * each;
        assert_true(c.targets == 1 && c.target[0].censored);
        c.target[0].gap = gaps[g];
        for (uint64_t step = 0; step < STEPS; step++) {
            struct op_run run = {1, 3, step, 0, NULL};
            double time = class_case_loss(&c, &run, NULL).time;
            sum += time, squares += time * time;
        }
        double mean = sum / STEPS, error = sqrt((squares / STEPS - mean * mean) / STEPS);
        if (!(fabs(mean - want) < 5 * error) || !(error > 0 && error < 0.1 * want))
            fail_msg("gap %g: mean %g +- %g, expected %g", gaps[g], mean, error, want);
    }
    model_case_release(&c);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void **state);
    } property[] = {{"one by one", test_one_by_one}, {"threads", test_threads}, {"extremes", test_extremes},
                    {"future", test_future},         {"alone", test_alone},     {"law", test_law},
                    {"history", test_history},       {"file", test_file}};
    enum { PROPERTIES = sizeof property / sizeof *property, MOST = 16 };
    static char name[MOST * PROPERTIES][40];
    struct CMUnitTest tests[MOST * PROPERTIES + 1];
    size_t n = 0;
    const struct model_class *r;
    for (size_t i = 0; i < MOST && (r = smurf_model_class_at_f32(i)); i++)
        for (size_t k = 0; k < PROPERTIES; k++, n++) {
            snprintf(name[n], sizeof name[n], "%s: %s", r->name, property[k].name);
            tests[n] = (struct CMUnitTest){name[n], property[k].run, NULL, NULL, (void *)(uintptr_t)r};
        }
    tests[n++] = (struct CMUnitTest){"noise of nce", test_noise_mean, NULL, NULL, NULL};
    return _cmocka_run_group_tests("properties of all classes", tests, n, NULL, NULL);
}
