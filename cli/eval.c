/* eval.c - smurf eval: how good a model's laws are on data it has not seen; and smurf report, the same as a page. */
#include "commands.h"
#include "modelfile.h"
#include "show_metrics.h"
#include "terminal.h"

#include <math.h>
#include <string.h>

struct eval_options {
    struct dataset_options data;
    const char *part, *train, *sampler, *report, *figures;
    int json, csv, raw, mean_gaps, no_denoise;
    size_t draws, steps, bootstrap, examples;
    double step;
};

/* The options of both commands; `more` leads. */
/* clang-format off */
#define EVAL_OPTIONS(o)                                                                                                \
    {0, "part", OPTION_TEXT, &(o).part, "NAME", "which part to score: train, dev or test (default: test)"},            \
        {0, "train", OPTION_TEXT, &(o).train, "FILE", "train data for the naive laws, where DATA has no train part"},  \
        {0, "no-recalibrate", OPTION_FLAG, &(o).raw, NULL, "the law as it was trained, without its map of levels"},    \
        {0, "sampler", OPTION_TEXT, &(o).sampler, "NAME", "draw by exact, langevin, mirror or reject, and score the draws too"}, \
        {0, "draws", OPTION_COUNT, &(o).draws, "N", "draws of each gap (default: none, 100 with --sampler)"},          \
        {0, "steps", OPTION_COUNT, &(o).steps, "N", "steps of the sampler (default: 1000)"},                           \
        {0, "step-size", OPTION_NUMBER, &(o).step, "EPS", "its step size (default: 0.005)"},                           \
        {0, "no-denoise", OPTION_FLAG, &(o).no_denoise, NULL, "leave out Tweedie's step at the end"},                  \
        {0, "bootstrap", OPTION_COUNT, &(o).bootstrap, "N", "90% intervals from N resamplings of sequences"},          \
        {0, "figures", OPTION_TEXT, &(o).figures, "DIR", "with a report: each figure also as SVG and PNG"},            \
        {0, "examples", OPTION_COUNT, &(o).examples, "N", "laws to draw in the report, up to 12 (default: 6)"},        \
        DATASET_OPTIONS((o).data)
/* clang-format on */

static smurf_eval_config configure(const struct eval_options *o)
{
    smurf_eval_config c;
    smurf_eval_config_init(&c);
    c.recalibrate = !o->raw;
    if (o->sampler) c.sampler = o->sampler;
    c.draws = o->draws;
    if (o->steps) c.steps = o->steps;
    if (o->step > 0) c.step = o->step;
    c.denoise = !o->no_denoise;
    c.bootstrap = o->bootstrap;
    c.examples = o->report ? o->examples : 0;
    c.seed = common.seed;
    c.threads = (int)(common.threads < 4096 ? common.threads : 4096);
    c.progress = terminal_progress;
    return c;
}

/* What the naive laws come from: DATA's train part, or the file that was named. */
static int train_of(const struct eval_options *o, const smurf_model *model, smurf_split *split, const struct part *part,
                    smurf_data **own, const smurf_data **out)
{
    *own = NULL;
    *out = part->name[0] ? split->train : NULL;
    if (!o->train) return 0;
    smurf_split named;
    struct dataset_options options = o->data;
    options.split = options.split_at = NULL;
    int status = dataset_load(&named, o->train, &options);
    if (status) return status;
    *own = named.train;
    *out = *own;
    smurf_data_free(named.dev);
    smurf_data_free(named.test);
    return modelfile_match(model, *own);
}

static int show(const struct eval_options *o, const smurf_evaluation *e, char **argv, const struct part *part)
{
    const char *name = strrchr(argv[0], '/');
    struct shown shown = {name ? name + 1 : argv[0], argv[1], part->name, smurf_data_unit(part->data), 1};
    if (o->mean_gaps) shown.per = smurf_evaluation_mean_gap(e);
    if (!(shown.per > 0))
        return report_failure("there is no train part to take the mean gap of: name one with --train");
    if (o->json)
        show_metrics_json(stdout, e, &shown);
    else if (o->csv)
        show_metrics_csv(stdout, e, &shown);
    else
        show_metrics(stdout, e, &shown);
    return 0;
}

static int evaluate(const struct eval_options *o, smurf_model *model, smurf_split *split, char **argv, int quiet)
{
    smurf_error err;
    struct part part = modelfile_part(split, o->part);
    smurf_data *own;
    const smurf_data *train;
    smurf_evaluation *e = NULL;
    smurf_eval_config config = configure(o);
    int status = train_of(o, model, split, &part, &own, &train);
    if (!status && smurf_evaluate(&e, model, part.data, train, &config, &err)) status = report_error(&err);
    terminal_clear();
    if (!status && !quiet) status = show(o, e, argv, &part);
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
    int status = modelfile_load(&model, &split, argv, &data);
    if (status) return status;
    status = evaluate(o, model, &split, argv, quiet);
    smurf_split_release(&split);
    smurf_model_free(model);
    return status;
}

int command_eval(int argc, char **argv)
{
    struct eval_options o = {.data = {.history = NOT_GIVEN}, .examples = 6};
    /* clang-format off */
    const struct option options[] = {
        {0, "json", OPTION_FLAG, &o.json, NULL, "one JSON object instead of text"},
        {0, "csv", OPTION_FLAG, &o.csv, NULL, "CSV, one line a law"},
        {0, "in-mean-gaps", OPTION_FLAG, &o.mean_gaps, NULL, "CRPS and lengths in mean gaps of train, not in the data's unit"},
        {0, "report", OPTION_TEXT, &o.report, "FILE", "also write a page with figures, such as report.html"},
        EVAL_OPTIONS(o),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "eval",
        .arguments = "MODEL DATA",
        .summary = "Measures how good a model's laws are: calibration, CRPS, types, beside the naive laws.",
        .about = "DATA is a directory that holds train and test, or a file; what was split for training\n"
                 "with --split and --seed is split again with the same. CS is the root mean square of coverage\n"
                 "- level over the levels 0.50 to 0.95; the noise floor is what chance alone gives the true law.\n"
                 "skill is the gain in CRPS over the naive law of recent gaps.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf eval model.safetensors demo/",
        .options = options,
        .least = 2,
        .most = 2,
    };
    parse_options(&usage, argc, argv);
    if (o.json && o.csv) usage_error("--json and --csv exclude each other");
    if (o.figures && !o.report) usage_error("--figures goes with --report");
    return run(&o, argv, 0);
}

int command_report(int argc, char **argv)
{
    struct eval_options o = {.data = {.history = NOT_GIVEN}, .examples = 6, .report = "report.html"};
    /* clang-format off */
    const struct option options[] = {
        {'o', "output", OPTION_TEXT, &o.report, "FILE", "the page (default: report.html)"},
        EVAL_OPTIONS(o),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "report",
        .arguments = "MODEL DATA",
        .summary = "Writes a page that shows how far a model can be believed: figures, explained, and a table.",
        .about = "The same as smurf eval --report, without the text.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf report model.safetensors demo/ -o report.html",
        .options = options,
        .least = 2,
        .most = 2,
    };
    parse_options(&usage, argc, argv);
    return run(&o, argv, 1);
}
