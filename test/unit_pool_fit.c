/*
 * unit_pool_fit.c - which naive laws a model is pooled with, and in which share; the laws in a model's file; what
 * follows a history.
 */
#include "pool_case.h"

#include "forecast/model_predictor.h"

/* ---- The choice -------------------------------------------------------------------------------- */

enum { GAPS = 1200, LAW = 110 };

struct world {
    struct pool_scores s;
    uint32_t unit[GAPS];
    int fold[GAPS];
    double crps[GAPS], naive[2][GAPS], both[2][GAPS], share[GAPS], naive_share[2][GAPS];
};

static struct world *new_world(void)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->s = (struct pool_scores){
        .n = GAPS, .stride = 1, .unit = w->unit, .fold = w->fold, .crps = w->crps, .share = w->share};
    for (size_t i = 0; i < GAPS; i++) w->unit[i] = (uint32_t)(i / 12), w->fold[i] = (int)(w->unit[i] % POOL_FOLDS);
    for (int k = 0; k < 2; k++) {
        w->s.naive[k + 1] = w->naive[k];
        w->s.both[k + 1] = w->both[k];
        w->s.naive_share[k + 1] = w->naive_share[k];
    }
    return w;
}

/* An exponential law, at its quantiles. */
static struct dist exponential(struct steps *steps, double mean)
{
    double x[LAW];
    for (int i = 0; i < LAW; i++) x[i] = -mean * log1p(-(i + 0.5) / LAW);
    return smurf_steps(steps, x, LAW, 0);
}

/* Gaps of which `share` have the mean 1 and the others the mean 8. The model says `said`; the first naive law has the
   mean 1, the second 20. */
static struct pool_choice choose_law(double said, double share, uint64_t seed)
{
    struct world *w = new_world();
    struct steps steps[3];
    struct pooled pooled;
    struct dist model = exponential(&steps[0], said),
                naive[2] = {exponential(&steps[1], 1), exponential(&steps[2], 20)};
    struct random random;
    smurf_random_init(&random, seed, 0);
    for (size_t i = 0; i < GAPS; i++) {
        double mean = smurf_random_uniform(&random) < share ? 1 : 8, gap = mean * smurf_random_exponential(&random);
        w->crps[i] = smurf_dist_crps(&model, gap);
        for (int k = 0; k < 2; k++) {
            struct dist both = smurf_pooled(&pooled, model, naive[k], 0.5);
            w->naive[k][i] = smurf_dist_crps(&naive[k], gap);
            w->both[k][i] = smurf_dist_crps(&both, gap);
        }
    }
    struct pool_choice c = smurf_pool_choose_law(&w->s);
    free(w);
    return c;
}

static void weights_of_laws_are_found(void **state)
{
    (void)state;
    struct pool_choice c = choose_law(8, 1, 1); /* the naive law is the truth */
    assert_int_equal(c.which, 1);
    assert_true(c.weight >= 0.9 && c.weight <= 0.95);
    assert_true(c.gain > 0.5 * c.mean);
    c = choose_law(8, 0.4, 2); /* a mixture of both */
    assert_int_equal(c.which, 1);
    if (fabs(c.weight - 0.4) > 0.1) fail_msg("the weight is %g, not 0.4", c.weight);
    int pooled = 0;
    for (uint64_t seed = 0; seed < 20; seed++) { /* the model is the truth: no more than chance, and then little */
        c = choose_law(1, 1, 10 + seed);
        assert_true(c.which == 0 || c.weight < 0.2);
        pooled += c.which != 0;
        c = choose_law(8, 0, 40 + seed);
        assert_true(c.which == 0 || c.weight < 0.2);
        pooled += c.which != 0;
    }
    if (pooled > 8) fail_msg("%d of 40 true models were pooled", pooled);
}

/* Two laws about as good, whose pool is a little better than either: less than the noise. It is used only where the
   gaps favour the model, and not without units. */
static void small_gains_of_selected_models(void **state)
{
    (void)state;
    struct world *w = new_world();
    struct random random;
    smurf_random_init(&random, 4, 0);
    w->s.naive[2] = NULL;
    for (size_t i = 0; i < GAPS; i++) {
        double noise = smurf_random_uniform(&random) - 0.5;
        w->crps[i] = 1 + noise;
        w->naive[0][i] = 1 - noise;
        w->both[0][i] = 0.9995;
    }
    assert_int_equal(smurf_pool_choose_law(&w->s).which, 0);
    w->s.selected = true;
    struct pool_choice c = smurf_pool_choose_law(&w->s);
    assert_int_equal(c.which, 1);
    assert_true(c.weight > 0.1 && c.weight <= 0.95);
    for (size_t i = 0; i < GAPS; i++) w->s.unit[i] = 0;
    assert_int_equal(smurf_pool_choose_law(&w->s).which, 0);
    free(w);
}

/* Chance must not pool a model: without units to judge noise by, or candidates, there is none. */
static void nothing_to_judge_by(void **state)
{
    (void)state;
    struct world *w = new_world();
    for (size_t i = 0; i < GAPS; i++) w->crps[i] = 2, w->naive[0][i] = w->both[0][i] = 1, w->naive[1][i] = 3;
    for (size_t i = 0; i < GAPS; i++) w->both[1][i] = 2.5;
    assert_int_equal(smurf_pool_choose_law(&w->s).which, 1);
    for (size_t i = 0; i < GAPS; i++) w->unit[i] = 0;
    assert_int_equal(smurf_pool_choose_law(&w->s).which, 0);
    w->s.naive[1] = w->s.naive[2] = NULL;
    assert_int_equal(smurf_pool_choose_law(&w->s).which, 0);
    w->s.n = 0;
    assert_int_equal(smurf_pool_choose_types(&w->s).which, 0);
    free(w);
}

/* The true probability of the type is 0.9 or 0.1; who knows says so, who does not says a half. */
static struct pool_choice choose_types(bool model_knows, bool naive_knows, uint64_t seed)
{
    struct world *w = new_world();
    struct random random;
    smurf_random_init(&random, seed, 0);
    for (size_t i = 0; i < GAPS; i++) {
        double p = smurf_random_uniform(&random) < 0.9 ? 0.9 : 0.1;
        w->share[i] = i % 50 == 0 ? NAN : model_knows ? p : 0.5;
        w->naive_share[0][i] = 0.5;
        w->naive_share[1][i] = naive_knows ? p : 0.5;
    }
    struct pool_choice c = smurf_pool_choose_types(&w->s);
    free(w);
    return c;
}

static void weights_of_types_are_found(void **state)
{
    (void)state;
    struct pool_choice c = choose_types(false, true, 1);
    assert_int_equal(c.which, 2);
    assert_true(c.weight > 0.9 && c.gain > 0.3);
    assert_int_equal(choose_types(true, false, 2).which, 0);
    assert_int_equal(choose_types(false, false, 3).which, 0);
}

/* The naive law knows from the start, from the middle on, or from time to time: the faster that changes, the higher the
   rate. */
static void rates_are_found(void **state)
{
    (void)state;
    double rate[3];
    for (int drift = 0; drift < 3; drift++) {
        struct world *w = new_world();
        struct random random;
        smurf_random_init(&random, 20, 0);
        for (size_t i = 0; i < GAPS; i++) {
            double p = smurf_random_uniform(&random) < 0.9 ? 0.9 : 0.1;
            size_t phase = i * (drift == 2 ? 12 : 2) / GAPS;
            bool model_knows = drift > 0 && phase % 2 == 0;
            w->share[i] = i % 50 == 0 ? NAN : model_knows ? p : 0.3;
            w->naive_share[0][i] = 0.3;
            w->naive_share[1][i] = model_knows ? 0.3 : p;
        }
        struct pool_choice types = {0};
        rate[drift] = smurf_pool_choose_follow(&w->s, &types);
        w->s.stride = 4; /* the same gaps, four events apart */
        assert_true(smurf_pool_choose_follow(&w->s, &types) == rate[drift] / 4);
        free(w);
    }
    assert_true(rate[0] == 0.001 && rate[1] <= 0.01 && rate[2] > rate[1]);
}

/* ---- Pairs ------------------------------------------------------------------------------------- */

static void pairs_are_counted(void **state)
{
    (void)state;
    smurf_error err;
    bool right;
    struct pairs p;
    double share[3], sum = 0;
    smurf_data *data = read_text("time,type\n1,a\n2,b\n3,a\n4,b\n5,a\n6,a\n7,c\n"); /* a: b b a c; b: a a */
    assert_int_equal(smurf_pairs_init(&p, data, &err), SMURF_OK);
    assert_int_equal(p.n, 4);
    smurf_pairs_shares(&p, 0, share);
    const double common[] = {3.5 / 7.5, 2.5 / 7.5, 1.5 / 7.5}, after[] = {1, 2, 1};
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(share[k] - (after[k] + 3 * common[k]) / 7) < 1e-15);
        sum += share[k];
    }
    assert_true(fabs(sum - 1) < 1e-15);
    smurf_pairs_shares(&p, 2, share); /* after c came nothing; nor after types that are not known */
    for (int k = 0; k < 3; k++) assert_true(fabs(share[k] - common[k]) < 1e-15);
    smurf_pairs_shares(&p, UINT32_MAX, share);
    assert_true(fabs(share[0] - common[0]) < 1e-15);
    struct pairs q;
    const struct pair wrong[][2] = {{{1, 0, 1}, {0, 1, 1}},
                                    {{0, 1, 1}, {0, 1, 1}},
                                    {{0, 3, 1}, {1, 0, 1}},
                                    {{0, 1, 1}, {3, 0, 1}},
                                    {{0, 1, 0}, {1, 0, 1}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(smurf_pairs_set(&q, 3, wrong[i], 2, &right, &err), SMURF_OK);
        assert_false(right);
    }
    smurf_pairs_release(&p);
    smurf_data_free(data);
}

/* ---- Models ------------------------------------------------------------------------------------ */

static struct dist next_law(smurf_forecast *f)
{
    smurf_error err;
    if (smurf_forecast_check(f, &err)) fail_msg("%s", err.message);
    return smurf_forecast_dist(f);
}

/* A forecast of a pooled model is the pool of its forecast and the naive law, and without recalibration its own. */
static void forecasts_are_pools(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = dated_log(6, 60, 3);
    for (enum pool_law law = POOL_NO_LAW; law < POOL_LAWS; law++) {
        enum pool_types types = (enum pool_types)(law % POOL_TYPES);
        smurf_model *model = trained("objective=mle epochs=1", data);
        const smurf_sequence *s = smurf_data_sequence(data, 2);
        smurf_forecast *alone = forecast_of(model, 0, s, 40);
        if (law || types) set_pool(model, data, law, types);
        smurf_forecast *f = forecast_of(model, 0, s, 40);
        double naive[PAST_LAW], share[2][3], naive_share[3], level[] = {0.1, 0.5, 0.9}, gap[3];
        struct steps steps;
        struct dist a = next_law(alone), pool = next_law(f), b = a;
        if (law) b = smurf_steps(&steps, naive, smurf_pool_gaps(&f->past, law, naive), model->notes.tick);
        for (double x = 1; x < 1e6; x *= 1.7) {
            double wanted = 0.6 * smurf_dist_cdf(&a, x) + 0.4 * smurf_dist_cdf(&b, x);
            assert_true(fabs(smurf_dist_cdf(&pool, x) - wanted) < 1e-14);
        }
        assert_int_equal(smurf_forecast_types_at(alone, 100, share[0], &err), SMURF_OK);
        assert_int_equal(smurf_forecast_types_at(f, 100, share[1], &err), SMURF_OK);
        if (types) smurf_pool_shares(&f->past, types, naive_share);
        for (int k = 0; k < 3; k++) {
            double wanted = types ? 0.6 * share[0][k] + 0.4 * naive_share[k] : share[0][k];
            assert_true(fabs(share[1][k] - wanted) < 1e-14);
        }
        smurf_forecast_recalibrate(f, 0);
        assert_int_equal(smurf_forecast_types_at(f, 100, share[1], &err), SMURF_OK);
        assert_memory_equal(share[0], share[1], sizeof share[0]);
        pool = next_law(f);
        for (int i = 0; i < 3; i++)
            assert_true(smurf_dist_quantile(&pool, level[i]) == smurf_dist_quantile(&a, level[i]));
        smurf_forecast_recalibrate(f, 1);
        assert_int_equal(smurf_forecast_quantile(f, level, gap, 3, &err), SMURF_OK);
        assert_true(gap[0] < gap[1] && gap[1] < gap[2]);
        smurf_forecast_free(f), smurf_forecast_free(alone);
        smurf_model_free(model);
    }
    smurf_data_free(data);
}

static char *json_of(const smurf_model *model)
{
    json_t *json = smurf_model_pool_to_json(model->notes.pool);
    assert_non_null(json);
    char *text = json_dumps(json, JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
    json_decref(json);
    assert_non_null(text);
    return text;
}

/* Through a file and a copy, to the bit. */
static void pools_are_kept(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = dated_log(6, 60, 3);
    for (enum pool_law law = POOL_NO_LAW; law <= POOL_LAWS; law++)
        for (enum pool_types types = POOL_NO_TYPES; types < POOL_TYPES; types++) {
            if (!law && !types) continue;
            smurf_model *model = trained("objective=mle epochs=1", data), *read, *copy;
            const bool follows = law == POOL_LAWS;
            if (follows)
                set_follow(model, data, types, 0.02);
            else
                set_pool(model, data, law, types);
            void *bytes, *again;
            size_t size, size_again;
            assert_int_equal(smurf_model_save_memory(model, &bytes, &size, &err), SMURF_OK);
            if (smurf_model_load_memory(&read, bytes, size, NULL, &err)) fail_msg("%s", err.message);
            assert_int_equal(smurf_model_copy(&copy, read, &err), SMURF_OK);
            assert_int_equal(smurf_model_save_memory(copy, &again, &size_again, &err), SMURF_OK);
            assert_int_equal(size, size_again);
            assert_memory_equal(bytes, again, size);
            const smurf_pool *found = smurf_model_pool(copy);
            assert_true(found && !found->law == (!law || follows) && !found->types == !types);
            assert_true(found->type_follow == (follows ? 0.02 : 0));
            assert_true(found->reach == (law >= POOL_SAME_HOUR || types == POOL_RECENCY ? SIZE_MAX
                                         : law == POOL_LAST                             ? 101
                                         : law == POOL_RECENT                           ? 9
                                                                                        : 0));
            uint64_t hash = smurf_pool_hash(model->notes.pool, 1);
            assert_true(smurf_pool_hash(copy->notes.pool, 1) == hash);
            copy->notes.pool->weight = 0.3;
            assert_true(smurf_pool_hash(copy->notes.pool, 1) != hash);
            smurf_free(bytes), smurf_free(again);
            smurf_model_free(model), smurf_model_free(read), smurf_model_free(copy);
        }
    smurf_data_free(data);
}

/* Replaces a piece of the JSON, and says whether that is still a pool. */
static bool is_pool(const char *text, const char *from, const char *to, uint32_t types)
{
    smurf_error err;
    const char *at = strstr(text, from);
    if (!at) fail_msg("there is no %s in %s", from, text);
    char *changed = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(changed);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    json_t *json = json_loads(changed, 0, NULL);
    if (!json) fail_msg("%s is no JSON", changed);
    struct pool *pool;
    bool right;
    if (smurf_model_pool_from_json(&pool, json, types, "file", &right, &err)) {
        right = false;
        assert_ptr_equal(strstr(err.message, "file: "), err.message);
    }
    assert_true(right == (pool != NULL));
    smurf_pool_free(pool);
    json_decref(json);
    free(changed);
    return right;
}

static void files_are_not_believed(void **state)
{
    (void)state;
    smurf_data *data = dated_log(6, 60, 3);
    smurf_model *model = trained("objective=mle epochs=1", data);
    static const struct {
        enum pool_law law;
        enum pool_types types;
        const char *from, *to;
    } cases[] = {
        {POOL_MARGINAL, POOL_NO_TYPES, "\"marginal\"", "\"none\""},
        {POOL_MARGINAL, POOL_NO_TYPES, "\"law\"", "\"no law\""},
        {POOL_MARGINAL, POOL_NO_TYPES, "\"weight\": 0.4", "\"weight\": 0"},
        {POOL_MARGINAL, POOL_NO_TYPES, "\"weight\": 0.4", "\"weight\": 1.1"},
        {POOL_MARGINAL, POOL_NO_TYPES, "\"weight\": 0.4", "\"weight\": \"x\""},
        {POOL_MARGINAL, POOL_NO_TYPES, "\"gain\": 0.0", "\"gain\": null"},
        {POOL_MARGINAL, POOL_NO_TYPES, "\"gaps\": [", "\"gaps\": [-1, "},
        {POOL_MARGINAL, POOL_NO_TYPES, "\"gaps\": [", "\"gaps\": [1e9, "},
        {POOL_MARGINAL, POOL_NO_TYPES, "\"gaps\": [", "\"gaps\": [], \"x\": ["},
        {POOL_RECENT, POOL_NO_TYPES, "\"bins\": [[", "\"bins\": [[-1, "},
        {POOL_RECENT, POOL_NO_TYPES, "\"bins\": [", "\"bins\": [[], "},
        {POOL_RECENT, POOL_NO_TYPES, "\"edges\": [", "\"edges\": [1, "},
        {POOL_RECENT, POOL_NO_TYPES, "\"edges\": [", "\"edges\": [], \"x\": ["},
        {POOL_SAME_HOUR, POOL_NO_TYPES, "\"law\"", "\"timezone\": 7, \"law\""},
        {POOL_SAME_HOUR, POOL_NO_TYPES, "\"law\"", "\"timezone\": \"../none\", \"law\""},
        {POOL_NO_LAW, POOL_MARKOV, "\"Markov\"", "\"none\""},
        {POOL_NO_LAW, POOL_MARKOV, "\"type_weight\": 0.4", "\"type_weight\": 2"},
        {POOL_NO_LAW, POOL_MARKOV, "\"pairs\": [", "\"pairs\": [7, "},
        {POOL_NO_LAW, POOL_MARKOV, "\"pairs\": [", "\"pairs\": [2, 2, 1, "},
        {POOL_NO_LAW, POOL_MARKOV, "\"pairs\": [", "\"pairs\": [\"a\", 2, 1, "},
        {POOL_NO_LAW, POOL_MARKOV, "\"pairs\": [", "\"pairs\": [], \"x\": ["},
        {POOL_NO_LAW, POOL_RECENCY, "\"common\": [", "\"common\": [0.1, "},
        {POOL_NO_LAW, POOL_RECENCY, "\"new\"", "\"new\": 0, \"old\""},
        {POOL_NO_LAW, POOL_RECENCY, "\"shares\": [", "\"shares\": [0.1, "},
    };
    static const struct {
        const char *from, *to;
    } following[] = {{"\"type_follow\": 0.02", "\"type_follow\": 0"},
                     {"\"type_follow\": 0.02", "\"type_follow\": 1"},
                     {"\"type_follow\": 0.02", "\"type_follow\": null"},
                     {"\"pairs\": [", "\"pairs\": [7, "},
                     {"\"new\"", "\"new\": 0, \"old\""},
                     {"\"type_follow\"", "\"followed\""}};
    for (size_t i = 0; i < sizeof following / sizeof *following; i++) {
        set_follow(model, data, POOL_NO_TYPES, 0.02);
        char *text = json_of(model);
        assert_true(is_pool(text, "{", "{", 3) && is_pool(text, "\"pairs\"", "\"no pairs\"", 3));
        if (is_pool(text, following[i].from, following[i].to, 3)) fail_msg("%s was believed", following[i].to);
        free(text);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_pool(model, data, cases[i].law, cases[i].types);
        char *text = json_of(model);
        assert_true(is_pool(text, "{", "{", 3));
        if (is_pool(text, cases[i].from, cases[i].to, 3)) fail_msg("%s was believed", cases[i].to);
        if (cases[i].types) assert_false(is_pool(text, "{", "{", 2)); /* more types than the model has */
        free(text);
    }
    smurf_model_free(model);
    smurf_data_free(data);
}

/* ---- Calibration ------------------------------------------------------------------------------- */

/* The hour of the day decides, and the model does not see it. */
static void models_are_pooled(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *all = dated_log(1, 1900, 5);
    smurf_split part;
    assert_int_equal(smurf_split_by_share(&part, all, (const double[]){5, 0, 5}, 1, &err), SMURF_OK);
    smurf_model *model = trained("objective=mle epochs=1 context=16 pool=on", part.train), *other;
    assert_int_equal(smurf_model_copy(&other, model, &err), SMURF_OK);
    assert_null(smurf_model_pool(model));
    if (smurf_model_calibrate(model, part.test, part.train, 1, 1, 1, NULL, NULL, &err)) fail_msg("%s", err.message);
    if (smurf_model_calibrate(other, part.test, part.train, 1, 1, 3, NULL, NULL, &err)) fail_msg("%s", err.message);
    const smurf_pool *p = smurf_model_pool(model);
    assert_true(p && p->law && strcmp(p->law, "same hour") == 0);
    assert_true(p->weight > 0.5 && p->weight <= 0.95 && p->gain > 1);
    void *a, *b;
    size_t n, m;
    assert_int_equal(smurf_model_save_memory(model, &a, &n, &err), SMURF_OK);
    assert_int_equal(smurf_model_save_memory(other, &b, &m, &err), SMURF_OK);
    assert_true(n == m && memcmp(a, b, n) == 0); /* at any number of threads */
    smurf_free(a), smurf_free(b);
    /* the pool is better than the model by what it says, and the row before it is the model alone */
    smurf_eval_config c;
    smurf_evaluation *e;
    smurf_eval_config_init(&c);
    c.threads = 1;
    assert_int_equal(smurf_evaluate(&e, model, part.test, part.train, &c, &err), SMURF_OK);
    const smurf_metrics *row = smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL);
    const smurf_metrics *raw = smurf_evaluation_row(e, SMURF_ROW_RAW, NULL, NULL);
    const smurf_metrics *hour = smurf_evaluation_row(e, SMURF_ROW_SAME_HOUR, NULL, NULL);
    assert_true(row && raw && hour);
    double gain = 100 * (1 - row->crps / raw->crps);
    if (fabs(gain - p->gain) > 3) fail_msg("the gain is %g%%, not %g%%", gain, p->gain);
    assert_true(row->crps < 1.01 * hour->crps);
    smurf_evaluation_free(e);
    /* not where it is not asked for */
    if (smurf_model_calibrate(model, part.test, part.train, 0, 1, 1, NULL, NULL, &err)) fail_msg("%s", err.message);
    assert_null(smurf_model_pool(model));
    if (smurf_model_calibrate(other, part.test, NULL, 1, 1, 1, NULL, NULL, &err)) fail_msg("%s", err.message);
    assert_null(smurf_model_pool(other));
    model->config.pool = 0;
    if (smurf_model_calibrate(model, part.test, part.train, 1, 1, 1, NULL, NULL, &err)) fail_msg("%s", err.message);
    assert_null(smurf_model_pool(model));
    smurf_model_free(model), smurf_model_free(other);
    smurf_split_release(&part);
    smurf_data_free(all);
}

/* The published presets do what was published. */
static void presets_say_whether(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = dated_log(6, 60, 3);
    const char *name;
    for (size_t i = 0; (name = smurf_preset_name(i)); i++) {
        smurf_settings *settings;
        char text[8];
        assert_int_equal(smurf_settings_new(&settings, name, data, &err), SMURF_OK);
        assert_int_equal(smurf_settings_get(settings, "pool", text, sizeof text, &err), SMURF_OK);
        assert_string_equal(text, strchr(name, '-') ? "off" : "on");
        smurf_settings_free(settings);
    }
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_laws_are_found),
        cmocka_unit_test(nothing_to_judge_by),
        cmocka_unit_test(small_gains_of_selected_models),
        cmocka_unit_test(weights_of_types_are_found),
        cmocka_unit_test(rates_are_found),
        cmocka_unit_test(pairs_are_counted),
        cmocka_unit_test(forecasts_are_pools),
        cmocka_unit_test(pools_are_kept),
        cmocka_unit_test(files_are_not_believed),
        cmocka_unit_test(models_are_pooled),
        cmocka_unit_test(presets_say_whether),
    };
    return cmocka_run_group_tests_name("pool fit", tests, NULL, NULL);
}
