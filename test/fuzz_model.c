/*
 * fuzz_model.c - any bytes, opened as a model; bytes that begin with '{' stand for a model's metadata alone. What opens
 * is whole: written into a pipe, it comes back as it was, and its forecasts are finite.
 */
#include "fuzz.h"

#include "model/model_file.h"

#include <unistd.h>

static void check(const smurf_model *m)
{
    FUZZ_MUST(smurf_settings_check(smurf_model_settings(m), NULL) == SMURF_OK);
    FUZZ_MUST(m->types >= 1 && m->types == smurf_model_types(m) && m->unit && m->low < m->high &&
              m->view.clock_unit > 0);
    FUZZ_MUST(m->model.params.count <= PARAMS_MOST && smurf_model_parameters(m) <= m->model.params.total);
    for (uint32_t k = 0; m->type_name && k < m->types; k++) FUZZ_MUST(smurf_model_type_name(m, k));
}

/* The messages of what was refused. */
static void check_error(smurf_status status, const smurf_model *m, const smurf_error *err)
{
    FUZZ_MUST(!m && err->status == status && (status == SMURF_ERROR_INPUT || status == SMURF_ERROR_MEMORY));
    FUZZ_MUST(status != SMURF_ERROR_INPUT || strncmp(err->message, "fuzz: ", 6) == 0);
}

static void check_pipe(const smurf_model *m)
{
    int ends[2];
    char path[2][32];
    smurf_model *back;
    FUZZ_MUST(pipe(ends) == 0);
    for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "/dev/fd/%d", ends[i]);
    FUZZ_MUST(!smurf_model_save(m, path[1], NULL));
    close(ends[1]);
    FUZZ_MUST(!smurf_model_load(&back, path[0], NULL));
    close(ends[0]);
    FUZZ_MUST(m->model.params.total == back->model.params.total && m->types == back->types && m->epoch == back->epoch);
    FUZZ_MUST(memcmp(m->slab, back->slab, m->model.params.total * sizeof *m->slab) == 0);
    FUZZ_MUST(memcmp(&m->view.scale, &back->view.scale, sizeof m->view.scale) == 0 && strcmp(m->unit, back->unit) == 0);
    smurf_model_free(back);
}

/* A short history, and what may come after it: finite numbers, or an error. */
static void check_forecast(const smurf_model *m)
{
    enum { PARAMETERS_MOST = 20000, CONTEXT_MOST = 1000 };
    smurf_forecast *f;
    smurf_error err;
    double level[3] = {0.05, 0.5, 0.95}, gap[3], mean, *share = malloc(m->types * sizeof *share);
    if (m->model.params.total > PARAMETERS_MOST || m->config.context > CONTEXT_MOST ||
        smurf_forecast_new(&f, m, 0, &err)) {
        free(share);
        return;
    }
    for (int i = 0; i < 3; i++) FUZZ_MUST(!smurf_forecast_append(f, i * m->view.feature.mean, 0, &err));
    if (!smurf_forecast_quantile(f, level, gap, 3, &err))
        FUZZ_MUST(gap[0] >= 0 && gap[0] <= gap[1] && gap[1] <= gap[2] && isfinite(gap[2]));
    if (!smurf_forecast_mean(f, &mean, &err)) FUZZ_MUST(isfinite(mean));
    if (share && !smurf_forecast_types(f, share, &err))
        for (uint32_t k = 0; k < m->types; k++) FUZZ_MUST(share[k] >= 0 && share[k] <= 1.001);
    smurf_forecast_free(f);
    free(share);
}

static void open_and_check(const uint8_t *bytes, size_t size)
{
    enum { PIPE_HOLDS = 64 * 1024 };
    struct tensor_file file;
    smurf_error err = {0};
    smurf_model *model = NULL;
    if (smurf_tensors_open_memory(&file, bytes, size, "fuzz", NULL)) return;
    smurf_status status = smurf_model_open(&model, &file, &err);
    smurf_tensors_close(&file);
    if (status) {
        check_error(status, model, &err);
        return;
    }
    check(model);
    for (size_t i = 0; i < model->model.params.total; i++) FUZZ_MUST(isfinite(model->slab[i]));
    if (size < PIPE_HOLDS / 8) check_pipe(model);
    check_forecast(model);
    smurf_model_free(model);
}

static void read_metadata(const uint8_t *bytes, size_t size)
{
    smurf_error err = {0};
    smurf_model *model = NULL;
    json_t *json = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
    if (!json) return;
    smurf_status status = smurf_model_from_json(&model, json, "fuzz", &err);
    json_decref(json);
    if (status)
        check_error(status, model, &err);
    else
        check(model);
    smurf_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size && bytes[0] == '{')
        read_metadata(bytes, size);
    else
        fuzz_tensors(bytes, size, open_and_check);
    return 0;
}
