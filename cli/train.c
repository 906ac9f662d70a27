/*
 * train.c - smurf train: trains a model, keeps the best, and can resume.
 *
 * MODEL.safetensors is the best model so far, written after every epoch that improves on it. MODEL.resume holds the
 * state needed to resume; it is written before the first step, after every epoch, every five minutes, and on Ctrl-C.
 */
#include "commands.h"
#include "dataset.h"
#include "files.h"
#include "group.h"
#include "modelfile.h"
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
    const char *output, *preset, *log, *recalibrate, *save_every, *device;
    char *resume_path;
    char *split; /* how the data was split, for the model; NULL: it came split */
    int resume;
    bool no_dither; /* --dither off */
    int no_end;
    const char *setting[SETTINGS_MOST]; /* as given, by index of the setting; NULL: not given */
};

/* ---- Configuration --------------------------------------------------------------------------- */

static size_t setting_index(const char *name)
{
    size_t i = 0;
    while (strcmp(smurf_setting_name(i), name) != 0) i++;
    return i;
}

static size_t sigma_setting(void)
{
    return setting_index("sigma");
}

/* --window and --history are settings of the model, which cuts its windows itself: evaluation and forecasts then use
   the same ones. text holds their values. */
static void take_windows(struct train_options *o, struct dataset_options *data, char text[2][24])
{
    const char **context = &o->setting[setting_index("context")];
    if (data->history != NOT_GIVEN && !data->window)
        usage_error("--history needs --window: give the length of the windows");
    if (!data->window) return;
    if (*context && data->history != NOT_GIVEN) usage_error("--history and --context mean the same: give one of them");
    size_t history = data->history == NOT_GIVEN ? DEFAULT_HISTORY : data->history ? data->history : 1;
    snprintf(text[0], sizeof text[0], "%zu", data->window);
    snprintf(text[1], sizeof text[1], "%zu", history);
    o->setting[setting_index("window")] = text[0];
    if (!*context) *context = text[1];
    data->window = 0;
    data->history = NOT_GIVEN;
}

static bool wants_sigma(const struct train_options *o)
{
    const char *given = o->setting[sigma_setting()];
    return given && strcmp(given, "auto") == 0;
}

static int configure(smurf_settings **out, const struct train_options *o, const smurf_data *train)
{
    smurf_error err;
    smurf_settings *settings = *out = settings_new(o->preset, train, common.seed, common_threads());
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

/* Reports invalid values before the data is read, which may take long. */
static int check_settings(const struct train_options *o)
{
    smurf_settings *settings = settings_new(NULL, NULL, common.seed, common_threads());
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

static int check_device(const struct train_options *o)
{
    smurf_error err;
    smurf_status status = smurf_device_check(o->device, &err);
    if (!status) return 0;
    report_error(&err);
    return status == SMURF_ERROR_ARGUMENT ? 2 : 1;
}

/* A resumed run keeps its settings. They may be repeated on the command line; different ones are an error. */
static void refuse_other_settings(const smurf_settings *begun, const struct train_options *o)
{
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
        if (strcmp(before, now) != 0 && strcmp(now, "auto") != 0)
            usage_error("the run was started with --%s %s: resume without --%s %s, or start a new run", name, before,
                        name, now);
    }
    smurf_settings_free(asked);
    if (settings_seed(begun) != common.seed)
        usage_error("the run was started with --seed %llu: resume with it, or start a new run",
                    (unsigned long long)settings_seed(begun));
}

/* "m.resume" for "m.safetensors". */
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

static void show_adaptive(const smurf_calibration *c)
{
    if (c->adaptive > 0)
        printf("adaptive    levels follow the gaps that came, by steps of %g", c->adaptive);
    else if (c->pinball_before > 0)
        printf("adaptive    none: on dev, no step makes intervals better");
    else
        return;
    bool chosen = c->adaptive > 0 && c->pinball_before > 0;
    if (chosen) printf(": dev pinball loss %.2f%% lower", 100 * (1 - c->pinball_after / c->pinball_before));
    if (c->cs_adapted > 0) printf("%s CS %.2f%%", chosen ? "," : ":", c->cs_adapted);
    putchar('\n');
}

static void show_calibration(const smurf_model *model)
{
    const smurf_calibration *c = smurf_model_calibration(model);
    if (!c->gaps) {
        printf("calibration none: dev is too small to set a part aside (--recalibrate on forces it)\n");
        return;
    }
    if (c->sequences == 1)
        printf("calibration the last %zu dev gaps set aside: CS %.2f%%", c->gaps, c->cs_before);
    else
        printf("calibration %zu gaps of %zu dev sequences set aside: CS %.2f%%", c->gaps, c->sequences, c->cs_before);
    if (c->recalibrated && isfinite(c->cs_after))
        printf(" as trained, %.2f%% recalibrated (cross-fitted; chance alone: %.2f%%)\n", c->cs_after, c->cs_floor);
    else
        printf("%s\n", c->recalibrated ? ", recalibrated" : ", not recalibrated");
    if (c->sequences == 1) printf("conformal   none: it needs many sequences to calibrate on, and there is one\n");
}

/* "pool        times 46% of naive: same hour (held-out CRPS 17.8% lower, cross-fitted); types 20% of naive: recency
   (log score 0.050 higher)" */
static void show_pool(const smurf_model *model)
{
    const smurf_pool *p = smurf_model_pool(model);
    if (!p) return;
    fputs("pool        ", stdout);
    if (p->law && p->gain < 0) /* where dev is too small to be divided */
        printf("times %.0f%% of naive: %s (a precaution: dev is too small to show what it gains)", 100 * p->weight,
               p->law);
    else if (p->law)
        printf("times %.0f%% of naive: %s (held-out CRPS %.1f%% lower, cross-fitted)", 100 * p->weight, p->law,
               p->gain);
    if (p->types)
        printf("%stypes %.0f%% of naive: %s (log score %.3f higher)", p->law ? "; " : "", 100 * p->type_weight,
               p->types, p->type_gain);
    if (p->type_follow > 0)
        printf("%sweights of types follow what comes, at a rate of %g", p->law || p->types ? "; " : "", p->type_follow);
    putchar('\n');
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

/* The CRPS of all trials is in the unit that suits the first. */
static void show_trials(const smurf_fit_start *start, const char *data_unit)
{
    double per = 1;
    const char *unit = start->trials ? smurf_duration_unit(start->trial[0].crps, data_unit, &per) : NULL;
    terminal_clear();
    for (size_t i = 0; i < start->trials; i++) {
        const smurf_sigma_trial *trial = &start->trial[i];
        report_done("sigma %-5g dev CRPS %.5g%s%s  CS %.2f%%%s", trial->sigma, trial->crps / per, unit ? " " : "",
                    unit ? unit : "", trial->cs, trial->chosen ? "  chosen" : "");
    }
}

static void show_result(const smurf_model *model, const smurf_epoch *best, const char *path, double seconds)
{
    printf("model       %s, %zu parameters\n", path, smurf_model_parameters(model));
    char objective[32], clock[16];
    smurf_settings_get(smurf_model_settings(model), "objective", objective, sizeof objective, NULL);
    printf("objective   %s\n", objective);
    smurf_settings_get(smurf_model_settings(model), "wall-clock", clock, sizeof clock, NULL);
    if (strcmp(clock, "off") != 0)
        printf("clock       the time of day and the day of the week%s are inputs\n",
               strcmp(clock, "season") == 0 ? ", and the season," : "");
    printf("best epoch  %zu\n", best->epoch);
    if (isfinite(best->dev_loss)) {
        printf("dev loss    %.4f  (time %.4f, types %.4f)\n", best->dev_loss, best->dev_time_loss, best->dev_type_loss);
        printf("dev types   %.2f%% correct, given the time\n", 100 * best->dev_accuracy);
    } else {
        printf("dev loss    none: no dev part (--split 8:1:1 makes one)\n");
    }
    show_calibration(model);
    show_pool(model);
    show_adaptive(smurf_model_calibration(model));
    printf("time        %.0f s\n", seconds);
}

/* The value of --save-every; 0: only at the ends of epochs. */
static double seconds_of(const char *text)
{
    smurf_error err;
    double x;
    if (smurf_duration_parse(&x, text, "s", &err)) usage_error("--save-every: %s", err.message);
    return x;
}

/* ---- Running --------------------------------------------------------------------------------- */

struct session {
    const struct train_options *o;
    const char *unit;             /* of the data's times */
    const smurf_reading *reading; /* of the train data; NULL: not a table */
    FILE *log;
    bool begun;
    bool resumed; /* and no epoch logged yet */
    int status;   /* exit status if a callback failed */
    smurf_epoch best;
    double seconds;
};

static int report_log(const struct session *s)
{
    return report_failure("cannot write '%s': %s", s->o->log, strerror(errno));
}

static int begin(void *context, const smurf_fit_start *start)
{
    struct session *s = context;
    const struct train_options *o = s->o;
    show_trials(start, s->unit);
    if (o->resume) refuse_other_settings(start->settings, o);
    if (start->remark) report_warning("trains on the processor: %s", start->remark);
    if (start->best) s->best = *start->best;
    if (o->log && group_rank() == 0 && !(s->log = train_log_open(o->log, o->resume))) return s->status = report_log(s);
    if (s->reading) report_done("columns: %s", s->reading->text);
    if (s->reading && s->reading->features)
        report_done("features: %s", *s->reading->features ? s->reading->features : "none: no other column fits");
    s->begun = true;
    return 0;
}

static int take_epoch(void *context, const smurf_epoch *epoch)
{
    struct session *s = context;
    s->seconds += epoch->seconds;
    if (epoch->best) s->best = *epoch;
    show_epoch(epoch);
    if (s->log && s->resumed) train_log_rewind(s->log, epoch->epoch);
    s->resumed = false;
    return train_log_epoch(s->log, epoch) ? 0 : (s->status = report_log(s));
}

static int run(struct session *s, const smurf_settings *settings, const smurf_split *split, int recalibrate)
{
    const struct train_options *o = s->o;
    smurf_model *model;
    smurf_error err;
    smurf_fit_config config;
    smurf_fit_config_init(&config);
    config.recalibrate = recalibrate;
    config.choose_sigma = wants_sigma(o);
    config.model_path = o->output;
    config.split = o->split;
    config.resume_path = o->resume_path;
    config.resume = o->resume;
    config.save_every = seconds_of(o->save_every);
    config.device = o->device;
    config.start = begin;
    config.epoch = take_epoch;
    config.context = s;
    config.progress = terminal_progress;
    smurf_status status = smurf_fit(&model, settings, split->train, split->dev, &config, &err);
    terminal_clear();
    int wrong = s->status;
    if (status == SMURF_ERROR_CANCELLED && s->begun && !wrong) {
        wrong = report_failure("stopped; to continue, run the same command with --resume");
    } else if (status && !wrong) {
        wrong = report_error(&err);
    }
    if (!status) {
        show_result(model, &s->best, o->output, s->seconds);
        fflush(stdout);
        report_misses(model);
    }
    smurf_model_free(model);
    return wrong;
}

/* What --device cuda leaves out of a model that would be trained on the processor (fit.c). */
static void tell_no_clock(const smurf_settings *settings, const smurf_data *train)
{
    char clock[16];
    smurf_settings_get(settings, "wall-clock", clock, sizeof clock, NULL);
    if (strcmp(clock, "auto") == 0 && smurf_data_is_calendar(train))
        report_done("the model does not see the time of day and the day of the week, which a GPU cannot train");
}

static int train(const struct train_options *o, const smurf_split *split, int recalibrate)
{
    struct session s = {.o = o,
                        .unit = smurf_data_unit(split->train),
                        .reading = smurf_data_reading(split->train),
                        .resumed = o->resume};
    smurf_settings *settings = NULL;
    int status = 0;
    if (o->resume)
        settings = settings_new(NULL, NULL, common.seed, common_threads());
    else
        status = configure(&settings, o, split->train);
    if (!status && !o->resume && strcmp(o->device, "cuda") == 0) tell_no_clock(settings, split->train);
    if (!status) status = run(&s, settings, split, recalibrate);
    if (s.log && fclose(s.log) != 0 && !status) status = report_log(&s);
    smurf_settings_free(settings);
    return status;
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
    struct dataset_options data = {.history = NOT_GIVEN, .observe = 1};
    struct train_options o = {.output = "model.safetensors",
                              .preset = "default",
                              .recalibrate = "auto",
                              .save_every = "5min",
                              .device = "cpu"};
    /* clang-format off */
    const struct option fixed[] = {
        {'o', "output", OPTION_OUTPUT, &o.output, "FILE", "where to write the model (default: model.safetensors); the resume file is next to it"},
        {0, "preset", OPTION_TEXT, &o.preset, "NAME", "settings to start from (default: default, which depends on the data)"},
        {0, "resume", OPTION_FLAG, &o.resume, NULL, "continue an interrupted run"},
        {0, "save-every", OPTION_TEXT, &o.save_every, "TIME", "write the resume file within epochs when it is this old (default: 5min; 0: only after epochs)"},
        {0, "log", OPTION_OUTPUT, &o.log, "FILE", "write one JSON object per line, one per epoch"},
        {0, "recalibrate", OPTION_TEXT, &o.recalibrate, "auto", "on: set aside two thirds of dev for calibration; off; auto: on if dev has 1000 gaps"},
        {0, "device", OPTION_TEXT, &o.device, "NAME", "where steps run: cpu (the default), cuda, or auto: cuda where there is a GPU, the model is supported and the run is long"},
        {0, "no-end", OPTION_FLAG, &o.no_end, NULL, "sequences go on: do not learn whether a further event comes (--ending off)"},
        DATASET_OPTIONS(data),
    };
    /* clang-format on */
    size_t n = sizeof fixed / sizeof *fixed;
    memcpy(options, fixed, sizeof fixed);
    for (size_t i = 0; smurf_setting_name(i) && i < SETTINGS_MOST; i++) {
        const char *name = smurf_setting_name(i);
        /* --dither and --window are data options */
        if (setting_is_common(name) || strcmp(name, "dither") == 0 || strcmp(name, "window") == 0) continue;
        options[n++] = (struct option){0, name, OPTION_TEXT, &o.setting[i], "VALUE", smurf_setting_about(i)};
    }
    options[n] = (struct option){0, NULL, OPTION_FLAG, NULL, NULL, NULL};
    const struct usage usage = {
        .command = "train",
        .arguments = "DATA",
        .summary = "Trains a model of the next event on DATA and keeps the one with the lowest dev loss.",
        .about = "DATA is a directory that holds train and dev, each one file or several\n"
                 "(train-000.csv, train-001.csv, ...), or a file, which is split 8:1:1 unless\n"
                 "--split or --split-at says otherwise. Without options the settings are chosen\n"
                 "from the data. Ctrl-C saves the run and tells how to continue it. If times are\n"
                 "rounded, gaps are spread within the clock tick; --dither off disables this.",
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
    struct stat about;
    if (strcmp(o.output, "-") == 0) usage_error("cannot write a model to standard output: name a file with -o");
    if (stat(o.output, &about) == 0 && S_ISDIR(about.st_mode))
        usage_error("'%s' is a directory: name a file in it with -o", o.output);
    bool directory = stat(argv[0], &about) == 0 && S_ISDIR(about.st_mode);
    if (!directory && !data.split && !data.split_at) data.split = "8:1:1";
    char windows[2][24];
    take_windows(&o, &data, windows);
    if (o.no_end && o.setting[setting_index("ending")]) usage_error("--no-end and --ending are mutually exclusive");
    if (o.no_end) o.setting[setting_index("ending")] = "off";
    int status = check_settings(&o);
    if (status) return status;
    seconds_of(o.save_every);
    status = check_device(&o);
    if (status) return status;
    o.resume_path = resume_path(o.output);
    files_add(FILE_WRITTEN, "the .resume file of --output", o.resume_path);
    if (data.dither && strcmp(data.dither, "off") == 0) {
        o.no_dither = true;
        data.dither = NULL;
    }
    int recalibrate = dataset_recalibrate(o.recalibrate);
    status = dataset_read(&split, argv[0], &data);
    int one = !status && smurf_data_sequences(split.train) == 1;
    if (!status) status = dataset_cut(&split, &data);
    if (!status && !directory) o.split = modelfile_note(&data, &split, one);
    if (!status) status = train(&o, &split, recalibrate);
    free(o.resume_path);
    free(o.split);
    smurf_split_release(&split);
    return status;
}
