/*
 * unit_ranks.c - groups of processes: what they tell each other, and training over them, which has the bits of one
 * process.
 */
#include "ranks_case.h"
#include "train_case.h"

#include "base/random.h"
#include "base/xxh64.h"
#include "data/data.h"

/* Ends a process of a group. */
#define CHECK(condition)                                                                                               \
    do                                                                                                                 \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition);                                      \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    while (0)

/* ---- Messages ------------------------------------------------------------------------------------ */

/* The bytes that rank `from` sends to rank `to` in a round: a function of these. */
static size_t size_of(int round, int from, int to)
{
    struct random random;
    smurf_random_init(&random, (uint64_t)round, (uint64_t)(from * 100 + to));
    size_t most = smurf_random_below(&random, 4) == 0 ? 300000 : 100;
    return smurf_random_below(&random, 3) ? smurf_random_below(&random, most) : 0;
}

static unsigned char byte_of(int round, int from, int to, size_t i)
{
    return (unsigned char)((size_t)(round * 7 + from * 31 + to * 57) + i * 13);
}

static void exchange_all(void *unused)
{
    const struct ranks *g = smurf_ranks();
    (void)unused;
    for (int round = 0; round < 8; round++) {
        size_t out_bytes[RANKS_MOST] = {0}, in_bytes[RANKS_MOST] = {0}, outs = 0, ins = 0;
        for (int q = 0; q < g->count; q++) {
            if (q != g->rank) out_bytes[q] = size_of(round, g->rank, q), in_bytes[q] = size_of(round, q, g->rank);
            outs += out_bytes[q], ins += in_bytes[q];
        }
        unsigned char *out = malloc(outs + 1), *in = malloc(ins + 1), *o = out, *p = in;
        for (int q = 0; q < g->count; q++)
            for (size_t i = 0; i < out_bytes[q]; i++) *o++ = byte_of(round, g->rank, q, i);
        smurf_ranks_exchange(RANKS_OTHER, out, out_bytes, in, in_bytes);
        for (int q = 0; q < g->count; q++)
            for (size_t i = 0; i < in_bytes[q]; i++) CHECK(*p++ == byte_of(round, q, g->rank, i));
        free(out), free(in);
    }
}

static void gather_all(void *unused)
{
    const struct ranks *g = smurf_ranks();
    (void)unused;
    for (int round = 0; round < 8; round++) {
        size_t bytes[RANKS_MOST], all = 0, at = 0;
        for (int q = 0; q < g->count; q++) all += bytes[q] = size_of(round, q, q);
        unsigned char *whole = calloc(all + 1, 1);
        for (int q = 0; q < g->count; at += bytes[q++])
            for (size_t i = 0; i < bytes[q] && q == g->rank; i++) whole[at + i] = byte_of(round, q, q, i);
        smurf_ranks_gather(RANKS_OTHER, whole, bytes);
        at = 0;
        for (int q = 0; q < g->count; at += bytes[q++])
            for (size_t i = 0; i < bytes[q]; i++) CHECK(whole[at + i] == byte_of(round, q, q, i));
        free(whole);
        for (int q = 0; q < g->count; q++) CHECK(smurf_ranks_any(RANKS_OTHER, q == g->rank));
        CHECK(!smurf_ranks_any(RANKS_OTHER, false));
    }
}

static void test_messages(void **state)
{
    (void)state;
    for (int count = 1; count <= 9; count++) {
        assert_int_equal(ranks_run(count, exchange_all, NULL), 0);
        assert_int_equal(ranks_run(count, gather_all, NULL), 0);
    }
}

/* ---- Training ------------------------------------------------------------------------------------ */

enum { WEIGHTS_MOST = 1 << 17 };

/* What a run leaves. */
struct outcome {
    size_t n;
    float slab[SLABS][WEIGHTS_MOST];
    smurf_epoch best;
    double loss_sum;
    uint64_t step;
    struct ranks_counts counts;
    uint64_t steps;
};

struct task {
    const char *settings, *resume, *save; /* files; NULL: none */
    int threads, extra;                   /* extra: threads more, by rank */
    const smurf_data *train, *dev;
    int epochs, steps; /* epochs, then steps of the next one */
    struct outcome *out;
    size_t *held; /* (ranks) events of train that each holds; NULL: not asked */
};

static void train(void *context)
{
    const struct task *k = context;
    struct ranks *g = smurf_ranks();
    smurf_settings config = small_config(k->settings);
    smurf_trainer *t;
    smurf_error err = {0};
    smurf_epoch epoch;
    double loss;
    int last = 0;
    config.threads = k->threads + k->extra * g->rank;
    CHECK(!(k->resume ? smurf_trainer_resume(&t, k->resume, k->train, k->dev, config.threads, &err)
                      : smurf_trainer_new(&t, &config, k->train, k->dev, &err)));
    while (t->at.epoch < (size_t)k->epochs) CHECK(!smurf_trainer_epoch(t, &epoch, &err));
    for (int i = 0; i < k->steps && !last; i++) CHECK(!smurf_trainer_step(t, &loss, &last, &err));
    smurf_train_step_complete(&t->step);
    size_t n = t->frame->model.params.total;
    CHECK(n <= WEIGHTS_MOST);
    if (g->rank == g->count - 1) {
        *k->out = (struct outcome){.n = n,
                                   .best = t->at.best,
                                   .loss_sum = t->at.loss_sum,
                                   .step = t->at.step,
                                   .counts = g->counts[RANKS_STEP],
                                   .steps = g->steps};
        k->out->best.seconds = k->out->best.events_per_second = 0;
        for (int s = 0; s < SLABS; s++)
            if (s != SLAB_GRADIENT && t->step.slab[s]) memcpy(k->out->slab[s], t->step.slab[s], n * sizeof(float));
    }
    for (size_t i = 0; i < t->train.sequences && k->held; i++)
        if (!t->train.place || t->train.place[i] != SIZE_MAX)
            k->held[g->rank] += t->train.offset[i + 1] - t->train.offset[i];
    if (k->save && g->rank == 0) CHECK(!smurf_trainer_save(t, k->save, &err));
    smurf_trainer_free(t);
}

static void same(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->n, b->n);
    for (int s = 0; s < SLABS; s++) assert_memory_equal(a->slab[s], b->slab[s], a->n * sizeof(float));
    assert_memory_equal(&a->best, &b->best, offsetof(smurf_epoch, best) + sizeof a->best.best); /* without padding */
    assert_memory_equal(&a->loss_sum, &b->loss_sum, sizeof a->loss_sum);
    assert_int_equal(a->step, b->step);
}

/* Any number of processes and threads: the same weights, moments, average, best epoch and dev loss. */
static void check_ranks(struct task task, const int *counts, size_t n)
{
    struct outcome *one = ranks_shared(sizeof *one), *many = ranks_shared(sizeof *many);
    assert_true(one && many);
    task.threads = 1;
    task.out = one;
    assert_int_equal(ranks_run(1, train, &task), 0);
    assert_true(one->n > 0);
    task.out = many;
    for (size_t i = 0; i < n; i++) {
        memset(many, 0, sizeof *many);
        task.threads = 1 + (int)i % 2;
        task.extra = i % 3 == 1;
        assert_int_equal(ranks_run(counts[i], train, &task), 0);
        same(one, many);
    }
    munmap(one, sizeof *one), munmap(many, sizeof *many);
}

static const int few[] = {2, 3, 4}, all[] = {2, 3, 4, 5, 7, 8, 16};

static void test_every_model(void **state)
{
    static const char *const models[] = {
        "objective=dsm dropout=0.2 average=0.9", "objective=mle dropout=0.1 mask=0.1",
        "model=thp scale=mean dropout=0.1",      "model=sahp scale=mean dropout=0.1",
        "model=nhp scale=mean gap-feature=off",  "model=nce scale=mean dropout=0.1",
    };
    (void)state;
    smurf_data *train = simulate("hawkes", 3, 70, 40, 1), *dev = simulate("hawkes", 3, 25, 12, 4);
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char text[256];
        snprintf(text, sizeof text, "%s batch=32", models[m]);
        check_ranks((struct task){.settings = text, .train = train, .dev = dev, .epochs = 1, .steps = 1}, few, 3);
    }
    smurf_data_free(train), smurf_data_free(dev);
}

/* Chunks of weights for many ranks, batches of all sizes: with a leaf or 64, few slices or many. */
static void test_every_shape(void **state)
{
    static const struct {
        size_t sequences, events;
        const char *batch;
    } shapes[] = {
        {9, 20, "batch=2"}, {60, 70, "batch=40"}, {130, 130, "batch=130"}, {1, 300, "batch=4"}, {70, 3, "batch=64"}};
    (void)state;
    smurf_data *dev = simulate("hawkes", 3, 5, 12, 4);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        char text[256];
        smurf_data *train = simulate("hawkes", 3, shapes[k].sequences, shapes[k].events, 2);
        snprintf(text, sizeof text,
                 "objective=mle dropout=0.1 average=0.9 clip=1 width=64 heads=4 head-width=16 inner=256 %s",
                 shapes[k].batch);
        check_ranks((struct task){.settings = text, .train = train, .dev = dev, .epochs = 1}, all, k == 1 ? 7 : 3);
        smurf_data_free(train);
    }
    smurf_data_free(dev);
}

/* A run goes on with another number of processes. */
static void test_resume(void **state)
{
    char path[] = "/tmp/smurf-ranks-XXXXXX";
    int fd = mkstemp(path);
    smurf_data *train_data = simulate("hawkes", 3, 70, 40, 1), *dev = simulate("hawkes", 3, 25, 12, 4);
    struct outcome *one = ranks_shared(sizeof *one), *many = ranks_shared(sizeof *many);
    static const int before[] = {1, 3, 4, 2}, after[] = {3, 1, 2, 3};
    (void)state;
    assert_true(fd >= 0 && one && many);
    close(fd);
    struct task task = {.settings = "objective=dsm dropout=0.2 average=0.9 batch=16",
                        .threads = 1,
                        .train = train_data,
                        .dev = dev,
                        .epochs = 2,
                        .steps = 1,
                        .out = one};
    assert_int_equal(ranks_run(1, train, &task), 0);
    for (int i = 0; i < 4; i++) {
        struct task first = task, second = task;
        first.epochs = 1, first.steps = 2, first.save = path, first.out = many;
        assert_int_equal(ranks_run(before[i], train, &first), 0);
        second.resume = path, second.out = many;
        memset(many, 0, sizeof *many);
        assert_int_equal(ranks_run(after[i], train, &second), 0);
        same(one, many);
    }
    unlink(path);
    munmap(one, sizeof *one), munmap(many, sizeof *many);
    smurf_data_free(train_data), smurf_data_free(dev);
}

/* What travels in a step, as joint.h has it. */
static void test_counts(void **state)
{
    smurf_data *train_data = simulate("hawkes", 3, 64, 70, 1);
    struct outcome *out = ranks_shared(sizeof *out);
    struct task task = {.settings = "objective=mle batch=64 width=64 heads=4 head-width=16 inner=256",
                        .threads = 1,
                        .train = train_data,
                        .steps = 1,
                        .out = out};
    (void)state;
    assert_non_null(out);
    for (int count = 1; count <= 4; count *= 2) {
        assert_int_equal(ranks_run(count, train, &task), 0);
        uint64_t gathers = count == 1 ? 0 : count == 2 ? 1 : 2;
        double share = (double)(count - 1) / count, slab = (double)out->n * sizeof(float);
        assert_int_equal(out->counts.rounds, count == 1 ? 0 : 1 + 2 * gathers);
        assert_true(out->counts.messages >= (uint64_t)count - 1 + 2 * gathers - (count == 1 ? 0 : 1));
        assert_true((double)out->counts.bytes <= 2 * share * slab + 4 * 65536 &&
                    (double)out->counts.bytes >= share * slab);
        if (count > 1) assert_int_equal(out->steps, 1);
    }
    munmap(out, sizeof *out);
    smurf_data_free(train_data);
}

/* ---- Parts ----------------------------------------------------------------------------------------- */

enum { FILES = 5 };

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* train-0.csv and so on: words that come up one by one, the second file with a remark. `bad`: not a table. */
static void write_parts(const char *folder, int bad)
{
    char path[128], text[256];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/train-%d.csv", folder, i);
        snprintf(text, sizeof text, "user,time,type\nu%d,%d.25,w%d\nu%d,%d,w%d\nv%d,7,w0\n%s", i, i, i + 1, i, i + 3, i,
                 i, i == 1 ? "v1,6,w9\n" : "");
        write_text(path, i == bad ? "\x93smurf\r\n" : text);
    }
}

struct read_task {
    const char *folder;
    uint64_t *sum; /* (ranks) of what is read; 0: it failed */
    char (*message)[1024];
};

static void read_parts(void *context)
{
    const struct read_task *k = context;
    int rank = smurf_ranks()->rank;
    smurf_split split;
    smurf_error err;
    void *bytes;
    size_t n;
    smurf_write_config config;
    smurf_write_config_init(&config);
    config.format = "csv";
    if (smurf_split_read(&split, k->folder, NULL, &err)) {
        memcpy(k->message[rank], err.message, sizeof err.message);
        return;
    }
    CHECK(split.train->outside == (smurf_ranks()->count > 1));
    CHECK(smurf_data_remark(split.train, 0) && !smurf_data_remark(split.train, 1));
    CHECK(strstr(smurf_data_remark(split.train, 0), "train-1.csv: 1 event was out of order"));
    CHECK(!smurf_data_write_memory(split.train, &bytes, &n, &config, NULL));
    struct xxh64 hash;
    smurf_xxh64_init(&hash);
    smurf_xxh64_add(&hash, bytes, n);
    for (uint32_t i = 0; i < split.train->types; i++)
        smurf_xxh64_add(&hash, split.train->type_name[i], strlen(split.train->type_name[i]));
    k->sum[rank] = smurf_xxh64_value(&hash) | 1;
    smurf_free(bytes);
    smurf_split_release(&split);
}

/* All have the same data, or the same error, as one process that reads all files. */
static void test_parts(void **state)
{
    char folder[] = "/tmp/smurf-ranks-XXXXXX", path[128];
    uint64_t *sum = ranks_shared(RANKS_MOST * sizeof *sum), one = 0;
    struct read_task task = {folder, sum, ranks_shared(RANKS_MOST * sizeof *task.message)};
    (void)state;
    assert_true(sum && task.message && mkdtemp(folder));
    for (int bad = -1; bad < FILES; bad += 2)
        for (int count = 1; count <= 7; count++) {
            write_parts(folder, bad);
            memset(sum, 0, RANKS_MOST * sizeof *sum);
            assert_int_equal(ranks_run(count, read_parts, &task), 0);
            if (bad < 0 && count == 1) one = sum[0];
            snprintf(path, sizeof path, "%s/train-%d.csv: the packed file was cut off", folder, bad);
            for (int q = 0; q < count; q++) {
                assert_true(sum[q] == (bad < 0 ? one : 0));
                if (bad >= 0) assert_memory_equal(task.message[q], path, strlen(path));
            }
        }
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/train-%d.csv", folder, i);
        unlink(path);
    }
    rmdir(folder);
    munmap(sum, RANKS_MOST * sizeof *sum), munmap(task.message, RANKS_MOST * sizeof *task.message);
}

/* Each process holds its share of the events, and all have all of them. */
static void test_shares(void **state)
{
    smurf_data *train_data = simulate("hawkes", 3, 256, 20, 1);
    struct outcome *out = ranks_shared(sizeof *out);
    size_t *held = ranks_shared(RANKS_MOST * sizeof *held);
    struct task task = {.settings = "objective=mle batch=128 mask=0.1",
                        .threads = 1,
                        .train = train_data,
                        .steps = 1,
                        .out = out,
                        .held = held};
    (void)state;
    assert_true(out && held);
    for (int count = 1; count <= 8; count *= 2) {
        size_t sum = 0;
        memset(held, 0, RANKS_MOST * sizeof *held);
        assert_int_equal(ranks_run(count, train, &task), 0);
        for (int q = 0; q < count; sum += held[q++])
            assert_in_range(held[q], train_data->events / (size_t)count * 3 / 4,
                            train_data->events / (size_t)count * 5 / 4);
        assert_int_equal(sum, train_data->events);
    }
    munmap(out, sizeof *out), munmap(held, RANKS_MOST * sizeof *held);
    smurf_data_free(train_data);
}

/* Other data, other settings or another epoch in one process: all of them refuse. */
static void disagree(void *context)
{
    const struct task *k = context;
    smurf_settings config = small_config("objective=mle batch=16");
    smurf_trainer *t = (smurf_trainer *)&config;
    smurf_error err = {0};
    bool odd = smurf_ranks()->rank == 1;
    if (odd && k->extra == 1) config.seed++;
    CHECK(smurf_trainer_new(&t, &config, odd && k->extra == 2 ? k->dev : k->train, NULL, &err) == SMURF_ERROR_INPUT);
    CHECK(t == NULL);
    CHECK(strcmp(err.message, "process 1 was given other data or settings than process 0: give all of them the same") ==
          0);
}

static void test_disagreement(void **state)
{
    smurf_data *a = simulate("hawkes", 3, 30, 20, 1), *b = simulate("hawkes", 3, 30, 20, 2);
    (void)state;
    for (int extra = 1; extra <= 2; extra++)
        assert_int_equal(ranks_run(3, disagree, &(struct task){.train = a, .dev = b, .extra = extra}), 0);
    smurf_data_free(a), smurf_data_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),    cmocka_unit_test(test_parts),        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_every_shape), cmocka_unit_test(test_resume),       cmocka_unit_test(test_counts),
        cmocka_unit_test(test_shares),      cmocka_unit_test(test_disagreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
