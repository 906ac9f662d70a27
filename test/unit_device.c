/* unit_device.c - what a GPU is told of a model, and which models stay on the processor. See train/device.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "train/device.h"
#include "model/smurf_class.h"

#include <string.h>

static void devices_have_names(void **state)
{
    (void)state;
    enum device device = DEVICE_CUDA;
    smurf_error err;
    assert_int_equal(smurf_device_parse(&device, NULL, &err), SMURF_OK);
    assert_int_equal(device, DEVICE_CPU);
    assert_int_equal(smurf_device_parse(&device, "auto", &err), SMURF_OK);
    assert_int_equal(device, DEVICE_AUTO);
    assert_int_equal(smurf_device_parse(&device, "gpu", &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "device 'gpu' is not one of: cpu, cuda, auto"));
    assert_int_equal(smurf_device_check("cpu", &err), SMURF_OK);
    assert_int_equal(smurf_device_check("gpu", &err), SMURF_ERROR_ARGUMENT);
}

/* A model of a preset, with counts and an end; further: columns. */
static const char *describe(struct cuda_model *out, struct model *model, const char *preset, const char *objective,
                            size_t further)
{
    smurf_settings c;
    struct loss_config loss;
    struct encoder_shape shape = {.types = 30, .width = 64, .heads = 4, .head_width = 16, .layers = 2, .inner = 256};
    shape.counts = shape.ending = shape.unknown = shape.gap_feature = true;
    shape.further.columns = shape.further.rows = further;
    smurf_settings_init(&c);
    assert_int_equal(smurf_settings_preset(&c, preset, NULL, NULL), SMURF_OK);
    strcpy(c.objective, objective);
    smurf_loss_config(&loss, &c, -1, 5);
    smurf_model_init_f32(model, smurf_model_class_named_f32(c.model), &shape, PARAM_INTENSITY);
    return smurf_device_describe(out, model, &loss);
}

static void models_are_described(void **state)
{
    (void)state;
    static struct model model;
    static struct cuda_model m;
    assert_null(describe(&m, &model, "default", "mle", 0));
    const struct smurf_offsets *at = smurf_offsets(&model);
    assert_true(m.total == model.params.total && m.inputs == 31 && m.count_inputs == COUNT_SCALES &&
                m.count_slots == 30);
    assert_true(m.layer[1].outer_bias == at->encoder.layer[1].outer_bias &&
                m.layer[1].query == at->encoder.layer[1].query);
    assert_true(m.type_c == at->head.type_c && m.end_b == at->end.b && m.repeat_v_bias == at->repeat.v_bias);
    assert_true(m.objective == CUDA_MLE && m.points == 24 && m.at_truth && m.low == -1);
    describe(&m, &model, "default", "wsm", 0); /* its end needs the likelihood, where there is CUDA */
    assert_true(m.objective == CUDA_WSM && m.points == 1);
}

static void others_stay(void **state)
{
    (void)state;
    static struct model model;
    static struct cuda_model m;
    const char *why = describe(&m, &model, "thp", "mle", 0);
    assert_true(why && strstr(why, "this class"));
    why = describe(&m, &model, "default", "mle", 3);
    assert_true(why && strstr(why, "further columns"));
}

static void long_runs_pay(void **state)
{
    (void)state;
    assert_false(smurf_device_pays(&(struct feed){.events = 9999}, 100));
    assert_true(smurf_device_pays(&(struct feed){.events = 10000}, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_have_names),
        cmocka_unit_test(models_are_described),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(long_runs_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
