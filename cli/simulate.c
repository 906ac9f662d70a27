/* simulate.c - smurf simulate: simulates data from processes whose law is known. */
#include "commands.h"
#include "dataset.h"
#include "option.h"
#include "parameter.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_processes(FILE *out)
{
    fprintf(out, "\nAvailable processes and their parameters\n");
    for (size_t i = 0; smurf_process_name(i); i++) {
        fprintf(out, "  %s: ", smurf_process_name(i));
        print_wrapped(out, smurf_process_about(i), 4, (int)strlen(smurf_process_name(i)) + 4);
        for (size_t p = 0; smurf_process_parameter_name(i, p); p++) {
            fprintf(out, "      %-11s ", smurf_process_parameter_name(i, p));
            print_wrapped(out, smurf_process_parameter_about(i, p), 18, 18);
        }
    }
}

/* Writes one file, or parts in a directory. Where no format is asked for, it is one that keeps further columns. */
static int write_out(smurf_data *data, const char *output, const double share[3], const char *format)
{
    if (!format && smurf_data_columns(data) && !smurf_format_of_path(output)) format = "csv";
    if (dataset_is_file(output)) return dataset_write_file(data, output, format);
    smurf_error err;
    smurf_split split;
    if (smurf_split_by_share(&split, data, share, common.seed, &err)) return report_error(&err);
    int status = dataset_write_directory(&split, output, format);
    smurf_split_release(&split);
    return status;
}

static int run(const smurf_process *process, const smurf_simulate_config *config, const char *output,
               const double share[3], const char *format)
{
    smurf_error err;
    smurf_data *data;
    smurf_status status = smurf_process_simulate(&data, process, config, &err);
    terminal_clear();
    if (status) return report_error(&err);
    int result = write_out(data, output, share, format);
    if (!result && strcmp(output, "-") != 0)
        report_done("wrote %zu event%s in %zu sequence%s to %s", smurf_data_events(data),
                    smurf_data_events(data) == 1 ? "" : "s", smurf_data_sequences(data),
                    smurf_data_sequences(data) == 1 ? "" : "s", output);
    smurf_data_free(data);
    return result;
}

int command_simulate(int argc, char **argv)
{
    size_t types = 0, sequences = 1000, events = 0;
    double until = 0;
    const char *output = "-", *split = NULL, *to = NULL;
    /* clang-format off */
    const struct option options[] = {
        {'o', "output", OPTION_OUTPUT, &output, "OUT", "a file, or a directory for train, dev and test (default: standard output)"},
        {'n', "sequences", OPTION_COUNT, &sequences, "N", "number of sequences (default: 1000)"},
        {0, "until", OPTION_NUMBER, &until, "TIME", "observe each sequence from 0 to TIME (default: 100, unless --events is given)"},
        {0, "events", OPTION_COUNT, &events, "N", "end each sequence after N events"},
        {'k', "types", OPTION_COUNT, &types, "K", "number of event types (default: 3 for hawkes, else 1)"},
        {0, "split", OPTION_TEXT, &split, "8:1:1", "shares of train, dev and test in a directory (default: 8:1:1)"},
        {0, "to", OPTION_FORMAT, &to, "FORMAT", " (default: from the suffix of OUT, else jsonl; csv for a process with further columns)"},
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "simulate",
        .arguments = "PROCESS [NAME=VALUE ...]",
        .summary = "Simulates event data from a process whose law is known.",
        .about = "The same seed gives the same file on any number of threads. A parameter takes one\n"
                 "value for all types, or K values, separated by commas.",
        .example = "  smurf simulate hawkes --types 2 base=0.2,0.1 excitation=0.5,0.2,0.1,0.4 decay=1 -o demo/\n"
                   "  smurf simulate weibull shape=0.7 --until 50 -o weibull.csv",
        .options = options,
        .least = 1,
        .most = -1,
        .more = list_processes,
    };
    int n = parse_options(&usage, argc, argv);
    if (types == 0) types = strcmp(argv[0], "hawkes") == 0 ? 3 : 1;
    if (types > UINT32_MAX) usage_error("--types is too large");
    double share[3] = {8, 1, 1};
    if (split) dataset_shares(split, share);
    if (split && dataset_is_file(output))
        usage_error("cannot write train, dev and test to the single file '%s': name a directory with -o", output);
    smurf_parameter *parameters = calloc((size_t)n, sizeof *parameters);
    if (!parameters) out_of_memory();
    for (int i = 1; i < n; i++) parameters[i - 1] = parse_parameter(argv[i]);

    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.until = until == 0 && events == 0 ? 100 : until;
    config.max_events = events;
    config.seed = common.seed;
    config.threads = common_threads();
    config.progress = terminal_progress;
    smurf_error err;
    smurf_process *process;
    int status = smurf_process_new(&process, argv[0], (uint32_t)types, parameters, (size_t)(n - 1), &err)
                     ? report_error(&err)
                     : run(process, &config, output, share, to);
    smurf_process_free(process);
    for (int i = 1; i < n; i++) free((void *)parameters[i - 1].values);
    free(parameters);
    return status;
}
