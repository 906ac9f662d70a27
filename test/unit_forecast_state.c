/*
 * unit_forecast_state.c - a forecast saved and restored answers to the bit as the one that was saved; damaged bytes and
 * those of another model are refused.
 */
#include "base/hash.h"
#include "pool_case.h"

#include <malloc.h>

enum { EVENTS = 45, LEVELS = 5, DRAWS = 3, TYPES = 3, TYPES_MOST = 40 };

/* Answers of every kind. */
struct said {
    smurf_status status;
    double quantile[LEVELS], cdf[LEVELS], density[LEVELS], mean, draw[DRAWS], share[TYPES_MOST], share_at[TYPES_MOST];
};

static struct said ask(smurf_forecast *f)
{
    static const double level[LEVELS] = {0.01, 0.25, 0.5, 0.9, 0.999}, gap[LEVELS] = {0, 0.1, 0.5, 2, 30};
    struct said s;
    memset(&s, 0, sizeof s); /* padding too: answers are compared as bytes */
    s.status = smurf_forecast_quantile(f, level, s.quantile, LEVELS, NULL);
    if (!s.status) s.status = smurf_forecast_cdf(f, gap, s.cdf, LEVELS, NULL);
    if (!s.status) s.status = smurf_forecast_density(f, gap, s.density, LEVELS, NULL);
    if (!s.status) s.status = smurf_forecast_mean(f, &s.mean, NULL);
    if (!s.status) s.status = smurf_forecast_sample(f, 7, s.draw, DRAWS, NULL);
    if (!s.status) s.status = smurf_forecast_types(f, s.share, NULL);
    if (!s.status) s.status = smurf_forecast_types_at(f, 0.3, s.share_at, NULL);
    return s;
}

static void assert_same(smurf_forecast *a, smurf_forecast *b)
{
    struct said x = ask(a), y = ask(b);
    assert_int_equal(x.status, SMURF_OK);
    assert_memory_equal(&x, &y, sizeof x);
    assert_int_equal(smurf_forecast_events(a), smurf_forecast_events(b));
}

static void save(const smurf_forecast *f, void **bytes, size_t *size)
{
    smurf_error err;
    if (smurf_forecast_save(f, bytes, size, &err)) fail_msg("%s", err.message);
}

static smurf_forecast *restore(const smurf_model *model, const void *bytes, size_t size)
{
    smurf_error err;
    smurf_forecast *f;
    if (smurf_forecast_restore(&f, model, bytes, size, &err)) fail_msg("%s", err.message);
    return f;
}

static smurf_forecast *save_and_restore(const smurf_forecast *f, const smurf_model *model)
{
    void *bytes, *again;
    size_t size, size_again;
    save(f, &bytes, &size);
    smurf_forecast *g = restore(model, bytes, size);
    save(g, &again, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, again, size);
    smurf_free(bytes), smurf_free(again);
    return g;
}

static void append(smurf_forecast *f, const smurf_sequence *s, size_t i)
{
    smurf_error err;
    const float *further = s->further ? s->further + i * s->columns : NULL;
    if (smurf_forecast_append_with(f, s->time[i], s->type[i], further, &err)) fail_msg("%s", err.message);
}

/* A third of the events read at once, the others one by one, so that replaying them in either way would show. */
static smurf_forecast *grown(const smurf_model *model, size_t history, const smurf_sequence *s, size_t events)
{
    smurf_forecast *f = forecast_of(model, history, s, events / 3);
    for (size_t i = events / 3; i < events; i++) append(f, s, i);
    return f;
}

/* Saved after `cut` events, then given the rest. */
static void check_cut(const smurf_model *model, size_t history, const smurf_sequence *s, size_t cut)
{
    smurf_forecast *f = grown(model, history, s, cut), *g = save_and_restore(f, model);
    assert_same(f, g);
    assert_int_equal(smurf_forecast_silence(f, 0.7, NULL), SMURF_OK);
    smurf_forecast *silent = save_and_restore(f, model);
    assert_same(f, silent);
    assert_int_equal(smurf_forecast_silence(g, 0.7, NULL), SMURF_OK);
    assert_same(f, g);
    smurf_forecast_free(silent);
    for (size_t i = cut; i < s->length; i++) {
        append(f, s, i), append(g, s, i);
        if (i < cut + 3 || i % 7 == 0 || i + 1 == s->length) assert_same(f, g);
    }
    smurf_forecast_free(f), smurf_forecast_free(g);
}

static void the_same_to_the_bit(void **state)
{
    (void)state;
    static const size_t history[] = {0, 5, 33}, cut[] = {0, 1, 2, 8, 16, 17, 25, 32, 33, 40, 44};
    smurf_data *data = simulate("hawkes", TYPES, 4, EVENTS, 4);
    for (int kind = 0; kind <= MODEL_KINDS; kind++) {
        smurf_model *model = trained(kind < MODEL_KINDS ? model_kinds[kind] : "objective=mle clock=raw", data);
        for (size_t h = 0; h < sizeof history / sizeof *history; h++)
            for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
                check_cut(model, history[h], smurf_data_sequence(data, 1), cut[i]);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

/* Further columns of the window, and those that futures are drawn from. */
static void columns_to_the_bit(void **state)
{
    (void)state;
    static const size_t history[] = {0, 5}, cut[] = {0, 1, 2, 17, 33, 44};
    smurf_data *data = simulate("covariate", TYPES, 4, EVENTS, 4);
    const char *const kinds[] = {"objective=mle epochs=1", "objective=mle context=8 epochs=1"};
    for (int kind = 0; kind < 2; kind++) {
        smurf_model *model = trained(kinds[kind], data);
        for (size_t h = 0; h < 2; h++)
            for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
                check_cut(model, history[h], smurf_data_sequence(data, 1), cut[i]);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

/* What pooled naive laws know of the events goes on, too. */
static void pooled_to_the_bit(void **state)
{
    (void)state;
    static const size_t cut[] = {0, 1, 2, 17, 44};
    smurf_data *data = dated_log(4, EVENTS, 4);
    for (enum pool_law law = POOL_NO_LAW; law < POOL_LAWS; law++)
        for (enum pool_types types = POOL_NO_TYPES; types < POOL_TYPES; types++) {
            smurf_model *model = trained(law % 2 ? "objective=mle context=8 epochs=1" : "objective=mle epochs=1", data);
            if (law || types) set_pool(model, data, law, types);
            for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
                check_cut(model, 0, smurf_data_sequence(data, 1), cut[i]);
            smurf_model_free(model);
        }
    smurf_data_free(data);
}

/* The clock's origin is kept, also of an empty history. */
static void origin_is_kept(void **state)
{
    (void)state;
    smurf_data *data = simulate("hawkes", TYPES, 4, EVENTS, 4);
    smurf_model *model = trained("objective=mle clock=raw", data);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    for (size_t events = 0; events < 5; events += 4) {
        smurf_forecast *f = forecast_of(model, 0, s, 0), *other = forecast_of(model, 0, s, 0);
        smurf_forecast_clear(f, 1000);
        for (size_t i = 0; i < events; i++) append(f, s, i), append(other, s, i);
        smurf_forecast *g = save_and_restore(f, model);
        append(f, s, events), append(g, s, events), append(other, s, events);
        assert_same(f, g);
        assert_true(ask(f).mean != ask(other).mean);
        smurf_forecast_free(f), smurf_forecast_free(g), smurf_forecast_free(other);
    }
    smurf_model_free(model);
    smurf_data_free(data);
}

/* Recalibration on or off is kept, and so are conformal intervals; the model may come from its file. */
static void calibrated_and_from_a_file(void **state)
{
    (void)state;
    smurf_error err;
    void *file;
    size_t size;
    smurf_data *data = simulate("hawkes", TYPES, 60, 40, 4);
    smurf_model *model = trained("objective=mle epochs=1", data), *loaded;
    if (smurf_model_calibrate(model, data, NULL, 1, 1, 1, NULL, NULL, &err)) fail_msg("%s", err.message);
    if (smurf_model_save_memory(model, &file, &size, &err)) fail_msg("%s", err.message);
    if (smurf_model_load_memory(&loaded, file, size, NULL, &err)) fail_msg("%s", err.message);
    smurf_free(file);
    smurf_forecast *f = grown(model, 0, smurf_data_sequence(data, 0), 20), *on = save_and_restore(f, loaded);
    assert_same(f, on);
    smurf_forecast_recalibrate(f, 0);
    smurf_forecast *off = save_and_restore(f, loaded);
    assert_same(f, off);
    assert_true(ask(on).mean != ask(off).mean);
    smurf_forecast_recalibrate(off, 1);
    assert_same(on, off);
    double a[2], b[2];
    assert_int_equal(smurf_forecast_conformal(f, 0.8, 2, a, NULL), SMURF_OK);
    assert_int_equal(smurf_forecast_conformal(on, 0.8, 2, b, NULL), SMURF_OK);
    assert_memory_equal(a, b, sizeof a);
    smurf_forecast_free(f), smurf_forecast_free(on), smurf_forecast_free(off);
    smurf_model_free(model), smurf_model_free(loaded);
    smurf_data_free(data);
}

/* ---- Bytes that are refused -------------------------------------------------------------------- */

static void assert_refused(const smurf_model *model, const void *bytes, size_t size, smurf_status status,
                           const char *why)
{
    smurf_error err;
    smurf_forecast *f = (smurf_forecast *)&err;
    assert_int_equal(smurf_forecast_restore(&f, model, bytes, size, &err), status);
    assert_null(f);
    if (!strstr(err.message, why)) fail_msg("'%s' does not say '%s'", err.message, why);
}

static void another_model_is_refused(void **state)
{
    (void)state;
    static const char why[] = "belongs to another model";
    smurf_error err;
    smurf_data *data = simulate("hawkes", TYPES, 60, 20, 4), *two = simulate("hawkes", 2, 4, 20, 4);
    smurf_model *model = trained("objective=mle epochs=1", data);
    const char *other[] = {"objective=mle epochs=1 seed=9", "objective=mle epochs=1 context=8",
                           "objective=mle epochs=1 activation=relu", "model=thp scale=mean gap-feature=off epochs=1"};
    smurf_forecast *f = grown(model, 0, smurf_data_sequence(data, 0), 10);
    void *bytes;
    size_t size;
    save(f, &bytes, &size);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        smurf_model *m = trained(other[i], data);
        assert_refused(m, bytes, size, SMURF_ERROR_ARGUMENT, why);
        smurf_model_free(m);
    }
    smurf_model *m = trained("objective=mle epochs=1", two);
    assert_refused(m, bytes, size, SMURF_ERROR_ARGUMENT, why);
    smurf_model_free(m);
    smurf_forecast_free(restore(model, bytes, size));
    /* One weight, in its last bit. */
    float *weight = model->slab + model->model.params.total - 1, before = *weight;
    *weight = nextafterf(before, INFINITY);
    assert_refused(model, bytes, size, SMURF_ERROR_ARGUMENT, why);
    *weight = before;
    smurf_forecast_free(restore(model, bytes, size));
    if (smurf_model_calibrate(model, data, NULL, 1, 1, 1, NULL, NULL, &err)) fail_msg("%s", err.message);
    assert_refused(model, bytes, size, SMURF_ERROR_ARGUMENT, "before it was calibrated again");
    smurf_free(bytes);
    smurf_forecast_free(f);
    smurf_model_free(model);
    smurf_data_free(data), smurf_data_free(two);
}

/* A copy with memory of exactly its size, so that sanitizers see a byte too far. */
static unsigned char *exact_copy(const void *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static void check_damage(const smurf_model *model, const void *bytes, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        unsigned char *cut = exact_copy(bytes, n);
        assert_refused(model, cut, n, SMURF_ERROR_INPUT, n < 104 ? "not a saved forecast" : "damaged");
        free(cut);
    }
    unsigned char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    copy[size] = 0;
    assert_refused(model, copy, size + 1, SMURF_ERROR_INPUT, "damaged");
    for (size_t i = 0; i < size; i++)
        for (unsigned flip = 1; flip < 256; flip = 2 * flip + 1) {
            copy[i] ^= (unsigned char)flip;
            assert_refused(model, copy, size, SMURF_ERROR_INPUT,
                           i < 8    ? "not a saved forecast"
                           : i < 12 ? "this library reads version 3 only"
                                    : "damaged");
            copy[i] ^= (unsigned char)flip;
        }
    smurf_forecast_free(restore(model, copy, size));
    free(copy);
}

/* Bytes changed by somebody who knows the checksum: refused, or a forecast that can be used. */
static void check_forgery(const smurf_model *model, const smurf_sequence *s, const void *bytes, size_t size)
{
    enum { HEAD = 104, SUM = 24 };
    unsigned char *copy = exact_copy(bytes, size);
    for (size_t i = 12; i < size; i += i < HEAD + 64 ? 1 : 13)
        for (unsigned flip = 1; flip < 256; flip = 2 * flip + 1) {
            smurf_forecast *f;
            memcpy(copy, bytes, size);
            copy[i] ^= (unsigned char)flip;
            memset(copy + SUM, 0, 8);
            uint64_t sum = smurf_hash_bytes(smurf_hash_bytes(HASH_START, copy, HEAD), copy + HEAD, size - HEAD);
            memcpy(copy + SUM, &sum, 8);
            if (smurf_forecast_restore(&f, model, copy, size, NULL)) continue;
            ask(f);
            for (size_t k = 20; k < 30; k++) smurf_forecast_append(f, s->time[k], s->type[k], NULL);
            ask(f);
            smurf_forecast_free(f);
        }
    free(copy);
}

static void damaged_pools_are_refused(void **state)
{
    (void)state;
    smurf_data *data = dated_log(4, EVENTS, 4);
    smurf_model *model = trained("objective=mle width=4 head-width=1 heads=1 context=8 epochs=1", data);
    const enum pool_law laws[] = {POOL_SAME_HOUR, POOL_LAST};
    for (size_t i = 0; i < 2; i++) {
        void *bytes;
        size_t size;
        set_pool(model, data, laws[i], POOL_RECENCY);
        smurf_forecast *f = grown(model, 0, smurf_data_sequence(data, 0), 20);
        save(f, &bytes, &size);
        check_damage(model, bytes, size);
        check_forgery(model, smurf_data_sequence(data, 0), bytes, size);
        smurf_free(bytes);
        smurf_forecast_free(f);
    }
    smurf_model_free(model);
    smurf_data_free(data);
}

static void damage_is_refused(void **state)
{
    (void)state;
    static const char *const kinds[] = {"objective=mle width=4 head-width=1 heads=1 context=8",
                                        "model=nhp scale=mean gap-feature=off width=4", "objective=mle width=4 heads=1",
                                        "objective=mle width=4 heads=1 counts=on"};
    smurf_data *few = simulate("hawkes", TYPES, 4, EVENTS, 4), *many = simulate("poisson", TYPES_MOST, 4, EVENTS, 4);
    for (size_t kind = 0; kind < 4; kind++) {
        smurf_data *data = kind == 3 ? many : few;
        smurf_model *model = trained(kinds[kind], data);
        for (size_t events = 0; events <= 20; events += 20) {
            smurf_forecast *f = grown(model, kind == 2 ? 7 : 0, smurf_data_sequence(data, 0), events);
            void *bytes;
            size_t size;
            save(f, &bytes, &size);
            assert_true(size < 8000);
            if (kind < 3) check_damage(model, bytes, size);
            check_forgery(model, smurf_data_sequence(data, 0), bytes, size);
            smurf_free(bytes);
            smurf_forecast_free(f);
        }
        assert_refused(model, NULL, 0, SMURF_ERROR_INPUT, "not a saved forecast");
        smurf_model_free(model);
    }
    smurf_data_free(few), smurf_data_free(many);
}

static size_t memory_in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* As smurf_forecast_size() says, within a factor of two. A memory that cannot be counted (sanitizers) seems unchanged.
 */
static void memory_is_known(void **state)
{
    (void)state;
    smurf_data *data = dated_log(4, EVENTS, 4);
    for (int kind = 0; kind <= MODEL_KINDS; kind++) {
        smurf_model *model =
            trained(kind < MODEL_KINDS ? model_kinds[kind] : "objective=mle context=12 window=20", data);
        size_t before = memory_in_use();
        smurf_forecast *f = grown(model, 0, smurf_data_sequence(data, 1), EVENTS);
        smurf_forecast_rest(f);
        size_t took = memory_in_use() - before, said = smurf_forecast_size(f);
        if (took && (took > 2 * said || said > 2 * took)) fail_msg("model %d: %zu bytes, not %zu", kind, took, said);
        smurf_forecast_free(f);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

/* One lends the memory for answers to the other and gets it back; a settled one answers as before, but goes no further.
 */
static void many_at_a_time(void **state)
{
    (void)state;
    smurf_data *data = dated_log(4, EVENTS, 4);
    for (int kind = 0; kind <= MODEL_KINDS; kind++) {
        smurf_model *model = trained(kind < MODEL_KINDS ? model_kinds[kind] : "objective=mle wall-clock=on", data);
        const smurf_sequence *s = smurf_data_sequence(data, 1);
        smurf_futures_config config;
        smurf_futures *futures;
        smurf_error err;
        void *bytes;
        size_t size;
        if (kind == 0) set_pool(model, data, POOL_SAME_HOUR, POOL_RECENCY);
        if (kind == 2) set_follow(model, data, POOL_MARKOV, 0.05);
        smurf_forecast *f = grown(model, 0, s, 20), *g = grown(model, 0, s, 20), *spare;
        assert_int_equal(smurf_forecast_new(&spare, model, 0, NULL), SMURF_OK);
        size = smurf_forecast_size(f);
        assert_same(f, g);
        smurf_forecast_lend(f, spare);
        smurf_forecast_lend(spare, g);
        assert_same(f, g);
        smurf_forecast *small;
        assert_int_equal(smurf_forecast_settle(&small, g, NULL), SMURF_OK);
        smurf_forecast_free(g);
        g = small;
        assert_same(f, g);
        assert_true(smurf_forecast_size(g) < size);
        assert_int_equal(smurf_forecast_silence(f, 0.7, NULL), SMURF_OK);
        assert_int_equal(smurf_forecast_silence(g, 0.7, NULL), SMURF_OK);
        assert_same(f, g);
        smurf_futures_config_init(&config);
        assert_int_equal(smurf_forecast_append(g, s->time[20], s->type[20], &err), SMURF_ERROR_ARGUMENT);
        assert_non_null(strstr(err.message, "given up its history"));
        assert_int_equal(smurf_forecast_read(g, s, 20, &err), SMURF_ERROR_ARGUMENT);
        assert_int_equal(smurf_forecast_futures(g, &config, &futures, &err), SMURF_ERROR_ARGUMENT);
        assert_int_equal(smurf_forecast_save(g, &bytes, &size, &err), SMURF_ERROR_ARGUMENT);
        assert_null(bytes);
        smurf_forecast_clear(g, 0);
        assert_int_equal(smurf_forecast_append(g, s->time[20], s->type[20], &err), SMURF_ERROR_ARGUMENT);
        smurf_forecast_free(f), smurf_forecast_free(g), smurf_forecast_free(spare);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_to_the_bit),
        cmocka_unit_test(origin_is_kept),
        cmocka_unit_test(calibrated_and_from_a_file),
        cmocka_unit_test(another_model_is_refused),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(pooled_to_the_bit),
        cmocka_unit_test(columns_to_the_bit),
        cmocka_unit_test(memory_is_known),
        cmocka_unit_test(many_at_a_time),
        cmocka_unit_test(damaged_pools_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
