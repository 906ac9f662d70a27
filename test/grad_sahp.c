/*
 * grad_sahp.c - SAHP: its loss and laws against its formulas, all gradients against finite differences, and what must
 * hold for any model: causes before effects, batches, threads.
 *
 * In double; laws take floats, and calculate in double from there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "difference.h"
#include "law/law.h"
#include "model/model_class.h"
#include "model_case.h"
#include "op/linear.h"

/* Offsets in model->at, as sahp.c has them. */
/* Its own entries are the last of the table. */
enum { GAP_RATE, STATE, STATE_BIAS, TYPE, TYPE_BIAS, OWN };

static const struct op_run once = {1, 17, 4, 0, NULL};

/* ---- A model --------------------------------------------------------------------------------- */

/* Several chunks and blocks of targets, and sequences of one event. */
static const size_t lengths[] = {5, 1, 7, 30};
enum { SEQUENCES = sizeof lengths / sizeof *lengths };

struct subject {
    struct model_case c;
    struct loss_config config;
    double *memory, *grad;
};

static size_t at(const struct subject *s, int entry)
{
    const struct params *p = &s->c.model.params;
    return p->entry[p->count - OWN + (size_t)entry].at;
}

static struct encoder_shape a_shape(void)
{
    return (struct encoder_shape){.types = 3, .width = 8, .heads = 2, .head_width = 3, .layers = 2, .inner = 10};
}

static void subject_start(struct subject *s, const struct encoder_shape *shape, const size_t *length, size_t sequences)
{
    *s = (struct subject){.config = {.points = 100, .alpha = 1.7}};
    model_case_init(&s->c, shape, PARAM_INTENSITY, length, sequences, 3);
    free(s->c.slab);
    model_init(&s->c.model, &OP(model_sahp), shape, PARAM_INTENSITY);
    model_case_start(&s->c, 3);
    s->memory = model_case_workspace(OP(model_sahp).loss_memory(&s->c.model, &s->config, s->c.n, 5), sizeof *s->memory);
    s->grad = model_case_room(s->c.model.params.total, sizeof *s->grad);
}

static void subject_release(struct subject *s)
{
    model_case_release(&s->c);
    free(s->memory), free(s->grad);
}

static struct loss loss_of(struct subject *s, const struct op_run *run, double *grad)
{
    struct batch batch = model_case_batch(&s->c);
    batch.input.gap = NULL; /* not looked at */
    struct op_run own = model_case_run(&s->c, run);
    return OP(model_sahp).loss(&own, &s->c.model, &s->config, s->c.slab, &batch, s->memory, grad);
}

/* (n x 3 width), the caller's to free. */
static double *coefficients_of(struct subject *s)
{
    struct batch batch = model_case_batch(&s->c);
    double *out = model_case_workspace(s->c.n * 3 * s->c.model.shape.width, sizeof *out);
    batch.input.gap = NULL;
    struct op_run own = model_case_run(&s->c, &once);
    OP(model_sahp).encode(&own, &s->c.model, s->c.slab, &batch.input, s->memory, out);
    return out;
}

/* ---- Formulas -------------------------------------------------------------------------------- */

static double lambda(const struct subject *s, const double *c, double tau, size_t type)
{
    size_t d = s->c.model.shape.width;
    const double *w = s->c.slab + at(s, TYPE) + type * d;
    double u = s->c.slab[at(s, TYPE_BIAS) + type];
    for (size_t i = 0; i < d; i++) u += w[i] * tanh(c[i] + (c[d + i] - c[i]) * exp(-c[2 * d + i] * tau));
    return log1p(exp(u));
}

static double total(const struct subject *s, const double *c, double tau)
{
    double sum = 0;
    for (size_t k = 0; k < s->c.model.shape.types; k++) sum += lambda(s, c, tau, k);
    return sum;
}

/* By Simpson's rule. */
static double compensator(const struct subject *s, const double *c, double tau)
{
    enum { PANELS = 200 };
    double sum = total(s, c, 0) + total(s, c, tau);
    for (int i = 1; i < PANELS; i++) sum += (i % 2 ? 4 : 2) * total(s, c, tau * i / PANELS);
    return sum * tau / (3 * PANELS);
}

static bool is_right(const struct subject *s, const double *c, const struct target *t)
{
    for (size_t k = 0; k < s->c.model.shape.types; k++)
        if (lambda(s, c, t->gap, k) > lambda(s, c, t->gap, t->type)) return false;
    return true;
}

/* The loss is what the formulas say, from the coefficients. */
static void test_loss(void **state)
{
    (void)state;
    struct subject s;
    struct encoder_shape shape = a_shape();
    subject_start(&s, &shape, lengths, SEQUENCES);
    double *c = coefficients_of(&s), want = 0, right = 0;
    for (size_t i = 0; i < s.c.targets; i++) {
        const struct target *t = &s.c.target[i];
        const double *own = c + t->row * 3 * shape.width;
        want += compensator(&s, own, t->gap);
        if (t->censored) continue;
        want -= log(lambda(&s, own, t->gap, t->type));
        right += is_right(&s, own, t);
    }
    struct loss got = loss_of(&s, &once, NULL);
    check_values("loss", &got.time, &want, 1, 1e-8);
    assert_true(got.type == 0 && got.right == right && right > 0 && right < (double)got.typed);
    assert_int_equal(got.gaps, s.c.n);
    assert_int_equal(got.typed, s.c.n - SEQUENCES);
    free(c);
    subject_release(&s);
}

/* A type that is all but impossible: the loss is large, not infinite, and knows the way back. */
static void test_impossible(void **state)
{
    (void)state;
    struct subject s;
    struct encoder_shape shape = a_shape();
    subject_start(&s, &shape, lengths, SEQUENCES);
    s.c.slab[at(&s, TYPE_BIAS) + 1] = -5000;
    double often = 0;
    for (size_t i = 0; i < s.c.targets; i++) often += !s.c.target[i].censored && s.c.target[i].type == 1;
    struct loss got = loss_of(&s, &once, s.grad);
    assert_true(often > 0 && got.time > 4900 * often && got.time < 5100 * often);
    double slope = s.grad[at(&s, TYPE_BIAS) + 1], want = -1.7 * often;
    check_values("slope", &slope, &want, 1, 1e-12);
    subject_release(&s);
}

/* mu and eta are gelu of linear maps of h, gamma is softplus of one: with the maps' weights at 0, of their biases. */
static void test_coefficients(void **state)
{
    (void)state;
    struct subject s;
    struct encoder_shape shape = a_shape();
    subject_start(&s, &shape, lengths, SEQUENCES);
    size_t d = shape.width;
    double *bias = s.c.slab + at(&s, STATE_BIAS), *want = model_case_room(3 * d, sizeof *want);
    memset(s.c.slab + at(&s, STATE), 0, 3 * d * d * sizeof(double));
    for (size_t i = 0; i < 3 * d; i++) {
        bias[i] = 0.3 * (double)i - 2;
        want[i] = i < 2 * d ? 0.5 * bias[i] * erfc(-bias[i] / sqrt(2)) : log1p(exp(bias[i]));
    }
    double *c = coefficients_of(&s);
    for (size_t row = 0; row < s.c.n; row++) check_values("coefficients", c + row * 3 * d, want, 3 * d, 1e-12);
    assert_int_equal(OP(model_sahp).coefficients(&s.c.model), 3 * d);
    free(c), free(want);
    subject_release(&s);
}

/* ---- What is seen of events ------------------------------------------------------------------ */

/* The layers see embedding and code, as the formula has it. */
static void test_input(void **state)
{
    (void)state;
    struct subject s;
    struct encoder_shape shape = a_shape();
    subject_start(&s, &shape, lengths, SEQUENCES);
    size_t d = shape.width;
    double *x = model_case_room(s.c.n * d, sizeof *x), *raw = model_case_room(s.c.n * 3 * d, sizeof *raw);
    double *room = model_case_room(encoder_memory(&shape, s.c.n, 1), sizeof *room), *c = coefficients_of(&s);
    struct params table = {0}; /* the encoder's entries come first */
    struct encoder_params encoder;
    smurf_encoder_params(&shape, &table, &encoder);
    for (size_t k = 0; k < SEQUENCES; k++)
        for (size_t j = s.c.offset[k]; j < s.c.offset[k + 1]; j++)
            for (size_t i = 0; i < d; i++) {
                double place = (double)(j - s.c.offset[k]), gap = place > 0 ? s.c.time[j] - s.c.time[j - 1] : 0;
                double rate = s.c.slab[at(&s, GAP_RATE) + i / 2];
                double phase = place * pow(10000, -2.0 * (double)(i / 2) / (double)d) + rate * gap;
                x[j * d + i] = s.c.slab[encoder.embedding + s.c.type[j] * d + i] + (i % 2 ? cos(phase) : sin(phase));
            }
    struct batch batch = model_case_batch(&s.c);
    const double *h = layers_forward(&once, &shape, &encoder, s.c.slab, &batch.input, x, room);
    linear_forward(s.c.n, d, 3 * d, h, s.c.slab + at(&s, STATE), s.c.slab + at(&s, STATE_BIAS), raw);
    for (size_t i = 0; i < s.c.n * 3 * d; i++)
        raw[i] = i % (3 * d) < 2 * d ? 0.5 * raw[i] * erfc(-raw[i] / sqrt(2)) : log1p(exp(raw[i]));
    check_values("coefficients", c, raw, s.c.n * 3 * d, 1e-12);
    free(x), free(raw), free(room), free(c);
    subject_release(&s);
}

static double furthest(const double *x, const double *y, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* When the clock started does not matter, gaps do; that before the first event is 0. Without w, times do not matter at
   all, and places still do: equal events one after the other have different laws. */
static void test_code(void **state)
{
    (void)state;
    struct subject s;
    struct encoder_shape shape = a_shape();
    subject_start(&s, &shape, lengths, SEQUENCES);
    size_t row = 3 * shape.width, n = s.c.n * row;
    double *before = coefficients_of(&s);
    for (size_t i = 0; i < s.c.n; i++) s.c.time[i] += 64;
    double *later = coefficients_of(&s);
    assert_true(furthest(before, later, n) < 1e-12);
    for (size_t i = 0; i < s.c.n; i++) s.c.time[i] *= 1.5;
    double *slower = coefficients_of(&s);
    for (size_t k = 0; k < SEQUENCES; k++) {
        size_t first = s.c.offset[k] * row, end = s.c.offset[k + 1] * row;
        assert_true(furthest(later + first, slower + first, row) == 0);
        for (size_t i = first + row; i < end; i += row) assert_true(furthest(later + i, slower + i, row) > 1e-4);
    }
    memset(s.c.slab + at(&s, GAP_RATE), 0, shape.width / 2 * sizeof(double));
    memset(s.c.type, 0, s.c.n * sizeof *s.c.type);
    double *places = coefficients_of(&s);
    for (size_t i = 0; i < s.c.n; i++) s.c.time[i] *= 3;
    double *again = coefficients_of(&s);
    assert_memory_equal(places, again, n * sizeof *again);
    for (size_t i = s.c.offset[3] + 1; i < s.c.n; i++)
        assert_true(furthest(places + (i - 1) * row, places + i * row, row) > 1e-6);
    free(before), free(later), free(slower), free(places), free(again);
    subject_release(&s);
}

/* Events from a row on are changed: rows before it, and other sequences, stay as they are to the last bit. */
static void test_future(void **state)
{
    (void)state;
    const double dropouts[] = {0, 0.2};
    const size_t froms[] = {1, 4, 17, 29};
    for (int k = 0; k < 2; k++)
        for (int f = 0; f < 4; f++) {
            struct subject s;
            struct encoder_shape shape = a_shape();
            subject_start(&s, &shape, (const size_t[]){5, 30, 9}, 3);
            s.c.dropout = dropouts[k];
            size_t from = s.c.offset[1] + froms[f], end = s.c.offset[2], row = 3 * shape.width;
            double *before = coefficients_of(&s);
            for (size_t i = from; i < end; i++) {
                s.c.time[i] += 0.25 * (double)(i - from + 1);
                s.c.type[i] = (s.c.type[i] + 1) % 3;
            }
            double *after = coefficients_of(&s);
            for (size_t i = 0; i < s.c.n; i++) {
                bool same = memcmp(before + i * row, after + i * row, row * sizeof *after) == 0;
                if (same == (i >= from && i < end))
                    fail_msg("row %zu, changed from %zu: %s", i, from, same ? "no effect" : "depends on the future");
            }
            free(before), free(after);
            subject_release(&s);
        }
}

/* ---- Batches and threads --------------------------------------------------------------------- */

static void test_one_by_one(void **state)
{
    (void)state;
    struct subject all, one;
    struct encoder_shape shape = a_shape();
    subject_start(&all, &shape, lengths, SEQUENCES);
    size_t total_params = all.c.model.params.total;
    double *sum = model_case_room(total_params, sizeof *sum), time = 0, right = 0;
    struct loss whole = loss_of(&all, &once, all.grad);
    for (size_t k = 0; k < SEQUENCES; k++) {
        one = all;
        model_case_select(&one.c, &all.c, &k, 1);
        struct loss part = loss_of(&one, &once, sum);
        time += part.time, right += part.right;
        model_case_release(&one.c);
    }
    check_values("loss", &time, &whole.time, 1, 1e-13);
    assert_true(right == whole.right);
    for (size_t i = 0; i < all.c.model.params.count; i++) {
        const struct param *p = &all.c.model.params.entry[i];
        check_values(p->name, sum + p->at, all.grad + p->at, p->size, 1e-11);
    }
    free(sum);
    subject_release(&all);
}

static void test_threads(void **state)
{
    (void)state;
    struct subject s;
    struct encoder_shape shape = a_shape();
    subject_start(&s, &shape, (const size_t[]){60, 3, 131, 1, 77}, 5);
    s.c.dropout = 0.1;
    size_t n = s.c.model.params.total;
    double *other = model_case_room(n, sizeof *other);
    struct loss one = loss_of(&s, &once, s.grad);
    for (int threads = 2; threads <= 5; threads += 3) {
        struct op_run run = once;
        run.threads = threads;
        memset(other, 0, n * sizeof *other);
        struct loss many = loss_of(&s, &run, other);
        assert_memory_equal(&one, &many, sizeof one);
        assert_memory_equal(s.grad, other, n * sizeof *other);
    }
    assert_true(isfinite(one.time) && one.time != 0);
    free(other);
    subject_release(&s);
}

/* ---- Gradients ------------------------------------------------------------------------------- */

static double value(void *context)
{
    struct subject *s = context;
    return s->config.alpha * loss_of(s, &once, NULL).time;
}

/* Every element of every tensor, relative to the largest of the tensor. */
static void check_all_gradients(struct subject *s, size_t step)
{
    loss_of(s, &once, s->grad);
    for (size_t i = 0; i < s->c.model.params.count; i++) {
        const struct param *p = &s->c.model.params.entry[i];
        const double *g = s->grad + p->at;
        double size = largest(g, p->size);
        if (!(size > 0) || !isfinite(size)) fail_msg("gradient of %s: largest %g", p->name, size);
        for (size_t k = 0; k < p->size; k += step) {
            double want = difference(value, s, &s->c.slab[p->at + k], 1e-4);
            if (!(fabs(g[k] - want) <= 1e-6 * size))
                fail_msg("%s[%zu]: %.12g, by differences %.12g (largest %g)", p->name, k, g[k], want, size);
        }
    }
}

static void test_gradient(void **state)
{
    (void)state;
    const double dropouts[] = {0, 0.2};
    for (int k = 0; k < 2; k++) {
        struct subject s;
        struct encoder_shape shape = a_shape();
        subject_start(&s, &shape, lengths, SEQUENCES);
        s.c.dropout = dropouts[k];
        check_all_gradients(&s, 1);
        subject_release(&s);
    }
}

/* So many types that blocks are of one target. */
static void test_gradient_types(void **state)
{
    (void)state;
    struct subject s;
    struct encoder_shape shape = a_shape();
    shape.types = 600;
    subject_start(&s, &shape, (const size_t[]){9, 12}, 2);
    check_all_gradients(&s, 41);
    subject_release(&s);
}

/* Gradients are added to what is there, and asking for them changes no loss. */
static void test_gradient_added(void **state)
{
    (void)state;
    struct subject s;
    struct encoder_shape shape = a_shape();
    subject_start(&s, &shape, lengths, SEQUENCES);
    s.c.dropout = 0.2;
    size_t n = s.c.model.params.total;
    double *twice = model_case_room(n, sizeof *twice);
    assert_true(loss_of(&s, &once, s.grad).time == loss_of(&s, &once, NULL).time);
    loss_of(&s, &once, twice), loss_of(&s, &once, twice);
    for (size_t i = 0; i < n; i++) assert_true(fabs(twice[i] - 2 * s.grad[i]) <= 1e-12 * fabs(s.grad[i]) + 1e-14);
    free(twice);
    subject_release(&s);
}

/* ---- The law --------------------------------------------------------------------------------- */

/* A model rounded to float, and the law of one of its rows. */
struct law_case {
    struct subject s;
    double *c;
    float *slab, *own;
    struct model_law self;
    struct law law;
};

static float *narrow(double *x, size_t n)
{
    float *out = model_case_room(n, sizeof *out);
    for (size_t i = 0; i < n; i++) x[i] = out[i] = (float)x[i];
    return out;
}

static void law_start(struct law_case *l, size_t types, size_t width)
{
    struct encoder_shape shape = a_shape();
    shape.types = types, shape.width = width;
    subject_start(&l->s, &shape, lengths, SEQUENCES);
    double *all = coefficients_of(&l->s);
    l->c = model_case_room(3 * width, sizeof *l->c);
    memcpy(l->c, all + 9 * 3 * width, 3 * width * sizeof *l->c);
    free(all);
    l->slab = narrow(l->s.c.slab, l->s.c.model.params.total);
    l->own = narrow(l->c, 3 * width);
    l->law = OP(model_sahp).law(&l->s.c.model, l->slab, l->own, 0, 50, &l->self);
}

static void law_end(struct law_case *l)
{
    free(l->c), free(l->slab), free(l->own);
    subject_release(&l->s);
}

struct law_point {
    const struct law *law;
    double at;
};

static double intensity_at_point(void *context)
{
    struct law_point *p = context;
    double out;
    smurf_law_eval_intensity(p->law, &p->at, &out, 1);
    return out;
}

/* Intensity and types are what the formulas say; their slope is that of differences. More than one run of points, part
   of types and part of units, and ends that fill none. */
static void check_law(size_t types, size_t width)
{
    enum { N = 45 };
    struct law_case l;
    law_start(&l, types, width);
    double gap[N], got[N], slope[N], want[N], *shares = model_case_room(N * types, sizeof *shares);
    double *lambdas = model_case_room(N * types, sizeof *lambdas);
    for (int i = 0; i < N; i++) {
        gap[i] = 0.01 + 0.002 * i * i;
        want[i] = total(&l.s, l.c, gap[i]);
        for (size_t k = 0; k < types; k++) lambdas[(size_t)i * types + k] = lambda(&l.s, l.c, gap[i], k);
    }
    smurf_law_eval_intensity(&l.law, gap, got, N);
    smurf_law_eval_slope(&l.law, gap, slope, N);
    smurf_law_eval_types(&l.law, gap, shares, N);
    check_values("intensity", got, want, N, 1e-12);
    check_values("types", shares, lambdas, N * types, 1e-12);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t k = 0; k < types; k++) sum += shares[i * types + k];
        check_values("sum of types", &sum, &got[i], 1, 1e-12);
        struct law_point p = {&l.law, gap[i]};
        want[i] = difference(intensity_at_point, &p, &p.at, 1e-3);
    }
    check_values("slope", slope, want, N, 1e-8);
    smurf_law_eval_intensity(&l.law, gap, gap, N); /* in place */
    check_values("in place", gap, got, N, 1e-15);
    free(shares), free(lambdas);
    law_end(&l);
}

static void test_law(void **state)
{
    (void)state;
    check_law(1, 8);
    check_law(3, 8);
    check_law(130, 6);
    check_law(5, 70);
}

/* Deep in the tail of a fast decay, and at 0. */
static void test_law_ends(void **state)
{
    (void)state;
    struct law_case l;
    law_start(&l, 3, 8);
    for (size_t i = 16; i < 24; i++) l.c[i] = l.own[i] = 400;
    double gap[] = {0, 50}, got[2], slope[2], want[] = {total(&l.s, l.c, 0), total(&l.s, l.c, 50)};
    smurf_law_eval_intensity(&l.law, gap, got, 2);
    smurf_law_eval_slope(&l.law, gap, slope, 2);
    check_values("ends", got, want, 2, 1e-12);
    assert_true(slope[0] != 0 && slope[1] == 0);
    law_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),           cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_coefficients),   cmocka_unit_test(test_input),
        cmocka_unit_test(test_code),           cmocka_unit_test(test_future),
        cmocka_unit_test(test_one_by_one),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_gradient),       cmocka_unit_test(test_gradient_types),
        cmocka_unit_test(test_gradient_added), cmocka_unit_test(test_law),
        cmocka_unit_test(test_law_ends),
    };
    return cmocka_run_group_tests_name("SAHP", tests, NULL, NULL);
}
