/*
 * option.h - one option table per command: it parses the command line, prints the help and the man page.
 *
 *     const struct option options[] = {
 *         {'o', "output", OPTION_TEXT, &output, "FILE", "where to write"},
 *         {0}};
 *     const struct usage usage = {"simulate", "PROCESS [NAME=VALUE ...]", "one line", "more text", "example", options};
 *     int n = parse_options(&usage, argc, argv);
 */
#ifndef OPTION_H
#define OPTION_H

#include <stdint.h>
#include <stdio.h>

enum option_kind {
    OPTION_FLAG,    /* int: set to 1 */
    OPTION_TEXT,    /* const char * */
    OPTION_INPUT,   /* const char *: a file to read */
    OPTION_OUTPUT,  /* const char *: a file or directory to write */
    OPTION_COUNT,   /* size_t: a whole number, 0 or more */
    OPTION_NUMBER,  /* double: finite */
    OPTION_SEED,    /* uint64_t */
    OPTION_FORMAT,  /* const char *: one of smurf_format_name */
    OPTION_SAMPLER, /* const char *: one of smurf_sampler_name */
    OPTION_LIST,    /* struct option_list: may be repeated */
};

enum { OPTION_LIST_MOST = 64 };
struct option_list {
    const char *item[OPTION_LIST_MOST];
    size_t count;
};

struct option {
    char letter; /* 0: none */
    const char *name;
    enum option_kind kind;
    void *value;
    const char *argument; /* its name in the help; NULL for flags */
    const char *about;    /* follows the list of names, if any */
};

struct usage {
    const char *command;          /* "convert" */
    const char *arguments;        /* "IN OUT" */
    const char *summary;          /* one line */
    const char *about;            /* paragraphs for help and man page; may be NULL */
    const char *example;          /* lines of shell; each is run by a test */
    const struct option *options; /* ends with an entry without a name */
    int least, most;              /* number of arguments; most < 0: no limit */
    int inputs, outputs;          /* how many of them are files: first those read, then those written */
    void (*more)(FILE *out);      /* further help, such as a list; may be NULL */
};

/* Options of every command. */
struct common {
    size_t threads; /* 0: all cores */
    uint64_t seed;
    int quiet;
};
extern struct common common;
/* --threads as the library takes it: an int, at most 4096. */
int common_threads(void);

/* Parses argv[1..], leaves the non-option arguments in argv[0..n-1] and returns n. Handles --help and --version.
   Refuses to overwrite an input file (files.h). On errors prints a message that says what to do and exits with
   status 2. */
int parse_options(const struct usage *usage, int argc, char **argv);

/* Prints text wrapped at 78 columns, followed by a newline. The first line starts at column `at`, the others are
   indented. */
void print_wrapped(FILE *out, const char *text, int indent, int at);

/* One line: the program, its version and what was built in. */
void print_version(FILE *out);

/* Prints "smurf: ..." to standard error and exits with status 2. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
