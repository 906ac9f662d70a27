/*
 * terminal.h - messages and progress on standard error, signals, terminal capabilities.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include "smurf_lab.h"

#include <stdarg.h>

/* Call first. Opens closed standard descriptors. From then on Ctrl-C, SIGTERM and SIGHUP make progress callbacks
   request a stop. A second signal kills; so does the first if nothing checks for it within two seconds. */
void terminal_init(void);

/* Whether such a signal was received. If so, the caller must exit soon; it is no longer killed. */
int terminal_stopped(void);

/* A progress callback: draws a line on standard error if that is a terminal and --quiet is not given. */
int terminal_progress(void *unused, const smurf_progress *progress);
/* Draws a custom progress line, cut to the width of the terminal, under the same conditions. */
void terminal_line(const char *text);
/* For worker processes: ignores Ctrl-C, which the parent handles; any number of SIGTERM and SIGHUP request a stop. */
void terminal_work(void);
/* Erases the progress line, if any. */
void terminal_clear(void);

/* One line on standard error; control characters, such as those in file names, become '?'. */
void put_line(const char *before, const char *format, va_list args);
/* "smurf: message" on standard error; returns 1, the exit status. */
int report_error(const smurf_error *err);
/* The same, about one sequence. */
int report_sequence(const char *sequence, const smurf_error *err);
/* The same for errors found by the command itself. */
int report_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "smurf: out of memory" and exits with status 1. For small allocations of the command itself. */
_Noreturn void out_of_memory(void);
/* "smurf: warning: ..." unless --quiet. */
void report_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Warns if the model's calibration failed. */
void report_misses(const smurf_model *model);

/* Flushes standard output. Returns 0, or 1, the exit status, after reporting a write error. */
int finish_output(void);
/* A non-fatal remark on standard error, such as "wrote ...", unless --quiet. */
void report_done(const char *format, ...) __attribute__((format(printf, 1, 2)));

int terminal_width(void); /* of standard output; 80 if it is not a terminal */
int terminal_utf8(void);

#endif
