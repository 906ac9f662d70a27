/*
 * property_model.c - what must hold for any model, in float and in double: batches, threads, causes before
 * effects; and the random numbers and quadrature that training is made of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "both_reals.h"
#include "op/noise.h"

#include "base/sort.h"

enum { OBJECTIVES_TRIED = 4 };
static const char *const objectives[OBJECTIVES_TRIED] = {"dsm", "sm", "wsm", "mle"};

static const struct op_run once = {1, 17, 4, 0, NULL};

/* Lengths on both sides of attention's tiles and of the chunks of rows and targets. */
static const size_t lengths[] = {3, 1, 26, 2, 131, 9, 64, 5, 1, 49, 300, 14};
enum { SEQUENCES = sizeof lengths / sizeof *lengths };

static void start(struct model_case *c, double dropout)
{
    const struct encoder_shape shape = {.types = 5,
                                        .width = 12,
                                        .heads = 3,
                                        .head_width = 5,
                                        .layers = 2,
                                        .inner = 40,
                                        .activation = ACTIVATION_GELU,
                                        .gap_feature = true};
    model_case_init(c, &shape, PARAM_INTENSITY, lengths, SEQUENCES, 8);
    c->dropout = dropout;
}

static double *room(size_t n)
{
    return model_case_room(n, sizeof(double));
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void compare_number(const char *what, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fabs(a)) || !(fabs(a) > 0)) fail_msg("%s: %.12g and %.12g", what, a, b);
}

static void compare_losses(const char *what, const struct loss *a, const struct loss *b, double tolerance)
{
    assert_int_equal(a->gaps, b->gaps);
    assert_int_equal(a->typed, b->typed);
    compare_number(what, a->time, b->time, tolerance);
    compare_number(what, a->type, b->type, tolerance);
}

/* Relative to the largest element of each tensor. */
static void compare_gradients(const char *what, const struct params *params, const double *a, const double *b,
                              double tolerance)
{
    for (size_t i = 0; i < params->count; i++) {
        const struct param *p = &params->entry[i];
        double most = 0, size = 0;
        for (size_t k = p->at; k < p->at + p->size; k++) {
            if (!(fabs(a[k] - b[k]) <= most)) most = fabs(a[k] - b[k]);
            size = fmax(size, fabs(a[k]));
        }
        if (!(size > 0)) fail_msg("%s: no gradient of %s", what, p->name);
        if (!(most <= tolerance * size)) fail_msg("%s: %s differs by %g of %g", what, p->name, most, size);
    }
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* A batch is its sequences one by one. */
static void test_one_by_one(void **state)
{
    const struct number_type *type = *state;
    struct model_case all, one;
    start(&all, 0);
    size_t total = all.model.params.total;
    double *grad = room(total), *part = room(total), *sum = room(total);
    for (size_t o = 0; o < OBJECTIVES_TRIED; o++) {
        all.objective = objectives[o];
        struct loss whole = type->loss(&all, &once, NULL, grad), parts = {0};
        memset(sum, 0, total * sizeof *sum);
        for (size_t s = 0; s < SEQUENCES; s++) {
            model_case_select(&one, &all, &s, 1);
            struct loss loss = type->loss(&one, &once, NULL, part);
            parts.time += loss.time, parts.type += loss.type;
            parts.gaps += loss.gaps, parts.typed += loss.typed;
            for (size_t i = 0; i < total; i++) sum[i] += part[i];
            model_case_release(&one);
        }
        compare_losses("one by one", &whole, &parts, type->rounding);
        compare_gradients("one by one", &all.model.params, grad, sum, type->rounding);
    }
    free(grad), free(part), free(sum);
    model_case_release(&all);
}

static void test_order(void **state)
{
    const struct number_type *type = *state;
    struct model_case all, turned;
    size_t back[SEQUENCES];
    start(&all, 0);
    for (size_t s = 0; s < SEQUENCES; s++) back[s] = (s * 5 + 3) % SEQUENCES;
    size_t total = all.model.params.total;
    double *a = room(total), *b = room(total);
    for (size_t o = 0; o < OBJECTIVES_TRIED; o++) {
        all.objective = objectives[o];
        model_case_select(&turned, &all, back, SEQUENCES);
        struct loss one = type->loss(&all, &once, NULL, a), other = type->loss(&turned, &once, NULL, b);
        compare_losses("order", &one, &other, type->rounding);
        compare_gradients("order", &all.model.params, a, b, type->rounding);
        model_case_release(&turned);
    }
    free(a), free(b);
    model_case_release(&all);
}

/* The loss is the sum over targets. Censored gaps count where the objective has a use for them, and never
   have a type. */
static void test_terms(void **state)
{
    const struct number_type *type = *state;
    struct model_case c;
    start(&c, 0);
    size_t gaps = c.n - SEQUENCES;
    double *term = room(c.targets);
    for (size_t o = 0; o < OBJECTIVES_TRIED; o++) {
        bool censored = strcmp(objectives[o], "mle") == 0;
        c.objective = objectives[o];
        memset(term, 0, c.targets * sizeof *term);
        struct loss loss = type->loss(&c, &once, term, NULL);
        double sum = 0;
        for (size_t i = 0; i < c.targets; i++) {
            sum += term[i];
            assert_true((term[i] != 0) == (censored || !c.target[i].censored));
        }
        compare_number("sum of terms", loss.time, sum, 1e-12);
        assert_int_equal(loss.gaps, censored ? c.n : gaps);
        assert_int_equal(loss.typed, gaps);
    }
    free(term);
    model_case_release(&c);
}

/* At the true gap the type loss is the same whatever the objective; only perturbations move it. A certain
   type is right as often as it comes. */
static void test_types(void **state)
{
    const struct number_type *type = *state;
    struct model_case c;
    start(&c, 0);
    c.config.type_at_truth = true;
    c.objective = "dsm";
    struct loss truth = type->loss(&c, &once, NULL, NULL);
    c.config.type_at_truth = false;
    for (size_t o = 0; o < OBJECTIVES_TRIED; o++) {
        c.objective = objectives[o];
        struct loss loss = type->loss(&c, &once, NULL, NULL);
        assert_true((loss.type == truth.type) == (strcmp(objectives[o], "dsm") != 0));
    }
    double often = 0;
    for (size_t i = 0; i < c.targets; i++) often += !c.target[i].censored && c.target[i].type == 2;
    c.slab[smurf_offsets(&c.model)->head.type_c + 2] = 100;
    for (size_t o = 0; o < OBJECTIVES_TRIED; o++) {
        c.objective = objectives[o];
        assert_true(type->loss(&c, &once, NULL, NULL).right == often);
    }
    model_case_release(&c);
}

/* Sequences without events, and batches without targets. */
static void test_empty(void **state)
{
    const struct number_type *type = *state;
    const size_t some[] = {4, 0, 3, 0}, single[] = {1};
    struct model_case all, full, alone;
    start(&full, 0);
    struct encoder_shape shape = full.model.shape;
    model_case_release(&full);
    model_case_init(&all, &shape, PARAM_INTENSITY, some, 4, 8);
    model_case_select(&full, &all, (const size_t[]){0, 2}, 2);
    model_case_init(&alone, &shape, PARAM_INTENSITY, single, 1, 8);
    size_t total = all.model.params.total;
    double *a = room(total), *b = room(total);
    struct loss with = type->loss(&all, &once, NULL, a), without = type->loss(&full, &once, NULL, b);
    assert_memory_equal(&with, &without, sizeof with);
    assert_memory_equal(a, b, total * sizeof *a);
    struct loss none = type->loss(&alone, &once, NULL, a); /* its only target is censored */
    assert_true(none.time == 0 && none.type == 0 && none.gaps == 0 && none.typed == 0);
    for (size_t i = 0; i < total; i++) assert_true(a[i] == 0);
    free(a), free(b);
    model_case_release(&all), model_case_release(&full), model_case_release(&alone);
}

/* Threads change no bit. */
static void test_threads(void **state)
{
    const struct number_type *type = *state;
    const int threads[] = {2, 5};
    struct model_case c;
    start(&c, 0.1);
    size_t total = c.model.params.total;
    double *a = room(total), *b = room(total), *term_a = room(c.targets), *term_b = room(c.targets);
    for (size_t o = 0; o < OBJECTIVES_TRIED; o++)
        for (int k = 0; k < 2; k++) {
            struct op_run run = once;
            run.threads = threads[k];
            c.objective = objectives[o];
            struct loss one = type->loss(&c, &once, term_a, a), many = type->loss(&c, &run, term_b, b);
            assert_memory_equal(&one, &many, sizeof one);
            assert_memory_equal(term_a, term_b, c.targets * sizeof *term_a);
            assert_memory_equal(a, b, total * sizeof *a);
            assert_true(isfinite(one.time) && one.time != 0 && one.type > 0);
        }
    free(a), free(b), free(term_a), free(term_b);
    model_case_release(&c);
}

/* ---- Causes before effects ------------------------------------------------------------------- */

/* Other times, types and gaps for rows from .. to-1. */
static void disturb(struct model_case *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        c->time[i] += 1.25 * (double)(i - from + 1);
        c->type[i] = (c->type[i] + 1) % (uint32_t)c->model.shape.types;
        if (!isnan(c->gap[i])) c->gap[i] = -c->gap[i] + 0.5;
    }
}

struct outcome {
    double *coefficients[4], *term;
};

static struct outcome outcome_of(const struct number_type *type, const struct model_case *c)
{
    size_t d = c->model.shape.width;
    struct outcome out = {{room(c->n * d), room(c->n * d), room(c->n * d), room(c->n * d)}, room(c->targets)};
    type->coefficients(c, &once, out.coefficients[0], out.coefficients[1], out.coefficients[2], out.coefficients[3]);
    type->loss(c, &once, out.term, NULL);
    return out;
}

static void outcome_release(struct outcome *o)
{
    for (int k = 0; k < 4; k++) free(o->coefficients[k]);
    free(o->term);
}

static bool same_row(const struct model_case *c, const struct outcome *a, const struct outcome *b, size_t row)
{
    for (int k = 0; k < 4; k++) {
        size_t wide = k < 2 ? c->model.shape.width : c->model.shape.width / 2;
        size_t at = row * wide;
        if (memcmp(a->coefficients[k] + at, b->coefficients[k] + at, wide * sizeof(double)) != 0) return false;
    }
    return memcmp(&a->term[row], &b->term[row], sizeof(double)) == 0; /* target i is of row i */
}

/* Events from row j of a sequence on are changed: rows before j of it, and all of the other sequences, stay
   as they are to the last bit; later ones change. Targets are left alone: they are what is asked, not what is
   seen. */
static void test_future(void **state)
{
    const struct number_type *type = *state;
    static const size_t place[][2] = {{4, 1}, {4, 70}, {4, 130}, {10, 47}, {10, 241}, {2, 13}};
    const double dropouts[] = {0, 0.1};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
            struct model_case c;
            start(&c, dropouts[k]);
            size_t s = place[i][0], from = c.offset[s] + place[i][1];
            struct outcome before = outcome_of(type, &c);
            disturb(&c, from, c.offset[s + 1]);
            struct outcome after = outcome_of(type, &c);
            for (size_t row = 0; row < c.n; row++) {
                bool changed = row >= from && row < c.offset[s + 1];
                if (same_row(&c, &before, &after, row) == changed)
                    fail_msg("%s: row %zu of sequence from %zu, changed from %zu: %s", type->name, row, c.offset[s],
                             from, changed ? "no effect" : "depends on the future");
            }
            outcome_release(&before), outcome_release(&after);
            model_case_release(&c);
        }
}

/* ---- Dropout of the model --------------------------------------------------------------------- */

enum { ROWS = 100 };

/* ROWS sequences of one event, all alike. */
static void start_alike(struct model_case *c, size_t layers, double dropout)
{
    size_t ones[ROWS];
    const struct encoder_shape shape = {
        .types = 1, .width = 12, .heads = 3, .head_width = 5, .layers = layers, .inner = 40};
    for (size_t i = 0; i < ROWS; i++) ones[i] = 1;
    model_case_init(c, &shape, PARAM_INTENSITY, ones, ROWS, 8);
    c->dropout = dropout;
    for (size_t i = 0; i < ROWS; i++) c->time[i] = 1;
}

static double furthest(const double *x, const double *y, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* Equal events have equal laws, unless they are dropped out: then every row has a mask of its own. */
static void test_dropout_rows(void **state)
{
    const struct number_type *type = *state;
    const double dropouts[] = {0, 0.3};
    for (int k = 0; k < 2; k++) {
        struct model_case c;
        start_alike(&c, 1, dropouts[k]);
        size_t d = c.model.shape.width;
        struct outcome o = outcome_of(type, &c);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < i; j++) {
                double far = furthest(o.coefficients[1] + i * d, o.coefficients[1] + j * d, d);
                assert_true(k == 0 ? far < type->rounding : far > 1e-3);
            }
        outcome_release(&o);
        model_case_release(&c);
    }
}

/* The last layer shows its mask: a bias of 1000 before the last dropout, and b = h. */
static void show_mask(struct model_case *c)
{
    const struct smurf_offsets *at = smurf_offsets(&c->model);
    size_t d = c->model.shape.width;
    for (size_t k = 0; k < d; k++) {
        c->slab[at->encoder.layer[c->model.shape.layers - 1].outer_bias + k] = 1000;
        c->slab[at->head.b_bias + k] = 0;
        for (size_t i = 0; i < d; i++) c->slab[at->head.b + i * d + k] = i == k;
    }
}

/* Layers have masks of their own. */
static void test_dropout_layers(void **state)
{
    const struct number_type *type = *state;
    struct model_case one, two;
    start_alike(&one, 1, 0.5), start_alike(&two, 2, 0.5);
    show_mask(&one), show_mask(&two);
    size_t d = one.model.shape.width;
    for (size_t k = 0; k < d; k++) { /* the same gains, so that the same masks would give the same rows */
        const struct encoder_layer *last = &smurf_offsets(&two.model)->encoder.layer[1];
        const struct encoder_layer *only = &smurf_offsets(&one.model)->encoder.layer[0];
        two.slab[last->gain2 + k] = one.slab[only->gain2 + k] = 1;
        two.slab[last->bias2 + k] = one.slab[only->bias2 + k] = 0;
    }
    struct outcome a = outcome_of(type, &one), b = outcome_of(type, &two);
    size_t differ = 0;
    for (size_t i = 0; i < ROWS; i++) differ += furthest(a.coefficients[1] + i * d, b.coefficients[1] + i * d, d) > 0.1;
    assert_true(differ > ROWS * 9 / 10);
    outcome_release(&a), outcome_release(&b);
    model_case_release(&one), model_case_release(&two);
}

/* ---- Float and double ------------------------------------------------------------------------ */

static void test_float_and_double(void **state)
{
    (void)state;
    const double dropouts[] = {0, 0.1};
    for (int k = 0; k < 2; k++)
        for (size_t o = 0; o < OBJECTIVES_TRIED; o++)
            for (int truth = 0; truth < 2; truth++) {
                struct model_case c;
                start(&c, dropouts[k]);
                c.objective = objectives[o];
                c.config.type_at_truth = truth;
                double *a = room(c.model.params.total), *b = room(c.model.params.total);
                struct loss wide = smurf_number_type_f64.loss(&c, &once, NULL, a),
                            narrow = smurf_number_type_f32.loss(&c, &once, NULL, b);
                compare_losses("float and double", &wide, &narrow, 1e-4);
                compare_gradients("float and double", &c.model.params, a, b, 1e-4);
                free(a), free(b);
                model_case_release(&c);
            }
}

/* Losses and gradients are numbers however far u goes. */
static void test_extremes(void **state)
{
    const struct number_type *type = *state;
    const double levels[] = {-1e4, -800, -110, -100, -88, -40, -16, 16, 40, 88, 110, 800, 1e4};
    struct model_case c;
    start(&c, 0);
    const struct target target = {.gap = 0.7, .limit = 2};
    for (size_t o = 0; o < OBJECTIVES_TRIED; o++)
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            double slopes, loss = type->objective(objectives[o], &c.config.objective, &target,
                                                  (double[]){levels[i], 1.5, -2}, &slopes);
            if (!isfinite(loss) || !isfinite(slopes))
                fail_msg("%s in %s at u = %g: %g, gradient %g", objectives[o], type->name, levels[i], loss, slopes);
        }
    model_case_release(&c);
}

/* ---- Random numbers -------------------------------------------------------------------------- */

/* Moments within 5 standard deviations of them; Kolmogorov-Smirnov: sqrt(n) D > 2 has probability 7e-4. */
static void test_noise_law(void **state)
{
    const struct number_type *type = *state;
    enum { ITEMS = 400, N = ITEMS * NOISE_MOST };
    double *x = room(N), n = N, d = 0;
    double m[5] = {0};
    for (uint64_t i = 0; i < ITEMS; i++) type->noise(&once, 0, i, NOISE_MOST, x + i * NOISE_MOST);
    for (size_t i = 0; i < N; i++)
        for (int k = 1; k <= 4; k++) m[k] += pow(x[i], k) / n;
    assert_true(fabs(m[1]) < 5 / sqrt(n));
    assert_true(fabs(m[2] - 1) < 5 * sqrt(2 / n));
    assert_true(fabs(m[3]) < 5 * sqrt(15 / n));
    assert_true(fabs(m[4] - 3) < 5 * sqrt(96 / n));
    smurf_sort(x, N);
    for (size_t i = 0; i < N; i++) {
        double f = 0.5 * erfc(-x[i] * M_SQRT1_2);
        d = fmax(d, fmax((double)(i + 1) / n - f, f - (double)i / n));
    }
    assert_true(sqrt(n) * d < 2 && sqrt(n) * d > 0.1);
    free(x);
}

/* Neighbours in an item, in items, steps, places and seeds are not correlated, and never the same. */
static void test_noise_streams(void **state)
{
    const struct number_type *type = *state;
    enum { ITEMS = 100, N = ITEMS * NOISE_MOST };
    static const struct {
        uint64_t seed, step, place, item;
    } shift[] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, ITEMS}};
    double a[NOISE_MOST], b[NOISE_MOST];
    for (size_t k = 0; k < sizeof shift / sizeof *shift; k++) {
        struct op_run other = {1, once.seed + shift[k].seed, once.step + shift[k].step, 0, NULL};
        double sum = 0;
        size_t equal = 0;
        for (uint64_t i = 0; i < ITEMS; i++) {
            type->noise(&once, 2, i, NOISE_MOST, a);
            type->noise(&other, 2 + shift[k].place, i + shift[k].item, NOISE_MOST, b);
            for (size_t j = 0; j < NOISE_MOST; j++) sum += a[j] * b[j], equal += a[j] == b[j];
        }
        assert_true(fabs(sum) < 5 * sqrt(N));
        assert_true(equal < 10); /* a float in 10^6 by chance */
    }
    double next = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        type->noise(&once, 0, i, NOISE_MOST, a);
        for (size_t j = 0; j + 1 < NOISE_MOST; j++) next += a[j] * a[j + 1];
    }
    assert_true(fabs(next) < 5 * sqrt(N));
}

/* The first numbers of an item do not depend on how many are asked for. */
static void test_noise_prefix(void **state)
{
    const struct number_type *type = *state;
    double all[NOISE_MOST], some[NOISE_MOST];
    type->noise(&once, 0, 5, NOISE_MOST, all);
    for (size_t n = 1; n <= NOISE_MOST; n++) {
        type->noise(&once, 0, 5, n, some);
        if (memcmp(some, all, n * sizeof *all) != 0)
            fail_msg("%s: %zu numbers differ from the first of all", type->name, n);
    }
}

/* float gets the same words as double. */
static void test_noise_both(void **state)
{
    (void)state;
    double a[NOISE_MOST], b[NOISE_MOST];
    smurf_number_type_f32.noise(&once, 0, 5, NOISE_MOST, a);
    smurf_number_type_f64.noise(&once, 0, 5, NOISE_MOST, b);
    for (size_t i = 0; i < NOISE_MOST; i++) assert_true(fabs(a[i] - b[i]) < 2e-6);
}

/* The mean of the factors is 1, and they are 0 or one other number. */
static void test_dropout_mean(void **state)
{
    const struct number_type *type = *state;
    enum { N = 200000 };
    const double rates[] = {0, 0.1, 0.2, 0.5, 0.9};
    double *x = room(N);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        double sum = 0, keep = 1 / (1 - rates[r]);
        type->dropout(&once, (struct op_dropout){rates[r], 3}, N, x);
        for (size_t i = 0; i < N; i++) {
            assert_true(x[i] == 0 || fabs(x[i] - keep) < 1e-3 * keep); /* rates are multiples of 1/65536 */
            sum += x[i];
        }
        assert_true(fabs(sum / N - 1) <= 5 * sqrt(rates[r] / (1 - rates[r]) / N));
    }
    free(x);
}

/* Seeds, steps and places have masks of their own: two of rate 1/2 agree in half of the elements. */
static void test_dropout_streams(void **state)
{
    const struct number_type *type = *state;
    enum { N = 20000 };
    static const struct {
        uint64_t seed, step, place;
    } shift[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double *a = room(N), *b = room(N);
    for (size_t k = 0; k < sizeof shift / sizeof *shift; k++) {
        struct op_run other = {1, once.seed + shift[k].seed, once.step + shift[k].step, 0, NULL};
        double agree = 0;
        type->dropout(&once, (struct op_dropout){0.5, 3}, N, a);
        type->dropout(&other, (struct op_dropout){0.5, 3 + shift[k].place}, N, b);
        for (size_t i = 0; i < N; i++) agree += a[i] == b[i];
        assert_true(fabs(agree / N - 0.5) < 2.5 / sqrt(N));
    }
    free(a), free(b);
}

/* ---- Quadrature ------------------------------------------------------------------------------ */

static double power_error(size_t n, const double *node, const double *weight, size_t degree)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += weight[i] * pow(node[i], (double)degree);
    return fabs(sum - 1 / (double)(degree + 1));
}

/* Exact for degrees up to 2n-1, and no further. */
static void test_gauss_legendre(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 4, 5, 8, 16, 31, 64, 100, 511, POINTS_MOST};
    double node[POINTS_MOST], weight[POINTS_MOST];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t n = counts[c];
        double mass = 0;
        smurf_gauss_legendre(n, node, weight);
        for (size_t i = 0; i < n; i++) {
            assert_true(weight[i] > 0 && node[i] > (i ? node[i - 1] : 0) && node[i] < 1);
            assert_true(fabs(node[i] + node[n - 1 - i] - 1) < 1e-15 && fabs(weight[i] - weight[n - 1 - i]) < 1e-14);
            mass += weight[i];
        }
        assert_true(fabs(mass - 1) < 1e-13);
        for (size_t degree = 0; degree < 2 * n; degree++)
            if (!(power_error(n, node, weight, degree) < 1e-13))
                fail_msg("%zu nodes, degree %zu: off by %g", n, degree, power_error(n, node, weight, degree));
        assert_true(n > 5 || power_error(n, node, weight, 2 * n) > 1e-7);
    }
}

/* A property in float and in double. */
#define BOTH(name)                                                                                                     \
    {"float: " #name, test_##name, NULL, NULL, (void *)(uintptr_t)&smurf_number_type_f32},                             \
    {                                                                                                                  \
        "double: " #name, test_##name, NULL, NULL, (void *)(uintptr_t)&smurf_number_type_f64                           \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(one_by_one),
        BOTH(order),
        BOTH(terms),
        BOTH(types),
        BOTH(empty),
        BOTH(threads),
        BOTH(future),
        BOTH(dropout_rows),
        BOTH(dropout_layers),
        BOTH(extremes),
        BOTH(noise_law),
        BOTH(noise_streams),
        BOTH(noise_prefix),
        BOTH(dropout_mean),
        BOTH(dropout_streams),
        cmocka_unit_test(test_float_and_double),
        cmocka_unit_test(test_noise_both),
        cmocka_unit_test(test_gauss_legendre),
    };
    return cmocka_run_group_tests_name("properties of the model", tests, NULL, NULL);
}
