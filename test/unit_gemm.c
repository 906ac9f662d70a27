/*
 * unit_gemm.c - matrix products of every level against sums in long double; an element's bits do not depend on the
 * shape it is part of, nor on the level where multiply-adds are fused. Built for both number types.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "op/gemm.h"

static const real epsilon = SMURF_REAL == 64 ? (real)0x1p-52 : (real)0x1p-23;

static real *random_reals(struct random *random, size_t n)
{
    real *x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = (real)smurf_random_uniform(random) - (real)0.5;
    return x;
}

struct product {
    int ta, tb;
    size_t m, n, k, lda, ldb, ldc;
    real alpha, beta, *a, *b, *c;
};

static struct product product_new(struct random *random, size_t m, size_t n, size_t k)
{
    struct product p = {.ta = (int)smurf_random_below(random, 2),
                        .tb = (int)smurf_random_below(random, 2),
                        .m = m,
                        .n = n,
                        .k = k,
                        .alpha = smurf_random_below(random, 2) ? 1 : (real)0.7,
                        .beta = (real)smurf_random_below(random, 3) / 2};
    size_t spare = smurf_random_below(random, 5);
    p.lda = (p.ta ? m : k) + spare;
    p.ldb = (p.tb ? k : n) + spare;
    p.ldc = n + spare;
    p.a = random_reals(random, (p.ta ? k : m) * p.lda);
    p.b = random_reals(random, (p.tb ? n : k) * p.ldb);
    p.c = random_reals(random, m * p.ldc);
    if (p.beta == 0) /* c must not be read */
        for (size_t i = 0; i < m * p.ldc; i++) p.c[i] = NAN;
    return p;
}

static void product_free(struct product *p)
{
    free(p->a), free(p->b), free(p->c);
}

static real *multiply(const struct product *p, const struct gemm_level *level, size_t from, size_t to)
{
    real *c = malloc((p->m * p->ldc + 1) * sizeof *c);
    assert_non_null(c);
    memcpy(c, p->c, p->m * p->ldc * sizeof *c);
    gemm_with(level, p->ta, p->tb, to - from, p->n, p->k, p->alpha, p->a + from * (p->ta ? 1 : p->lda), p->lda, p->b,
              p->ldb, p->beta, c + from * p->ldc, p->ldc);
    return c;
}

static void check(const struct product *p, const real *c)
{
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->n; j++) {
            long double sum = 0, size = 0;
            for (size_t e = 0; e < p->k; e++) {
                long double x = p->ta ? p->a[e * p->lda + i] : p->a[i * p->lda + e];
                long double y = p->tb ? p->b[j * p->ldb + e] : p->b[e * p->ldb + j];
                sum += x * y;
                size += fabsl(x * y);
            }
            sum *= p->alpha;
            if (p->beta != 0) sum += (long double)p->beta * p->c[i * p->ldc + j];
            assert_true(fabsl(c[i * p->ldc + j] - sum) <= (long double)epsilon * (2 + (long double)p->k) * (size + 1));
        }
        for (size_t j = p->n; j < p->ldc; j++) /* what lies beside the result stays */
            assert_memory_equal(&c[i * p->ldc + j], &p->c[i * p->ldc + j], sizeof *c);
    }
}

static bool same_bits(const struct product *p, const real *c, const real *d)
{
    for (size_t i = 0; i < p->m; i++)
        if (memcmp(c + i * p->ldc, d + i * p->ldc, p->n * sizeof *c) != 0) return false;
    return true;
}

static void check_shape(struct random *random, size_t m, size_t n, size_t k)
{
    struct product p = product_new(random, m, n, k);
    const char *name;
    real *best = multiply(&p, gemm_level(0, NULL), 0, m);
    for (size_t l = 0; gemm_level(l, &name); l++) {
        real *c = multiply(&p, gemm_level(l, NULL), 0, m);
        check(&p, c);
        if (strcmp(name, "plain") != 0) assert_true(same_bits(&p, c, best));
        free(c);
    }
    size_t cut = smurf_random_below(random, m + 1);
    real *top = multiply(&p, gemm_level(0, NULL), 0, cut), *rest = multiply(&p, gemm_level(0, NULL), cut, m);
    memcpy(top + cut * p.ldc, rest + cut * p.ldc, (m - cut) * p.ldc * sizeof *top);
    assert_true(same_bits(&p, top, best));
    free(top), free(rest), free(best);
    product_free(&p);
}

static void test_shapes(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 1, 1);
    for (int i = 0; i < 400; i++)
        check_shape(&random, smurf_random_below(&random, 40) + 1, smurf_random_below(&random, 150) + 1,
                    smurf_random_below(&random, 80) + 1);
}

static void test_edges(void **state)
{
    (void)state;
    static const size_t size[][3] = {{1, 1, 1},     {1, 1, 0},    {3, 5, 0},     {300, 1, 64},
                                     {70, 7, 300},  {5, 64, 256}, {13, 65, 257}, {6, 512, 600},
                                     {64, 64, 513}, {12, 33, 16}, {0, 4, 4}};
    struct random random;
    smurf_random_init(&random, 2, 1);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (int round = 0; round < 8; round++) check_shape(&random, size[i][0], size[i][1], size[i][2]);
}

static void test_levels(void **state)
{
    (void)state;
    const char *name = NULL;
    size_t n = 0;
    while (gemm_level(n, &name)) n++;
    assert_true(n >= 1);
    assert_true(strcmp(name, "plain") == 0 || strcmp(name, "neon") == 0); /* runs anywhere */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
