/* modelfile.c - see modelfile.h. */
#include "modelfile.h"

#include "settings.h"

#include "terminal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_model_name(const char *path)
{
    size_t n = strlen(path), tail = strlen(".safetensors");
    return n > tail && strcmp(path + n - tail, ".safetensors") == 0;
}

int modelfile_open(smurf_model **model, char **arguments)
{
    smurf_error err;
    if (!is_model_name(arguments[0]) && is_model_name(arguments[1])) {
        char *swap = arguments[0];
        arguments[0] = arguments[1];
        arguments[1] = swap;
    }
    return smurf_model_load(model, arguments[0], &err) ? report_error(&err) : 0;
}

int modelfile_unknown(const smurf_data *data, const smurf_data *matched)
{
    size_t n = 0;
    while (smurf_data_remark(data, n)) n++;
    const char *remark = smurf_data_remark(matched, n);
    if (remark) report_warning("%s: %s", smurf_data_source(matched), remark);
    return remark != NULL;
}

void modelfile_tell_cut(const smurf_model *model, const smurf_data *data)
{
    const smurf_pool *pool = smurf_model_pool(model);
    bool cut = false;
    for (size_t i = 0; pool && i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        cut = cut || (s->before > 0 && s->first < pool->reach && s->first < s->length);
    }
    if (cut)
        report_warning(
            "%s: in windows, the naive laws that the model is pooled with see fewer events than in the whole "
            "log (use the whole log, or --no-recalibrate)",
            smurf_data_source(data));
}

void modelfile_tell_drawn(const smurf_model *model)
{
    if (smurf_model_columns(model))
        report_done(
            "futures: further columns (such as '%s') of events that are drawn are those of past events of the same "
            "type",
            smurf_model_column_name(model, 0));
}

/* Gaps in seconds, between dates, do not compare with those of numbers in another unit, or in one that is not known;
   gaps in minutes do not compare with those in hours. */
static int check_unit(const smurf_model *model, const smurf_data *data)
{
    bool dates = smurf_data_is_calendar(data), wanted = smurf_model_is_calendar(model);
    const char *unit = smurf_data_unit(data), *own = smurf_model_unit(model);
    double size[2];
    if (strcmp(unit, own) == 0) return 0;
    if (dates != wanted)
        return report_failure("%s: its times are %s, but those of the model are %s", smurf_data_source(data),
                              dates ? "dates" : "numbers",
                              dates ? "numbers (train it with --unit s if they count seconds)"
                                    : "dates (say how times are written with --time-format, or give --unit s if they "
                                      "count seconds)");
    const char *name = smurf_duration_unit(1, unit, &size[0]), *wants = smurf_duration_unit(1, own, &size[1]);
    if (!name || !wants || (name == wants && size[0] == size[1])) return 0;
    return report_failure("%s: its times are in %s, but those of the model are in %s (convert them)",
                          smurf_data_source(data), unit, own);
}

int modelfile_match(const smurf_model *model, smurf_data **data)
{
    smurf_error err;
    smurf_data *matched;
    if (!*data) return 0;
    if (check_unit(model, *data)) return 1;
    if (smurf_model_match(model, *data, &matched, &err)) return report_error(&err);
    modelfile_unknown(*data, matched);
    smurf_data_free(*data);
    *data = matched;
    return 0;
}

void modelfile_past(const smurf_model *model, const smurf_data *data, int scored)
{
    size_t n = smurf_data_sequences(data), windows = 0;
    if (!(smurf_model_calibration(model)->adaptive > 0)) return;
    for (size_t i = 0; i < n; i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        size_t from = scored ? s->first : s->length;
        windows += s->before > 0 && from <= SMURF_ADAPTIVE_PAST;
    }
    if (windows)
        report_warning(
            "%zu of %zu sequences are cut from longer ones and carry fewer than the %d gaps that levels adapt "
            "to: intervals differ from those of the whole log",
            windows, n, SMURF_ADAPTIVE_PAST);
}

void modelfile_types(const smurf_model *model, struct dataset_options *options)
{
    if (smurf_model_type_name(model, 0) && !options->types) options->types = "words";
    options->as = smurf_model_reading(model);
    options->tell = !options->as;
    options->rare = "0"; /* the model says which types it knows */
}

int modelfile_read(const smurf_model *model, smurf_split *split, smurf_data **part, const char *path,
                   struct dataset_options *options, const char *name)
{
    modelfile_types(model, options);
    int status = dataset_load(split, path, options);
    if (status) return status;
    const smurf_data *asked = modelfile_part(split, name).data;
    smurf_data **own = asked == split->test ? &split->test : asked == split->dev ? &split->dev : &split->train;
    status = modelfile_match(model, own);
    *part = *own;
    return status;
}

/* ---- The split of training ---------------------------------------------------------------------- */

/* The time at which a part begins to be scored, in all its digits. False: it is negative, which is not written. */
static bool write_start(const smurf_data *part, char text[64])
{
    const smurf_sequence *s = smurf_data_sequence(part, 0);
    double time = s->time[s->first < s->length ? s->first : s->length - 1], whole = floor(time);
    char fraction[400];
    snprintf(fraction, sizeof fraction, "%.30f", time - whole);
    snprintf(text, 64, "%lld%.31s", (long long)s->origin + (long long)whole, strchr(fraction, '.'));
    return text[0] != '-';
}

/* Shares of one sequence are noted as times too: when the log has grown, its new events belong to test. */
char *modelfile_note(const struct dataset_options *o, const smurf_split *split, int in_time)
{
    char *text, from[2][64] = {"", ""};
    bool one = o->split && split->test && in_time && write_start(split->dev ? split->dev : split->test, from[0]) &&
               write_start(split->test, from[1]);
    if (!one) from[0][0] = from[1][0] = '\0';
    int n = asprintf(&text, "%s %s%s%s%s%s%s%s", o->split_at ? "at" : "shares", o->split_at ? o->split_at : o->split,
                     one ? "\nat " : "", from[0], one ? "," : "", from[1], o->dither ? "\ndither " : "",
                     o->dither ? o->dither : "");
    if (n < 0) out_of_memory();
    return text;
}

/* Sets the options that a note stands for. They point into text, which is changed. */
static void take_note(struct dataset_options *o, char *text)
{
    for (char *line = text, *rest; line; line = rest) {
        if ((rest = strchr(line, '\n'))) *rest++ = '\0';
        char *value = strchr(line, ' ');
        if (!value) continue;
        *value++ = '\0';
        if (strcmp(line, "shares") == 0) o->split = value;
        if (strcmp(line, "at") == 0) o->split_at = value;
        if (strcmp(line, "dither") == 0) o->dither = value;
    }
}

static bool trained_on(const smurf_model *model, const smurf_data *data)
{
    int answer = smurf_model_trained_on(model, data);
    if (answer < 0) out_of_memory();
    return answer;
}

/* Splits the data as training did: as the model remembers or, if it is too old to, 8:1:1. *same: the model was trained
   on the train part. An old model may have been trained on windows, which were cut after the split. Returns 0 or the
   exit status. */
static int split_again(const smurf_model *model, smurf_split *split, const struct dataset_options *options, bool *same)
{
    smurf_split again = {0};
    smurf_error err;
    struct dataset_options with = *options;
    const char *kept = smurf_model_split(model);
    char *note = kept ? strdup(kept) : NULL;
    if (kept && !note) out_of_memory();
    with.split = "8:1:1";
    if (note) {
        with.split = with.dither = NULL;
        take_note(&with, note);
    }
    smurf_status status = SMURF_ERROR_ARGUMENT;
    if (with.split || with.split_at)
        status = dataset_split(&again, split->train, &with, settings_seed(smurf_model_settings(model)), &err);
    *same = !status && trained_on(model, again.train);
    if (!status) status = dataset_windows(&again, options, &err);
    *same = !status && (*same || (options->window && trained_on(model, again.train)));
    if (*same) {
        report_done("the model was trained on this file: splitting it %s%s as in training", with.split ? "" : "at ",
                    with.split ? with.split : with.split_at);
        smurf_split_release(split);
        *split = again;
    } else {
        smurf_split_release(&again);
    }
    free(note);
    return status == SMURF_ERROR_MEMORY ? report_error(&err) : 0;
}

/* ---- Loading ------------------------------------------------------------------------------------ */

/* Windows keep what the model looks back at, so that they have the laws of the whole. */
static void keep_enough(const smurf_model *model, struct dataset_options *options)
{
    const smurf_settings *settings = smurf_model_settings(model);
    size_t context = (size_t)settings_number(settings, "context"), window = (size_t)settings_number(settings, "window");
    if (options->window && options->history == NOT_GIVEN && context)
        options->history = context + (window ? window : 2 * context);
}

int modelfile_load(smurf_model **model, smurf_split *split, char **arguments, struct dataset_options *options)
{
    *split = (smurf_split){0};
    int status = modelfile_open(model, arguments);
    if (status) return status;
    modelfile_types(*model, options);
    keep_enough(*model, options);
    status = dataset_read(split, arguments[1], options);
    bool same = false;
    if (!status && !split->dev && !split->test && !options->split && !options->split_at)
        status = split_again(*model, split, options, &same);
    if (!status && !same) status = dataset_cut(split, options);
    if (!status) status = modelfile_match(*model, &split->train);
    if (!status) status = modelfile_match(*model, &split->dev);
    if (!status) status = modelfile_match(*model, &split->test);
    if (!status) return 0;
    smurf_split_release(split);
    smurf_model_free(*model);
    *model = NULL;
    return status;
}

struct part modelfile_part(const smurf_split *split, const char *name)
{
    int single = !split->dev && !split->test;
    if (!name && split->test) return (struct part){split->test, "test"};
    if (!name && single) return (struct part){split->train, ""};
    if (!name) usage_error("the data has no test part: choose one with --part train or --part dev");
    smurf_data *data = NULL;
    if (strcmp(name, "train") == 0)
        data = split->train;
    else if (strcmp(name, "dev") == 0)
        data = split->dev;
    else if (strcmp(name, "test") == 0)
        data = split->test;
    else
        usage_error("--part takes train, dev or test, not '%s'", name);
    if (!data || (single && strcmp(name, "train") != 0)) usage_error("the data has no %s part", name);
    return (struct part){data, single ? "" : name};
}

size_t parse_numbers(const char *option, const char *text, double low, double high, double *out, size_t most)
{
    size_t n = 0;
    for (const char *p = text;;) {
        char *end;
        double x = strtod(p, &end);
        if (end == p || (*end && *end != ',') || !(x >= low && x <= high))
            usage_error("--%s takes %s from %g to %g, not '%s'", option,
                        most == 1 ? "a number" : "comma-separated numbers", low, high, text);
        if (n == most) usage_error("--%s takes up to %zu number%s", option, most, most == 1 ? "" : "s");
        out[n++] = x;
        if (!*end) return n;
        p = end + 1;
    }
}
