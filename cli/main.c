/* main.c - finds the command and runs it. */
#include "commands.h"
#include "group.h"
#include "option.h"
#include "service.h"
#include "smurf_lab.h"
#include "terminal.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
    enum group_use group; /* in smurf-mpi */
} commands[] = {
    {"train", command_train, "train a model of the next event", GROUP_JOINS},
    {"eval", command_eval, "measure a model's calibration and accuracy", GROUP_ALONE},
    {"compare", command_compare, "train several models and compare them in one table", GROUP_SPREADS},
    {"predict", command_predict, "predict when the next event comes and of what type, with intervals", GROUP_ALONE},
    {"overdue", command_overdue, "list the sequences that have been silent for longer than expected", GROUP_ALONE},
    {"score", command_score, "score each event: how unusual its time and how probable its type", GROUP_ALONE},
    {"watch", command_watch, "raise alarms about a stream: overdue, odd events, a changed rate, lost calibration",
     GROUP_ALONE},
    {"serve", command_serve, "run a service that takes events and answers with forecasts over HTTP", GROUP_ALONE},
    {"sample", command_sample, "sample futures many events ahead", GROUP_ALONE},
    {"report", command_report, "write an HTML report on how reliable a model is", GROUP_ALONE},
    {"info", command_info, "describe event data: size, types, gaps, ties, clock tick, warnings", GROUP_ALONE},
    {"convert", command_convert, "convert event data between formats; split, window or dither it", GROUP_ALONE},
    {"simulate", command_simulate, "simulate event data from a process whose law is known", GROUP_ALONE},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *out)
{
    fprintf(out, "usage: %s COMMAND ...\n\n", group_program());
    fputs("Forecasts the next event of an event log: when, of what type, and with what uncertainty.\n\nCommands\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++) fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].about);
    fputs("\nRun smurf COMMAND --help for the options of a command, smurf --version for the version.\n"
          "\nExample\n  smurf simulate hawkes -n 60 -o demo/\n  smurf train demo/ -o model.safetensors --epochs 5\n"
          "  smurf predict model.safetensors demo/test.jsonl\n",
          out);
}

static void print_man(FILE *out)
{
    fprintf(out,
            ".TH SMURF 1 \"\" \"smurf %s\"\n.SH NAME\nsmurf \\- calibrated forecasts of the next event\n"
            ".SH SYNOPSIS\n\\fBsmurf\\fR COMMAND ...\n.SH DESCRIPTION\n"
            "Forecasts the next event of an event log: when, of what type, and with what uncertainty.\n.SH COMMANDS\n",
            smurf_version());
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, ".TP\n.BR smurf\\-%s (1)\n%s\n", commands[i].name, commands[i].about);
    fputs(".SH EXIT STATUS\n0 on success, 1 on failure, 2 on a usage error.\n", out);
}

/* Threads that wait for others spin first, which is fastest on an idle machine. By default libgomp spins for about a
   millisecond: on a busy machine that takes the processor from the threads waited for, at every barrier, and two
   threads become 20 times slower than one. It reads the length only when it is loaded: set it and start again. */
static void spin_briefly(char **argv)
{
    char path[PATH_MAX];
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0 || setenv("GOMP_SPINCOUNT", "1000", 1) != 0) return;
    path[n] = '\0';
    execv(path, argv); /* if that fails, go on as it is */
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

int main(int argc, char **argv)
{
    spin_briefly(argv);
    terminal_init();
    group_start();
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (argc == 3 && is_help(argv[1])) { /* "help train" is "train --help" */
        argv[1] = argv[2];
        argv[2] = "--help";
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            group_enter(commands[i].name, commands[i].group);
            int status = commands[i].run(argc - 1, argv + 1);
            return status ? status : finish_output();
        }
    if (is_help(argv[1])) {
        print_help(stdout);
    } else if (!strcmp(argv[1], "--version")) {
        print_version(stdout);
    } else if (!strcmp(argv[1], "--man")) {
        print_man(stdout);
    } else {
        usage_error("unknown command '%s' (smurf --help lists the commands)", argv[1]);
    }
    return finish_output();
}
