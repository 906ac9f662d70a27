/* option.c - see option.h. */
#include "option.h"

#include "address.h"
#include "files.h"
#include "group.h"
#include "service.h"
#include "smurf_lab.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct common common = {.seed = 1};

int common_threads(void)
{
    enum { THREADS_MOST = 4096 };
    return (int)(common.threads < THREADS_MOST ? common.threads : THREADS_MOST);
}

enum { ABOUT_TEXT = 512 };

static int help_flag, version_flag, man_flag;
static const struct option common_options[] = {
    {0, "threads", OPTION_COUNT, &common.threads, "N", "use N cores (default: all)"},
    {0, "seed", OPTION_SEED, &common.seed, "N", "random seed (default: 1)"},
    {'q', "quiet", OPTION_FLAG, &common.quiet, NULL, "show no progress and no remarks"},
    {'h', "help", OPTION_FLAG, &help_flag, NULL, "show this help"},
    {0, "version", OPTION_FLAG, &version_flag, NULL, "show the version"},
    {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
};
static const struct option hidden_options[] = {
    {0, "man", OPTION_FLAG, &man_flag, NULL, NULL},
    {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
};

void usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line("smurf: ", format, args);
    va_end(args);
    exit(2);
}

/* ---- Names from a table ---------------------------------------------------------------------- */

typedef const char *name_at(size_t index);

/* The names an option of this kind accepts; NULL: any text. */
static name_at *names_of(enum option_kind kind)
{
    return kind == OPTION_FORMAT ? smurf_format_name : kind == OPTION_SAMPLER ? smurf_sampler_name : NULL;
}

/* The description of an option, preceded by the names it accepts: "a, b or c: ...". */
static const char *about_text(const struct option *o, char out[ABOUT_TEXT])
{
    name_at *name = names_of(o->kind);
    size_t n = 0;
    if (!name) return o->about;
    for (size_t i = 0; name(i) && n < ABOUT_TEXT; i++)
        n += (size_t)snprintf(out + n, ABOUT_TEXT - n, "%s%s", i == 0 ? "" : name(i + 1) ? ", " : " or ", name(i));
    if (n < ABOUT_TEXT) snprintf(out + n, ABOUT_TEXT - n, "%s", o->about);
    return out;
}

static const char *find_name(const struct option *o, const char *text)
{
    name_at *name = names_of(o->kind);
    for (size_t i = 0; name(i); i++)
        if (strcasecmp(name(i), text) == 0) return name(i);
    char list[ABOUT_TEXT];
    struct option bare = {.kind = o->kind, .about = ""};
    usage_error("--%s takes %s, not '%s'", o->name, about_text(&bare, list), text);
}

/* ---- Help ------------------------------------------------------------------------------------ */

void print_wrapped(FILE *out, const char *text, int indent, int at)
{
    for (bool first = true; *text; first = false) {
        int n = (int)strcspn(text, " \n");
        if (!first && at + 1 + n > 78) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", n, text);
        at += n;
        text += n;
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

static void print_options(FILE *out, const struct option *options)
{
    for (const struct option *o = options; o->name; o++) {
        char left[64], about[ABOUT_TEXT];
        int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                          : snprintf(left, sizeof left, "      --%s", o->name);
        if (o->argument) n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->argument);
        if (n > 26)
            fprintf(out, "%s\n%28s", left, "");
        else
            fprintf(out, "%-27s ", left);
        print_wrapped(out, about_text(o, about), 28, 28);
    }
}

static void print_help(FILE *out, const struct usage *u)
{
    fprintf(out, "usage: smurf %s %s [OPTIONS]\n\n", u->command, u->arguments);
    print_wrapped(out, u->summary, 0, 0);
    if (u->about) fputc('\n', out), print_wrapped(out, u->about, 0, 0);
    fprintf(out, "\nOptions\n");
    print_options(out, u->options);
    print_options(out, common_options);
    if (u->more) u->more(out);
    if (u->example) fprintf(out, "\nExample\n%s\n", u->example);
}

/* Text for roff: backslashes and leading dots are special. */
static void print_roff(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (p == text || p[-1] == '\n') {
            if (*p == '.' || *p == '\'') fputs("\\&", out);
            if (*p == '\n') {
                fputs(".PP\n", out);
                continue;
            }
        }
        if (*p == '\\')
            fputs("\\e", out);
        else if (*p == '-')
            fputs("\\-", out);
        else
            fputc(*p, out);
    }
    fputc('\n', out);
}

static void print_man_options(FILE *out, const struct option *options)
{
    for (const struct option *o = options; o->name; o++) {
        char about[ABOUT_TEXT];
        fputs(".TP\n", out);
        if (o->letter) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
        fprintf(out, "\\fB\\-\\-%s\\fR", o->name);
        if (o->argument) fprintf(out, " \\fI%s\\fR", o->argument);
        fputc('\n', out);
        print_roff(out, about_text(o, about));
    }
}

static void print_man(FILE *out, const struct usage *u)
{
    fprintf(out, ".TH SMURF-%s 1 \"\" \"smurf %s\"\n.SH NAME\nsmurf-%s \\- ", u->command, smurf_version(), u->command);
    print_roff(out, u->summary);
    fprintf(out, ".SH SYNOPSIS\n\\fBsmurf %s\\fR %s [OPTIONS]\n", u->command, u->arguments);
    fprintf(out, ".SH DESCRIPTION\n");
    print_roff(out, u->about ? u->about : u->summary);
    fprintf(out, ".SH OPTIONS\n");
    print_man_options(out, u->options);
    print_man_options(out, common_options);
    if (u->more) {
        fputs(".SH NOTES\n.nf\n", out);
        fflush(out);
        u->more(out);
        fputs(".fi\n", out);
    }
    if (u->example) {
        fprintf(out, ".SH EXAMPLE\n.nf\n");
        print_roff(out, u->example);
        fprintf(out, ".fi\n");
    }
    fprintf(out, ".SH EXIT STATUS\n0 on success, 1 on failure, 2 on a usage error.\n.SH SEE ALSO\n.BR smurf (1)\n");
}

/* ---- Parsing --------------------------------------------------------------------------------- */

static const struct option *find_option(const struct usage *u, const char *name, size_t n, char letter)
{
    const struct option *tables[] = {u->options, common_options, hidden_options};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct option *o = tables[t]; o->name; o++) {
            if (name && strlen(o->name) == n && memcmp(o->name, name, n) == 0) return o;
            if (!name && letter && o->letter == letter) return o;
        }
    return NULL;
}

static void set_option(const struct option *o, const char *text)
{
    char *end = NULL;
    errno = 0;
    switch (o->kind) {
    case OPTION_FLAG: *(int *)o->value = 1; return;
    case OPTION_TEXT:
    case OPTION_INPUT:
    case OPTION_OUTPUT: *(const char **)o->value = text; return;
    case OPTION_FORMAT:
    case OPTION_SAMPLER: *(const char **)o->value = find_name(o, text); return;
    case OPTION_LIST: {
        struct option_list *list = o->value;
        if (list->count == OPTION_LIST_MOST)
            usage_error("--%s may be given at most %d times", o->name, OPTION_LIST_MOST);
        list->item[list->count++] = text;
        return;
    }
    case OPTION_NUMBER: {
        double number = strtod(text, &end);
        if (*text && !*end && isfinite(number)) {
            *(double *)o->value = number;
            return;
        }
        usage_error("--%s takes a number, not '%s'", o->name, text);
    }
    case OPTION_COUNT:
    case OPTION_SEED: {
        unsigned long long number = strtoull(text, &end, 10);
        if (!*text || *end || errno || text[0] == '-' || text[0] == '+')
            usage_error("--%s takes a whole number, 0 or more, not '%s'", o->name, text);
        if (o->kind == OPTION_SEED)
            *(uint64_t *)o->value = number;
        else
            *(size_t *)o->value = (size_t)number;
    }
    }
}

/* Parses the option at argv[*i]; advances *i if it takes an argument. */
static void parse_one(const struct usage *u, int argc, char **argv, int *i)
{
    const char *text = argv[*i], *value = NULL;
    const struct option *o;
    if (text[1] == '-') {
        size_t n = strcspn(text + 2, "=");
        o = find_option(u, text + 2, n, 0);
        if (text[2 + n]) value = text + 3 + n;
    } else {
        o = find_option(u, NULL, 0, text[1]);
        if (text[2]) value = text + 2;
    }
    if (!o) usage_error("unknown option '%s' (smurf %s --help lists the options)", text, u->command);
    if (o->kind == OPTION_FLAG && value) usage_error("--%s takes no argument", o->name);
    if (o->kind != OPTION_FLAG && !value) {
        if (*i + 1 >= argc) usage_error("--%s needs an argument: %s", o->name, o->argument);
        value = argv[++*i];
    }
    set_option(o, value);
}

/* Registers the files named by options and arguments, including defaults. */
static void list_files(const struct usage *u, char **argv)
{
    char what[64];
    const char *word = u->arguments;
    for (int i = 0; i < u->inputs + u->outputs; i++, word += strcspn(word, " "), word += strspn(word, " ")) {
        snprintf(what, sizeof what, "%.*s", (int)strcspn(word, " "), word);
        files_add(i < u->inputs ? FILE_READ : FILE_WRITTEN, what, argv[i]);
    }
    for (const struct option *o = u->options; o->name; o++) {
        if (o->kind != OPTION_INPUT && o->kind != OPTION_OUTPUT) continue;
        snprintf(what, sizeof what, "--%s", o->name);
        files_add(o->kind == OPTION_INPUT ? FILE_READ : FILE_WRITTEN, what, *(const char **)o->value);
    }
}

void print_version(FILE *out)
{
    const char *gpu = smurf_gpu();
    fprintf(out, "%s %s (%s%s%s%s%s)\n", group_program(), smurf_version(), smurf_features(), service_feature(),
            group_features(), gpu ? ", cuda: " : "", gpu ? gpu : "");
}

int parse_options(const struct usage *usage, int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) address_hide(argv[i]);
    for (int i = 1, plain = 0; i < argc; i++) {
        if (!plain && strcmp(argv[i], "--") == 0)
            plain = 1;
        else if (!plain && argv[i][0] == '-' && argv[i][1])
            parse_one(usage, argc, argv, &i);
        else
            argv[n++] = argv[i];
        if (help_flag || man_flag) {
            (man_flag ? print_man : print_help)(stdout, usage);
            exit(finish_output());
        }
        if (version_flag) {
            print_version(stdout);
            exit(finish_output());
        }
    }
    if (n < usage->least || (usage->most >= 0 && n > usage->most))
        usage_error("%s: smurf %s %s (see smurf %s --help)",
                    n < usage->least ? "too few arguments" : "too many arguments", usage->command, usage->arguments,
                    usage->command);
    list_files(usage, argv);
    return n;
}
