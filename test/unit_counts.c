/*
 * unit_counts.c - decayed counts against their formula, which sums over all events; slots; the scales fitted on train;
 * what repeats.
 */
#include "op/counts.h"

#include "base/random.h"
#include "model/repeat.h"
#include "train_case.h"

enum { EVENTS = 400 };
static const double rate[COUNT_SCALES] = {10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01};

struct log {
    size_t types, n;
    uint32_t type[EVENTS];
    double time[EVENTS];
    struct count_rows rows;
    void *memory;
};

/* Types come from a range of `near`, which moves slowly over all. */
static void start(struct log *l, size_t types, size_t near)
{
    struct random random;
    struct workspace none = {NULL, 0}, w = {NULL, 0};
    struct counts counts = {0};
    *l = (struct log){.types = types, .n = EVENTS};
    counts_take(&none, types, EVENTS);
    w.block = l->memory = aligned_alloc(WORKSPACE_ALIGN, none.used);
    assert_non_null(l->memory);
    memset(l->memory, 0xff, none.used);
    l->rows = counts_take(&w, types, EVENTS);
    smurf_random_init(&random, types, near);
    for (size_t i = 0; i < EVENTS; i++) {
        double gap = i % 50 == 49 ? 1e4 : i % 7 ? smurf_random_exponential(&random) : 0;
        l->time[i] = i ? l->time[i - 1] + gap : 1e6;
        l->type[i] = (uint32_t)((i / 3 + smurf_random_below(&random, near)) % types);
        if (i % 31 == 30) l->type[i] = (uint32_t)types; /* unknown */
        counts_add(&counts, rate, types, l->type[i], l->time[i], &l->rows, i);
    }
}

/* ln(1 + S) of a type after event i; UINT32_MAX: of all types. */
static double formula(const struct log *l, size_t i, uint32_t type, size_t scale)
{
    double sum = 0;
    for (size_t j = 0; j <= i; j++)
        if (type == UINT32_MAX || l->type[j] == type) sum += exp(-rate[scale] * (l->time[i] - l->time[j]));
    return log1p(sum);
}

static void check(const real *got, const struct log *l, size_t i, uint32_t type)
{
    for (size_t m = 0; m < COUNT_SCALES; m++) {
        double want = formula(l, i, type, m);
        if (!(fabs((double)got[m] - want) <= 2e-6 * (1 + want)))
            fail_msg("%zu types, event %zu, type %u, scale %zu: %.9g, not %.9g", l->types, i, (unsigned)type, m,
                     (double)got[m], want);
    }
}

static void the_formula(void **state)
{
    (void)state;
    const size_t types[] = {1, 3, COUNT_TYPES, COUNT_TYPES + 1, COUNT_SLOTS};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct log l;
        size_t most = 0;
        start(&l, types[t], types[t] / 2 + 1);
        for (size_t i = 0; i < EVENTS; i++) {
            const real *slot = counts_slot(&l.rows, i);
            check(l.rows.input + i * l.rows.inputs, &l, i, UINT32_MAX);
            size_t seen = 0;
            for (size_t k = 0; k < l.rows.slots; k++, slot += COUNT_SCALES)
                if (slot[COUNT_SCALES - 1] > 0 || counts_have_all(l.types))
                    check(slot, &l, i, counts_type(&l.rows, i, k)), seen++;
            most = seen > most ? seen : most;
        }
        assert_true(3 * most > types[t]);
        free(l.memory);
    }
}

/* With more types than slots, those that occurred last have one. A type that comes back before COUNT_SLOTS others did
   is as it would be with all; else it begins anew. */
static void the_last_types(void **state)
{
    (void)state;
    const size_t near[] = {20, 100};
    for (int n = 0; n < 2; n++) {
        struct log l;
        size_t forgotten = 0;
        start(&l, 1000, near[n]);
        for (size_t i = 0; i < EVENTS; i++) {
            const real *slot = counts_slot(&l.rows, i);
            uint32_t last[COUNT_SLOTS];
            size_t found = 0, right = 0;
            for (size_t j = i + 1; j-- > 0 && found < COUNT_SLOTS;) {
                bool is_new = l.type[j] < l.types;
                for (size_t k = 0; k < found; k++) is_new = is_new && last[k] != l.type[j];
                if (is_new) last[found++] = l.type[j];
            }
            for (size_t k = 0; k < l.rows.slots; k++) {
                bool is_last = false;
                for (size_t f = 0; f < found; f++) is_last = is_last || last[f] == counts_type(&l.rows, i, k);
                bool used = slot[k * COUNT_SCALES + COUNT_SCALES - 1] > 0;
                if (used && !is_last) fail_msg("event %zu: type %u has a slot", i, counts_type(&l.rows, i, k));
                right += used;
                if (!used || n) continue;
                check(slot + k * COUNT_SCALES, &l, i, counts_type(&l.rows, i, k));
            }
            if (right > found) fail_msg("event %zu: %zu slots for %zu types", i, right, found);
            forgotten += found == COUNT_SLOTS;
        }
        assert_true(n == 0 || forgotten > 0);
        free(l.memory);
    }
}

/* What repeats is added to the logits of the types in the slots, at every point, and to no other; a law adds the same.
 */
static void repeats(void **state)
{
    (void)state;
    enum { POINTS = 2, MOST = 200 };
    const size_t types[] = {5, MOST};
    const real v[COUNT_SCALES] = {1, -2, 0.5, 0, 0, 3, 0, 0, 0, 0.25};
    for (int t = 0; t < 2; t++) {
        const struct encoder_shape shape = {.types = types[t], .counts = true};
        struct log l;
        start(&l, types[t], 5);
        assert_int_equal(repeat_coefficients(&shape), t ? 2 * COUNT_SLOTS : 5);
        for (size_t i = 0; i < EVENTS; i++) {
            real logits[POINTS * MOST] = {0}, c[2 * COUNT_SLOTS];
            double want[MOST] = {0}, added[MOST] = {0};
            for (size_t k = 0; k < l.rows.slots; k++)
                for (size_t m = 0; m < COUNT_SCALES; m++)
                    want[counts_type(&l.rows, i, k)] += (double)(v[m] * counts_slot(&l.rows, i)[k * COUNT_SCALES + m]) *
                                                        log((double)types[t]) / COUNT_SCALES;
            repeat_add(&l.rows, i, v, POINTS, logits);
            repeat_terms(&l.rows, i, v, c);
            for (size_t k = 0; k < l.rows.slots; k++) added[repeat_type(&shape, c, k)] += (double)c[k];
            assert_true(l.type[i] == types[t] || fabs(want[l.type[i]]) > 0);
            for (size_t k = 0; k < types[t]; k++) {
                assert_true(fabs(added[k] - want[k]) < 1e-4);
                for (size_t j = 0; j < POINTS; j++) assert_true(fabs((double)logits[k * POINTS + j] - want[k]) < 1e-4);
            }
        }
        free(l.memory);
    }
}

/* ---- Scales ---------------------------------------------------------------------------------- */

static smurf_model *trained_on(const char *text)
{
    smurf_error err;
    smurf_model *model = NULL;
    smurf_epoch epoch;
    smurf_data *data = read_text(text);
    smurf_trainer *t = trainer_of("counts=on epochs=1", 1, data, NULL);
    if (smurf_trainer_epoch(t, &epoch, &err) || smurf_trainer_model(t, &model, &err)) fail_msg("%s", err.message);
    smurf_trainer_free(t);
    smurf_data_free(data);
    return model;
}

/* From the shortest positive gap, but at least a tick, to 20 times the longest, with so few gaps. */
static void scales(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double low, high;
    } cases[] = {
        {"time,type\n0,a\n0,b\n0.25,a\n1.253,b\n9,a\n", 0.25, 20 * 7.747},
        {"time,type\n0,a\n10,b\n30,a\n30,b\n90,a\n", 10, 1200},
        {"time,type\n0,a\n5,b\n10,a\n15,b\n", 5, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        smurf_model *model = trained_on(cases[i].text);
        const struct view *view = &model->view;
        const double *r = model->model.shape.count_rate;
        assert_true(model->model.shape.counts);
        if (!(fabs(view->count_low / cases[i].low - 1) < 1e-9) || !(fabs(view->count_high / cases[i].high - 1) < 1e-9))
            fail_msg("case %zu: from %.17g to %.17g", i, view->count_low, view->count_high);
        assert_true(fabs(r[0] * view->count_low / view->clock_unit - 1) < 1e-9);
        assert_true(fabs(r[COUNT_SCALES - 1] * view->count_high / view->clock_unit - 1) < 1e-9);
        for (size_t m = 2; m < COUNT_SCALES; m++) assert_true(fabs(r[m] * r[m - 2] / (r[m - 1] * r[m - 1]) - 1) < 1e-9);
        smurf_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula),
        cmocka_unit_test(the_last_types),
        cmocka_unit_test(repeats),
        cmocka_unit_test(scales),
    };
    return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
