/* info.c - smurf info: describes a data set, as text or JSON. */
#include "commands.h"
#include "dataset.h"
#include "show_summary.h"
#include "terminal.h"

#include <stdio.h>

/* Shows one part; *shown counts them, for the separators. */
static int show(const smurf_data *data, const char *name, const smurf_data *train, int json, int *shown)
{
    smurf_error err;
    smurf_summary summary;
    if (!data) return 0;
    if (smurf_data_summarise(&summary, data, train, &err)) return report_error(&err);
    if (json) {
        fputs(*shown ? ",\n" : "", stdout);
        show_summary_json(stdout, name, data, &summary);
    } else {
        fputs(*shown ? "\n" : "", stdout);
        show_summary(stdout, name, data, &summary, terminal_width(), terminal_utf8());
    }
    smurf_summary_release(&summary);
    ++*shown;
    return 0;
}

int command_info(int argc, char **argv)
{
    struct dataset_options data = {.history = NOT_GIVEN, .keep_remarks = 1, .observe = 1};
    int json = 0;
    /* clang-format off */
    const struct option options[] = {
        {0, "json", OPTION_FLAG, &json, NULL, "print a JSON array, one object per part, instead of text"},
        DATASET_OPTIONS(data),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "info",
        .arguments = "DATA",
        .summary = "Describes event data: size, types, sequence lengths, gaps, ties, clock tick, time span, warnings.",
        .about = "DATA is a file, '-' for standard input, or a directory that holds train, dev\n"
                 "and test. Each may be several files, train-000.csv, train-001.csv and so on,\n"
                 "which are joined. The format is detected: CSV, TSV, JSON Lines, JSON, RMTPP\n"
                 "text or pickle, each optionally gzipped.",
        .example = "  smurf simulate hawkes --sequences 100 -o events.csv\n  smurf info events.csv",
        .options = options,
        .least = 1,
        .most = 1,
        .inputs = 1,
    };
    parse_options(&usage, argc, argv);
    smurf_split split;
    int status = dataset_load(&split, argv[0], &data);
    if (status) return status;
    int shown = 0, single = !split.dev && !split.test;
    if (json) fputs("[", stdout);
    status = show(split.train, single ? smurf_data_source(split.train) : "train", NULL, json, &shown);
    if (!status) status = show(split.dev, "dev", split.train, json, &shown);
    if (!status) status = show(split.test, "test", split.train, json, &shown);
    if (json) fputs("]\n", stdout);
    smurf_split_release(&split);
    return status;
}
