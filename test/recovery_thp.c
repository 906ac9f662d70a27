/*
 * recovery_thp.c - training of THP and NCE-TPP finds the true law of a process that they can represent.
 *
 * A Hawkes process that forgets slowly: its intensity depends on the history and hardly changes within a gap. (THP
 * cannot have it fall within a gap late in a sequence: its slope there is alpha / t.) The measure is that of
 * recovery.c, the mean over events of the mean over true quantile levels of |F_learned - F_true|, with F of the model's
 * exact law. The first argument names the model; without one, all that are here.
 */
#include "true_quantile.h"

#include "train_case.h"

#include "forecast/model_predictor.h"

enum { LEVELS = 19 };

struct recovery_case {
    const char *model, *name;
    double decay, base;
    double limit;
};

/* Adds up errors of the learned law, and of the law of another event in its place: what history is worth. */
static void errors_of(const smurf_model *m, const smurf_process *process, const smurf_sequence *s, double sum[2],
                      size_t *events)
{
    struct predictor p = smurf_model_predictor(m);
    void *workspace = p.class->workspace_new(p.self, s->length, NULL);
    assert_non_null(workspace);
    p.class->read(p.self, workspace, s);
    for (size_t j = 1; j < s->length; j += 3) {
        smurf_law *law;
        assert_int_equal(smurf_process_law(&law, process, s, j, NULL), SMURF_OK);
        const size_t row[2] = {j - 1, (j - 1 + s->length / 2) % s->length};
        for (int which = 0; which < 2; which++) {
            struct dist dist = p.class->dist(p.self, workspace, row[which], 1);
            for (int k = 1; k <= LEVELS; k++) {
                double level = k / (LEVELS + 1.0);
                sum[which] += fabs(smurf_dist_cdf(&dist, true_quantile(law, level)) - level) / LEVELS;
            }
        }
        smurf_law_free(law);
        ++*events;
    }
    p.class->workspace_free(workspace);
}

static smurf_model *train_on(const char *preset, const smurf_data *train, const smurf_data *dev, double *seconds)
{
    char settings[256];
    smurf_error err;
    smurf_trainer *t;
    smurf_model *model;
    snprintf(settings, sizeof settings,
             "model=%s scale=mean gap-feature=off width=32 heads=2 head-width=16 layers=1 inner=64 batch=16 points=30 "
             "rate=3e-3 epochs=10 warmup=100 average=0.99 schedule=cosine",
             preset);
    smurf_settings config = small_config(settings);
    if (smurf_trainer_new(&t, &config, train, dev, &err)) fail_msg("%s", err.message);
    *seconds = 0;
    while (!smurf_trainer_done(t)) {
        smurf_epoch epoch;
        if (smurf_trainer_epoch(t, &epoch, &err)) fail_msg("%s", err.message);
        *seconds += epoch.seconds;
    }
    if (smurf_trainer_model(t, &model, &err)) fail_msg("%s", err.message);
    smurf_trainer_free(t);
    return model;
}

static void check_recovery(void **state)
{
    const struct recovery_case *c = *state;
    const smurf_parameter parameter[] = {{"decay", &c->decay, 1}, {"base", &c->base, 1}};
    smurf_error err;
    smurf_process *process;
    if (smurf_process_new(&process, "hawkes", 2, parameter, 2, &err)) fail_msg("%s", err.message);
    smurf_data *train = observe(process, 2000, 1), *dev = observe(process, 100, 2);
    double seconds, sum[2] = {0, 0};
    size_t events = 0;
    smurf_model *model = train_on(c->model, train, dev, &seconds);
    for (size_t i = 0; i < 20; i++) errors_of(model, process, smurf_data_sequence(dev, i), sum, &events);
    double error = sum[0] / (double)events, other = sum[1] / (double)events;
    print_message("# %s: mean |F - truth| %.4f over %zu laws (%.4f with another event's), limit %.3f, %.1f s\n",
                  c->name, error, events, other, c->limit, seconds);
    assert_true(error < c->limit);
    assert_true(other > 2 * error); /* a law that does not look at the history would not do */
    smurf_model_free(model);
    smurf_data_free(train), smurf_data_free(dev);
    smurf_process_free(process);
}

static struct recovery_case cases[] = {
    {"thp", "thp, slow Hawkes", 0.1, 0.5, 0.03},
    {"nce", "nce, slow Hawkes", 0.1, 0.5, 0.03},
};
enum { CASES = sizeof cases / sizeof *cases };

int main(int argc, char **argv)
{
    struct CMUnitTest tests[CASES];
    size_t n = 0;
    for (size_t i = 0; i < CASES; i++)
        if (argc < 2 || strcmp(argv[1], cases[i].model) == 0)
            tests[n++] = (struct CMUnitTest){cases[i].name, check_recovery, NULL, NULL, &cases[i]};
    return _cmocka_run_group_tests("recovery", tests, n, NULL, NULL);
}
