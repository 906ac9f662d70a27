/*
 * split.c - the parts of a data set: train, dev and test from a directory, by share, or by time; and windows.
 *
 * A part of a sequence keeps what came before as history: events below `first` are seen but not scored. Windows begin
 * at the same events whatever part of a sequence they are cut from: positions count from its true start.
 */
#include "base/random.h"
#include "base/ranks.h"
#include "base/xxh64.h"
#include "data/builder.h"
#include "data/format.h"
#include "data/number.h"
#include "data/parts.h"
#include "data/rare.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void smurf_split_release(smurf_split *split)
{
    smurf_data_free(split->train);
    smurf_data_free(split->dev);
    smurf_data_free(split->test);
    *split = (smurf_split){0};
}

/* Copies events [from, to) of a sequence, scored from `first` on (an index in the sequence). */
static smurf_status copy_part(struct builder *b, const smurf_sequence *s, size_t from, size_t to, size_t first,
                              double start, double end, smurf_error *err)
{
    smurf_status status = smurf_builder_events(b, s->time + from, s->type + from, to - from, err);
    struct sequence_info info = {s->origin, start, end, first - from, s->name, s->before + from};
    if (!status) status = smurf_builder_further(b, s->further ? s->further + from * s->columns : NULL, to - from, err);
    return status ? status : smurf_builder_close(b, &info, err);
}

/* ---- A directory ----------------------------------------------------------------------------- */

enum { PARTS = 3 };
static const char *const part_words[PARTS] = {"train training", "dev valid validation val devtest", "test"};
static const char *const part_names[PARTS] = {"train", "dev", "test"};

/* Is `word` (n bytes) in a blank-separated list? */
static bool in_list(const char *list, const char *word, size_t n)
{
    while (*list) {
        size_t length = strcspn(list, " ");
        if (length == n && strncasecmp(list, word, n) == 0) return true;
        list += length + (list[length] == ' ');
    }
    return false;
}

/* Names such as "train.csv.gz" or "time-train.txt". */
int smurf_split_part(const char *file)
{
    int part = -1;
    bool types = false;
    if (file[0] == '.' || !smurf_format_for_path(file)) return -1;
    for (const char *p = file; *p;) {
        size_t n = strcspn(p, "-_.");
        for (int i = 0; i < PARTS; i++)
            if (in_list(part_words[i], p, n)) part = i;
        if (in_list("event events", p, n)) types = true;
        p += n + (p[n] != '\0');
    }
    return types ? -1 : part;
}

smurf_status smurf_split_file(char *out, size_t n, int part, const char *format, smurf_error *err)
{
    const struct format_class *class;
    smurf_status status = smurf_format_find(&class, format, err);
    if (status) return status;
    if ((unsigned)part >= PARTS)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "there is no part %d: 0 is train, 1 dev, 2 test", part);
    snprintf(out, n, "%s%s%s", class->pair ? class->pair->prefix : "", part_names[part], class->suffix);
    return SMURF_OK;
}

const char *smurf_part_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    int part = smurf_split_part(slash ? slash + 1 : path);
    return part < 0 ? NULL : part_names[part];
}

/* The files of a part, in the order of their names. */
struct files {
    char **path;
    size_t n, room;
};

static void release_files(struct files file[PARTS])
{
    for (int i = 0; i < PARTS; i++) {
        for (size_t k = 0; k < file[i].n; k++) free(file[i].path[k]);
        free(file[i].path);
    }
}

static smurf_status add_file(struct files *files, const char *directory, const char *name, smurf_error *err)
{
    const char *slash = directory[0] && directory[strlen(directory) - 1] == '/' ? "" : "/";
    if (!smurf_grow(&files->path, &files->room, files->n + 1, sizeof *files->path) ||
        asprintf(&files->path[files->n], "%s%s%s", directory, slash, name) < 0)
        return smurf_fail_memory(err);
    files->n++;
    return SMURF_OK;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Do the names say that two files are of one data set, as train-000.csv and train-001.csv do? */
static bool is_series(const char *a, const char *b, int part)
{
    size_t n = strcspn(a, "-"), length = strlen(a);
    bool again = strncmp(a, b, length) == 0 && strcmp(b + length, ".gz") == 0; /* the same, once more */
    return a[n] == '-' && in_list(part_words[part], a, n) && strncasecmp(a, b, n + 1) == 0 && !again;
}

static smurf_status check_series(const char *directory, const struct files *files, int part, smurf_error *err)
{
    for (size_t i = 1; i < files->n; i++) {
        const char *a = strrchr(files->path[i - 1], '/') + 1, *b = strrchr(files->path[i], '/') + 1;
        const char *name = part_names[part];
        if (!is_series(a, b, part))
            return smurf_fail(
                err, SMURF_ERROR_INPUT,
                "'%s' holds two files for %s, '%s' and '%s' (leave one, or name the files of one data set "
                "%s-000, %s-001 and so on)",
                directory, name, a, b, name, name);
        if (smurf_format_for_path(a) != smurf_format_for_path(b))
            return smurf_fail(err, SMURF_ERROR_INPUT,
                              "'%s' holds files of two formats for %s, '%s' and '%s' (write all in one)", directory,
                              name, a, b);
    }
    return SMURF_OK;
}

/* The processes of a group must see the same files: each reads some of them. */
static smurf_status agree(const char *directory, const struct files file[PARTS], smurf_error *err)
{
    struct xxh64 hash;
    smurf_xxh64_init(&hash);
    for (int i = 0; i < PARTS; i++)
        for (size_t k = 0; k < file[i].n; k++) {
            const char *name = strrchr(file[i].path[k], '/');
            smurf_xxh64_add(&hash, name, strlen(name));
        }
    int other = smurf_ranks_differ(RANKS_OTHER, smurf_xxh64_value(&hash));
    if (other < 0) return smurf_fail_memory(err);
    if (other == smurf_ranks()->count) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_INPUT,
                      "process %d sees other files in '%s' than process 0: give all of them the same directory", other,
                      directory);
}

static smurf_status find_files(const char *directory, struct files file[PARTS], smurf_error *err)
{
    DIR *dir = opendir(directory);
    if (!dir) return smurf_fail_errno(err, "open", directory, errno);
    smurf_status status = SMURF_OK;
    for (struct dirent *entry; !status && (entry = readdir(dir));) {
        int part = smurf_split_part(entry->d_name);
        if (part >= 0) status = add_file(&file[part], directory, entry->d_name, err);
    }
    closedir(dir);
    for (int i = 0; i < PARTS && !status; i++) {
        if (file[i].n) qsort(file[i].path, file[i].n, sizeof *file[i].path, by_name);
        status = check_series(directory, &file[i], i, err);
    }
    if (!status && !file[0].n)
        status =
            smurf_fail(err, SMURF_ERROR_INPUT,
                       "'%s' holds no file called train (put train, dev and test there, such as train.csv)", directory);
    return status ? status : agree(directory, file, err);
}

/* Gives a data set the types of one read later, which has them all. */
static smurf_status adopt_types(smurf_data *data, const smurf_data *from, smurf_error *err)
{
    if (!data || data == from) return SMURF_OK;
    if (!from->type_name) {
        if (data->types < from->types) data->types = from->types;
        return SMURF_OK;
    }
    const char **name = malloc(from->types * sizeof *name);
    if (!name) return smurf_fail_memory(err);
    for (uint32_t k = 0; k < from->types; k++)
        if (!(name[k] = smurf_arena_text(&data->text, from->type_name[k], strlen(from->type_name[k])))) {
            free(name);
            return smurf_fail_memory(err);
        }
    free(data->type_name);
    data->type_name = name;
    data->types = from->types;
    return SMURF_OK;
}

smurf_status smurf_split_read(smurf_split *out, const char *directory, const smurf_read_config *given, smurf_error *err)
{
    *out = (smurf_split){0};
    smurf_read_config config;
    struct files file[PARTS] = {0};
    smurf_data **part[PARTS] = {&out->train, &out->dev, &out->test};
    const smurf_data *known = NULL;
    smurf_status status = smurf_format_read_config(&config, given, err);
    if (!status) status = find_files(directory, file, err);
    for (int i = 0; i < PARTS && !status; i++) {
        if (!file[i].n) continue;
        if (out->train && !config.as) config.as = smurf_data_reading(out->train);
        const smurf_reading *reading = out->train ? smurf_data_reading(out->train) : NULL;
        if (config.features && reading) config.features = reading->features; /* "auto" is decided by train */
        if (file[i].n == 1)
            status = smurf_format_read_path(part[i], file[i].path[0], known, &config, err);
        else
            status = smurf_parts_read(part[i], file[i].path, file[i].n, known, &config, err);
        if (!status) status = smurf_parts_check_clock(out->train, *part[i], err);
        if (!status && (!known || known->types < (*part[i])->types || (*part[i])->type_name)) known = *part[i];
    }
    for (int i = 0; i < PARTS && !status; i++) status = adopt_types(*part[i], known, err);
    if (!status && !(given && given->as && given->as->features))
        status = smurf_further_merge(out->train, config.rare, err);
    for (int i = 1; i < PARTS && !status; i++)
        if (*part[i]) status = smurf_further_adopt(*part[i], &out->train->further, err);
    if (!status) status = smurf_rare_merge((smurf_data *[]){out->train, out->dev, out->test}, PARTS, config.rare, err);
    release_files(file);
    if (status) smurf_split_release(out);
    return status;
}

/* ---- By time --------------------------------------------------------------------------------- */

/* The moment on a sequence's own time axis. */
static double moment_offset(smurf_moment moment, int64_t origin)
{
    int64_t whole;
    if (__builtin_sub_overflow(moment.whole, origin, &whole)) return (double)moment.whole - (double)origin;
    return (double)whole + moment.fraction;
}

static size_t count_before(const smurf_sequence *s, double time)
{
    size_t low = 0, high = s->length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->time[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The end of observation of the part before `time`: `time` itself if the sequence continues, else the sequence's
   own. */
static double cut_end(const smurf_sequence *s, size_t before, double time)
{
    return before < s->length || s->end > time ? time : s->end;
}

/* Does a part that starts at `time` and holds the events before `to`, scored from `first` on, have anything to score:
   an event, or the gap after the last one, known to extend beyond `time`? That gap is history if first > to. */
static bool has_scored(const smurf_sequence *s, size_t to, size_t first, double time)
{
    return to > first || (to == first && s->end > time);
}

struct cut {
    smurf_moment dev_from, test_from;
    struct builder part[PARTS];
};

static smurf_status cut_sequence(struct cut *cut, const smurf_sequence *s, smurf_error *err)
{
    double dev = moment_offset(cut->dev_from, s->origin), test = moment_offset(cut->test_from, s->origin);
    size_t n1 = count_before(s, dev), n2 = count_before(s, test);
    smurf_status status = SMURF_OK;
    if (n1 > 0 || s->start < dev)
        status = copy_part(&cut->part[0], s, 0, n1, s->first, s->start, cut_end(s, n1, dev), err);
    size_t first = s->first > n1 ? s->first : n1;
    if (!status && has_scored(s, n2, first, dev) && dev < test)
        status = copy_part(&cut->part[1], s, 0, n2, first, s->start, cut_end(s, n2, test), err);
    first = s->first > n2 ? s->first : n2;
    if (!status && has_scored(s, s->length, first, test))
        status = copy_part(&cut->part[2], s, 0, s->length, first, s->start, s->end, err);
    return status;
}

smurf_status smurf_split_by_time(smurf_split *out, const smurf_data *data, smurf_moment dev_from,
                                 smurf_moment test_from, smurf_error *err)
{
    *out = (smurf_split){0};
    if (test_from.whole < dev_from.whole ||
        (test_from.whole == dev_from.whole && test_from.fraction < dev_from.fraction))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the test part must not start before the dev part");
    struct cut cut = {dev_from, test_from, {{0}}};
    smurf_data **part[PARTS] = {&out->train, &out->dev, &out->test};
    smurf_status status = SMURF_OK;
    for (int i = 0; i < PARTS && !status; i++) status = smurf_builder_inherit(&cut.part[i], data, err);
    for (size_t i = 0; i < data->sequences && !status; i++) status = cut_sequence(&cut, &data->sequence[i], err);
    bool same = test_from.whole == dev_from.whole && test_from.fraction == dev_from.fraction;
    for (int i = 0; i < PARTS && !status; i++) {
        if (i == 1 && same) continue;
        if (cut.part[i].closed == 0)
            status = smurf_fail(err, SMURF_ERROR_ARGUMENT,
                                "the %s part of a split at this time would be empty (smurf info shows the time span)",
                                part_names[i]);
        else
            status = smurf_builder_finish(&cut.part[i], part[i], err);
    }
    for (int i = 0; i < PARTS; i++) smurf_builder_release(&cut.part[i]);
    if (status) smurf_split_release(out);
    return status;
}

/* ---- By share -------------------------------------------------------------------------------- */

static smurf_moment moment_of(const smurf_sequence *s, size_t event)
{
    double whole = floor(s->time[event]);
    return (smurf_moment){s->origin + (int64_t)whole, s->time[event] - whole};
}

/* One sequence is cut so that its events are divided by the shares; with history, its scored events. */
static smurf_status cut_single(smurf_split *out, const smurf_data *data, const double share[PARTS], double total,
                               smurf_error *err)
{
    const smurf_sequence *s = &data->sequence[0];
    if (!(share[2] > 0))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "a single sequence is cut in time: the last share, for test, must be positive, as in "
                          "8:1:1 or 8:0:2");
    size_t history = s->first > 1 && s->first < s->length ? s->first : 0, n = s->length - history;
    size_t n1 = history + (size_t)((double)n * share[0] / total);
    size_t n2 = history + (size_t)((double)n * (share[0] + share[1]) / total);
    if (n1 == history || n2 >= s->length || (share[1] > 0 && n1 == n2))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "one sequence of %zu event%s is too short to be split like this (%scollect more events)",
                          s->length, s->length == 1 ? "" : "s",
                          s->length > 2 ? "leave out a part, as in 8:0:2, or " : "");
    if (s->time[n1] == s->time[0])
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "a single sequence is cut in time, but its first %zu events have the same time (is the right "
                          "column used for the time?)",
                          n1 + 1);
    return smurf_split_by_time(out, data, moment_of(s, n1), moment_of(s, n2), err);
}

/* Few sequences dealt to three parts would leave train with one or two: all are cut at the moments that divide their
   events by the shares. */
enum { FEW = 4 };

/* The sequence whose event at[k] is the earliest; ties by number. Some events are left. */
static size_t earliest(const smurf_data *data, const size_t at[FEW])
{
    size_t found = FEW;
    smurf_moment first = {0};
    for (size_t k = 0; k < data->sequences; k++) {
        if (at[k] == data->sequence[k].length) continue;
        smurf_moment m = moment_of(&data->sequence[k], at[k]);
        bool before = m.whole < first.whole || (m.whole == first.whole && m.fraction < first.fraction);
        if (found < FEW && !before) continue;
        found = k;
        first = m;
    }
    return found;
}

static smurf_status cut_few(smurf_split *out, const smurf_data *data, const double share[PARTS], double total,
                            smurf_error *err)
{
    size_t n = data->events, at[FEW] = {0}, first[2];
    smurf_moment from[2];
    first[0] = (size_t)((double)n * share[0] / total);
    first[1] = (size_t)((double)n * (share[0] + share[1]) / total);
    if (first[0] == 0 || first[0] == first[1] || first[1] >= n)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "%zu sequences are too few to be split like this (leave out a part, as in 8:0:2, or collect "
                          "more events)",
                          data->sequences);
    for (size_t i = 0; i <= first[1]; i++) { /* in order of time */
        size_t next = earliest(data, at);
        for (int k = 0; k < 2; k++)
            if (i == first[k]) from[k] = moment_of(&data->sequence[next], at[next]);
        at[next]++;
    }
    return smurf_split_by_time(out, data, from[0], from[1], err);
}

/* How many of n go to each part: rounded, but at least one for each part that has a share. */
static void deal(size_t n, const double share[PARTS], double total, size_t count[PARTS])
{
    size_t left = n;
    for (int i = PARTS - 1; i > 0; i--) {
        count[i] = (size_t)floor((double)n * share[i] / total + 0.5);
        if (share[i] > 0 && count[i] == 0) count[i] = 1;
        if (count[i] > left) count[i] = left;
        left -= count[i];
    }
    count[0] = left;
}

smurf_status smurf_split_by_share(smurf_split *out, const smurf_data *data, const double share[3], uint64_t seed,
                                  smurf_error *err)
{
    *out = (smurf_split){0};
    double total = share[0] + share[1] + share[2];
    if (!(share[0] > 0) || !(share[1] >= 0) || !(share[2] >= 0) || !isfinite(total))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "shares must not be negative, and that of train must be positive, as in 8:1:1");
    if (data->sequences == 1) return cut_single(out, data, share, total, err);
    bool three = share[1] > 0 && share[2] > 0;
    if (data->sequences <= FEW && three) return cut_few(out, data, share, total, err);
    size_t n = data->sequences, count[PARTS];
    deal(n, share, total, count);
    if (count[0] == 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "%zu sequences are too few to be split like this (cut them in time with --split-at, or leave "
                          "out a part, as in 8:0:2)",
                          n);

    unsigned char *part_of_sequence = calloc(n, 1);
    if (!part_of_sequence) return smurf_fail_memory(err);
    for (size_t i = 0; i < n; i++) part_of_sequence[i] = i < count[0] ? 0 : i < count[0] + count[1] ? 1 : 2;
    struct random random;
    smurf_random_init(&random, seed, 0x73706c6974); /* a separate stream */
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = smurf_random_below(&random, i + 1);
        unsigned char swap = part_of_sequence[i];
        part_of_sequence[i] = part_of_sequence[j];
        part_of_sequence[j] = swap;
    }

    struct builder b[PARTS] = {{0}};
    smurf_data **part[PARTS] = {&out->train, &out->dev, &out->test};
    smurf_status status = SMURF_OK;
    for (int i = 0; i < PARTS && !status; i++) status = smurf_builder_inherit(&b[i], data, err);
    for (size_t i = 0; i < n && !status; i++) {
        const smurf_sequence *s = &data->sequence[i];
        status = copy_part(&b[part_of_sequence[i]], s, 0, s->length, s->first, s->start, s->end, err);
    }
    for (int i = 0; i < PARTS && !status; i++)
        if (count[i]) status = smurf_builder_finish(&b[i], part[i], err);
    for (int i = 0; i < PARTS; i++) smurf_builder_release(&b[i]);
    free(part_of_sequence);
    if (status) smurf_split_release(out);
    return status;
}

/* ---- Windows --------------------------------------------------------------------------------- */

static smurf_status cut_windows(struct builder *b, const smurf_sequence *s, size_t window, size_t history,
                                smurf_error *err)
{
    if (s->first >= s->length) return copy_part(b, s, 0, s->length, s->first, s->start, s->end, err);
    smurf_status status = SMURF_OK;
    for (size_t first = s->first, to; first < s->length && !status; first = to) {
        /* Events of the window before `first`: some if scoring begins within it. */
        size_t inside = (s->before + first - 1) % window, left = window - inside;
        to = s->length - first > left ? first + left : s->length;
        size_t from = first > inside && first - inside > history ? first - inside - history : 0;
        /* If the window stops at an event, its end says nothing about the time that follows. */
        status = copy_part(b, s, from, to, first, from ? NAN : s->start, to == s->length ? s->end : NAN, err);
    }
    return status;
}

smurf_status smurf_data_window(smurf_data **out, const smurf_data *data, size_t window, size_t history,
                               smurf_error *err)
{
    *out = NULL;
    if (window == 0) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "a window must hold at least one event");
    if (history == 0) history = 1; /* the first gap of a window starts at an event before it */
    struct builder b = {0};
    smurf_status status = smurf_builder_inherit(&b, data, err);
    for (size_t i = 0; i < data->sequences && !status; i++)
        status = cut_windows(&b, &data->sequence[i], window, history, err);
    if (!status) status = smurf_builder_finish(&b, out, err);
    smurf_builder_release(&b);
    return status;
}
