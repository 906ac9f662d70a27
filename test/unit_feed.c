/*
 * unit_feed.c - what a training step is made of: targets, batches and their order, the learning rate, Adam.
 */
#include "train_case.h"

#include "base/random.h"
#include "data/data.h"
#include "train/adam.h"
#include "train/schedule.h"

/* ---- Targets ---------------------------------------------------------------------------------- */

static const struct view plain = {
    .scale = {SMURF_SCALE_NONE, 1, 0, 1}, .feature = {SMURF_SCALE_LOG, 1, 0, 1}, .clock_unit = 2};

static struct feed feed_of(const smurf_data *data, size_t batch)
{
    struct feed feed;
    smurf_error err;
    if (smurf_feed_init(&feed, data, "train", &plain, batch, false, &err)) fail_msg("%s", err.message);
    return feed;
}

static const char two[] = "sequence,time,type,observation_end,first_scored\n"
                          "a,1,0,10,1\na,3,1,10,1\na,3.5,0,10,1\n"
                          "b,2,1,,1\nb,7,0,,1\n"
                          "c,4,0,6,1\n";

static void check_target(const struct feed *f, size_t i, size_t row, double gap, double limit, int type)
{
    const struct target *t = &f->target[i];
    assert_int_equal(t->row, row);
    assert_true(t->gap == gap);
    assert_true(isnan(limit) ? isnan(t->limit) : t->limit == limit);
    assert_int_equal(t->censored, type < 0);
    if (type >= 0) assert_int_equal(t->type, type);
}

/* Every scored gap once; a cut-off one where the end of observation is known. */
static void test_targets(void **state)
{
    (void)state;
    smurf_data *data = read_text(two);
    struct feed f = feed_of(data, 2);
    assert_int_equal(f.events, 6);
    assert_int_equal(f.targets, 5);
    assert_int_equal(f.typed, 3);
    assert_int_equal(f.ordered, 3);
    assert_int_equal(f.target_offset[1], 3);
    assert_int_equal(f.target_offset[2], 4);
    assert_int_equal(f.target_offset[3], 5);
    check_target(&f, 0, 0, 2, 9, 1);
    check_target(&f, 1, 1, 0.5, 7, 0);
    check_target(&f, 2, 2, 6.5, NAN, -1);
    check_target(&f, 3, 0, 5, NAN, 0);
    check_target(&f, 4, 0, 2, NAN, -1); /* one event, then silence */
    for (size_t i = 0; i < f.targets; i++)
        for (size_t k = 0; k < i; k++) assert_int_not_equal(f.target[i].id, f.target[k].id);
    /* The encoder's clock starts at the first event, in clock units; the first event has no gap before it. */
    assert_true(f.time[0] == 0 && f.time[1] == 1 && f.time[2] == 1.25 && f.time[3] == 0 && f.time[4] == 2.5);
    assert_true(isnan(f.gap[0]) && isnan(f.gap[3]) && fabsf(f.gap[1] - logf(2)) < 1e-6f &&
                fabsf(f.gap[4] - logf(5)) < 1e-6f);
    smurf_feed_release(&f);
    smurf_data_free(data);
}

static void test_raw_clock(void **state)
{
    (void)state;
    smurf_data *data = read_text("time,type\n5000000.25,0\n5000001.25,0\n");
    struct view view = plain;
    struct feed f;
    view.raw_clock = true;
    assert_int_equal(smurf_feed_init(&f, data, "train", &view, 1, false, NULL), SMURF_OK);
    assert_true(f.time[0] == 2500000.125 && f.time[1] == 2500000.625);
    smurf_feed_release(&f);
    smurf_data_free(data);
}

static void test_no_gap(void **state)
{
    (void)state;
    smurf_data *data = read_text("sequence,time,type,observation_end\na,1,0,4\nb,1,0,4\n");
    struct feed f;
    smurf_error err;
    assert_int_equal(smurf_feed_init(&f, data, "dev", &plain, 1, false, &err), SMURF_ERROR_ARGUMENT);
    assert_string_equal(
        err.message,
        "the dev part of 'text' has no gap to score: give it sequences of two events or more, or leave it out");
    assert_null(f.order);
    smurf_data_free(data);
}

/* Windows with history: the targets are those of the whole, each once; history rows are there to see. */
static void test_windows(void **state)
{
    (void)state;
    smurf_data *whole = simulate("hawkes", 2, 7, 23, 1), *windows;
    assert_int_equal(smurf_data_window(&windows, whole, 4, 6, NULL), SMURF_OK);
    struct feed a = feed_of(whole, 3), b = feed_of(windows, 3);
    assert_int_equal(b.typed, smurf_data_gaps(whole));
    assert_int_equal(a.typed, b.typed);
    double sum[2] = {0, 0};
    for (size_t i = 0; i < a.targets; i++) sum[0] += a.target[i].censored ? 0 : a.target[i].gap;
    for (size_t s = 0; s < b.sequences; s++) {
        const smurf_sequence *q = smurf_data_sequence(windows, s);
        size_t targets = 0;
        for (size_t i = b.target_offset[s]; i < b.target_offset[s + 1]; i++) {
            if (b.target[i].censored) continue;
            assert_true(b.target[i].row + 1 >= q->first && b.target[i].row + 1 < q->length);
            sum[1] += b.target[i].gap;
            targets++;
        }
        assert_true(targets <= 4 && b.offset[s + 1] - b.offset[s] <= 4 + 6 + 1);
    }
    assert_true(fabs(sum[0] - sum[1]) < 1e-9);
    smurf_feed_release(&a);
    smurf_feed_release(&b);
    smurf_data_free(whole);
    smurf_data_free(windows);
}

/* ---- Order and batches -------------------------------------------------------------------------- */

/* Sequences of many lengths, some without a gap. */
static smurf_data *many(size_t sequences)
{
    char *text = malloc(sequences * 400), *p = text;
    struct random random;
    smurf_random_init(&random, 1, 1);
    p += sprintf(p, "sequence,time,type\n");
    for (size_t s = 0; s < sequences; s++)
        for (size_t i = 0, n = 1 + smurf_random_below(&random, 12); i < n; i++)
            p += sprintf(p, "s%zu,%zu.5,%zu\n", s, i, i % 3);
    smurf_data *data = read_text(text);
    free(text);
    return data;
}

static size_t length(const struct feed *f, size_t s)
{
    return f->offset[s + 1] - f->offset[s];
}

static void check_permutation(const struct feed *f)
{
    bool *seen = calloc(f->sequences, sizeof *seen);
    for (size_t i = 0; i < f->ordered; i++) {
        assert_true(f->order[i] < f->sequences && !seen[f->order[i]]);
        assert_true(f->target_offset[f->order[i] + 1] > f->target_offset[f->order[i]]);
        seen[f->order[i]] = true;
    }
    free(seen);
}

static void test_shuffle(void **state)
{
    (void)state;
    smurf_data *data = many(700);
    struct feed f = feed_of(data, 3), g = feed_of(data, 3);
    size_t bytes = f.ordered * sizeof *f.order;
    assert_true(f.ordered < 700 && f.ordered > 500);
    for (size_t i = 1; i < f.ordered; i++) assert_true(f.order[i - 1] < f.order[i]);
    smurf_feed_shuffle(&f, 1, 1);
    check_permutation(&f);
    assert_memory_not_equal(f.order, g.order, bytes);
    smurf_feed_shuffle(&g, 1, 7); /* what was before does not matter */
    assert_memory_not_equal(f.order, g.order, bytes);
    check_permutation(&g);
    smurf_feed_shuffle(&g, 1, 1);
    assert_memory_equal(f.order, g.order, bytes);
    smurf_feed_shuffle(&g, 2, 1);
    assert_memory_not_equal(f.order, g.order, bytes);
    smurf_feed_shuffle(&g, 1, 0);
    for (size_t i = 1; i < g.ordered; i++) assert_true(g.order[i - 1] < g.order[i]);
    smurf_feed_release(&f);
    smurf_feed_release(&g);
    smurf_data_free(data);
}

/* Within a batch, lengths are close: sorted within each bucket of 32 batches, then batches change places. */
static void test_buckets(void **state)
{
    (void)state;
    smurf_data *data = many(700);
    struct feed f = feed_of(data, 5);
    smurf_feed_shuffle(&f, 3, 2);
    check_permutation(&f);
    size_t spread = 0, batches = f.ordered / 5;
    for (size_t b = 0; b < batches; b++) {
        for (size_t i = 1; i < 5; i++)
            assert_true(length(&f, f.order[5 * b + i - 1]) <= length(&f, f.order[5 * b + i]));
        spread += length(&f, f.order[5 * b + 4]) - length(&f, f.order[5 * b]);
    }
    assert_true(spread < batches); /* lengths go from 2 to 12; unsorted, five of them spread by 7 */
    size_t falls = 0;
    for (size_t b = 1; b < batches; b++) falls += length(&f, f.order[5 * b]) < length(&f, f.order[5 * b - 5]);
    assert_true(falls > batches / 4); /* not sorted as a whole */
    smurf_feed_release(&f);
    smurf_data_free(data);
}

/* An epoch's batches hold every event and target once, and fit the room. */
static void test_batches(void **state)
{
    (void)state;
    smurf_data *data = many(101);
    static const size_t size[] = {1, 4, 101, 5000};
    for (int k = 0; k < 4; k++) {
        struct feed f = feed_of(data, size[k]);
        struct feed_batch room;
        size_t events = 0, targets = 0, sequences = 0, most = 0, used = 0,
               *seen = calloc(f.events + f.sequences, sizeof *seen);
        assert_int_equal(smurf_feed_batch_init(&room, &f, NULL), SMURF_OK);
        smurf_feed_shuffle(&f, 1, 1);
        for (size_t b = 0; b < smurf_feed_batches(&f); b++) {
            struct batch batch = smurf_feed_fill(&f, b, &room);
            size_t first, last;
            smurf_feed_members(&f, b, &first, &last);
            assert_true(last > first && last - first <= size[k] && first == sequences);
            sequences = last;
            events += batch.input.n;
            targets += batch.targets;
            if (batch.input.n > most) most = batch.input.n;
            for (size_t i = 0; i < batch.targets; i++) {
                const struct target *t = &batch.target[i];
                assert_true(t->row < batch.input.n && seen[t->id]++ == 0);
                if (!t->censored) assert_int_equal(batch.input.type[t->row + 1], t->type);
            }
        }
        for (size_t i = 0; i < f.ordered; i++) used += length(&f, f.order[i]);
        assert_int_equal(sequences, f.ordered);
        assert_int_equal(events, used);
        assert_int_equal(targets, f.targets);
        assert_true(most <= f.longest_batch_events);
        if (size[k] == 1) assert_int_equal(f.longest_batch_events, 12);
        if (size[k] >= 101) assert_int_equal(f.longest_batch_events, used);
        free(seen);
        smurf_feed_batch_release(&room);
        smurf_feed_release(&f);
    }
    smurf_data_free(data);
}

/* Types of the input are hidden at the given rate; which ones is a function of seed, epoch and event, not of the batch.
   Targets keep their types, and the order of the data (epoch 0, dev) hides none. */
static void test_mask(void **state)
{
    (void)state;
    smurf_data *data = simulate("hawkes", 3, 200, 100, 1);
    bool *hidden = calloc(data->events, 1);
    static const struct {
        size_t batch;
        uint64_t epoch;
    } runs[] = {{7, 1}, {200, 1}, {7, 2}, {7, 0}};
    for (int k = 0; k < 4; k++) {
        struct feed f = feed_of(data, runs[k].batch);
        struct feed_batch room;
        size_t masked = 0, differ = 0;
        f.mask = 0.02;
        f.other = 3;
        assert_int_equal(smurf_feed_batch_init(&room, &f, NULL), SMURF_OK);
        smurf_feed_shuffle(&f, 5, runs[k].epoch);
        for (size_t b = 0, at = 0; b < smurf_feed_batches(&f); b++, at += f.batch) {
            struct batch batch = smurf_feed_fill(&f, b, &room);
            for (size_t s = 0; s < batch.input.rows.sequences; s++)
                for (size_t i = room.offset[s]; i < room.offset[s + 1]; i++) {
                    size_t event = f.offset[f.order[at + s]] + i - room.offset[s];
                    bool is = batch.input.type[i] == 3;
                    assert_true(is || batch.input.type[i] == data->type[event]);
                    if (k == 0) hidden[event] = is;
                    differ += is != hidden[event];
                    masked += is;
                }
            for (size_t i = 0; i < batch.targets; i++)
                assert_true(batch.target[i].censored || batch.target[i].type < 3);
        }
        double share = (double)masked / (double)data->events; /* 20,000 events: a standard deviation of 0.001 */
        assert_true(runs[k].epoch ? fabs(share - 0.02) < 0.004 : masked == 0);
        assert_true(k == 1 ? differ == 0 : k == 0 || differ > 100);
        smurf_feed_batch_release(&room);
        smurf_feed_release(&f);
    }
    free(hidden);
    smurf_data_free(data);
}

/* ---- Schedules and Adam -------------------------------------------------------------------------- */

static void rate_is(const char *settings, size_t epoch, uint64_t step, unsigned halvings, double expected)
{
    smurf_settings config = small_config(settings);
    double rate = smurf_schedule_rate(&config, epoch, step, halvings);
    if (!(fabs(rate - expected) <= 1e-15)) fail_msg("%s: %.17g, not %.17g", settings, rate, expected);
}

static void test_schedules(void **state)
{
    (void)state;
    rate_is("rate=0.1", 1, 1, 0, 0.1);
    rate_is("rate=0.1", 99, 12345, 3, 0.1);
    rate_is("rate=0.1 warmup=10", 1, 1, 0, 0.01);
    rate_is("rate=0.1 warmup=10", 1, 9, 0, 0.09);
    rate_is("rate=0.1 warmup=10", 1, 10, 0, 0.1);
    rate_is("rate=0.1 warmup=10", 3, 11, 0, 0.1);
    /* the cosine over 4 epochs: 1, (1 + 1/sqrt 2)/2, 1/2, (1 - 1/sqrt 2)/2, then 0 */
    rate_is("rate=1 schedule=cosine epochs=4", 1, 1, 0, 1);
    rate_is("rate=1 schedule=cosine epochs=4", 2, 1, 0, 0.5 + 0.5 * sqrt(0.5));
    rate_is("rate=1 schedule=cosine epochs=4", 3, 1, 0, 0.5);
    rate_is("rate=1 schedule=cosine epochs=4", 4, 1, 0, 0.5 - 0.5 * sqrt(0.5));
    rate_is("rate=1 schedule=cosine epochs=4", 5, 1, 0, 0);
    rate_is("rate=1 schedule=cosine epochs=4", 9, 1, 0, 0);
    rate_is("rate=1 schedule=cosine epochs=4 cosine-epochs=64", 33, 1, 0, 0.5);
    rate_is("rate=1 schedule=cosine epochs=4 warmup=4", 3, 2, 0, 0.25);
    rate_is("rate=1 schedule=plateau", 7, 1, 0, 1);
    rate_is("rate=1 schedule=plateau", 7, 1, 3, 0.125);
    rate_is("rate=1 schedule=plateau warmup=2", 1, 1, 1, 0.25);
}

enum { WEIGHTS = 40000, STEPS = 100 }; /* some chunks, the last one short */

/* A step on pieces of `piece` weights. */
static void adam_step(uint64_t t, double rate, double factor, const float *g, float *const slab[3], size_t piece)
{
    const struct adam_rates rates = smurf_adam_rates(t, rate, factor);
    for (size_t i = 0; i < WEIGHTS; i += piece)
        smurf_adam_move(WEIGHTS - i < piece ? WEIGHTS - i : piece, &rates, g + i, slab[0] + i, slab[1] + i,
                        slab[2] + i);
}

static void test_adam(void **state)
{
    (void)state;
    float *g = malloc(WEIGHTS * sizeof *g), *slab[2][3];
    double *reference[3], b1 = 1, b2 = 1;
    struct random random;
    smurf_random_init(&random, 1, 2);
    for (int k = 0; k < 3; k++) {
        reference[k] = calloc(WEIGHTS, sizeof *reference[k]);
        for (int i = 0; i < 2; i++) slab[i][k] = calloc(WEIGHTS, sizeof *slab[i][k]);
    }
    for (uint64_t t = 1; t <= STEPS; t++) {
        double rate = 0.01 / (double)t, factor = t % 3 ? 1 : 0.5;
        for (int i = 0; i < WEIGHTS; i++)
            g[i] = (float)(smurf_random_normal(&random) * exp(smurf_random_normal(&random)));
        for (int i = 0; i < 2; i++) adam_step(t, rate, factor, g, slab[i], i ? 333 : WEIGHTS);
        b1 *= 0.9;
        b2 *= 0.999;
        for (int i = 0; i < WEIGHTS; i++) {
            double x = (double)g[i] * factor, *m = &reference[0][i], *v = &reference[1][i];
            *m = 0.9 * *m + 0.1 * x;
            *v = 0.999 * *v + 0.001 * x * x;
            reference[2][i] -= rate * (*m / (1 - b1)) / (sqrt(*v / (1 - b2)) + 1e-5);
        }
    }
    double largest = 0, most = 0;
    for (int i = 0; i < WEIGHTS; i++) {
        largest = fmax(largest, fabs(reference[2][i]));
        most = fmax(most, fabs(reference[2][i] - (double)slab[0][2][i]));
    }
    assert_true(largest > 0.01 && most < 1e-6);
    for (int k = 0; k < 3; k++) {
        assert_memory_equal(slab[0][k], slab[1][k], WEIGHTS * sizeof(float)); /* however the weights are divided */
        free(slab[0][k]), free(slab[1][k]), free(reference[k]);
    }
    free(g);
}

static void test_norm_and_average(void **state)
{
    (void)state;
    float *g = malloc(WEIGHTS * sizeof *g), *average = calloc(WEIGHTS, sizeof *average);
    for (int i = 0; i < WEIGHTS; i++) g[i] = 3;
    assert_true(smurf_gradient_norm(WEIGHTS, g) == 600);
    assert_true(smurf_gradient_norm(0, g) == 0);
    for (int i = 0; i < 2; i++) smurf_average_move(WEIGHTS, 0.75, g, average);
    for (int i = 0; i < WEIGHTS; i++) assert_true(average[i] == 1.3125f); /* 3 (1 - 0.75^2) */
    g[WEIGHTS - 1] = NAN;
    assert_true(isnan(smurf_gradient_norm(WEIGHTS, g)));
    g[WEIGHTS - 1] = INFINITY;
    assert_true(isinf(smurf_gradient_norm(WEIGHTS, g)));
    free(g);
    free(average);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),          cmocka_unit_test(test_raw_clock),
        cmocka_unit_test(test_no_gap),           cmocka_unit_test(test_windows),
        cmocka_unit_test(test_shuffle),          cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_batches),          cmocka_unit_test(test_mask),
        cmocka_unit_test(test_schedules),        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_norm_and_average),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
