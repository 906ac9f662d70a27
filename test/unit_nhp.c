/*
 * unit_nhp.c - nhp in float: nothing of the future in a law, batches and threads that change nothing, the law itself,
 * extreme gaps, and training, saving and loading.
 */
#include "train_case.h"

#include "difference.h"
#include "forecast/model_predictor.h"
#include "model_case.h"

#include <unistd.h>

enum { WIDTH = 10, TYPES = 5, SEQUENCES = 6, POINTS = 8, PARTS = 4 };
static const size_t lengths[SEQUENCES] = {30, 1, 0, 17, 55, 2};
static const struct loss_config config = {.points = POINTS, .alpha = 1.5};

/* A case with its parameters in float. */
struct subject {
    struct model_case c;
    float *slab;
};

static void subject_init(struct subject *s)
{
    struct encoder_shape shape = {.types = TYPES, .width = WIDTH};
    struct encoder_shape any = {.types = TYPES, .width = 2, .heads = 1, .head_width = 1, .layers = 1, .inner = 1};
    model_case_init(&s->c, &any, PARAM_INTENSITY, lengths, SEQUENCES, 6);
    free(s->c.slab);
    smurf_model_init_f32(&s->c.model, &smurf_model_nhp_f32, &shape, PARAM_INTENSITY);
    model_case_start(&s->c, 6);
    s->slab = model_case_room(s->c.model.params.total, sizeof *s->slab);
    for (size_t i = 0; i < s->c.model.params.total; i++) s->slab[i] = (float)s->c.slab[i];
}

static void subject_release(struct subject *s)
{
    free(s->slab);
    model_case_release(&s->c);
}

static float *workspace(const struct model_case *c, size_t *n)
{
    *n = smurf_model_nhp_f32.loss_memory(&c->model, &config, c->n, 1);
    return model_case_workspace(*n, sizeof(float));
}

/* Coefficients of all rows; freed by the caller. */
static float *encoded(const struct subject *s, const struct model_case *c, int threads)
{
    struct op_run run = {threads, 1, 1, 0, NULL};
    struct batch batch = model_case_batch(c);
    size_t size;
    float *memory = workspace(c, &size), *out = model_case_workspace(c->n * PARTS * WIDTH, sizeof *out);
    smurf_model_nhp_f32.encode(&run, &c->model, s->slab, &batch.input, memory, out);
    free(memory);
    return out;
}

static struct loss loss_of(const struct subject *s, const struct model_case *c, int threads, float *grad)
{
    struct op_run run = {threads, 1, 1, 0.2, NULL}; /* it has no dropout */
    struct batch batch = model_case_batch(c);
    size_t size;
    float *memory = workspace(c, &size);
    struct loss out = smurf_model_nhp_f32.loss(&run, &c->model, &config, s->slab, &batch, memory, grad);
    free(memory);
    return out;
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

static void test_coefficients(void **state)
{
    (void)state;
    struct subject s;
    subject_init(&s);
    assert_int_equal(smurf_model_nhp_f32.coefficients(&s.c.model), PARTS * WIDTH);
    assert_ptr_equal(smurf_model_class_named_f32("nhp"), &smurf_model_nhp_f32);
    subject_release(&s);
}

/* Rows up to j, bit for bit, whatever comes after j; row j itself sees event j. */
static void test_future(void **state)
{
    (void)state;
    struct subject s;
    subject_init(&s);
    float *before = encoded(&s, &s.c, 1);
    size_t first = s.c.offset[4], j = first + 20, row = PARTS * WIDTH;
    s.c.type[j] = (s.c.type[j] + 1) % TYPES;
    for (size_t i = j; i < s.c.offset[5]; i++) s.c.time[i] += 3;
    float *after = encoded(&s, &s.c, 1);
    assert_memory_equal(before, after, j * row * sizeof *before);
    for (size_t i = j; i < s.c.offset[5]; i++)
        assert_memory_not_equal(before + i * row, after + i * row, row * sizeof *before);
    assert_memory_equal(before + s.c.offset[5] * row, after + s.c.offset[5] * row,
                        (s.c.n - s.c.offset[5]) * row * sizeof *before);
    free(before), free(after);
    subject_release(&s);
}

static void check_close(const float *got, const float *want, size_t n, double tolerance)
{
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs((double)want[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance * size))
            fail_msg("element %zu: %g instead of %g, largest %g", i, (double)got[i], (double)want[i], size);
}

/* ---- Batches and threads --------------------------------------------------------------------- */

static void test_one_by_one(void **state)
{
    (void)state;
    struct subject s;
    subject_init(&s);
    size_t n = s.c.model.params.total;
    float *all = model_case_room(n, sizeof *all), *single = model_case_room(n, sizeof *single);
    float *coefficients = encoded(&s, &s.c, 1);
    struct loss whole = loss_of(&s, &s.c, 1, all), sum = {0};
    for (size_t q = 0; q < SEQUENCES; q++) {
        struct model_case one;
        model_case_select(&one, &s.c, &q, 1);
        struct loss part = loss_of(&s, &one, 1, single);
        float *own = encoded(&s, &one, 1);
        if (one.n) check_close(own, coefficients + s.c.offset[q] * PARTS * WIDTH, one.n * PARTS * WIDTH, 1e-5);
        sum.time += part.time, sum.right += part.right, sum.gaps += part.gaps, sum.typed += part.typed;
        free(own);
        model_case_release(&one);
    }
    assert_true(fabs(sum.time - whole.time) <= 1e-5 * fabs(whole.time));
    assert_true(sum.right == whole.right && whole.type == 0);
    assert_int_equal(sum.gaps, whole.gaps);
    assert_int_equal(sum.typed, whole.typed);
    check_close(single, all, n, 1e-5);
    free(all), free(single), free(coefficients);
    subject_release(&s);
}

static void test_threads(void **state)
{
    (void)state;
    struct subject s;
    subject_init(&s);
    size_t n = s.c.model.params.total;
    float *grad[4];
    struct loss loss[4];
    for (int k = 0; k < 4; k++) {
        grad[k] = model_case_room(n, sizeof *grad[k]);
        loss[k] = loss_of(&s, &s.c, k + 1, grad[k]);
        assert_true(loss[k].time == loss[0].time && loss[k].right == loss[0].right);
        assert_memory_equal(grad[k], grad[0], n * sizeof *grad[k]);
    }
    for (int k = 0; k < 4; k++) free(grad[k]);
    subject_release(&s);
}

/* No events, and no targets. */
static void test_empty(void **state)
{
    (void)state;
    struct subject s;
    struct model_case none;
    size_t empty = 2;
    subject_init(&s);
    model_case_select(&none, &s.c, &empty, 1);
    float *grad = model_case_room(s.c.model.params.total, sizeof *grad);
    struct loss loss = loss_of(&s, &none, 1, grad);
    assert_true(loss.time == 0 && loss.gaps == 0);
    model_case_release(&none);
    s.c.targets = 0;
    loss = loss_of(&s, &s.c, 2, grad);
    assert_true(loss.time == 0 && loss.gaps == 0);
    for (size_t i = 0; i < s.c.model.params.total; i++) assert_true(grad[i] == 0);
    free(grad);
    subject_release(&s);
}

/* Ties, gaps of years and of nanoseconds, and memory that is past before they end. */
static void test_extremes(void **state)
{
    (void)state;
    static const double gaps[] = {0, 1e-9, 1e6, 1e12, 0, 1e30};
    struct subject s;
    subject_init(&s);
    double time = 0;
    for (size_t i = 0; i < s.c.n; i++) {
        s.c.target[i].gap = gaps[i % 6];
        s.c.time[i] = time += gaps[(i + 5) % 6];
    }
    float *grad = model_case_room(s.c.model.params.total, sizeof *grad), *out = encoded(&s, &s.c, 1);
    struct loss loss = loss_of(&s, &s.c, 1, grad);
    assert_true(isfinite(loss.time));
    for (size_t i = 0; i < s.c.model.params.total; i++) assert_true(isfinite(grad[i]));
    for (size_t i = 0; i < s.c.n * PARTS * WIDTH; i++) assert_true(isfinite(out[i]));
    free(grad), free(out);
    subject_release(&s);
}

/* ---- The law --------------------------------------------------------------------------------- */

/* Number of points: more than a run of the law's, and no multiple of it. */
enum { GAPS = 77 };

static struct law law_of(const struct subject *s, const float *c)
{
    static double memory[2048];
    assert_true(smurf_model_nhp_f32.law_memory(&s->c.model) <= sizeof memory);
    return smurf_model_nhp_f32.law(&s->c.model, s->slab, c, 0, 1, memory);
}

static void make_gaps(double *gap)
{
    for (size_t i = 0; i < GAPS; i++) gap[i] = 0.01 + 0.07 * (double)i;
}

static void test_law(void **state)
{
    (void)state;
    struct subject s;
    subject_init(&s);
    float *c = encoded(&s, &s.c, 1);
    double gap[GAPS], lambda[GAPS], slope[GAPS], types[GAPS * TYPES], steepest = 0;
    make_gaps(gap);
    for (size_t row = 0; row < s.c.n; row += 7) {
        struct law of = law_of(&s, c + row * PARTS * WIDTH);
        const struct law_class *law = of.class;
        law->intensity(of.self, gap, lambda, GAPS);
        law->slope(of.self, gap, slope, GAPS);
        law->types(of.self, gap, types, GAPS);
        for (size_t i = 0; i < GAPS; i++) {
            double h = 1e-4, at[2] = {gap[i] - h, gap[i] + h}, sum = 0, alone;
            for (size_t k = 0; k < TYPES; k++) sum += types[i * TYPES + k];
            law->intensity(of.self, at, at, 2);
            law->intensity(of.self, &gap[i], &alone, 1);
            assert_true(lambda[i] > 0 && fabs(sum - lambda[i]) <= 1e-14 * lambda[i]);
            assert_true(alone == lambda[i]);
            assert_true(fabs(slope[i] - (at[1] - at[0]) / (2 * h)) <= 1e-6);
            steepest = fmax(steepest, fabs(slope[i]));
        }
    }
    assert_true(steepest > 0.01);
    free(c);
    subject_release(&s);
}

/* The law that is asked is the one that was trained: the loss of each target is that of its intensities. */
static void test_law_and_loss(void **state)
{
    (void)state;
    enum { MANY = 4001 };
    static double gap[MANY], lambda[MANY];
    struct subject s;
    subject_init(&s);
    float *c = encoded(&s, &s.c, 1);
    double sum = 0, types[TYPES];
    for (size_t i = 0; i < s.c.n; i++) {
        const struct target *t = &s.c.target[i];
        struct law law = law_of(&s, c + i * PARTS * WIDTH);
        double integral = 0;
        for (size_t k = 0; k < MANY; k++) gap[k] = t->gap * ((double)k + 0.5) / MANY;
        law.class->intensity(law.self, gap, lambda, MANY);
        for (size_t k = 0; k < MANY; k++) integral += lambda[k] * t->gap / MANY;
        law.class->types(law.self, &t->gap, types, 1);
        sum += integral - (t->censored ? 0 : log(types[t->type]));
    }
    double loss = loss_of(&s, &s.c, 1, NULL).time;
    if (!(fabs(sum - loss) <= 1e-5 * fabs(loss))) fail_msg("loss %.9g, by the law %.9g", loss, sum);
    free(c);
    subject_release(&s);
}

static void test_law_extremes(void **state)
{
    (void)state;
    static const double gap[] = {0, 1e-300, 1e-9, 1e9, 1e300};
    struct subject s;
    subject_init(&s);
    float *c = encoded(&s, &s.c, 1);
    for (size_t k = 0; k < 3; k++) { /* as it is; steep; intensities of nothing */
        const struct param *weight = &s.c.model.params.entry[3], *scale = weight + 1;
        for (size_t i = 0; k == 1 && i < weight->size; i++) s.slab[weight->at + i] *= 1000;
        for (size_t i = 0; k == 2 && i < scale->size; i++) s.slab[scale->at + i] = -9;
        struct law law = law_of(&s, c + 9 * PARTS * WIDTH);
        double lambda[5], slope[5];
        law.class->intensity(law.self, gap, lambda, 5);
        law.class->slope(law.self, gap, slope, 5);
        for (size_t i = 0; i < 5; i++) assert_true(isfinite(lambda[i]) && lambda[i] >= 0 && isfinite(slope[i]));
        assert_true(fabs(slope[4]) < 1e-290 && lambda[4] == lambda[3] && lambda[1] == lambda[0]);
    }
    free(c);
    subject_release(&s);
}

/* ---- Training -------------------------------------------------------------------------------- */

static smurf_model *train(int threads, const smurf_data *data, const smurf_data *dev, double *first, double *last)
{
    smurf_error err;
    smurf_model *model;
    smurf_trainer *trainer = trainer_of("model=nhp scale=mean gap-feature=off width=12 epochs=6", threads, data, dev);
    while (!smurf_trainer_done(trainer)) {
        smurf_epoch epoch;
        if (smurf_trainer_epoch(trainer, &epoch, &err)) fail_msg("%s", err.message);
        if (epoch.epoch == 1) *first = epoch.dev_loss;
        *last = epoch.dev_loss;
    }
    assert_int_equal(smurf_trainer_model(trainer, &model, &err), SMURF_OK);
    smurf_trainer_free(trainer);
    return model;
}

/* F and types at some gaps after each event of a sequence, by the predictor. */
static void predict(const smurf_model *model, const smurf_sequence *s, double *out)
{
    struct predictor p = smurf_model_predictor(model);
    void *workspace = p.class->workspace_new(p.self, s->length, NULL);
    assert_non_null(workspace);
    p.class->read(p.self, workspace, s);
    for (size_t row = 0; row < s->length; row++) {
        const double gap = 0.5;
        struct dist dist = p.class->dist(p.self, workspace, row, 1);
        *out++ = smurf_dist_cdf(&dist, gap);
        p.class->types(p.self, workspace, row, &gap, out, 1);
        double sum = 0;
        for (uint32_t k = 0; k < model->types; k++) sum += *out++;
        assert_true(fabs(sum - 1) < 1e-12);
    }
    p.class->workspace_free(workspace);
}

static void test_train_save_load(void **state)
{
    (void)state;
    enum { EVENTS = 20, KINDS = 3, ANSWERS = EVENTS * (1 + KINDS) };
    static double want[ANSWERS], got[ANSWERS];
    const char *path = "unit_nhp.safetensors";
    smurf_error err;
    smurf_data *data = simulate("hawkes", KINDS, 40, EVENTS, 1), *dev = simulate("hawkes", KINDS, 10, EVENTS, 2);
    double first, last;
    smurf_model *model = train(1, data, dev, &first, &last), *two = train(2, data, dev, &first, &last), *loaded;
    assert_true(last < first);
    assert_memory_equal(model->slab, two->slab, model->model.params.total * sizeof(float));
    if (smurf_model_save(model, path, &err)) fail_msg("%s", err.message);
    if (smurf_model_load(&loaded, path, &err)) fail_msg("%s", err.message);
    unlink(path);
    assert_ptr_equal(loaded->model.class, &smurf_model_nhp_f32);
    predict(model, smurf_data_sequence(dev, 0), want);
    predict(loaded, smurf_data_sequence(dev, 0), got);
    assert_memory_equal(got, want, sizeof got);
    assert_true(want[0] > 0 && want[0] < 1 && want[0] != want[1 + KINDS]);
    smurf_model_free(model), smurf_model_free(two), smurf_model_free(loaded);
    smurf_data_free(data), smurf_data_free(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coefficients), cmocka_unit_test(test_future),
        cmocka_unit_test(test_one_by_one),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_law),          cmocka_unit_test(test_law_and_loss),
        cmocka_unit_test(test_law_extremes), cmocka_unit_test(test_train_save_load),
    };
    return cmocka_run_group_tests_name("nhp", tests, NULL, NULL);
}
