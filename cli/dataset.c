/* dataset.c - see dataset.h. */
#include "dataset.h"

#include "address.h"
#include "group.h"
#include "terminal.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

void dataset_read_config(smurf_read_config *config, const struct dataset_options *o)
{
    smurf_read_config_init(config);
    config->format = o->from;
    config->sequence_column = o->sequence;
    config->time_column = o->time;
    config->type_column = o->type;
    config->events_path = o->events;
    config->key = o->key;
    config->unit = o->unit;
    if (o->sort && o->strict) usage_error("--sort and --strict are mutually exclusive");
    if (o->missing && strcmp(o->missing, "drop") && strcmp(o->missing, "keep") && strcmp(o->missing, "fail"))
        usage_error("--missing takes drop, keep or fail, not '%s'", o->missing);
    config->sort = !o->strict;
    config->missing = o->missing || !o->strict ? o->missing : "fail";
    config->time_format = o->time_format;
    config->timezone = o->timezone;
    config->as = o->as;
    config->features = o->features;
    if (o->types && strcmp(o->types, "words") != 0)
        usage_error("--types takes 'words', not '%s' (--type names the column)", o->types);
    config->types_are_words = o->types != NULL;
    if (o->rare) {
        char *end;
        config->rare = strtoul(o->rare, &end, 10);
        if (*o->rare < '0' || *o->rare > '9' || *end) usage_error("--rare takes a number of events, not '%s'", o->rare);
    }
    if (o->table && o->query) usage_error("--table and --query are mutually exclusive");
    config->table = o->table;
    config->query = o->query;
    config->progress = terminal_progress;
}

/* ---- Splits ---------------------------------------------------------------------------------- */

void dataset_shares(const char *text, double share[3])
{
    const char *p = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        share[i] = strtod(p, &end);
        if (end == p || *end != (i < 2 ? ':' : '\0') || !(share[i] >= 0) || share[i] > 1e15)
            usage_error("--split takes three shares such as 8:1:1, not '%s'", text);
        p = end + 1;
    }
}

/* "TIME" or "TIME,TIME"; a single time is used for both. */
static void parse_moments(const char *text, smurf_moment from[2])
{
    smurf_error err = {0};
    char *copy = strdup(text), *comma = copy ? strchr(copy, ',') : NULL;
    if (!copy) out_of_memory();
    if (comma) *comma = '\0';
    smurf_status status = smurf_moment_parse(&from[0], copy, &err);
    from[1] = from[0];
    if (!status && comma) status = smurf_moment_parse(&from[1], comma + 1, &err);
    free(copy);
    if (status) usage_error("--split-at takes one time, or two separated by a comma: %s", err.message);
}

static smurf_status split(smurf_split *out, const smurf_data *whole, const struct dataset_options *o, uint64_t seed,
                          smurf_error *err)
{
    if (o->split_at) {
        smurf_moment from[2];
        parse_moments(o->split_at, from);
        return smurf_split_by_time(out, whole, from[0], from[1], err);
    }
    double share[3];
    dataset_shares(o->split, share);
    return smurf_split_by_share(out, whole, share, seed, err);
}

/* ---- Windows and dithering ------------------------------------------------------------------- */

/* Replaces a part by `result` on success. */
static smurf_status replace(smurf_data **part, smurf_data *result, smurf_status status)
{
    if (status) return status;
    smurf_data_free(*part);
    *part = result;
    return SMURF_OK;
}

static smurf_status cut(smurf_data **part, const struct dataset_options *o, smurf_error *err)
{
    smurf_data *result = NULL;
    if (!o->window || !*part) return SMURF_OK;
    smurf_status status =
        smurf_data_window(&result, *part, o->window, o->history == NOT_GIVEN ? DEFAULT_HISTORY : o->history, err);
    return replace(part, result, status);
}

static double tick_of(const smurf_data *train, const char *text)
{
    if (strcmp(text, "auto") == 0) {
        double tick = smurf_data_tick(train);
        if (isnan(tick)) out_of_memory();
        if (!(tick > 0)) report_warning("no clock tick found in the times: nothing to dither");
        return tick;
    }
    char *end;
    double tick = strtod(text, &end);
    if (!*text || *end || !(tick > 0) || tick > 1e300)
        usage_error("--dither takes a tick above 0, or 'auto', not '%s'", text);
    return tick;
}

static smurf_status dither(smurf_data **part, double tick, uint64_t seed, smurf_error *err)
{
    smurf_data *result = NULL;
    if (!(tick > 0) || !*part) return SMURF_OK;
    smurf_status status = smurf_data_dither(&result, *part, tick, seed, err);
    return replace(part, result, status);
}

smurf_status dataset_split(smurf_split *out, const smurf_data *whole, const struct dataset_options *o, uint64_t seed,
                           smurf_error *err)
{
    /* Before the split, so that an event has the same time wherever it is history. */
    double tick = o->dither ? tick_of(whole, o->dither) : 0;
    smurf_data *own = NULL;
    *out = (smurf_split){0};
    smurf_status status = tick > 0 ? smurf_data_dither(&own, whole, tick, seed, err) : SMURF_OK;
    if (!status) status = split(out, own ? own : whole, o, seed, err);
    smurf_data_free(own);
    return status;
}

smurf_status dataset_windows(smurf_split *split, const struct dataset_options *o, smurf_error *err)
{
    smurf_data **part[] = {&split->train, &split->dev, &split->test};
    smurf_status status = SMURF_OK;
    for (int i = 0; i < 3 && !status; i++) status = cut(part[i], o, err);
    return status;
}

/* ---- Loading --------------------------------------------------------------------------------- */

static smurf_status load(smurf_split *out, const char *path, const struct dataset_options *o, smurf_error *err)
{
    smurf_read_config config;
    struct stat about;
    dataset_read_config(&config, o);
    bool directory = strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    if (!directory) return smurf_data_read(&out->train, address_whole(path), &config, err);
    if (o->split || o->split_at) usage_error("'%s' is a directory and already split: omit --split", path);
    return smurf_split_read(out, path, &config, err);
}

/* Sets the ends of observation that the data leaves open. */
static smurf_status observe(smurf_split *split, const struct dataset_options *o, smurf_error *err)
{
    smurf_moment until;
    if (!o->observed_until) return o->observe ? smurf_split_observe(split, NULL, err) : SMURF_OK;
    if (smurf_moment_parse(&until, o->observed_until, err)) usage_error("--observed-until: %s", err->message);
    return smurf_split_observe(split, &until, err);
}

int dataset_read(smurf_split *out, const char *path, const struct dataset_options *o)
{
    smurf_error err = {0};
    *out = (smurf_split){0};
    if (group_count() > 1 && strcmp(path, "-") == 0)
        usage_error("standard input reaches one process only: name a file for %d", group_count());
    if (o->split && o->split_at) usage_error("--split and --split-at are mutually exclusive");
    if (o->split) dataset_shares(o->split, (double[3]){0});
    if (o->split_at) parse_moments(o->split_at, (smurf_moment[2]){0});
    if (o->history != NOT_GIVEN && !o->window) usage_error("--history needs --window: give the length of the windows");
    smurf_status status = load(out, path, o, &err);
    if (!status) status = observe(out, o, &err);
    smurf_data **part[] = {&out->train, &out->dev, &out->test};
    for (int i = 0; i < 3 && !status && !o->keep_remarks; i++) {
        const char *remark;
        for (size_t k = 0; *part[i] && (remark = smurf_data_remark(*part[i], k)); k++)
            report_warning("%s: %s", smurf_data_source(*part[i]), remark);
    }
    const smurf_reading *reading = status ? NULL : smurf_data_reading(out->train);
    if (o->tell && reading && reading->guessed) report_done("columns: %s", reading->text);
    terminal_clear();
    if (!status) return 0;
    smurf_split_release(out);
    return report_error(&err);
}

/* Says so where sequences are cut in time, not dealt. */
static void tell_cut(size_t n, const char *shares)
{
    double share[3];
    dataset_shares(shares, share);
    if (n == 1) report_done("one sequence: it is cut in time, %s, with what came before as history", shares);
    static const char *const few[] = {"two", "three", "four"};
    if (n >= 2 && n <= 4 && share[1] > 0 && share[2] > 0)
        report_done("%s sequences: they are cut in time, %s, with what came before as history", few[n - 2], shares);
}

int dataset_cut(smurf_split *split, const struct dataset_options *o)
{
    smurf_error err = {0};
    smurf_status status = SMURF_OK;
    if (o->split || o->split_at) {
        smurf_split parts;
        size_t sequences = smurf_data_sequences(split->train);
        status = dataset_split(&parts, split->train, o, common.seed, &err);
        if (!status && o->split) tell_cut(sequences, o->split);
        smurf_split_release(split);
        *split = parts;
    } else {
        smurf_data **part[] = {&split->train, &split->dev, &split->test};
        double tick = o->dither ? tick_of(split->train, o->dither) : 0;
        for (int i = 0; i < 3 && !status; i++) status = dither(part[i], tick, common.seed + (uint64_t)i, &err);
    }
    if (!status) status = dataset_windows(split, o, &err);
    terminal_clear();
    if (!status) return 0;
    smurf_split_release(split);
    return report_error(&err);
}

int dataset_load(smurf_split *out, const char *path, const struct dataset_options *o)
{
    int status = dataset_read(out, path, o);
    return status ? status : dataset_cut(out, o);
}

/* ---- Calibration ----------------------------------------------------------------------------- */

int dataset_recalibrate(const char *word)
{
    if (strcmp(word, "auto") == 0) return -1;
    if (strcmp(word, "on") == 0) return 1;
    if (strcmp(word, "off") != 0) usage_error("--recalibrate takes auto, on or off, not '%s'", word);
    return 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

int dataset_is_file(const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0) return 1;
    if (stat(path, &about) == 0) return !S_ISDIR(about.st_mode);
    size_t n = strlen(path);
    return smurf_format_of_path(path) || (n > 3 && strcasecmp(path + n - 3, ".gz") == 0);
}

int dataset_write_file(const smurf_data *data, const char *path, const char *format)
{
    smurf_error err = {0};
    smurf_write_config config;
    smurf_write_config_init(&config);
    config.format = format;
    config.progress = terminal_progress;
    smurf_status status = smurf_data_write(data, path, &config, &err);
    terminal_clear();
    return status ? report_error(&err) : 0;
}

enum { PARTS = 3, PART_NAME = 32 };
static const char *const part_names[PARTS] = {"train", "dev", "test"};

/* The first file by name that a later command would read as one of our parts although it is not; NULL if none. The
   caller frees it. A directory that cannot be opened counts as empty: writing reports the error. */
static char *find_stale(const char *directory, const smurf_data *const part[PARTS], const char *format)
{
    char *stale = NULL;
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char file[PART_NAME];
        int i = smurf_split_part(entry->d_name);
        if (i < 0) continue;
        smurf_split_file(file, sizeof file, i, format, NULL);
        if ((part[i] && strcmp(file, entry->d_name) == 0) || (stale && strcmp(stale, entry->d_name) < 0)) continue;
        free(stale);
        if (!(stale = strdup(entry->d_name))) out_of_memory();
    }
    if (dir) closedir(dir);
    return stale;
}

int dataset_write_directory(const smurf_split *split, const char *directory, const char *format)
{
    const smurf_data *const part[PARTS] = {split->train, split->dev, split->test};
    smurf_error err = {0};
    char *stale = find_stale(directory, part, format);
    if (stale) {
        int status = report_failure("'%.800s' holds %s, which would not be replaced: remove it or name another "
                                    "directory",
                                    directory, stale);
        free(stale);
        return status;
    }
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        snprintf(err.message, sizeof err.message, "cannot create the directory '%.800s': %s", directory,
                 strerror(errno));
        return report_error(&err);
    }
    for (int i = 0; i < PARTS; i++) {
        char path[4096], file[PART_NAME];
        if (!part[i]) continue;
        smurf_write_config config;
        smurf_write_config_init(&config);
        config.format = format;
        config.key = part_names[i];
        config.progress = terminal_progress;
        if (smurf_split_file(file, sizeof file, i, format, &err)) return report_error(&err);
        int n = snprintf(path, sizeof path, "%s/%s", directory, file);
        if ((size_t)n >= sizeof path) usage_error("the path of the directory is too long");
        if (smurf_data_write(part[i], path, &config, &err)) return report_error(&err);
    }
    terminal_clear();
    return 0;
}
