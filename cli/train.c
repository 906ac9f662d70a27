/*
 * train.c - smurf train: trains a model, keeps the best, and can go on where it stopped.
 *
 * MODEL.safetensors is the best model so far; MODEL.resume holds all that is needed to go on. The latter is written
 * before the first step, after every epoch, and when Ctrl-C asks to stop; the former after every epoch that is the best
 * so far.
 */
#include "commands.h"
#include "dataset.h"
#include "files.h"
#include "settings.h"
#include "terminal.h"
#include "train_log.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SETTINGS_MOST = 64 };

struct train_options {
    const char *output, *preset, *log, *recalibrate;
    int resume;
    bool no_dither;                     /* --dither off: gaps stay as the clock has them */
    const char *setting[SETTINGS_MOST]; /* as given, by index of the setting; NULL: not given */
};

/* ---- Configuration --------------------------------------------------------------------------- */

static int threads(void)
{
    return (int)(common.threads < 4096 ? common.threads : 4096);
}

/* Which setting is the noise. */
static size_t sigma_setting(void)
{
    size_t i = 0;
    while (strcmp(smurf_setting_name(i), "sigma") != 0) i++;
    return i;
}

static bool wants_sigma(const struct train_options *o)
{
    const char *given = o->setting[sigma_setting()];
    return given && strcmp(given, "auto") == 0;
}

static int configure(smurf_settings **out, const struct train_options *o, const smurf_data *train)
{
    smurf_error err;
    smurf_settings *settings = *out = settings_new(o->preset, train, common.seed, threads());
    smurf_status status = SMURF_OK;
    for (size_t i = 0; !status && smurf_setting_name(i); i++)
        if (o->setting[i] && !(i == sigma_setting() && wants_sigma(o)))
            status = smurf_settings_set(settings, smurf_setting_name(i), o->setting[i], &err);
    if (!status && o->no_dither) status = smurf_settings_set(settings, "dither", "0", &err);
    if (!status) status = smurf_settings_check(settings, &err);
    if (!status) return 0;
    report_error(&err);
    return status == SMURF_ERROR_MEMORY ? 1 : 2;
}

/* Short runs that choose the noise, and what they came to. */
static int choose_sigma(smurf_settings *config, const smurf_split *split)
{
    smurf_error err;
    smurf_sigma_trial trial[SMURF_SIGMA_TRIALS];
    smurf_status status =
        smurf_train_choose_sigma(config, split->train, split->dev, terminal_progress, NULL, trial, &err);
    terminal_clear();
    if (status) return report_error(&err);
    for (int i = 0; i < SMURF_SIGMA_TRIALS; i++)
        report_done("sigma %-5g dev CRPS %.5g  CS %.2f%%%s", trial[i].sigma, trial[i].crps, trial[i].cs,
                    trial[i].chosen ? "  chosen" : "");
    return 0;
}

/* Wrong values are told before the data is read, which may take long. */
static int check_settings(const struct train_options *o)
{
    smurf_settings *settings = settings_new(NULL, NULL, common.seed, threads());
    smurf_error err;
    smurf_status status = SMURF_OK;
    for (size_t i = 0; !status && smurf_setting_name(i); i++)
        if (o->setting[i] && !(i == sigma_setting() && wants_sigma(o)))
            status = smurf_settings_set(settings, smurf_setting_name(i), o->setting[i], &err);
    smurf_settings_free(settings);
    if (!status) return 0;
    report_error(&err);
    return 2;
}

/* A resumed run keeps the settings it was begun with. To ask for others is an error; the same may be given again. */
static void refuse_other_settings(const smurf_trainer *trainer, const struct train_options *o)
{
    const smurf_settings *begun = smurf_trainer_settings(trainer);
    smurf_settings *asked;
    smurf_error err;
    if (smurf_settings_copy(&asked, begun, &err)) usage_error("%s", err.message);
    for (size_t i = 0; smurf_setting_name(i); i++) {
        const char *name = smurf_setting_name(i);
        char before[256], now[256];
        if (!o->setting[i] || (i == sigma_setting() && wants_sigma(o)) ||
            smurf_settings_set(asked, name, o->setting[i], NULL))
            continue;
        smurf_settings_get(begun, name, before, sizeof before, NULL);
        smurf_settings_get(asked, name, now, sizeof now, NULL);
        if (strcmp(before, now) != 0)
            usage_error("the run was begun with --%s %s: resume without --%s %s, or train anew", name, before, name,
                        now);
    }
    smurf_settings_free(asked);
    if (settings_seed(begun) != common.seed)
        usage_error("the run was begun with --seed %llu: resume with it, or train anew",
                    (unsigned long long)settings_seed(begun));
}

/* The file beside the model: "m.safetensors" has "m.resume". */
static char *resume_path(const char *model)
{
    size_t n = strlen(model), tail = strlen(".safetensors");
    if (n > tail && strcmp(model + n - tail, ".safetensors") == 0) n -= tail;
    char *path = malloc(n + sizeof ".resume");
    if (!path) out_of_memory();
    memcpy(path, model, n);
    strcpy(path + n, ".resume");
    return path;
}

/* ---- Calibration ------------------------------------------------------------------------------ */

static void show_calibration(const smurf_model *model)
{
    const smurf_calibration *c = smurf_model_calibration(model);
    if (!c->gaps) {
        printf("calibration none: dev is too small to set a part of it aside (--recalibrate on does it)\n");
        return;
    }
    printf("calibration %zu gaps of %zu dev sequences set aside: CS %.2f%%", c->gaps, c->sequences, c->cs_before);
    if (c->recalibrated && isfinite(c->cs_after))
        printf(" as trained, %.2f%% recalibrated (cross-fitted; chance alone: %.2f%%)\n", c->cs_after, c->cs_floor);
    else
        printf("%s\n", c->recalibrated ? ", recalibrated" : ", not recalibrated");
}

/* ---- Reporting ------------------------------------------------------------------------------- */

static void show_epoch(const smurf_epoch *e)
{
    if (common.quiet) return;
    terminal_clear();
    fprintf(stderr, "epoch %3zu  train %8.4f", e->epoch, e->train_loss);
    if (isfinite(e->dev_loss)) fprintf(stderr, "  dev %8.4f  types %5.2f%%", e->dev_loss, 100 * e->dev_accuracy);
    fprintf(stderr, "  %6.0f events/s  %5.1f s%s\n", e->events_per_second, e->seconds, e->best ? "  best" : "");
}

static void show_result(const smurf_trainer *trainer, const smurf_model *model, const char *path, double seconds)
{
    smurf_epoch best_epoch, *best = &best_epoch;
    smurf_trainer_best(trainer, best);
    printf("model       %s, %zu parameters\n", path, smurf_model_parameters(model));
    char objective[32];
    smurf_settings_get(smurf_model_settings(model), "objective", objective, sizeof objective, NULL);
    printf("objective   %s\n", objective);
    printf("best epoch  %zu\n", best->epoch);
    if (isfinite(best->dev_loss)) {
        printf("dev loss    %.4f  (time %.4f, types %.4f)\n", best->dev_loss, best->dev_time_loss, best->dev_type_loss);
        printf("dev types   %.2f%% right, with the time given\n", 100 * best->dev_accuracy);
    } else {
        printf("dev loss    none: there is no dev part (--split 8:1:1 makes one)\n");
    }
    show_calibration(model);
    printf("time        %.0f s\n", seconds);
}

/* ---- Running --------------------------------------------------------------------------------- */

struct session {
    smurf_trainer *trainer;
    const char *model_path;
    char *resume_path;
    const char *log_path;
    FILE *log;
    bool resumed;            /* and no epoch logged since */
    smurf_data *calibrating; /* NULL: none */
    const smurf_data *train;
    double seconds;
};

/* Writes both files, the model first: a resume file never runs ahead of it. */
static smurf_status keep(const struct session *s, bool model, smurf_error *err)
{
    smurf_model *best = NULL;
    smurf_status status = SMURF_OK;
    if (model) {
        status = smurf_trainer_model(s->trainer, &best, err);
        if (!status) status = smurf_model_save(best, s->model_path, err);
        smurf_model_free(best);
    }
    return status ? status : smurf_trainer_save(s->trainer, s->resume_path, err);
}

static int report_log(const struct session *s)
{
    return report_failure("cannot write '%s': %s", s->log_path, strerror(errno));
}

static int report_stop(const struct session *s)
{
    smurf_error err;
    terminal_clear();
    if (keep(s, false, &err)) return report_error(&err);
    return report_failure("stopped; go on with the same command and --resume");
}

static int run(struct session *s)
{
    smurf_error err;
    smurf_epoch best;
    smurf_trainer_progress(s->trainer, terminal_progress, NULL);
    /* At once: what cannot be written shows before the work is done, and a run that is killed in its first epoch can go
     * on. */
    if (keep(s, smurf_trainer_best(s->trainer, &best), &err)) return report_error(&err);
    while (!smurf_trainer_done(s->trainer)) {
        smurf_epoch epoch;
        smurf_status status = smurf_trainer_epoch(s->trainer, &epoch, &err);
        if (status == SMURF_ERROR_CANCELLED) return report_stop(s);
        if (status) return report_error(&err);
        s->seconds += epoch.seconds;
        show_epoch(&epoch);
        if (s->log && s->resumed) train_log_rewind(s->log, epoch.epoch);
        s->resumed = false;
        bool logged = train_log_epoch(s->log, &epoch);
        int why = errno;
        if (keep(s, epoch.best, &err)) return report_error(&err);
        errno = why;
        if (!logged) return report_log(s);
    }
    smurf_model *model;
    smurf_status status = smurf_trainer_model(s->trainer, &model, &err);
    /* Whether recalibration is wanted was settled when data was set aside for it. */
    if (!status && s->calibrating) {
        status = smurf_model_calibrate(model, s->calibrating, s->train, 1, common.seed, threads(), terminal_progress,
                                       NULL, &err);
        terminal_clear();
        if (!status) status = smurf_model_save(model, s->model_path, &err);
    }
    if (status) {
        smurf_model_free(model);
        return status == SMURF_ERROR_CANCELLED ? report_stop(s) : report_error(&err);
    }
    show_result(s->trainer, model, s->model_path, s->seconds);
    fflush(stdout);
    report_misses(model);
    smurf_model_free(model);
    return 0;
}

static int begin(struct session *s, const struct train_options *o, const smurf_split *split)
{
    smurf_error err;
    smurf_status status;
    s->model_path = o->output;
    s->train = split->train;
    s->resumed = o->resume;
    if (o->resume) {
        status = smurf_trainer_resume(&s->trainer, s->resume_path, split->train, split->dev, threads(), &err);
        if (!status) refuse_other_settings(s->trainer, o);
    } else {
        smurf_settings *settings;
        int wrong = configure(&settings, o, split->train);
        if (!wrong && wants_sigma(o)) wrong = choose_sigma(settings, split);
        status = wrong ? SMURF_OK : smurf_trainer_new(&s->trainer, settings, split->train, split->dev, &err);
        smurf_settings_free(settings);
        if (wrong) return wrong;
    }
    if (status) return report_error(&err);
    s->log_path = o->log;
    if (!o->log) return 0;
    if (o->resume) s->log = fopen(o->log, "r+");
    if (!s->log) s->log = fopen(o->log, o->resume ? "a" : "w");
    return s->log ? 0 : report_log(s);
}

static void list_presets(FILE *out)
{
    char line[512] = "";
    for (size_t i = 0, n = 0; smurf_preset_name(i) && n < sizeof line; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", i ? " " : "", smurf_preset_name(i));
    fprintf(out, "\nPresets\n  ");
    print_wrapped(out, line, 2, 2);
}

int command_train(int argc, char **argv)
{
    static struct option options[SETTINGS_MOST + 40];
    struct dataset_options data = {.history = NOT_GIVEN};
    struct train_options o = {.output = "model.safetensors", .preset = "default", .recalibrate = "auto"};
    /* clang-format off */
    const struct option fixed[] = {
        {'o', "output", OPTION_OUTPUT, &o.output, "FILE", "the model (default: model.safetensors); FILE.resume stands beside it"},
        {0, "preset", OPTION_TEXT, &o.preset, "NAME", "settings to start from (default: default, which looks at the data)"},
        {0, "resume", OPTION_FLAG, &o.resume, NULL, "go on where an interrupted run stopped"},
        {0, "log", OPTION_OUTPUT, &o.log, "FILE", "one JSON object a line, one an epoch"},
        {0, "recalibrate", OPTION_TEXT, &o.recalibrate, "auto", "on: two thirds of dev are set aside to calibrate on; off; auto: on where dev has 1000 gaps"},
        DATASET_OPTIONS(data),
    };
    /* clang-format on */
    size_t n = sizeof fixed / sizeof *fixed;
    memcpy(options, fixed, sizeof fixed);
    for (size_t i = 0; smurf_setting_name(i) && i < SETTINGS_MOST; i++) {
        const char *name = smurf_setting_name(i);
        if (setting_is_common(name) || strcmp(name, "dither") == 0) continue; /* --dither of the data does it */
        options[n++] = (struct option){0, name, OPTION_TEXT, &o.setting[i], "VALUE", smurf_setting_about(i)};
    }
    options[n] = (struct option){0, NULL, OPTION_FLAG, NULL, NULL, NULL};
    const struct usage usage = {
        .command = "train",
        .arguments = "DATA",
        .summary = "Trains a model of the next event on DATA and keeps the one with the lowest dev loss.",
        .about = "DATA is a directory that holds train and dev, or a file with --split 8:1:1 or\n"
                 "--split-at; a file alone is split 8:1:1. Without options the settings are chosen\n"
                 "by looking at the data. Ctrl-C saves and says how to go on.\n"
                 "On a clock that ticks gaps are spread within the tick; --dither off leaves them.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2",
        .options = options,
        .least = 1,
        .most = 1,
        .inputs = 1,
        .more = list_presets,
    };
    parse_options(&usage, argc, argv);
    smurf_split split;
    struct session session = {0};
    struct stat about;
    if (strcmp(o.output, "-") == 0) usage_error("a model cannot go to standard output: name a file with -o");
    if (stat(o.output, &about) == 0 && S_ISDIR(about.st_mode))
        usage_error("'%s' is a directory: name a file in it with -o", o.output);
    bool directory = stat(argv[0], &about) == 0 && S_ISDIR(about.st_mode);
    if (!directory && !data.split && !data.split_at) data.split = "8:1:1";
    int status = check_settings(&o);
    if (status) return status;
    session.resume_path = resume_path(o.output);
    files_add(FILE_WRITTEN, "the .resume file of --output", session.resume_path);
    if (data.dither && strcmp(data.dither, "off") == 0) {
        o.no_dither = true;
        data.dither = NULL;
    }
    int recalibrate = dataset_recalibrate(o.recalibrate);
    status = dataset_load(&split, argv[0], &data);
    if (!status) status = dataset_set_aside(&split, recalibrate, common.seed, &session.calibrating);
    if (!status) status = begin(&session, &o, &split);
    if (!status) status = run(&session);
    if (session.log && fclose(session.log) != 0 && !status) status = report_log(&session);
    free(session.resume_path);
    smurf_trainer_free(session.trainer);
    smurf_data_free(session.calibrating);
    smurf_split_release(&split);
    return status;
}
