/*
 * unit_fit.c - the whole recipe in one call: the same model as step by step, also when stopped and resumed.
 */
#include "train_case.h"

#include <math.h>
#include <unistd.h>

struct watch {
    size_t starts, epochs, first, stop_at, trials;
    int refuse;
};

static int at_start(void *context, const smurf_fit_start *start)
{
    struct watch *w = context;
    w->starts++;
    w->first = start->epoch;
    w->trials = start->trials;
    assert_non_null(start->settings);
    assert_int_equal(start->best != NULL, start->epoch > 1);
    return w->refuse;
}

static int at_epoch(void *context, const smurf_epoch *epoch)
{
    struct watch *w = context;
    w->epochs++;
    return epoch->epoch == w->stop_at;
}

static smurf_fit_config watched(struct watch *w)
{
    smurf_fit_config c;
    smurf_fit_config_init(&c);
    c.recalibrate = 1;
    c.start = at_start;
    c.epoch = at_epoch;
    c.context = w;
    return c;
}

static void same_model(const smurf_model *a, const smurf_model *b)
{
    assert_int_equal(a->model.params.total, b->model.params.total);
    assert_memory_equal(a->slab, b->slab, a->model.params.total * sizeof *a->slab);
    assert_int_equal(a->epoch, b->epoch);
    assert_memory_equal(&a->notes.calibration, &b->notes.calibration, sizeof a->notes.calibration);
    assert_memory_equal(&a->notes.map, &b->notes.map, sizeof a->notes.map);
}

/* The recipe from its parts. */
static smurf_model *by_hand(const smurf_settings *settings, const smurf_data *train, const smurf_data *dev)
{
    smurf_error err;
    smurf_data *selecting, *calibrating;
    smurf_trainer *t;
    smurf_model *model;
    smurf_epoch epoch;
    if (smurf_fit_divide(&selecting, &calibrating, dev, 1, settings->seed, &err)) fail_msg("%s", err.message);
    assert_true(selecting && calibrating);
    if (smurf_trainer_new(&t, settings, train, selecting, &err)) fail_msg("%s", err.message);
    while (!smurf_trainer_done(t)) assert_int_equal(smurf_trainer_epoch(t, &epoch, &err), SMURF_OK);
    assert_int_equal(smurf_trainer_model(t, &model, &err), SMURF_OK);
    assert_int_equal(smurf_model_calibrate(model, calibrating, train, 1, settings->seed, 1, NULL, NULL, &err),
                     SMURF_OK);
    smurf_trainer_free(t);
    smurf_data_free(selecting);
    smurf_data_free(calibrating);
    return model;
}

static void equals_its_parts(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *train = simulate("hawkes", 2, 20, 15, 1), *dev = simulate("hawkes", 2, 12, 15, 2);
    smurf_settings settings = small_config("objective=mle");
    struct watch w = {0};
    smurf_fit_config c = watched(&w);
    smurf_model *expected = by_hand(&settings, train, dev), *model;
    if (smurf_fit(&model, &settings, train, dev, &c, &err)) fail_msg("%s", err.message);
    same_model(expected, model);
    assert_true(smurf_model_calibration(model)->recalibrated);
    assert_true(w.starts == 1 && w.epochs == 3 && w.first == 1 && w.trials == 0);
    smurf_model_free(expected);
    smurf_model_free(model);
    /* Too few gaps to divide, or no dev at all: nothing is calibrated. */
    assert_int_equal(smurf_fit(&model, &settings, train, dev, NULL, &err), SMURF_OK);
    assert_int_equal(smurf_model_calibration(model)->gaps, 0);
    smurf_model_free(model);
    assert_int_equal(smurf_fit(&model, &settings, train, NULL, &c, &err), SMURF_OK);
    assert_int_equal(smurf_model_calibration(model)->gaps, 0);
    smurf_model_free(model);
    smurf_data_free(train);
    smurf_data_free(dev);
}

/* One log: the earlier third of dev's scored events selects, the rest calibrates, each with all that came before. */
static void divides_one_sequence_in_time(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *log = simulate("hawkes", 2, 1, 300, 1), *selecting, *calibrating;
    smurf_settings settings = small_config("objective=mle epochs=1");
    smurf_split part;
    smurf_fit_config c;
    smurf_model *model;
    assert_int_equal(smurf_split_by_share(&part, log, (const double[]){8, 1, 1}, 1, &err), SMURF_OK);
    if (smurf_fit_divide(&selecting, &calibrating, part.dev, 1, 1, &err)) fail_msg("%s", err.message);
    const smurf_sequence *a = smurf_data_sequence(selecting, 0), *b = smurf_data_sequence(calibrating, 0);
    assert_true(a->first == 240 && a->length == 250);
    assert_true(b->first == 250 && b->length == 270);
    assert_memory_equal(a->time, b->time, a->length * sizeof *a->time);
    smurf_data_free(selecting), smurf_data_free(calibrating);

    smurf_fit_config_init(&c);
    c.recalibrate = 1;
    if (smurf_fit(&model, &settings, part.train, part.dev, &c, &err)) fail_msg("%s", err.message);
    const smurf_calibration *found = smurf_model_calibration(model);
    assert_true(found->gaps == 20 && found->sequences == 1 && found->recalibrated);
    assert_true(isfinite(found->cs_after) && isfinite(found->crps_after)); /* cross-fitted in two halves */
    smurf_model_free(model);
    smurf_split_release(&part);

    /* Two gaps cannot be divided: no error, and nothing is calibrated. */
    smurf_data *two = read_text("time,type\n0,0\n1,1\n2,0\n");
    assert_int_equal(smurf_fit_divide(&selecting, &calibrating, two, 1, 1, &err), SMURF_OK);
    assert_true(!selecting == !calibrating);
    smurf_data_free(selecting), smurf_data_free(calibrating);
    smurf_data *same = read_text("time,type\n3,0\n3,1\n3,0\n3,0\n");
    assert_int_equal(smurf_fit_divide(&selecting, &calibrating, same, 1, 1, &err), SMURF_OK);
    assert_true(!selecting && !calibrating);
    smurf_data_free(two), smurf_data_free(same), smurf_data_free(log);
}

static void chooses_the_noise(void **state)
{
    (void)state;
    smurf_error err;
    smurf_data *train = simulate("hawkes", 2, 8, 10, 1), *dev = simulate("hawkes", 2, 6, 10, 2);
    smurf_settings settings = small_config("objective=dsm epochs=1"), plain = small_config("objective=mle");
    struct watch w = {0};
    smurf_fit_config c = watched(&w);
    smurf_model *model;
    c.choose_sigma = 1;
    if (smurf_fit(&model, &settings, train, dev, &c, &err)) fail_msg("%s", err.message);
    assert_int_equal(w.trials, SMURF_SIGMA_TRIALS);
    smurf_model_free(model);
    assert_int_equal(smurf_fit(&model, &plain, train, dev, &c, &err), SMURF_ERROR_ARGUMENT);
    assert_null(model);
    smurf_data_free(train);
    smurf_data_free(dev);
}

static void stopped_and_resumed(void **state)
{
    (void)state;
    char model_path[] = "/tmp/smurf-fit-XXXXXX", resume_path[] = "/tmp/smurf-fit-XXXXXX";
    smurf_error err;
    smurf_data *train = simulate("hawkes", 2, 20, 15, 1), *dev = simulate("hawkes", 2, 12, 15, 2);
    smurf_settings settings = small_config("objective=mle");
    struct watch w = {.stop_at = 2};
    smurf_fit_config c = watched(&w);
    smurf_model *expected = by_hand(&settings, train, dev), *model, *kept;
    close(mkstemp(model_path)), close(mkstemp(resume_path));
    c.model_path = model_path;
    c.resume_path = resume_path;
    assert_int_equal(smurf_fit(&model, &settings, train, dev, &c, &err), SMURF_ERROR_CANCELLED);
    assert_string_equal(err.message, "stopped after epoch 2");
    assert_non_null(model); /* the best so far, which is also in the file */
    assert_int_equal(smurf_model_calibration(model)->gaps, 0);
    assert_int_equal(smurf_model_load(&kept, model_path, &err), SMURF_OK);
    same_model(model, kept);
    smurf_model_free(model), smurf_model_free(kept);
    w = (struct watch){0};
    c.resume = 1;
    if (smurf_fit(&model, &settings, train, dev, &c, &err)) fail_msg("%s", err.message);
    same_model(expected, model);
    assert_int_equal(smurf_model_load(&kept, model_path, &err), SMURF_OK);
    same_model(model, kept);
    assert_true(w.first == 3 && w.epochs == 1);
    smurf_model_free(model), smurf_model_free(kept), smurf_model_free(expected);
    /* Refused at the start, nothing is written or handed out. */
    unlink(model_path), unlink(resume_path);
    w = (struct watch){.refuse = 1};
    c.resume = 0;
    assert_int_equal(smurf_fit(&model, &settings, train, dev, &c, &err), SMURF_ERROR_CANCELLED);
    assert_null(model);
    assert_true(w.epochs == 0 && access(model_path, F_OK) != 0 && access(resume_path, F_OK) != 0);
    c.resume = 1;
    c.resume_path = NULL;
    assert_int_equal(smurf_fit(&model, &settings, train, dev, &c, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "resume_path"));
    c.resume = 0;
    c.device = "gpu";
    assert_int_equal(smurf_fit(&model, &settings, train, dev, &c, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "device 'gpu' is not one of: cpu, cuda, auto"));
    smurf_data_free(train);
    smurf_data_free(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_its_parts),
        cmocka_unit_test(divides_one_sequence_in_time),
        cmocka_unit_test(chooses_the_noise),
        cmocka_unit_test(stopped_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
