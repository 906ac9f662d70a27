/*
 * unit_train.c - training runs: interrupted, resumed, on any number of threads, side by side, out of control; and
 * learning.
 */
#include "count_malloc.h"
#include "train_case.h"

#include "data/data.h"
#include "model/smurf_class.h"

#include <pthread.h>
#include <unistd.h>

/* ---- Data and comparisons ------------------------------------------------------------------------ */

static smurf_data *train, *dev; /* 22 and 6 sequences of three types: six steps an epoch, the last one short */

static char folder[] = "/tmp/unit_train.XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    train = simulate("hawkes", 3, 22, 9, 1);
    dev = simulate("hawkes", 3, 6, 9, 2);
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    smurf_data_free(train);
    smurf_data_free(dev);
    unlink(in_folder("run.resume"));
    return rmdir(folder);
}

static smurf_epoch end_epoch(smurf_trainer *t)
{
    smurf_error err;
    smurf_epoch epoch;
    if (smurf_trainer_epoch(t, &epoch, &err)) fail_msg("%s", err.message);
    return epoch;
}

static int do_step(smurf_trainer *t)
{
    smurf_error err;
    double loss;
    int last;
    if (smurf_trainer_step(t, &loss, &last, &err)) fail_msg("%s", err.message);
    assert_true(isfinite(loss));
    return last;
}

static void same_bits(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

/* All but the times taken. */
static void same_epoch(const smurf_epoch *a, const smurf_epoch *b)
{
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->best, b->best);
    same_bits(a->train_loss, b->train_loss);
    same_bits(a->dev_loss, b->dev_loss);
    same_bits(a->dev_time_loss, b->dev_time_loss);
    same_bits(a->dev_type_loss, b->dev_type_loss);
    same_bits(a->dev_accuracy, b->dev_accuracy);
    same_bits(a->rate, b->rate);
}

static void same_state(const smurf_trainer *a, const smurf_trainer *b)
{
    size_t bytes = a->frame->model.params.total * sizeof(float);
    for (int s = 0; s < SLABS; s++) {
        assert_int_equal(!a->step.slab[s], !b->step.slab[s]);
        if (a->step.slab[s] && s != SLAB_GRADIENT) assert_memory_equal(a->step.slab[s], b->step.slab[s], bytes);
    }
    assert_int_equal(a->at.step, b->at.step);
    assert_int_equal(a->at.epoch, b->at.epoch);
    assert_int_equal(a->at.next, b->at.next);
    assert_int_equal(a->at.waited, b->at.waited);
    assert_int_equal(a->at.halvings, b->at.halvings);
    assert_int_equal(a->at.stopped, b->at.stopped);
    same_bits(a->at.loss_sum, b->at.loss_sum);
    same_bits(a->at.loss_gaps, b->at.loss_gaps);
    same_bits(a->at.events, b->at.events);
    same_epoch(&a->at.best, &b->at.best);
}

/* Saves, forgets, and goes on from the file. */
static smurf_trainer *through_file(smurf_trainer *t, int threads)
{
    smurf_error err;
    smurf_trainer *again;
    if (smurf_trainer_save(t, in_folder("run.resume"), &err)) fail_msg("%s", err.message);
    if (smurf_trainer_resume(&again, in_folder("run.resume"), train, t->has_dev ? dev : NULL, threads, &err))
        fail_msg("%s", err.message);
    same_state(t, again);
    smurf_trainer_free(t);
    return again;
}

/* ---- Interruptions and threads -------------------------------------------------------------------- */

static const char *const variants[] = {
    "objective=dsm dropout=0.2 schedule=cosine average=0.9 sigma=0.1,0.3",
    "objective=dsm scale=mean noise=multiplicative dither=0.05 clip=0.5 warmup=7 type-loss=perturbed gradient=stop",
    "objective=mle dropout=0.3 schedule=plateau rate=0.2 smoothing=0.1 epochs=5",
    "objective=mle scale=none clock=raw gap-feature=off activation=relu dither=0.01 average=0.99 cosine-epochs=2",
    "objective=wsm scale=mean dropout=0.1 mask=0.2",
    "objective=sm head=score alpha=0.5",
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Interrupted after every single step, with another number of threads each time. */
static void test_resumed_equals_uninterrupted(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 5, 1, 5, 2};
    size_t turn = 0;
    for (int v = 0; v < VARIANTS; v++) {
        const smurf_data *judge = v == 1 ? NULL : dev;
        smurf_trainer *whole = trainer_of(variants[v], 1, train, judge),
                      *cut = trainer_of(variants[v], 2, train, judge);
        while (!smurf_trainer_done(whole)) {
            for (int last = 0; !last;) {
                last = do_step(whole);
                assert_int_equal(do_step(cut), last);
                cut = through_file(cut, threads[turn++ % 6]);
                same_state(whole, cut);
            }
            smurf_epoch a = end_epoch(whole), b = end_epoch(cut);
            same_epoch(&a, &b);
            cut = through_file(cut, threads[turn++ % 6]);
            same_state(whole, cut);
        }
        assert_true(smurf_trainer_done(cut));
        smurf_trainer_free(whole);
        smurf_trainer_free(cut);
    }
}

static void run_epochs(smurf_trainer *t, smurf_epoch *record)
{
    for (size_t i = 0; !smurf_trainer_done(t); i++) record[i] = end_epoch(t);
}

static void test_threads_change_no_bit(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 5, 0};
    for (int v = 0; v < VARIANTS; v++) {
        smurf_epoch expected[5], found[5];
        smurf_trainer *one = trainer_of(variants[v], 1, train, dev);
        run_epochs(one, expected);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            smurf_trainer *many = trainer_of(variants[v], threads[i], train, dev);
            run_epochs(many, found);
            same_state(one, many);
            for (size_t k = 0; k < one->at.epoch; k++) same_epoch(&expected[k], &found[k]);
            smurf_trainer_free(many);
        }
        smurf_trainer_free(one);
    }
}

/* Steps and epochs are the same run. */
static void test_steps_make_an_epoch(void **state)
{
    (void)state;
    smurf_trainer *steps = trainer_of(variants[0], 1, train, dev), *whole = trainer_of(variants[0], 1, train, dev);
    smurf_error err;
    double loss;
    int last;
    while (!do_step(steps)) {
    }
    assert_int_equal(smurf_trainer_step(steps, &loss, &last, &err), SMURF_ERROR_ARGUMENT);
    assert_string_equal(err.message, "all steps of epoch 1 are done: call smurf_trainer_epoch");
    smurf_epoch a = end_epoch(steps), b = end_epoch(whole);
    same_epoch(&a, &b);
    same_state(steps, whole);
    smurf_trainer_free(steps);
    smurf_trainer_free(whole);
}

static void test_seeds_differ(void **state)
{
    (void)state;
    smurf_settings config = small_config("objective=mle");
    smurf_trainer *one, *other;
    smurf_error err;
    assert_int_equal(smurf_trainer_new(&one, &config, train, dev, &err), SMURF_OK);
    config.seed = 2;
    assert_int_equal(smurf_trainer_new(&other, &config, train, dev, &err), SMURF_OK);
    assert_memory_not_equal(one->step.slab[SLAB_WEIGHT], other->step.slab[SLAB_WEIGHT],
                            one->frame->model.params.total * sizeof(float));
    smurf_trainer_free(one);
    smurf_trainer_free(other);
}

static void *train_to_end(void *trainer)
{
    smurf_epoch record[5];
    smurf_error err;
    for (size_t i = 0; !smurf_trainer_done(trainer); i++)
        if (smurf_trainer_epoch(trainer, &record[i], &err)) return NULL;
    return trainer;
}

static void test_two_at_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        smurf_trainer *alone[2], *beside[2];
        pthread_t thread[2];
        void *done;
        for (int i = 0; i < 2; i++) {
            alone[i] = trainer_of(variants[2 * i], threads, train, dev);
            beside[i] = trainer_of(variants[2 * i], threads, train, dev);
            assert_ptr_equal(train_to_end(alone[i]), alone[i]);
        }
        for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, train_to_end, beside[i]), 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_join(thread[i], &done), 0);
            assert_ptr_equal(done, beside[i]);
        }
        for (int i = 0; i < 2; i++) {
            same_state(alone[i], beside[i]);
            smurf_trainer_free(alone[i]);
            smurf_trainer_free(beside[i]);
        }
    }
}

/* The embedding of unknown types is learned from hidden ones. */
static void test_hidden_types_are_learned(void **state)
{
    (void)state;
    double first[2];
    for (int k = 0; k < 2; k++) {
        smurf_trainer *t =
            trainer_of(k ? "objective=mle epochs=1 mask=0.3" : "objective=mle epochs=1 mask=1e-9", 1, train, dev);
        const struct param *p = &t->frame->model.params.entry[0];
        assert_string_equal(p->name, "embedding");
        assert_int_equal(p->rows, t->frame->types + 1);
        float *last = t->step.slab[SLAB_WEIGHT] + p->at + (p->rows - 1) * p->columns;
        first[k] = (double)*last;
        end_epoch(t);
        assert_true(((double)*last != first[k]) == (k == 1));
        smurf_trainer_free(t);
    }
    assert_true(first[0] == first[1]);
}

/* ---- Allocations ---------------------------------------------------------------------------------- */

/* Many sequences, so that sorting them would need room; steps that begin an epoch count too. */
static void test_steps_allocate_nothing(void **state)
{
    (void)state;
#ifndef CAN_COUNT
    skip();
#endif
    smurf_data *many = simulate("hawkes", 3, 300, 5, 3);
    static const char *const settings[] = {"objective=dsm batch=30 dropout=0.1 average=0.9",
                                           "objective=mle batch=30 clip=1 mask=0.1"};
    for (int i = 0; i < 4; i++) {
        smurf_trainer *t = trainer_of(settings[i / 2], 1 + i % 2, many, dev);
        smurf_error err;
        smurf_status status = SMURF_OK;
        double loss;
        int last = 0;
        do_step(t);
        for (int epoch = 0; epoch < 3; epoch++, last = 0) {
            atomic_store(&allocations, 0);
            atomic_store(&of_openmp, 0);
            atomic_store(&counting, true);
            while (!last && !status) status = smurf_trainer_step(t, &loss, &last, &err);
            atomic_store(&counting, false);
            assert_int_equal(status, SMURF_OK);
            /* gcc's OpenMP runtime makes every team of one anew (and frees it); larger ones it keeps. */
            assert_int_equal(atomic_load(&allocations), atomic_load(&of_openmp));
            end_epoch(t);
        }
        smurf_trainer_free(t);
    }
    smurf_data_free(many);
}

/* ---- What can go wrong ---------------------------------------------------------------------------- */

static void check_best_is_finite(const smurf_trainer *t, size_t epoch)
{
    smurf_model *model;
    smurf_error err;
    if (smurf_trainer_model(t, &model, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < model->model.params.total; i++) assert_true(isfinite(model->slab[i]));
    assert_int_equal(model->epoch, epoch);
    smurf_model_free(model);
}

/* Gaps and weights of the loss so large that the squares of gradients overflow. */
static void test_gradient_that_overflows(void **state)
{
    (void)state;
    smurf_data *far = read_text("sequence,time,type\na,0,0\na,1e15,0\na,3e15,1\nb,0,0\nb,4e15,1\n");
    smurf_trainer *t = trainer_of("objective=mle scale=none alpha=1e6 rate=10", 1, far, NULL);
    smurf_epoch epoch;
    smurf_error err;
    assert_int_equal(smurf_trainer_epoch(t, &epoch, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "not finite in epoch 1, step 1 (sequences 1, 0 of train, counted from 0)"));
    assert_non_null(strstr(err.message, "lower the rate, clip the gradient"));
    assert_null(strstr(err.message, "best model")); /* there is none yet */
    check_best_is_finite(t, 0);
    assert_int_equal(t->at.step, 0);
    smurf_trainer_free(t);
    smurf_data_free(far);
}

/* A clipped gradient of that size is no error. */
static void test_clip_tames(void **state)
{
    (void)state;
    smurf_data *far = read_text("sequence,time,type\na,0,0\na,1e15,0\na,3e15,1\nb,0,0\nb,4e15,1\n");
    smurf_trainer *t = trainer_of("objective=mle scale=none alpha=1e6 clip=1", 1, far, NULL);
    end_epoch(t);
    for (size_t i = 0; i < t->frame->model.params.total; i++) assert_true(isfinite(t->step.slab[SLAB_WEIGHT][i]));
    smurf_trainer_free(t);
    smurf_data_free(far);
}

static void test_loss_that_is_not_finite(void **state)
{
    (void)state;
    smurf_trainer *t = trainer_of("objective=dsm", 2, train, dev);
    smurf_epoch epoch, best;
    smurf_error err;
    assert_int_equal(smurf_trainer_best(t, &best), 0);
    end_epoch(t);
    do_step(t);
    t->step.slab[SLAB_WEIGHT][smurf_offsets(&t->frame->model)->head.c] = NAN;
    assert_int_equal(smurf_trainer_epoch(t, &epoch, &err), SMURF_ERROR_INPUT);
    assert_int_equal(err.status, SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "not finite in epoch 2, step 2 (sequences "));
    assert_non_null(strstr(err.message, "; the best model so far is kept"));
    check_best_is_finite(t, 1);
    assert_int_equal(smurf_trainer_best(t, &best), 1);
    assert_int_equal(best.epoch, 1);
    assert_int_equal(smurf_trainer_epoch(t, &epoch, &err), SMURF_ERROR_INPUT); /* and again, not worse */
    smurf_trainer_free(t);
}

/* Weights that break after the last step, so that dev is the first to see it. */
static void test_dev_loss_that_is_not_finite(void **state)
{
    (void)state;
    smurf_trainer *t = trainer_of("objective=mle", 1, train, dev);
    smurf_epoch epoch;
    smurf_error err;
    end_epoch(t);
    while (!do_step(t)) {
    }
    t->step.slab[SLAB_WEIGHT][smurf_offsets(&t->frame->model)->head.c] = INFINITY;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(smurf_trainer_epoch(t, &epoch, &err), SMURF_ERROR_INPUT);
        assert_string_equal(err.message,
                            "the dev loss is not finite after epoch 2: lower the rate; the best model so far is kept");
    }
    check_best_is_finite(t, 1);
    /* Such weights are no start for another run. */
    smurf_trainer *again;
    assert_int_equal(smurf_trainer_save(t, in_folder("run.resume"), &err), SMURF_OK);
    assert_int_equal(smurf_trainer_resume(&again, in_folder("run.resume"), train, dev, 1, &err), SMURF_ERROR_INPUT);
    assert_non_null(strstr(err.message, "tensor 'weight/gap.c' has a value that is not finite"));
    assert_null(again);
    smurf_trainer_free(t);
}

struct watcher {
    int calls, stop_at;
    double last_done;
    char text[128];
};

static int watch(void *context, const smurf_progress *p)
{
    struct watcher *w = context;
    assert_string_equal(p->unit, "steps");
    assert_true(p->total == 6 && p->done >= 0 && p->done <= 6);
    if (p->done == 6 || (w->calls && p->done == w->last_done)) return 0; /* inside a pass that takes long */
    w->last_done = p->done;
    snprintf(w->text, sizeof w->text, "%s", p->what);
    return ++w->calls == w->stop_at;
}

static void test_progress_stops_and_goes_on(void **state)
{
    (void)state;
    smurf_trainer *t = trainer_of(variants[0], 1, train, dev), *whole = trainer_of(variants[0], 1, train, dev);
    struct watcher w = {.stop_at = 10};
    smurf_epoch record[5];
    smurf_error err;
    smurf_trainer_progress(t, watch, &w);
    assert_int_equal(smurf_trainer_epoch(t, &record[0], &err), SMURF_OK);
    assert_int_equal(w.calls, 6);
    assert_int_equal(smurf_trainer_epoch(t, &record[1], &err), SMURF_ERROR_CANCELLED);
    assert_string_equal(err.message, "stopped in epoch 2 after 3 of its 6 steps");
    assert_int_equal(t->at.next, 3);
    assert_true(w.last_done == 3);
    double loss = 0, speed = 0;
    assert_int_equal(sscanf(w.text, "epoch 2 of 3  loss %lf  %lfk events/s", &loss, &speed), 2);
    assert_true(isfinite(loss) && speed > 0);
    t = through_file(t, 2);
    run_epochs(t, record);
    run_epochs(whole, record);
    same_state(t, whole);
    smurf_trainer_free(t);
    smurf_trainer_free(whole);
}

static int stop_at_once(void *context, const smurf_progress *p)
{
    (void)context, (void)p;
    return 1;
}

/* With one step an epoch there is none in between to ask after. */
static void test_progress_stops_short_epochs(void **state)
{
    (void)state;
    smurf_trainer *t = trainer_of("objective=mle batch=100 epochs=50", 1, train, dev);
    smurf_epoch epoch;
    smurf_error err;
    assert_int_equal(smurf_feed_batches(&t->train), 1);
    end_epoch(t);
    smurf_trainer_progress(t, stop_at_once, NULL);
    assert_int_equal(smurf_trainer_epoch(t, &epoch, &err), SMURF_ERROR_CANCELLED);
    assert_int_equal(t->at.step, 1);
    smurf_trainer_free(t);
}

static void refuse(const smurf_data *a, const smurf_data *b, const char *says)
{
    smurf_trainer *t = (smurf_trainer *)1;
    smurf_error err;
    assert_int_equal(smurf_trainer_resume(&t, in_folder("run.resume"), a, b, 1, &err), SMURF_ERROR_INPUT);
    if (!strstr(err.message, says)) fail_msg("'%s' does not say '%s'", err.message, says);
    assert_null(t);
}

static void test_resume_needs_the_same_data(void **state)
{
    (void)state;
    smurf_error err;
    smurf_trainer *t = trainer_of("objective=mle", 1, train, dev);
    assert_int_equal(smurf_trainer_save(t, in_folder("run.resume"), &err), SMURF_OK);
    refuse(dev, dev, "was started with other training data");
    refuse(train, train, "was started with other dev data");
    refuse(train, NULL, "was started with other dev data");
    /* The same events, but fewer of them scored; types that the weights do not have. */
    train->sequence[3].first++;
    refuse(train, dev, "was started with other training data");
    train->sequence[3].first--;
    train->types++;
    refuse(train, dev, "was started with other training data");
    train->types--;
    dev->types++;
    refuse(train, dev, "was started with other dev data");
    dev->types--;
    smurf_trainer_free(t);
}

/* Writes the file again with a piece of its metadata changed. */
static void rewrite(const struct tensor_file *file, const char *from, const char *to)
{
    const char *text = smurf_tensors_text(file, "smurf_resume"), *at = strstr(text, from);
    char *changed = malloc(strlen(text) + strlen(to) + 1);
    smurf_error err;
    assert_non_null(at);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    struct tensor_text one = {"smurf_resume", changed};
    if (smurf_tensors_write(in_folder("run.resume"), file->tensor, file->tensors, &one, 1, &err))
        fail_msg("%s", err.message);
    free(changed);
}

static void test_resume_believes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"\"step\":8", "\"step\":-1", "the file is damaged"},
        {"\"step\":8", "\"step\":1", "the file is damaged"},
        {"\"step\":8", "\"step\":\"8\"", "the file is damaged"},
        {"\"epoch\":1,\"next\"", "\"epoch\":9,\"next\"", "the file is damaged"},
        {"\"next\":2", "\"next\":7", "the file is damaged"},
        {"\"next\":2", "\"next\":-2", "the file is damaged"},
        {"\"halvings\":0", "\"halvings\":4000000000", "the file is damaged"},
        {"\"waited\":0", "\"waited\":3", "the file is damaged"},
        {"\"best_epoch\":1", "\"best_epoch\":0", "the file is damaged"},
        {"\"loss_sum\":\"", "\"loss_sum\":\"7ff0", "the file is damaged"},
        {"\"loss_gaps\":", "\"x\":", "the file is damaged"},
        {"\"state\":", "\"x\":", "other dev data"},
        {"\"width\":\"8\"", "\"width\":\"4096\"", "is needed"},
        {"\"layers\":\"2\"", "\"layers\":\"24\"", "is needed"},
        {"\"layers\":\"2\"", "\"layers\":\"25\"", "layers '25' is not"},
        {"\"average\":\"0\"", "\"average\":\"0.9\"", "there is no tensor 'average/embedding'"},
        {"\"types\":3", "\"types\":2", "other training data"},
        {"\"types\":3", "\"types\":0", "no valid 'types'"},
        {"\"objective\":\"mle\"", "\"objective\":\"mlemlemlemlemlemle\"", "is not one of: dsm sm wsm mle"},
        {"\"format\":1", "\"format\":2", "format 2"},
        {"{\"model\":", "{\"x\":", "format 0"},
        {"{\"model\":", "", "not a resume file"},
    };
    smurf_error err;
    struct tensor_file file;
    smurf_trainer *t = trainer_of("objective=mle", 1, train, dev);
    end_epoch(t);
    do_step(t), do_step(t);
    t = through_file(t, 1);
    assert_int_equal(smurf_tensors_open(&file, in_folder("run.resume"), &err), SMURF_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rewrite(&file, cases[i].from, cases[i].to);
        refuse(train, dev, cases[i].says);
    }
    rewrite(&file, "", "");
    t = through_file(t, 1);
    smurf_trainer_free(t);
    smurf_tensors_close(&file);
}

static void test_data_that_cannot_be(void **state)
{
    (void)state;
    smurf_data *lonely = read_text("sequence,time,type\na,0,0\nb,1,1\n"),
               *still = read_text("time,type\n1,0\n1,0\n1,0\n");
    smurf_settings config = small_config("");
    smurf_trainer *t;
    smurf_error err;
    assert_int_not_equal(smurf_trainer_new(&t, &config, lonely, NULL, &err), SMURF_OK);
    assert_null(t);
    assert_int_not_equal(smurf_trainer_new(&t, &config, still, NULL, &err), SMURF_OK);
    assert_null(t);
    assert_int_equal(smurf_trainer_new(&t, &config, train, lonely, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "no gap to score"));
    dev->types++;
    assert_int_equal(smurf_trainer_new(&t, &config, train, dev, &err), SMURF_ERROR_ARGUMENT);
    assert_string_equal(err.message, "dev has 4 types, train 3: read them together, as one directory");
    dev->types--;
    smurf_data_free(lonely);
    smurf_data_free(still);
}

/* Ties, dithered or not, lie within the support: below it nothing holds the likelihood back. */
static void test_ties_lie_within_the_support(void **state)
{
    (void)state;
    smurf_data *ties =
        read_text("sequence,time,type\na,0,0\na,2,0\na,2,0\na,3,0\na,7,0\nb,0,0\nb,0,0\nb,5,0\nb,5,0\nb,6,0\n");
    for (int i = 0; i < 2; i++) {
        smurf_trainer *t = trainer_of(i ? "epochs=30 rate=0.05 dither=1" : "epochs=30 rate=0.05", 1, ties, NULL);
        for (size_t k = 0; k < t->train.targets; k++) assert_true(t->train.target[k].gap > t->frame->low);
        smurf_epoch record[30];
        run_epochs(t, record);
        assert_true(record[29].train_loss > -20);
        smurf_trainer_free(t);
    }
    smurf_data_free(ties);
}

/* ---- Stopping, the best epoch --------------------------------------------------------------------- */

/* A rate so small that no weight moves: dev stays as it is after the first epoch. */
static void test_patience(void **state)
{
    (void)state;
    smurf_trainer *t = trainer_of("objective=mle rate=1e-60 patience=2 epochs=50", 1, train, dev);
    smurf_epoch record[50], best;
    run_epochs(t, record);
    assert_int_equal(t->at.epoch, 3);
    assert_true(t->at.stopped);
    assert_int_equal(record[0].best, 1);
    assert_int_equal(record[1].best, 0);
    same_bits(record[1].dev_loss, record[0].dev_loss);
    assert_int_equal(smurf_trainer_best(t, &best), 1);
    same_epoch(&best, &record[0]);
    t = through_file(t, 1);
    assert_true(smurf_trainer_done(t));
    smurf_trainer_free(t);
}

/* Halved after every second epoch without a better one. */
static void test_plateau(void **state)
{
    (void)state;
    static const double halvings[] = {0, 0, 0, 1, 1, 2, 2, 3};
    smurf_trainer *t = trainer_of("objective=mle rate=1e-60 schedule=plateau epochs=8", 1, train, dev);
    smurf_epoch record[8];
    run_epochs(t, record);
    for (int i = 0; i < 8; i++) same_bits(record[i].rate, 1e-60 * exp2(-halvings[i]));
    smurf_trainer_free(t);
}

/* The model is that of the best epoch, not the last; with an average, the average. */
static void test_best_epoch_is_kept(void **state)
{
    (void)state;
    smurf_trainer *t = trainer_of("objective=mle rate=0.01 epochs=4 average=0.5", 1, train, dev);
    size_t bytes = t->frame->model.params.total * sizeof(float);
    float *best = malloc(bytes);
    double lowest = INFINITY;
    size_t epoch = 0;
    smurf_model *model;
    smurf_error err;
    for (size_t i = 1; !smurf_trainer_done(t); i++) {
        if (i == 4) /* ruin the last epoch */
            for (size_t k = 0; k < bytes / sizeof(float); k++)
                t->step.slab[SLAB_WEIGHT][k] += 1, t->step.slab[SLAB_AVERAGE][k] += 1;
        smurf_epoch e = end_epoch(t);
        assert_int_equal(e.best, e.dev_loss < lowest);
        if (!e.best) continue;
        lowest = e.dev_loss;
        epoch = i;
        memcpy(best, t->step.slab[SLAB_AVERAGE], bytes);
    }
    assert_true(epoch < 4);
    assert_int_equal(smurf_trainer_model(t, &model, &err), SMURF_OK);
    assert_memory_equal(model->slab, best, bytes);
    assert_int_equal(model->epoch, epoch);
    same_bits(model->dev_loss, lowest);
    smurf_model_free(model);
    smurf_trainer_free(t);
    free(best);
}

static void test_without_dev(void **state)
{
    (void)state;
    smurf_trainer *t = trainer_of("objective=mle rate=0.5 patience=1", 1, train, NULL);
    smurf_epoch record[3];
    run_epochs(t, record);
    assert_int_equal(t->at.epoch, 3);
    for (int i = 0; i < 3; i++)
        assert_true(record[i].best && isnan(record[i].dev_loss) && isnan(record[i].dev_accuracy));
    assert_memory_equal(t->step.slab[SLAB_BEST], t->step.slab[SLAB_WEIGHT],
                        t->frame->model.params.total * sizeof(float));
    check_best_is_finite(t, 3);
    smurf_trainer_free(t);
}

/* ---- Learning ------------------------------------------------------------------------------------- */

static void test_loss_falls(void **state)
{
    (void)state;
    static const struct {
        const char *process, *settings;
    } cases[] = {
        {"hawkes", "objective=dsm"},           {"hawkes", "objective=mle"},
        {"gamma", "objective=dsm scale=mean"}, {"gamma", "objective=sm scale=mean"},
        {"gamma", "objective=wsm scale=mean"}, {"gamma", "objective=wsm"},
        {"gamma", "objective=mle scale=mean"}, {"gamma", "objective=dsm head=score"},
        {"gamma", "objective=sm head=score"},  {"gamma", "objective=wsm head=score"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[128];
        smurf_data *some = simulate(cases[i].process, 3, 40, 20, 5), *others = simulate(cases[i].process, 3, 10, 20, 6);
        snprintf(settings, sizeof settings, "%s rate=0.01 epochs=6", cases[i].settings);
        smurf_trainer *t = trainer_of(settings, 2, some, others);
        smurf_epoch record[6];
        run_epochs(t, record);
        if (!(record[5].train_loss < record[0].train_loss - 0.02 && t->at.best.dev_loss < record[0].dev_loss - 0.01))
            fail_msg("%s, %s: train %g to %g, dev %g to %g", cases[i].process, settings, record[0].train_loss,
                     record[5].train_loss, record[0].dev_loss, t->at.best.dev_loss);
        smurf_trainer_free(t);
        smurf_data_free(some);
        smurf_data_free(others);
    }
}

/* ---- Steps that are dropped ---------------------------------------------------------------------- */

/* Asks to stop whenever it is called. */
static int no_patience(void *calls, const smurf_progress *progress)
{
    assert_non_null(progress->what);
    ++*(size_t *)calls;
    return 1;
}

/* A step or a dev pass that takes long is left in the middle, and nothing of it stays. */
static void test_a_step_that_is_dropped(void **state)
{
    (void)state;
#ifdef __aarch64__
    skip(); /* takes half an hour under emulation */
#endif
    smurf_data *data = simulate("hawkes", 2, 1, 12000, 3);
    const char *settings = "batch=1 context=0 epochs=2 dropout=0.2 average=0.9";
    smurf_trainer *whole = trainer_of(settings, 2, data, data), *cut = trainer_of(settings, 2, data, data);
    size_t size = whole->frame->model.params.total * sizeof(float), calls = 0;
    double loss[2];
    int last;
    smurf_epoch epoch[2];
    smurf_error err;
    assert_int_equal(smurf_trainer_step(whole, &loss[0], &last, &err), SMURF_OK);
    smurf_trainer_progress(cut, no_patience, &calls);
    assert_int_equal(smurf_trainer_step(cut, &loss[1], &last, &err), SMURF_ERROR_CANCELLED);
    assert_non_null(strstr(err.message, "stopped in epoch 1 after 0 of its 1 steps"));
    assert_int_equal(calls, 1);
    assert_int_equal(cut->at.step, 0);
    smurf_trainer_progress(cut, NULL, NULL);
    assert_int_equal(smurf_trainer_step(cut, &loss[1], &last, &err), SMURF_OK);
    assert_true(loss[0] == loss[1] && last);
    smurf_trainer_progress(cut, no_patience, &calls);
    assert_int_equal(smurf_trainer_epoch(cut, &epoch[1], &err), SMURF_ERROR_CANCELLED);
    assert_int_equal(calls, 2);
    assert_int_equal(cut->at.epoch, 0);
    smurf_trainer_progress(cut, NULL, NULL);
    assert_int_equal(smurf_trainer_epoch(whole, &epoch[0], &err), SMURF_OK);
    assert_int_equal(smurf_trainer_epoch(cut, &epoch[1], &err), SMURF_OK);
    assert_true(epoch[0].dev_loss == epoch[1].dev_loss);
    for (int s = 0; s < SLABS; s++)
        if (s != SLAB_GRADIENT) assert_memory_equal(whole->step.slab[s], cut->step.slab[s], size);
    smurf_trainer_free(whole);
    smurf_trainer_free(cut);
    smurf_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resumed_equals_uninterrupted),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_steps_make_an_epoch),
        cmocka_unit_test(test_seeds_differ),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_hidden_types_are_learned),
        cmocka_unit_test(test_steps_allocate_nothing),
        cmocka_unit_test(test_gradient_that_overflows),
        cmocka_unit_test(test_clip_tames),
        cmocka_unit_test(test_loss_that_is_not_finite),
        cmocka_unit_test(test_dev_loss_that_is_not_finite),
        cmocka_unit_test(test_progress_stops_and_goes_on),
        cmocka_unit_test(test_progress_stops_short_epochs),
        cmocka_unit_test(test_resume_needs_the_same_data),
        cmocka_unit_test(test_resume_believes_nothing),
        cmocka_unit_test(test_data_that_cannot_be),
        cmocka_unit_test(test_ties_lie_within_the_support),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_plateau),
        cmocka_unit_test(test_best_epoch_is_kept),
        cmocka_unit_test(test_without_dev),
        cmocka_unit_test(test_loss_falls),
        cmocka_unit_test(test_a_step_that_is_dropped),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
