/*
 * unit_attention.c - attention and dropout masks against plain loops in double; gradients against finite
 * differences; what must not change a bit: threads, and rows to come. Built once for each SMURF_REAL.
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
#include "op/attention.h"
#include "op/gemm.h"
#include "op/dropout.h"

#if SMURF_REAL == 64
static const double tolerance = 1e-12;
#else
static const double tolerance = 1e-5;
#endif

static void *reserve(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) fail_msg("out of memory");
    return p;
}

static real *random_reals(uint64_t seed, size_t n)
{
    struct random random;
    smurf_random_init(&random, seed, 0);
    real *x = reserve(n, sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = (real)smurf_random_normal(&random);
    return x;
}

/* ---- Masks ----------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The factor of one element, as dropout.c describes it. */
static double plain_factor(const struct op_run *run, struct op_dropout dropout, uint64_t element)
{
    uint32_t word[4];
    smurf_philox(word, run->seed, mix(mix(run->step) + dropout.place), element / 8);
    uint32_t half = element & 1 ? word[element % 8 / 2] >> 16 : word[element % 8 / 2] & 0xffff;
    double threshold = fmin(round(dropout.rate * 65536), 65535);
    return half < threshold ? 0 : 1 / (1 - threshold / 65536);
}

static void test_factors(void **state)
{
    (void)state;
    static const uint64_t firsts[] = {0, 8, 800, ((uint64_t)1 << 35) - 24, (uint64_t)1 << 60};
    static const double rates[] = {0, 1e-5, 0.1, 0.5, 0.9, 0.99999999};
    struct op_run run = {1, 0x123456789abcdef0u, 77, 0, NULL};
    real out[320];
    for (size_t f = 0; f < 5; f++)
        for (size_t r = 0; r < 6; r++)
            for (size_t n = 0; n <= 300; n += n < 40 ? 1 : 37) {
                struct op_dropout dropout = {rates[r], 3 + f};
                for (size_t i = 0; i < 320; i++) out[i] = -1;
                dropout_factors(&run, dropout, firsts[f], out, n);
                for (size_t i = 0; i < 320; i++)
                    if (out[i] != (i < n ? (real)plain_factor(&run, dropout, firsts[f] + i) : -1))
                        fail_msg("rate %g, %zu factors from %llu: factor %zu is %g", rates[r], n,
                                 (unsigned long long)firsts[f], i, (double)out[i]);
            }
}

static void test_tile(void **state)
{
    (void)state;
    struct op_run run = {1, 5, 6, 0, NULL};
    struct op_dropout dropout = {0.3, 9};
    enum { LD = 83 };
    for (size_t rows = 1; rows <= 9; rows++)
        for (size_t columns = 1; columns <= LD; columns++) {
            real tile[9 * LD + 1], row[LD];
            for (size_t i = 0; i < 9 * LD + 1; i++) tile[i] = -1;
            dropout_tile(&run, dropout, 4096, 1 << 20, rows, columns, tile, LD);
            for (size_t r = 0; r < rows; r++) {
                dropout_factors(&run, dropout, 4096 + (r << 20), row, columns);
                assert_memory_equal(tile + r * LD, row, columns * sizeof *row);
                assert_true(columns == LD || tile[r * LD + columns] == -1);
            }
            assert_true(tile[rows * LD] == -1);
        }
}

/* The share of dropped elements is the rate; masks of other seeds, steps and places agree with it by chance
 * only. */
static void test_mask_statistics(void **state)
{
    (void)state;
    enum { N = 400000 };
    static const struct op_run runs[] = {
        {1, 1, 1, 0, NULL}, {1, 2, 1, 0, NULL}, {1, 1, 2, 0, NULL}, {1, 1, 1, 0, NULL}, {1, 1, 0, 0, NULL}};
    static const uint64_t places[] = {1, 1, 1, 2, 2};
    const double rate = 0.2;
    real *mask[5];
    for (int m = 0; m < 5; m++) {
        mask[m] = reserve(N, sizeof(real));
        dropout_factors(&runs[m], (struct op_dropout){rate, places[m]}, 0, mask[m], N);
        double mean = 0, both = 0;
        for (size_t i = 0; i < N; i++) {
            mean += (double)mask[m][i] / N;
            both += (double)(mask[m][i] == 0 && mask[0][i] == 0) / N;
        }
        assert_true(fabs(mean - 1) < 5 * sqrt(rate / (1 - rate) / N));
        double chance = m ? rate * rate : rate;
        assert_true(fabs(both - chance) < 5 * sqrt(chance * (1 - chance) / N));
    }
    for (int m = 0; m < 5; m++) free(mask[m]);
}

/* ---- Attention by plain loops ------------------------------------------------------------------------ */

enum { OUT, LSE, DQ, DK, DV, RESULTS };
static const char *const result_name[RESULTS] = {"out", "lse", "dq", "dk", "dv"};

/* Inputs of a batch of packed sequences and, from the ops, their results; each (rows x heads*width), lse
 * (rows x heads). */
struct batch {
    struct op_run run;
    struct op_rows rows;
    struct op_dropout dropout;
    size_t heads, width, n, size, *offset;
    real *q, *k, *v, *dout, *result[RESULTS];
};

static struct batch batch_new(size_t sequences, const size_t *length, size_t heads, size_t width, double rate)
{
    struct batch b = {
        .run = {.threads = 1, .seed = 42, .step = 7}, .dropout = {rate, 5}, .heads = heads, .width = width};
    b.offset = reserve(sequences + 1, sizeof *b.offset);
    for (size_t s = 0; s < sequences; s++) b.offset[s + 1] = b.offset[s] + length[s];
    b.rows = (struct op_rows){sequences, b.offset, NULL};
    b.n = b.offset[sequences];
    b.size = b.n * heads * width;
    b.q = random_reals(1, b.size), b.k = random_reals(2, b.size), b.v = random_reals(3, b.size);
    b.dout = random_reals(4, b.size);
    for (int i = 0; i < RESULTS; i++) b.result[i] = random_reals(5, i == LSE ? b.n * heads : b.size);
    return b;
}

static void batch_free(struct batch *b)
{
    free(b->offset), free(b->q), free(b->k), free(b->v), free(b->dout);
    for (int i = 0; i < RESULTS; i++) free(b->result[i]);
}

static void run_forward(struct batch *b)
{
    real *scratch = reserve(attention_scratch(b->heads, b->width, b->run.threads), sizeof *scratch);
    attention_forward(&b->run, &b->rows, b->heads, b->width, b->dropout, b->q, b->k, b->v, b->result[OUT],
                      b->result[LSE], scratch);
    free(scratch);
}

static void run_backward(struct batch *b)
{
    real *scratch = reserve(attention_scratch(b->heads, b->width, b->run.threads), sizeof *scratch);
    real *delta = reserve(b->n * b->heads, sizeof *delta);
    attention_backward(&b->run, &b->rows, b->heads, b->width, b->dropout, b->q, b->k, b->v, b->result[OUT],
                       b->result[LSE], b->dout, b->result[DQ], b->result[DK], b->result[DV], delta, scratch);
    free(scratch), free(delta);
}

static double dot(const real *x, const real *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

/* p (n): the weights of row i on the rows start .. i of its sequence, and m their mask. Returns lse. */
static double plain_weights(const struct batch *b, size_t start, size_t i, size_t h, double *p, double *m)
{
    size_t ld = b->heads * b->width, n = i - start + 1;
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < n; j++) {
        const real *q = b->q + i * ld + h * b->width, *k = b->k + (start + j) * ld + h * b->width;
        p[j] = dot(q, k, b->width) / sqrt((double)b->width);
        most = fmax(most, p[j]);
        uint64_t element = ((uint64_t)(i * b->heads + h) << 24) + j;
        m[j] = b->dropout.rate > 0 ? plain_factor(&b->run, b->dropout, element) : 1;
    }
    for (size_t j = 0; j < n; j++) sum += p[j] = exp(p[j] - most);
    for (size_t j = 0; j < n; j++) p[j] /= sum;
    return most + log(sum);
}

/* Row i of head h: its out and lse, its share of the gradients. want: as batch.result, in double. */
static void plain_row(const struct batch *b, size_t start, size_t i, size_t h, double *p, double *m, double **want)
{
    size_t ld = b->heads * b->width, at = i * ld + h * b->width, n = i - start + 1;
    double scale = 1 / sqrt((double)b->width), delta = 0;
    want[LSE][i * b->heads + h] = plain_weights(b, start, i, h, p, m);
    for (size_t j = 0; j < n; j++) {
        size_t to = (start + j) * ld + h * b->width;
        delta += p[j] * m[j] * dot(b->dout + at, b->v + to, b->width);
    }
    for (size_t j = 0; j < n; j++) {
        size_t to = (start + j) * ld + h * b->width;
        double ds = p[j] * (m[j] * dot(b->dout + at, b->v + to, b->width) - delta) * scale;
        for (size_t d = 0; d < b->width; d++) {
            want[OUT][at + d] += p[j] * m[j] * (double)b->v[to + d];
            want[DV][to + d] += p[j] * m[j] * (double)b->dout[at + d];
            want[DQ][at + d] += ds * (double)b->k[to + d];
            want[DK][to + d] += ds * (double)b->q[at + d];
        }
    }
}

static void compare(const struct batch *b, double **want)
{
    for (int i = 0; i < RESULTS; i++) {
        size_t n = i == LSE ? b->n * b->heads : b->size;
        double most = 1;
        for (size_t e = 0; e < n; e++) most = fmax(most, fabs(want[i][e]));
        for (size_t e = 0; e < n; e++)
            if (!(fabs((double)b->result[i][e] - want[i][e]) <= tolerance * most))
                fail_msg("%zu rows, %zu heads, width %zu, rate %g: %s[%zu] is %.17g instead of %.17g", b->n, b->heads,
                         b->width, b->dropout.rate, result_name[i], e, (double)b->result[i][e], want[i][e]);
    }
}

static void check_batch(size_t sequences, const size_t *length, size_t heads, size_t width, double rate)
{
    struct batch b = batch_new(sequences, length, heads, width, rate);
    run_forward(&b);
    run_backward(&b);
    double *want[RESULTS], *p = reserve(b.n, sizeof *p), *m = reserve(b.n, sizeof *m);
    for (int i = 0; i < RESULTS; i++) want[i] = reserve(i == LSE ? b.n * heads : b.size, sizeof(double));
    for (size_t s = 0; s < sequences; s++)
        for (size_t i = b.offset[s]; i < b.offset[s + 1]; i++)
            for (size_t h = 0; h < heads; h++) plain_row(&b, b.offset[s], i, h, p, m, want);
    compare(&b, want);
    for (int i = 0; i < RESULTS; i++) free(want[i]);
    free(p), free(m);
    batch_free(&b);
}

static void test_short(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 70; n++) {
        check_batch(1, &n, 2, 5, 0);
        check_batch(1, &n, 1, 16, 0.3);
        check_batch(1, &n, 1, 33, n % 2 ? 0.1 : 0);
    }
}

static void test_long(void **state)
{
    (void)state;
    static const size_t lengths[] = {95,  96,  97,  128, 143, 144, 145, 239, 240,
                                     241, 255, 256, 287, 288, 289, 480, 481, 700};
    static const size_t widths[] = {4, 16, 20, 64, 7};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_batch(1, lengths + i, 1, widths[i % 5], 0);
        check_batch(1, lengths + i, 1, widths[(i + 3) % 5], 0.1);
    }
}

static void test_packed(void **state)
{
    (void)state;
    static const size_t lengths[] = {3, 0, 1, 50, 0, 241, 17, 48};
    static const size_t shapes[][2] = {{1, 4}, {3, 5}, {4, 16}, {2, 31}, {2, 32}, {2, 33}, {1, 128}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_batch(8, lengths, shapes[i][0], shapes[i][1], 0);
        check_batch(8, lengths, shapes[i][0], shapes[i][1], 0.5);
    }
    check_batch(0, lengths, 2, 4, 0);
}

/* ---- Gradients by finite differences ------------------------------------------------------------------- */

#if SMURF_REAL == 64
/* Largest |difference quotient - gradient| of sum(out * dout) over the elements of x. */
static double worst_quotient(struct batch *b, real *x, const real *gradient)
{
    const double step = 1e-5;
    double worst = 0;
    for (size_t e = 0; e < b->size; e++) {
        double kept = x[e], loss[2];
        for (int side = 0; side < 2; side++) {
            x[e] = kept + (side ? step : -step);
            run_forward(b);
            loss[side] = dot(b->result[OUT], b->dout, b->size);
        }
        x[e] = kept;
        worst = fmax(worst, fabs((loss[1] - loss[0]) / (2 * step) - gradient[e]));
    }
    return worst;
}

static void check_gradients(size_t sequences, const size_t *length, size_t heads, size_t width, double rate)
{
    struct batch b = batch_new(sequences, length, heads, width, rate);
    real *x[] = {b.q, b.k, b.v};
    run_forward(&b);
    run_backward(&b);
    for (int i = 0; i < 3; i++) {
        double most = 0;
        for (size_t e = 0; e < b.size; e++) most = fmax(most, fabs(b.result[DQ + i][e]));
        assert_true(most > 0.01);
        double worst = worst_quotient(&b, x[i], b.result[DQ + i]);
        if (!(worst < 1e-7 * most))
            fail_msg("%s, width %zu, rate %g: off by %g of %g", result_name[DQ + i], width, rate, worst, most);
    }
    batch_free(&b);
}

static void test_gradients(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 0, 2, 9, 30}, border[] = {50};
    check_gradients(5, lengths, 2, 5, 0);
    check_gradients(5, lengths, 2, 5, 0.3);
    check_gradients(5, lengths, 1, 8, 0.1);
    check_gradients(1, border, 1, 4, 0.2);
    check_gradients(2, lengths + 3, 1, 33, 0.2);
}
#endif

/* ---- What must not change a bit --------------------------------------------------------------------------
 */

static void test_threads(void **state)
{
    (void)state;
    static const size_t lengths[] = {120, 3, 77, 250, 0, 31, 60, 1};
    static const int threads[] = {1, 2, 5};
    static const size_t widths[] = {16, 40};
    for (size_t w = 0; w < 2; w++) {
        struct batch b[3];
        for (int t = 0; t < 3; t++) {
            b[t] = batch_new(8, lengths, 3, widths[w], 0.1);
            b[t].run.threads = threads[t];
            run_forward(&b[t]);
            run_backward(&b[t]);
            for (int i = 0; i < RESULTS; i++)
                assert_memory_equal(b[t].result[i], b[0].result[i], (i == LSE ? b[0].n * 3 : b[0].size) * sizeof(real));
        }
        for (int t = 0; t < 3; t++) batch_free(&b[t]);
    }
}

/* Rows after i take other values: out and lse of rows up to i stay the same bits. */
static void test_causal(void **state)
{
    (void)state;
    static const size_t last[] = {0, 1, 14, 15, 16, 46, 47, 48, 100, 238, 239, 240, 298}, n = 300;
    for (size_t t = 0; t < 26; t++) {
        size_t i = last[t % 13], width = t < 13 ? 16 : 40;
        struct batch a = batch_new(1, &n, 1, width, 0.1), b = batch_new(1, &n, 1, width, 0.1);
        real *x[] = {b.q, b.k, b.v};
        for (int which = 0; which < 3; which++)
            for (size_t e = (i + 1) * width; e < b.size; e++) x[which][e] = 30 - 5 * x[which][e];
        run_forward(&a);
        run_forward(&b);
        assert_memory_equal(a.result[OUT], b.result[OUT], (i + 1) * width * sizeof(real));
        assert_memory_equal(a.result[LSE], b.result[LSE], (i + 1) * sizeof(real));
        assert_memory_not_equal(a.result[OUT] + (i + 1) * width, b.result[OUT] + (i + 1) * width, sizeof(real));
        batch_free(&a);
        batch_free(&b);
    }
}

/* ---- Extremes ------------------------------------------------------------------------------------------ */

/* Scores of about +-1e4: all finite, and each row of out within the range of v. */
static void test_large_scores(void **state)
{
    (void)state;
    static const size_t n = 300, widths[] = {16, 64};
    for (size_t w = 0; w < 2; w++) {
        struct batch b = batch_new(1, &n, 1, widths[w], 0);
        for (size_t e = 0; e < b.size; e++) b.q[e] *= 100, b.k[e] *= 100;
        run_forward(&b);
        run_backward(&b);
        double most = 0, least = 0;
        for (size_t e = 0; e < n; e++) {
            most = fmax(most, (double)b.result[LSE][e]);
            least = fmin(least, (double)b.result[LSE][e]);
        }
        assert_true(most > 1e4 && least > -1e6);
        for (int i = 0; i < RESULTS; i++)
            for (size_t e = 0; e < (i == LSE ? n : b.size); e++) assert_true(isfinite((double)b.result[i][e]));
        for (size_t e = 0; e < b.size; e++) assert_true(fabs((double)b.result[OUT][e]) < 6);
        batch_free(&b);
    }
}

/* 20,000 rows need no more scratch than 10; the last row is right. */
static void test_very_long(void **state)
{
    (void)state;
    assert_true(attention_scratch(8, 128, 1) <= 1 << 17);
    assert_true(attention_scratch(8, 128, 5) == 5 * attention_scratch(8, 128, 1));
    const size_t n = 20000;
    struct batch b = batch_new(1, &n, 1, 4, 0);
    run_forward(&b);
    double *p = reserve(n, sizeof *p), *m = reserve(n, sizeof *m), out = 0;
    double lse = plain_weights(&b, 0, n - 1, 0, p, m);
    for (size_t j = 0; j < n; j++) out += p[j] * (double)b.v[j * 4];
    assert_true(fabs((double)b.result[LSE][n - 1] - lse) < 10 * tolerance);
    assert_true(fabs((double)b.result[OUT][(n - 1) * 4] - out) < 10 * tolerance);
    free(p), free(m);
    batch_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_tile),
        cmocka_unit_test(test_mask_statistics),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_packed),
#if SMURF_REAL == 64
        cmocka_unit_test(test_gradients),
#endif
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_causal),
        cmocka_unit_test(test_large_scores),
        cmocka_unit_test(test_very_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
