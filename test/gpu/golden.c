/*
 * golden.c - the files of expected values, as test/golden.c checks them, with losses and gradients from a GPU, to 1e-4.
 * Perturbed points are given in the files, where a GPU draws its own: those losses are left to the processor, and
 * gradient.c compares them.
 */
#include "gpu_case.h"

#define SMURF_GOLDEN_TOLERANCE 1e-4
#define cases                  golden_cases
#define failures               golden_failures
#define result                 golden_result
#define finish                 golden_finish
#define main                   golden_main
int golden_main(int argc, char **argv);
#include "../golden.c"
#undef main

#include "../../bench/feed_of.h"
#include "train/device.h"

/* In place of smurf_loss(). */
static struct loss on_gpu(const struct golden *g, const struct objective_class *objective)
{
    struct op_run run = {1, 1, 1, 0, NULL};
    size_t total = g->model.params.total;
    struct loss_config config = g->loss;
    struct train_device *device;
    struct loss loss = {.time = NAN};
    smurf_error err;
    double norm;
    struct batch batch = g->batch;
    struct feed feed = feed_of(&batch, batch.input.rows.sequences);
    float *slab = calloc(total, sizeof *slab);
    config.objective.class = objective;
    for (size_t i = 0; i < total; i++) slab[i] = (float)g->slab[i];
    if (smurf_train_device_open(&device, &g->model, &config, false, &feed, NULL, &err)) {
        printf("# %s\n", err.message);
        free(slab);
        return loss;
    }
    smurf_train_device_put(device, CUDA_WEIGHT, slab, NULL);
    loss = smurf_train_device_gradient(device, &run, &feed, 0, &norm);
    smurf_train_device_get(device, CUDA_GRADIENT, slab, NULL);
    for (size_t i = 0; i < total; i++) g->grad[i] = (double)slab[i];
    smurf_train_device_close(device);
    free(slab);
    return loss;
}

/* As check_times() and check_likelihood() of test/golden.c. */
static void times_on_gpu(struct golden *g, const char *key, const struct objective_class *objective)
{
    const json_t *expected = json_object_get(g->expect, key);
    double alpha = g->loss.alpha;
    if (!expected) return;
    g->loss.alpha = 1;
    struct loss loss = on_gpu(g, objective);
    compare(g->file, key, &loss.time, (double[]){number(expected, "sum", NAN)}, 1);
    double *both = calloc(g->model.params.total, sizeof *both);
    memcpy(both, g->grad, g->model.params.total * sizeof *both);
    g->loss.alpha = 0;
    on_gpu(g, objective);
    for (size_t i = 0; i < g->model.params.total; i++) g->grad[i] = both[i] - g->grad[i];
    compare_gradients(g, json_object_get(expected, "grad"), key);
    g->loss.alpha = alpha;
    free(both);
}

static void file_on_gpu(const char *file)
{
    struct golden g;
    load(&g, file);
    if (!json_object_get(g.expect, "denoising_full_gradient")) {
        json_decref(g.root);
        return;
    }
    if (build(&g)) {
        times_on_gpu(&g, "implicit_score_matching", &OP(objective_sm));
        times_on_gpu(&g, "weighted_score_matching", &OP(objective_wsm));
        g.loss.objective.points = 64;
        smurf_gauss_legendre(64, g.loss.objective.node, g.loss.objective.weight);
        double likelihood = -on_gpu(&g, &OP(objective_mle)).time;
        compare(g.file, "log-likelihood", &likelihood, (double[]){number(g.expect, "log_likelihood_sum", NAN)}, 1);
        times_on_gpu(&g, "maximum_likelihood", &OP(objective_mle));
    }
    unload(&g);
}

int main(int argc, char **argv)
{
    need_gpu();
    (void)golden_main;
    for (int i = 1; i < argc; i++) file_on_gpu(argv[i]);
    printf("1..%d\n", golden_cases);
    return golden_failures > 0;
}
