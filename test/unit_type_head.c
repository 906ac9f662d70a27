/*
 * unit_type_head.c - the cross-entropy of types in float, as training has it: many types at one point, points that only
 * fill up a vector, and numbers that are not finite. Against the formula in double.
 */
#include "op/type_head.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { TYPES_MOST = 300, ALL_MOST = 32 };

struct type_case {
    size_t types, all, n;
    uint32_t target;
    double smoothing;
};

static void fill(const struct type_case *c, float *logits)
{
    for (size_t i = 0; i < c->types * c->all; i++) logits[i] = (float)(sin(1.7 * (double)i) * 4);
}

/* The loss at point i, and its gradient by the logits. */
static double formula(const struct type_case *c, const float *logits, size_t i, double *gradient)
{
    double sum = 0, most = -INFINITY, loss = 0, other = c->smoothing / (double)c->types;
    double mass = c->smoothing > 0 ? 1 - other : 1;
    for (size_t k = 0; k < c->types; k++) most = fmax(most, (double)logits[k * c->all + i]);
    for (size_t k = 0; k < c->types; k++) sum += exp((double)logits[k * c->all + i] - most);
    for (size_t k = 0; k < c->types; k++) {
        double x = (double)logits[k * c->all + i], target = k == c->target ? 1 - c->smoothing : other;
        loss -= target * (x - most - log(sum));
        gradient[k] = (mass * exp(x - most) / sum - target) / (double)c->n;
    }
    return loss / (double)c->n;
}

static void check(struct type_case c)
{
    static float logits[TYPES_MOST * ALL_MOST], before[TYPES_MOST * ALL_MOST];
    double right, loss = 0, gradient[TYPES_MOST];
    fill(&c, logits);
    memcpy(before, logits, sizeof before);
    double found = smurf_type_head_loss_f32(c.types, c.all, c.n, c.target, c.smoothing, 1, logits, &right);
    for (size_t i = 0; i < c.all; i++) {
        if (i < c.n) loss += formula(&c, before, i, gradient);
        for (size_t k = 0; k < c.types; k++) {
            double want = i < c.n ? gradient[k] : 0;
            assert_true(fabs((double)logits[k * c.all + i] - want) <= (i < c.n ? 1e-6 : 0));
        }
    }
    assert_true(fabs(found - loss) < 1e-5 * fabs(loss));
}

static void test_points(void **state)
{
    (void)state;
    for (size_t all = 1; all <= ALL_MOST; all++)
        for (size_t n = 1; n <= all; n += 3) {
            check((struct type_case){22, all, n, 3, 0});
            check((struct type_case){22, all, n, 21, 0.1});
        }
}

static void test_many_types_at_one_point(void **state)
{
    (void)state;
    assert_true((int)TYPES_MOST >= (int)TYPES_MANY);
    check((struct type_case){TYPES_MOST, 1, 1, 299, 0});
    check((struct type_case){TYPES_MOST, 1, 1, 7, 0.1});
    check((struct type_case){TYPES_MOST, 16, 9, 7, 0.1});
}

/* Whichever type it is of, a logit that is no number makes the loss none. */
static void test_nan_is_seen(void **state)
{
    (void)state;
    static const struct type_case cases[] = {{22, 16, 9, 3, 0}, {TYPES_MOST, 1, 1, 3, 0}};
    for (size_t j = 0; j < 2; j++)
        for (size_t k = 0; k < cases[j].types; k++) {
            static float logits[TYPES_MOST * ALL_MOST];
            double right;
            fill(&cases[j], logits);
            logits[k * cases[j].all] = NAN;
            assert_true(isnan(smurf_type_head_loss_f32(cases[j].types, cases[j].all, cases[j].n, cases[j].target, 0, 1,
                                                       logits, &right)));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_many_types_at_one_point),
        cmocka_unit_test(test_nan_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
