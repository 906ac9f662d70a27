/*
 * training.c - training on a GPU against the processor, in float: 200 steps within 1e-3 of its losses, dev losses, a
 * run that is saved and resumed, on the same device to the bit and on the other one. Prints TAP.
 */
#include "gpu_case.h"

#include "train/trainer.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 200 };

static _Noreturn void stop(const smurf_error *err)
{
    printf("Bail out! %s\n", err->message);
    exit(1);
}

static smurf_data *simulate(size_t sequences, uint64_t seed)
{
    smurf_process *process;
    smurf_data *data;
    smurf_error err;
    const double base = 0.2, excitation[] = {0.3, 0.3, 0.1, 0.5}, decay = 2;
    const smurf_parameter parameters[] = {{"base", &base, 1}, {"excitation", excitation, 4}, {"decay", &decay, 1}};
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.until = 100;
    config.seed = seed;
    config.threads = 1;
    if (smurf_process_new(&process, "hawkes", 2, parameters, 3, &err) ||
        smurf_process_simulate(&data, process, &config, &err))
        stop(&err);
    smurf_process_free(process);
    return data;
}

static smurf_trainer *start(const smurf_settings *c, const smurf_data *train, const smurf_data *dev, enum device device)
{
    smurf_trainer *t;
    smurf_error err;
    const char *remark;
    if (smurf_trainer_new(&t, c, train, dev, &err) || smurf_trainer_use(t, device, &remark, &err)) stop(&err);
    if (remark) result(false, "trains on the processor: %s", remark);
    return t;
}

/* One step, and the dev loss at the end of an epoch, else NaN. */
static double step(smurf_trainer *t, double *dev)
{
    smurf_error err;
    smurf_epoch epoch;
    double loss;
    int last;
    if (smurf_trainer_step(t, &loss, &last, &err)) stop(&err);
    *dev = NAN;
    if (last) {
        if (smurf_trainer_epoch(t, &epoch, &err)) stop(&err);
        *dev = epoch.dev_loss;
    }
    return loss;
}

static void check_curve(const char *name, const smurf_settings *c, const smurf_data *train, const smurf_data *dev)
{
    smurf_trainer *one = start(c, train, dev, DEVICE_CPU), *other = start(c, train, dev, DEVICE_CUDA);
    double worst = 0, worst_dev = 0, first = 0, last = 0;
    int devs = 0;
    for (int i = 0; i < STEPS; i++) {
        double a, b, want = step(one, &a), got = step(other, &b), off = fabs(got - want);
        if (i == 0) first = want;
        last = want;
        if (!(off <= worst)) worst = off;
        if (isnan(a)) continue;
        devs++;
        if (!(fabs(a - b) <= worst_dev)) worst_dev = fabs(a - b);
    }
    result(worst <= 1e-3, "%s: %d steps from %g to %g (%.1e)", name, STEPS, first, last, worst);
    result(devs > 0 && worst_dev <= 1e-3, "%s: %d dev losses (%.1e)", name, devs, worst_dev);
    smurf_trainer_free(one);
    smurf_trainer_free(other);
}

static void save(smurf_trainer *t, const char *path)
{
    smurf_error err;
    if (smurf_train_step_fetch(&t->step, true, &err) || smurf_trainer_save(t, path, &err)) stop(&err);
}

static smurf_trainer *resume(const char *path, const smurf_data *train, const smurf_data *dev, enum device device)
{
    smurf_trainer *t;
    smurf_error err;
    const char *remark;
    if (smurf_trainer_resume(&t, path, train, dev, 1, &err) || smurf_trainer_use(t, device, &remark, &err)) stop(&err);
    return t;
}

static void run(smurf_trainer *t, int steps, double *loss)
{
    double dev;
    for (int i = 0; i < steps; i++) *loss = step(t, &dev);
}

/* 50 steps; against 20, saved, and 30 more. */
static void check_resume(const smurf_settings *c, const smurf_data *train, const smurf_data *dev)
{
    char path[] = "/tmp/smurf-gpu-XXXXXX";
    int file = mkstemp(path);
    smurf_error err;
    double all, same, other, back;
    if (file >= 0) close(file);
    smurf_trainer *whole = start(c, train, dev, DEVICE_CUDA), *part = start(c, train, dev, DEVICE_CUDA);
    run(whole, 50, &all);
    run(part, 20, &same);
    save(part, path);
    smurf_trainer_free(part);
    part = resume(path, train, dev, DEVICE_CUDA);
    run(part, 30, &same);
    if (smurf_train_step_fetch(&whole->step, true, &err) || smurf_train_step_fetch(&part->step, true, &err)) stop(&err);
    size_t bytes = whole->frame->model.params.total * sizeof(float);
    bool equal = true;
    for (int s = 0; s < SLABS; s++)
        if (s != SLAB_GRADIENT && whole->step.slab[s])
            equal = equal && memcmp(whole->step.slab[s], part->step.slab[s], bytes) == 0;
    result(equal && same == all, "resumed on the GPU: the same bits");
    smurf_trainer_free(part);
    part = resume(path, train, dev, DEVICE_CPU);
    run(part, 30, &other);
    result(fabs(other - all) <= 1e-3, "resumed on the processor: loss %g, on the GPU %g", other, all);
    smurf_trainer_free(part);
    part = start(c, train, dev, DEVICE_CPU);
    run(part, 20, &back);
    save(part, path);
    smurf_trainer_free(part);
    part = resume(path, train, dev, DEVICE_CUDA);
    run(part, 30, &back);
    result(fabs(back - all) <= 1e-3, "begun on the processor, resumed on the GPU: loss %g, %g", back, all);
    smurf_trainer_free(part);
    smurf_trainer_free(whole);
    unlink(path);
}

static smurf_settings settings_of(const char *preset, const smurf_data *train, size_t batch)
{
    smurf_settings c;
    smurf_error err;
    smurf_settings_init(&c);
    if (smurf_settings_preset(&c, preset, train, &err)) stop(&err);
    c.threads = 1;
    c.batch = batch;
    c.epochs = 100;
    c.patience = 0;
    return c;
}

/* What is not supported stays on the processor, and says why. */
static void check_remark(const smurf_data *train, const smurf_data *dev)
{
    smurf_settings c = settings_of("thp", train, 4);
    smurf_trainer *t;
    smurf_error err;
    const char *remark = NULL;
    if (smurf_trainer_new(&t, &c, train, dev, &err) || smurf_trainer_use(t, DEVICE_CUDA, &remark, &err)) stop(&err);
    result(remark && !t->step.device, "another class trains on the processor: %s", remark ? remark : "no remark");
    smurf_trainer_free(t);
}

int main(void)
{
    need_gpu();
    smurf_data *train = simulate(200, 1), *dev = simulate(20, 2);
    smurf_settings simple = settings_of("default", train, 8), paper = settings_of("paper-stackoverflow", train, 4);
    simple.ending = 1;
    simple.epochs = 9; /* the last of them without dropout */
    check_curve("default", &simple, train, dev);
    check_curve("paper", &paper, train, dev);
    strcpy(simple.objective, "wsm");
    simple.ending = 0;
    check_curve("weighted score matching", &simple, train, dev);
    strcpy(simple.objective, "mle");
    check_resume(&simple, train, dev);
    check_remark(train, dev);
    smurf_data_free(train);
    smurf_data_free(dev);
    return finish();
}
