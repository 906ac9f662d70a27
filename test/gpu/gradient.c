/*
 * gradient.c - losses and gradients on a GPU against the processor's in double precision, on random models and on those
 * of test/golden and ../shared/golden; and the same bits from one session to the next. Prints TAP.
 *
 * Agreement is relative to the largest element of each tensor, to 1e-4. Weights, gaps and times are the same numbers in
 * both.
 */
#include "gpu_case.h"

#define assert_non_null(x)                                                                                             \
    do {                                                                                                               \
        if (!(x)) exit(1);                                                                                             \
    } while (0)
#include "../model_case.h"
#include "../../bench/feed_of.h"
#include "train/device.h"

static const double tolerance = 1e-4;

/* Largest difference over the largest size; NaN if either is not finite. */
static double distance(const double *a, const float *b, size_t n)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        double off = fabs(a[i] - (double)b[i]);
        if (!(off <= most)) most = off;
        if (fabs(a[i]) > size) size = fabs(a[i]);
    }
    return size > 0 ? most / size : most;
}

static double relative(double got, double want)
{
    return fabs(got - want) / fmax(fabs(want), 1e-300);
}

static float *narrow(double *x, size_t n)
{
    float *out = model_case_room(n, sizeof *out);
    for (size_t i = 0; i < n; i++) x[i] = (double)(out[i] = (float)x[i]);
    return out;
}

/* A session with the weights of a case. */
static struct train_device *open(const struct model_case *c, const float *slab, const struct feed *feed)
{
    struct train_device *device;
    smurf_error err;
    if (smurf_train_device_open(&device, &c->model, &c->config, false, feed, feed, &err) ||
        smurf_train_device_put(device, CUDA_WEIGHT, slab, &err)) {
        result(false, "%s", err.message);
        return NULL;
    }
    return device;
}

static struct loss on_gpu(const struct model_case *c, struct train_device *device, const struct op_run *run,
                          const struct feed *feed, float *grad, double *norm)
{
    smurf_error err = {0};
    struct op_run own = model_case_run(c, run);
    struct loss loss = smurf_train_device_gradient(device, &own, feed, 0, norm);
    if (smurf_train_device_status(device, &err) || smurf_train_device_get(device, CUDA_GRADIENT, grad, &err))
        result(false, "%s", err.message);
    return loss;
}

static struct loss in_double(const struct model_case *c, const struct op_run *run, double *grad)
{
    struct batch batch = model_case_batch(c);
    struct op_run own = model_case_run(c, run);
    double *memory = model_case_workspace(smurf_loss_memory(&c->model, &c->config, c->n, run->threads), sizeof *memory);
    struct loss loss = smurf_loss(&own, &c->model, &c->config, c->slab, &batch, memory, grad);
    free(memory);
    return loss;
}

static void compare(const char *name, const struct model_case *c, struct loss want, struct loss got,
                    const double *gradient, const float *grad, double norm)
{
    const char *worst_of = "";
    double worst = 0, square = 0, time = relative(got.time, want.time), type = relative(got.type, want.type);
    for (size_t i = 0; i < c->model.params.count; i++) {
        const struct param *p = &c->model.params.entry[i];
        double off = distance(gradient + p->at, grad + p->at, p->size);
        if (!(off <= worst)) worst = off, worst_of = p->name;
    }
    for (size_t i = 0; i < c->model.params.total; i++) square += gradient[i] * gradient[i];
    result(time <= tolerance, "%s: time loss %g (%.1e)", name, want.time, time);
    result(!want.typed || type <= tolerance, "%s: type loss %g (%.1e)", name, want.type, type);
    result(got.gaps == want.gaps && got.typed == want.typed && fabs(got.right - want.right) <= 1e-3 * (double)want.gaps,
           "%s: %zu gaps, %zu types, %g right (%zu, %zu, %g)", name, want.gaps, want.typed, want.right, got.gaps,
           got.typed, got.right);
    result(worst <= tolerance, "%s: gradient (%.1e, %s)", name, worst, worst_of);
    result(relative(norm, sqrt(square)) <= tolerance, "%s: norm %g", name, norm);
}

/* Also: dev, which has no gradient, gives the loss of step 0; the gradient's bits in a second session. */
static void check_case(const char *name, struct model_case *c)
{
    const struct op_run run = {1, 77, 5, 0, NULL}, first = {1, 77, 0, 0, NULL};
    float *slab = narrow(c->slab, c->model.params.total), *gap = narrow(c->gap, c->n);
    struct batch batch = model_case_batch(c);
    batch.input.gap = gap;
    struct feed feed = feed_of(&batch, c->sequences);
    double *gradient = model_case_room(c->model.params.total, sizeof *gradient), norm;
    float *grad = model_case_room(c->model.params.total, sizeof *grad);
    float *again = model_case_room(c->model.params.total, sizeof *again);
    struct loss want = in_double(c, &run, gradient), got = {0};
    struct train_device *device = open(c, slab, &feed);
    if (device) {
        got = on_gpu(c, device, &run, &feed, grad, &norm);
        compare(name, c, want, got, gradient, grad, norm);
        on_gpu(c, device, &first, &feed, again, &norm);
        c->dropout = 0;
        want = in_double(c, &first, NULL);
        got = smurf_train_device_dev(device, &first, CUDA_WEIGHT, &feed);
        result(relative(got.time, want.time) <= tolerance &&
                   (!want.typed || relative(got.type, want.type) <= tolerance),
               "%s: dev loss %g %g (%g %g)", name, want.time, want.type, got.time, got.type);
        smurf_train_device_close(device);
    }
    free(slab), free(gap), free(gradient), free(grad), free(again);
}

/* Twice in one session, and in another one. */
static void check_bits(const char *name, struct model_case *c)
{
    const struct op_run run = {1, 77, 5, 0, NULL};
    float *slab = narrow(c->slab, c->model.params.total), *gap = narrow(c->gap, c->n), *grad[3];
    struct batch batch = model_case_batch(c);
    batch.input.gap = gap;
    struct feed feed = feed_of(&batch, c->sequences);
    double norm;
    struct train_device *device = open(c, slab, &feed);
    for (int i = 0; i < 3 && device; i++) {
        grad[i] = model_case_room(c->model.params.total, sizeof *grad[i]);
        if (i == 2) smurf_train_device_close(device), device = open(c, slab, &feed);
        if (device) on_gpu(c, device, &run, &feed, grad[i], &norm);
    }
    if (device) {
        size_t bytes = c->model.params.total * sizeof **grad;
        result(memcmp(grad[0], grad[1], bytes) == 0 && memcmp(grad[0], grad[2], bytes) == 0, "%s: same bits", name);
    }
    smurf_train_device_close(device);
    free(slab), free(gap);
}

/* ---- Random models --------------------------------------------------------------------------------------- */

struct variant {
    const char *name, *objective;
    struct encoder_shape shape;
    enum parametrisation param;
    size_t points;
    bool truth, stop, multiplicative, log_axis;
    double dropout, smoothing, low;
    size_t sigmas;
};

#define SHAPE(types_, width_, heads_, head_, layers_, inner_)                                                          \
    .types = types_, .width = width_, .heads = heads_, .head_width = head_, .layers = layers_, .inner = inner_
#define FEATURES .gap_feature = true, .unknown = true
#define COUNTS   .counts = true, .count_rate = MODEL_CASE_RATES

static const struct variant variants[] = {
    {"plain", "dsm", {SHAPE(5, 8, 2, 3, 1, 6)}, .points = 6},
    {"paper", "dsm", {SHAPE(22, 64, 4, 16, 4, 256), .activation = ACTIVATION_RELU}, .points = 100, .dropout = 0.1},
    {"stop", "dsm", {SHAPE(5, 16, 2, 16, 2, 20)}, .points = 37, .stop = true, .smoothing = 0.1, .sigmas = 2},
    {"score", "dsm", {SHAPE(5, 16, 2, 16, 2, 20)}, PARAM_SCORE, .points = 20, .truth = true, .dropout = 0.3},
    {"multiplicative", "dsm", {SHAPE(3, 16, 2, 16, 2, 20)}, .points = 20, .multiplicative = true, .smoothing = 0.1},
    {"default",
     "mle",
     {SHAPE(22, 64, 4, 16, 3, 256), FEATURES, COUNTS, .ending = true},
     .points = 24,
     .dropout = 0.1,
     .low = -0.5},
    {"many types",
     "mle",
     {SHAPE(100, 32, 2, 16, 2, 50), FEATURES, COUNTS},
     .points = 24,
     .dropout = 0.2,
     .smoothing = 0.1},
    {"slots of few types", "mle", {SHAPE(30, 32, 2, 16, 1, 50), COUNTS}, .points = 24},
    {"weighted", "wsm", {SHAPE(4, 16, 1, 32, 2, 30), FEATURES}, .points = 1},
    {"weighted, log", "wsm", {SHAPE(4, 16, 1, 32, 2, 30)}, PARAM_SCORE, .points = 1, .log_axis = true, .dropout = 0.1},
    {"without noise", "sm", {SHAPE(4, 16, 3, 8, 2, 30)}, .points = 1},
    {"odd sizes", "mle", {SHAPE(7, 10, 3, 5, 2, 7), FEATURES, COUNTS}, .points = 9, .dropout = 0.1},
    {"wide heads", "mle", {SHAPE(2, 128, 6, 64, 2, 300)}, .points = 24, .dropout = 0.1},
    {"widest heads", "dsm", {SHAPE(2, 48, 2, 100, 1, 64)}, .points = 30, .truth = true, .dropout = 0.5},
};

static void check_variant(const struct variant *v, const size_t *length, size_t sequences, const char *more)
{
    struct model_case c;
    char name[80];
    snprintf(name, sizeof name, "%s%s", v->name, more);
    model_case_init(&c, &v->shape, v->param, length, sequences, 11);
    struct objective_config *o = &c.config.objective;
    o->class = objective_named(v->objective);
    o->points = v->points, o->stop = v->stop, o->multiplicative = v->multiplicative, o->log_axis = v->log_axis;
    o->low = v->low;
    if (v->sigmas == 2) o->sigmas = 2, o->sigma[1] = 0.7;
    smurf_gauss_legendre(v->points, o->node, o->weight);
    c.config.likelihood = *o;
    c.config.high = 20;
    c.config.smoothing = v->smoothing;
    c.config.type_at_truth = v->truth;
    c.dropout = v->dropout;
    if (v->shape.unknown)
        for (size_t i = 0; i < c.n; i += 17) c.type[i] = (uint32_t)v->shape.types;
    check_case(name, &c);
    c.dropout = v->dropout;
    check_bits(name, &c);
    model_case_release(&c);
}

/* More than any card has: the message says what would fit. */
static void check_memory(void)
{
    struct model_case c;
    struct cuda_model *card = model_case_room(1, sizeof *card);
    struct cuda_training *session;
    char why[CUDA_TEXT] = "";
    const size_t length = 5;
    model_case_init(&c, &variants[0].shape, PARAM_INTENSITY, &length, 1, 1);
    c.config.objective.class = &OP(objective_mle);
    const char *refused = smurf_device_describe(card, &c.model, &c.config);
    int code = smurf_cuda_open(&session, card, 1000000000, 1, 0, why);
    result(!refused && code == CUDA_MEMORY && strstr(why, "choose --batch so that a batch has at most "), "%s", why);
    free(card);
    model_case_release(&c);
}

/* gpu_gradient [FILTER]: variants whose name contains it */
int main(int argc, char **argv)
{
    static const size_t lengths[] = {73, 1, 5, 130, 40, 33, 2}, longer[] = {900, 64, 1500};
    static size_t batch[64];
    need_gpu();
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (argc < 2 || strstr(variants[i].name, argv[1])) check_variant(&variants[i], lengths, 7, "");
    if (argc > 1) return finish();
    check_memory();
    for (size_t s = 0; s < 64; s++) batch[s] = 40 + s * 37 % 61;
    check_variant(&variants[1], batch, 64, ", 64 sequences");
    check_variant(&variants[5], batch, 64, ", 64 sequences");
    check_variant(&variants[7], longer, 3, ", long");
    check_variant(&variants[12], longer, 3, ", long");
    return finish();
}
