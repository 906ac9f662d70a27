/*
 * golden.c - checks files of expected values: golden [FILE.json ...]
 *
 * Without arguments: test/golden (see make.py there) and golden/ in the folder of shared data ($SMURF_SHARED, else
 * ../shared beside the repository). Prints TAP, one line per quantity. An unknown kind of file is a skip. The model is
 * built from the file's own parameters, in double; agreement is relative to the largest element of each tensor, to
 * 1e-8. Files with "samples" and "truth" hold metrics, which must agree to 1e-12.
 */
#include "base/gauss_legendre.h"
#include "eval/metrics.h"
#include "model/smurf_class.h"
#include "model/thp_part.h"

#include "op/gap_head.h"
#include "op/intensity.h"
#include "op/score.h"
#include "op/thp_head.h"
#include "op/type_head.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cases, failures;
#ifndef SMURF_GOLDEN_TOLERANCE /* test/gpu/golden.c */
#define SMURF_GOLDEN_TOLERANCE 1e-8
#endif
static const double tolerance = SMURF_GOLDEN_TOLERANCE, metrics_tolerance = 1e-12;

static void result(int ok, const char *file, const char *what, double error)
{
    const char *base = strrchr(file, '/');
    printf("%s %d - %s: %s (%.1e)\n", ok ? "ok" : "not ok", ++cases, base ? base + 1 : file, what, error);
    failures += !ok;
}

static void skip(const char *file, const char *why)
{
    const char *base = strrchr(file, '/');
    printf("ok %d - %s # SKIP %s\n", ++cases, base ? base + 1 : file, why);
}

/* Largest difference over the largest size. */
static double distance(const double *a, const double *b, size_t n)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(a[i] - b[i]) <= most)) most = fabs(a[i] - b[i]);
        if (fabs(b[i]) > size) size = fabs(b[i]);
    }
    return size > 0 ? most / size : most;
}

static void compare(const char *file, const char *what, const double *got, const double *expected, size_t n)
{
    double error = distance(got, expected, n);
    result(error <= tolerance, file, what, error);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static double number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return value ? json_number_value(value) : otherwise;
}

/* The numbers of a (nested) array, or of {"shape", "data"}; the caller frees. */
static size_t flatten(const json_t *value, double *out)
{
    if (json_is_number(value)) {
        if (out) *out = json_number_value(value);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(value); i++) n += flatten(json_array_get(value, i), out ? out + n : NULL);
    return n;
}

static double *numbers(const json_t *value, size_t *n)
{
    if (json_is_object(value)) value = json_object_get(value, "data");
    *n = flatten(value, NULL);
    double *out = calloc(*n + 1, sizeof *out);
    if (!out) exit(1);
    flatten(value, out);
    return out;
}

/* ---- The model of a file --------------------------------------------------------------------- */

struct golden {
    const char *file;
    json_t *root;
    const json_t *expect, *config;
    struct model model;
    double *slab, *grad, *memory;
    struct batch batch;
    struct loss_config loss;
    size_t *offset;
    uint32_t *type;
    double *time;
    struct target *target;
    double *tau;
    size_t noise; /* points of each event */
};

/* The authors' name of a parameter of ours. Row 0 of their embedding is padding: *skip elements to leave out. */
static const char *their_name(const char *ours, size_t width, char out[128], size_t *skip_elements)
{
    static const char *const pairs[][2] = {
        {"query", "slf_attn.w_qs.weight"},
        {"key", "slf_attn.w_ks.weight"},
        {"value", "slf_attn.w_vs.weight"},
        {"out.weight", "slf_attn.fc.weight"},
        {"out.bias", "slf_attn.fc.bias"},
        {"norm1.gain", "slf_attn.layer_norm.weight"},
        {"norm1.bias", "slf_attn.layer_norm.bias"},
        {"inner.weight", "pos_ffn.w_1.weight"},
        {"inner.bias", "pos_ffn.w_1.bias"},
        {"outer.weight", "pos_ffn.w_2.weight"},
        {"outer.bias", "pos_ffn.w_2.bias"},
        {"norm2.gain", "pos_ffn.layer_norm.weight"},
        {"norm2.bias", "pos_ffn.layer_norm.bias"},
        {"gap.a.weight", "score_decoder.affect_layer.0.weight"},
        {"gap.a.bias", "score_decoder.affect_layer.0.bias"},
        {"gap.b.weight", "score_decoder.base_layer.0.weight"},
        {"gap.b.bias", "score_decoder.base_layer.0.bias"},
        {"gap.w", "score_decoder.intensity_layer.0.weight"},
        {"gap.c", "score_decoder.intensity_layer.0.bias"},
        {"type.a.weight", "type_predictor.affect_layer.0.weight"},
        {"type.a.bias", "type_predictor.affect_layer.0.bias"},
        {"type.b.weight", "type_predictor.base_layer.weight"},
        {"type.b.bias", "type_predictor.base_layer.bias"},
        {"type.weight", "type_predictor.classifier.weight"},
        {"type.bias", "type_predictor.classifier.bias"},
        {"intensity.weight", "linear.weight"},
        {"intensity.bias", "linear.bias"},
        {"alpha", "alpha"},
        {"beta", "beta"},
        {"classifier.weight", "type_predictor.linear.weight"},
    };
    size_t layer = 0;
    int at = 0;
    *skip_elements = 0;
    if (strcmp(ours, "embedding") == 0) {
        *skip_elements = width;
        return "encoder.event_emb.weight";
    }
    bool in_layer = sscanf(ours, "layer.%zu.%n", &layer, &at) == 1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], ours + at) == 0) {
            if (!in_layer) return pairs[i][1];
            snprintf(out, 128, "encoder.layer_stack.%zu.%s", layer, pairs[i][1]);
            return out;
        }
    return NULL;
}

static bool load_params(struct golden *g)
{
    const json_t *params = json_object_get(g->root, "params");
    for (size_t i = 0; i < g->model.params.count; i++) {
        const struct param *p = &g->model.params.entry[i];
        char text[128];
        size_t leave, n;
        const char *name = their_name(p->name, g->model.shape.width, text, &leave);
        double *values = numbers(json_object_get(params, name ? name : ""), &n);
        bool fits = n == p->size + leave;
        if (fits) memcpy(g->slab + p->at, values + leave, p->size * sizeof *values);
        free(values);
        if (!fits) {
            result(0, g->file, p->name, NAN);
            return false;
        }
    }
    return true;
}

static void load_sequences(struct golden *g)
{
    const json_t *sequences = json_object_get(g->root, "sequences");
    size_t count = json_array_size(sequences), n = 0, t = 0;
    for (size_t s = 0; s < count; s++) n += json_array_size(json_object_get(json_array_get(sequences, s), "time"));
    g->offset = calloc(count + 1, sizeof *g->offset);
    g->type = calloc(n, sizeof *g->type);
    g->time = calloc(n, sizeof *g->time);
    g->target = calloc(n, sizeof *g->target);
    for (size_t s = 0; s < count; s++) {
        size_t length, at = g->offset[s];
        double *time = numbers(json_object_get(json_array_get(sequences, s), "time"), &length);
        double *type = numbers(json_object_get(json_array_get(sequences, s), "type"), &length);
        double end = number(json_array_get(sequences, s), "end", NAN); /* of observation, where it is known */
        for (size_t i = 0; i < length; i++) {
            g->time[at + i] = time[i];
            g->type[at + i] = (uint32_t)type[i];
            if (i)
                g->target[t] =
                    (struct target){at + i - 1, time[i] - time[i - 1], end - time[i - 1], (uint32_t)type[i], false, t},
                t++;
        }
        g->offset[s + 1] = at + length;
        free(time);
        free(type);
    }
    g->batch = (struct batch){{{count, g->offset, NULL}, n, g->type, g->time, NULL, NULL, NULL}, g->target, t};
}

static void load(struct golden *g, const char *file)
{
    json_error_t error;
    *g = (struct golden){.file = file, .root = json_load_file(file, 0, &error)};
    if (!g->root) {
        fprintf(stderr, "golden: %s: %s\n", file, error.text);
        exit(1);
    }
    g->expect = json_object_get(g->root, "expect");
    g->config = json_object_get(g->root, "config");
}

static struct encoder_shape shape_of(const struct golden *g)
{
    const json_t *c = g->config;
    return (struct encoder_shape){(size_t)number(c, "num_types", 0),
                                  (size_t)number(c, "d_model", 0),
                                  (size_t)number(c, "n_head", 0),
                                  (size_t)number(c, "d_k", 0),
                                  (size_t)number(c, "n_layers", 0),
                                  (size_t)number(c, "d_inner", 0),
                                  ACTIVATION_GELU,
                                  false,
                                  false,
                                  false,
                                  {0},
                                  false,
                                  {0},
                                  {0}};
}

static bool build(struct golden *g)
{
    const json_t *c = g->config;
    struct encoder_shape shape = shape_of(g);
    model_init(&g->model, &OP(model_smurf), &shape, PARAM_INTENSITY);
    load_sequences(g);
    size_t points;
    g->tau = numbers(json_object_get(g->root, "tau"), &points);
    g->noise = (size_t)number(c, "num_noise", 1);
    g->loss = (struct loss_config){.objective = {.points = g->noise, .sigma = {number(c, "sigma", 1)}, .sigmas = 1},
                                   .alpha = number(c, "alpha", 1),
                                   .smoothing = number(c, "label_smoothing", 0)};
    g->slab = calloc(g->model.params.total, sizeof *g->slab);
    g->grad = calloc(g->model.params.total, sizeof *g->grad);
    struct loss_config largest = g->loss;
    largest.objective.points = POINTS_MOST;
    g->memory = calloc(smurf_loss_memory(&g->model, &largest, g->batch.input.n, 2), sizeof *g->memory);
    return load_params(g);
}

static void unload(struct golden *g)
{
    free(g->offset), free(g->type), free(g->time), free(g->target), free(g->tau);
    free(g->slab), free(g->grad), free(g->memory);
    json_decref(g->root);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* The objective under test with the file's points in place of its own. */
static const double *given_tau;
static void place_given(const struct objective_config *config, const struct op_run *run, const struct target *t,
                        size_t n, double *tau)
{
    (void)config, (void)run;
    for (size_t i = 0; i < n; i++) tau[i] = given_tau[t->id * n + i];
}

static void compare_gradients(struct golden *g, const json_t *expected, const char *what)
{
    for (size_t i = 0; i < g->model.params.count; i++) {
        const struct param *p = &g->model.params.entry[i];
        char text[128], title[160];
        size_t leave, n;
        const json_t *value = json_object_get(expected, their_name(p->name, g->model.shape.width, text, &leave));
        if (!value) continue;
        double *values = numbers(value, &n);
        snprintf(title, sizeof title, "%s gradient of %s", what, p->name);
        compare(g->file, title, g->grad + p->at, values + leave, p->size);
        free(values);
    }
}

static struct loss run_loss(struct golden *g, const struct objective_class *objective)
{
    struct op_run run = {2, 1, 1, 0, NULL};
    memset(g->grad, 0, g->model.params.total * sizeof *g->grad);
    g->loss.objective.class = objective;
    return smurf_loss(&run, &g->model, &g->loss, g->slab, &g->batch, g->memory, g->grad);
}

static void check_denoising(struct golden *g, const char *key, bool stop)
{
    const json_t *expected = json_object_get(g->expect, key);
    struct objective_class objective = OP(objective_dsm);
    objective.place = place_given;
    given_tau = g->tau;
    g->loss.objective.stop = stop;
    struct loss loss = run_loss(g, &objective);
    double total = g->loss.alpha * loss.time + loss.type;
    compare(g->file, key, &loss.time, (double[]){number(expected, "dsm_sum", NAN)}, 1);
    compare(g->file, "cross-entropy", &loss.type, (double[]){number(expected, "ce_sum", NAN)}, 1);
    compare(g->file, "loss", &total, (double[]){number(expected, "loss", NAN)}, 1);
    compare_gradients(g, json_object_get(expected, "grad"), key);
}

/* An objective of the times alone: the gradient is that with types less that of the types. Files may leave it out. */
static void check_times(struct golden *g, const char *key, const struct objective_class *objective)
{
    const json_t *expected = json_object_get(g->expect, key);
    double alpha = g->loss.alpha;
    if (!expected) return;
    g->loss.alpha = 1;
    struct loss loss = run_loss(g, objective);
    compare(g->file, key, &loss.time, (double[]){number(expected, "sum", NAN)}, 1);
    double *both = calloc(g->model.params.total, sizeof *both);
    memcpy(both, g->grad, g->model.params.total * sizeof *both);
    g->loss.alpha = 0;
    run_loss(g, objective);
    for (size_t i = 0; i < g->model.params.total; i++) g->grad[i] = both[i] - g->grad[i];
    compare_gradients(g, json_object_get(expected, "grad"), key);
    g->loss.alpha = alpha;
    free(both);
}

/* With enough nodes that quadrature is exact. */
static void check_likelihood(struct golden *g)
{
    size_t points = g->loss.objective.points;
    g->loss.objective.points = 64;
    smurf_gauss_legendre(64, g->loss.objective.node, g->loss.objective.weight);
    double likelihood = -run_loss(g, &OP(objective_mle)).time;
    compare(g->file, "log-likelihood", &likelihood, (double[]){number(g->expect, "log_likelihood_sum", NAN)}, 1);
    check_times(g, "maximum_likelihood", &OP(objective_mle));
    g->loss.objective.points = points;
}

/* Encoder output, intensity, score and logits at the given points. */
static void check_forward(struct golden *g)
{
    struct op_run run = {1, 1, 1, 0, NULL};
    size_t d = g->model.shape.width, half = d / 2, types = g->model.shape.types, n = g->batch.input.n, m;
    const double *h =
        encoder_forward(&run, &g->model.shape, &smurf_offsets(&g->model)->encoder, g->slab, &g->batch.input, g->memory);
    double *expected = numbers(json_object_get(g->expect, "encoder"), &m);
    compare(g->file, "encoder", h, expected, n * d);
    free(expected);

    struct head_coefficients c = {calloc(n, d * 8), calloc(n, d * 8), calloc(n, half * 8), calloc(n, half * 8)};
    head_forward(&smurf_offsets(&g->model)->head, g->slab, d, 0, n, h, &c);
    size_t all = g->batch.targets * g->noise;
    double *intensity = calloc(all, 8), *score = calloc(all, 8), *logits = calloc(all * types, 8);
    double *z = calloc(d * g->noise, 8), *u = calloc(2 * g->noise, 8), *own = calloc(types * g->noise, 8);
    for (size_t t = 0; t < g->batch.targets; t++) {
        size_t row = g->target[t].row;
        const double *tau = g->tau + t * g->noise;
        gap_head_forward(1, d, (double *)c.a + row * d, (double *)c.b + row * d,
                         g->slab + smurf_offsets(&g->model)->head.w, g->slab[smurf_offsets(&g->model)->head.c], tau,
                         g->noise, z, u, u + g->noise, NULL);
        type_head_forward(types, half, (double *)c.type_a + row * half, (double *)c.type_b + row * half,
                          g->slab + smurf_offsets(&g->model)->head.type_w,
                          g->slab + smurf_offsets(&g->model)->head.type_c, tau, g->noise, z, own);
        for (size_t i = 0; i < g->noise; i++) {
            struct score s = score_at(true, u[i], u[g->noise + i], 0);
            intensity[t * g->noise + i] = intensity_at(u[i]).lambda;
            score[t * g->noise + i] = s.psi;
            for (size_t k = 0; k < types; k++) logits[(t * g->noise + i) * types + k] = own[k * g->noise + i];
        }
    }
    const struct {
        const char *name;
        const double *got;
        size_t n;
    } check[] = {{"intensity", intensity, all}, {"score", score, all}, {"logits", logits, all * types}};
    for (int i = 0; i < 3; i++) {
        expected = numbers(json_object_get(g->expect, check[i].name), &m);
        compare(g->file, check[i].name, check[i].got, expected, m == check[i].n ? m : 0);
        if (m != check[i].n) result(0, g->file, "number of values", NAN);
        free(expected);
    }
    free(c.a), free(c.b), free(c.type_a), free(c.type_b);
    free(intensity), free(score), free(logits), free(z), free(u), free(own);
}

/* ---- Metrics --------------------------------------------------------------------------------- */

/* Absent quantities are not checked; a list must have one value a level. */
static void compare_metric(const struct golden *g, const char *key, const double *got, size_t count, double unit)
{
    const json_t *value = json_object_get(g->expect, key);
    if (!value) return;
    size_t n;
    double *expected = numbers(value, &n), error = INFINITY;
    for (size_t i = 0; i < n; i++) expected[i] *= unit;
    if (n == count) error = distance(got, expected, n);
    result(error <= metrics_tolerance, g->file, key, error);
    free(expected);
}

static void check_metrics(const struct golden *g)
{
    size_t all, n, levels;
    double *samples = numbers(json_object_get(g->root, "samples"), &all);
    double *truth = numbers(json_object_get(g->root, "truth"), &n);
    double *level = numbers(json_object_get(g->expect, "levels"), &levels);
    smurf_metrics m;
    smurf_error err = {.message = "needs 19 levels, and as many draws for each gap"};
    if (levels != SMURF_LEVELS || n == 0 || all % n ||
        smurf_metrics_of_samples(&m, samples, all / n, truth, n, level, &err)) {
        result(0, g->file, err.message, NAN);
    } else {
        compare_metric(g, "coverage", m.coverage, SMURF_LEVELS, 1);
        compare_metric(g, "interval_length", m.interval_length, SMURF_LEVELS, 1);
        compare_metric(g, "calibration_score", &m.cs, 1, 100);
        compare_metric(g, "coverage_error_at_half", &m.cer, 1, 100);
        compare_metric(g, "crps", &m.crps, 1, 1);
    }
    free(samples), free(truth), free(level);
}

/* ---- THP ------------------------------------------------------------------------------------- */

/* The draws of the file, and its t0. */
static bool build_thp(struct golden *g, struct loss_config *config, double **u)
{
    struct encoder_shape shape = shape_of(g);
    size_t draws;
    *u = numbers(json_object_get(g->root, "u"), &draws);
    model_init(&g->model, &OP(model_thp), &shape, PARAM_INTENSITY);
    thp_part_of(&g->model)->offset = 1e-10;
    load_sequences(g);
    *config = (struct loss_config){.points = draws / g->batch.targets, .alpha = 1, .u = *u};
    g->slab = calloc(g->model.params.total, sizeof *g->slab);
    g->grad = calloc(g->model.params.total, sizeof *g->grad);
    g->memory = calloc(OP(model_thp).loss_memory(&g->model, config, g->batch.input.n, 2), sizeof *g->memory);
    return load_params(g);
}

static struct loss thp_loss(struct golden *g, const struct loss_config *config)
{
    const struct op_run run = {2, 1, 1, 0, NULL};
    return OP(model_thp).loss(&run, &g->model, config, g->slab, &g->batch, g->memory, g->grad);
}

/* Likelihood and its gradient: the integral is what is left of it where gaps are cut off, and the gradient of the type
   loss is all of it where the likelihood weighs nothing. */
static void check_thp_likelihood(struct golden *g, struct loss_config config)
{
    size_t total = g->model.params.total;
    double *types = calloc(total, sizeof *types);
    config.alpha = 0;
    thp_loss(g, &config);
    memcpy(types, g->grad, total * sizeof *types);
    memset(g->grad, 0, total * sizeof *types);
    config.alpha = 1;
    double nll = thp_loss(g, &config).time;
    for (size_t i = 0; i < total; i++) g->grad[i] -= types[i];
    compare_gradients(g, json_object_get(g->expect, "grad"), "likelihood");
    for (size_t t = 0; t < g->batch.targets; t++) g->target[t].censored = true;
    double integral = thp_loss(g, &config).time, events = integral - nll;
    compare(g->file, "nll", &nll, (double[]){number(g->expect, "nll", NAN)}, 1);
    compare(g->file, "integral_sum", &integral, (double[]){number(g->expect, "integral_sum", NAN)}, 1);
    compare(g->file, "event_ll_sum", &events, (double[]){number(g->expect, "event_ll_sum", NAN)}, 1);
    free(types);
}

static void compare_all(struct golden *g, const char *key, const double *got, size_t n)
{
    size_t m;
    double *expected = numbers(json_object_get(g->expect, key), &m);
    if (m == n && n > 0)
        compare(g->file, key, got, expected, n);
    else
        result(0, g->file, key, NAN);
    free(expected);
}

/* At the given fractions of the gaps: the law's lambda_k; the score d/dtau ln lambda_k - sum lambda_k of the true type;
   and the classifier's logits. */
static void check_thp_law(struct golden *g, const struct loss_config *config)
{
    const struct op_run run = {1, 1, 1, 0, NULL};
    const struct model_class *thp = &OP(model_thp);
    size_t types = g->model.shape.types, own = thp->coefficients(&g->model), points = config->points;
    size_t targets = g->batch.targets;
    double *c = calloc(g->batch.input.n * own, 8), *intensity = calloc(targets * points * types, 8);
    double *score = calloc(targets * points, 8), *logits = calloc(targets * types, 8), *tau = calloc(points, 8);
    double *total = calloc(points, 8);
    thp->encode(&run, &g->model, g->slab, &g->batch.input, g->memory, c);
    for (size_t t = 0; t < targets; t++) {
        const double *row = c + g->target[t].row * own, gap = g->target[t].gap;
        struct model_law self;
        struct law law = thp->law(&g->model, NULL, (const float *)(const void *)row, 0, 1, &self);
        struct thp_head head = {types, row, row[types], row[types + 1]};
        for (size_t i = 0; i < points; i++) tau[i] = config->u[t * points + i] * gap;
        law.class->types(&self, tau, intensity + t * points * types, points);
        law.class->intensity(&self, tau, total, points);
        for (size_t i = 0; i < points; i++) {
            struct thp_point at = thp_at(&head, g->target[t].type, tau[i]);
            score[t * points + i] = head.slope * at.q / (at.lambda + 1e-10) - total[i];
        }
        memcpy(logits + t * types, row + types + 2, types * sizeof *logits);
    }
    compare_all(g, "intensity", intensity, targets * points * types);
    compare_all(g, "score", score, targets * points);
    compare_all(g, "type_logits", logits, targets * types);
    free(c), free(intensity), free(score), free(logits), free(tau), free(total);
}

static void check_thp(struct golden *g)
{
    struct loss_config config;
    double *u;
    if (build_thp(g, &config, &u)) {
        check_thp_law(g, &config);
        check_thp_likelihood(g, config);
    }
    free(u);
    unload(g);
}

static void check_file(const char *file)
{
    struct golden g;
    load(&g, file);
    if (json_object_get(g.root, "samples") && json_object_get(g.root, "truth")) {
        check_metrics(&g);
        json_decref(g.root);
        return;
    }
    if (json_object_get(g.expect, "nll") && json_object_get(g.root, "u")) {
        check_thp(&g);
        return;
    }
    if (!json_object_get(g.expect, "denoising_full_gradient")) {
        skip(file, "this kind of file is not checked yet");
        json_decref(g.root);
        return;
    }
    if (build(&g)) {
        check_forward(&g);
        check_denoising(&g, "denoising_full_gradient", false);
        check_denoising(&g, "denoising_stop_gradient", true);
        check_times(&g, "implicit_score_matching", &OP(objective_sm));
        check_times(&g, "weighted_score_matching", &OP(objective_wsm));
        check_likelihood(&g);
    }
    unload(&g);
}

/* The files of a folder; a skip where there are none. */
static void check_folder(const char *folder, const char *inside)
{
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/%s/*.json", folder, inside);
    if (glob(pattern, 0, NULL, &found) != 0) {
        skip(inside, "no files of expected values");
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) check_file(found.gl_pathv[i]);
    globfree(&found);
}

int main(int argc, char **argv)
{
    const char *shared = getenv("SMURF_SHARED"), *root = getenv("SMURF_ROOT");
    for (int i = 1; i < argc; i++) check_file(argv[i]);
    if (argc < 2) {
        check_folder(root ? root : ".", "test/golden");
        check_folder(shared ? shared : root ? root : ".", shared ? "golden" : "../shared/golden");
    }
    printf("1..%d\n", cases);
    return failures > 0;
}
