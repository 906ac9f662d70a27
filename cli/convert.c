/* convert.c - smurf convert: converts between formats; optionally splits, cuts into windows or dithers. */
#include "commands.h"
#include "dataset.h"
#include "terminal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int command_convert(int argc, char **argv)
{
    struct dataset_options data = {.history = NOT_GIVEN};
    const char *to = NULL;
    /* clang-format off */
    const struct option options[] = {
        {0, "to", OPTION_FORMAT, &to, "FORMAT", " (default: from the suffix of OUT)"},
        DATASET_OPTIONS(data),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "convert",
        .arguments = "IN OUT",
        .summary = "Converts event data between formats; optionally splits it, cuts it into windows or dithers it.",
        .about = "IN is a file, '-' for standard input, or a directory that holds train, dev and\n"
                 "test, each one file or several (train-000.csv, train-001.csv, ...). OUT is a\n"
                 "file, '-' for standard output, or a directory if the data has several parts.\n"
                 "The suffix .gz compresses. OUT appears only once it is complete. Type names\n"
                 "are kept in CSV, TSV, JSON, JSON Lines and pickle; RMTPP text holds numbers\n"
                 "only. Rare types are kept unless --rare is given.",
        .example = "  smurf simulate hawkes --sequences 100 -o events.csv\n"
                   "  smurf convert events.csv events.jsonl.gz\n"
                   "  smurf convert events.csv parts --split 8:1:1 --to csv",
        .options = options,
        .least = 2,
        .most = 2,
        .inputs = 1,
        .outputs = 1,
    };
    parse_options(&usage, argc, argv);
    if (!data.rare) data.rare = "0"; /* nothing is lost unless asked for */
    smurf_split split;
    int status = dataset_load(&split, argv[0], &data);
    if (status) return status;
    bool file = dataset_is_file(argv[1]);
    if (split.dev || split.test || (data.split && !file)) { /* --split 1:0:0 has one part */
        if (file)
            usage_error(
                "cannot write train, dev and test to the single file '%s': name a directory (and the format with --to)",
                argv[1]);
        status = dataset_write_directory(&split, argv[1], to);
    } else {
        status = dataset_write_file(split.train, argv[1], to);
    }
    smurf_split_release(&split);
    return status;
}
