/*
 * grad_class.c - the gradients of the losses of all classes of models against finite differences, for every parameter.
 *
 * Draws are a function of (seed, step, id), so that a loss with draws has derivatives. NCE-TPP says its likelihood and
 * has the gradient of another sum (nce.h): that is what is differentiated. Its noise is drawn from parameters of its
 * own ("noise."), whose gradient is by design not that of the loss: it is compared with the gradient of a THP with the
 * same parameters, whose likelihood it must be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "class_case.h"
#include "difference.h"
#include "model/nce.h"

/* Relative to the largest element of the tensor. */
static const double TOLERANCE = 1e-6;
enum { SINGLES = 3 };

static const struct op_run once = {1, 5, 9, 0, NULL};
static const size_t lengths[] = {5, 1, 7};

static struct encoder_shape shape_of(bool relu, bool gap_feature, bool unknown, bool counts)
{
    return (struct encoder_shape){.types = 3,
                                  .width = 8,
                                  .heads = 2,
                                  .head_width = 3,
                                  .layers = 2,
                                  .inner = 10,
                                  .activation = relu ? ACTIVATION_RELU : ACTIVATION_GELU,
                                  .gap_feature = gap_feature,
                                  .unknown = unknown,
                                  .counts = counts,
                                  .count_rate = MODEL_CASE_RATES};
}

static double value(void *context)
{
    struct loss loss = class_case_loss(context, &once, NULL);
    return ((struct model_case *)context)->config.alpha * loss.time + loss.type;
}

/* The nearer of two steps: a corner of relu nearer than the longer one spoils that one only. */
static double nearest(struct model_case *c, double *x, double got)
{
    double a = difference(value, c, x, 1e-4);
    if (fabs(a - got) <= 0.1 * TOLERANCE * fabs(got)) return a;
    double b = difference(value, c, x, 1e-5);
    return fabs(a - got) < fabs(b - got) ? a : b;
}

static void check_tensor(struct model_case *c, const struct param *p, const double *grad, struct random *random)
{
    const double *g = grad + p->at;
    double size = largest(g, p->size);
    size_t element = 0;
    if (!(size > 0) || !isfinite(size)) fail_msg("%s: gradient of %s: largest %g", c->model.class->name, p->name, size);
    for (size_t i = 0; i < p->size; i++)
        if (fabs(g[i]) == size) element = i;
    for (int k = 0; k <= SINGLES; k++, element = (size_t)smurf_random_below(random, p->size)) {
        double want = nearest(c, &c->slab[p->at + element], g[element]);
        if (!(fabs(g[element] - want) <= TOLERANCE * size))
            fail_msg("%s: %s[%zu]: %.12g, by differences %.12g (largest %g)", c->model.class->name, p->name, element,
                     g[element], want, size);
    }
}

static void test_gradient(void **state)
{
    struct model_class own = *(const struct model_class *)*state;
    if (own.loss == OP(model_nce).loss) own.loss = nce_contrast;
    for (unsigned k = 0; k < (own.counts ? 16 : 8); k++) {
        struct encoder_shape shape = shape_of(k & 1, k & 2, k & 4, k & 8);
        struct model_case c;
        struct random random;
        smurf_random_init(&random, 4, 4);
        class_case_init(&c, &own, &shape, lengths, 3, 3);
        c.dropout = k & 4 ? 0.2 : 0;
        if (k & 4) c.type[1] = 3; /* unknown */
        double *grad = model_case_room(c.model.params.total, sizeof *grad);
        struct loss with = class_case_loss(&c, &once, grad), without = class_case_loss(&c, &once, NULL);
        assert_memory_equal(&with, &without, sizeof with);
        assert_true(with.gaps > 0 && with.time != 0);
        for (size_t i = 0; i < c.model.params.count; i++)
            if (strncmp(c.model.params.entry[i].name, "noise.", 6) != 0)
                check_tensor(&c, &c.model.params.entry[i], grad, &random);
        free(grad);
        model_case_release(&c);
    }
}

/* ---- The noise of NCE-TPP --------------------------------------------------------------------- */

/* The entry of `to` that has the name of `p` without "noise."; NULL: none. */
static const struct param *twin(const struct params *to, const struct param *p)
{
    for (size_t i = 0; i < to->count; i++)
        if (strcmp(to->entry[i].name, p->name + 6) == 0) return &to->entry[i];
    return NULL;
}

/* A THP of q's shape and parameters, without its classifier. */
static void start_twin(struct model_case *thp, const struct model_case *nce, bool relu, bool gap_feature)
{
    struct encoder_shape shape = {.types = 3,
                                  .width = 16,
                                  .heads = 2,
                                  .head_width = 8,
                                  .layers = 1,
                                  .inner = 32,
                                  .activation = relu ? ACTIVATION_RELU : ACTIVATION_GELU,
                                  .gap_feature = gap_feature};
    class_case_init(thp, &OP(model_thp), &shape, lengths, 3, 3);
    memset(thp->slab, 0, thp->model.params.total * sizeof *thp->slab);
    for (size_t i = 0; i < nce->model.params.count; i++) {
        const struct param *p = &nce->model.params.entry[i], *own;
        if (strncmp(p->name, "noise.", 6) != 0) continue;
        own = twin(&thp->model.params, p);
        assert_true(own && own->size == p->size);
        memcpy(thp->slab + own->at, nce->slab + p->at, p->size * sizeof *nce->slab);
    }
}

static void test_noise(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        struct encoder_shape shape = shape_of(k & 1, k & 2, false, false);
        struct model_case nce, thp;
        size_t compared = 0;
        class_case_init(&nce, &OP(model_nce), &shape, lengths, 3, 3);
        nce.dropout = 0.2; /* of p; q has none */
        start_twin(&thp, &nce, k & 1, k & 2);
        double *got = model_case_room(nce.model.params.total, sizeof *got);
        double *want = model_case_room(thp.model.params.total, sizeof *want);
        class_case_loss(&nce, &once, got);
        class_case_loss(&thp, &once, want);
        for (size_t i = 0; i < nce.model.params.count; i++) {
            const struct param *p = &nce.model.params.entry[i];
            if (strncmp(p->name, "noise.", 6) != 0) continue;
            check_values(p->name, got + p->at, want + twin(&thp.model.params, p)->at, p->size, 1e-10);
            compared++;
        }
        assert_int_equal(compared, thp.model.params.count - 1); /* all but the classifier */
        free(got), free(want);
        model_case_release(&nce), model_case_release(&thp);
    }
}

/* What NCE-TPP says is the likelihood of its p: that of a THP with the same parameters. Its gradient is that of the
   contrast. */
static void test_says(void **state)
{
    (void)state;
    struct encoder_shape shape = shape_of(false, true, false, false);
    struct model_class contrast = OP(model_nce);
    struct model_case nce, thp;
    contrast.loss = nce_contrast;
    class_case_init(&nce, &OP(model_nce), &shape, lengths, 3, 3);
    class_case_init(&thp, &OP(model_thp), &shape, lengths, 3, 3);
    nce.dropout = thp.dropout = 0.2;
    for (size_t i = 0; i + 1 < thp.model.params.count; i++) { /* all but the classifier */
        const struct param *a = &thp.model.params.entry[i], *b = &nce.model.params.entry[i];
        assert_string_equal(a->name, b->name);
        memcpy(thp.slab + a->at, nce.slab + b->at, a->size * sizeof *nce.slab);
    }
    size_t total = nce.model.params.total;
    double *a = model_case_room(total, sizeof *a), *b = model_case_room(total, sizeof *b);
    struct loss said = class_case_loss(&nce, &once, a), want = class_case_loss(&thp, &once, NULL);
    check_values("likelihood", &said.time, &want.time, 1, 1e-12);
    nce.model.class = &contrast;
    assert_true(class_case_loss(&nce, &once, b).time > 0);
    assert_memory_equal(a, b, total * sizeof *a);
    free(a), free(b);
    model_case_release(&nce), model_case_release(&thp);
}

int main(void)
{
    enum { MOST = 16 };
    struct CMUnitTest tests[MOST + 2];
    size_t n = 0;
    for (const struct model_class *r; n < MOST && (r = model_class_at(n)); n++)
        tests[n] = (struct CMUnitTest){r->name, test_gradient, NULL, NULL, (void *)(uintptr_t)r};
    tests[n++] = (struct CMUnitTest){"noise of nce", test_noise, NULL, NULL, NULL};
    tests[n++] = (struct CMUnitTest){"loss of nce", test_says, NULL, NULL, NULL};
    return _cmocka_run_group_tests("gradients of all classes", tests, n, NULL, NULL);
}
