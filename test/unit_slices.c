/*
 * unit_slices.c - batches cut into slices: the cut, the tree, and gradients that do not depend on who does the work.
 */
#include "train_case.h"

#include "base/random.h"
#include "data/data.h"

/* ---- The tree ------------------------------------------------------------------------------------ */

enum { LEAVES = 64, WIDTH = 5 };

/* S(node) by its definition, from the leaves that exist; false: none does. */
static bool by_definition(const bool exists[LEAVES], float leaf[LEAVES][WIDTH], size_t node, float sum[WIDTH])
{
    float right[WIDTH];
    if (node >= LEAVES) {
        memcpy(sum, leaf[node - LEAVES], WIDTH * sizeof *sum);
        return exists[node - LEAVES];
    }
    bool has = by_definition(exists, leaf, 2 * node, sum), more = by_definition(exists, leaf, 2 * node + 1, right);
    for (int k = 0; k < WIDTH && more; k++) sum[k] = has ? sum[k] + right[k] : right[k];
    return has || more;
}

/* The nodes at or below `node` that are wholly within leaves first .. last-1, as an owner of these would hand them on.
 */
static size_t owned(const bool exists[LEAVES], float leaf[LEAVES][WIDTH], size_t node, size_t first, size_t last,
                    float (*room)[WIDTH], struct tree_part *part)
{
    size_t from = node, to = node + 1;
    while (from < LEAVES) from *= 2, to *= 2;
    from -= LEAVES, to -= LEAVES;
    if (to <= first || from >= last) return 0;
    if (from >= first && to <= last) {
        if (!by_definition(exists, leaf, node, *room)) return 0;
        *part = (struct tree_part){node, *room, {.time = (double)(*room)[0], .gaps = 1}};
        return 1;
    }
    size_t n = owned(exists, leaf, 2 * node, first, last, room, part);
    return n + owned(exists, leaf, 2 * node + 1, first, last, room + n, part + n);
}

/* Any owners of ranges of leaves, 1 to 7 of them, end up with the same bits. */
static void test_any_owner(void **state)
{
    (void)state;
    struct random random;
    smurf_random_init(&random, 1, 1);
    for (int round = 0; round < 300; round++) {
        bool exists[LEAVES] = {false};
        float leaf[LEAVES][WIDTH], expected[WIDTH], room[2 * LEAVES][WIDTH];
        exists[smurf_random_below(&random, LEAVES)] = true;
        for (int l = 0; l < LEAVES; l++) {
            if (smurf_random_below(&random, 64) < (size_t)round % 64) exists[l] = true;
            for (int k = 0; k < WIDTH; k++)
                leaf[l][k] = (float)(smurf_random_normal(&random) * exp(9 * smurf_random_normal(&random)));
        }
        assert_true(by_definition(exists, leaf, 1, expected));
        for (size_t owners = 1; owners < 8; owners++) {
            struct tree_part part[2 * LEAVES];
            size_t n = 0;
            for (size_t r = 0; r < owners; r++)
                n += owned(exists, leaf, 1, LEAVES * r / owners, LEAVES * (r + 1) / owners, room + n, part + n);
            struct loss loss = smurf_tree_loss(part, n);
            assert_int_equal(loss.gaps, n);
            smurf_tree_sum(part, n, 0, 2); /* chunk by chunk */
            smurf_tree_sum(part, n, 2, WIDTH);
            assert_memory_equal(part->slab, expected, sizeof expected);
        }
    }
    assert_int_equal(smurf_tree_loss(NULL, 0).gaps, 0);
}

/* ---- The cut ------------------------------------------------------------------------------------- */

static size_t depth(size_t node)
{
    size_t d = 0;
    while (node >>= 1) d++;
    return d;
}

/* Sequences are in the slice of their leaf, each once; nodes are disjoint and ordered; slices are of whole sequences,
   and as large as they may be. */
static void check_cut(const struct slices *s, const struct feed *f, size_t index)
{
    size_t first, last, members = 0;
    smurf_feed_members(f, index, &first, &last);
    unsigned char *seen = calloc(f->sequences, 1);
    for (size_t i = 0; i < s->count; i++) {
        const struct slice *slice = &s->slice[i];
        size_t rows = 0, leaf = slice->node >> (depth(slice->node) - depth(s->leaves));
        assert_int_equal(slice->first, members);
        for (size_t k = 0; k < slice->members; k++) {
            size_t q = s->member[members++];
            assert_int_equal(seen[q]++, 0);
            assert_int_equal(leaf, s->leaves + q % SHARDS * s->leaves / SHARDS);
            rows += f->offset[q + 1] - f->offset[q];
        }
        assert_int_equal(rows, slice->rows);
        assert_true(rows <= s->longest && (rows <= s->rows || slice->members == 1));
        for (size_t k = 0; k < i; k++) {
            size_t a = s->slice[k].node, b = slice->node, x = depth(a), y = depth(b);
            if (x < y) b >>= y - x;
            if (y < x) a >>= x - y;
            assert_true(a < b);
        }
    }
    assert_int_equal(members, last - first);
    for (size_t i = first; i < last; i++) assert_int_equal(seen[f->order[i]], 1);
    free(seen);
}

static void test_cut(void **state)
{
    (void)state;
    static const struct {
        size_t sequences, events, batch, leaves;
    } shapes[] = {{300, 4, 4, 1},     {300, 4, 64, 4}, {300, 40, 16, 8},
                  {100, 80, 100, 64}, {1, 500, 4, 4},  {7, 200, 64, 16}};
    struct view view = {
        .feature = {.kind = SMURF_SCALE_LOG, .mean = 1, .sd = 1}, .scale = {.mean = 1, .sd = 1}, .clock_unit = 1};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        struct feed f;
        struct slices s;
        smurf_data *data = simulate("poisson", 2, shapes[k].sequences, shapes[k].events, 1);
        assert_int_equal(smurf_feed_init(&f, data, "train", &view, shapes[k].batch, false, NULL), SMURF_OK);
        assert_int_equal(smurf_slices_init(&s, &f, 1000, NULL), SMURF_OK);
        assert_int_equal(s.leaves, shapes[k].leaves);
        smurf_feed_shuffle(&f, 1, 1);
        for (size_t b = 0; b < smurf_feed_batches(&f); b++) {
            smurf_slices_cut(&s, &f, b);
            check_cut(&s, &f, b);
        }
        smurf_slices_release(&s);
        assert_int_equal(smurf_slices_init(&s, &f, 3000000, NULL), SMURF_OK); /* a slab of 12 MB */
        assert_int_equal(s.rows, 384);
        smurf_slices_cut(&s, &f, 0);
        check_cut(&s, &f, 0);
        smurf_slices_release(&s);
        smurf_feed_release(&f);
        smurf_data_free(data);
    }
}

/* ---- Steps --------------------------------------------------------------------------------------- */

/* The state after some steps and a look at dev. */
static smurf_trainer *trained(const char *settings, int threads, const smurf_data *train, const smurf_data *dev,
                              int steps, struct loss *judged)
{
    smurf_trainer *t = trainer_of(settings, threads, train, dev);
    smurf_error err;
    double loss;
    int last = 0;
    for (int i = 0; i < steps && !last; i++)
        if (smurf_trainer_step(t, &loss, &last, &err)) fail_msg("%s", err.message);
    const struct op_run run = {.threads = threads, .seed = 1};
    *judged = smurf_train_step_dev(&t->step, &run, t->step.slab[SLAB_WEIGHT], &t->dev);
    return t;
}

static void same(const smurf_trainer *a, const smurf_trainer *b)
{
    size_t bytes = a->frame->model.params.total * sizeof(float);
    assert_memory_equal(a->step.slab[SLAB_WEIGHT], b->step.slab[SLAB_WEIGHT], bytes);
    assert_memory_equal(a->step.slab[SLAB_MOMENT1], b->step.slab[SLAB_MOMENT1], bytes);
    assert_memory_equal(a->step.slab[SLAB_MOMENT2], b->step.slab[SLAB_MOMENT2], bytes);
    assert_memory_equal(a->step.slab[SLAB_GRADIENT], b->step.slab[SLAB_GRADIENT], bytes);
    assert_memory_equal(&a->at.loss_sum, &b->at.loss_sum, sizeof a->at.loss_sum);
    assert_int_equal(a->at.step, b->at.step);
}

static void compare_threads(const char *settings, const smurf_data *train, const smurf_data *dev, int steps)
{
    static const int threads[] = {2, 3, 4, 8, 16};
    struct loss expected, found;
    smurf_trainer *one = trained(settings, 1, train, dev, steps, &expected);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        smurf_trainer *many = trained(settings, threads[i], train, dev, steps, &found);
        same(one, many);
        assert_memory_equal(&expected, &found, sizeof expected);
        smurf_trainer_free(many);
    }
    smurf_trainer_free(one);
}

static const char *const models[] = {
    "objective=dsm dropout=0.2 average=0.9", "objective=mle dropout=0.1 mask=0.1",
    "objective=wsm scale=mean dropout=0.3",  "objective=sm head=score dropout=0.1",
    "model=thp scale=mean dropout=0.1",      "model=sahp scale=mean dropout=0.1",
    "model=nhp scale=mean gap-feature=off",  "model=nce scale=mean dropout=0.1",
};

/* Every class and objective: a few sequences (fewer than threads), many, and one that is long. */
static void test_threads_change_no_bit(void **state)
{
    (void)state;
    smurf_data *some = simulate("hawkes", 3, 40, 70, 1), *many = simulate("hawkes", 3, 300, 6, 2),
               *one = simulate("hawkes", 3, 1, 400, 3), *dev = simulate("hawkes", 3, 30, 12, 4);
    char text[256];
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        static const struct {
            const char *batch;
            int steps;
        } runs[] = {{"batch=3", 2}, {"batch=32", 1}};
        for (size_t r = 0; r < 2; r++) {
            snprintf(text, sizeof text, "%s %s", models[m], runs[r].batch);
            compare_threads(text, some, dev, runs[r].steps);
        }
        snprintf(text, sizeof text, "%s batch=200", models[m]);
        compare_threads(text, many, dev, 1);
        snprintf(text, sizeof text, "%s batch=4", models[m]);
        compare_threads(text, one, dev, 1);
    }
    smurf_data_free(some), smurf_data_free(many), smurf_data_free(one), smurf_data_free(dev);
}

/* The gradient of slices is that of the whole batch at once, dropout included, but for rounding. */
static void test_slices_are_the_batch(void **state)
{
    (void)state;
    smurf_data *train = simulate("hawkes", 3, 30, 50, 1);
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char text[256];
        snprintf(text, sizeof text, "%s batch=20 mask=0", models[m]);
        smurf_trainer *t = trainer_of(text, 1, train, NULL);
        const struct model *model = &t->frame->model;
        size_t n = model->params.total;
        struct feed_batch room;
        double norm, wrong = 0, all = 0;
        const struct op_run run = {.threads = 1, .seed = 1, .step = 1, .dropout = t->frame->config.dropout};
        smurf_feed_shuffle(&t->train, 1, 1);
        assert_int_equal(smurf_feed_batch_init(&room, &t->train, NULL), SMURF_OK);
        struct batch batch = smurf_feed_fill(&t->train, 0, &room);
        float *memory =
            aligned_alloc(64, (model->class->loss_memory(model, &t->step.loss, batch.input.n, 1) + 16) * 64);
        float *gradient = calloc(n, sizeof *gradient);
        struct loss whole =
            model->class->loss(&run, model, &t->step.loss, t->step.slab[SLAB_WEIGHT], &batch, memory, gradient);
        struct loss sum = smurf_train_step_gradient(&t->step, &run, &t->train, 0, &norm);
        assert_true(t->step.slices.count > 10);
        assert_int_equal(sum.gaps, whole.gaps);
        assert_true(fabs(sum.time - whole.time) < 1e-5 * fabs(whole.time) + 1e-6);
        assert_true(fabs(sum.type - whole.type) < 1e-5 * fabs(whole.type) + 1e-6);
        for (size_t i = 0; i < n; i++) {
            double a = (double)gradient[i], b = (double)t->step.slab[SLAB_GRADIENT][i];
            wrong += (a - b) * (a - b);
            all += a * a;
        }
        assert_true(all > 0 && sqrt(wrong / all) < 1e-5);
        assert_true(fabs(norm - sqrt(all)) < 1e-5 * norm);
        free(memory), free(gradient);
        smurf_feed_batch_release(&room);
        smurf_trainer_free(t);
    }
    smurf_data_free(train);
}

/* With few slabs for many slices: they are spared and used again. */
static void test_few_slabs(void **state)
{
    (void)state;
    struct loss expected, found;
    smurf_data *train = simulate("hawkes", 3, 120, 66, 1), *dev = simulate("hawkes", 3, 3, 5, 4);
    smurf_trainer *one = trained("objective=mle batch=120", 1, train, dev, 1, &expected);
    assert_true(one->step.slices.count == 120 && one->step.slabs < 20);
    for (int threads = 2; threads < 6; threads++) {
        smurf_trainer *t = trained("objective=mle batch=120", threads, train, dev, 1, &found);
        assert_true(t->step.slabs < 40);
        assert_int_equal(t->step.counts.steps, 1);
        same(one, t);
        smurf_trainer_free(t);
    }
    smurf_trainer_free(one);
    smurf_data_free(train), smurf_data_free(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_owner),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_slices_are_the_batch),
        cmocka_unit_test(test_few_slabs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
