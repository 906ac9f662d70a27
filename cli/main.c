/* main.c - finds the command and runs it. */
#include "commands.h"
#include "option.h"
#include "smurf_lab.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} commands[] = {
    {"train", command_train, "train a model of the next event"},
    {"eval", command_eval, "measure how good a model's laws are, beside naive ones"},
    {"compare", command_compare, "train several models and print one table, beside naive laws"},
    {"predict", command_predict, "tell when the next event comes, of what type, and how sure that is"},
    {"sample", command_sample, "draw futures many steps ahead"},
    {"report", command_report, "write a page that shows how far a model can be believed"},
    {"info", command_info, "describe event data: sizes, types, gaps, ties and clock, warnings"},
    {"convert", command_convert, "convert event data between formats; split, cut or dither it on the way"},
    {"simulate", command_simulate, "make event data from a process whose true law is known"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *out)
{
    fputs("usage: smurf COMMAND ...\n\n"
          "When will the next event come, of what type, and how sure can one be?\n\nCommands\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++) fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].about);
    fputs("\nsmurf COMMAND --help tells more about each. smurf --version shows the version.\n"
          "\nExample\n  smurf simulate hawkes -n 60 -o demo/\n  smurf train demo/ -o model.safetensors --epochs 5\n"
          "  smurf predict model.safetensors demo/test.jsonl\n",
          out);
}

static void print_man(FILE *out)
{
    fprintf(out,
            ".TH SMURF 1 \"\" \"smurf %s\"\n.SH NAME\nsmurf \\- calibrated laws of the next event\n"
            ".SH SYNOPSIS\n\\fBsmurf\\fR COMMAND ...\n.SH DESCRIPTION\n"
            "When will the next event come, of what type, and how sure can one be?\n.SH COMMANDS\n",
            smurf_version());
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, ".TP\n.BR smurf\\-%s (1)\n%s\n", commands[i].name, commands[i].about);
    fputs(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage.\n", out);
}

/* OpenBLAS starts threads of its own before main, each with a buffer of 128 MB, and waits for them at the end: with a
   limit on the address space that can be for ever. We use none of them: begin again without. */
static void leave_blas_threads(char **argv)
{
    struct rlimit limit;
    if (getenv("OPENBLAS_NUM_THREADS") || getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return;
    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0) execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    leave_blas_threads(argv);
    terminal_init();
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            int status = commands[i].run(argc - 1, argv + 1);
            return status ? status : finish_output();
        }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
    } else if (!strcmp(argv[1], "--version")) {
        printf("smurf %s (%s)\n", smurf_version(), smurf_features());
    } else if (!strcmp(argv[1], "--man")) {
        print_man(stdout);
    } else {
        usage_error("'%s' is no command (smurf --help lists them)", argv[1]);
    }
    return finish_output();
}
