/* sample.c - smurf sample: samples futures many events ahead and shows quantiles of event times and counts, or the
   paths themselves. */
#include "commands.h"
#include "duration.h"
#include "json_out.h"
#include "modelfile.h"
#include "show_forecast.h"
#include "show_summary.h"
#include "terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sample_options {
    struct dataset_options data;
    const char *part, *levels, *format, *until_text, *silence_text;
    size_t paths, events, history;
    double until, silence; /* until: NaN, not given */
    int raw, show_paths;
};

struct session {
    const smurf_model *model;
    const struct sample_options *o;
    enum show_format format;
    double level[LEVELS_MOST];
    size_t levels;
    double *room; /* (paths) */
    bool any;
    int name_width; /* columns for names of sequences in a table */
};
enum { WHAT_WIDTH = 5, WHICH_WIDTH = 16, PATHS_MOST = 1000000000 };

static int smaller_first(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The smallest of the sorted numbers x with a share of at least `level` at or below it. */
static double quantile_of(const double *x, size_t n, double level)
{
    size_t i = (size_t)ceil(level * (double)n);
    return x[i > n ? n - 1 : i ? i - 1 : 0];
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void header(struct session *s)
{
    if (s->any || s->format == SHOW_JSONL) return;
    s->any = true;
    if (s->format == SHOW_CSV) {
        fputs("sequence,what,which", stdout);
        for (size_t i = 0; i < s->levels; i++) printf(",q%.12g", s->level[i]);
        puts(",mean");
        return;
    }
    const char *unit = model_unit(s->model);
    if (unit_is_known(unit))
        printf("%zu futures; times after the last event\n", s->o->paths);
    else
        printf("%zu futures; times in %s after the last event\n", s->o->paths, unit[0] ? unit : "the data's unit");
    printf("%-*s %*s", s->name_width, "sequence", WHAT_WIDTH + 1 + WHICH_WIDTH, "");
    for (size_t i = 0; i < s->levels; i++) printf(" %9.7g%%", 100 * s->level[i]);
    puts("       mean");
}

/* A quantile for a table. In some futures there is no n-th event before --until, or at all. */
static const char *quantile_text(char text[SMURF_DURATION_TEXT], const struct session *s, double x, const char *unit)
{
    if (isinf(x)) return isnan(s->o->until) ? "never" : "later";
    return gap_text(text, x, unit);
}

/* One line: quantiles and mean of s->room (n). */
static void line(struct session *s, const char *sequence, const char *what, const char *which, size_t n)
{
    void (*put)(FILE *, double) = s->format == SHOW_CSV ? put_csv_number : put_rounded;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += s->room[i];
    qsort(s->room, n, sizeof *s->room, smaller_first);
    header(s);
    if (s->format == SHOW_TABLE) {
        char text[SMURF_DURATION_TEXT];
        const char *unit = strcmp(what, "count") == 0 ? "" : model_unit(s->model);
        put_name(stdout, sequence, s->name_width);
        printf(" %s ", what);
        put_name(stdout, which, WHICH_WIDTH);
        for (size_t i = 0; i < s->levels; i++)
            printf(" %10s", quantile_text(text, s, quantile_of(s->room, n, s->level[i]), unit));
        printf(" %10s\n", isinf(sum) ? "-" : gap_text(text, sum / (double)n, unit));
        return;
    }
    if (s->format == SHOW_CSV) {
        put_csv_text(stdout, sequence);
        printf(",%s,", what);
        put_csv_text(stdout, which);
    } else {
        fputs("{\"sequence\":", stdout);
        put_string(stdout, sequence);
        printf(",\"what\":\"%s\",\"which\":", what);
        put_string(stdout, which);
        fputs(",\"quantiles\":[", stdout);
    }
    for (size_t i = 0; i < s->levels; i++) {
        if (s->format == SHOW_CSV || i) fputc(',', stdout);
        put(stdout, quantile_of(s->room, n, s->level[i]));
    }
    fputs(s->format == SHOW_CSV ? "," : "],\"mean\":", stdout);
    put(stdout, sum / (double)n);
    fputs(s->format == SHOW_CSV ? "\n" : "}\n", stdout);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

/* The time of the n-th next event; infinite if a path has fewer. */
static void summarise_times(struct session *s, const smurf_futures *futures, const char *sequence)
{
    size_t paths = smurf_futures_paths(futures), most = s->o->until > 0 ? 0 : 1;
    for (size_t i = 0; i < paths; i++) {
        const double *time;
        const uint32_t *type;
        size_t n = smurf_futures_path(futures, i, &time, &type);
        most = n > most ? n : most;
    }
    if (most > 20) most = 20; /* --show-paths has them all */
    for (size_t k = 0; k < most; k++) {
        char which[24];
        for (size_t i = 0; i < paths; i++) {
            const double *time;
            const uint32_t *type;
            s->room[i] = smurf_futures_path(futures, i, &time, &type) > k ? time[k] : INFINITY;
        }
        snprintf(which, sizeof which, "%zu", k + 1);
        line(s, sequence, "event", which, paths);
    }
}

/* The number of events up to the horizon, per type and in total. */
static void summarise_counts(struct session *s, const smurf_futures *futures, const char *sequence)
{
    size_t paths = smurf_futures_paths(futures);
    uint32_t types = smurf_model_types(s->model);
    for (uint32_t k = 0; k <= types; k++) {
        char text[24];
        bool any = k == types;
        if (!any && s->format == SHOW_TABLE && type_is_only(s->model)) continue;
        for (size_t i = 0; i < paths; i++) {
            const double *time;
            const uint32_t *type;
            size_t n = smurf_futures_path(futures, i, &time, &type), count = 0;
            for (size_t j = 0; j < n; j++) count += k == types || type[j] == k;
            s->room[i] = (double)count;
            any |= count > 0;
        }
        if (any) line(s, sequence, "count", k == types ? "all" : type_text(text, s->model, k), paths);
    }
}

/* One line of JSON per path. */
static void show_paths(struct session *s, const smurf_futures *futures, const char *sequence)
{
    for (size_t i = 0; i < smurf_futures_paths(futures); i++) {
        const double *time;
        const uint32_t *type;
        char text[24];
        size_t n = smurf_futures_path(futures, i, &time, &type);
        fputs("{\"sequence\":", stdout);
        put_string(stdout, sequence);
        printf(",\"path\":%zu,\"time_since_last\":[", i);
        for (size_t j = 0; j < n; j++) {
            fputs(j ? "," : "", stdout);
            put_rounded(stdout, time[j]);
        }
        fputs("],\"type\":[", stdout);
        for (size_t j = 0; j < n; j++) {
            fputs(j ? "," : "", stdout);
            put_string(stdout, type_text(text, s->model, type[j]));
        }
        fputs("]}\n", stdout);
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

static int sample_sequence(struct session *s, smurf_forecast *f, const smurf_sequence *seq, size_t number)
{
    smurf_error err;
    smurf_futures *futures;
    smurf_futures_config config;
    char text[24];
    const char *name = sequence_text(text, seq, number);
    smurf_futures_config_init(&config);
    config.paths = s->o->paths;
    config.until = s->o->until > 0 ? s->o->until : INFINITY;
    config.events = s->o->events;
    config.seed = common.seed;
    config.threads = common_threads();
    config.progress = terminal_progress;
    smurf_status status = smurf_forecast_read(f, seq, seq->length, &err);
    if (!status) status = smurf_forecast_silence(f, s->o->silence, &err);
    if (!status) status = smurf_forecast_futures(f, &config, &futures, &err);
    terminal_clear();
    if (status) return report_sequence(name, &err);
    if (s->o->show_paths) {
        show_paths(s, futures, name);
    } else {
        summarise_times(s, futures, name);
        if (s->o->until > 0) summarise_counts(s, futures, name);
    }
    smurf_futures_free(futures);
    return 0;
}

static int sample(struct session *s, const smurf_data *data)
{
    smurf_forecast *f;
    smurf_error err;
    int status = 0;
    if (smurf_forecast_new(&f, s->model, s->o->history, &err)) return report_error(&err);
    smurf_forecast_recalibrate(f, !s->o->raw);
    s->name_width = show_name_width(data);
    modelfile_tell_drawn(s->model);
    for (size_t i = 0; i < smurf_data_sequences(data) && !status; i++) {
        const smurf_sequence *seq = smurf_data_sequence(data, i);
        if (seq->length == 0 && seq->name)
            report_warning("sequence '%.200s' is empty and is skipped", seq->name);
        else if (seq->length == 0)
            report_warning("sequence %zu is empty and is skipped", i);
        else
            status = sample_sequence(s, f, seq, i);
        if (!status && terminal_stopped()) status = report_failure("stopped while sampling futures");
        if (!status && ferror(stdout)) status = finish_output();
    }
    if (!status && !s->o->show_paths && s->format == SHOW_CSV) header(s);
    smurf_forecast_free(f);
    return status;
}

int command_sample(int argc, char **argv)
{
    struct sample_options o = {.data = {.history = NOT_GIVEN},
                               .levels = "0.05,0.25,0.5,0.75,0.95",
                               .format = "table",
                               .paths = 200,
                               .until = NAN,
                               .events = NOT_GIVEN};
    /* clang-format off */
    const struct option options[] = {
        {0, "until", OPTION_TEXT, &o.until_text, "TIME", "look ahead until TIME after the last event, such as 2d; without a unit, in the data's"},
        {0, "silence", OPTION_TEXT, &o.silence_text, "TIME", "no event has occurred for TIME, such as 3h, after the last one"},
        {0, "count", OPTION_COUNT, &o.events, "N", "maximum events per future (default: 5, or no limit with --until)"},
        {0, "paths", OPTION_COUNT, &o.paths, "N", "futures per sequence (default: 200)"},
        {0, "quantiles", OPTION_TEXT, &o.levels, "LEVELS", "comma-separated (default: 0.05,0.25,0.5,0.75,0.95)"},
        {0, "show-paths", OPTION_FLAG, &o.show_paths, NULL, "print the futures themselves, always as JSON Lines"},
        {0, "history", OPTION_COUNT, &o.history, "N", "use only the last N events (default: all)"},
        {0, "no-recalibrate", OPTION_FLAG, &o.raw, NULL, "use the law as trained, without recalibration"},
        {0, "format", OPTION_TEXT, &o.format, "FORMAT", "table, csv or jsonl (default: table)"},
        {0, "part", OPTION_TEXT, &o.part, "NAME", "of a directory: train, dev or test (default: test)"},
        DATASET_READ_OPTIONS(o.data),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "sample",
        .arguments = "MODEL DATA",
        .summary = "Samples futures of each sequence, many events ahead, and prints their quantiles.",
        .about = "For each sequence: quantiles of the time of the n-th next event and, with --until, of the\n"
                 "number of events of each type until then. In futures that end before the n-th event its\n"
                 "time is infinite: 'never' in a table, 'later' with --until, and '-' for the mean.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf sample model.safetensors demo/ --until 10 --paths 50",
        .options = options,
        .least = 2,
        .most = 2,
        .inputs = 2,
    };
    parse_options(&usage, argc, argv);
    struct session s = {.o = &o, .format = show_format_named(o.format)};
    s.levels = parse_numbers("quantiles", o.levels, 0, 1, s.level, LEVELS_MOST);
    if (o.paths == 0 || o.paths > PATHS_MOST) usage_error("--paths takes a number from 1 to %d", PATHS_MOST);
    if (o.events == NOT_GIVEN) o.events = o.until_text ? 0 : 5;
    if (o.events == 0 && !o.until_text) usage_error("futures need an end: --until TIME or --count N");
    smurf_model *model;
    smurf_split split = {0};
    int status = modelfile_open(&model, argv);
    if (status) return status;
    s.model = model;
    if (o.until_text) o.until = parse_duration("until", o.until_text, model);
    if (o.until <= 0) usage_error("--until takes a time above 0, counted from the last event");
    if (o.silence_text) o.silence = parse_duration("silence", o.silence_text, model);
    if (o.silence >= o.until) usage_error("--until counts from the last event and must be later than --silence");
    s.room = calloc(o.paths, sizeof *s.room);
    if (!s.room) out_of_memory();
    smurf_data *data;
    status = modelfile_read(model, &split, &data, argv[1], &o.data, o.part);
    if (!status) status = sample(&s, data);
    smurf_split_release(&split);
    smurf_model_free(model);
    free(s.room);
    return status;
}
