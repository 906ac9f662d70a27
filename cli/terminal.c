/* terminal.c - see terminal.h. */
#include "terminal.h"

#include "option.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_asked;
static int line_drawn;

/* ---- Signals --------------------------------------------------------------------------------- */

/* The process ends if it has not checked the flag by then, or not ended by itself after it did. */
enum { PATIENCE_SECONDS = 2, ENDING_SECONDS = 30 };
static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOP_SIGNALS = sizeof stop_signals / sizeof *stop_signals };

static void ask_to_stop(int unused)
{
    (void)unused;
    if (!stop_asked) alarm(PATIENCE_SECONDS);
    stop_asked = 1;
}

/* The same, but a second signal of any kind kills. */
static void ask_once(int number)
{
    ask_to_stop(number);
    for (int i = 0; i < STOP_SIGNALS; i++) signal(stop_signals[i], SIG_DFL);
}

static void give_up(int unused)
{
    static const char text[] = "smurf: stopped\n";
    (void)unused;
    ssize_t wrote = write(STDERR_FILENO, text, sizeof text - 1);
    (void)wrote;
    _exit(1);
}

int terminal_stopped(void)
{
    static int told;
    if (stop_asked && !told) alarm(ENDING_SECONDS); /* the caller saves what it has and ends */
    told = stop_asked;
    return stop_asked;
}

/* ---- Standard descriptors -------------------------------------------------------------------- */

/* A file opened later must not become standard input, output or error. Input and output get /dev/null opened in the
   wrong mode, so that using them fails as on a closed descriptor; messages are discarded. */
static void open_standard(void)
{
    static const int mode[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd) _exit(1);
}

void terminal_init(void)
{
    struct sigaction stop = {.sa_handler = ask_once}, end = {.sa_handler = give_up}, before;
    open_standard();
    setlocale(LC_CTYPE, "");
    sigaction(SIGALRM, &end, NULL);
    for (int i = 0; i < STOP_SIGNALS; i++)
        if (stop_signals[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaction(stop_signals[i], &stop, NULL); /* respect nohup */
    signal(SIGXFSZ, SIG_IGN);                        /* exceeding the file size limit makes write() fail */
}

void terminal_work(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop};
    signal(SIGINT, SIG_IGN);
    signal(SIGALRM, SIG_DFL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    line_drawn = 0;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 12345678 bytes as "12.3 MB". */
static void print_amount(double amount, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T"};
    if (strcmp(unit, "bytes") != 0) {
        fprintf(stderr, "%.0f %s", amount, unit);
        return;
    }
    int i = 0;
    for (; amount >= 1000 && i < 4; i++) amount /= 1000;
    fprintf(stderr, "%.*f %sB", i ? 1 : 0, amount, prefix[i]);
}

int terminal_progress(void *unused, const smurf_progress *p)
{
    (void)unused;
    static double started, drawn, first, done; /* first: amount done at the start, for resumed runs */
    static const char *what;
    if (terminal_stopped()) return 1;
    if (common.quiet || !isatty(STDERR_FILENO)) return 0;
    double time = now();
    if (what != p->what || p->done < done) what = p->what, started = time, drawn = time, first = p->done;
    done = p->done;
    if (time - drawn < 0.1) return 0;
    drawn = time;
    fprintf(stderr, "\r\033[K%s  ", p->what);
    print_amount(p->done, p->unit);
    if (p->total > 0 && p->done > first) {
        double left = (time - started) * (p->total - p->done) / (p->done - first);
        fprintf(stderr, "  %.0f%%", 100 * p->done / p->total);
        if (left >= 1) fprintf(stderr, "  %.0f s left", left);
    }
    fflush(stderr);
    line_drawn = 1;
    return 0;
}

void terminal_line(const char *text)
{
    struct winsize size;
    if (common.quiet || !isatty(STDERR_FILENO)) return;
    int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1 : 79;
    fprintf(stderr, "\r\033[K%.*s", width, text);
    fflush(stderr);
    line_drawn = 1;
}

void terminal_clear(void)
{
    if (!line_drawn) return; /* nothing is written: threads of a service tell things at the same time */
    fputs("\r\033[K", stderr);
    line_drawn = 0;
}

/* ---- Messages -------------------------------------------------------------------------------- */

void put_line(const char *before, const char *format, va_list args)
{
    char text[1100];
    terminal_clear();
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    fprintf(stderr, "%s%s\n", before, text);
}

static void put(const char *before, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(before, format, args);
    va_end(args);
}

int report_error(const smurf_error *err)
{
    put("smurf: ", "%s", err->message);
    return 1;
}

int report_sequence(const char *sequence, const smurf_error *err)
{
    put("smurf: ", "sequence '%.200s': %s", sequence, err->message);
    return 1;
}

int report_failure(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line("smurf: ", format, args);
    va_end(args);
    return 1;
}

void out_of_memory(void)
{
    exit(report_failure("out of memory"));
}

int finish_output(void)
{
    if (!fflush(stdout) && !ferror(stdout)) return 0;
    put("smurf: ", "cannot write to standard output: %s", strerror(errno));
    return 1;
}

void report_warning(const char *format, ...)
{
    if (common.quiet) return;
    va_list args;
    va_start(args, format);
    put_line("smurf: warning: ", format, args);
    va_end(args);
}

void report_misses(const smurf_model *model)
{
    const smurf_calibration *c = smurf_model_calibration(model);
    if (!c->misses) return;
    report_warning(
        "calibration failed: the CS on held-out gaps is %.2f%%, where chance alone gives %.2f%%; do not rely "
        "on the intervals (train longer, or on data that resembles dev)",
        c->cs_adapted > 0 ? c->cs_adapted
        : c->recalibrated ? c->cs_after
                          : c->cs_before,
        c->cs_floor);
}

void report_done(const char *format, ...)
{
    if (common.quiet) return;
    va_list args;
    va_start(args, format);
    put_line("", format, args);
    va_end(args);
}

int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 60) return 80;
    return size.ws_col < 120 ? size.ws_col : 120;
}

int terminal_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
