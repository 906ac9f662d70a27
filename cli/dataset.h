/*
 * dataset.h - loads a data set as the command line asks: reading, splitting, cutting, dithering.
 *
 * Shared by every command that takes DATA.
 */
#ifndef DATASET_H
#define DATASET_H

#include "option.h"
#include "smurf_lab.h"

struct dataset_options {
    const char *sequence, *time, *type, *types, *events, *key, *unit, *from, *rare;
    const char *time_format, *timezone, *missing;
    const char *features; /* further columns */
    const char *table, *query;
    int sort, strict;
    const char *split, *split_at, *dither;
    size_t window, history;     /* history: NOT_GIVEN by default */
    int keep_remarks;           /* 1: the caller shows the readers' remarks */
    int tell;                   /* 1: say which columns were taken if that was a guess */
    const char *observed_until; /* NULL: not given */
    int observe;                /* 1: a log of dates with several sequences was observed until its last event */
    const smurf_reading *as;    /* read like this where options do not say otherwise; NULL: nothing is known */
};
enum { DEFAULT_HISTORY = 64 };
#define NOT_GIVEN SIZE_MAX

/* Their rows in an option table: reading only, cutting only, both. o is a struct dataset_options. */
/* clang-format off */
#define DATASET_READ_OPTIONS(o)                                                                                           \
    {0, "time", OPTION_TEXT, &(o).time, "NAME", "column or field with times, or several that make one up: date,time"},     \
        {0, "time-format", OPTION_TEXT, &(o).time_format, "FORMAT", "how times are written: number, iso, epoch-s (-ms, -us, -ns), excel, or as in strptime: '%d/%m/%Y %H:%M' (default: detected)"}, \
        {0, "timezone", OPTION_TEXT, &(o).timezone, "NAME", "zone of dates without an offset, such as Europe/Berlin (default: UTC)"}, \
        {0, "sequence", OPTION_TEXT, &(o).sequence, "NAME", "column or field that identifies the sequence; '': none"},  \
        {0, "type", OPTION_TEXT, &(o).type, "NAME", "column or field with event types; '': none"},                       \
        {0, "features", OPTION_TEXT, &(o).features, "NAMES", "further columns that the model sees, comma-separated ('amount,zip=word'); auto: all that hold numbers or few words (default: none; with a model: its own)"}, \
        {0, "types", OPTION_TEXT, &(o).types, "words", "treat numbers in the type column as names"},                    \
        {0, "missing", OPTION_TEXT, &(o).missing, "WHAT", "rows with an empty type or sequence: drop (the default), keep or fail"}, \
        {0, "events", OPTION_INPUT, &(o).events, "FILE", "RMTPP text: the file with the types"},                              \
        {0, "key", OPTION_TEXT, &(o).key, "NAME", "pickle or JSON: which list of sequences, such as train"},           \
        {0, "unit", OPTION_TEXT, &(o).unit, "NAME", "unit of time, such as s, min or days"},                           \
        {0, "from", OPTION_FORMAT, &(o).from, "FORMAT", " (default: detected)"},                                     \
        {0, "table", OPTION_TEXT, &(o).table, "NAME", "database: the table or view to read (default: the only one)"}, \
        {0, "query", OPTION_TEXT, &(o).query, "SELECT", "database: read the rows of this query"}, \
        {0, "strict", OPTION_FLAG, &(o).strict, NULL, "fail on events out of order and on bad cells"},            \
        {0, "sort", OPTION_FLAG, &(o).sort, NULL, "sort events that are out of order (the default)"},  \
        {0, "rare", OPTION_TEXT, &(o).rare, "N", "with more than 1000 types, those with fewer than N events become 'other' (default: 5)"}
#define DATASET_CUT_OPTIONS(o)                                                                                         \
    {0, "split", OPTION_TEXT, &(o).split, "8:1:1", "split sequences at random into train, dev and test (one sequence: by time)"}, \
        {0, "split-at", OPTION_TEXT, &(o).split_at, "TIME[,TIME]", "split by time into train, (dev,) test; earlier events become history"}, \
        {0, "window", OPTION_COUNT, &(o).window, "N", "cut sequences into windows of N scored events"},                \
        {0, "history", OPTION_COUNT, &(o).history, "N", "events before each window used as history, not scored (default: 64)"}, \
        {0, "dither", OPTION_TEXT, &(o).dither, "TICK", "spread rounded gaps at random within the tick ('auto': detect it)"}, \
        {0, "observed-until", OPTION_TEXT, &(o).observed_until, "TIME", "end of observation, of sequences without one of their own (default: the last event of a log with dates)"}
#define DATASET_OPTIONS(o) DATASET_READ_OPTIONS(o), DATASET_CUT_OPTIONS(o)
/* clang-format on */

/* Loads a file, standard input ("-") or a directory. Without a split, everything is in train and the other
   two are NULL. Returns 0, or the exit status after reporting the error. */
int dataset_load(smurf_split *out, const char *path, const struct dataset_options *options);

/* The same in two steps: reads, without dithering, splitting or cutting; then does these in place. */
int dataset_read(smurf_split *out, const char *path, const struct dataset_options *options);
int dataset_cut(smurf_split *split, const struct dataset_options *options);
/* Dithers and splits a copy of a data set as the options ask; one of split and split_at is set. */
smurf_status dataset_split(smurf_split *out, const smurf_data *whole, const struct dataset_options *options,
                           uint64_t seed, smurf_error *err);
/* Cuts each part into windows if the options ask for it. */
smurf_status dataset_windows(smurf_split *split, const struct dataset_options *options, smurf_error *err);

/* Parses --recalibrate: auto -1, on 1, off 0; otherwise a usage error. */
int dataset_recalibrate(const char *word);

/* The read configuration for these options. */
void dataset_read_config(smurf_read_config *out, const struct dataset_options *options);

/* Writes train, dev and test, with the suffix of the format, into a directory, created if needed. Fails before writing
   if the directory holds another file that would then be read as one of the parts. */
int dataset_write_directory(const smurf_split *split, const char *directory, const char *format);
/* Whether the path means a single file: "-", an existing non-directory, or a name with the suffix of a format. */
int dataset_is_file(const char *path);
/* Parses three shares such as "8:1:1"; otherwise a usage error. */
void dataset_shares(const char *text, double share[3]);
/* Writes one file, or standard output ("-"). */
int dataset_write_file(const smurf_data *data, const char *path, const char *format);

#endif
