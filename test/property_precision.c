/*
 * property_precision.c - training in float is training in double but for rounding: after 100 steps of the real trainer,
 * losses, laws and types are within 1e-4 of the same steps taken in double, from the same weights, on the same batches,
 * with the same noise and the same dropout.
 */
#include "train_case.h"

#include "both_reals.h"
#include "law/exact.h"
#include "model/gap_law.h"
#include "model/smurf_class.h"
#include "train/schedule.h"

enum { STEPS = 100, LEVELS = 9, TYPES = 3, WIDTH = 32 };
static const double limit = 1e-4;

/* ---- The same run in double ----------------------------------------------------------------------- */

struct twin {
    smurf_trainer *trainer;
    size_t weights;
    double *w, *g, *m, *v; /* (weights): the trainer's slabs */
    double *gap;           /* (rows of the longest batch) */
    struct feed_batch room;
};

static void twin_init(struct twin *twin, smurf_trainer *t)
{
    size_t n = t->frame->model.params.total;
    double **slab[] = {&twin->w, &twin->g, &twin->m, &twin->v};
    *twin = (struct twin){.trainer = t, .weights = n};
    twin->gap = model_case_room(t->train.longest_batch_events, sizeof *twin->gap);
    assert_int_equal(smurf_feed_batch_init(&twin->room, &t->train, NULL), SMURF_OK);
    for (int i = 0; i < 4; i++) *slab[i] = model_case_room(n, sizeof **slab[i]);
    for (size_t i = 0; i < n; i++) twin->w[i] = (double)t->step.slab[SLAB_WEIGHT][i];
}

static void twin_release(struct twin *twin)
{
    free(twin->w), free(twin->g), free(twin->m), free(twin->v), free(twin->gap);
    smurf_feed_batch_release(&twin->room);
}

/* The batch of the trainer's last step. */
static struct model_case last_batch(const struct twin *twin)
{
    const smurf_trainer *t = twin->trainer;
    const struct feed_batch *room = &twin->room;
    struct batch batch = smurf_feed_fill(&t->train, t->at.next - 1, room);
    for (size_t i = 0; i < batch.input.n; i++) twin->gap[i] = (double)room->gap[i];
    return (struct model_case){.model = t->frame->model,
                               .config = t->step.loss,
                               .objective = t->frame->config.objective,
                               .dropout = t->frame->config.dropout,
                               .slab = twin->w,
                               .sequences = batch.input.rows.sequences,
                               .n = batch.input.n,
                               .targets = batch.targets,
                               .offset = room->offset,
                               .id = room->id,
                               .type = room->type,
                               .time = room->time,
                               .gap = twin->gap,
                               .target = room->target};
}

/* Adam as adam.h states it. */
static void adam(struct twin *twin, double t, double rate)
{
    for (size_t i = 0; i < twin->weights; i++) {
        double g = twin->g[i], *m = &twin->m[i], *v = &twin->v[i];
        *m = 0.9 * *m + 0.1 * g;
        *v = 0.999 * *v + 0.001 * g * g;
        twin->w[i] -= rate * (*m / (1 - pow(0.9, t))) / (sqrt(*v / (1 - pow(0.999, t))) + 1e-5);
    }
}

/* Follows the step that the trainer has just made; returns its loss as the trainer does. */
static double twin_step(struct twin *twin)
{
    const smurf_trainer *t = twin->trainer;
    const struct op_run run = {1, t->frame->config.seed, t->at.step, 0, NULL};
    struct model_case batch = last_batch(twin);
    struct loss sum = smurf_number_type_f64.loss(&batch, &run, NULL, twin->g);
    adam(twin, (double)t->at.step, smurf_schedule_rate(&t->frame->config, t->at.epoch + 1, t->at.step, 0));
    return (t->step.loss.alpha * sum.time + sum.type) / (double)sum.gaps;
}

/* ---- What came of it ------------------------------------------------------------------------------ */

/* The coefficients of all laws of a batch, as one of the number types has them. */
struct answers {
    double *a, *b, *type_a, *type_b;
};

static struct answers answer(const struct number_type *type, const struct model_case *batch)
{
    const struct op_run run = {1, 1, 0, 0, NULL};
    size_t size = batch->n * WIDTH;
    struct answers out;
    double **each[] = {&out.a, &out.b, &out.type_a, &out.type_b};
    for (int i = 0; i < 4; i++) *each[i] = model_case_room(size, sizeof **each[i]);
    type->coefficients(batch, &run, out.a, out.b, out.type_a, out.type_b);
    return out;
}

static void answers_release(struct answers *answers)
{
    free(answers->a), free(answers->b), free(answers->type_a), free(answers->type_b);
}

/* Row i of coefficients in float, for which there is a law: as smurf_class.h lays them out. */
struct row {
    float a[WIDTH], b[WIDTH], type_a[WIDTH / 2], type_b[WIDTH / 2];
};

static struct row narrow(const struct answers *from, size_t i)
{
    struct row out;
    for (size_t k = 0; k < WIDTH; k++) {
        out.a[k] = (float)from->a[i * WIDTH + k], out.b[k] = (float)from->b[i * WIDTH + k];
        if (k >= WIDTH / 2) continue;
        out.type_a[k] = (float)from->type_a[i * WIDTH / 2 + k], out.type_b[k] = (float)from->type_b[i * WIDTH / 2 + k];
    }
    return out;
}

/* The law of row i in double takes all numbers from there. */
static void widen_law(struct gap_law *law, const struct head_params *at, const double *w, const struct answers *from,
                      size_t i)
{
    law->c = w[at->c];
    for (size_t k = 0; k < WIDTH; k++) {
        law->two_a[k] = 2 * from->a[i * WIDTH + k], law->two_b[k] = 2 * from->b[i * WIDTH + k];
        law->w[k] = w[at->w + k];
        law->c += law->w[k];
    }
}

/* Probabilities of the types at y, from the formula. */
static void true_types(const struct head_params *at, const double *w, const struct answers *from, size_t i, double y,
                       double *out)
{
    double sum = 0;
    for (size_t k = 0; k < TYPES; k++) {
        double logit = w[at->type_c + k];
        for (size_t j = 0; j < WIDTH / 2; j++)
            logit += w[at->type_w + k * (WIDTH / 2) + j] *
                     tanh(from->type_a[i * WIDTH / 2 + j] * y + from->type_b[i * WIDTH / 2 + j]);
        sum += out[k] = exp(logit);
    }
    for (size_t k = 0; k < TYPES; k++) out[k] /= sum;
}

static double relative(double x, double truth)
{
    return fabs(x - truth) / fabs(truth);
}

/* Largest relative differences of F at the quantiles and of the types' probabilities there, over the laws of a batch.
 */
static void compare(const struct twin *twin, double *cdf, double *types)
{
    const smurf_model *frame = twin->trainer->frame;
    const float *slab = twin->trainer->step.slab[SLAB_WEIGHT];
    struct model_case batch = last_batch(twin), ours = batch;
    const struct head_params *head = &smurf_offsets(&batch.model)->head;
    batch.dropout = ours.dropout = 0;
    ours.slab = model_case_room(twin->weights, sizeof *ours.slab);
    for (size_t i = 0; i < twin->weights; i++) ours.slab[i] = (double)slab[i];
    struct answers in_float = answer(&smurf_number_type_f32, &ours), in_double = answer(&smurf_number_type_f64, &batch);
    enum exact_mass mass = strcmp(batch.objective, "mle") ? EXACT_ONE : EXACT_REST;
    struct exact exact, true_exact;
    smurf_error err;
    assert_int_equal(smurf_exact_init(&exact, &err) | smurf_exact_init(&true_exact, &err), SMURF_OK);
    *cdf = *types = 0;
    for (size_t i = 0; i < batch.n; i++) {
        struct row row = narrow(&in_float, i);
        double memory[1024], true_memory[1024];
        assert_true(smurf_gap_law_memory(&batch.model) <= sizeof memory);
        struct law law = smurf_gap_law(&batch.model, slab, row.a, frame->low, frame->high, memory);
        struct law truth = smurf_gap_law(&batch.model, slab, row.a, frame->low, frame->high, true_memory);
        widen_law((void *)true_memory, head, twin->w, &in_double, i);
        smurf_exact_build(&exact, &law, mass);
        smurf_exact_build(&true_exact, &truth, mass);
        struct dist dist = smurf_exact_dist(&exact), true_dist = smurf_exact_dist(&true_exact);
        for (int level = 1; level <= LEVELS; level++) {
            double p[TYPES], q[TYPES], y = smurf_dist_quantile(&true_dist, level / (LEVELS + 1.0));
            if (!isfinite(y)) continue;
            *cdf = fmax(*cdf, relative(smurf_dist_cdf(&dist, y), smurf_dist_cdf(&true_dist, y)));
            smurf_gap_law_types(&law, &y, p, 1);
            true_types(head, twin->w, &in_double, i, y, q);
            for (int k = 0; k < TYPES; k++) *types = fmax(*types, relative(p[k], q[k]));
        }
    }
    smurf_exact_release(&exact), smurf_exact_release(&true_exact);
    answers_release(&in_float), answers_release(&in_double);
    free(ours.slab);
}

static void check(const char *settings)
{
    char all[256];
    snprintf(all, sizeof all,
             "width=%d heads=2 head-width=16 inner=64 dropout=0.1 settle=0 points=20 nodes=8 rate=1e-3 %s", WIDTH,
             settings);
    smurf_data *train = simulate("hawkes", TYPES, STEPS * 4, 30, 3);
    smurf_trainer *t = trainer_of(all, 1, train, NULL);
    struct twin twin;
    twin_init(&twin, t);
    double loss = 0, first = 0, truth = 0, worst = 0, cdf, types;
    for (int i = 0, last; i < STEPS; i++) {
        smurf_error err;
        if (smurf_trainer_step(t, &loss, &last, &err)) fail_msg("%s", err.message);
        truth = twin_step(&twin);
        worst = fmax(worst, relative(loss, truth));
        if (i == 0) first = loss;
    }
    compare(&twin, &cdf, &types);
    printf("# %s: loss %.4f to %.4f; relative differences: losses %.1e, the last %.1e; F %.1e; types %.1e\n", settings,
           first, loss, worst, relative(loss, truth), cdf, types);
    assert_true(worst <= limit && cdf <= limit && types <= limit);
    twin_release(&twin);
    smurf_trainer_free(t);
    smurf_data_free(train);
}

static void test_mle(void **state)
{
    (void)state;
    check("objective=mle");
}

static void test_dsm(void **state)
{
    (void)state;
    check("objective=dsm sigma=0.3");
}

static void test_wsm(void **state)
{
    (void)state;
    check("objective=wsm scale=log");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mle),
        cmocka_unit_test(test_dsm),
        cmocka_unit_test(test_wsm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
