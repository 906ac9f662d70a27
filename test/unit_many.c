/*
 * unit_many.c - forecasts for many sequences: in order, and the same bits as one by one, at any number of threads.
 */
#include "forecast_case.h"

#include <stddef.h>

enum { MOST = 4000 };

/* What is compared of an answer. */
struct row {
    size_t sequence, events;
    double median, mean, low, high, within, share, next;
    uint32_t type;
};

struct rows {
    struct row row[MOST];
    size_t n, stop_after; /* 0: never */
};

static struct row row_of(const smurf_answer *a)
{
    struct row row;
    memset(&row, 0, sizeof row);
    row = (struct row){.sequence = a->sequence,
                       .events = a->events,
                       .median = a->median,
                       .mean = a->mean,
                       .low = a->interval[0].low,
                       .high = a->interval[1].high,
                       .within = a->within[0],
                       .share = a->share[1],
                       .next = isnan(a->next_median) ? -1 : a->next_median,
                       .type = a->type[0]};
    return row;
}

static int keep(void *context, const smurf_answer *a)
{
    struct rows *rows = context;
    assert_true(rows->n < MOST);
    rows->row[rows->n++] = row_of(a);
    return rows->n == rows->stop_after;
}

static bool same(const struct row *a, const struct row *b)
{
    return a->sequence == b->sequence && a->events == b->events && a->median == b->median && a->mean == b->mean &&
           a->low == b->low && a->high == b->high && a->within == b->within && a->share == b->share &&
           a->next == b->next && a->type == b->type;
}

static void same_rows(const struct rows *a, const struct rows *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) assert_true(same(&a->row[i], &b->row[i]));
}

static void add(struct rows *rows, smurf_forecast *f, const smurf_question *q, size_t sequence)
{
    smurf_answer *a;
    smurf_error err;
    if (smurf_forecast_ask(f, q, &a, &err)) fail_msg("%s", err.message);
    a->sequence = sequence;
    keep(rows, a);
    smurf_answer_free(a);
}

/* One forecast, asked by itself. */
static void one_by_one(struct rows *rows, const smurf_model *model, const smurf_data *data, const smurf_question *q,
                       size_t every)
{
    smurf_forecast *f;
    rows->n = 0;
    assert_int_equal(smurf_forecast_new(&f, model, 0, NULL), SMURF_OK);
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        if (!every) {
            assert_int_equal(smurf_forecast_read(f, s, s->length, NULL), SMURF_OK);
            add(rows, f, q, i);
            continue;
        }
        smurf_forecast_clear(f, s->origin);
        for (size_t k = 0; k < s->length; k++) {
            assert_int_equal(smurf_forecast_append(f, s->time[k], s->type[k], NULL), SMURF_OK);
            if ((k + 1) % every == 0) add(rows, f, q, i);
        }
    }
    smurf_forecast_free(f);
}

static smurf_question question(void)
{
    static const double within[] = {1};
    smurf_question q;
    smurf_question_init(&q);
    q.within = within;
    q.horizons = 1;
    return q;
}

static void threads_do_not_show(void **state)
{
    (void)state;
    static struct rows expected, got;
    smurf_data *data = simulate("hawkes", 3, 30, 23, 4);
    smurf_question q = question();
    for (int kind = 0; kind < MODEL_KINDS; kind++) {
        smurf_model *model = trained(model_kinds[kind], data);
        for (size_t step = 0; step < 4; step++)
            for (int threads = 1; threads < 8; threads += 3) {
                smurf_many_config c;
                smurf_error err;
                const size_t every = (const size_t[]){0, 1, 6, 23}[step]; /* 23: asked at the end, event by event */
                size_t failed = 0;
                smurf_many_config_init(&c);
                c.every = every;
                c.threads = threads;
                c.failed = &failed;
                one_by_one(&expected, model, data, &q, every);
                got.n = 0;
                if (smurf_forecast_many(model, data, &q, &c, keep, &got, &err)) fail_msg("%s", err.message);
                same_rows(&expected, &got);
                assert_true(failed == SIZE_MAX);
            }
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

static void futures_too(void **state)
{
    (void)state;
    static struct rows expected, got;
    smurf_data *data = simulate("hawkes", 3, 3, 23, 4);
    smurf_model *model = trained("objective=mle context=8", data);
    smurf_question q = question();
    q.next = 1;
    q.paths = 40;
    for (size_t every = 0; every < 10; every += 9) {
        smurf_many_config c;
        smurf_many_config_init(&c);
        c.every = every;
        c.threads = 3;
        one_by_one(&expected, model, data, &q, every);
        got.n = 0;
        assert_int_equal(smurf_forecast_many(model, data, &q, &c, keep, &got, NULL), SMURF_OK);
        same_rows(&expected, &got);
    }
    smurf_model_free(model);
    smurf_data_free(data);
}

/* The element `i` of a column that begins with `first`. */
static const void *element(const smurf_answers *all, const void *first, size_t i)
{
    return (const char *)first + i * smurf_answers_stride(all);
}

static void kept_answers_are_columns(void **state)
{
    (void)state;
    static struct rows expected, got;
    smurf_data *data = simulate("hawkes", 3, 12, 23, 4);
    smurf_model *model = trained("objective=mle context=8", data);
    for (int more = 0; more < 2; more++) {
        smurf_answers *all;
        smurf_error err;
        smurf_question q = question();
        smurf_many_config c;
        smurf_many_config_init(&c);
        q.top = 2;
        q.conformal = more;
        q.next = more ? 1 : -1;
        q.paths = 10;
        c.every = more ? 9 : 0;
        one_by_one(&expected, model, data, &q, c.every);
        if (smurf_forecast_all(&all, model, data, &q, &c, &err)) fail_msg("%s", err.message);
        const smurf_answer *first = smurf_answers_at(all, 0);
        got.n = 0;
        for (size_t i = 0; i < smurf_answers_count(all); i++) {
            const smurf_answer *a = smurf_answers_at(all, i);
            assert_int_equal(a->types, 2);
            assert_true((a->conformal != NULL) == more && (a->next_interval != NULL) == more);
            assert_ptr_equal(a->share, element(all, first->share, i));
            assert_ptr_equal(&a->median, element(all, &first->median, i));
            if (more) assert_ptr_equal(a->conformal, element(all, first->conformal, i));
            if (more) assert_ptr_equal(a->next_within, element(all, first->next_within, i));
            keep(&got, a);
        }
        same_rows(&expected, &got);
        assert_null(smurf_answers_at(all, smurf_answers_count(all)));
        smurf_answers_free(all);
        q.levels = 1;
        q.level = &(double){2};
        assert_int_equal(smurf_forecast_all(&all, model, data, &q, &c, &err), SMURF_ERROR_ARGUMENT);
        assert_null(all);
    }
    smurf_answers_free(NULL);
    smurf_model_free(model);
    smurf_data_free(data);
}

static void chosen_sequences(void **state)
{
    (void)state;
    static struct rows all, got;
    static const size_t which[] = {7, 2, 2, 5}, wrong[] = {30};
    smurf_data *data = simulate("hawkes", 3, 30, 23, 4);
    smurf_model *model = trained("objective=mle", data);
    smurf_question q = question();
    smurf_many_config c;
    smurf_error err;
    one_by_one(&all, model, data, &q, 0);
    smurf_many_config_init(&c);
    c.sequence = which;
    c.sequences = 4;
    got.n = 0;
    assert_int_equal(smurf_forecast_many(model, data, &q, &c, keep, &got, NULL), SMURF_OK);
    assert_int_equal(got.n, 4);
    for (int i = 0; i < 4; i++) assert_true(same(&got.row[i], &all.row[which[i]]));
    c.sequence = wrong;
    c.sequences = 1;
    assert_int_equal(smurf_forecast_many(model, data, &q, &c, keep, &got, &err), SMURF_ERROR_ARGUMENT);
    assert_string_equal(err.message, "sequence 30 was asked for, of 30");
    /* A client that knows the first field only. */
    c.size = offsetof(smurf_many_config, history);
    got.n = 0;
    assert_int_equal(smurf_forecast_many(model, data, &q, &c, keep, &got, NULL), SMURF_OK);
    same_rows(&all, &got);
    got.n = 0;
    assert_int_equal(smurf_forecast_many(model, data, &q, NULL, keep, &got, NULL), SMURF_OK);
    same_rows(&all, &got);
    smurf_model_free(model);
    smurf_data_free(data);
}

static int stop_at_ten(void *context, const smurf_progress *progress)
{
    (void)context;
    assert_string_equal(progress->unit, "sequences");
    assert_true(progress->total == 30);
    return progress->done >= 10;
}

/* What was answered before a stop or an error has been handed out, in order. */
static void stops(void **state)
{
    (void)state;
    static struct rows all, got;
    smurf_data *data = simulate("hawkes", 3, 30, 23, 4);
    smurf_model *model = trained("objective=mle", data);
    smurf_question q = question();
    smurf_error err;
    for (size_t every = 0; every < 10; every += 5) {
        smurf_many_config c;
        size_t failed = 0;
        one_by_one(&all, model, data, &q, every);
        smurf_many_config_init(&c);
        c.threads = 3;
        c.every = every;
        c.failed = &failed;
        got.n = 0;
        got.stop_after = 5;
        assert_int_equal(smurf_forecast_many(model, data, &q, &c, keep, &got, &err), SMURF_ERROR_CANCELLED);
        assert_string_equal(err.message, "stopped while forecasting");
        assert_true(got.n == 5 && failed == SIZE_MAX);
        got.n = got.stop_after = 0;
        c.progress = stop_at_ten;
        assert_int_equal(smurf_forecast_many(model, data, &q, &c, keep, &got, &err), SMURF_ERROR_CANCELLED);
        assert_true(got.n >= 10 && got.n < all.n);
        for (size_t i = 0; i < got.n; i++) assert_true(same(&got.row[i], &all.row[i]));
        /* The clock stands before the end of one sequence. */
        smurf_moment now = {0, 0};
        size_t late = 0;
        double most = 0;
        for (size_t i = 0; i < 30; i++) {
            const smurf_sequence *s = smurf_data_sequence(data, i);
            size_t last = (every ? s->length / every * every : s->length) - 1;
            if (s->time[last] > most) most = s->time[last], late = i;
        }
        assert_true(smurf_moment_after(&now, now, most - 1e-6));
        q.now = &now;
        c.progress = NULL;
        got.n = 0;
        assert_int_equal(smurf_forecast_many(model, data, &q, &c, keep, &got, &err), SMURF_ERROR_ARGUMENT);
        assert_true(failed == late && strstr(err.message, "after now"));
        assert_true(got.n && got.row[got.n - 1].sequence <= late);
        q.now = NULL;
    }
    smurf_model_free(model);
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(futures_too),
        cmocka_unit_test(kept_answers_are_columns),
        cmocka_unit_test(chosen_sequences),
        cmocka_unit_test(stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
