/*
 * compare.c - smurf compare: several models on one data set, several seeds each, in one table with the naive laws.
 *
 * Each model and seed is a cell (cell.h) with its own folder; cells run in parallel (pool.h). This file creates the
 * cells from the command line and collects their results.
 */
#include "cell.h"
#include "commands.h"
#include "dataset.h"
#include "group.h"
#include "parameter.h"
#include "settings.h"
#include "show_comparison.h"
#include "show_metrics.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODELS_MOST = 32, SEEDS_MOST = 64, REFERENCES = 5 };

struct compare_options {
    struct dataset_options data;
    const char *models, *runs, *epochs, *sampler, *steps, *recalibrate, *format, *output, *report, *process, *device;
    struct option_list set;
    size_t seeds, draws;
    int paper_protocol, undenoised, mean_gaps;
};

/* ---- Models ---------------------------------------------------------------------------------- */

struct models {
    char *text; /* owns the names */
    const char *name[MODELS_MOST];
    size_t count;
    bool truth;
};

static bool is_preset(const char *name, size_t n)
{
    for (size_t i = 0; smurf_preset_name(i); i++)
        if (strlen(smurf_preset_name(i)) == n && strncmp(smurf_preset_name(i), name, n) == 0) return true;
    return false;
}

static void refuse_model(const char *name)
{
    char all[1024] = "";
    for (size_t i = 0, n = 0; smurf_preset_name(i) && n < sizeof all; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s, ", smurf_preset_name(i));
    usage_error("unknown model '%s': use one of %smarginal, recent, truth", name, all);
}

static void add_model(struct models *m, const char *name)
{
    if (strcmp(name, "marginal") == 0 || strcmp(name, "recent") == 0) return; /* always included */
    if (strcmp(name, "truth") == 0) {
        m->truth = true;
        return;
    }
    if (!is_preset(name, strcspn(name, ":"))) refuse_model(name);
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->name[i], name) == 0) usage_error("--models names '%s' twice", name);
    if (m->count == MODELS_MOST) usage_error("--models takes up to %d models", MODELS_MOST);
    m->name[m->count++] = name;
}

/* Without a list: the default and the other models, but not the published settings ("paper-..."). */
static void list_models(struct models *m, const char *list)
{
    *m = (struct models){0};
    for (size_t i = 0; !list && smurf_preset_name(i); i++)
        if (!strchr(smurf_preset_name(i), '-')) add_model(m, smurf_preset_name(i));
    if (!list) return;
    m->text = strdup(list);
    if (!m->text) out_of_memory();
    char *rest = m->text;
    for (char *name; (name = strsep(&rest, ","));) add_model(m, name);
}

/* Applies NAME=VALUE to the settings; sigma=auto is only noted. A usage error if it is invalid. */
static void set(struct cell *c, const char *text)
{
    smurf_error err;
    char name[64];
    size_t n = strcspn(text, "=");
    if (!text[n] || n >= sizeof name) usage_error("'%s' is not a setting: write NAME=VALUE", text);
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    if (strcmp(name, "sigma") == 0 && strcmp(text + n + 1, "auto") == 0)
        c->choose_sigma = true;
    else if (smurf_settings_set(c->settings, name, text + n + 1, &err))
        usage_error("%s", err.message);
}

/* The settings of "default:layers=1:epochs=5". --set and --epochs are applied first, then its own. */
static void configure(struct cell *c, const struct compare_options *o, const smurf_data *train)
{
    smurf_error err;
    char *copy = strdup(c->model), *rest = copy;
    if (!copy) out_of_memory();
    c->settings = settings_new(strsep(&rest, ":"), train, c->seed, 0);
    for (size_t i = 0; i < o->set.count; i++) set(c, o->set.item[i]);
    if (o->epochs && smurf_settings_set(c->settings, "epochs", o->epochs, &err)) usage_error("%s", err.message);
    for (char *setting; (setting = strsep(&rest, ":"));) set(c, setting);
    if (smurf_settings_check(c->settings, &err)) usage_error("%s: %s", c->model, err.message);
    c->choose_sigma = c->choose_sigma && smurf_train_has_noise(c->settings);
    free(copy);
}

/* Reports invalid settings before the data is read, which may take long. */
static void check_settings(const struct compare_options *o, const struct models *m)
{
    struct cell cell = {.settings = settings_new(NULL, NULL, 0, 0)};
    smurf_error err;
    for (size_t i = 0; i < o->set.count; i++) set(&cell, o->set.item[i]);
    if (o->epochs && smurf_settings_set(cell.settings, "epochs", o->epochs, &err)) usage_error("%s", err.message);
    for (size_t i = 0; i < m->count; i++) {
        char *copy = strdup(m->name[i]), *rest = copy;
        if (!copy) out_of_memory();
        strsep(&rest, ":");
        for (char *setting; (setting = strsep(&rest, ":"));) set(&cell, setting);
        free(copy);
    }
    smurf_settings_free(cell.settings);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

struct cells {
    struct cell *cell; /* models in order, seeds within; then the naive laws, then the truth */
    size_t count, models, seeds;
};

static void make_cells(struct cells *out, const struct bench *b, const struct models *m,
                       const struct compare_options *o)
{
    *out = (struct cells){.models = m->count, .seeds = o->seeds};
    out->count = m->count * o->seeds + 1 + (b->process != NULL);
    out->cell = calloc(out->count, sizeof *out->cell);
    if (!out->cell) out_of_memory();
    for (size_t i = 0; i < out->count; i++) {
        struct cell *c = &out->cell[i];
        *c = (struct cell){.bench = b, .kind = i == m->count * o->seeds ? CELL_NAIVE : CELL_TRUTH};
        if (i < m->count * o->seeds) {
            c->kind = CELL_MODEL;
            c->model = m->name[i / o->seeds];
            c->seed = common.seed + i % o->seeds;
            configure(c, o, b->split.train);
        }
        cell_name(c);
    }
}

/* Whether this process runs the i-th cell, of several that deal them out. Models take different times: when the same
   process would get the same model again, the next one does. */
static bool is_ours(const struct cells *cells, size_t i)
{
    size_t count = (size_t)group_count(), round = cells->models ? cells->models : 1;
    while (round % count) round += cells->models ? cells->models : 1;
    return (i + i / round) % count == (size_t)group_rank();
}

/* Runs the cells without a result, seed by seed, so that every model has a result early. */
static int run_cells(struct cells *cells)
{
    struct job *jobs = calloc(cells->count, sizeof *jobs);
    size_t done = 0, n = 0, trained = cells->models * cells->seeds;
    if (!jobs) out_of_memory();
    for (size_t i = 0; i < cells->count; i++) {
        size_t at = i < trained ? i % cells->models * cells->seeds + i / cells->models : i;
        struct cell *c = &cells->cell[at];
        jobs[n] = (struct job){c->name, cell_run, c, cell_load(c)};
        done += (size_t)jobs[n].done;
        jobs[n].done |= !is_ours(cells, n);
        n++;
    }
    if (done && done < cells->count)
        report_done("%zu of %zu cells already done", done, cells->count);
    else if (done)
        report_done("all %zu cells already done", done);
    int status = group_worst(pool_run(jobs, n, pool_cores()));
    free(jobs);
    if (group_rank() > 0) return status;
    for (size_t i = 0; i < cells->count && !status; i++)
        if (!cell_load(&cells->cell[i])) status = report_failure("%s: the result has disappeared", cells->cell[i].name);
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

struct table {
    struct comparison shown;
    smurf_compared *value;
    char (*name)[128];
};

/* Mean and standard deviation over runs of the metric at offset `at`. */
static void average(smurf_compared *out, const struct compared_row *row, size_t at, double per)
{
    double x, sum = 0, squares = 0, n = (double)out->runs, *mean = (double *)(void *)((char *)&out->mean + at);
    double *sd = (double *)(void *)((char *)&out->sd + at);
    for (size_t i = 0; i < out->runs; i++) {
        memcpy(&x, (const char *)&row->run[i]->metrics + at, sizeof x);
        sum += x / per;
    }
    *mean = sum / n;
    for (size_t i = 0; i < out->runs; i++) {
        memcpy(&x, (const char *)&row->run[i]->metrics + at, sizeof x);
        squares += (x / per - *mean) * (x / per - *mean);
    }
    *sd = out->runs > 1 ? sqrt(squares / (n - 1)) : NAN;
}

static void average_all(smurf_compared *out, const struct compared_row *row, double per)
{
    out->mean.n = row->run[0]->metrics.n;
    out->mean.sequences = row->run[0]->metrics.sequences;
    const smurf_metric *metric;
    for (size_t k = 0; (metric = smurf_metric_at(k)); k++)
        average(out, row, metric->offset, metric->unit == SMURF_METRIC_TIME ? per : 1);
    for (size_t k = 0; k < SMURF_LEVELS; k++) {
        average(out, row, offsetof(smurf_metrics, coverage) + k * sizeof(double), 1);
        average(out, row, offsetof(smurf_metrics, interval_length) + k * sizeof(double), per);
    }
}

/* The row of a law of `count` cells, those that have it; none: no row. */
static void add_row(struct table *t, const struct cell *cell, size_t count, const char *law)
{
    size_t at = t->shown.values.rows, n = 0;
    struct compared_row *row = &t->shown.row[at];
    bool model = cell->kind == CELL_MODEL;
    *row = (struct compared_row){.model = model ? cell->model : law, .law = law, .drawn = strcmp(law, "drawn") == 0};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < cell[i].result.laws; k++)
            if (strcmp(cell[i].result.law[k].name, law) == 0) {
                row->cell[n] = &cell[i];
                row->run[n++] = &cell[i].result.law[k];
            }
    if (!n) return;
    if (model)
        snprintf(t->name[at], sizeof t->name[at], "%.100s%s%s", cell->model, law[0] ? ", " : "", law);
    else
        snprintf(t->name[at], sizeof t->name[at], "%s%s", cell->kind == CELL_NAIVE ? "naive: " : "", law);
    t->value[at] = (smurf_compared){.name = t->name[at], .runs = n, .reference = !model};
    average_all(&t->value[at], row, t->shown.per);
    t->shown.values.rows++;
}

static void tabulate(struct table *t, const struct cells *cells)
{
    static const char *const laws[] = {"", "raw", "recalibrated", "drawn"};
    const struct cell *naive = &cells->cell[cells->models * cells->seeds];
    size_t most = cells->models * LAWS_MOST + REFERENCES;
    t->value = calloc(most, sizeof *t->value);
    t->name = calloc(most, sizeof *t->name);
    t->shown.row = calloc(most, sizeof *t->shown.row);
    if (!t->value || !t->name || !t->shown.row) out_of_memory();
    for (size_t m = 0; m < cells->models; m++)
        for (size_t k = 0; k < sizeof laws / sizeof *laws; k++)
            add_row(t, &cells->cell[m * cells->seeds], cells->seeds, laws[k]);
    if (naive + 1 < cells->cell + cells->count) add_row(t, naive + 1, 1, "truth");
    add_row(t, naive, 1, "recent");
    add_row(t, naive, 1, "marginal");
    add_row(t, naive, 1, "same hour");
    add_row(t, naive, 1, "last 100");
    t->shown.values.row = t->value;
}

static void release_table(struct table *t)
{
    free(t->value);
    free(t->name);
    free(t->shown.row);
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void show(FILE *out, const struct comparison *c, const char *format)
{
    if (strcmp(format, "json") == 0)
        show_comparison_json(out, c);
    else if (strcmp(format, "csv") == 0)
        show_comparison_csv(out, c);
    else if (strcmp(format, "markdown") == 0)
        show_comparison_markdown(out, c);
    else
        show_comparison_text(out, c, group_has_terminal() && isatty(fileno(out)), terminal_utf8());
}

/* Writes to a temporary file and renames it: an old table stays until the new one is complete. A link stays a link.
   What is not a regular file, such as /dev/null or a pipe, is written directly. */
static int write_table(const struct comparison *c, const struct compare_options *o)
{
    if (strcmp(o->output, "-") == 0) {
        show(stdout, c, o->format);
        return 0;
    }
    char *beside, *target = realpath(o->output, NULL);
    if (!target) target = strdup(o->output);
    struct stat about;
    bool direct = target && stat(target, &about) == 0 && !S_ISREG(about.st_mode);
    if (!target || asprintf(&beside, "%s%s", target, direct ? "" : ".part") < 0) out_of_memory();
    FILE *out = fopen(beside, "w");
    bool good = out != NULL;
    if (out) {
        show(out, c, o->format);
        good = fflush(out) == 0 && !ferror(out);
        good = fclose(out) == 0 && good && (direct || rename(beside, target) == 0);
    }
    int why = errno;
    if (!good && !direct) unlink(beside);
    free(beside);
    free(target);
    if (!good) return report_failure("cannot write '%s': %s", o->output, strerror(why));
    report_done("wrote %s", o->output);
    return 0;
}

/* CRPS of the naive law of recent gaps, in the data's unit. */
static double recent_crps(const struct result *naive)
{
    for (size_t k = 0; k < naive->laws; k++)
        if (strcmp(naive->law[k].name, "recent") == 0) return naive->law[k].metrics.crps;
    return NAN;
}

/* people: lengths in a readable unit rather than the data's, if that is known. */
static void make_table(struct table *t, const struct cells *cells, const struct compare_options *o,
                       const struct bench *b, const char *data, bool people)
{
    const struct result *naive = &cells->cell[cells->models * cells->seeds].result;
    const char *unit = smurf_data_unit(b->split.test), *readable = NULL;
    struct comparison *c = &t->shown;
    *c = (struct comparison){.bench = b, .data = data, .per = 1, .mean_gap = naive->mean_gap, .seeds = o->seeds};
    if (o->mean_gaps)
        c->per = naive->mean_gap;
    else if (people)
        readable = smurf_duration_unit(recent_crps(naive), unit, &c->per);
    if (readable) unit = readable;
    c->unit = o->mean_gaps ? "mean gaps" : unit[0] ? unit : "the data's unit";
    c->cells = cells->count;
    for (size_t i = 0; i < cells->count; i++) c->of_other_code += !cell_is_of_this_code(&cells->cell[i]);
    tabulate(t, cells);
    c->values.size = sizeof c->values;
    c->values.data = data;
    c->values.unit = o->mean_gaps ? "mean gaps" : unit;
    c->values.note = comparison_warning(c)[0] ? comparison_warning(c) : NULL;
    c->values.markov = smurf_data_types(b->split.train) > 1 ? naive->markov : NAN;
    c->values.recency = smurf_data_types(b->split.train) > 1 ? naive->recency : NAN;
    c->values.recent_crps = recent_crps(naive) / c->per;
}

static int show_all(const struct cells *cells, const struct compare_options *o, const struct bench *b, const char *data)
{
    bool for_programs = strcmp(o->format, "json") == 0 || strcmp(o->format, "csv") == 0;
    struct table t = {0};
    smurf_error err;
    make_table(&t, cells, o, b, data, !for_programs);
    int status = write_table(&t.shown, o);
    release_table(&t);
    fflush(stdout);
    if (status || !o->report) return status;
    make_table(&t, cells, o, b, data, true);
    if (smurf_comparison_report(&t.shown.values, o->report, &err))
        status = report_error(&err);
    else
        report_done("wrote %s", o->report);
    release_table(&t);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(word, *words) != 0) words++;
    return *words != NULL;
}

static void check_options(struct compare_options *o, struct bench *b)
{
    static const char *const formats[] = {"text", "markdown", "csv", "json", NULL};
    static const char *const devices[] = {"cpu", "cuda", "auto", NULL};
    static const char paper_sampler[] = "langevin";
    if (!is_one_of(o->format, formats)) usage_error("--format takes text, markdown, csv or json, not '%s'", o->format);
    if (!is_one_of(o->device, devices)) usage_error("--device takes cpu, cuda or auto, not '%s'", o->device);
    if (o->seeds < 1 || o->seeds > SEEDS_MOST) usage_error("--seeds takes a number from 1 to %d", SEEDS_MOST);
    if (!o->sampler) o->sampler = o->paper_protocol ? paper_sampler : smurf_sampler_name(0);
    *b = (struct bench){
        .sampler = o->sampler, .draws = o->draws, .paper_protocol = o->paper_protocol, .undenoised = o->undenoised};
    if (!bench_draws(b) && (o->steps || o->draws || o->paper_protocol || o->undenoised))
        usage_error("--steps, --draws, --no-denoise and --paper-protocol need --sampler %s", paper_sampler);
    if (!o->draws) b->draws = 100;
    if (bench_draws(b) && o->recalibrate && strcmp(o->recalibrate, "on") == 0)
        usage_error("--recalibrate on needs --sampler exact: draws are never recalibrated");
    b->device = o->device;
    b->recalibrate = dataset_recalibrate(o->recalibrate ? o->recalibrate : "auto");
    if (o->steps && strcmp(o->steps, "auto") != 0) {
        char *end;
        unsigned long n = strtoul(o->steps, &end, 10);
        if (!(*o->steps >= '1' && *o->steps <= '9') || *end || n > 10000000)
            usage_error("--steps takes a number above 0, or auto, not '%s'", o->steps);
        b->steps = n;
    }
    if (b->steps && o->paper_protocol) usage_error("--paper-protocol chooses the steps: omit --steps");
    if (o->process && o->data.window) usage_error("--process needs whole sequences: omit --window");
}

/* "DATA-compare" next to the data; "compare-runs" if that is standard input or an address. */
static char *runs_folder(const char *given, const char *data)
{
    char *folder;
    int n = (int)strlen(data);
    while (n > 1 && data[n - 1] == '/') n--;
    bool unnamed = strcmp(data, "-") == 0 || strstr(data, "://") || (n == 1 && (data[0] == '.' || data[0] == '/'));
    if (!given && !unnamed && asprintf(&folder, "%.*s-compare", n, data) >= 0) return folder;
    folder = strdup(given ? given : "compare-runs");
    if (!folder) out_of_memory();
    return folder;
}

static int prepare(struct bench *b, const struct compare_options *o, const struct models *m, const char *data)
{
    int status = dataset_load(&b->split, data, &o->data);
    if (status) return status;
    if (!b->split.test) return report_failure("'%s' has no test part: split it with --split 8:1:1", data);
    if (!b->split.dev && bench_draws(b) && !b->steps && !b->paper_protocol)
        return report_failure("steps are chosen on dev, but there is no dev part: give a number with --steps");
    if (m->truth && !o->process) usage_error("the truth row needs the process, such as --process \"hawkes base=0.2\"");
    if (o->process) b->process = parse_process(o->process, smurf_data_types(b->split.train));
    b->process_text = o->process;
    b->seed = common.seed;
    b->data = fingerprint_data(fingerprint_data(0, b->split.train), b->split.dev);
    b->test = fingerprint_data(0, b->split.test);
    if (mkdir(b->runs, 0777) == 0 || errno == EEXIST) return 0;
    return report_failure("cannot create the folder '%s': %s", b->runs, strerror(errno));
}

static int compare(struct compare_options *o, const char *data)
{
    struct bench b;
    struct models m;
    struct cells cells = {0};
    check_options(o, &b);
    list_models(&m, o->models);
    check_settings(o, &m);
    char *runs = runs_folder(o->runs, data);
    b.runs = runs;
    int status = prepare(&b, o, &m, data);
    if (!status) {
        make_cells(&cells, &b, &m, o);
        status = run_cells(&cells);
    }
    if (status == JOB_STOPPED)
        status =
            group_rank() > 0 ? 1 : report_failure("stopped; finished work is kept: run the same command to continue");
    if (!status && group_rank() == 0) status = show_all(&cells, o, &b, data);
    for (size_t i = 0; i < cells.count; i++) smurf_settings_free(cells.cell[i].settings);
    free(cells.cell);
    free(m.text);
    free(runs);
    smurf_process_free((smurf_process *)b.process);
    smurf_split_release(&b.split);
    return status;
}

int command_compare(int argc, char **argv)
{
    struct compare_options o = {
        .data = {.history = NOT_GIVEN, .observe = 1}, .seeds = 1, .format = "text", .output = "-", .device = "cpu"};
    /* clang-format off */
    const struct option options[] = {
        {0, "models", OPTION_TEXT, &o.models, "LIST", "comma-separated presets of smurf train, each with optional settings: default,default:layers=1:epochs=5 (default: default and all other models)"},
        {0, "seeds", OPTION_COUNT, &o.seeds, "N", "runs per model, with seeds counting up from --seed (default: 1)"},
        {0, "epochs", OPTION_TEXT, &o.epochs, "N", "epochs per run"},
        {0, "set", OPTION_LIST, &o.set, "NAME=VALUE", "a setting of smurf train for all models; may be repeated"},
        {0, "runs", OPTION_TEXT, &o.runs, "DIR", "folder for models and results (default: DATA-compare)"},
        {0, "process", OPTION_TEXT, &o.process, "TEXT", "the process that DATA was simulated from, such as \"hawkes base=0.2\": adds its true law"},
        {0, "recalibrate", OPTION_TEXT, &o.recalibrate, "auto", "on: set aside two thirds of dev for calibration; off; auto: on if dev has 1000 gaps; draws are never recalibrated"},
        {0, "device", OPTION_TEXT, &o.device, "NAME", "where models train and laws are measured: cpu (the default), cuda, or auto; models that a GPU does not know stay on the processor"},
        {0, "sampler", OPTION_SAMPLER, &o.sampler, "NAME", " (default: exact, which integrates the laws; the others draw from them)"},
        {0, "draws", OPTION_COUNT, &o.draws, "N", "draws per gap (default: 100)"},
        {0, "steps", OPTION_TEXT, &o.steps, "auto", "sampler steps; auto: lowest CS on dev, along one walk of twice the model's setting"},
        {0, "no-denoise", OPTION_FLAG, &o.undenoised, NULL, "omit the final Tweedie step"},
        {0, "paper-protocol", OPTION_FLAG, &o.paper_protocol, NULL, "choose the steps on test, as in the paper, and mark the results"},
        {0, "in-mean-gaps", OPTION_FLAG, &o.mean_gaps, NULL, "CRPS and lengths in mean gaps of train instead of the data's unit"},
        {0, "format", OPTION_TEXT, &o.format, "text", "text, markdown, csv or json"},
        {'o', "output", OPTION_OUTPUT, &o.output, "FILE", "where to write the table (default: standard output)"},
        {0, "report", OPTION_OUTPUT, &o.report, "FILE", "also write an HTML report with coverage and interval lengths at all levels"},
        DATASET_OPTIONS(o.data),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "compare",
        .arguments = "DATA",
        .summary =
            "Trains several models on DATA, with several seeds each, and compares them with naive laws in one table.",
        .about = "DATA is a directory that holds train, dev and test, or a file, which is split 8:1:1.\n"
                 "All choices are made on dev. Runs are stored: after Ctrl-C the same command continues, and\n"
                 "finished runs are reused as long as data, settings and version are the same. Runs execute in\n"
                 "parallel, one per core. Simulate with --events to judge the true law of --process: sequences\n"
                 "from --until lack the last, cut-off gap, which favours short gaps.",
        .example = "  smurf simulate hawkes -n 60 --events 20 -o demo/\n"
                   "  smurf compare demo/ --models default --seeds 2 --epochs 2 --process hawkes",
        .options = options,
        .least = 1,
        .most = 1,
        .inputs = 1,
    };
    parse_options(&usage, argc, argv);
    struct stat about;
    bool directory = stat(argv[0], &about) == 0 && S_ISDIR(about.st_mode);
    if (!directory && !o.data.split && !o.data.split_at) o.data.split = "8:1:1";
    return compare(&o, argv[0]);
}
