/* cell.c - see cell.h. */
#include "cell.h"

#include "code.h"
#include "dataset.h"
#include "result.h"
#include "settings.h"
#include "terminal.h"
#include "train_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool bench_draws(const struct bench *bench)
{
    return smurf_sampler_has_steps(bench->sampler);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Data, settings, seed and version: everything the trained model depends on. */
static fingerprint training_key(const struct cell *c)
{
    fingerprint key = fingerprint_text(c->bench->data, smurf_version());
    char value[256];
    if (c->kind == CELL_TRUTH) key = fingerprint_text(key, c->bench->process_text);
    if (c->kind != CELL_MODEL) return fingerprint_number(key, c->kind);
    for (size_t i = 0; smurf_setting_name(i); i++) {
        if (setting_is_common(smurf_setting_name(i))) continue;
        if (smurf_settings_get(c->settings, smurf_setting_name(i), value, sizeof value, NULL)) continue;
        key = fingerprint_text(fingerprint_text(key, smurf_setting_name(i)), value);
    }
    smurf_settings_get(c->settings, "model", value, sizeof value, NULL);
    key = fingerprint_text(key, value);
    key = fingerprint_number(fingerprint_number(key, c->seed), c->choose_sigma);
    return fingerprint_number(key, (uint64_t)(c->bench->recalibrate + 1));
}

static fingerprint measuring_key(const struct cell *c)
{
    const struct bench *b = c->bench;
    fingerprint key = fingerprint_number(b->test, b->seed);
    if (c->kind != CELL_MODEL || !bench_draws(b)) return key;
    key = fingerprint_text(key, b->sampler);
    key = fingerprint_number(fingerprint_number(key, b->draws), b->steps);
    return fingerprint_number(key, b->paper_protocol + 2u * b->undenoised);
}

void cell_name(struct cell *c)
{
    if (c->kind == CELL_MODEL)
        snprintf(c->name, sizeof c->name, "%.64s seed %llu", c->model, (unsigned long long)c->seed);
    else
        snprintf(c->name, sizeof c->name, "%s", c->kind == CELL_NAIVE ? "naive laws" : "truth");
    fingerprint_write(c->key, training_key(c));
    fingerprint_write(c->result_key, measuring_key(c));
}

/* The path of a file in the cell's folder; "": of the folder itself. */
static void path_of(const struct cell *c, const char *file, char path[4096])
{
    char model[64];
    snprintf(model, sizeof model, "%.60s",
             c->kind == CELL_MODEL   ? c->model
             : c->kind == CELL_NAIVE ? "naive"
                                     : "truth");
    for (char *p = model; *p; p++)
        if (*p == '/' || *p == ':' || *p == '=') *p = '_';
    int n = c->kind == CELL_MODEL
                ? snprintf(path, 4096, "%s/%s-seed%llu-%s%s%s", c->bench->runs, model, (unsigned long long)c->seed,
                           c->key, file[0] ? "/" : "", file)
                : snprintf(path, 4096, "%s/%s-%s%s%s", c->bench->runs, model, c->key, file[0] ? "/" : "", file);
    if (n >= 4096) usage_error("the path of the runs folder is too long");
}

static void result_path(const struct cell *c, char path[4096])
{
    char file[64];
    snprintf(file, sizeof file, "result-%s.json", c->result_key);
    path_of(c, file, path);
}

bool cell_load(struct cell *c)
{
    char path[4096];
    result_path(c, path);
    return result_read(&c->result, path);
}

bool cell_is_of_this_code(const struct cell *c)
{
    return strcmp(c->result.code, SMURF_CODE) == 0;
}

/* ---- Training -------------------------------------------------------------------------------- */

struct work {
    struct cell *cell;
    int threads;
    struct job_line *line;
    FILE *log;
    bool logged; /* this run has logged an epoch */
    char model[4096], resume[4096], log_path[4096];
};

static void stage(struct work *w, double from, double to, const char *what)
{
    w->line->from = from;
    w->line->to = to;
    snprintf(w->line->stage, sizeof w->line->stage, "%s", what);
}

/* Rough share of a cell's time spent training. */
static const double training_share = 0.85;

/* What follows this many epochs: another one, or calibration if patience has run out. */
static void stage_after(struct work *w, size_t epochs)
{
    double all = settings_number(w->cell->settings, "epochs"), before = (double)epochs;
    stage(w, training_share * before / all, training_share * fmin(before + 1, all) / all, "");
}

static int start_epochs(void *context, const smurf_fit_start *start)
{
    stage_after(context, start->epoch - 1);
    return 0;
}

/* A full disk shows at the next file. */
static int end_epoch(void *context, const smurf_epoch *epoch)
{
    struct work *w = context;
    if (!w->logged) train_log_rewind(w->log, epoch->epoch);
    w->logged = true;
    train_log_epoch(w->log, epoch);
    stage_after(w, epoch->epoch);
    return 0;
}

/* The resume file is removed last: a model without one is finished. */
static bool is_trained(const struct work *w)
{
    return access(w->model, F_OK) == 0 && access(w->resume, F_OK) != 0;
}

static smurf_status train(struct work *w, smurf_error *err)
{
    const struct cell *c = w->cell;
    const smurf_split *split = &c->bench->split;
    bool begun = access(w->resume, F_OK) == 0;
    smurf_model *model;
    smurf_fit_config config;
    settings_set_threads(c->settings, w->threads);
    smurf_fit_config_init(&config);
    config.recalibrate = c->bench->recalibrate;
    config.device = c->bench->device;
    config.choose_sigma = c->choose_sigma;
    config.model_path = w->model;
    config.resume_path = w->resume;
    config.resume = begun;
    config.start = start_epochs;
    config.epoch = end_epoch;
    config.context = w;
    config.progress = job_progress;
    config.progress_context = w->line;
    if (c->choose_sigma && !begun) stage(w, 0, 0, "choosing sigma");
    smurf_status status = smurf_fit(&model, c->settings, split->train, split->dev, &config, err);
    fclose(w->log);
    if (!status) status = smurf_model_save(model, w->model, err);
    smurf_model_free(model);
    if (!status) unlink(w->resume);
    return status;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static smurf_eval_config measuring(struct work *w)
{
    const struct bench *b = w->cell->bench;
    smurf_eval_config c;
    smurf_eval_config_init(&c);
    c.fast = 1;
    c.seed = b->seed;
    c.threads = w->threads;
    c.device = b->device;
    c.progress = job_progress;
    c.progress_context = w->line;
    return c;
}

static void add_law(struct result *r, const char *name, const smurf_metrics *metrics)
{
    if (!metrics || r->laws == LAWS_MOST) return;
    snprintf(r->law[r->laws].name, sizeof r->law[0].name, "%s", name);
    r->law[r->laws++].metrics = *metrics;
}

static const smurf_metrics *row(const smurf_evaluation *e, smurf_row which)
{
    return smurf_evaluation_row(e, which, NULL, NULL);
}

static smurf_eval_config drawing(struct work *w)
{
    smurf_eval_config c = measuring(w);
    c.sampler = w->cell->bench->sampler;
    c.draws = w->cell->bench->draws;
    c.denoise = !w->cell->bench->undenoised;
    c.recalibrate = 0;
    c.seed = w->cell->seed;
    return c;
}

/* Metrics on data of draws made with this many steps. */
static smurf_status measure_draws(struct work *w, const smurf_model *model, const smurf_data *data, size_t steps,
                                  smurf_metrics *out, smurf_error *err)
{
    smurf_evaluation *e;
    smurf_eval_config c = drawing(w);
    char text[64];
    c.steps = steps;
    snprintf(text, sizeof text, "drawing, %zu steps", steps);
    stage(w, training_share, 1, text);
    smurf_status status = smurf_evaluate(&e, model, data, NULL, &c, err);
    if (status) return status;
    *out = *row(e, SMURF_ROW_SAMPLED);
    out->acc_true_time = row(e, SMURF_ROW_MODEL)->acc_true_time; /* does not depend on draws */
    smurf_evaluation_free(e);
    return SMURF_OK;
}

static smurf_status measure_drawn(struct work *w, const smurf_model *model, smurf_error *err)
{
    const struct bench *b = w->cell->bench;
    struct result *r = &w->cell->result;
    smurf_metrics m;
    smurf_data *selecting = NULL, *calibrating = NULL;
    smurf_status status = SMURF_OK;
    r->steps = b->steps;
    if (!b->steps && !b->paper_protocol)
        status = smurf_fit_divide(&selecting, &calibrating, b->split.dev, b->recalibrate, w->cell->seed, err);
    const smurf_data *by = b->paper_protocol ? b->split.test : selecting ? selecting : b->split.dev;
    if (!b->steps && !status) {
        smurf_eval_config c = drawing(w);
        stage(w, training_share, 1, "choosing the steps");
        status = walk_choose(&r->walk, model, by, &c, err);
        r->steps = r->walk.steps;
    }
    smurf_data_free(selecting);
    smurf_data_free(calibrating);
    if (!status) status = measure_draws(w, model, b->split.test, r->steps, &m, err);
    if (!status) add_law(r, "drawn", &m);
    return status;
}

static smurf_status measure_exact(struct work *w, const smurf_model *model, int recalibrate, const char *name,
                                  smurf_error *err)
{
    smurf_evaluation *e;
    smurf_eval_config c = measuring(w);
    c.recalibrate = recalibrate;
    stage(w, training_share, 1, "measuring");
    smurf_status status = smurf_evaluate(&e, model, w->cell->bench->split.test, NULL, &c, err);
    if (status) return status;
    add_law(&w->cell->result, name, row(e, SMURF_ROW_MODEL));
    smurf_evaluation_free(e);
    return SMURF_OK;
}

/* One evaluation per law: an evaluation has type metrics for one law only. */
static smurf_status measure_law(struct work *w, const smurf_model *model, smurf_error *err)
{
    bool mapped = smurf_model_calibration(model)->recalibrated;
    if (!mapped) return measure_exact(w, model, 1, "", err); /* where it is pooled, as it is used */
    smurf_status status = measure_exact(w, model, 0, "raw", err);
    return status ? status : measure_exact(w, model, 1, "recalibrated", err);
}

static smurf_status measure_model(struct work *w, smurf_error *err)
{
    smurf_model *model;
    smurf_status status = smurf_model_load(&model, w->model, err);
    if (status) return status;
    status = (bench_draws(w->cell->bench) ? measure_drawn : measure_law)(w, model, err);
    smurf_model_free(model);
    return status;
}

static smurf_status measure_untrained(struct work *w, smurf_error *err)
{
    const struct bench *b = w->cell->bench;
    struct result *r = &w->cell->result;
    smurf_evaluation *e;
    smurf_eval_config c = measuring(w);
    stage(w, 0, 1, "measuring");
    smurf_status status = w->cell->kind == CELL_TRUTH
                              ? smurf_evaluate_process(&e, b->process, b->split.test, NULL, &c, err)
                              : smurf_evaluate_naive(&e, b->split.test, b->split.train, &c, err);
    if (status) return status;
    add_law(r, "truth", row(e, SMURF_ROW_MODEL));
    add_law(r, "recent", row(e, SMURF_ROW_RECENT));
    add_law(r, "marginal", row(e, SMURF_ROW_MARGINAL));
    add_law(r, "same hour", row(e, SMURF_ROW_SAME_HOUR));
    add_law(r, "last 100", row(e, SMURF_ROW_LAST));
    r->markov = smurf_evaluation_markov(e);
    r->recency = smurf_evaluation_recency(e);
    r->mean_gap = smurf_evaluation_mean_gap(e);
    smurf_evaluation_free(e);
    return SMURF_OK;
}

/* ---- Running a cell ---------------------------------------------------------------------------- */

static int fail(const struct work *w, smurf_status status, const smurf_error *err)
{
    if (status == SMURF_ERROR_CANCELLED) return JOB_STOPPED;
    return report_failure("%s: %s", w->cell->name, err->message);
}

static int fail_at(const struct work *w, const char *path)
{
    if (terminal_stopped()) return JOB_STOPPED;
    return report_failure("%s: cannot write '%s': %s", w->cell->name, path, strerror(errno));
}

/* Creates the folder and locks it against other processes. The lock ends with the process. */
static int enter(struct work *w)
{
    char path[4096];
    path_of(w->cell, "", path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return fail_at(w, path);
    path_of(w->cell, "lock", path);
    int lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) return fail_at(w, path);
    return 0;
}

int cell_run(void *context, int threads, struct job_line *line)
{
    struct cell *c = context;
    smurf_error err = {0};
    struct work w = {.cell = c, .threads = threads, .line = line};
    char path[4096];
    stage(&w, 0, 0, "waiting");
    int wrong = enter(&w);
    if (wrong || cell_load(c)) return wrong;
    c->result = (struct result){.markov = NAN, .recency = NAN, .mean_gap = NAN, .code = SMURF_CODE};
    path_of(c, "model.safetensors", w.model);
    path_of(c, "model.resume", w.resume);
    path_of(c, "log.jsonl", w.log_path);
    smurf_status status = SMURF_OK;
    if (c->kind == CELL_MODEL) {
        if (!is_trained(&w)) {
            w.log = train_log_open(w.log_path, true);
            if (!w.log) return fail_at(&w, w.log_path);
            status = train(&w, &err);
        }
        if (!status) status = measure_model(&w, &err);
    } else {
        status = measure_untrained(&w, &err);
    }
    if (status) return fail(&w, status, &err);
    result_path(c, path);
    return result_write(&c->result, path) ? 0 : fail_at(&w, path);
}
