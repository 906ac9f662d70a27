/*
 * unit_evaluate_gpu.c - evaluations that ask a GPU, against those of the processor. laws_gpu_host.c stands in for the
 * GPU.
 */
#include "forecast_case.h"

#include "forecast/evaluate_gpu.h"

static smurf_data *simulated(uint64_t seed)
{
    return simulate("hawkes", 3, 12, 20, seed);
}

static smurf_evaluation *evaluate(const smurf_model *model, const smurf_data *test, const smurf_data *train,
                                  const char *device, const char *sampler, int fast)
{
    smurf_error err;
    smurf_evaluation *e;
    smurf_eval_config c;
    smurf_eval_config_init(&c);
    c.threads = 2;
    c.device = device;
    c.sampler = sampler;
    c.steps = sampler ? 30 : 0;
    c.draws = 20;
    c.fast = fast;
    if (smurf_evaluate(&e, model, test, train, &c, &err)) fail_msg("%s", err.message);
    return e;
}

/* All rows agree; the densest differences are those of densities, by quadratures of 1e-7. */
static void check_same(const smurf_evaluation *a, const smurf_evaluation *b)
{
    for (int r = 0; r <= SMURF_ROW_FIXED; r++) {
        const smurf_metrics *x = smurf_evaluation_row(a, (smurf_row)r, NULL, NULL);
        const smurf_metrics *y = smurf_evaluation_row(b, (smurf_row)r, NULL, NULL);
        assert_true(!x == !y);
        if (!x) continue;
        assert_true(fabs(x->cs - y->cs) <= 1e-9 * fabs(x->cs) + 1e-9);
        assert_true(fabs(x->crps - y->crps) <= 1e-6 * x->crps);
        assert_true(isnan(x->log_likelihood) || fabs(x->log_likelihood - y->log_likelihood) < 1e-4);
        assert_true((isnan(x->type_loss) && isnan(y->type_loss)) || fabs(x->type_loss - y->type_loss) < 1e-6);
    }
}

static void gpu_measures_what_the_processor_does(void **state)
{
    (void)state;
    static const char *const settings[] = {"objective=mle epochs=2", "objective=mle epochs=2 context=8 ending=on",
                                           "objective=dsm scale=mean sigma=0.2 epochs=2",
                                           "objective=dsm scale=mean sigma=0.3 noise=multiplicative epochs=2"};
    static const char *const samplers[] = {"langevin", "reject", "mirror", NULL};
    smurf_data *train = simulated(1), *test = simulated(2);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        smurf_model *model = trained(settings[k], train);
        const char *sampler = samplers[k], *remark;
        smurf_evaluation *cpu = evaluate(model, test, train, "cpu", sampler, k == 1);
        smurf_evaluation *gpu = evaluate(model, test, train, "cuda", sampler, k == 1);
        assert_string_equal(smurf_evaluation_device(cpu, &remark), "cpu");
        assert_null(remark);
        assert_string_equal(smurf_evaluation_device(gpu, &remark), "cuda");
        assert_null(remark);
        check_same(cpu, gpu);
        smurf_evaluation_free(cpu);
        smurf_evaluation_free(gpu);
        smurf_model_free(model);
    }
    smurf_data_free(train);
    smurf_data_free(test);
}

/* A recalibrated model: its law before the map is measured, too. */
static void gpu_measures_maps(void **state)
{
    (void)state;
    smurf_data *train = simulated(1), *test = simulated(2);
    smurf_model *model = trained("objective=mle epochs=2", train);
    smurf_error err;
    if (smurf_model_calibrate(model, train, NULL, 1, 1, 1, NULL, NULL, &err)) fail_msg("%s", err.message);
    smurf_evaluation *cpu = evaluate(model, test, NULL, NULL, NULL, 0);
    smurf_evaluation *gpu = evaluate(model, test, NULL, "auto", NULL, 0);
    assert_non_null(smurf_evaluation_row(gpu, SMURF_ROW_RAW, NULL, NULL));
    assert_string_equal(smurf_evaluation_device(gpu, NULL), "cuda");
    check_same(cpu, gpu);
    smurf_evaluation_free(cpu);
    smurf_evaluation_free(gpu);
    smurf_model_free(model);
    smurf_data_free(train);
    smurf_data_free(test);
}

static void others_are_left_to_the_processor(void **state)
{
    (void)state;
    static const char *const settings[] = {"objective=dsm head=score scale=mean epochs=1",
                                           "model=thp scale=mean gap-feature=off epochs=1"};
    static const char *const says[] = {"heads that are scores", "SMURF models"};
    smurf_data *train = simulated(1), *test = simulated(2);
    for (int k = 0; k < 2; k++) {
        smurf_model *model = trained(settings[k], train);
        const char *remark = NULL;
        smurf_evaluation *cpu = evaluate(model, test, NULL, NULL, NULL, 0);
        smurf_evaluation *gpu = evaluate(model, test, NULL, "cuda", NULL, 0);
        assert_string_equal(smurf_evaluation_device(gpu, &remark), "cpu");
        assert_non_null(strstr(remark, says[k]));
        check_same(cpu, gpu);
        smurf_evaluation_free(cpu);
        smurf_evaluation_free(gpu);
        smurf_model_free(model);
    }
    smurf_data_free(train);
    smurf_data_free(test);
}

static void unknown_devices_are_refused(void **state)
{
    (void)state;
    smurf_data *train = simulated(1);
    smurf_model *model = trained("objective=mle epochs=1", train);
    smurf_evaluation *e;
    smurf_eval_config c;
    smurf_error err;
    smurf_eval_config_init(&c);
    c.device = "tpu";
    assert_int_equal(smurf_evaluate(&e, model, train, NULL, &c, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "not one of: cpu, cuda, auto"));
    assert_null(e);
    smurf_model_free(model);
    smurf_data_free(train);
}

static int never_mind(void *context, const smurf_progress *progress)
{
    (void)context, (void)progress;
    return 1;
}

static void evaluations_can_be_cancelled(void **state)
{
    (void)state;
    smurf_data *train = simulated(1);
    smurf_model *model = trained("objective=mle epochs=1", train);
    smurf_evaluation *e;
    smurf_eval_config c;
    smurf_error err;
    smurf_eval_config_init(&c);
    c.device = "cuda";
    c.progress = never_mind;
    assert_int_equal(smurf_evaluate(&e, model, train, NULL, &c, &err), SMURF_ERROR_CANCELLED);
    assert_null(e);
    smurf_model_free(model);
    smurf_data_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpu_measures_what_the_processor_does), cmocka_unit_test(gpu_measures_maps),
        cmocka_unit_test(others_are_left_to_the_processor),     cmocka_unit_test(unknown_devices_are_refused),
        cmocka_unit_test(evaluations_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
