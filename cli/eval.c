/* eval.c - smurf eval: measures a model on data it has not seen; and smurf report, the same as an HTML report. */
#include "commands.h"
#include "duration.h"
#include "modelfile.h"
#include "show_metrics.h"
#include "terminal.h"
#include "walk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct eval_options {
    struct dataset_options data;
    const char *part, *train, *sampler, *steps, *report, *figures, *device;
    int json, csv, raw, mean_gaps, no_denoise;
    size_t draws, bootstrap, examples;
    double step; /* NaN: not given */
};

/* The options of both commands. */
/* clang-format off */
#define EVAL_OPTIONS(o)                                                                                                \
    {0, "part", OPTION_TEXT, &(o).part, "NAME", "which part to score: train, dev or test (default: test)"},            \
        {0, "train", OPTION_INPUT, &(o).train, "FILE", "train data for the naive laws, if DATA has no train part"},  \
        {0, "no-recalibrate", OPTION_FLAG, &(o).raw, NULL, "use the law as trained, without recalibration"},    \
        {0, "sampler", OPTION_SAMPLER, &(o).sampler, "NAME", ": also draw from the law this way and score the draws"},    \
        {0, "draws", OPTION_COUNT, &(o).draws, "N", "draws per gap (default: 100 with --sampler, else none)"},     \
        {0, "steps", OPTION_TEXT, &(o).steps, "N", "sampler steps; auto: lowest CS on dev (default: the model's setting)"}, \
        {0, "step-size", OPTION_NUMBER, &(o).step, "EPS", "sampler step size (default: the model's setting)"},             \
        {0, "no-denoise", OPTION_FLAG, &(o).no_denoise, NULL, "omit the final Tweedie step"},                  \
        {0, "device", OPTION_TEXT, &(o).device, "NAME", "where laws are measured and drawn from: cpu (the default), cuda, or auto: cuda where there is a GPU"}, \
        {0, "bootstrap", OPTION_COUNT, &(o).bootstrap, "N", "90% confidence intervals from N bootstrap samples of the sequences"},          \
        {0, "figures", OPTION_OUTPUT, &(o).figures, "DIR", "with a report: also write each figure as SVG and PNG"},            \
        {0, "examples", OPTION_COUNT, &(o).examples, "N", "example laws in the report, up to 12 (default: 6)"},        \
        DATASET_OPTIONS((o).data)
/* clang-format on */

/* ---- The sampler ----------------------------------------------------------------------------- */

enum { DRAWS = 100 };

static int is_auto(const struct eval_options *o)
{
    return o->steps && strcmp(o->steps, "auto") == 0;
}

static void check_sampler(const struct eval_options *o)
{
    const char *given = o->steps ? "steps" : !isnan(o->step) ? "step-size" : o->no_denoise ? "no-denoise" : NULL;
    if (given && !smurf_sampler_has_steps(o->sampler))
        usage_error("--%s needs a --sampler that takes steps (any but %s)", given, smurf_sampler_name(0));
    if (o->step <= 0) usage_error("--step-size takes a number above 0");
}

static size_t steps_of(const struct eval_options *o)
{
    char *end;
    if (!o->steps || is_auto(o)) return 0;
    errno = 0;
    unsigned long long n = strtoull(o->steps, &end, 10);
    if (*o->steps < '0' || *o->steps > '9' || *end || errno || n < 1 || n > 1000000000)
        usage_error("--steps takes a number of steps, 1 or more, or 'auto', not '%s'", o->steps);
    return (size_t)n;
}

static smurf_eval_config configure(const struct eval_options *o)
{
    smurf_eval_config c;
    smurf_eval_config_init(&c);
    c.recalibrate = !o->raw;
    c.sampler = o->sampler;
    c.draws = o->draws || !o->sampler ? o->draws : DRAWS;
    c.steps = steps_of(o);
    if (o->step > 0) c.step = o->step;
    c.denoise = !o->no_denoise;
    c.bootstrap = o->bootstrap;
    c.examples = o->report ? o->examples : 0;
    c.seed = common.seed;
    c.threads = common_threads();
    c.device = o->device;
    c.progress = terminal_progress;
    return c;
}

/* --steps auto: draws drift with the number of steps. Takes the number with the lowest CS on dev, the smallest on a
   tie. Test is not used. */
static int choose_steps(const struct eval_options *o, const smurf_model *model, const smurf_split *split,
                        smurf_eval_config *config)
{
    smurf_error err;
    struct walk walk;
    if (!split->dev)
        return report_failure("--steps auto needs a dev part, and there is none: give a directory that holds "
                              "dev, or --split 8:1:1, or a number of steps");
    if (walk_choose(&walk, model, split->dev, config, &err)) return report_error(&err);
    double worst = 0;
    for (size_t k = 0; k < walk.looks; k++) worst = fmax(worst, walk.cs[k]);
    config->steps = walk.steps;
    report_done("--steps auto: chose %zu steps of %s with a CS of %.2f%% on dev (worst of %zu to %zu steps: %.2f%%)",
                walk.steps, o->sampler, walk.cs[walk.steps / walk.every - 1], walk.every, walk.looks * walk.every,
                worst);
    return 0;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The data behind the naive laws: DATA's train part, or the file of --train. */
static int train_of(const struct eval_options *o, const struct dataset_options *data, const smurf_model *model,
                    smurf_split *split, const struct part *part, smurf_data **own, const smurf_data **out)
{
    *own = NULL;
    *out = part->name[0] ? split->train : NULL;
    if (!o->train) return 0;
    smurf_split named;
    struct dataset_options options = *data;
    options.split = options.split_at = NULL;
    int status = dataset_load(&named, o->train, &options);
    if (status) return status;
    *own = named.train;
    smurf_data_free(named.dev);
    smurf_data_free(named.test);
    status = modelfile_match(model, own);
    *out = *own;
    return status;
}

static int show(const struct eval_options *o, const smurf_model *model, const smurf_evaluation *e, char **argv,
                const struct part *part)
{
    const char *name = strrchr(argv[0], '/'), *unit = smurf_data_unit(part->data);
    if (!unit[0]) unit = model_unit(model);
    struct shown shown = {
        name ? name + 1 : argv[0], argv[1], part->name, unit, 1, o->mean_gaps, o->raw ? NULL : smurf_model_pool(model)};
    if (o->mean_gaps) shown.per = smurf_evaluation_mean_gap(e);
    if (!(shown.per > 0)) return report_failure("the mean gap needs train data: name a file with --train");
    if (o->json)
        show_metrics_json(stdout, e, &shown);
    else if (o->csv)
        show_metrics_csv(stdout, e, &shown);
    else
        show_metrics(stdout, e, &shown);
    return 0;
}

static int evaluate(const struct eval_options *o, const struct dataset_options *data, smurf_model *model,
                    smurf_split *split, char **argv, int quiet)
{
    smurf_error err;
    struct part part = modelfile_part(split, o->part);
    smurf_data *own;
    const smurf_data *train;
    smurf_evaluation *e = NULL;
    smurf_eval_config config = configure(o);
    int status = train_of(o, data, model, split, &part, &own, &train);
    if (!status && !o->raw) modelfile_tell_cut(model, part.data);
    if (!status && !o->raw) modelfile_past(model, part.data, 1);
    if (!status && is_auto(o)) status = choose_steps(o, model, split, &config);
    if (!status && smurf_evaluate(&e, model, part.data, train, &config, &err)) status = report_error(&err);
    terminal_clear();
    const char *remark = NULL;
    if (!status) smurf_evaluation_device(e, &remark);
    if (remark) report_warning("measured on the processor: %s", remark);
    if (!status && !quiet) status = show(o, model, e, argv, &part);
    fflush(stdout);
    if (!status && o->report) {
        if (smurf_evaluation_report(e, o->report, o->figures, &err))
            status = report_error(&err);
        else
            report_done("wrote %s", o->report);
    }
    smurf_evaluation_free(e);
    smurf_data_free(own);
    return status;
}

static int run(const struct eval_options *o, char **argv, int quiet)
{
    smurf_model *model;
    smurf_split split;
    struct dataset_options data = o->data;
    smurf_error err;
    check_sampler(o);
    if (o->figures && smurf_figures_check(&err)) return report_error(&err);
    int status = modelfile_load(&model, &split, argv, &data);
    if (status) return status;
    status = evaluate(o, &data, model, &split, argv, quiet);
    smurf_split_release(&split);
    smurf_model_free(model);
    return status;
}

static void list_samplers(FILE *out)
{
    fprintf(out, "\nSamplers\n");
    for (size_t i = 0; smurf_sampler_name(i); i++) {
        fprintf(out, "  %-9s ", smurf_sampler_name(i));
        print_wrapped(out, smurf_sampler_about(i), 12, 12);
    }
}

int command_eval(int argc, char **argv)
{
    struct eval_options o = {.data = {.history = NOT_GIVEN, .observe = 1}, .examples = 6, .step = NAN};
    /* clang-format off */
    const struct option options[] = {
        {0, "json", OPTION_FLAG, &o.json, NULL, "print one JSON object instead of text"},
        {0, "csv", OPTION_FLAG, &o.csv, NULL, "print CSV, one line per law"},
        {0, "in-mean-gaps", OPTION_FLAG, &o.mean_gaps, NULL, "CRPS and lengths in mean gaps of train instead of the data's unit"},
        {0, "report", OPTION_OUTPUT, &o.report, "FILE", "also write an HTML report with figures"},
        EVAL_OPTIONS(o),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "eval",
        .arguments = "MODEL DATA",
        .summary = "Measures a model on DATA: calibration, CRPS and type accuracy, compared with naive laws.",
        .about = "DATA is a directory that holds train and test, or a file. A file that the model was trained\n"
                 "on is split as in training, and its test part is scored. CS is the root mean square of\n"
                 "coverage - level over the levels 0.50 to 0.95; the noise floor is the CS of the true law,\n"
                 "due to chance alone. skill is the gain in CRPS over the naive law of recent gaps. Where\n"
                 "the levels of a model adapt to the gaps that came, \"model, fixed\" is without that.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf eval model.safetensors demo/",
        .options = options,
        .least = 2,
        .most = 2,
        .more = list_samplers,
        .inputs = 2,
    };
    parse_options(&usage, argc, argv);
    if (o.json && o.csv) usage_error("--json and --csv are mutually exclusive");
    if (o.figures && !o.report) usage_error("--figures needs --report");
    return run(&o, argv, 0);
}

int command_report(int argc, char **argv)
{
    struct eval_options o = {
        .data = {.history = NOT_GIVEN, .observe = 1}, .examples = 6, .step = NAN, .report = "report.html"};
    /* clang-format off */
    const struct option options[] = {
        {'o', "output", OPTION_OUTPUT, &o.report, "FILE", "where to write the report (default: report.html)"},
        EVAL_OPTIONS(o),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "report",
        .arguments = "MODEL DATA",
        .summary = "Writes an HTML report on how reliable a model is: figures with explanations, and a table.",
        .about = "The same as smurf eval --report, but prints no table.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf report model.safetensors demo/ -o report.html",
        .options = options,
        .least = 2,
        .most = 2,
        .inputs = 2,
    };
    parse_options(&usage, argc, argv);
    return run(&o, argv, 1);
}
