/*
 * dataset.h - from the words of a command line to a data set: reading, splitting, cutting, dithering.
 *
 * Every command that takes DATA takes these options and loads it the same way.
 */
#ifndef DATASET_H
#define DATASET_H

#include "option.h"
#include "smurf_lab.h"

struct dataset_options {
    const char *sequence, *time, *type, *types, *events, *key, *unit, *from;
    int sort;
    const char *split, *split_at, *dither;
    size_t window, history; /* history: NOT_GIVEN unless asked for */
    int keep_remarks;       /* 1: the caller shows what the readers remarked */
};
enum { DEFAULT_HISTORY = 64 };
#define NOT_GIVEN SIZE_MAX

/* The rows of an option table for them; o is a struct dataset_options. Reading alone, cutting alone, both. */
/* clang-format off */
#define DATASET_READ_OPTIONS(o)                                                                                           \
    {0, "sequence", OPTION_TEXT, &(o).sequence, "NAME", "column or field that tells sequences apart"},                 \
        {0, "time", OPTION_TEXT, &(o).time, "NAME", "column or field of times: numbers or ISO-8601"},                  \
        {0, "type", OPTION_TEXT, &(o).type, "NAME", "column or field of event types"},                                 \
        {0, "types", OPTION_TEXT, &(o).types, "words", "take numbers in the type column as names"},                    \
        {0, "events", OPTION_INPUT, &(o).events, "FILE", "RMTPP text: the file of types"},                              \
        {0, "key", OPTION_TEXT, &(o).key, "NAME", "pickle or JSON: which list of sequences, such as train"},           \
        {0, "unit", OPTION_TEXT, &(o).unit, "NAME", "unit of time, such as s, min or days"},                           \
        {0, "from", OPTION_FORMAT, &(o).from, "FORMAT", " (default: by content)"},                                     \
        {0, "sort", OPTION_FLAG, &(o).sort, NULL, "sort events that are out of order instead of failing"}
#define DATASET_CUT_OPTIONS(o)                                                                                         \
    {0, "split", OPTION_TEXT, &(o).split, "8:1:1", "deal sequences into train, dev and test (one sequence: in time)"}, \
        {0, "split-at", OPTION_TEXT, &(o).split_at, "TIME[,TIME]", "cut in time into train, (dev,) test; what came before is history"}, \
        {0, "window", OPTION_COUNT, &(o).window, "N", "cut sequences into windows of N scored events"},                \
        {0, "history", OPTION_COUNT, &(o).history, "N", "events before a window that are seen, not scored (default: 64)"}, \
        {0, "dither", OPTION_TEXT, &(o).dither, "TICK", "spread rounded gaps within the tick ('auto': find it), by --seed"}
#define DATASET_OPTIONS(o) DATASET_READ_OPTIONS(o), DATASET_CUT_OPTIONS(o)
/* clang-format on */

/* Loads a file, standard input ("-") or a directory. Without a split, everything is in train and the other
   two are NULL. Returns 0, or the exit status after saying what is wrong. */
int dataset_load(smurf_split *out, const char *path, const struct dataset_options *options);

/* What --recalibrate says: auto: -1, on: 1, off: 0; a usage error else. */
int dataset_recalibrate(const char *word);

/* How a file is read with these options. */
void dataset_read_config(smurf_read_config *out, const struct dataset_options *options);

/* Writes the parts into a directory, made if need be: train, dev, test with the suffix of the format. Refuses, before
   anything is written, where the directory holds another file that would then be read as one of the parts. */
int dataset_write_directory(const smurf_split *split, const char *directory, const char *format);
/* Does the path stand for one file: "-", a name with the suffix of a format, or what is there and no directory? */
int dataset_is_file(const char *path);
/* Three shares such as "8:1:1"; a usage error if they are not. */
void dataset_shares(const char *text, double share[3]);
/* Writes one file, or "-". */
int dataset_write_file(const smurf_data *data, const char *path, const char *format);

#endif
