/*
 * unit_encoder_cache.c - events one at a time: the same vectors as the encoder makes of whole sequences; branches,
 * bounded histories and memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "count_malloc.h"
#include "model/encoder_cache.h"
#include "model_case.h"

/* ---- Models and what the encoder makes of them ----------------------------------------------- */

enum { LENGTH = 300 };
static const double tolerance = 2e-5;

#define COUNTS .counts = true, .count_rate = MODEL_CASE_RATES
/* The first is the paper's for StackOverflow, smaller in types; then odd heads, narrow, wide and many; with counts;
   with further columns. */
static const struct encoder_shape shapes[] = {
    {.types = 7, .width = 64, .heads = 4, .head_width = 16, .layers = 4, .inner = 256, .gap_feature = true},
    {.types = 5, .width = 12, .heads = 3, .head_width = 5, .layers = 2, .inner = 40},
    {.types = 1, .width = 6, .heads = 1, .head_width = 1, .layers = 3, .inner = 7, .gap_feature = true},
    {.types = 3, .width = 10, .heads = 7, .head_width = 3, .layers = 1, .inner = 33, .activation = ACTIVATION_RELU},
    {.types = 4,
     .width = 24,
     .heads = 5,
     .head_width = 37,
     .layers = 3,
     .inner = 50,
     .activation = ACTIVATION_RELU,
     .gap_feature = true},
    {.types = 4, .width = 32, .heads = 2, .head_width = 16, .layers = 6, .inner = 64},
    {.types = 4, .width = 16, .heads = 2, .head_width = 8, .layers = 2, .inner = 32, COUNTS},
    {.types = 90, .width = 16, .heads = 2, .head_width = 8, .layers = 2, .inner = 32, .gap_feature = true, COUNTS},
    {.types = 4,
     .width = 16,
     .heads = 2,
     .head_width = 8,
     .layers = 2,
     .inner = 32,
     COUNTS,
     .further = MODEL_CASE_FURTHER},
    {.types = 3,
     .width = 10,
     .heads = 2,
     .head_width = 4,
     .layers = 1,
     .inner = 20,
     .gap_feature = true,
     .further = MODEL_CASE_FURTHER},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A random model in float and one sequence of n events. */
struct setting {
    struct model_case c;
    float *slab, *gap;
    float *further; /* NULL: no columns */
};

static void start(struct setting *t, const struct encoder_shape *shape, size_t n)
{
    model_case_init(&t->c, shape, PARAM_SCORE, &n, 1, 11 + shape->heads);
    size_t total = t->c.model.params.total;
    t->slab = model_case_room(total, sizeof *t->slab);
    t->gap = model_case_room(n, sizeof *t->gap);
    for (size_t i = 0; i < total; i++) t->slab[i] = (float)t->c.slab[i];
    for (size_t i = 0; i < n; i++) t->gap[i] = (float)t->c.gap[i];
    size_t columns = shape->further.columns;
    t->further = columns ? model_case_room(n * columns, sizeof *t->further) : NULL;
    for (size_t i = 0; i < n * columns; i++) t->further[i] = (float)t->c.further[i];
}

static void stop(struct setting *t)
{
    free(t->slab), free(t->gap), free(t->further);
    model_case_release(&t->c);
}

/* Further columns of the events from `from` on; NULL: none. */
static const float *further_from(const struct setting *t, size_t from)
{
    return t->further ? t->further + from * t->c.model.shape.further.columns : NULL;
}

/* h (n x width) of events from .. from+n-1 as a sequence of their own, by the batched encoder. */
static float *batched(const struct setting *t, size_t from, size_t n)
{
    struct encoder_shape shape = t->c.model.shape;
    const size_t offset[] = {0, n};
    const struct op_run run = {1, 0, 0, 0, NULL};
    const struct encoder_input input = {{1, offset, NULL},     n,   t->c.type + from, t->c.time + from, t->gap + from,
                                        further_from(t, from), NULL};
    float *memory = model_case_workspace(smurf_encoder_memory_f32(&shape, n, 1), sizeof *memory);
    float *h = model_case_room(n * shape.width, sizeof *h);
    const float *out =
        smurf_encoder_forward_f32(&run, &shape, &smurf_offsets(&t->c.model)->encoder, t->slab, &input, memory);
    memcpy(h, out, n * shape.width * sizeof *h);
    free(memory);
    return h;
}

static struct encoder_cache cache_of(const struct setting *t, size_t history)
{
    struct encoder_cache cache;
    assert_int_equal(smurf_encoder_cache_init(&cache, &t->c.model, t->slab, history, NULL), SMURF_OK);
    return cache;
}

static const float *append(struct encoder_cache *cache, const struct setting *t, size_t i)
{
    const float *h = NULL;
    smurf_encoder_cache_further(cache, further_from(t, i));
    assert_int_equal(smurf_encoder_cache_append(cache, t->c.type[i], t->c.time[i], t->gap[i], &h, NULL), SMURF_OK);
    return h;
}

/* With events from .. from+n-1. */
static const float *fill(struct encoder_cache *cache, const struct setting *t, size_t from, size_t n)
{
    const float *h = NULL;
    const float *gap = t->c.model.shape.gap_feature ? t->gap + from : NULL;
    smurf_encoder_cache_further(cache, further_from(t, from));
    assert_int_equal(smurf_encoder_cache_fill(cache, t->c.type + from, t->c.time + from, gap, n, &h, NULL), SMURF_OK);
    return h;
}

/* Relative to the largest element of the row. */
static void compare(const char *what, size_t event, size_t width, const float *a, const float *b)
{
    double most = 0, size = 0;
    for (size_t k = 0; k < width; k++) {
        if (!(fabs((double)a[k] - (double)b[k]) <= most)) most = fabs((double)a[k] - (double)b[k]);
        size = fmax(size, fabs((double)b[k]));
    }
    if (!(size > 0)) fail_msg("%s: nothing at event %zu", what, event);
    if (!(most <= tolerance * size)) fail_msg("%s: event %zu differs by %g of %g", what, event, most, size);
}

/* ---- The same as the encoder ----------------------------------------------------------------- */

static void test_append(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        struct setting t;
        start(&t, &shapes[s], LENGTH);
        size_t d = shapes[s].width;
        float *h = batched(&t, 0, LENGTH);
        struct encoder_cache cache = cache_of(&t, 0);
        for (int round = 0; round < 2; round++) { /* the second time in used memory */
            for (size_t i = 0; i < LENGTH; i++) compare("append", i, d, append(&cache, &t, i), h + i * d);
            assert_int_equal(smurf_encoder_cache_seen(&cache), LENGTH);
            smurf_encoder_cache_clear(&cache);
            assert_int_equal(smurf_encoder_cache_seen(&cache), 0);
        }
        smurf_encoder_cache_release(&cache);
        free(h);
        stop(&t);
    }
}

/* A fill of every length, and some events after it. */
static void test_fill(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        struct setting t;
        start(&t, &shapes[s], LENGTH);
        size_t d = shapes[s].width, step = s == 1 ? 1 : 13; /* every length costs time */
        float *h = batched(&t, 0, LENGTH);
        struct encoder_cache cache = cache_of(&t, 0);
        assert_null(fill(&cache, &t, 0, 0));
        for (size_t n = 1; n <= LENGTH; n += step) {
            compare("fill", n - 1, d, fill(&cache, &t, 0, n), h + (n - 1) * d);
            assert_int_equal(smurf_encoder_cache_seen(&cache), n);
            for (size_t i = n; i < n + 3 && i < LENGTH; i++)
                compare("fill, then append", i, d, append(&cache, &t, i), h + i * d);
        }
        assert_null(fill(&cache, &t, 0, 0));
        compare("append after an empty fill", 0, d, append(&cache, &t, 0), h);
        smurf_encoder_cache_release(&cache);
        free(h);
        stop(&t);
    }
}

/* A fill that fits in one pass and one of several keep the same. */
static void test_fill_keeps_all(void **state)
{
    (void)state;
    struct setting t;
    start(&t, &shapes[0], LENGTH);
    size_t d = shapes[0].width;
    float *h = batched(&t, 0, LENGTH);
    static const size_t lengths[] = {1, 31, 32, 33, 63, 64, 65, 128, 129, 200};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        struct encoder_cache cache = cache_of(&t, 0);
        fill(&cache, &t, 0, lengths[k]);
        for (size_t i = lengths[k]; i < LENGTH; i++) compare("after a fill", i, d, append(&cache, &t, i), h + i * d);
        smurf_encoder_cache_release(&cache);
    }
    free(h);
    stop(&t);
}

/* ---- Branches -------------------------------------------------------------------------------- */

/* Two futures: the events as they are, and the same with other types, times and gaps from `at` on. */
static void branch(struct setting *other, const struct encoder_shape *shape, size_t at)
{
    start(other, shape, LENGTH);
    for (size_t i = at; i < LENGTH; i++) {
        other->c.type[i] = (other->c.type[i] + 1) % (uint32_t)shape->types;
        other->c.time[i] += 0.7 * (double)(i - at + 1);
        other->gap[i] = 0.4f - other->gap[i];
    }
}

static void test_copy(void **state)
{
    (void)state;
    enum { AT = 90, END = 140 };
    struct setting t, other;
    start(&t, &shapes[0], LENGTH);
    branch(&other, &shapes[0], AT);
    size_t d = shapes[0].width;
    float *h = batched(&t, 0, END), *g = batched(&other, 0, END);
    assert_memory_not_equal(h + AT * d, g + AT * d, d * sizeof *h);
    struct encoder_cache a = cache_of(&t, 0), b = cache_of(&t, 0);
    fill(&b, &other, 0, LENGTH); /* more than what comes over it */
    for (int round = 0; round < 2; round++) {
        fill(&a, &t, 0, AT);
        assert_int_equal(smurf_encoder_cache_copy(&b, &a, NULL), SMURF_OK);
        assert_int_equal(smurf_encoder_cache_seen(&b), AT);
        for (size_t i = AT; i < END; i++) { /* side by side: none disturbs the other */
            compare("original", i, d, append(&a, &t, i), h + i * d);
            compare("copy", i, d, append(&b, &other, i), g + i * d);
        }
        smurf_encoder_cache_release(&b);
        b = cache_of(&t, 0); /* then one that must grow first */
    }
    assert_int_equal(smurf_encoder_cache_copy(&a, &a, NULL), SMURF_OK);
    smurf_encoder_cache_clear(&a);
    assert_int_equal(smurf_encoder_cache_copy(&b, &a, NULL), SMURF_OK); /* an empty one */
    compare("copy of an empty one", 0, d, append(&b, &t, 0), h);
    smurf_encoder_cache_release(&a), smurf_encoder_cache_release(&b);
    free(h), free(g);
    stop(&t), stop(&other);
}

/* A copy of a ring goes on as the ring does, to the last bit. */
static void test_copy_bounded(void **state)
{
    (void)state;
    struct setting t;
    start(&t, &shapes[0], LENGTH);
    struct encoder_cache a = cache_of(&t, 45), b = cache_of(&t, 45);
    for (size_t i = 0; i < 100; i++) append(&a, &t, i);
    assert_int_equal(smurf_encoder_cache_copy(&b, &a, NULL), SMURF_OK);
    for (size_t i = 100; i < 200; i++)
        assert_memory_equal(append(&a, &t, i), append(&b, &t, i), shapes[0].width * sizeof(float));
    smurf_encoder_cache_release(&a), smurf_encoder_cache_release(&b);
    stop(&t);
}

static void test_rewind(void **state)
{
    (void)state;
    enum { AT = 61, END = 130 };
    const size_t histories[] = {0, END}; /* a bound that is not reached is none */
    const size_t shape[] = {0, SHAPES - 2, SHAPES - 1};
    for (int k = 0; k < 6; k++) {
        struct setting t, other;
        start(&t, &shapes[shape[k / 2]], LENGTH);
        branch(&other, &shapes[shape[k / 2]], AT);
        size_t d = shapes[shape[k / 2]].width;
        float *h = batched(&t, 0, END), *g = batched(&other, 0, END);
        struct encoder_cache cache = cache_of(&t, histories[k % 2]), from = cache_of(&t, histories[k % 2]);
        fill(&cache, &t, 0, AT);
        fill(&from, &t, 0, AT);
        for (int round = 0; round < 4; round++) {
            const struct setting *now = round % 2 ? &other : &t;
            for (size_t i = AT; i < END; i++)
                compare("rewind", i, d, append(&cache, now, i), (round % 2 ? g : h) + i * d);
            assert_true(smurf_encoder_cache_rewind(&cache, &from));
            assert_int_equal(smurf_encoder_cache_seen(&cache), AT);
        }
        fill(&from, &t, 0, AT + 1);
        assert_false(smurf_encoder_cache_rewind(&cache, &from));
        smurf_encoder_cache_clear(&from);
        assert_true(smurf_encoder_cache_rewind(&cache, &from));
        compare("from the start", 0, d, append(&cache, &t, 0), h);
        smurf_encoder_cache_release(&cache), smurf_encoder_cache_release(&from);
        free(h), free(g);
        stop(&t), stop(&other);
    }
}

/* Once events were forgotten there is no way back. */
static void test_rewind_bounded(void **state)
{
    (void)state;
    struct setting t;
    start(&t, &shapes[1], LENGTH);
    struct encoder_cache cache = cache_of(&t, 40), from = cache_of(&t, 40);
    fill(&cache, &t, 0, 40);
    fill(&from, &t, 0, 39);
    assert_true(smurf_encoder_cache_rewind(&cache, &from));
    append(&cache, &t, 39), append(&cache, &t, 40);
    append(&from, &t, 39);
    assert_false(smurf_encoder_cache_rewind(&cache, &from));
    append(&from, &t, 40);
    assert_true(smurf_encoder_cache_rewind(&cache, &from));
    fill(&from, &t, 0, 1);
    assert_false(smurf_encoder_cache_rewind(&cache, &from));
    assert_int_equal(smurf_encoder_cache_seen(&cache), 41);
    smurf_encoder_cache_release(&cache), smurf_encoder_cache_release(&from);
    stop(&t);
}

/* ---- Bounded histories ----------------------------------------------------------------------- */

/* Without counts, keys of a single layer depend on their own event only: the window is the encoder on its events. */
static void test_window_of_one_layer(void **state)
{
    (void)state;
    const size_t histories[] = {1, 7, 32, 50};
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t k = 0; k < sizeof histories / sizeof *histories; k++) {
            struct encoder_shape shape = shapes[s];
            struct setting t;
            shape.layers = 1;
            shape.counts = false;
            start(&t, &shape, LENGTH);
            size_t history = histories[k], d = shape.width;
            struct encoder_cache cache = cache_of(&t, history);
            for (size_t i = 0; i < LENGTH; i++) {
                const float *h = append(&cache, &t, i);
                if (i % 11 && i + 3 < LENGTH) continue;
                size_t n = i + 1 < history ? i + 1 : history;
                float *alone = batched(&t, i + 1 - n, n);
                compare("window", i, d, h, alone + (n - 1) * d);
                free(alone);
            }
            smurf_encoder_cache_release(&cache);
            stop(&t);
        }
}

/* With one event in sight attention is to the event itself, in any number of layers. */
static void test_window_of_one_event(void **state)
{
    (void)state;
    struct setting t;
    start(&t, &shapes[0], LENGTH);
    struct encoder_cache cache = cache_of(&t, 1);
    for (size_t i = 0; i < 100; i++) {
        float *alone = batched(&t, i, 1);
        compare("one event", i, shapes[0].width, append(&cache, &t, i), alone);
        free(alone);
    }
    smurf_encoder_cache_release(&cache);
    stop(&t);
}

/* Deep windows: exact until the first event is forgotten. After that the last of layers * (history - 1) events back
   still leaves a trace, and the one before it none. */
static void test_window_of_layers(void **state)
{
    (void)state;
    enum { HISTORY = 20, LAYERS = 2, END = 100 };
    struct setting t, other;
    struct encoder_shape shape = shapes[1];
    assert_int_equal(shape.layers, LAYERS);
    start(&t, &shape, LENGTH);
    float *h = batched(&t, 0, LENGTH);
    const size_t first = END - 1 - LAYERS * (HISTORY - 1);
    for (int far = 0; far < 2; far++) {
        start(&other, &shape, LENGTH);
        size_t changed = far ? first - 1 : first;
        other.c.type[changed] = (other.c.type[changed] + 1) % (uint32_t)shape.types;
        struct encoder_cache a = cache_of(&t, HISTORY), b = cache_of(&t, HISTORY);
        const float *x = NULL, *y = NULL;
        for (size_t i = 0; i < END; i++) {
            x = append(&a, &t, i), y = append(&b, &other, i);
            for (size_t k = 0; k < shape.width; k++) assert_true(isfinite(x[k]));
            if (i < HISTORY) compare("before the bound", i, shape.width, x, h + i * shape.width);
        }
        assert_int_equal(memcmp(x, y, shape.width * sizeof *x) == 0, far);
        smurf_encoder_cache_release(&a), smurf_encoder_cache_release(&b);
        stop(&other);
    }
    free(h);
    stop(&t);
}

/* A fill beyond the bound is the encoder on the last events. */
static void test_fill_bounded(void **state)
{
    (void)state;
    enum { HISTORY = 70 };
    struct setting t;
    start(&t, &shapes[0], LENGTH);
    size_t d = shapes[0].width;
    struct encoder_cache cache = cache_of(&t, HISTORY), whole = cache_of(&t, HISTORY);
    float *h = batched(&t, LENGTH - HISTORY, HISTORY);
    compare("fill", LENGTH, d, fill(&cache, &t, 0, LENGTH), h + (HISTORY - 1) * d);
    assert_int_equal(smurf_encoder_cache_seen(&cache), HISTORY);
    fill(&whole, &t, LENGTH - HISTORY, HISTORY);
    for (size_t i = 0; i < 100; i++) assert_memory_equal(append(&cache, &t, i), append(&whole, &t, i), d * sizeof *h);
    smurf_encoder_cache_release(&cache), smurf_encoder_cache_release(&whole);
    free(h);
    stop(&t);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_growth(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    struct encoder_shape shape = shapes[1];
    struct setting t;
    start(&t, &shape, MANY);
    struct encoder_cache cache = cache_of(&t, 0), filled = cache_of(&t, 0);
    float *h = batched(&t, 0, MANY);
    for (size_t i = 0; i < MANY; i++) compare("growing", i, shape.width, append(&cache, &t, i), h + i * shape.width);
    compare("large fill", MANY - 1, shape.width, fill(&filled, &t, 0, MANY), h + (MANY - 1) * shape.width);
    assert_true(cache.slots < 2 * MANY + 64);
    smurf_encoder_cache_release(&cache), smurf_encoder_cache_release(&filled);
    free(h);
    stop(&t);
}

/* A bounded cache takes no more than its bound; appending to a cache that once was as long takes nothing. */
static void test_append_allocates_nothing(void **state)
{
    (void)state;
    struct setting t;
    start(&t, &shapes[0], LENGTH);
    const size_t histories[] = {0, 50};
    for (int k = 0; k < 2; k++) {
        struct encoder_cache cache = cache_of(&t, histories[k]);
        for (size_t i = 0; i < LENGTH; i++) append(&cache, &t, i);
        size_t slots = cache.slots;
        if (histories[k]) assert_true(slots <= 64);
        struct encoder_cache copy = cache_of(&t, histories[k]);
        assert_int_equal(smurf_encoder_cache_copy(&copy, &cache, NULL), SMURF_OK);
        const float *h;
        smurf_encoder_cache_clear(&cache);
        size_t failed = 0;
        atomic_store(&allocations, 0);
        atomic_store(&counting, true);
        for (size_t i = 0; i < LENGTH; i++)
            failed += smurf_encoder_cache_append(&cache, t.c.type[i], t.c.time[i], t.gap[i], &h, NULL) != SMURF_OK;
        failed += smurf_encoder_cache_copy(&copy, &cache, NULL) != SMURF_OK;
        atomic_store(&counting, false);
        assert_int_equal(failed, 0);
        assert_int_equal(atomic_load(&allocations), 0);
        assert_int_equal(cache.slots, slots);
        smurf_encoder_cache_release(&cache), smurf_encoder_cache_release(&copy);
    }
    stop(&t);
#ifndef CAN_COUNT
    skip();
#endif
}

/* ---- What can go wrong ----------------------------------------------------------------------- */

/* Errors leave the cache as it was. */
static void test_errors(void **state)
{
    (void)state;
    struct setting t, other;
    smurf_error err;
    const float *h = NULL;
    start(&t, &shapes[0], LENGTH), start(&other, &shapes[1], 2);
    struct encoder_cache cache = cache_of(&t, 0), strange = cache_of(&other, 0), bounded = cache_of(&t, 9);
    fill(&cache, &t, 0, 20);
    assert_int_equal(smurf_encoder_cache_append(&cache, 8, 1, 0, &h, &err), SMURF_ERROR_ARGUMENT);
    assert_string_equal(err.message, "type 8 is not one of the model's 7");
    assert_int_equal(smurf_encoder_cache_append(&cache, 0, NAN, 0, &h, &err), SMURF_ERROR_ARGUMENT);
    assert_string_equal(err.message, "time nan is not finite");
    const uint32_t type[] = {0, 8};
    const double time[] = {1, 2};
    assert_int_equal(smurf_encoder_cache_fill(&cache, type, time, t.gap, 2, &h, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_encoder_cache_copy(&cache, &strange, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_encoder_cache_copy(&cache, &bounded, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_encoder_cache_seen(&cache), 20);
    float *whole = batched(&t, 0, 21);
    compare("after errors", 20, shapes[0].width, append(&cache, &t, 20), whole + 20 * shapes[0].width);
    smurf_encoder_cache_release(&cache), smurf_encoder_cache_release(&strange), smurf_encoder_cache_release(&bounded);
    smurf_encoder_cache_release(&cache); /* all zero by now */
    free(whole);
    stop(&t), stop(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_fill_keeps_all),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_copy_bounded),
        cmocka_unit_test(test_rewind),
        cmocka_unit_test(test_rewind_bounded),
        cmocka_unit_test(test_window_of_one_layer),
        cmocka_unit_test(test_window_of_one_event),
        cmocka_unit_test(test_window_of_layers),
        cmocka_unit_test(test_fill_bounded),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_append_allocates_nothing),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("encoder, event by event", tests, NULL, NULL);
}
