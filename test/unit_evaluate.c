/*
 * unit_evaluate.c - the public face of evaluations: what a config may say, what an evaluation owns; and what other
 * handles own.
 *
 * Run it with AddressSanitizer or valgrind to see uses of freed memory: meson setup -Db_sanitize=address,undefined.
 */
#include "train_case.h"

#include "eval/pieces.h"
#include "forecast/model_predictor.h"

#include <unistd.h>

/* Two types with names, `sequences` sequences of six events. */
static smurf_data *words(size_t sequences)
{
    char *text = malloc(100 + 100 * sequences);
    size_t n = (size_t)sprintf(text, "sequence,time,type\n");
    for (size_t s = 0; s < sequences; s++)
        for (size_t i = 0; i < 6; i++)
            n += (size_t)sprintf(text + n, "%zu,%zu.%zu,%s\n", s, 2 * i, (7 * i + 3 * s) % 10,
                                 (i + s) % 3 ? "ask" : "bid");
    smurf_data *data = read_text(text);
    free(text);
    return data;
}

static smurf_model *trained(const smurf_data *train)
{
    smurf_error err;
    smurf_model *model;
    smurf_epoch epoch;
    smurf_trainer *t = trainer_of("epochs=2 objective=dsm sigma=0.1 scale=mean", 1, train, NULL);
    while (!smurf_trainer_done(t))
        if (smurf_trainer_epoch(t, &epoch, &err)) fail_msg("%s", err.message);
    if (smurf_trainer_model(t, &model, &err)) fail_msg("%s", err.message);
    smurf_trainer_free(t);
    return model;
}

static smurf_eval_config small_eval(void)
{
    smurf_eval_config c;
    smurf_eval_config_init(&c);
    c.threads = 1;
    c.examples = 2;
    return c;
}

/* ---- What a config may say ----------------------------------------------------------------------- */

struct fixture {
    smurf_data *train, *test;
    smurf_model *model;
};

static int set_up(void **state)
{
    struct fixture *f = malloc(sizeof *f);
    f->train = words(12);
    f->test = words(4);
    f->model = trained(f->train);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    smurf_data_free(f->train);
    smurf_data_free(f->test);
    smurf_model_free(f->model);
    free(f);
    return 0;
}

static void refuse(const struct fixture *f, const smurf_eval_config *c, const char *says)
{
    smurf_error err = {0};
    smurf_evaluation *e = (smurf_evaluation *)&err;
    assert_int_equal(smurf_evaluate(&e, f->model, f->test, f->train, c, &err), SMURF_ERROR_ARGUMENT);
    assert_null(e);
    if (!strstr(err.message, says)) fail_msg("'%s' does not say '%s'", err.message, says);
    assert_int_equal(smurf_evaluate(&e, f->model, f->test, f->train, c, NULL), SMURF_ERROR_ARGUMENT);
}

static void no_sampler_is_the_default(void **state)
{
    const struct fixture *f = *state;
    smurf_error err;
    smurf_evaluation *e[2];
    smurf_eval_config c = small_eval();
    c.draws = 20;
    for (int i = 0; i < 2; i++) {
        c.sampler = i ? smurf_sampler_name(0) : NULL;
        if (smurf_evaluate(&e[i], f->model, f->test, f->train, &c, &err)) fail_msg("%s", err.message);
    }
    const smurf_metrics *a = smurf_evaluation_row(e[0], SMURF_ROW_SAMPLED, NULL, NULL);
    const smurf_metrics *b = smurf_evaluation_row(e[1], SMURF_ROW_SAMPLED, NULL, NULL);
    assert_non_null(a);
    assert_memory_equal(a, b, sizeof *a);
    for (int i = 0; i < 2; i++) smurf_evaluation_free(e[i]);
}

static void wrong_samplers(void **state)
{
    const struct fixture *f = *state;
    smurf_eval_config c = small_eval();
    c.sampler = "gibbs";
    refuse(f, &c, "'gibbs': use exact, langevin, mirror or reject");
    static const double steps[] = {NAN, -1, 1e300, INFINITY, -INFINITY, 1e-13, 1001};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (size_t s = 0; smurf_sampler_name(s); s++) {
            c = small_eval();
            c.sampler = smurf_sampler_name(s);
            c.step = steps[i];
            refuse(f, &c, "give a number from 1e-12 to 1000, or 0 for the model's setting");
        }
    c = small_eval();
    c.draws = 1000001;
    refuse(f, &c, "draws is 1000001: give at most 1000000");
    c.draws = SIZE_MAX;
    refuse(f, &c, "draws is");
    c = small_eval();
    c.steps = SIZE_MAX;
    refuse(f, &c, "steps is");
    c = small_eval();
    c.bootstrap = SIZE_MAX / 8;
    refuse(f, &c, "bootstrap is");
    c = small_eval();
    c.threads = -1;
    refuse(f, &c, "threads is -1: give 1 or more, or 0 for all cores");
}

/* Data whose types are not numbered as in the model. */
static void more_types_than_the_model_has(void **state)
{
    const struct fixture *f = *state;
    smurf_error err;
    smurf_evaluation *e;
    smurf_trainer *trainer;
    smurf_settings config = small_config("");
    smurf_data *data = read_text("sequence,time,type\n1,1,ask\n1,2,bid\n1,4,sell\n1,5,hold\n");
    assert_int_equal(smurf_evaluate(&e, f->model, data, NULL, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "'text' has 4 types, the model 2"));
    assert_null(e);
    assert_int_equal(smurf_model_calibrate(f->model, data, NULL, 1, 1, 1, NULL, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "'text' has 4 types, the model 2"));
    assert_int_equal(smurf_trainer_new(&trainer, &config, f->train, data, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "dev has 4 types, train 2"));
    assert_null(trainer);
    smurf_data_free(data);
    data = read_text("sequence,time,type\n1,1,bid\n1,2,ask\n1,4,ask\n1,5,bid\n");
    smurf_data *other = read_text("sequence,time,type\n1,1,ask\n1,2,bid\n1,4,ask\n1,5,bid\n");
    assert_int_equal(smurf_trainer_new(&trainer, &config, data, other, &err), SMURF_ERROR_ARGUMENT);
    assert_string_equal(err.message, "type 0 is 'ask' in dev, 'bid' in train: read them together, as one directory");
    assert_null(trainer);
    smurf_data_free(other);
    smurf_data_free(data);
}

/* Samplers with steps draw 100 times unless told otherwise. */
static void samplers_with_steps(void **state)
{
    const struct fixture *f = *state;
    smurf_error err;
    for (size_t s = 0; smurf_sampler_name(s); s++) {
        smurf_evaluation *e;
        smurf_eval_config c = small_eval();
        c.sampler = smurf_sampler_name(s);
        c.steps = 5;
        c.step = 0.01;
        if (smurf_evaluate(&e, f->model, f->test, NULL, &c, &err)) fail_msg("%s", err.message);
        assert_int_equal(smurf_evaluation_row(e, SMURF_ROW_SAMPLED, NULL, NULL) != NULL,
                         smurf_sampler_has_steps(smurf_sampler_name(s)));
        smurf_evaluation_free(e);
    }
}

/* The last score of a walk is that of an evaluation with as many steps, on any number of threads. */
static void walks_are_scored(void **state)
{
    const struct fixture *f = *state;
    smurf_error err;
    smurf_evaluation *e;
    smurf_eval_config c = small_eval();
    double cs[3], again[3];
    c.sampler = "langevin";
    c.steps = 60;
    if (smurf_evaluate_walk(f->model, f->test, &c, 20, cs, 3, &err)) fail_msg("%s", err.message);
    c.threads = 4;
    if (smurf_evaluate_walk(f->model, f->test, &c, 20, again, 3, &err)) fail_msg("%s", err.message);
    assert_memory_equal(cs, again, sizeof cs);
    if (smurf_evaluate(&e, f->model, f->test, NULL, &c, &err)) fail_msg("%s", err.message);
    assert_float_equal(cs[2], smurf_evaluation_row(e, SMURF_ROW_SAMPLED, NULL, NULL)->cs, 1e-9);
    smurf_evaluation_free(e);
    assert_true(cs[0] != cs[2]);
}

static void walks_that_cannot_be_scored(void **state)
{
    const struct fixture *f = *state;
    smurf_error err;
    smurf_eval_config c = small_eval();
    double cs[3];
    assert_int_equal(smurf_evaluate_walk(f->model, f->test, &c, 20, cs, 3, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "takes no steps"));
    c.sampler = "langevin";
    c.steps = 60;
    assert_int_equal(smurf_evaluate_walk(f->model, f->test, &c, 0, cs, 3, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_evaluate_walk(f->model, f->test, &c, 20, cs, 2, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "gives 3 scores, not 2"));
}

/* ---- What an evaluation owns ----------------------------------------------------------------------- */

/* Everything an evaluation can be asked for, the page with names of types and the epochs included. */
static void use(const smurf_evaluation *e, bool model)
{
    char path[] = "/tmp/smurf-unit-XXXXXX", text[1 << 12];
    int fd = mkstemp(path);
    smurf_error err;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL) != NULL, model);
    assert_true(smurf_evaluation_row(e, SMURF_ROW_RECENT, NULL, NULL)->crps > 0);
    assert_true(smurf_evaluation_markov(e) > 0 && smurf_evaluation_mean_gap(e) > 0);
    if (smurf_evaluation_report(e, path, NULL, &err)) fail_msg("%s", err.message);
    FILE *page = fopen(path, "r");
    bool named = false;
    while (fgets(text, sizeof text, page)) named = named || strstr(text, "bid");
    fclose(page);
    unlink(path);
    assert_true(named || !model);
}

/* The k-th order of three things to free: data, train, model. */
static void free_in_order(int k, smurf_data *data, smurf_data *train, smurf_model *model)
{
    static const char order[6][4] = {"dtm", "dmt", "tdm", "tmd", "mdt", "mtd"};
    for (int i = 0; i < 3; i++) switch (order[k][i]) {
        case 'd': smurf_data_free(data); break;
        case 't': smurf_data_free(train); break;
        default: smurf_model_free(model);
        }
}

static void evaluations_outlive_their_parts(void **state)
{
    (void)state;
    smurf_error err;
    for (int k = 0; k < 6; k++) {
        smurf_data *train = words(12), *test = words(4);
        smurf_model *model = trained(train);
        smurf_eval_config c = small_eval();
        c.bootstrap = 10;
        smurf_evaluation *e, *naive;
        if (smurf_evaluate(&e, model, test, train, &c, &err)) fail_msg("%s", err.message);
        if (smurf_evaluate_naive(&naive, test, train, &c, &err)) fail_msg("%s", err.message);
        free_in_order(k, test, train, model);
        use(e, true);
        use(naive, false);
        smurf_evaluation_free(e);
        smurf_evaluation_free(naive);
    }
}

static void truths_outlive_their_process(void **state)
{
    (void)state;
    smurf_error err;
    smurf_process *process;
    smurf_evaluation *e;
    smurf_eval_config c = small_eval();
    smurf_data *train = simulate("poisson", 2, 6, 8, 1), *test = simulate("poisson", 2, 3, 8, 2);
    if (smurf_process_new(&process, "poisson", 2, NULL, 0, &err)) fail_msg("%s", err.message);
    if (smurf_evaluate_process(&e, process, test, train, &c, &err)) fail_msg("%s", err.message);
    smurf_process_free(process);
    smurf_data_free(test);
    smurf_data_free(train);
    assert_non_null(smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL));
    smurf_evaluation_free(e);
}

/* ---- What other handles own -------------------------------------------------------------------------- */

static void parts_outlive_the_whole(void **state)
{
    (void)state;
    smurf_error err;
    smurf_split split;
    smurf_data *data = words(12), *cut, *spread;
    smurf_moment at = {6, 0};
    if (smurf_split_by_time(&split, data, at, at, &err)) fail_msg("%s", err.message);
    if (smurf_data_window(&cut, data, 2, 1, &err)) fail_msg("%s", err.message);
    if (smurf_data_dither(&spread, data, 0.1, 1, &err)) fail_msg("%s", err.message);
    smurf_data_free(data);
    const smurf_data *all[] = {split.train, split.test, cut, spread};
    for (size_t i = 0; i < 4; i++) {
        const smurf_sequence *s = smurf_data_sequence(all[i], 0);
        assert_string_equal(s->name, "0");
        assert_string_equal(smurf_data_type_name(all[i], s->type[0]), "bid");
        assert_string_equal(smurf_data_source(all[i]), "text");
    }
    smurf_split_release(&split);
    smurf_data_free(cut);
    smurf_data_free(spread);
}

static void futures_and_laws_stand_alone(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *train = words(12);
    smurf_model *model = trained(train);
    smurf_forecast *forecast;
    smurf_futures *futures;
    smurf_futures_config config;
    smurf_futures_config_init(&config);
    config.paths = 3;
    config.events = 2;
    config.threads = 1;
    if (smurf_forecast_new(&forecast, model, 0, &err)) fail_msg("%s", err.message);
    if (smurf_forecast_read(forecast, smurf_data_sequence(train, 0), 4, &err)) fail_msg("%s", err.message);
    smurf_data_free(train);
    if (smurf_forecast_futures(forecast, &config, &futures, &err)) fail_msg("%s", err.message);
    smurf_forecast_free(forecast);
    smurf_model_free(model);
    const double *time;
    const uint32_t *type;
    assert_int_equal(smurf_futures_path(futures, 2, &time, &type), 2);
    assert_true(time[1] > 0 && type[1] < 2);
    smurf_futures_free(futures);

    smurf_process *process;
    smurf_law *law;
    smurf_data *data = simulate("hawkes", 2, 1, 8, 1);
    double gap = 0.5, intensity;
    if (smurf_process_new(&process, "hawkes", 2, NULL, 0, &err)) fail_msg("%s", err.message);
    if (smurf_process_law(&law, process, smurf_data_sequence(data, 0), 4, &err)) fail_msg("%s", err.message);
    smurf_process_free(process);
    smurf_data_free(data);
    smurf_law_intensity(law, &gap, &intensity, 1);
    assert_true(intensity > 0);
    smurf_law_free(law);
}

/* ---- Scores of single events --------------------------------------------------------------------- */

struct scores {
    const smurf_data *data;
    size_t n, stop_after, sequence, event;
    double log_density, type_loss, right;
};

static int add_score(void *context, const smurf_scored *s)
{
    struct scores *sum = context;
    const smurf_sequence *seq = smurf_data_sequence(sum->data, s->sequence);
    bool next = s->sequence == sum->sequence && s->event == sum->event + 1;
    assert_true(next || (s->event == seq->first && (sum->n == 0 || s->sequence == sum->sequence + 1)));
    assert_true(s->gap == seq->time[s->event] - seq->time[s->event - 1] && s->type == seq->type[s->event]);
    assert_true(s->pit >= 0 && s->pit <= 1 && s->p == 2 * fmin(s->pit, 1 - s->pit));
    assert_true(s->type_share <= s->top_share && (s->type == s->top) == (s->type_share == s->top_share));
    sum->sequence = s->sequence;
    sum->event = s->event;
    sum->log_density += s->log_density;
    sum->type_loss -= log(s->type_share);
    sum->right += s->type == s->top;
    return ++sum->n == sum->stop_after;
}

static void scores_add_up_to_metrics(void **state)
{
    const struct fixture *f = *state;
    smurf_error err;
    smurf_evaluation *e;
    smurf_eval_config c = small_eval();
    if (smurf_evaluate(&e, f->model, f->test, NULL, &c, &err)) fail_msg("%s", err.message);
    const smurf_metrics *m = smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL);
    for (int given = 0; given < 2; given++) {
        struct scores sum = {.data = f->test};
        if (smurf_score(f->model, f->test, given ? &c : NULL, add_score, &sum, &err)) fail_msg("%s", err.message);
        double n = (double)sum.n;
        assert_int_equal(sum.n, m->n);
        assert_true(fabs(sum.log_density / n - m->log_likelihood) < 1e-12 * fabs(m->log_likelihood));
        assert_true(fabs(sum.type_loss / n - m->type_loss) < 1e-12);
        assert_true(fabs(100 * sum.right / n - m->acc) < 1e-10);
    }
    smurf_evaluation_free(e);
}

static int compare_score(void *context, const smurf_scored *e)
{
    const smurf_scored **at = context;
    assert_memory_equal(*at, e, sizeof *e);
    return ++*at, 0;
}

static void scores_fill_an_array(void **state)
{
    const struct fixture *f = *state;
    smurf_error err;
    size_t n = smurf_data_gaps(f->test), brief = offsetof(smurf_scored, top);
    smurf_scored *all = calloc(n, sizeof *all);
    assert_non_null(all);
    if (smurf_score_all(all, f->model, f->test, NULL, &err)) fail_msg("%s", err.message);
    const smurf_scored *at = all;
    if (smurf_score(f->model, f->test, NULL, compare_score, &at, &err)) fail_msg("%s", err.message);
    assert_ptr_equal(at, all + n);
    /* A client that knows the first fields only. */
    char *shorter = malloc(n * brief);
    assert_non_null(shorter);
    if (smurf_score_all_sized((smurf_scored *)(void *)shorter, brief, f->model, f->test, NULL, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < n; i++) assert_memory_equal(shorter + i * brief, &all[i], brief);
    free(shorter);
    free(all);
}

static void scores_can_be_stopped_or_refused(void **state)
{
    const struct fixture *f = *state;
    smurf_error err;
    smurf_eval_config c = small_eval();
    struct scores sum = {.data = f->test, .stop_after = 3};
    assert_int_equal(smurf_score(f->model, f->test, &c, add_score, &sum, &err), SMURF_ERROR_CANCELLED);
    assert_string_equal(err.message, "stopped while scoring");
    assert_int_equal(sum.n, 3);
    smurf_data *many = read_text("sequence,time,type\n0,1,a\n0,2,b\n0,3,c\n0,4,d\n");
    assert_int_equal(smurf_score(f->model, many, &c, add_score, &sum, &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_score(f->model, many, &c, add_score, &sum, NULL), SMURF_ERROR_ARGUMENT);
    smurf_data_free(many);
}

/* The gaps before events of unknown types are scored, their types are not: scores of types are those of the others. */
static void unknown_types_are_not_scored(void **state)
{
    const struct fixture *f = *state;
    static const char *const last[] = {"ask", "new"};
    double loss[2], crps[2];
    for (int k = 0; k < 2; k++) {
        char text[200];
        snprintf(text, sizeof text, "sequence,time,type\n1,0,ask\n1,2,bid\n1,4,ask\n1,5.5,bid\n1,7,%s\n", last[k]);
        smurf_data *data = read_text(text), *matched;
        smurf_eval_config c = small_eval();
        smurf_evaluation *e;
        smurf_error err;
        if (smurf_model_match(f->model, data, &matched, &err)) fail_msg("%s", err.message);
        if (smurf_evaluate(&e, f->model, matched, f->train, &c, &err)) fail_msg("%s", err.message);
        const smurf_metrics *m = smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL);
        assert_int_equal(m->n, 4);
        loss[k] = m->type_loss;
        crps[k] = m->crps;
        double right = smurf_evaluation_markov(e) / 100 * (k ? 3 : 4); /* a whole number of events */
        assert_true(fabs(right - floor(right + 0.5)) < 1e-9);
        smurf_evaluation_free(e);
        smurf_data_free(data);
        smurf_data_free(matched);
    }
    assert_true(crps[0] == crps[1]);
    assert_true(loss[1] > 0 && loss[1] < 5); /* a type of probability 0 would cost 87 / 4 */
}

/* One long sequence is divided between threads: the same bytes for any number, in evaluation and calibration. */
static void one_sequence_on_several_threads(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *data = simulate("hawkes", 2, 1, 2500, 1);
    smurf_trainer *t = trainer_of("objective=mle context=16", 1, data, NULL);
    smurf_model *model[2];
    smurf_metrics row[2][2];
    for (int i = 0; i < 2; i++) {
        smurf_eval_config c = small_eval();
        smurf_evaluation *e;
        c.threads = i ? 3 : 1;
        if (smurf_trainer_model(t, &model[i], &err)) fail_msg("%s", err.message);
        if (smurf_model_calibrate(model[i], data, NULL, 1, 1, c.threads, NULL, NULL, &err)) fail_msg("%s", err.message);
        if (smurf_evaluate(&e, model[i], data, data, &c, &err)) fail_msg("%s", err.message);
        row[i][0] = *smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL);
        row[i][1] = *smurf_evaluation_row(e, SMURF_ROW_RECENT, NULL, NULL);
        smurf_evaluation_free(e);
    }
    assert_int_equal(row[0][0].n, 2499);
    assert_memory_equal(row[0], row[1], sizeof row[0]);
    const smurf_calibration *a = smurf_model_calibration(model[0]), *b = smurf_model_calibration(model[1]);
    assert_true(a->cs_after == b->cs_after && a->crps_after == b->crps_after && a->gaps == 2499);

    struct predictor p = smurf_model_predictor(model[0]);
    struct pieces pieces;
    assert_true(smurf_pieces_init(&pieces, &p, data));
    assert_true(pieces.count == 3 && pieces.piece[0].from == 1 && pieces.piece[2].to == 2500);
    for (size_t i = 1; i < pieces.count; i++) {
        assert_int_equal(pieces.piece[i].from, pieces.piece[i - 1].to);
        assert_int_equal((pieces.piece[i].from - 1) % 32, 0); /* where a window of the model begins */
    }
    free(pieces.piece);
    smurf_model_free(model[0]), smurf_model_free(model[1]);
    smurf_trainer_free(t);
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_sampler_is_the_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_samplers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_types_than_the_model_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samplers_with_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(walks_are_scored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(walks_that_cannot_be_scored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scores_add_up_to_metrics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scores_fill_an_array, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scores_can_be_stopped_or_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_types_are_not_scored, set_up, tear_down),
        cmocka_unit_test(evaluations_outlive_their_parts),
        cmocka_unit_test(truths_outlive_their_process),
        cmocka_unit_test(parts_outlive_the_whole),
        cmocka_unit_test(futures_and_laws_stand_alone),
        cmocka_unit_test(one_sequence_on_several_threads),
    };
    return cmocka_run_group_tests_name("evaluate", tests, NULL, NULL);
}
